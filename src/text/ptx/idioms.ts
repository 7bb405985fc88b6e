/**
 * Several ops that one instruction of PTX is: what the rows of the table lower `.sat`, `.ftz` of doubles and conversions to integers to, read back. Each is exact:
 * the instruction has the meaning of the ops for every operand, but for which NaN a NaN is.
 */
import {
  constantOf,
  floatRange,
  floatSpan,
  type IcmpPredicate,
  type Inst,
  type InstOf,
  type Kernel,
  type Op,
  operandsOf,
  terminatorOperands,
  type Value,
} from '../../ir/index.ts';
import { minExponent } from '../../ir/subnormals.ts';
import { bitsOf } from '../../ir/types.ts';

const one = 0x3f80_0000n;

const instOf = (kernel: Kernel, value: Value): Inst => kernel.insts[value]!;

/** Whether an integer is the bits of a float. */
function isBitsOf(kernel: Kernel, bits: Value, float: Value): boolean {
  const [x, y] = [instOf(kernel, bits), instOf(kernel, float)];
  return (x.op === 'bitcast' && x.a === float) || (y.op === 'bitcast' && y.a === bits);
}

/** The float that a choice clamps to 0 and 1, NaN to 0. */
export function saturatedOf(kernel: Kernel, value: Value): Value | undefined {
  const inst = instOf(kernel, value);
  if (inst.op !== 'select' || inst.type !== 'f32' || constantOf(kernel, inst.b) !== 0n) return undefined;
  const [test, below] = [instOf(kernel, inst.cond), instOf(kernel, inst.a)];
  if (test.op !== 'fcmp' || test.pred !== 'ogt' || constantOf(kernel, test.b) !== 0n) return undefined;
  if (below.op !== 'select' || below.a !== test.a || constantOf(kernel, below.b) !== one) return undefined;
  const limit = instOf(kernel, below.cond);
  const isLimit = limit.op === 'fcmp' && limit.pred === 'olt' && limit.a === test.a && constantOf(kernel, limit.b) === one;
  return isLimit ? test.a : undefined;
}

/** The operand that an instruction with `.ftz` may have instead: what is flushed, or a number that is no subnormal. */
export function flushable(kernel: Kernel, value: Value): Value | undefined {
  const inst = instOf(kernel, value);
  if (inst.op === 'ftz') return inst.a;
  const { low, high } = floatRange(kernel, value);
  const isNormal = low >= 2 ** minExponent || high <= -(2 ** minExponent);
  return isNormal || floatSpan(kernel, value).low >= minExponent ? value : undefined;
}

/** The rounding of an instruction to an integral value, as conversions to integers have it. */
export const integralRoundings: Partial<Record<Op, string>> = { frint: 'rni', ftrunc: 'rzi', ffloor: 'rmi', fceil: 'rpi' };

/** A conversion to an integer: what is converted, and how it is rounded. */
export function integerOf(kernel: Kernel, a: Value): { readonly a: Value; readonly rounding: string } {
  const inst = instOf(kernel, a);
  const rounding = inst.type === 'f32' || inst.type === 'f64' ? integralRoundings[inst.op] : undefined;
  return rounding !== undefined && 'a' in inst ? { a: inst.a as Value, rounding } : { a, rounding: 'rzi' };
}

/** The conversion in a choice that gives the highest bit for NaN, as conversions with 64 bits on a side do. */
export function wholeConversion(kernel: Kernel, value: Value): Value | undefined {
  const inst = instOf(kernel, value);
  if (inst.op !== 'select' || (inst.type !== 'i64' && inst.type !== 'i32')) return undefined;
  const [test, converted] = [instOf(kernel, inst.cond), instOf(kernel, inst.b)];
  if (test.op !== 'fcmp' || test.pred !== 'uno' || test.a !== test.b) return undefined;
  if (converted.op !== 'fptosi' && converted.op !== 'fptoui') return undefined;
  if (constantOf(kernel, inst.a) !== 1n << BigInt(bitsOf(inst.type) - 1)) return undefined;
  const { type } = instOf(kernel, test.a);
  if (type !== 'f64' && !(type === 'f32' && inst.type === 'i64')) return undefined;
  return converted.a === test.a || integerOf(kernel, converted.a).a === test.a ? inst.b : undefined;
}

/** Ops that do not see which NaN an operand is, and whose results do not show it. */
const arithmetic: ReadonlySet<Op> = new Set([
  ...(['fadd', 'fsub', 'fmul', 'fdiv', 'fma', 'fsqrt', 'fmin', 'fmax', 'frint', 'ftrunc', 'ffloor', 'fceil', 'fcmp', 'fptosi'] as const),
  ...(['fptoui', 'fpext', 'fptrunc', 'fexp2', 'frcp', 'frsqrt'] as const),
]);
/** Ops whose result is one of their operands, or that with another sign. */
const passing: ReadonlySet<Op> = new Set(['fneg', 'fabs', 'ftz', 'select']);

/** The values whose bits something sees, so that a NaN among them keeps its own. */
export function seenBits(kernel: Kernel): ReadonlySet<Value> {
  const seen = new Set<Value>();
  for (const { body, end } of kernel.blocks) {
    for (const value of terminatorOperands(end)) seen.add(value);
    for (const value of body) {
      const inst = instOf(kernel, value);
      if (!arithmetic.has(inst.op) && !passing.has(inst.op)) for (const operand of operandsOf(inst)) seen.add(operand);
    }
  }
  for (const value of seen) {
    const inst = instOf(kernel, value);
    if (passing.has(inst.op)) for (const operand of operandsOf(inst)) seen.add(operand);
  }
  return seen;
}

const upperWord = 0xffff_ffff_0000_0000n;
const doubleSign = 1n << 63n;
const smallestDouble = 0x0010_0000_0000_0000n;

