/** Probes whether the relaxed multiply-adds of this machine are fused. */

import type { FmaMode } from '../../engine/codegen/fma-mode.ts';
import { newModule } from '../../wasm/index.ts';
import type { Fma } from '../device.ts';

let probed: boolean | undefined;

/** An instruction, and operands for which one rounding gives another result than two. */
interface Probe {
  readonly shape: 'f32x4' | 'f64x2';
  readonly operands: readonly [number, number, number];
  readonly fused: number;
}

const probes: readonly Probe[] = [
  // 97 * 172961 is halfway between two values of single precision, and the sum is above that.
  { shape: 'f32x4', operands: [97, 172961, 2 ** -80], fused: 16777218 },
  // The product ends in 1 where values of double precision are 4 apart; with 1.5 more, the sum is nearer to the upper one.
  { shape: 'f64x2', operands: [2 ** 27 + 1, 2 ** 27 + 1, 1.5], fused: 2 ** 54 + 2 ** 28 + 4 },
];

/** Whether the relaxed instruction of a shape rounds once. */
function fuses({ shape, operands, fused }: Probe): boolean {
  const type = shape === 'f32x4' ? 'f32' : 'f64';
  const module = newModule();
  const { code } = module.fn({ params: [type, type, type], results: [type] }, 'fma');
  for (const param of [0, 1, 2]) {
    code.at('local.get', param);
    code.op(`${shape}.splat`);
  }
  code.op(`${shape}.relaxed_madd`);
  code.lane(`${shape}.extract_lane`, 0);
  const bytes = module.finish() as BufferSource;
  if (!WebAssembly.validate(bytes)) return false;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  const fma = exports.fma as (...operands: readonly number[]) => number;
  // Optimized code of the engine may use another instruction.
  const answers = Array.from({ length: 20_000 }, () => fma(...operands));
  return answers.every((answer) => answer === fused);
}

/** Whether the relaxed multiply-adds of single and of double precision round once here. */
export function isFused(): boolean {
  probed ??= probes.every(fuses);
  return probed;
}

/** How vectorized code computes fused multiply-adds of single and double precision. */
export function fmaMode(fma: Fma): FmaMode {
  if (isFused()) return 'relaxed';
  return fma === 'fast' ? 'fast' : 'exact';
}
