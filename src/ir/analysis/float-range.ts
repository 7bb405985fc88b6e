/**
 * Bounds of floats, from the instructions that make them: what clamps, conversions of masks and sums of bounded numbers are between. Every claim
 * holds for all operands. The analysis is on demand, to a depth, and does not follow loops; it knows what the condition of a choice says.
 */
import { constantOf, type Inst, type Kernel, type Value } from '../kernel.ts';
import type { FcmpPredicate } from '../ops.ts';
import { bitsOf } from '../types.ts';

/** The least and the most of a number. */
export interface FloatRange {
  readonly low: number;
  readonly high: number;
  /** Whether the value may be no number. */
  readonly isNan: boolean;
}

const deepest = 8;
const anything: FloatRange = { low: -Infinity, high: Infinity, isNan: true };

/** What holds of a value where a choice is taken. */
interface Fact {
  readonly value: Value;
  readonly range: FloatRange;
}

/** The bounds of a float of 32 bits; those of other types are not known. */
export function floatRange(kernel: Kernel, value: Value): FloatRange {
  return rangeOf(kernel, value, [], 0);
}

function rangeOf(kernel: Kernel, value: Value, facts: readonly Fact[], depth: number): FloatRange {
  const inst = kernel.insts[value]!;
  if (inst.type !== 'f32' || depth > deepest) return anything;
  let range = plainRange(kernel, inst, facts, depth);
  for (const fact of facts) if (fact.value === value) range = meet(range, fact.range);
  return range;
}

const meet = (a: FloatRange, b: FloatRange): FloatRange => ({
  low: Math.max(a.low, b.low),
  high: Math.min(a.high, b.high),
  isNan: a.isNan && b.isNan,
});

const join = (a: FloatRange, b: FloatRange): FloatRange => ({
  low: Math.min(a.low, b.low),
  high: Math.max(a.high, b.high),
  isNan: a.isNan || b.isNan,
});

const exactly = (bits: bigint): FloatRange => {
  const number = floatOf(bits);
  return Number.isNaN(number) ? anything : { low: number, high: number, isNan: false };
};

const view = new DataView(new ArrayBuffer(4));

/** The number of a float of 32 bits. */
export function floatOf(bits: bigint): number {
  view.setUint32(0, Number(bits));
  return view.getFloat32(0);
}

/** A bound of a result that is rounded: one that rounding cannot pass. */
const rounded = (low: number, high: number, isNan: boolean): FloatRange =>
  Number.isNaN(low) || Number.isNaN(high) ? anything : { low: Math.fround(low), high: Math.fround(high), isNan };

function plainRange(kernel: Kernel, inst: Inst, facts: readonly Fact[], depth: number): FloatRange {
  const of = (operand: Value, more: readonly Fact[] = facts): FloatRange => rangeOf(kernel, operand, more, depth + 1);
  switch (inst.op) {
    case 'const':
      return exactly(inst.bits);
    case 'select':
      return join(of(inst.a, [...facts, ...factsOf(kernel, inst.cond)]), of(inst.b));
    case 'bitcast':
      if (kernel.insts[inst.a]!.op === 'bitcast') return of(floatUnder(kernel, inst.a));
      // A zero of some sign.
      return isSignAlone(kernel, inst.a) ? { low: 0, high: 0, isNan: false } : betweenBits(possibleBits(kernel, inst.a, depth + 1));
    case 'fabs': {
      const { low, high, isNan } = of(inst.a);
      const most = Math.max(Math.abs(low), Math.abs(high));
      return { low: low > 0 ? low : high < 0 ? -high : 0, high: most, isNan };
    }
    case 'fneg': {
      const { low, high, isNan } = of(inst.a);
      return { low: -high, high: -low, isNan };
    }
    case 'ftz': {
      const { low, high, isNan } = of(inst.a);
      return { low: low < smallestNormal ? Math.min(low, 0) : low, high: high > -smallestNormal ? Math.max(high, 0) : high, isNan };
    }
    case 'fexp2': {
      const { low, high, isNan } = of(inst.a);
      return approximately(2 ** low, 2 ** high, isNan);
    }
    case 'frcp': {
      const { low, high, isNan } = of(inst.a);
      // The reciprocal of a subnormal is infinite where the device takes it for zero.
      return low >= smallestNormal ? approximately(1 / high, 1 / low, isNan) : anything;
    }
    case 'frsqrt':
    case 'fsqrt':
      return { low: 0, high: Infinity, isNan: true };
    case 'sitofp':
      return {
        low: -(2 ** (bitsOf(kernel.insts[inst.a]!.type) - 1)),
        high: Math.fround(2 ** (bitsOf(kernel.insts[inst.a]!.type) - 1)),
        isNan: false,
      };
    case 'frint':
    case 'ftrunc':
    case 'ffloor':
    case 'fceil': {
      const { low, high, isNan } = of(inst.a);
      return { low: Math.floor(low), high: Math.ceil(high), isNan };
    }
    case 'uitofp':
      return { low: 0, high: Math.fround(2 ** bitsOf(kernel.insts[inst.a]!.type)), isNan: false };
    case 'fadd':
      return sum(of(inst.a), of(inst.b));
    case 'fsub': {
      const { low, high, isNan } = of(inst.b);
      return sum(of(inst.a), { low: -high, high: -low, isNan });
    }
    case 'fmul':
      return rounding(productOf(inst.a, inst.b, of));
    case 'fma':
      return sum(productOf(inst.a, inst.b, of), of(inst.c));
    default:
      return anything;
  }
}

