/**
 * AIR functions that no GPU computes exactly. They are computed in f64 and rounded once: within one unit in the last place, where Metal
 * allows 4 to 16. Infinities, NaNs and signed zeros follow C.
 * Source: Metal Shading Language Specification 4, section 6.5 (functions), tables 8.2 to 8.4 (errors); C11, annex F.10 (edges).
 */

import { f64Bits } from '../../base/float.ts';
import type { Builder, ScalarType, Value } from '../../ir/index.ts';
import { type FunctionRow, type Make, row } from './row.ts';

const number = (b: Builder, value: number): Value => b.const('f64', f64Bits(value));
const times = (b: Builder, x: Value, factor: number): Value => b.fmul(x, number(b, factor));
const plus = (b: Builder, x: Value, other: number): Value => b.fadd(x, number(b, other));
const isBelow = (b: Builder, x: Value, bound: number): Value => b.fcmp(x, number(b, bound), { pred: 'olt' });
const isEqual = (b: Builder, x: Value, other: number): Value => b.fcmp(x, number(b, other), { pred: 'oeq' });

const signBit = 1n << 63n;

/** The magnitude of one value with the sign of another. */
function withSignOf(b: Builder, magnitude: Value, sign: Value): Value {
  const bits = b.and(b.bitcast('i64', b.fabs(magnitude)), b.const('i64', signBit - 1n));
  return b.bitcast('f64', b.or(bits, b.and(b.bitcast('i64', sign), b.const('i64', signBit))));
}

/** A polynomial in x; the coefficient of the highest power comes first. */
const polynomial = (b: Builder, x: Value, [first = 0, ...rest]: readonly number[]): Value =>
  rest.reduce<Value>((sum, coefficient) => plus(b, b.fmul(sum, x), coefficient), number(b, first));

type Double = (b: Builder, ...x: Value[]) => Value;

const exp: Double = (b, x) => b.fexp2(times(b, x!, Math.LOG2E));
const log: Double = (b, x) => times(b, b.flog2(x!), Math.LN2);

/** Below this threshold the first terms of a series give f64 precision, and a difference of large numbers would cancel. */
const seriesThreshold = 0.01;

/** An odd function: near zero a series in x squared, elsewhere a function of the magnitude. */
const odd =
  (series: readonly number[], far: Double): Double =>
  (b, x) => {
    const magnitude = b.fabs(x!);
    const near = b.fmul(magnitude, polynomial(b, b.fmul(magnitude, magnitude), series));
    return withSignOf(b, b.select(isBelow(b, magnitude, seriesThreshold), near, far(b, magnitude)), x!);
  };

const sinh = odd([1 / 5040, 1 / 120, 1 / 6, 1], (b, x) => times(b, b.fsub(exp(b, x!), exp(b, b.fneg(x!))), 0.5));
const cosh: Double = (b, x) => times(b, b.fadd(exp(b, x!), exp(b, b.fneg(x!))), 0.5);
const asinh = odd([-15 / 336, 3 / 40, -1 / 6, 1], (b, x) => log(b, b.fadd(x!, b.fsqrt(plus(b, b.fmul(x!, x!), 1)))));
const atanh = odd([1 / 7, 1 / 5, 1 / 3, 1], (b, x) => times(b, log(b, b.fdiv(plus(b, x!, 1), b.fsub(number(b, 1), x!))), 0.5));
const acosh: Double = (b, x) => log(b, b.fadd(x!, b.fmul(b.fsqrt(plus(b, x!, -1)), b.fsqrt(plus(b, x!, 1)))));

/** The tangent of half the angle, for a tangent from 0 to 1. */
const halfAngle: Double = (b, x) => b.fdiv(x!, plus(b, b.fsqrt(plus(b, b.fmul(x!, x!), 1)), 1));

/** 1/1 - 1/3 + 1/5 …, highest power first. For a quarter of 45 degrees the first omitted term is below 1e-15. */
const arcSeries = Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? -1 : 1) / (19 - 2 * i));

/** For a tangent from 0 to 1: the series for a quarter of the angle. */
function arcTangent(b: Builder, x: Value): Value {
  const quarter = halfAngle(b, halfAngle(b, x));
  return times(b, b.fmul(quarter, polynomial(b, b.fmul(quarter, quarter), arcSeries)), 4);
}

