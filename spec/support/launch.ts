/** Launches of metallibs on a CPU device, for specs that need the buffers afterwards. */

import type { GivenConstant } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import {
  type Device,
  type DeviceBuffer,
  type Dim3,
  type LaunchArgument,
  type LaunchRequest,
  openCpuDevice,
} from '../../src/device/index.ts';
import { engine } from './engine.ts';

export interface Launched {
  readonly kernel: string;
  readonly blocks: number;
  /** Threads of a block, in one row or by axes. */
  readonly threads: number | Dim3;
  /** By parameter: initial contents of a buffer, a number of 32 or (a bigint) 64 bits, or bytes by value. */
  /** Bytes of dynamic threadgroup memory, or of each threadgroup argument. */
  readonly shared?: number | readonly number[];
  /** Values of function constants. */
  readonly constants?: readonly GivenConstant[];
  readonly args: readonly (ArrayBufferView | number | bigint | { readonly bytes: Uint8Array })[];
}

/** The device of this process. Its memory is made once, because the engine collects garbage before it makes another. */
let device: Device | undefined;

/** The contents of the buffers after the launch; throws the diagnostics if it fails or the sanitizer reports anything. */
export function launchMetallib(
  metallib: Uint8Array,
  { kernel, blocks, threads, args, constants = [], shared = 0 }: Launched,
  watch: Pick<LaunchRequest, 'sanitize' | 'schedule'> = {},
): Uint8Array[] {
  const diagnostics = new Diagnostics();
  device ??= openCpuDevice(engine);
  const own = device;
  const module = own.load(metallib, diagnostics, { constants, kernels: [kernel] });
  const buffers: DeviceBuffer[] = [];
  const given = args.map((arg): LaunchArgument => {
    if (typeof arg === 'bigint') return { kind: 'bytes', bytes: bytesOf(BigUint64Array.of(arg)) };
    if (typeof arg === 'number') return { kind: 'bytes', bytes: bytesOf(Uint32Array.of(arg)) };
    if ('bytes' in arg) return { kind: 'bytes', bytes: arg.bytes };
    const buffer = own.allocate(arg.byteLength, diagnostics)!;
    buffer.write(bytesOf(arg));
    buffers.push(buffer);
    return { kind: 'buffer', buffer };
  });
  const parts = typeof shared === 'number' ? { dynamicSharedBytes: shared } : { dynamicSharedBytes: 0, dynamicSharedParts: shared };
  const block: Dim3 = typeof threads === 'number' ? [threads, 1, 1] : threads;
  const shape = { grid: [blocks, 1, 1], block, ...parts } as const;
  const done = module?.launch({ kernel, ...shape, args: given, timeoutMs: 10_000, ...watch }, diagnostics);
  if (!done) {
    // A launch that was stopped may leave threads in the middle of their code.
    own.close();
    device = undefined;
  }
  if (!done || (watch.sanitize && diagnostics.list.length > 0)) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  const after = buffers.map((buffer) => buffer.read());
  module!.close();
  for (const buffer of buffers) buffer.free();
  return after;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);
