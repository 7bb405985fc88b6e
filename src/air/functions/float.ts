/**
 * Exact float functions of AIR and LLVM, and those that are as exact as the operations that the manual defines them by.
 * Source: Metal Shading Language Specification 4, sections 6.2 (common functions) and 6.5 (math functions).
 */
import { f64Bits } from '../../base/float.ts';
import { type Builder, bitsOf, intOf, type ScalarType, type Value } from '../../ir/index.ts';
import { mathRows } from './math.ts';
import { remainder } from './remainder.ts';
import { type FunctionRow, type Make, row } from './row.ts';

/** The bits of 1 in each format. The preceding bit pattern is the largest number below 1. */
const oneBits: Partial<Record<ScalarType, bigint>> = { f16: 0x3c00n, bf16: 0x3f80n, f32: 0x3f80_0000n, f64: 0x3ff0n << 48n };
const one = (b: Builder, type: ScalarType): Value => b.const(type, oneBits[type]!);
const zero = (b: Builder, type: ScalarType): Value => b.const(type, 0n);

const clamped = (b: Builder, x: Value, low: Value, high: Value): Value => b.fmin(b.fmax(x, low), high);
const saturated: Make = (b, [x], type) => clamped(b, x!, zero(b, type), one(b, type));

/** x + (y - x) * a. */
const mix: Make = (b, [x, y, a]) => b.fadd(x!, b.fmul(b.fsub(y!, x!), a!));

/** Zeros are returned unchanged; NaN gives 0. */
const sign: Make = (b, [x], type) => {
  const none = zero(b, type);
  const isNumber = b.fcmp(x!, x!, { pred: 'ord' });
  const other = b.select(b.fcmp(x!, none, { pred: 'olt' }), b.fneg(one(b, type)), b.select(isNumber, x!, none));
  return b.select(b.fcmp(x!, none, { pred: 'ogt' }), one(b, type), other);
};

/** x - floor(x), clamped below 1, to which a small negative x would round. */
const fract: Make = (b, [x], type) => {
  const left = b.fsub(x!, b.ffloor(x!));
  return b.select(b.fcmp(left, one(b, type), { pred: 'oge' }), b.const(type, oneBits[type]! - 1n), left);
};

const step: Make = (b, [edge, x], type) => b.select(b.fcmp(x!, edge!, { pred: 'olt' }), zero(b, type), one(b, type));

const smoothstep: Make = (b, [low, high, x], type, isSigned) => {
  const t = saturated(b, [b.fdiv(b.fsub(x!, low!), b.fsub(high!, low!))], type, isSigned);
  const [two, three] = [b.fadd(one(b, type), one(b, type)), b.fadd(b.fadd(one(b, type), one(b, type)), one(b, type))];
  return b.fmul(b.fmul(t, t), b.fsub(three, b.fmul(two, t)));
};

const wide = (b: Builder, x: Value): Value => (b.typeOf(x) === 'f64' ? x : b.fpext('f64', x));
const narrow = (b: Builder, x: Value, type: ScalarType): Value => (type === 'f64' ? x : b.fptrunc(type, x));
const withSignOf = (b: Builder, magnitude: Value, of: Value, type: ScalarType): Value => {
  const int = intOf(bitsOf(type));
  const top = b.const(int, 1n << BigInt(bitsOf(type) - 1));
  return b.bitcast(type, b.or(b.bitcast(int, b.fabs(magnitude)), b.and(b.bitcast(int, of), top)));
};

/** To the nearest integral value, ties away from zero: truncate, and add one if the rest is at least a half. */
const round: Make = (b, [x], type) => {
  const magnitude = b.fabs(x!);
  const whole = b.ftrunc(magnitude);
  const left = b.fsub(magnitude, whole);
  const half = narrow(b, b.const('f64', f64Bits(0.5)), type);
  const rounded = b.select(b.fcmp(left, half, { pred: 'oge' }), b.fadd(whole, one(b, type)), whole);
  return withSignOf(b, rounded, x!, type);
};

