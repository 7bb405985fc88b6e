/** What the parts of the CUDA device share. */

import type { KernelReflection } from '../../air/abi.ts';
import type { CudaBinding, CudaFunctionFacts, CudaHandle, PackedArguments } from '../../ffi/index.ts';
import type { DeviceBuffer, DeviceInfo } from '../device.ts';

export interface Context {
  readonly binding: CudaBinding;
  readonly info: DeviceInfo;
  readonly stream: CudaHandle;
  /** Around a launch, for its time. */
  readonly events: { readonly start: CudaHandle; readonly end: CudaHandle };
  /** Addresses that are given back when the device is closed. */
  readonly memory: Set<bigint>;
  readonly modules: Set<CudaHandle>;
  isClosed: boolean;
  /** Why the device takes no more launches. */
  lost: string | undefined;
  /** Whether what made it lost is a kernel that still runs, so that nothing may be waited for. */
  isRunning: boolean;
}

export interface CudaBuffer extends DeviceBuffer {
  readonly context: Context;
  readonly address: bigint;
  readonly isFree: boolean;
}

/** A kernel as it is launched. */
export interface CudaKernel {
  readonly reflection: KernelReflection;
  readonly handle: CudaHandle;
  readonly facts: CudaFunctionFacts;
  readonly args: PackedArguments;
  /** Dynamic shared memory that it was allowed to have; grows. */
  allowedShared: number;
}