const atan2: Double = (b, y, x) => {
  const [sideY, sideX] = [b.fabs(y!), b.fabs(x!)];
  const isSteep = b.fcmp(sideY, sideX, { pred: 'ogt' });
  const [low, high] = [b.select(isSteep, sideX, sideY), b.select(isSteep, sideY, sideX)];
  const isBoth = (value: number): Value => b.and(isEqual(b, low, value), isEqual(b, high, value));
  const ratio = b.select(isBoth(0), number(b, 0), b.select(isBoth(Number.POSITIVE_INFINITY), number(b, 1), b.fdiv(low, high)));
  const flat = arcTangent(b, ratio);
  const right = b.select(isSteep, b.fsub(number(b, Math.PI / 2), flat), flat);
  // The sign of a zero matters too.
  const isLeft = b.icmp(b.bitcast('i64', x!), b.const('i64', 0n), { pred: 'slt' });
  return withSignOf(b, b.select(isLeft, b.fsub(number(b, Math.PI), right), right), y!);
};

const atan: Double = (b, x) => atan2(b, x!, number(b, 1));
/** The other leg of a right triangle with hypotenuse 1. */
const otherSide: Double = (b, x) => b.fsqrt(b.fmul(b.fsub(number(b, 1), x!), plus(b, x!, 1)));
const asin: Double = (b, x) => atan2(b, x!, otherSide(b, x!));
const acos: Double = (b, x) => atan2(b, otherSide(b, x!), x!);
const tan: Double = (b, x) => b.fdiv(b.fsin(x!), b.fcos(x!));

/** The argument in half turns; the reduction by whole turns is exact. */
const turned = (b: Builder, x: Value): Value => b.fsub(x, times(b, b.frint(times(b, x, 0.5)), 2));

const sinpi: Double = (b, x) => {
  const left = turned(b, x!);
  const mirrored = b.fsub(withSignOf(b, number(b, 1), left), left);
  const sine = b.fsin(times(b, b.select(b.fcmp(b.fabs(left), number(b, 0.5), { pred: 'ogt' }), mirrored, left), Math.PI));
  return b.select(isEqual(b, sine, 0), withSignOf(b, number(b, 0), x!), sine);
};
const cospi: Double = (b, x) => b.fsin(times(b, b.fsub(number(b, 0.5), b.fabs(turned(b, x!))), Math.PI));
const tanpi: Double = (b, x) => b.fdiv(sinpi(b, x!), cospi(b, x!));

/** The base is non-negative; a negative base gives NaN. */
const powr: Double = (b, x, y) => b.fexp2(b.fmul(y!, b.flog2(x!)));

const isWhole = (b: Builder, x: Value): Value => b.fcmp(b.ftrunc(x), x, { pred: 'oeq' });

const pow: Double = (b, x, y) => {
  const one = number(b, 1);
  const base = b.fabs(x!);
  const isOdd = b.and(isWhole(b, y!), b.xor(isWhole(b, times(b, y!, 0.5)), b.const('i1', 1n)));
  const isNegative = b.icmp(b.bitcast('i64', x!), b.const('i64', 0n), { pred: 'slt' });
  const power = b.select(b.and(isEqual(b, base, 1), b.fcmp(y!, y!, { pred: 'ord' })), one, powr(b, base, y!));
  const signed = b.select(b.and(isNegative, isOdd), b.fneg(power), power);
  // A finite negative base needs an integral exponent.
  const isBounded = b.and(isBelow(b, x!, 0), b.fcmp(base, number(b, Number.POSITIVE_INFINITY), { pred: 'olt' }));
  const isResultNan = b.and(isBounded, b.xor(isWhole(b, y!), b.const('i1', 1n)));
  const isOne = b.or(isEqual(b, y!, 0), isEqual(b, x!, 1));
  return b.select(isOne, one, b.select(isResultNan, number(b, Number.NaN), signed));
};

/** Applies an f64 function to operands of another type: the operands are exact in f64, and the result is rounded once. */
function inDouble(f: Double): Make {
  return (b, args, type: ScalarType) => {
    if (type === 'f64') return f(b, ...args);
    return b.fptrunc(type, f(b, ...args.map((x) => b.fpext('f64', x))));
  };
}

const math = (name: string, operands: number, f: Double): FunctionRow => row(name, operands, inDouble(f), { ulp: 1 });

/** Each has a relaxed form too, for which the same result is legal. */
export const mathRows: readonly FunctionRow[] = [
  math('exp', 1, exp),
  math('exp10', 1, (b, x) => b.fexp2(times(b, x!, Math.log2(10)))),
  math('log', 1, log),
  math('log10', 1, (b, x) => times(b, b.flog2(x!), Math.log10(2))),
  math('pow', 2, pow),
  math('powr', 2, powr),
  math('tan', 1, tan),
  math('asin', 1, asin),
  math('acos', 1, acos),
  math('atan', 1, atan),
  math('atan2', 2, atan2),
  math('sinh', 1, sinh),
  math('cosh', 1, cosh),
  math('asinh', 1, asinh),
  math('acosh', 1, acosh),
  math('atanh', 1, atanh),
  math('sinpi', 1, sinpi),
  math('cospi', 1, cospi),
  math('tanpi', 1, tanpi),
];
