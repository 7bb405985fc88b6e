/**
 * Approximate f32 functions, computed in f64: for one lane, or for two lanes of a vector. Both compilers emit the same steps, so the scalar
 * path and the SIMD path give the same bits. The relative error is about 2^-30, so the result rounded to f32 is off by less than 1 ulp.
 * Source: Muller, "Elementary Functions" (3rd ed.), chapters 3 and 11: Taylor's series on reduced arguments, reduction after Cody and Waite.
 */
import type { Code } from '../../wasm/index.ts';
import type { FloatOp } from './mnemonics.ts';

export type ApproximateName = 'exp2' | 'log2' | 'sin' | 'cos' | 'tanh' | 'rsqrt';

/** The operations that a function is written in, for one lane or for two. Numbers on the stack are f64 values, or their 64 bits. */
interface Machine {
  readonly code: Code;
  local(kind: 'number' | 'bits'): number;
  /** An operation on f64 values; a comparison gives the condition that `choose` takes. */
  op(name: FloatOp): void;
  number(value: number): void;
  bits(value: bigint): void;
  /** An operation on bits. */
  on(name: 'add' | 'sub' | 'and' | 'or' | 'xor'): void;
  shift(name: 'shl' | 'shr_u', count: number): void;
  toBits(): void;
  fromBits(): void;
  /** The first of two numbers where a comparison holds, else the second. */
  choose(): void;
}

const scalar = (code: Code): Machine => ({
  code,
  local: (kind) => code.local(kind === 'bits' ? 'i64' : 'f64'),
  op: (name) => code.op(`f64.${name}`),
  number: (value) => code.f64(bitsOfDouble(value)),
  bits: (value) => code.i64(value),
  on: (name) => code.op(`i64.${name}`),
  shift(name, count) {
    code.i64(BigInt(count));
    code.op(`i64.${name}`);
  },
  toBits: () => code.op('i64.reinterpret_f64'),
  fromBits: () => code.op('f64.reinterpret_i64'),
  choose: () => code.op('select'),
});

const pair = (code: Code): Machine => ({
  code,
  local: () => code.local('v128'),
  op: (name) => code.op(`f64x2.${name}`),
  number: (value) => code.v128(twice(bitsOfDouble(value))),
  bits: (value) => code.v128(twice(value)),
  on: (name) => code.op(name === 'add' || name === 'sub' ? `i64x2.${name}` : `v128.${name}`),
  shift(name, count) {
    code.i32(count);
    code.op(`i64x2.${name}`);
  },
  toBits() {},
  fromBits() {},
  choose: () => code.op('v128.bitselect'),
});

const bitsOfDouble = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0]!;

const twice = (bits: bigint): number[] => {
  const [low, high] = [Number(bits & 0xffff_ffffn), Number((bits >> 32n) & 0xffff_ffffn)];
  return [low, high, low, high];
};

/** Replaces the f64 on the stack by the function's result, for one lane. */
export const writeFunction = (name: ApproximateName, code: Code): void => bodies[name](scalar(code));

/** Replaces the f64x2 on the stack by the function's results. */
export const writeFunctionOfPair = (name: ApproximateName, code: Code): void => bodies[name](pair(code));

/** Above this angle, in radians, the argument reduction is not exact enough and the host computes the function. */
export const largestAngle = 2 ** 20;
export const hasLargeAngles = (name: ApproximateName): name is 'sin' | 'cos' => name === 'sin' || name === 'cos';

const get = ({ code }: Machine, ...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));
const set = ({ code }: Machine, local: number): void => code.at('local.set', local);
const tee = ({ code }: Machine, local: number): void => code.at('local.tee', local);

/** A polynomial of a local, the coefficient of the highest power last. */
function polynomial(m: Machine, x: number, coefficients: readonly number[]): void {
  for (const [i, each] of [...coefficients].reverse().entries()) {
    if (i > 0) {
      get(m, x);
      m.op('mul');
    }
    m.number(each);
    if (i > 0) m.op('add');
  }
}

/** Clamps the number on the stack; a NaN stays. */
function clamp(m: Machine, min: number, max: number): void {
  const x = m.local('number');
  for (const [bound, comparison] of [
    [max, 'lt'],
    [min, 'gt'],
  ] as const) {
    set(m, x);
    m.number(bound);
    get(m, x);
    m.number(bound);
    get(m, x);
    m.op(comparison);
    m.choose();
  }
}

/** Adding and then subtracting this rounds to an integer; between the two steps the integer is in the last bits. */
const rounder = 1.5 * 2 ** 52;

const factorial = (n: number): number => (n < 2 ? 1 : n * factorial(n - 1));

/** 2^x = 2^k * e^(f ln 2) with an integer k and f from -0.5 to 0.5. */
function exp2(m: Machine): void {
  const [x, k, f] = [m.local('number'), m.local('number'), m.local('number')];
  clamp(m, -160, 130);
  tee(m, x);
  m.number(rounder);
  m.op('add');
  set(m, k);
  get(m, x, k);
  m.number(rounder);
  m.op('sub');
  m.op('sub');
  set(m, f);
  polynomial(
    m,
    f,
    Array.from({ length: 9 }, (_, i) => Math.LN2 ** i / factorial(i)),
  );
  m.toBits();
  get(m, k);
  m.toBits();
  m.shift('shl', 52);
  m.on('add');
  m.fromBits();
}

