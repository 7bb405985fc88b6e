/** Launches of kernels with tensor memory (`tensor-memory.ts`) on the CPU device. */
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { openCpuDevice } from '../../src/device/index.ts';

type Device = ReturnType<typeof openCpuDevice>;

function metallibOf(text: string): Uint8Array {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  return compiled.metallib;
}

/** The buffers after a launch of a block, or a pair of blocks, of 128 threads; or what stops it. */
export function launchTensor(
  device: Device,
  text: string,
  blocks: number,
  args: readonly (Uint8Array | bigint | number)[],
): Uint8Array[] | string {
  const diagnostics = new Diagnostics();
  const module = device.load(metallibOf(text), diagnostics)!;
  const buffers: ReturnType<typeof device.allocate>[] = [];
  // The kernel has two buffers, two numbers of 64 bits, and nine of 32.
  const rest = [new Uint8Array(4), new Uint8Array(4), 0n, 0n, ...new Array<number>(9).fill(0)].slice(args.length);
  const given = [...args, ...rest].map((arg) => {
    if (typeof arg !== 'object')
      return {
        kind: 'bytes' as const,
        bytes: new Uint8Array((typeof arg === 'bigint' ? BigUint64Array.of(arg) : Uint32Array.of(arg)).buffer),
      };
    const buffer = device.allocate(arg.length, diagnostics)!;
    buffer.write(arg);
    buffers.push(buffer);
    return { kind: 'buffer' as const, buffer };
  });
  const shape = { grid: [blocks, 1, 1], block: [128, 1, 1], dynamicSharedBytes: 0, timeoutMs: 20_000 } as const;
  module.launch({ kernel: 'k', ...shape, ...(blocks > 1 ? { cluster: [blocks, 1, 1] } : {}), args: given }, diagnostics);
  const found = buffers.map((buffer) => buffer!.read());
  for (const buffer of buffers) buffer!.free();
  module.close();
  return diagnostics.list.length > 0 ? diagnostics.list.map(({ message }) => message).join('; ') : found;
}

export const wordsOf = (bytes: Uint8Array): Uint32Array => new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