/** Doubles hold sums of floats to more than a float does, and rounding is monotonic: the rounded sum of doubles is one step off at most, and `beyond` takes it. */
const sum = (a: FloatRange, b: FloatRange): FloatRange =>
  rounded(beyond(a.low + b.low, -1), beyond(a.high + b.high, 1), a.isNan || b.isNan || !(isBounded(a) && isBounded(b)));
const rounding = ({ low, high, isNan }: FloatRange): FloatRange => rounded(low, high, isNan);

/** A product before it is rounded; a square is not negative. */
function productOf(a: Value, b: Value, of: (operand: Value) => FloatRange): FloatRange {
  const [x, y] = [of(a), of(b)];
  const product = exactProduct(x, y);
  return a === b ? { ...product, low: Math.max(0, product.low), isNan: x.isNan } : product;
}

const isBounded = ({ low, high }: FloatRange): boolean => Number.isFinite(low) && Number.isFinite(high);

/** Two floats have an exact product in double precision. */
function exactProduct(a: FloatRange, b: FloatRange): FloatRange {
  const ends = [times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)];
  const isNan = a.isNan || b.isNan || (hasZero(a) && !isBounded(b)) || (hasZero(b) && !isBounded(a));
  return { low: Math.min(...ends), high: Math.max(...ends), isNan };
}

/** Zero times infinity is no number, and a number times zero is a bound of the others. */
const times = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : a * b);
const hasZero = ({ low, high }: FloatRange): boolean => low <= 0 && high >= 0;

/** How far an approximation may be off, relatively: more than any device is. */
const nearby = 1e-5;
/** The smallest float that is not subnormal: a device may make zeros of those. */
const smallestNormal = 2 ** -126;

/** A positive result of an approximation. */
function approximately(low: number, high: number, isNan: boolean): FloatRange {
  const least = low * (1 - nearby);
  return { low: least < smallestNormal ? 0 : Math.fround(least), high: Math.fround(high * (1 + nearby)), isNan };
}

/** The bits of an integer that are 1, and those that may be. */
interface Bits {
  readonly ones: bigint;
  readonly possible: bigint;
}

const allBits = 0xffff_ffffn;

function possibleBits(kernel: Kernel, value: Value, depth: number): Bits {
  const inst = kernel.insts[value]!;
  const unknown = { ones: 0n, possible: allBits };
  if (inst.op === 'const') return { ones: inst.bits, possible: inst.bits };
  if (depth > deepest || (inst.op !== 'and' && inst.op !== 'or')) return unknown;
  const [a, b] = [possibleBits(kernel, inst.a, depth + 1), possibleBits(kernel, inst.b, depth + 1)];
  return inst.op === 'and'
    ? { ones: a.ones & b.ones, possible: a.possible & b.possible }
    : { ones: a.ones | b.ones, possible: a.possible | b.possible };
}

/** Floats of one sign are in the order of their bits. */
function betweenBits({ ones, possible }: Bits): FloatRange {
  const sign = 1n << 31n;
  const [least, most] = [floatOf(ones & ~sign), floatOf(possible & ~sign)];
  const isNan = Number.isNaN(most);
  const high = isNan ? Infinity : most;
  if (Number.isNaN(least) || (possible & sign) !== (ones & sign)) return anything;
  return ones & sign ? { low: -high, high: -least, isNan } : { low: least, high, isNan };
}

/** A number past the exact result of which `x` is the nearest double. */
const beyond = (x: number, way: number): number => x + way * Math.abs(x) * 2 ** -51;

/** The float whose bits an integer is, where a register without a type held it; else the integer. */
export function floatUnder(kernel: Kernel, bits: Value): Value {
  const inst = kernel.insts[bits]!;
  return inst.op === 'bitcast' ? inst.a : bits;
}

function isSignAlone(kernel: Kernel, value: Value): boolean {
  const inst = kernel.insts[value]!;
  return inst.op === 'and' && constantOf(kernel, inst.b) === 0x8000_0000n;
}

const below: ReadonlySet<FcmpPredicate> = new Set(['olt', 'ole', 'oeq'] as const);
const above: ReadonlySet<FcmpPredicate> = new Set(['ogt', 'oge', 'oeq'] as const);

/** What a condition says of the value that it compares with a constant. */
function factsOf(kernel: Kernel, cond: Value): Fact[] {
  const inst = kernel.insts[cond]!;
  if (inst.op !== 'fcmp') return [];
  const bits = constantOf(kernel, inst.b);
  if (bits === undefined || kernel.insts[inst.b]!.type !== 'f32') return [];
  const number = floatOf(bits);
  if (Number.isNaN(number) || !(below.has(inst.pred) || above.has(inst.pred))) return [];
  const range = { low: above.has(inst.pred) ? number : -Infinity, high: below.has(inst.pred) ? number : Infinity, isNan: false };
  return [{ value: inst.a, range }];
}
