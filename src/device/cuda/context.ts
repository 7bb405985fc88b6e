/** The state of the CUDA device. */

import type { KernelReflection } from '../../air/abi.ts';
import type { CudaBinding, CudaFunctionFacts, CudaHandle, CudaMark, PackedArguments } from '../../ffi/index.ts';
import type { DeviceBuffer, DeviceInfo, LaunchRequest } from '../device.ts';
import type { Images } from './images.ts';

export interface Context {
  /** The driver, whose calls work on the context of this device. */
  readonly binding: CudaBinding;
  /** The driver itself, which several devices share. */
  readonly driver: CudaBinding;
  readonly handle: CudaHandle;
  /** The number of the device. */
  readonly ordinal: number;
  readonly info: DeviceInfo;
  readonly stream: CudaHandle;
  /** Events around a launch, which measure its time. */
  readonly events: { readonly start: CudaHandle; readonly end: CudaHandle };
  /** Launches that are not waited for; undefined where the driver cannot tell which one failed. */
  readonly queue: Queue | undefined;
  /** Addresses that are freed when the device is closed. */
  readonly memory: Set<bigint>;
  readonly modules: Set<CudaHandle>;
  readonly images: Images;
  isClosed: boolean;
  /** Why the device takes no more launches. */
  lost: string | undefined;
  /** Whether a lost kernel still runs, so that waiting could block forever. */
  isRunning: boolean;
}

export interface CudaBuffer extends DeviceBuffer {
  readonly context: Context;
  readonly address: bigint;
  readonly isFree: boolean;
}

/** A loaded kernel. */
export interface CudaKernel {
  readonly reflection: KernelReflection;
  readonly handle: CudaHandle;
  readonly facts: CudaFunctionFacts;
  readonly args: PackedArguments;
  /** The dynamic shared memory that the driver has allowed so far, bytes. */
  allowedShared: number;
  /** Whether the driver has allowed clusters of more than eight blocks. */
  hasLargeClusters: boolean;
}

/** Events around a launch. */
export interface Span {
  readonly start: CudaHandle;
  readonly end: CudaHandle;
}

/** A launch on its way. */
export interface Queued {
  readonly number: number;
  readonly span: Span;
  readonly request: LaunchRequest;
  readonly kernel: CudaKernel;
}

/** The launches of a device that have not been waited for. */
export interface Queue {
  readonly mark: CudaMark;
  /** The number of the last launch. */
  last: number;
  readonly pending: Set<Queued>;
  readonly spare: Span[];
}
