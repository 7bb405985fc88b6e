/** Vector rules of integer ops. Integers of fewer than 32 bits are held zero-extended in 32-bit lanes; conditions are masks. */
import { bitsOf, type IcmpPredicate, type InstOf, uniform, type Value } from '../../../ir/index.ts';
import type { NameWith, OpOf } from '../../../wasm/index.ts';
import type { Binary, Unary } from '../../codegen/emitter.ts';
import { integerComparisons } from '../../codegen/mnemonics.ts';
import { withScratch } from '../../codegen/scratch.ts';
import { tuning } from '../../tuning.ts';
import { cut, type LaneGroup, longOf, type PartWriter, partSigned, shapeOf, typeOf } from '../lanes/lane-group.ts';
import { evenWords, longs, oddWords, upperHalf, words } from '../lanes/vectors.ts';
import { shiftEach } from './shift.ts';

const top = longs(1n << 63n);

/** An op with an instruction for 32-bit and for 64-bit lanes; for conditions a bitwise one. */
export const integer =
  (name: 'add' | 'sub', ofFlags: 'xor') =>
  (s: LaneGroup, inst: Binary, value: Value): PartWriter => {
    const op: NameWith<'none'> = inst.type === 'i1' ? `v128.${ofFlags}` : longOf(s, value) ? `i64x2.${name}` : `i32x4.${name}`;
    return (part) => {
      s.part(inst.a, part);
      s.part(inst.b, part);
      s.code.op(op);
      cut(s, inst.type);
    };
  };

/** The low half of a product. */
export function product(s: LaneGroup, inst: Binary, value: Value): PartWriter {
  const op = inst.type === 'i1' ? 'v128.and' : longOf(s, value) ? 'i64x2.mul' : 'i32x4.mul';
  return (part) => {
    s.part(inst.a, part);
    s.part(inst.b, part);
    s.code.op(op);
    cut(s, inst.type);
  };
}

/** A bitwise op. */
export const bits =
  (name: 'and' | 'or' | 'xor') =>
  (s: LaneGroup, inst: Binary): PartWriter =>
  (part) => {
    s.part(inst.a, part);
    s.part(inst.b, part);
    s.code.op(`v128.${name}`);
  };

/** The high half of a product of 32-bit integers, from the 64-bit products. */
export const highProduct =
  (sign: 's' | 'u') =>
  (s: LaneGroup, inst: Binary): PartWriter | undefined => {
    if (inst.type !== 'i32') return undefined;
    return (part) => {
      s.part(inst.a, part);
      s.part(inst.b, part);
      withScratch(s, 'v128', 2, ([a, b]) => {
        s.code.at('local.set', b);
        s.code.at('local.set', a);
        for (const half of ['low', 'high'] as const) {
          s.code.at('local.get', a);
          s.code.at('local.get', b);
          s.code.op(`i64x2.extmul_${half}_i32x4_${sign}`);
        }
      });
      s.code.shuffle(oddWords);
    };
  };

/** The bits of 1.5 * 2^52: added to an f64, it makes the low bits of the sum those of the integer. */
const rounder = longs(0x4338n << 48n);

/**
 * Quotient or remainder of integers of up to 32 bits, by f64 division: a quotient that is not an integer differs from the next integer by more
 * than the rounding error, so truncation is exact. A quotient by 0 is all ones.
 */
export const divided =
  (sign: 's' | 'u', wanted: 'quotient' | 'remainder') =>
  (s: LaneGroup, inst: Binary, value: Value): PartWriter | undefined => {
    if (longOf(s, value) || inst.type === 'i1') return undefined;
    return (part) => {
      for (const operand of [inst.a, inst.b]) {
        if (sign === 's') partSigned(s, operand, part);
        else s.part(operand, part);
      }
      writeDivision(s, sign, wanted);
      cut(s, inst.type);
    };
  };