/** x = 2^k * m with m from 0.7 to 1.4; the logarithm of m is the series of atanh((m - 1) / (m + 1)). */
function log2(m: Machine): void {
  const [x, bits, raised] = [m.local('number'), m.local('bits'), m.local('bits')];
  const [s, square] = [m.local('number'), m.local('number')];
  const one = 0x3ffn << 52n;
  tee(m, x);
  m.toBits();
  tee(m, bits);
  m.bits(one - 0x3fe6_a09e_0000_0000n);
  m.on('add');
  set(m, raised);
  // m: the bits without those of the exponent.
  get(m, bits, raised);
  m.bits(0xfffn << 52n);
  m.on('and');
  m.on('sub');
  m.bits(one);
  m.on('add');
  m.fromBits();
  tee(m, s);
  m.number(1);
  m.op('sub');
  get(m, s);
  m.number(1);
  m.op('add');
  m.op('div');
  tee(m, s);
  get(m, s);
  m.op('mul');
  set(m, square);
  get(m, s);
  polynomial(
    m,
    square,
    Array.from({ length: 7 }, (_, i) => 2 / (Math.LN2 * (2 * i + 1))),
  );
  m.op('mul');
  // k, read as the last bits of a number above 2^52.
  get(m, raised);
  m.shift('shr_u', 52);
  m.bits(bitsOfDouble(2 ** 52));
  m.on('or');
  m.fromBits();
  m.number(2 ** 52 + 1023);
  m.op('sub');
  m.op('add');
  const y = m.local('number');
  set(m, y);
  replaceSpecialLogarithms(m, x, y);
}

/** Pushes the logarithm of x, which is in y unless x is special: infinity and NaN pass through, zero gives -Infinity, a negative number NaN. */
function replaceSpecialLogarithms(m: Machine, x: number, y: number): void {
  get(m, y, x, x);
  m.number(Number.POSITIVE_INFINITY);
  m.op('lt');
  m.choose();
  set(m, y);
  for (const [comparison, result] of [
    ['lt', Number.NaN],
    ['eq', Number.NEGATIVE_INFINITY],
  ] as const) {
    m.number(result);
    get(m, y, x);
    m.number(0);
    m.op(comparison);
    m.choose();
    set(m, y);
  }
  get(m, y);
}

/** pi / 2 in two parts, the first of which has 33 bits, so that its multiples are exact. */
const [halfPi, restOfHalfPi] = [1.5707963267341256, 6.077100506506192e-11];

/** The sine or the cosine of the reduced argument, with a sign: the quadrant of x selects both. */
const angle =
  (quarter: bigint) =>
  (m: Machine): void => {
    const [x, k, r, square, sine] = [m.local('number'), m.local('number'), m.local('number'), m.local('number'), m.local('number')];
    const turned = m.local('bits');
    tee(m, x);
    m.number(2 / Math.PI);
    m.op('mul');
    m.number(rounder);
    m.op('add');
    tee(m, k);
    m.toBits();
    m.bits(quarter);
    m.on('add');
    set(m, turned);
    get(m, k);
    m.number(rounder);
    m.op('sub');
    set(m, k);
    get(m, x);
    for (const part of [halfPi, restOfHalfPi]) {
      get(m, k);
      m.number(part);
      m.op('mul');
      m.op('sub');
    }
    tee(m, r);
    get(m, r);
    m.op('mul');
    set(m, square);
    const series = (first: number): number[] => Array.from({ length: 7 }, (_, i) => (i % 2 === 0 ? 1 : -1) / factorial(2 * i + first));
    get(m, r);
    polynomial(m, square, series(1));
    m.op('mul');
    set(m, sine);
    polynomial(m, square, series(0));
    // Even quadrants take the sine.
    const cosine = m.local('number');
    set(m, cosine);
    get(m, sine, cosine, turned);
    m.bits(1n);
    m.on('and');
    m.bits(bitsOfDouble(1));
    m.on('or');
    m.fromBits();
    m.number(1);
    m.op('eq');
    m.choose();
    m.toBits();
    get(m, turned);
    m.bits(2n);
    m.on('and');
    m.shift('shl', 62);
    m.on('xor');
    m.fromBits();
  };

/** Coefficients of the series of tanh at 0, of odd powers. Source: Abramowitz and Stegun, 4.5.64. */
const seriesOfTanh = [1, -1 / 3, 2 / 15, -17 / 315, 62 / 2835, -1382 / 155925, 21844 / 6081075, -929569 / 638512875];

/** (e^2x - 1) / (e^2x + 1); near 0, where the difference cancels, the series. */
function tanh(m: Machine): void {
  const [x, e, square] = [m.local('number'), m.local('number'), m.local('number')];
  clamp(m, -20, 20);
  tee(m, x);
  get(m, x);
  m.op('mul');
  set(m, square);
  get(m, x);
  polynomial(m, square, seriesOfTanh);
  m.op('mul');
  get(m, x);
  m.number(2 / Math.LN2);
  m.op('mul');
  exp2(m);
  tee(m, e);
  m.number(1);
  m.op('sub');
  get(m, e);
  m.number(1);
  m.op('add');
  m.op('div');
  get(m, square);
  m.number(1 / 16);
  m.op('lt');
  m.choose();
}

function rsqrt(m: Machine): void {
  const x = m.local('number');
  set(m, x);
  m.number(1);
  get(m, x);
  m.op('sqrt');
  m.op('div');
}

const bodies: Readonly<Record<ApproximateName, (m: Machine) => void>> = { exp2, log2, sin: angle(0n), cos: angle(1n), tanh, rsqrt };
