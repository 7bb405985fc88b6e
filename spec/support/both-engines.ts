/** Runs one kernel on the scalar or the SIMD path of the CPU device, as WebAssembly or natively, and returns its buffer and diagnostics. */
import { reflectKernel } from '../../src/air/reflect.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { cpuInfo } from '../../src/device/cpu/index.ts';
import { launchKernel } from '../../src/device/cpu/launch/launch-blocking.ts';
import type { LoadedKernel } from '../../src/device/cpu/launch/loaded-kernel.ts';
import { loadedKernel } from '../../src/device/cpu/launch/make-kernel.ts';
import { newMemory } from '../../src/device/cpu/memory.ts';
import type { Dim3, EngineOptions, NativeMode } from '../../src/device/device.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { bufferOf } from './cpu.ts';

interface EngineRun {
  readonly bytes: Uint8Array;
  /** Messages of the reported diagnostics. */
  readonly messages: readonly string[];
  /** Lanes of a lane group; 1 on the scalar path. */
  readonly lanes: number;
  /** Why the kernel was not vectorized. */
  readonly scalarReason: string | undefined;
  /** Whether there is native code. */
  readonly isNative: boolean;
}

/** Runs a kernel with one buffer argument; `start` is the initial content (zeros by default), `lanes` forces the size of the lane groups. */
export function runOn(
  engine: EngineOptions['engine'] & string,
  kernel: Kernel,
  blocks: number,
  threads: number | Dim3,
  size: number,
  start: Uint8Array = new Uint8Array(size),
  lanes?: number,
  native: NativeMode = 'never',
): EngineRun {
  const loaded = loadedKernel({ kernel, reflection: reflectKernel(kernel) }, { engine, ...(lanes === undefined ? {} : { lanes }) });
  return runLoaded(loaded, blocks, threads, start, native);
}

/** Runs a loaded kernel with one buffer argument of these contents. */
export function runLoaded(loaded: LoadedKernel, blocks: number, threads: number | Dim3, start: Uint8Array, native: NativeMode): EngineRun {
  const memory = newMemory();
  const diagnostics = new Diagnostics();
  const buffer = bufferOf(memory, start);
  const shape = { grid: [blocks, 1, 1], block: typeof threads === 'number' ? ([threads, 1, 1] as const) : threads } as const;
  const request = {
    kernel: loaded.reflection.name,
    ...shape,
    dynamicSharedBytes: 0,
    args: [{ kind: 'buffer', buffer }],
    timeoutMs: 20_000,
  } as const;
  launchKernel(memory, { info: cpuInfo, ownMemory: 0, native }, loaded, request, diagnostics);
  const compiled = loaded.compiled(shape.block);
  return {
    bytes: buffer.read(),
    messages: diagnostics.list.map(({ message }) => message),
    lanes: compiled.lanes,
    scalarReason: compiled.scalarReason,
    isNative: native === 'always' && compiled.twin?.code() !== undefined,
  };
}
