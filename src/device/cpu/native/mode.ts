/** Whether kernels run as native code: what the machine can, and what the user wants. A page has no environment. */

import type { NativeTarget } from '../../../engine/codegen/target.ts';
import { processorFeatures } from '../../../ffi/native/processor.ts';
import { type NativeMode, nativeModes } from '../../device.ts';

const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };

const isMode = (word: string | undefined): word is NativeMode => nativeModes.some((mode) => mode === word);

/** The mode of a device that was opened with an option: else that of `CUMETAL_NATIVE`, and `auto` by default. */
export function nativeMode(option?: NativeMode): NativeMode {
  const wanted = process?.env?.CUMETAL_NATIVE;
  return option ?? (isMode(wanted) ? wanted : 'auto');
}

/** The vector registers that native code of this machine has. */
export const nativeTarget = (): NativeTarget =>
  processorFeatures().hasAvx512 ? { vectorBytes: 64, vectorRegisters: 32 } : { vectorBytes: 32, vectorRegisters: 16 };

/** Whether this machine and this runtime run native code. */
export const canRunNative = (): boolean => processorFeatures().hasBaseline;