/** Replaces the dividends and divisors on the stack by quotients or remainders. */
function writeDivision(s: LaneGroup, sign: 's' | 'u', wanted: 'quotient' | 'remainder'): void {
  const { code } = s;
  withScratch(s, 'v128', 3, ([a, b, q]) => {
    code.at('local.set', b);
    code.at('local.set', a);
    for (const half of [0, 1]) {
      for (const local of [a, b]) {
        code.at('local.get', local);
        if (half === 1) upperHalf(s);
        code.op(`f64x2.convert_low_i32x4_${sign}`);
      }
      code.op('f64x2.div');
      code.op('f64x2.trunc');
      code.v128(rounder);
      code.op('f64x2.add');
    }
    code.shuffle(evenWords);
    code.at('local.get', b);
    code.v128(words(0));
    code.op('i32x4.eq');
    code.op('v128.or');
    if (wanted === 'quotient') return;
    code.at('local.set', q);
    for (const local of [a, q, b]) code.at('local.get', local);
    code.op('i32x4.mul');
    code.op('i32x4.sub');
  });
}

/** Shifts, here by a uniform count; a count of the width or more gives 0, or copies of the sign. */
export const shift =
  (name: 'shl' | 'shr_u' | 'shr_s') =>
  (s: LaneGroup, inst: Binary, value: Value): PartWriter | undefined => {
    const isWide = longOf(s, value);
    if (inst.type === 'i1') return undefined;
    if (shapeOf(s, inst.b) !== uniform) return shiftEach(s, name, inst, value);
    const width = bitsOf(inst.type);
    const op = `${isWide ? 'i64x2' : 'i32x4'}.${name}` as const;
    const count = s.kernel.insts[inst.b]!;
    const known = count.op === 'const' && count.bits < BigInt(width) ? Number(count.bits) : undefined;
    const isCostly = s.shifts === 'register' && name === 'shl' && !isWide;
    if (isCostly && known && known <= tuning.maxShiftByAddition) return doubled(s, inst, known);
    // A multiplication is fewer instructions there, but has a longer latency.
    if (isCostly && known !== undefined && (s.isRerolled || s.plan.packs >= tuning.minPacksForMultiply))
      return (part) => {
        s.part(inst.a, part);
        s.code.v128(words(2 ** known));
        s.code.op('i32x4.mul');
        cut(s, inst.type);
      };
    return (part) => {
      if (name === 'shr_s') partSigned(s, inst.a, part);
      else s.part(inst.a, part);
      if (known !== undefined) s.code.i32(known);
      else pushCount(s, inst.b, width, name === 'shr_s');
      s.code.op(op);
      if (known === undefined && name !== 'shr_s') dropWhereLarge(s, inst.b, width);
      cut(s, inst.type);
    };
  };

/** A shift left of 32-bit lanes by a few bits, by additions. */
function doubled(s: LaneGroup, inst: Binary, times: number): PartWriter {
  const { code } = s;
  return (part) => {
    s.part(inst.a, part);
    withScratch(s, 'v128', 1, ([word]) => {
      for (let i = 0; i < times; i++) {
        code.at('local.tee', word);
        code.at('local.get', word);
        code.op('i32x4.add');
      }
    });
    cut(s, inst.type);
  };
}

/** Pushes a uniform shift count as an i32, clamped to the width minus 1 if `isBounded`. */
function pushCount(s: LaneGroup, count: Value, width: number, isBounded: boolean): void {
  const isWide = longOf(s, count);
  s.scalar(count);
  if (isWide) s.code.op('i32.wrap_i64');
  if (!isBounded) return;
  s.code.i32(width - 1);
  isBelow(s, count, width);
  s.code.op('select');
}

function isBelow(s: LaneGroup, count: Value, width: number): void {
  s.scalar(count);
  if (longOf(s, count)) s.code.i64(BigInt(width));
  else s.code.i32(width);
  s.code.op(longOf(s, count) ? 'i64.lt_u' : 'i32.lt_u');
}

function dropWhereLarge(s: LaneGroup, count: Value, width: number): void {
  s.code.i32(0);
  isBelow(s, count, width);
  s.code.op('i32.sub');
  s.code.op('i32x4.splat');
  s.code.op('v128.and');
}

