/** Loads a metallib: each kernel is raised to IR and printed as OpenCL C, which the driver compiles at the first launch. */
import type { SymbolReflection } from '../../air/index.ts';
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { ClHandle } from '../../ffi/index.ts';
import { defaultStackBytes, withStack } from '../../ir/index.ts';
import { openclFile, openclKernel, openclOptions } from '../../text/index.ts';
import type { DeviceModule, DeviceSymbol, LoadOptions } from '../device.ts';
import { fillModuleMemory, findModuleMemory } from '../module-memory.ts';
import { type Describer, describeKernels, moduleOf } from '../raised-module.ts';
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
  const described = describeKernels(metallib, options, describer, diagnostics);
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
  const made = builder(context);
  return moduleOf({
    described,
    symbols: own !== undefined ? memory!.symbols.map((symbol) => symbolOf(context, own, symbol)) : [],
    launch: (kernel, request, to) =>
      launchKernel(context, { memory: own, build: made.build, kernels: described.kernels }, kernel, request, to),
    close() {
      if (own !== undefined) {
        context.addressed.delete(own);
        give(context, own);
      }
      made.close();
    },
  });
}

function symbolOf(context: Context, start: number, { name, offset, size }: SymbolReflection): DeviceSymbol {
  return { name, size, ...copies(context, start + offset, size) };
}

const describer: Describer<ClKernel> = {
  device: 'an OpenCL device',
  describe: ({ reflection, kernel }, diagnostics) => ({
    reflection,
    params: kernel.params,
    text: openclKernel(withStack(kernel, defaultStackBytes), diagnostics),
  }),
};

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
