/** Comparisons that known bits and ranges of their operands decide. */
import { floatOf, floatRange } from '../analysis/float-range.ts';
import { isUnknown, type KnownBitsOf } from '../analysis/known-bits.ts';
import { evalOp } from '../eval.ts';
import type { Inst, InstOf } from '../kernel.ts';
import type { FcmpPredicate } from '../ops.ts';
import { bitsOf } from '../types.ts';
import { bitsIn, constant, placeConstant, type RewriteContext, typeIn } from './rewrite.ts';

/** The answer of a comparison, or a simpler one; undefined if neither is known. */
export function decided(inst: Inst, c: RewriteContext, bits: KnownBitsOf): Inst | undefined {
  if (inst.op === 'icmp') return decidedByBits(inst, c, bits);
  return inst.op === 'fcmp' ? decidedByRange(inst, c) : undefined;
}

/** A comparison with a constant that the known bits of the other operand decide. */
function decidedByBits(inst: InstOf<'icmp'>, c: RewriteContext, bits: KnownBitsOf): Inst | undefined {
  const to = bitsIn(c, inst.b);
  if (to === undefined) return undefined;
  const known = bits(inst.a);
  if (isUnknown(known)) return undefined;
  const { zeros, ones } = known;
  const type = typeIn(c, inst.a);
  const width = bitsOf(type);
  const all = (1n << BigInt(width)) - 1n;
  const isEqual = inst.pred === 'eq' || inst.pred === 'ne';
  if (isEqual && ((to & zeros) !== 0n || (~to & all & ones) !== 0n)) return constant('i1', inst.pred === 'ne' ? 1n : 0n);
  // The least and the most with these bits; as signed numbers where the sign is known.
  const sign = 1n << BigInt(width - 1);
  if (isEqual || (inst.pred.startsWith('s') && ((zeros | ones) & sign) === 0n)) return undefined;
  const [least, most] = [ones, all & ~zeros].map((each) => evalOp(inst, [each, to], [type, type]));
  if (least === most) return constant('i1', least!);
  // Of two numbers, the comparison tells which one it is.
  const open = all & ~zeros & ~ones;
  if ((open & (open - 1n)) !== 0n || ones !== 0n) return undefined;
  return { ...inst, pred: least === 0n ? 'ne' : 'eq', b: placeConstant(c, type, 0n) };
}

/** Whether a predicate holds of two numbers of which the first is below, equal to or above the second, and of numbers and a NaN. */
const outcomes: Readonly<Record<FcmpPredicate, readonly [below: boolean, equal: boolean, above: boolean, unordered: boolean]>> = {
  oeq: [false, true, false, false],
  one: [true, false, true, false],
  olt: [true, false, false, false],
  ole: [true, true, false, false],
  ogt: [false, false, true, false],
  oge: [false, true, true, false],
  ord: [true, true, true, false],
  ueq: [false, true, false, true],
  une: [true, false, true, true],
  ult: [true, false, false, true],
  ule: [true, true, false, true],
  ugt: [false, false, true, true],
  uge: [false, true, true, true],
  uno: [false, false, false, true],
};

/** A comparison of a float with a constant or with itself that its range decides. */
function decidedByRange(inst: InstOf<'fcmp'>, c: RewriteContext): Inst | undefined {
  if (typeIn(c, inst.a) !== 'f32') return undefined;
  const to = bitsIn(c, inst.b);
  if (to === undefined && inst.a !== inst.b) return undefined;
  const { low, high, isNan } = floatRange(c.kernel, inst.a);
  const number = to === undefined ? undefined : floatOf(to);
  const isPossible =
    number === undefined
      ? [false, true, false, isNan]
      : [low < number, low <= number && number <= high, high > number, isNan || Number.isNaN(number)];
  const answers = new Set(outcomes[inst.pred].filter((_, at) => isPossible[at]));
  return answers.size === 1 ? constant('i1', answers.has(true) ? 1n : 0n) : undefined;
}
