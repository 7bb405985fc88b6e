/** One launch of a metallib on a CPU device of its own, for specs that need the buffers afterwards. Throws on failure. */

import type { GivenConstant } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type DeviceBuffer, type Dim3, type LaunchArgument, type LaunchRequest, openCpuDevice } from '../../src/device/index.ts';
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

/** The contents of the buffers after the launch; throws the diagnostics if it fails or the sanitizer reports anything. */
export function launchMetallib(
  metallib: Uint8Array,
  { kernel, blocks, threads, args, constants = [], shared = 0 }: Launched,
  watch: Pick<LaunchRequest, 'sanitize' | 'schedule'> = {},
): Uint8Array[] {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice(engine);
  const module = device.load(metallib, diagnostics, { constants, kernels: [kernel] });
  const buffers: DeviceBuffer[] = [];
  const given = args.map((arg): LaunchArgument => {
    if (typeof arg === 'bigint') return { kind: 'bytes', bytes: bytesOf(BigUint64Array.of(arg)) };
    if (typeof arg === 'number') return { kind: 'bytes', bytes: bytesOf(Uint32Array.of(arg)) };
    if ('bytes' in arg) return { kind: 'bytes', bytes: arg.bytes };
    const buffer = device.allocate(arg.byteLength, diagnostics)!;
    buffer.write(bytesOf(arg));
    buffers.push(buffer);
    return { kind: 'buffer', buffer };
  });
  const parts = typeof shared === 'number' ? { dynamicSharedBytes: shared } : { dynamicSharedBytes: 0, dynamicSharedParts: shared };
  const block: Dim3 = typeof threads === 'number' ? [threads, 1, 1] : threads;
  const shape = { grid: [blocks, 1, 1], block, ...parts } as const;
  const done = module?.launch({ kernel, ...shape, args: given, timeoutMs: 10_000, ...watch }, diagnostics);
  if (!done || (watch.sanitize && diagnostics.list.length > 0)) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  const after = buffers.map((buffer) => buffer.read());
  device.close();
  return after;
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array => new Uint8Array(buffer, byteOffset, byteLength);
