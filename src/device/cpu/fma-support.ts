/** What fused operations are on this machine. */

import type { FmaMode } from '../../engine/codegen/fma-mode.ts';
import { newModule } from '../../wasm/index.ts';
import type { Fma } from '../device.ts';

let probed: boolean | undefined;

/** Whether the relaxed operation on vectors rounds once here: 97 * 172961 + 2^-80 is above a half way between two singles only if it does. */
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
  // The engine may have another way of its own for what runs often.
  const answers = Array.from({ length: 20_000 }, () => fma(97, 172961, 2 ** -80));
  probed = answers.every((answer) => answer === 16777218);
  return probed;
}

/** How strips multiply and add in singles. */
export function fmaMode(fma: Fma): FmaMode {
  if (isFused()) return 'relaxed';
  return fma === 'fast' ? 'fast' : 'exact';
}
