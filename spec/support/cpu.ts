/** Runs IR kernels with the CPU device's compilers and launcher, without AIR in between. */
import * as assert from 'uvu/assert';
import { reflectKernel } from '../../src/air/reflect.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import type { CpuBuffer } from '../../src/device/cpu/buffer.ts';
import { cpuInfo } from '../../src/device/cpu/index.ts';
import { launchKernel } from '../../src/device/cpu/launch/launch-blocking.ts';
import { loadedKernel } from '../../src/device/cpu/launch/make-kernel.ts';
import { type DeviceMemory, newMemory } from '../../src/device/cpu/memory.ts';
import { nativeMode } from '../../src/device/cpu/native/mode.ts';
import type { Dim3, LaunchArgument, LaunchRequest } from '../../src/device/device.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { engine } from './engine.ts';

export interface Shape {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly dynamicSharedBytes?: number;
  readonly timeoutMs?: number;
  /** Instrumentation and thread order of the launch. */
  readonly watch?: Pick<LaunchRequest, 'schedule' | 'profile' | 'trace'>;
}

export interface CpuRun {
  /** The contents of all buffer arguments after the launch. */
  readonly buffers: Uint8Array[];
  readonly diagnostics: Diagnostics;
  readonly ended: boolean;
}

/** A buffer in a memory, with these bytes. */
export function bufferOf(owner: DeviceMemory, bytes: Uint8Array): CpuBuffer {
  const address = owner.take(bytes.length)!;
  owner.view(address, bytes.length).set(bytes);
  return {
    owner,
    address,
    isFree: false,
    size: bytes.length,
    write: (more, offset = 0) => owner.view(address, bytes.length).set(more, offset),
    read: () => owner.view(address, bytes.length).slice(),
    deviceAddress: () => BigInt(address),
    free: () => owner.give(address),
  };
}

/** Launches a kernel, which is modified in the process, in a memory of its own. `args` are the buffers, in parameter order. */
export function tryOnCpu(kernel: Kernel, args: readonly Uint8Array[], shape: Shape = {}): CpuRun {
  const memory = newMemory();
  const diagnostics = new Diagnostics();
  const given = kernel.params.filter((param) => param.kind !== 'threadgroup');
  const launchArgs = args.map(
    (bytes, i): LaunchArgument =>
      given[i]?.kind === 'pointer' ? { kind: 'buffer', buffer: bufferOf(memory, bytes) } : { kind: 'bytes', bytes },
  );
  const request = {
    kernel: kernel.name,
    grid: shape.grid ?? [1, 1, 1],
    block: shape.block ?? [1, 1, 1],
    dynamicSharedBytes: shape.dynamicSharedBytes ?? 0,
    args: launchArgs,
    timeoutMs: shape.timeoutMs ?? 10_000,
    ...shape.watch,
  } as const;
  const loaded = loadedKernel({ kernel, reflection: reflectKernel(kernel) }, engine);
  const result = launchKernel(memory, { info: cpuInfo, ownMemory: 0, native: nativeMode() }, loaded, request, diagnostics);
  const buffers = launchArgs.flatMap((arg) => (arg.kind === 'buffer' ? [arg.buffer.read()] : []));
  return { buffers, diagnostics, ended: result !== undefined };
}

/** Launches a kernel that must succeed; returns the contents of its buffers. */
export function runOnCpu(kernel: Kernel, args: readonly Uint8Array[], shape: Shape = {}): Uint8Array[] {
  const { buffers, diagnostics, ended } = tryOnCpu(kernel, args, shape);
  assert.equal(
    diagnostics.list.map((d) => d.message),
    [],
  );
  assert.ok(ended);
  return buffers;
}

/** The bytes of 32-bit words. */
export const words = (values: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(values).buffer);
/** The 32-bit words of bytes, signed. */
export const wordsOf = (bytes: Uint8Array): number[] => [...new Int32Array(bytes.slice().buffer)];
