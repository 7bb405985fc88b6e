/** The state of the Metal device. */
import type { KernelReflection } from '../../air/abi.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Handle, MetalBinding, PipelineFacts } from '../../ffi/index.ts';
import type { KernelParam } from '../../ir/index.ts';
import type { DeviceInfo, Via } from '../device.ts';

export interface Context {
  readonly binding: MetalBinding;
  readonly info: DeviceInfo;
  readonly device: Handle;
  readonly queue: Handle;
  /** Objects that are released when the device is closed. */
  readonly owned: Set<Handle>;
  /** The memory of the device, by handle. */
  readonly memory: Map<Handle, { readonly bytes: number }>;
  /** Buffers whose addresses may be in memory, so that every launch makes them resident. */
  readonly addressed: Set<Handle>;
  /** What the driver gets of a library. */
  readonly via: Via;
  /** Whether it was said that the driver compiles source. */
  hasSaidSource: boolean;
  /** The heap of kernels, once a launch needs it. */
  heap: Memory | undefined;
  isClosed: boolean;
  /** Why the device takes no more launches. */
  lost: string | undefined;
}

/** Memory of the device with a view. Its owner releases it, or the device when it is closed. */
export interface Memory {
  readonly handle: Handle;
  /** Empty once the memory is released. */
  readonly view: Uint8Array;
  give(): void;
}

export interface MetalKernel {
  readonly reflection: KernelReflection;
  /** All slots, including those that the reflection omits and those that several parameters share. */
  readonly params: readonly KernelParam[];
}

export interface Pipeline {
  readonly handle: Handle;
  readonly facts: PipelineFacts;
}

/** A loaded library. */
export interface MetalLibrary {
  /** The memory of the module's variables. */
  readonly memory: Memory | undefined;
  readonly kernels: readonly MetalKernel[];
  /** The pipeline of a kernel; undefined after reporting CM6027 or CM6028. */
  pipeline(kernel: MetalKernel, diagnostics: Diagnostics): Pipeline | undefined;
}
