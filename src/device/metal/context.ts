/** What the parts of the Metal device share. */
import type { KernelReflection } from '../../air/abi.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Handle, MetalBinding, PipelineFacts } from '../../ffi/index.ts';
import type { KernelParam } from '../../ir/index.ts';
import type { DeviceInfo } from '../device.ts';

export interface Context {
  readonly binding: MetalBinding;
  readonly info: DeviceInfo;
  readonly device: Handle;
  readonly queue: Handle;
  /** Everything that is let go when the device is closed. */
  readonly owned: Set<Handle>;
  /** Buffers whose addresses kernels may find in memory, and which every launch therefore makes resident. */
  readonly addressed: Set<Handle>;
  /** Why the device takes no more launches. */
  lost: string | undefined;
}

/** Memory of the device with a view of it; the taker's to give back, and the device's where it is closed first. */
export interface Memory {
  readonly handle: Handle;
  readonly view: Uint8Array;
  give(): void;
}

export interface MetalKernel {
  readonly reflection: KernelReflection;
  /** With the slots that the reflection leaves out, and whole values where several parameters share one. */
  readonly params: readonly KernelParam[];
}

export interface Pipeline {
  readonly handle: Handle;
  readonly facts: PipelineFacts;
}

/** A library made ready on a device. */
export interface MetalLibrary {
  /** The module's own memory. */
  readonly memory: Memory | undefined;
  /** The pipeline of a kernel; nothing after reporting CM6027 or CM6028. */
  pipeline(kernel: MetalKernel, diagnostics: Diagnostics): Pipeline | undefined;
}
