/**
 * a * b + c in float with one rounding. The product is exact in double; the sum is rounded to odd there, after which rounding
 * to float is right. Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008); TwoSum after Knuth.
 */
import type { Code } from '../../wasm/index.ts';

interface Sum {
  readonly code: Code;
  readonly product: number;
  readonly addend: number;
  readonly sum: number;
  /** What the sum lacks, exactly. */
  readonly error: number;
  /** The bits of the sum. */
  readonly bits: number;
}

/** Writes the body of a function of three floats. */
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
  const double = (param: number): void => {
    code.at('local.get', param);
    code.op('f64.promote_f32');
  };
  double(0);
  double(1);
  code.op('f64.mul');
  code.at('local.tee', product);
  double(2);
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

/** Below or above 0, which a NaN is not, and the last bit of the sum 0. */
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

/** One step of the sum towards the error makes it odd: away from zero where their signs agree. */
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
