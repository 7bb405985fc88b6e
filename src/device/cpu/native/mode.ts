/** Whether kernels run as native code: what the machine can, and what the user wants. A page has no environment. */

import type { NativeTarget } from '../../../engine/codegen/target.ts';
import { processorFeatures } from '../../../ffi/native/processor.ts';
import type { Features } from '../../../native/index.ts';
import { type NativeMode, nativeModes } from '../../device.ts';

const { process } = globalThis as { readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> } };

const isMode = (word: string | undefined): word is NativeMode => nativeModes.some((mode) => mode === word);

/** The mode of a device that was opened with an option: else that of `CUMETAL_NATIVE`, and `auto` by default. */
export function nativeMode(option?: NativeMode): NativeMode {
  const wanted = process?.env?.CUMETAL_NATIVE;
  return option ?? (isMode(wanted) ? wanted : 'auto');
}

interface Target {
  readonly features: Features;
  readonly registers: NativeTarget;
}

const wide: NativeTarget = { vectorBytes: 64, vectorRegisters: 32 };

/** What native code is made for, by the name that stored code has it under: the instructions that the compiler may choose, and the vector registers. */
const targets = {
  'avx512 gathers': { features: { avx512: true, fastGathers: true }, registers: wide },
  avx512: { features: { avx512: true }, registers: wide },
  avx2: { features: { avx512: false }, registers: { vectorBytes: 32, vectorRegisters: 16 } },
} as const satisfies Readonly<Record<string, Target>>;

export type NativeTargetName = keyof typeof targets;
export const nativeTargetNames = Object.keys(targets) as readonly NativeTargetName[];

/** Processors with AVX-512 run code for AVX2 where `CUMETAL_NATIVE_BITS` is 256. */
function bestTarget(): NativeTargetName {
  const { hasAvx512, hasFastGathers } = processorFeatures();
  if (!hasAvx512 || process?.env?.CUMETAL_NATIVE_BITS === '256') return 'avx2';
  return hasFastGathers ? 'avx512 gathers' : 'avx512';
}

/** The instructions that native code of this machine has. */
export const nativeFeatures = (): Features => targets[bestTarget()].features;

/** The vector registers that native code of this machine has. */
export const nativeTarget = (): NativeTarget => targets[bestTarget()].registers;

/** The target of this machine; undefined where no native code runs. */
export const nativeTargetName = (): NativeTargetName | undefined => (canRunNative() ? bestTarget() : undefined);

/** Whether this machine and this runtime run native code. */
export const canRunNative = (): boolean => processorFeatures().hasBaseline;
