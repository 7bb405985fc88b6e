/**
 * Products and sums of kernels that exist in two forms: rounded once, and rounded twice. Processors that do not have a fused multiply-add as an
 * instruction (`device.info.emulatesFma`) run the second form several times as fast.
 */
import type { Value } from '../build/index.ts';

/** Whether the kernel that is made rounds a product and a sum once. */
let isFused = true;

/** Makes a kernel in the form that `fused` says. Kernels that nothing makes this way have the fused form. */
export function withFused<T>(fused: boolean, make: () => T): T {
  isFused = fused;
  try {
    return make();
  } finally {
    isFused = true;
  }
}

/** `a * b + c` of reals, in the form of the kernel that is made. */
export const productSum = (a: Value<'f32'>, b: Value<'f32'>, c: Value<'f32'>): Value<'f32'> => (isFused ? a.fma(b, c) : a.mul(b).add(c));
