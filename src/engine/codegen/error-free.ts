/**
 * Error-free transformations and rounding to odd: the building blocks of exact fused multiply-add, for scalars and for vectors.
 *
 * TwoSum (Knuth) gives the rounding error of a sum, which is a float itself. Rounding to odd truncates toward zero and sets the last bit if anything
 * was lost; rounding such a sum once more, to a format with at least two bits less, is as exact as rounding the infinitely precise sum.
 * Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008); Knuth, "The Art of Computer Programming", vol. 2, 4.2.2.
 */
import type { Code } from '../../wasm/index.ts';

/** A float type: of a scalar, or of the lanes of a vector. */
export type FloatShape = 'f64' | 'f32x4' | 'f64x2';

const zero = [0, 0, 0, 0];
/** A one in every lane, by the shape of the float. */
const one = { f32x4: [1, 1, 1, 1], f64x2: [1, 0, 1, 0] } as const;
const integerShape = { f32x4: 'i32x4', f64x2: 'i64x2' } as const;

const get = (code: Code, ...locals: number[]): void => locals.forEach((local) => void code.at('local.get', local));

/**
 * Pushes the exact error of the sum of x and y, by TwoSum: (x - (sum - y')) + (y - y') with y' = sum - x. `x` and `sum` are locals, `rest` is a local
 * for y'; `pushY` pushes y.
 */
export function pushTwoSumError(code: Code, shape: FloatShape, [x, pushY]: readonly [number, () => void], sum: number, rest: number): void {
  get(code, x, sum, sum, x);
  code.op(`${shape}.sub`);
  code.at('local.tee', rest);
  code.op(`${shape}.sub`);
  code.op(`${shape}.sub`);
  pushY();
  get(code, rest);
  code.op(`${shape}.sub`);
  code.op(`${shape}.add`);
}

/** TwoSum: sets the local `sum` to the sum of two locals, and pushes its exact error. */
export function twoSum(code: Code, shape: FloatShape, [x, y]: readonly [number, number], sum: number, rest: number): void {
  get(code, x, y);
  code.op(`${shape}.add`);
  code.at('local.set', sum);
  pushTwoSumError(code, shape, [x, () => get(code, y)], sum, rest);
}

/**
 * Pushes a vector of sums rounded to odd, from their exact errors. A sum is too large in magnitude where its error has the other sign; subtracting 1
 * from its bits then truncates it. An error of NaN, which an infinite sum has, leaves the sum as it is.
 */
export function pushRoundedToOdd(code: Code, shape: 'f32x4' | 'f64x2', sum: number, error: number): void {
  const integer = integerShape[shape];
  const pushIsInexact = (): void => {
    get(code, error);
    code.op(`${shape}.abs`);
    code.v128(zero);
    code.op(`${shape}.gt`);
  };
  get(code, error, sum);
  code.op('v128.xor');
  code.v128(zero);
  code.op(`${integer}.lt_s`);
  pushIsInexact();
  code.op('v128.and');
  get(code, sum);
  code.op(`${integer}.add`);
  pushIsInexact();
  code.v128(one[shape]);
  code.op('v128.and');
  code.op('v128.or');
}

/**
 * The same in fewer instructions, with the error on the stack: the sign of error * sum tells whether the sum is too large in magnitude, and 0 that it
 * is exact. For sums of f32 products in f64 only, where no such product underflows; it is a NaN where an operand is one. `isLess` and `signs` are
 * locals for intermediate vectors.
 */
export function pushRoundedToOddByProduct(code: Code, sum: number, [isLess, signs]: readonly [number, number]): void {
  get(code, sum);
  code.op('f64x2.mul');
  code.at('local.tee', signs);
  code.v128(zero);
  code.op('f64x2.lt');
  code.at('local.tee', isLess);
  get(code, sum);
  code.op('i64x2.add');
  get(code, signs);
  code.v128(zero);
  code.op('f64x2.gt');
  get(code, isLess);
  code.op('v128.or');
  code.v128(one.f64x2);
  code.op('v128.and');
  code.op('v128.or');
}

/** Sets a scalar f64 sum to itself rounded to odd, from its exact error. `bits` is an i64 local for the bits of the sum. */
export function roundScalarToOdd(code: Code, sum: number, error: number, bits: number): void {
  pushIsEvenAndInexact(code, sum, error, bits);
  code.open('if');
  // One step of the sum toward the error makes it odd: away from zero where both have the same sign.
  get(code, bits);
  code.i64(1n);
  code.i64(-1n);
  get(code, error);
  code.op('i64.reinterpret_f64');
  get(code, bits);
  code.op('i64.xor');
  code.i64(0n);
  code.op('i64.ge_s');
  code.op('select');
  code.op('i64.add');
  code.op('f64.reinterpret_i64');
  code.at('local.set', sum);
  code.end();
}

/** Pushes whether the error is not 0 (false of a NaN) and the last bit of the sum is 0; sets the bits of the sum. */
function pushIsEvenAndInexact(code: Code, sum: number, error: number, bits: number): void {
  for (const comparison of ['f64.lt', 'f64.gt'] as const) {
    get(code, error);
    code.f64(0n);
    code.op(comparison);
  }
  code.op('i32.or');
  get(code, sum);
  code.op('i64.reinterpret_f64');
  code.at('local.tee', bits);
  code.op('i32.wrap_i64');
  code.i32(1);
  code.op('i32.and');
  code.op('i32.eqz');
  code.op('i32.and');
}
