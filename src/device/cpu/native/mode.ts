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

/** The vector registers that native code has, by the extensions of the processor that it is made for. */
const targets = {
  avx512: { vectorBytes: 64, vectorRegisters: 32 },
  avx2: { vectorBytes: 32, vectorRegisters: 16 },
} as const satisfies Readonly<Record<string, NativeTarget>>;

/** What the compiler of native code chooses instructions by. */
export type NativeTargetName = keyof typeof targets;
export const nativeTargetNames = Object.keys(targets) as readonly NativeTargetName[];

const bestTarget = (): NativeTargetName => (processorFeatures().hasAvx512 ? 'avx512' : 'avx2');

/** The vector registers that native code of this machine has. */
export const nativeTarget = (): NativeTarget => targets[bestTarget()];

/** The target of this machine; undefined where no native code runs. */
export const nativeTargetName = (): NativeTargetName | undefined => (canRunNative() ? bestTarget() : undefined);

/** Whether this machine and this runtime run native code. */
export const canRunNative = (): boolean => processorFeatures().hasBaseline;
