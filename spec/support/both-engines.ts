/** One kernel on both paths of the CPU device, lane by lane and in strips: what each leaves in a buffer. */
import { reflectKernel } from '../../src/air/reflect.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import type { CpuBuffer } from '../../src/device/cpu/buffer.ts';
import { cpuInfo } from '../../src/device/cpu/index.ts';
import { launchKernel } from '../../src/device/cpu/launch/launch-blocking.ts';
import { loadedKernel } from '../../src/device/cpu/launch/library.ts';
import { newMemory } from '../../src/device/cpu/memory.ts';
import type { Dim3, EngineOptions } from '../../src/device/device.ts';
import type { Kernel } from '../../src/ir/index.ts';

interface Ran {
  readonly bytes: Uint8Array;
  /** What was reported. */
  readonly said: readonly string[];
  /** Lanes of a strip; 1 on the one-lane path. */
  readonly lanes: number;
  /** Why it was not run in strips. */
  readonly alone: string | undefined;
}

/** Runs a kernel of one buffer in blocks of some threads, in strips of some lanes; the buffer starts as zeros, or as what is given. */
export function ranOn(
  engine: EngineOptions['engine'] & string,
  kernel: Kernel,
  blocks: number,
  threads: number | Dim3,
  size: number,
  start: Uint8Array = new Uint8Array(size),
  lanes?: number,
): Ran {
  const memory = newMemory();
  const diagnostics = new Diagnostics();
  const address = memory.take(size)!;
  memory.view(address, size).set(start);
  const bytes = (): Uint8Array => memory.view(address, size).slice();
  const buffer: CpuBuffer = {
    owner: memory,
    address,
    isFree: false,
    size,
    write: () => {},
    read: bytes,
    deviceAddress: () => BigInt(address),
    free: () => {},
  };
  const loaded = loadedKernel({ kernel, reflection: reflectKernel(kernel) }, { engine, ...(lanes === undefined ? {} : { lanes }) });
  const shape = { grid: [blocks, 1, 1], block: typeof threads === 'number' ? ([threads, 1, 1] as const) : threads } as const;
  const request = { kernel: kernel.name, ...shape, dynamicSharedBytes: 0, args: [{ kind: 'buffer', buffer }], timeoutMs: 20_000 } as const;
  launchKernel(memory, { info: cpuInfo, ownMemory: 0 }, loaded, request, diagnostics);
  const compiled = loaded.compiled(shape.block);
  return { bytes: bytes(), said: diagnostics.list.map(({ message }) => message), lanes: compiled.lanes, alone: compiled.scalarReason };
}