/** min or max; of 64-bit integers by a comparison. */
export const choice =
  (name: 'min_s' | 'max_s' | 'min_u' | 'max_u') =>
  (s: LaneGroup, inst: Binary, value: Value): PartWriter | undefined => {
    if (inst.type === 'i1') return undefined;
    const isSigned = name.endsWith('_s');
    if (longOf(s, value)) return choice64(s, inst, name.startsWith('min') ? 'lt_s' : 'gt_s', isSigned);
    return (part) => {
      for (const operand of [inst.a, inst.b]) {
        if (isSigned) partSigned(s, operand, part);
        else s.part(operand, part);
      }
      s.code.op(`i32x4.${name}`);
      if (isSigned) cut(s, inst.type);
    };
  };

function choice64(s: LaneGroup, inst: Binary, comparison: 'lt_s' | 'gt_s', isSigned: boolean): PartWriter {
  return (part) => {
    s.part(inst.a, part);
    s.part(inst.b, part);
    withScratch(s, 'v128', 2, ([a, b]) => {
      s.code.at('local.set', b);
      s.code.at('local.set', a);
      for (const local of [a, b, a]) s.code.at('local.get', local);
      if (!isSigned) flipTop(s);
      s.code.at('local.get', b);
      if (!isSigned) flipTop(s);
      s.code.op(`i64x2.${comparison}`);
      s.code.op('v128.bitselect');
    });
  };
}

/** Flips the top bit, which maps the order of unsigned integers to that of signed ones. */
function flipTop({ code }: LaneGroup): void {
  code.v128(top);
  code.op('v128.xor');
}

/** Population count: by bytes, then added up. */
export function populated(s: LaneGroup, inst: Unary, value: Value): PartWriter | undefined {
  if (longOf(s, value) || inst.type === 'i1') return undefined;
  return (part) => {
    s.part(inst.a, part);
    s.code.op('i8x16.popcnt');
    s.code.op('i16x8.extadd_pairwise_i8x16_u');
    s.code.op('i32x4.extadd_pairwise_i16x8_u');
  };
}

/** An integer comparison, which gives a mask; the masks of two vectors of 64-bit lanes are joined into one. */
export function compareInt(s: LaneGroup, inst: InstOf<'icmp'>): PartWriter | undefined {
  const type = typeOf(s, inst.a);
  const { pred } = inst;
  const isEquality = pred === 'eq' || pred === 'ne';
  if (type === 'i1') return isEquality ? compareFlags(s, inst) : undefined;
  if (longOf(s, inst.a)) return compareLongs(s, inst);
  const op = `i32x4.${integerComparisons[pred]}` as const;
  return (part) => {
    for (const operand of [inst.a, inst.b]) {
      if (pred.startsWith('s')) partSigned(s, operand, part);
      else s.part(operand, part);
    }
    s.code.op(op);
  };
}

const compareFlags =
  (s: LaneGroup, inst: InstOf<'icmp'>): PartWriter =>
  (part) => {
    s.part(inst.a, part);
    s.part(inst.b, part);
    s.code.op('v128.xor');
    if (inst.pred === 'eq') s.code.op('v128.not');
  };

/** The comparison of 64-bit lanes for each predicate; operands of an unsigned one have their top bits flipped. */
const longComparisons = {
  eq: 'eq',
  ne: 'ne',
  slt: 'lt_s',
  sle: 'le_s',
  sgt: 'gt_s',
  sge: 'ge_s',
  ult: 'lt_s',
  ule: 'le_s',
  ugt: 'gt_s',
  uge: 'ge_s',
} as const satisfies Record<IcmpPredicate, OpOf<'i64x2'>>;

function compareLongs(s: LaneGroup, { pred, a, b }: InstOf<'icmp'>): PartWriter {
  const op = `i64x2.${longComparisons[pred]}` as const;
  const push = (operand: Value, part: number): void => {
    s.part(operand, part);
    if (pred.startsWith('u')) flipTop(s);
  };
  return (part) => {
    for (const half of [0, 1]) {
      push(a, 2 * part + half);
      push(b, 2 * part + half);
      s.code.op(op);
    }
    s.code.shuffle(evenWords);
  };
}
