/** A kernel that does not poll the clock, unlike compiled ones: for specs of workers that have to be abandoned. */
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { cpuInfo } from '../../src/device/cpu/index.ts';
import { startKernel } from '../../src/device/cpu/launch/launch-async.ts';
import { type LoadedKernel, loadLibrary } from '../../src/device/cpu/launch/library.ts';
import { newMemory } from '../../src/device/cpu/memory.ts';
import type { LaunchResult } from '../../src/device/index.ts';
import { declareHost } from '../../src/engine/codegen/host.ts';
import { runSignature } from '../../src/engine/scalar/kernel-module.ts';
import { newModule } from '../../src/wasm/index.ts';
import { libraryOf } from './workers.ts';

/** Starts a kernel whose code is replaced by an endless loop; reports whether its memory is freed after it was abandoned. */
export async function startEndless(
  text: string,
  name: string,
  timeoutMs: number,
): Promise<{ readonly result: LaunchResult | undefined; readonly said: string[]; readonly isGivenBack: () => boolean }> {
  const diagnostics = new Diagnostics();
  const memory = newMemory(true);
  const kernel = loadLibrary(libraryOf(text), diagnostics, { isShared: true })!.kernels.find(({ reflection }) => reflection.name === name)!;
  const before = memory.take(1 << 20)!;
  memory.give(before);
  const bound = (): bigint => 0n;
  const args = kernel.reflection.params.map((param) => ({ kind: 'bytes', bytes: new Uint8Array(param.size) }) as const);
  const request = { kernel: name, grid: [4, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs, args } as const;
  const surroundings = { info: cpuInfo, ownMemory: 0, threads: 2, bound };
  const result = await startKernel(memory, surroundings, endless(kernel), request, diagnostics).done;
  const isGivenBack = (): boolean => {
    const after = memory.take(1 << 20)!;
    memory.give(after);
    return after === before;
  };
  return { result, said: diagnostics.list.map(({ code }) => code), isGivenBack };
}

function endless(kernel: LoadedKernel): LoadedKernel {
  const module = newModule();
  declareHost(module, kernel.params.length, { isShared: true });
  const { code } = module.fn(runSignature, 'run');
  code.open('loop');
  code.at('br', 0);
  code.end();
  const compiled = { ...kernel.compiled([1, 1, 1]), wasm: new WebAssembly.Module(module.finish() as BufferSource) };
  return { ...kernel, compiled: () => compiled };
}
