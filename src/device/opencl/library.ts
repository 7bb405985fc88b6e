/** Loads a metallib: each kernel is raised to IR and printed as OpenCL C, which the driver compiles at the first launch. */
import { raiseModule, type SymbolReflection } from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import type { ClHandle } from '../../ffi/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import { openclFile, openclKernel, openclOptions } from '../../text/index.ts';
import type { DeviceModule, DeviceSymbol, LoadOptions } from '../device.ts';
import { fillModuleMemory, findModuleMemory, reportClosed } from '../module-memory.ts';
import { copies, give, take } from './buffer.ts';
import type { Build, BuiltKernel, ClKernel, Context } from './context.ts';
import { launchKernel } from './launch.ts';

/** Loads a library; undefined after reporting CM40xx, CM2090 or CM6012. */
export function loadModule(
  context: Context,
  metallib: Uint8Array,
  options: LoadOptions,
  diagnostics: Diagnostics,
): DeviceModule | undefined {
  const described = describe(metallib, options, diagnostics);
  const memory = described && findModuleMemory(described.kernels, diagnostics);
  if (!described || memory === 'fault') return undefined;
  const own = memory && take(context, memory.size);
  if (memory && own === undefined) {
    diagnostics.report('CM6012', { bytes: memory.size, what: 'the global variables of a module' });
    return undefined;
  }
  if (memory && own !== undefined) {
    const bytes = new Uint8Array(memory.size);
    fillModuleMemory(bytes, memory, BigInt(own));
    copies(context, own, memory.size).write(bytes);
    context.addressed.add(own);
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
      if (own !== undefined) {
        context.addressed.delete(own);
        give(context, own);
      }
      made.close();
    },
  };
}

function symbolOf(context: Context, start: number, { name, offset, size }: SymbolReflection): DeviceSymbol {
  return { name, size, ...copies(context, start + offset, size) };
}

interface Described {
  readonly kernels: readonly ClKernel[];
  /** The diagnostics of kernels that the device cannot run, by name. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

/** The kernels of a library as text; undefined after reporting what cannot be read, or why no kernel can be run. */
function describe(metallib: Uint8Array, { constants = [], kernels: names }: LoadOptions, diagnostics: Diagnostics): Described | undefined {
  const library = readMetallib(metallib, diagnostics);
  if (!library) return undefined;
  const all = library.functions.filter(({ type }) => type === 'kernel');
  const wanted = all.filter(({ name }) => names?.includes(name));
  const kernels: ClKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const { bitcode, name } of wanted.length > 0 ? wanted : all) {
    const own = new Diagnostics();
    const module = readModule(bitcode, own);
    const raised = module && raiseModule(module, own, constants).find(({ reflection }) => reflection.name === name);
    const isOne = (raised?.reflection.sharedArguments ?? 1) === 1;
    if (raised && !isOne) own.report('CM4053', { kernel: name, why: 'several threadgroup arguments on an OpenCL device' });
    const text = raised && isOne ? openclKernel(raised.kernel, own) : undefined;
    if (own.hasErrors || !text) refused.set(name, own);
    else kernels.push({ reflection: raised!.reflection, params: raised!.kernel.params, text });
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

/** Builds each kernel once. */
function builder({ binding, context, device, programs }: Context): Builder {
  const made = new Map<string, { program: ClHandle; built: BuiltKernel }>();
  const build: Build = ({ text }, diagnostics) => {
    const known = made.get(text.name);
    if (known) return known.built;
    const program = binding.program(context, device, openclFile([text]), openclOptions);
    const handle = typeof program === 'number' ? binding.kernel(program, text.name) : undefined;
    if (typeof program !== 'number' || handle === undefined) {
      const log = typeof program === 'number' ? '' : program.log;
      const lines = log.split('\n').filter((line) => line.trim() !== '');
      diagnostics.report('CM6050', { kernel: text.name, why: binding.lastFault().name }, { notes: lines.slice(0, 8) });
      return undefined;
    }
    programs.add(program);
    const built = { handle, maxThreads: binding.kernelThreads(handle, device) };
    made.set(text.name, { program, built });
    return built;
  };
  return {
    build,
    close() {
      for (const { program, built } of made.values()) {
        binding.releaseKernel(built.handle);
        if (programs.delete(program)) binding.releaseProgram(program);
      }
      made.clear();
    },
  };
}
