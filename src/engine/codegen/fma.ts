/**
 * The scalar helper for f32 fused multiply-add: a * b + c with one rounding. The product is exact in f64; the sum is rounded to odd there, after
 * which rounding to f32 is correct. Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008); TwoSum after Knuth.
 */
import type { Code } from '../../wasm/index.ts';

interface Sum {
  readonly code: Code;
  readonly product: number;
  readonly addend: number;
  readonly sum: number;
  /** The exact rounding error of the sum. */
  readonly error: number;
  /** The bits of the sum. */
  readonly bits: number;
}

/** Writes the body of a function (f32, f32, f32) -> f32. */
export function writeFma(code: Code): void {
  const f64 = (): number => code.local('f64');
  const s: Sum = { code, product: f64(), addend: f64(), sum: f64(), error: f64(), bits: code.local('i64') };
  writeSum(s);
  writeError(s);
  writeIsEvenAndInexact(s);
  code.open('if');
  writeStep(s);
  code.end();
  code.at('local.get', s.sum);
  code.op('f32.demote_f64');
}

function writeSum({ code, product, addend, sum }: Sum): void {
  const promote = (param: number): void => {
    code.at('local.get', param);
    code.op('f64.promote_f32');
  };
  promote(0);
  promote(1);
  code.op('f64.mul');
  code.at('local.tee', product);
  promote(2);
  code.at('local.tee', addend);
  code.op('f64.add');
  code.at('local.set', sum);
}

/** error = (product - (sum - addend')) + (addend - addend') with addend' = sum - product. */
function writeError({ code, product, addend, sum, error }: Sum): void {
  for (const local of [product, sum, sum, product]) code.at('local.get', local);
  code.op('f64.sub');
  code.at('local.tee', error);
  code.op('f64.sub');
  code.op('f64.sub');
  code.at('local.get', addend);
  code.at('local.get', error);
  code.op('f64.sub');
  code.op('f64.add');
  code.at('local.set', error);
}

/** Whether the error is not 0 (false of a NaN) and the last bit of the sum is 0. */
function writeIsEvenAndInexact({ code, sum, error, bits }: Sum): void {
  for (const comparison of ['f64.lt', 'f64.gt']) {
    code.at('local.get', error);
    code.f64(0n);
    code.op(comparison);
  }
  code.op('i32.or');
  code.at('local.get', sum);
  code.op('i64.reinterpret_f64');
  code.at('local.tee', bits);
  code.op('i32.wrap_i64');
  code.i32(1);
  code.op('i32.and');
  code.op('i32.eqz');
  code.op('i32.and');
}

/** Moves the sum by one ulp toward the error, which makes it odd: away from zero where both have the same sign. */
function writeStep({ code, sum, error, bits }: Sum): void {
  code.at('local.get', bits);
  code.i64(1n);
  code.i64(-1n);
  code.at('local.get', error);
  code.op('i64.reinterpret_f64');
  code.at('local.get', bits);
  code.op('i64.xor');
  code.i64(0n);
  code.op('i64.ge_s');
  code.op('select');
  code.op('i64.add');
  code.op('f64.reinterpret_i64');
  code.at('local.set', sum);
}
