/**
 * The places that floats span: a power of two that they are multiples of, and one that they are at most in magnitude. What is made of integers with scales and
 * sums is a multiple of a power far above the least float, and so is the error of its rounding: neither is ever subnormal. Every claim holds for all operands;
 * the analysis is on demand, to a depth, and does not follow loops.
 */
import type { Inst, Kernel, Value } from '../kernel.ts';
import { bitsOf } from '../types.ts';
import { floatUnder } from './float-range.ts';

/** Exponents of two. */
export interface FloatSpan {
  /** A number is a multiple of this power. */
  readonly low: number;
  /** The value is a number of at most this power in magnitude. If it is infinity, the value may be infinite, or no number. */
  readonly high: number;
}

/** The exponents of the least float and of the greatest power of two, and the bits of the fraction. */
const formats = {
  f32: { least: -149, most: 127, fraction: 23 },
  f64: { least: -1074, most: 1023, fraction: 52 },
} as const;
type Wide = keyof typeof formats;

const deepest = 8;
/** Values that a question may look at: sums of sums are trees. */
const maxVisits = 200;
/** Zero is a multiple of every power, and at most every one. */
const zero: FloatSpan = { low: 2000, high: -2000 };

/** The places of a float of 32 or 64 bits. */
export function floatSpan(kernel: Kernel, value: Value): FloatSpan {
  return spanOf(kernel, value, 0, { left: maxVisits });
}

function spanOf(kernel: Kernel, value: Value, depth: number, visits: { left: number }): FloatSpan {
  const inst = kernel.insts[value]!;
  if (inst.type === 'f16') return { low: -24, high: Infinity };
  if (inst.type !== 'f32' && inst.type !== 'f64') return { low: -Infinity, high: Infinity };
  const anything: FloatSpan = { low: formats[inst.type].least, high: Infinity };
  if (depth > deepest || --visits.left < 0) return anything;
  const exact = exactSpan(kernel, inst, inst.type, (operand) => spanOf(kernel, operand, depth + 1, visits));
  return exact ? rounded(exact, inst.type) : anything;
}

/** Rounding keeps a multiple of a power, for the floats of a magnitude are themselves multiples of one power; and it does not pass a power. */
const rounded = ({ low, high }: FloatSpan, type: Wide): FloatSpan => ({
  low: Math.max(formats[type].least, low),
  high: high > formats[type].most ? Infinity : high,
});

const either = (a: FloatSpan, b: FloatSpan): FloatSpan => ({ low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) });
/** Of a sum of floats of a type, the second operand is looked at only where the first one says something. */
function sum(type: Wide, a: FloatSpan, second: () => FloatSpan): FloatSpan {
  if (a.low <= formats[type].least && a.high === Infinity) return a;
  const b = second();
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) + 1 };
}
const product = (a: FloatSpan, b: FloatSpan): FloatSpan => ({ low: a.low + b.low, high: a.high + b.high });

/** The places of a result before it is rounded; undefined if nothing is known. */
function exactSpan(kernel: Kernel, inst: Inst, type: Wide, of: (operand: Value) => FloatSpan): FloatSpan | undefined {
  switch (inst.op) {
    case 'const':
      return spanOfBits(inst.bits, type);
    case 'fneg':
    case 'fabs':
    case 'ftz':
      return of(inst.a);
    case 'bitcast':
      return kernel.insts[floatUnder(kernel, inst.a)]!.type === type ? of(floatUnder(kernel, inst.a)) : undefined;
    case 'select':
    case 'fmin':
    case 'fmax':
      return either(of(inst.a), of(inst.b));
    case 'fadd':
    case 'fsub':
      return sum(type, of(inst.a), () => of(inst.b));
    case 'fmul':
      return product(of(inst.a), of(inst.b));
    case 'fma':
      return sum(type, product(of(inst.a), of(inst.b)), () => of(inst.c));
    case 'sitofp':
      return { low: 0, high: bitsOf(kernel.insts[inst.a]!.type) - 1 };
    case 'uitofp':
      return { low: 0, high: bitsOf(kernel.insts[inst.a]!.type) };
    case 'frint':
    case 'ftrunc':
    case 'ffloor':
    case 'fceil':
      return { low: Math.max(0, of(inst.a).low), high: Math.max(0, of(inst.a).high) };
    case 'fpext':
    case 'fptrunc':
      return kernel.insts[inst.a]!.type === 'bf16' ? undefined : of(inst.a);
    default:
      return undefined;
  }
}

function spanOfBits(bits: bigint, type: Wide): FloatSpan {
  const { least, fraction } = formats[type];
  const magnitude = bits & ((1n << BigInt(bitsOf(type) - 1)) - 1n);
  const implied = 1n << BigInt(fraction);
  const [field, rest] = [Number(magnitude >> BigInt(fraction)), magnitude & (implied - 1n)];
  if (magnitude === 0n) return zero;
  const significand = field === 0 ? rest : rest | implied;
  const exponent = least + Math.max(field, 1) - 1;
  const zeros = (significand & -significand).toString(2).length - 1;
  const isNumber = field < 2 ** (bitsOf(type) - 1 - fraction) - 1;
  // The length of a power is one more than its exponent.
  const isPower = significand >> BigInt(zeros) === 1n;
  return { low: exponent + zeros, high: isNumber ? exponent + significand.toString(2).length - (isPower ? 1 : 0) : Infinity };
}
