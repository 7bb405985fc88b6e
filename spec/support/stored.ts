/** Kernels whose code is stored, as each new process has them: nothing is shared but the store. */
import { createHash } from 'node:crypto';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { openStore } from '../../src/cache/index.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import { cpuInfo } from '../../src/device/cpu/index.ts';
import { launchKernel } from '../../src/device/cpu/launch/launch-blocking.ts';
import type { LoadedKernel } from '../../src/device/cpu/launch/loaded-kernel.ts';
import { makeKernel } from '../../src/device/cpu/launch/make-kernel.ts';
import { ownMemory } from '../../src/device/cpu/launch/module-memory.ts';
import { storedKernel } from '../../src/device/cpu/launch/stored-code.ts';
import { newMemory } from '../../src/device/cpu/memory.ts';
import type { CodeStore, NativeMode } from '../../src/device/device.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { bufferOf } from './cpu.ts';

/** A store in a folder, as the command line has it. */
export function folderStore(folder: string): CodeStore {
  const { read, write } = openStore({
    folder,
    maxBytes: 2 ** 26,
    sha256: (bytes) => new Uint8Array(createHash('sha256').update(bytes).digest()),
  });
  return { keyOf: sha256, read, write };
}

/** A store in memory that notes what is asked of it, by the first words of keys. */
export interface NotedStore extends CodeStore {
  readonly entries: Map<string, Uint8Array>;
  readonly reads: string[];
  readonly writes: string[];
}

const sha256 = (parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length} `).update(part);
  return hash.digest('hex');
};

export function notedStore(): NotedStore {
  const names = new Map<string, string>();
  const [reads, writes]: [string[], string[]] = [[], []];
  const entries = new Map<string, Uint8Array>();
  return {
    entries,
    reads,
    writes,
    keyOf(parts) {
      const key = sha256(parts);
      names.set(key, String(parts[0]));
      return key;
    },
    read(key) {
      reads.push(names.get(key)!);
      return entries.get(key)?.slice();
    },
    write(key, bytes) {
      writes.push(names.get(key)!);
      entries.set(key, bytes.slice());
    },
  };
}

const text = (body: string, variables: string): string => `.version 9.0
.target sm_80
.address_size 64
${variables}
.visible .entry kernel(.param .u64 out)
{
  .reg .pred q; .reg .b32 i, n, t, k; .reg .f32 f; .reg .b64 p, o;
  ld.param.u64 p, [out]; mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 t, %tid.x; mad.lo.u32 i, i, n, t;
  mul.wide.u32 o, i, 4; add.s64 p, p, o;
  ${body}
  ret;
}`;

/** A kernel of a body and the variables of its module; where `mayMake` is false, its code must be stored. */
export function kernelIn(store: CodeStore, body: string, mayMake = true, variables = ''): LoadedKernel {
  const diagnostics = new Diagnostics();
  const options: CompileOptions = { target: 'cpu' };
  const { metallib } = compile(new SourceFile('kernel.ptx', text(body, variables)), options, diagnostics)!;
  const [fn] = readMetallib(metallib, diagnostics)!.functions;
  const make = (): LoadedKernel | undefined => {
    if (!mayMake) throw new Error('the kernel is compiled');
    return makeKernel(fn!, { codes: store }, [], diagnostics);
  };
  const kernel = storedKernel(store, 'kernel', fn!.bitcode, { fma: 'exact', make });
  if (!kernel) throw new Error(diagnostics.list.map(({ message }) => message).join());
  return kernel;
}

/** The words that blocks of 64 threads write. */
export function wordsOf(kernel: LoadedKernel, native: NativeMode, blocks = 4): number[] {
  const memory = newMemory();
  const buffer = bufferOf(memory, new Uint8Array(256 * blocks));
  const diagnostics = new Diagnostics();
  const request = {
    kernel: kernel.reflection.name,
    grid: [blocks, 1, 1],
    block: [64, 1, 1],
    dynamicSharedBytes: 0,
    args: [{ kind: 'buffer', buffer }],
    timeoutMs: 20_000,
  } as const;
  const own = ownMemory(memory, [kernel], diagnostics)!;
  launchKernel(memory, { info: cpuInfo, ownMemory: own.address, native }, kernel, request, diagnostics);
  if (diagnostics.list.length > 0) throw new Error(diagnostics.list.map(({ message }) => message).join());
  return [...new Uint32Array(buffer.read().buffer)];
}