/** In f64, where the product with a power of two is exact for every relevant exponent, with one rounding at the end. */
const ldexp: Make = (b, [x, exponent], type) => {
  const most = 300;
  const bounded = b.smin(b.smax(exponent!, b.const('i32', -most)), b.const('i32', most));
  const power = b.shl(b.sext('i64', b.add(bounded, b.const('i32', 1023))), b.const('i64', 52));
  return narrow(b, b.fmul(wide(b, x!), b.bitcast('f64', power)), type);
};

const median: Make = (b, [x, y, z]) => b.fmax(b.fmin(x!, y!), b.fmin(b.fmax(x!, y!), z!));

const exactRows: readonly FunctionRow[] = [
  row('clamp', 3, (b, [x, low, high]) => clamped(b, x!, low!, high!)),
  row('saturate', 1, saturated),
  row('sign', 1, sign),
  row('fract', 1, fract),
  row('round', 1, round),
  row('fmod', 2, (b, [x, y]) => remainder(b, x!, y!)),
  row('ldexp', 1, ldexp, { extraOperands: ['i32'] }),
  row('fmin3', 3, (b, [x, y, z]) => b.fmin(b.fmin(x!, y!), z!)),
  row('fmax3', 3, (b, [x, y, z]) => b.fmax(b.fmax(x!, y!), z!)),
  row('fmedian3', 3, median),
  row('mix', 3, mix, { ulp: 'formula' }),
  row('step', 2, step),
  row('smoothstep', 3, smoothstep, { ulp: 'formula' }),
];

/** AIR functions; each has a relaxed form too. */
export const floatRows: readonly FunctionRow[] = [...exactRows, ...mathRows];

/** NaN if one operand is NaN, unlike AIR's own functions. */
const propagatingNan =
  (choose: 'fmin' | 'fmax'): Make =>
  (b, [x, y]) =>
    b.select(b.fcmp(x!, y!, { pred: 'uno' }), b.fadd(x!, y!), b[choose](x!, y!));

const approximate = ['exp', 'log', 'log10', 'pow'] as const;

/** LLVM intrinsics, without `llvm.`. */
export const llvmFloatRows: readonly FunctionRow[] = [
  row('sqrt', 1, (b, [x]) => b.fsqrt(x!)),
  row('fabs', 1, (b, [x]) => b.fabs(x!)),
  row('floor', 1, (b, [x]) => b.ffloor(x!)),
  row('ceil', 1, (b, [x]) => b.fceil(x!)),
  row('trunc', 1, (b, [x]) => b.ftrunc(x!)),
  row('rint', 1, (b, [x]) => b.frint(x!)),
  row('nearbyint', 1, (b, [x]) => b.frint(x!)),
  row('roundeven', 1, (b, [x]) => b.frint(x!)),
  row('round', 1, round),
  row('fma', 3, (b, [x, y, z]) => b.fma(x!, y!, z!)),
  row('fmuladd', 3, (b, [x, y, z]) => b.fma(x!, y!, z!)),
  row('minnum', 2, (b, [x, y]) => b.fmin(x!, y!)),
  row('maxnum', 2, (b, [x, y]) => b.fmax(x!, y!)),
  row('minimum', 2, propagatingNan('fmin')),
  row('maximum', 2, propagatingNan('fmax')),
  row('copysign', 2, (b, [x, y], type) => withSignOf(b, x!, y!, type)),
  row('exp2', 1, (b, [x]) => b.fexp2(x!), { ulp: 1 }),
  row('log2', 1, (b, [x]) => b.flog2(x!), { ulp: 1 }),
  row('sin', 1, (b, [x]) => b.fsin(x!), { ulp: 1 }),
  row('cos', 1, (b, [x]) => b.fcos(x!), { ulp: 1 }),
  ...mathRows.filter(({ name }) => (approximate as readonly string[]).includes(name)),
];
