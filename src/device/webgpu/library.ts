/** Loads a metallib: each kernel is raised to IR and printed as WGSL, which the driver compiles for each shape of blocks that it is launched with. */
import { raiseModule, type SymbolReflection } from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import { type WgslText, wgslFile, wgslKernel } from '../../text/index.ts';
import type { DeviceModule, DeviceSymbol, LoadOptions } from '../device.ts';
import { fillModuleMemory, findModuleMemory, reportClosed } from '../module-memory.ts';
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
  const described = describe(metallib, options, diagnostics);
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
  const { kernels, refused } = described;
  const made = builder(context);
  let isClosed = false;
  return {
    kernels: kernels.map(({ reflection }) => reflection),
    refused,
    symbols: own !== undefined ? memory!.symbols.map((symbol) => symbolOf(context, own, symbol)) : [],
    launch(request, to) {
      if (isClosed) return reportClosed(to);
      const kernel = kernels.find(({ reflection }) => reflection.name === request.kernel);
      if (kernel) return launchKernel(context, { memory: own, build: made.build }, kernel, request, to);
      const why = refused.get(request.kernel);
      if (why) to.addAll(why.list);
      else to.report('CM5001', { name: request.kernel });
      return undefined;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      if (own !== undefined) context.arena.give(own);
      made.close();
    },
  };
}

const paramsOf = ({ reflection, kernel }: GpuKernel) => ({ reflection, params: kernel.params });

const symbolOf = (context: Context, start: number, { name, offset, size }: SymbolReflection): DeviceSymbol => ({
  name,
  size,
  ...copies(context, start + offset, size),
});

interface Described {
  readonly kernels: readonly GpuKernel[];
  /** The diagnostics of kernels that the device cannot run, by name. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

/** The kernels of a library; undefined after reporting what cannot be read, or why no kernel can be run. */
function describe(metallib: Uint8Array, { constants = [], kernels: names }: LoadOptions, diagnostics: Diagnostics): Described | undefined {
  const library = readMetallib(metallib, diagnostics);
  if (!library) return undefined;
  const all = library.functions.filter(({ type }) => type === 'kernel');
  const wanted = all.filter(({ name }) => names?.includes(name));
  const kernels: GpuKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const { bitcode, name } of wanted.length > 0 ? wanted : all) {
    const own = new Diagnostics();
    const module = readModule(bitcode, own);
    const raised = module && raiseModule(module, own, constants).find(({ reflection }) => reflection.name === name);
    const isOne = (raised?.reflection.sharedArguments ?? 1) === 1;
    if (raised && !isOne) own.report('CM4053', { kernel: name, why: 'several threadgroup arguments on a WebGPU device' });
    // What no grid can be launched of is known here; the text itself depends on the grid.
    if (raised && isOne) wgslKernel(raised.kernel, own, { isOneBlock: true });
    if (own.hasErrors || !raised || !isOne) refused.set(name, own);
    else kernels.push({ reflection: raised.reflection, kernel: raised.kernel });
  }
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** The built kernels of a library. */
interface Builder {
  readonly build: Build;
  close(): void;
}

const usesBlocks = ({ kernel }: GpuKernel): boolean => kernel.insts.some((inst) => inst.op === 'fence' && inst.scope !== 'block');

/** Builds each kernel once for each shape of its blocks. */
function builder(context: Context): Builder {
  const { connection } = context;
  const texts = new Map<string, WgslText>();
  const made = new Map<string, BuiltKernel>();
  const print = (kernel: GpuKernel, isOneBlock: boolean, threads: number, key: string, diagnostics: Diagnostics): WgslText | undefined => {
    const known = texts.get(key);
    if (known) return known;
    const own = new Diagnostics();
    const text = wgslKernel(kernel.kernel, own, { exact: context.exact(), isOneBlock, threads });
    diagnostics.addAll(own.list);
    if (own.hasErrors) return undefined;
    texts.set(key, text);
    return text;
  };
  const build: Build = (kernel, { block, sharedBytes, isOneBlock, threads }: BuildOptions, diagnostics) => {
    const isAlone = isOneBlock && usesBlocks(kernel);
    const key = `${kernel.reflection.name} ${isAlone} ${threads}`;
    const text = print(kernel, isAlone, threads, key, diagnostics);
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
