/** The state of the WebGPU device. */
import type { KernelReflection } from '../../air/abi.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { Kernel } from '../../ir/index.ts';
import type { Exactness, WgslText } from '../../text/index.ts';
import type { AddressBuffer } from '../address-buffer.ts';
import type { DeviceInfo } from '../device.ts';
import type { Arena } from './arena.ts';
import type { Connection } from './connection.ts';

export interface Context {
  readonly connection: Connection;
  readonly info: DeviceInfo;
  readonly arena: Arena;
  /** What the GPU computes exactly, measured when it is first asked for. */
  exact(): Exactness;
  nextProgram: number;
  /** The address of the heap of kernels, once a launch needs it. */
  heap: number | undefined;
  isClosed: boolean;
  /** Why the device takes no more launches. */
  lost: string | undefined;
}

export type GpuBuffer = AddressBuffer<Context>;

/** A kernel, which is printed for the blocks that it is launched with. */
export interface GpuKernel {
  readonly reflection: KernelReflection;
  readonly kernel: Kernel;
}

/** A program for blocks of one shape. */
export interface BuiltKernel {
  readonly program: number;
  readonly text: WgslText;
}

/** How a launch wants a kernel. */
export interface BuildOptions {
  readonly block: readonly [number, number, number];
  readonly sharedBytes: number;
  /** Threads that an invocation runs. */
  readonly threads: number;
}

/** A program; undefined after reporting CM2090, CM2091 or CM6052. */
export type Build = (kernel: GpuKernel, options: BuildOptions, diagnostics: Diagnostics) => BuiltKernel | undefined;

/** A loaded library. */
export interface GpuLibrary {
  /** The address of the module's variables. */
  readonly memory: number | undefined;
  readonly build: Build;
  readonly kernels: readonly GpuKernel[];
}

/** Why the device cannot go on, as an exception of a copy. */
export function needOpen(context: Context): boolean {
  if (context.lost !== undefined) throw new Error(`the WebGPU device is lost: ${context.lost}`);
  return !context.isClosed;
}
