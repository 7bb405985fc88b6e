/** Loads a metallib: each kernel is raised to IR and printed as WGSL, which the driver compiles for each shape of blocks that it is launched with. */
import type { SymbolReflection } from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { type WgslText, wgslFile, wgslKernel } from '../../text/index.ts';
import type { DeviceModule, DeviceSymbol, LoadOptions } from '../device.ts';
import { fillModuleMemory, findModuleMemory } from '../module-memory.ts';
import { type Describer, describeKernels, moduleOf } from '../raised-module.ts';
import { copies, writeBytes } from './buffer.ts';
import type { Build, BuildOptions, BuiltKernel, Context, GpuKernel } from './context.ts';
import { launchKernel } from './launch.ts';

/** Loads a library; undefined after reporting CM40xx, CM2090 or CM6012. */
export function loadModule(
  context: Context,
  metallib: Uint8Array,
  options: LoadOptions,
  diagnostics: Diagnostics,
): DeviceModule | undefined {
  const described = describeKernels(metallib, options, describer, diagnostics);
  const memory = described && findModuleMemory(described.kernels.map(paramsOf), diagnostics);
  if (!described || memory === 'fault') return undefined;
  const own = memory && context.arena.take(memory.size);
  if (memory && own === undefined) {
    diagnostics.report('CM6012', { bytes: memory.size, what: 'the global variables of a module' });
    return undefined;
  }
  if (memory && own !== undefined) {
    const bytes = new Uint8Array(memory.size);
    fillModuleMemory(bytes, memory, BigInt(own));
    writeBytes(context, own, bytes);
  }
  const made = builder(context);
  return moduleOf({
    described,
    symbols: own !== undefined ? memory!.symbols.map((symbol) => symbolOf(context, own, symbol)) : [],
    launch: (kernel, request, to) =>
      launchKernel(context, { memory: own, build: made.build, kernels: described.kernels }, kernel, request, to),
    close() {
      if (own !== undefined) context.arena.give(own);
      made.close();
    },
  });
}

const paramsOf = ({ reflection, kernel }: GpuKernel) => ({ reflection, params: kernel.params });

const symbolOf = (context: Context, start: number, { name, offset, size }: SymbolReflection): DeviceSymbol => ({
  name,
  size,
  ...copies(context, start + offset, size),
});

const describer: Describer<GpuKernel> = {
  device: 'a WebGPU device',
  describe({ reflection, kernel }, diagnostics) {
    // What cannot be launched is known here; the text itself depends on the size of blocks.
    wgslKernel(kernel, diagnostics);
    return { reflection, kernel };
  },
};

/** The built kernels of a library. */
interface Builder {
  readonly build: Build;
  close(): void;
}

/** Builds each kernel once for each shape of its blocks. */
function builder(context: Context): Builder {
  const { connection } = context;
  const texts = new Map<string, WgslText>();
  const made = new Map<string, BuiltKernel>();
  const print = (kernel: GpuKernel, threads: number, key: string, diagnostics: Diagnostics): WgslText | undefined => {
    const known = texts.get(key);
    if (known) return known;
    const own = new Diagnostics();
    const text = wgslKernel(kernel.kernel, own, { exact: context.exact(), threads });
    diagnostics.addAll(own.list);
    if (own.hasErrors) return undefined;
    texts.set(key, text);
    return text;
  };
  const build: Build = (kernel, { block, sharedBytes, threads }: BuildOptions, diagnostics) => {
    const key = `${kernel.reflection.name} ${threads}`;
    const text = print(kernel, threads, key, diagnostics);
    if (!text) return undefined;
    const sharedWords = text.shared.isDynamic ? Math.max(1, Math.ceil((text.shared.bytes + sharedBytes) / 4)) : 0;
    const whole = `${key} ${block.join(' ')} ${sharedWords}`;
    const known = made.get(whole);
    if (known) return known;
    const program = context.nextProgram++;
    const code = wgslFile([text]);
    const answer = connection.ask({
      ask: 'program',
      id: program,
      code,
      entry: text.name,
      constants: {
        block_x: block[0],
        block_y: block[1],
        block_z: block[2],
        ...(/\bshared_words\b/.test(code) ? { shared_words: sharedWords } : {}),
        ...(threads > 1 ? { group_threads: Math.ceil((block[0] * block[1] * block[2]) / threads) } : {}),
      },
      table: text.constants,
    });
    if (!answer?.isGood) {
      if (answer?.isLost) context.lost = answer.why;
      const why = (answer?.why ?? 'it does not answer').trim().split('\n')[0]!;
      diagnostics.report('CM6052', { kernel: kernel.reflection.name, why }, { notes: (answer?.notes ?? []).slice(0, 8) });
      return undefined;
    }
    const built = { program, text };
    made.set(whole, built);
    return built;
  };
  return {
    build,
    close() {
      for (const { program } of made.values()) if (!context.isClosed) connection.send({ ask: 'forget', id: program });
      made.clear();
    },
  };
}
