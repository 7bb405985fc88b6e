/** Launches on a CPU device with several threads, for specs of workers. */
import * as assert from 'uvu/assert';
import type { TargetName } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type {
  Device,
  DeviceBuffer,
  DeviceModule,
  LaunchArgument,
  LaunchRequest,
  LaunchResult,
  PendingLaunch,
} from '../../src/device/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';

/** A kernel that runs until somebody writes 77 to its buffer. */
export const endless = `.visible .entry endless(.param .u64 out)
{
  .reg .pred q; .reg .b32 a; .reg .b64 p;
  ld.param.u64 p, [out];
again:
  ld.volatile.global.u32 a, [p]; setp.ne.u32 q, a, 77; @q bra again;
  ret;
}`;

const head = '.version 9.0\n.target sm_90\n.address_size 64\n';
const libraries = new Map<string, Uint8Array>();

/** The metallib of a module, for the CPU device by default; cached. */
export function libraryOf(text: string, target: TargetName = 'cpu'): Uint8Array {
  const key = `${target} ${text}`;
  const known = libraries.get(key);
  if (known) return known;
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', head + text));
  const compiled = compile(diagnostics.file!, { target }, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  libraries.set(key, compiled.metallib);
  return compiled.metallib;
}

export type Given = DeviceBuffer | number | bigint | Uint8Array;

export interface Shape extends Partial<Omit<LaunchRequest, 'kernel' | 'args' | 'block'>> {
  readonly blocks: number;
  readonly threads: number;
}

/** A device with a module. */
export interface Rig {
  readonly device: Device;
  readonly module: DeviceModule;
  readonly diagnostics: Diagnostics;
  /** A buffer of words, zeros where none are given. */
  words(count: number, ...values: number[]): DeviceBuffer;
  launch(kernel: string, shape: Shape, ...args: Given[]): LaunchResult | undefined;
  start(kernel: string, shape: Shape, ...args: Given[]): PendingLaunch;
  /** The messages since the last call. */
  said(): string[];
}

const bytesOf = (value: ArrayBufferView): Uint8Array => new Uint8Array(value.buffer, value.byteOffset, value.byteLength);

/** The words of a buffer. */
export const wordsIn = (buffer: DeviceBuffer): Uint32Array => new Uint32Array(buffer.read().buffer);

function argument(given: Given): LaunchArgument {
  if (typeof given === 'number') return { kind: 'bytes', bytes: bytesOf(Uint32Array.of(given)) };
  if (typeof given === 'bigint') return { kind: 'bytes', bytes: bytesOf(BigUint64Array.of(given)) };
  return given instanceof Uint8Array ? { kind: 'bytes', bytes: given } : { kind: 'buffer', buffer: given };
}

/** Opens a device and loads a module. */
export function rigOf(text: string, options: Parameters<typeof openCpuDevice>[0], target?: TargetName): Rig {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice(options);
  const module = device.load(libraryOf(text, target), diagnostics)!;
  assert.ok(module, diagnostics.list.map((d) => d.message).join('; '));
  const request = (kernel: string, { blocks, threads, ...more }: Shape, args: readonly Given[]): LaunchRequest => ({
    ...{ kernel, grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 },
    ...more,
    args: args.map(argument),
  });
  let seen = 0;
  return {
    device,
    module,
    diagnostics,
    words(count, ...values) {
      const buffer = device.allocate(4 * count, diagnostics)!;
      buffer.write(bytesOf(Uint32Array.from(values)));
      return buffer;
    },
    launch: (kernel, shape, ...args) => module.launch(request(kernel, shape, args), diagnostics),
    start: (kernel, shape, ...args) => module.start!(request(kernel, shape, args), diagnostics),
    said() {
      const lines = diagnostics.list.slice(seen).map(({ code, message }) => `${code}: ${message}`);
      seen = diagnostics.list.length;
      return lines;
    },
  };
}
