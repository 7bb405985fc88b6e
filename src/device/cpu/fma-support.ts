/** Probes whether the relaxed multiply-add of this machine is fused. */

import type { FmaMode } from '../../engine/codegen/fma-mode.ts';
import { newModule } from '../../wasm/index.ts';
import type { Fma } from '../device.ts';

let probed: boolean | undefined;

/** Whether `f32x4.relaxed_madd` rounds once: only then is 97 * 172961 + 2^-80 above the midpoint of two single-precision values. */
function isFused(): boolean {
  if (probed !== undefined) return probed;
  const module = newModule();
  const { code } = module.fn({ params: ['f32', 'f32', 'f32'], results: ['f32'] }, 'fma');
  for (const param of [0, 1, 2]) {
    code.at('local.get', param);
    code.op('f32x4.splat');
  }
  code.op('f32x4.relaxed_madd');
  code.lane('f32x4.extract_lane', 0);
  const bytes = module.finish() as BufferSource;
  if (!WebAssembly.validate(bytes)) {
    probed = false;
    return false;
  }
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const fma = exports.fma as (a: number, b: number, c: number) => number;
  // Optimized code of the engine may use another instruction.
  const answers = Array.from({ length: 20_000 }, () => fma(97, 172961, 2 ** -80));
  probed = answers.every((answer) => answer === 16777218);
  return probed;
}

/** How vectorized code computes single-precision fused multiply-adds. */
export function fmaMode(fma: Fma): FmaMode {
  if (isFused()) return 'relaxed';
  return fma === 'fast' ? 'fast' : 'exact';
}
