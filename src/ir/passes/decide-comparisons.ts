/** Comparisons that known bits and ranges of their operands decide. */
import { floatOf, floatRange } from '../analysis/float-range.ts';
import { isUnknown, type KnownBitsOf } from '../analysis/known-bits.ts';
import { evalOp } from '../eval.ts';
import type { Inst, InstOf } from '../kernel.ts';
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

/** Bits of two floats for each outcome of a comparison: below, equal, above, and unordered. */
const examples = [
  [0n, 0x3f80_0000n],
  [0n, 0n],
  [0x3f80_0000n, 0n],
  [0x7fc0_0000n, 0n],
] as const;

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
  if (isPossible.every((is) => is)) return undefined;
  const [first, ...others] = examples.filter((_, at) => isPossible[at]).map((pair) => evalOp(inst, pair, ['f32', 'f32']));
  return others.every((answer) => answer === first) ? constant('i1', first!) : undefined;
}
