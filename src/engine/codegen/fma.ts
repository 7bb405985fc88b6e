/**
 * The scalar helpers for fused multiply-add: a * b + c with one rounding. For f32 in WebAssembly, the product is exact in f64; the sum is rounded to odd there, after
 * which rounding to f32 is correct (`error-free.ts`).
 * Source: Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums" (2008).
 */
import type { Code } from '../../wasm/index.ts';
import { pushTwoSumError, roundScalarToOdd } from './error-free.ts';

/** Writes the body of such a function for native code, whose relaxed multiply-add of vectors is fused. */
export function writeFused(code: Code, type: 'f32' | 'f64'): void {
  const shape = type === 'f32' ? 'f32x4' : 'f64x2';
  for (const param of [0, 1, 2]) {
    code.at('local.get', param);
    code.op(`${shape}.splat`);
  }
  code.op(`${shape}.relaxed_madd`);
  code.lane(`${shape}.extract_lane`, 0);
}

/** Writes the body of a function (f32, f32, f32) -> f32. */
export function writeFma(code: Code): void {
  const [product, addend, sum, error] = [code.local('f64'), code.local('f64'), code.local('f64'), code.local('f64')];
  const bits = code.local('i64');
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
  pushTwoSumError(code, 'f64', [product, () => code.at('local.get', addend)], sum, error);
  code.at('local.set', error);
  roundScalarToOdd(code, sum, error, bits);
  code.at('local.get', sum);
  code.op('f32.demote_f64');
}
