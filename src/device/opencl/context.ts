/** The state of the OpenCL device. */
import type { KernelReflection } from '../../air/abi.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { ClHandle, OpenclBinding } from '../../ffi/index.ts';
import type { Kernel } from '../../ir/index.ts';
import type { KernelText } from '../../text/index.ts';
import type { AddressBuffer } from '../address-buffer.ts';
import type { DeviceInfo } from '../device.ts';

export interface Context {
  readonly binding: OpenclBinding;
  readonly info: DeviceInfo;
  readonly device: ClHandle;
  readonly context: ClHandle;
  readonly queue: ClHandle;
  /** Addresses that are freed when the device is closed. */
  readonly memory: Set<number>;
  /** Addresses that may be in memory, so that kernels may follow them. */
  readonly addressed: Set<number>;
  readonly programs: Set<ClHandle>;
  /** The address of the heap of kernels, once a launch needs it. */
  heap: number | undefined;
  isClosed: boolean;
  /** Why the device takes no more launches. */
  lost: string | undefined;
}

export type ClBuffer = AddressBuffer<Context>;

/** A kernel that is built at its first launch. */
export interface ClKernel {
  readonly reflection: KernelReflection;
  readonly params: Kernel['params'];
  readonly text: KernelText;
}

/** A built kernel. */
export interface BuiltKernel {
  readonly handle: ClHandle;
  readonly maxThreads: number;
}

/** A built kernel; undefined after reporting CM6050. */
export type Build = (kernel: ClKernel, diagnostics: Diagnostics) => BuiltKernel | undefined;

/** A loaded library. */
export interface ClLibrary {
  /** The address of the module's variables. */
  readonly memory: number | undefined;
  readonly build: Build;
  readonly kernels: readonly ClKernel[];
}