/** The bits of a double whose lower word is cleared. */
function upperOf(kernel: Kernel, value: Value): Value | undefined {
  const cast = instOf(kernel, value);
  const masked = cast.op === 'bitcast' ? instOf(kernel, cast.a) : cast;
  return masked.op === 'and' && constantOf(kernel, masked.b) === upperWord ? masked.a : undefined;
}

/** Whether a double is an upper word alone. */
function isUpper(kernel: Kernel, value: Value): boolean {
  const cast = instOf(kernel, value);
  const shifted = cast.op === 'bitcast' ? instOf(kernel, cast.a) : cast;
  return shifted.op === 'shl' && (constantOf(kernel, shifted.b) ?? 0n) >= 32n;
}

/** The double that a choice flushes. */
function flushedDouble(kernel: Kernel, value: Value): Value | undefined {
  const inst = instOf(kernel, value);
  if (inst.op !== 'select' || inst.type !== 'f64') return undefined;
  const test = instOf(kernel, inst.cond);
  if (test.op !== 'fcmp' || test.pred !== 'olt' || constantOf(kernel, test.b) !== smallestDouble) return undefined;
  const size = instOf(kernel, test.a);
  if (size.op !== 'fabs' || size.a !== inst.b) return undefined;
  const cast = instOf(kernel, inst.a);
  const sign = cast.op === 'bitcast' ? instOf(kernel, cast.a) : cast;
  if (sign.op !== 'and' || constantOf(kernel, sign.b) !== doubleSign) return undefined;
  return sign.a === upperOf(kernel, inst.b) || isBitsOf(kernel, sign.a, inst.b) ? inst.b : undefined;
}

/** The reciprocal, or that of a root, that an approximate quotient is. */
function reciprocalOf(kernel: Kernel, value: Value): { readonly name: 'rcp' | 'rsqrt'; readonly a: Value } | undefined {
  const inst = instOf(kernel, value);
  if (inst.op !== 'frcp' || inst.type !== 'f64') return undefined;
  const root = instOf(kernel, inst.a);
  return root.op === 'fsqrt' ? { name: 'rsqrt', a: root.a } : { name: 'rcp', a: inst.a };
}

/** An instruction that estimates a double: the bits or the double that it takes. */
export interface Estimate {
  readonly text: string;
  readonly a: Value;
}

/** The estimate of doubles in a choice: an approximation of the upper word without subnormals, rounded to the upper word. */
export function estimateOf(kernel: Kernel, value: Value): Estimate | undefined {
  const inst = instOf(kernel, value);
  if (inst.op !== 'select' || inst.type !== 'f64') return undefined;
  const [test, nan] = [instOf(kernel, inst.cond), constantOf(kernel, inst.a)];
  if (test.op !== 'fcmp' || test.pred !== 'uno' || test.a !== test.b || nan === undefined) return undefined;
  const result = flushedDouble(kernel, inst.b);
  const word = result === undefined ? undefined : upperOf(kernel, result);
  const sum = word === undefined ? undefined : instOf(kernel, word);
  if (sum?.op !== 'add' || constantOf(kernel, sum.b) !== 1n << 31n) return undefined;
  const bits = instOf(kernel, sum.a);
  const found = bits.op === 'bitcast' && bits.a === test.a ? reciprocalOf(kernel, bits.a) : undefined;
  const flushed = found && flushedDouble(kernel, found.a);
  if (!found || flushed === undefined) return undefined;
  const text = `${found.name}.approx.ftz.f64`;
  if (isUpper(kernel, flushed)) return { text, a: flushed };
  const source = upperOf(kernel, flushed);
  if (source === undefined) return undefined;
  const cast = instOf(kernel, source);
  return { text, a: cast.op === 'bitcast' && instOf(kernel, cast.a).type === 'f64' ? cast.a : source };
}

/** The reciprocal root of a double. */
export const rootOf = (kernel: Kernel, value: Value): Value | undefined => {
  const found = reciprocalOf(kernel, value);
  return found?.name === 'rsqrt' ? found.a : undefined;
};

const extremes: Partial<Record<IcmpPredicate, string>> = {
  ult: 'min.u',
  ule: 'min.u',
  ugt: 'max.u',
  uge: 'max.u',
  slt: 'min.s',
  sle: 'min.s',
  sgt: 'max.s',
  sge: 'max.s',
};

/** The minimum or maximum in a choice between the numbers that are compared. */
export function extremeOf(kernel: Kernel, { cond, a, b, type }: InstOf<'select'>): string | undefined {
  const test = instOf(kernel, cond);
  if (test.op !== 'icmp' || (type !== 'i32' && type !== 'i64') || test.a !== a) return undefined;
  const isOther = test.b === b || (constantOf(kernel, b) !== undefined && constantOf(kernel, test.b) === constantOf(kernel, b));
  const name = isOther ? extremes[test.pred] : undefined;
  return name === undefined ? undefined : `${name}${bitsOf(type)}`;
}

/** A shift in a choice that gives 0 for counts of its width and more, which PTX's shifts do. */
export function wholeShift(kernel: Kernel, { cond, a, b, type }: InstOf<'select'>): Value | undefined {
  const [test, shifted] = [instOf(kernel, cond), instOf(kernel, a)];
  if ((type !== 'i32' && type !== 'i64') || constantOf(kernel, b) !== 0n || (shifted.op !== 'shl' && shifted.op !== 'lshr'))
    return undefined;
  if (test.op !== 'icmp' || test.pred !== 'ult' || constantOf(kernel, test.b) !== BigInt(bitsOf(type))) return undefined;
  const count = instOf(kernel, shifted.b);
  return test.a === shifted.b || (count.op === 'zext' && count.a === test.a) ? a : undefined;
}
