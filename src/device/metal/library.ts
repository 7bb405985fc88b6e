/** Loads a metallib: our own reader describes it, Metal loads it, and each kernel gets a pipeline at its first launch. */
import { describeModule, type SymbolReflection } from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import type { Handle } from '../../ffi/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import type { DeviceModule, DeviceSymbol, LoadOptions } from '../device.ts';
import { fillModuleMemory, findModuleMemory, reportClosed } from '../module-memory.ts';
import { takeMemory } from './buffer.ts';
import type { Context, Memory, MetalKernel, MetalLibrary, Pipeline } from './context.ts';
import { faultText } from './faults.ts';
import { simdWidth } from './info.ts';
import { launchKernel } from './launch.ts';
import { sourceOf } from './source.ts';

/** Loads a library; undefined after reporting CM40xx, CM6012 or CM6026. CM6033 says once that the driver compiles source instead. */
export function loadModule(
  context: Context,
  metallib: Uint8Array,
  options: LoadOptions,
  diagnostics: Diagnostics,
): DeviceModule | undefined {
  const described = describe(metallib, options, diagnostics);
  const memory = described && findModuleMemory(described.kernels, diagnostics);
  if (!described || memory === 'fault') return undefined;
  const found = libraryOf(context, metallib, described.kernels, diagnostics);
  if (!found) return undefined;
  const { handle } = found;
  context.owned.add(handle);
  const own = memory && takeMemory(context, memory.size);
  if (memory && !own) {
    give(context, handle);
    diagnostics.report('CM6012', { bytes: memory.size, what: 'the global variables of a module' });
    return undefined;
  }
  if (own) fillModuleMemory(own.view, memory!, context.binding.address(own.handle));
  const { kernels, refused } = described;
  const made = pipelines(context, found);
  const library: MetalLibrary = { memory: own, kernels, pipeline: made.pipeline };
  let isClosed = false;
  return {
    kernels: kernels.map((kernel) => kernel.reflection),
    refused,
    symbols: own ? memory!.symbols.map((symbol) => symbolOf(own, symbol)) : [],
    launch(request, to) {
      if (isClosed) return reportClosed(to);
      const kernel = kernels.find((each) => each.reflection.name === request.kernel);
      if (kernel) return launchKernel(context, library, kernel, request, to);
      const why = refused.get(request.kernel);
      if (why) to.addAll(why.list);
      else to.report('CM5001', { name: request.kernel });
      return undefined;
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      // A kernel that is lost may still write the variables.
      if (context.lost === undefined) own?.give();
      for (const object of [...made.handles(), handle]) give(context, object);
    },
  };
}

/** A library of the driver. */
interface Library {
  readonly handle: Handle;
  /** The name that a kernel has there. */
  nameOf(kernel: string): string;
}

/** The library of the driver, by the way that the device was opened for; undefined after reporting CM6026, or CM2090 of the text. */
function libraryOf(context: Context, metallib: Uint8Array, kernels: readonly MetalKernel[], diagnostics: Diagnostics): Library | undefined {
  const { binding, device, via } = context;
  const handle = via === 'source' ? undefined : binding.library(device, metallib);
  if (handle) return { handle, nameOf: (name) => name };
  const refused = via === 'source' ? undefined : faultText(binding.lastFault());
  if (via === 'metallib') {
    diagnostics.report('CM6026', { why: refused! });
    return undefined;
  }
  const own = new Diagnostics();
  const source = sourceOf(metallib, new Set(kernels.map(({ reflection }) => reflection.name)), own);
  const compiled = source && binding.sourceLibrary(device, source.text, source.version);
  if (compiled) {
    if (refused !== undefined && !context.hasSaidSource) diagnostics.report('CM6033', { why: refused });
    context.hasSaidSource ||= refused !== undefined;
    return { handle: compiled, nameOf: (name) => source.names.get(name) ?? name };
  }
  const notes = source ? [`of the source: ${faultText(binding.lastFault())}`] : own.list.map(({ message }) => `of the source: ${message}`);
  diagnostics.report('CM6026', { why: refused ?? 'its source does not compile' }, { notes });
  return undefined;
}

/** Releases an object of the device, unless closing the device has. */
function give({ binding, owned }: Context, handle: Handle): void {
  if (owned.delete(handle)) binding.release(handle);
}

function symbolOf(own: Memory, { name, offset, size }: SymbolReflection): DeviceSymbol {
  const bytes = (): Uint8Array => own.view.subarray(offset, offset + size);
  return { name, size, write: (from, at = 0) => bytes().set(from, at), read: () => bytes().slice() };
}

interface Described {
  readonly kernels: readonly MetalKernel[];
  /** The diagnostics of kernels that the device cannot run, by name. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

/** The kernels of a library; undefined after reporting what cannot be read, or why no kernel can be run. */
function describe(metallib: Uint8Array, { constants = [] }: LoadOptions, diagnostics: Diagnostics): Described | undefined {
  const hasValues = constants.length > 0;
  const library = readMetallib(metallib, diagnostics);
  if (!library) return undefined;
  const kernels: MetalKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const fn of library.functions) {
    if (fn.type !== 'kernel') continue;
    const own = new Diagnostics();
    const module = readModule(fn.bitcode, own);
    const found = module && describeModule(module, own).find((each) => each.reflection.name === fn.name);
    // Code for the CPU device is recognized by its limit of shared memory, which no Apple GPU has.
    if (found?.reflection.maxSharedBytes !== undefined)
      own.report('CM4053', { kernel: fn.name, why: 'code for the CPU device (`--target cpu`)' });
    // Values are not passed to Metal yet; without them another kernel would run.
    if (found?.reflection.constants?.some((constant) => constant.isRequired || hasValues))
      own.report('CM4053', { kernel: fn.name, why: 'a value for a function constant on a Metal device' });
    if (own.list.length > 0) refused.set(fn.name, own);
    else if (found) kernels.push({ reflection: found.reflection, params: found.kernel.params });
  }
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** The pipelines of a library. */
interface Pipelines {
  readonly pipeline: MetalLibrary['pipeline'];
  /** Those made so far. */
  handles(): Handle[];
}

/** Creates the pipeline of each kernel once. */
function pipelines({ binding, device, owned, info }: Context, { handle: library, nameOf }: Library): Pipelines {
  const made = new Map<string, Pipeline>();
  const pipeline: MetalLibrary['pipeline'] = ({ reflection: { name } }, diagnostics) => {
    const known = made.get(name);
    if (known) return known;
    const of = binding.function(library, nameOf(name));
    const handle = of && binding.pipeline(device, of);
    const fault = handle ? undefined : binding.lastFault();
    if (of) binding.release(of);
    if (!handle) {
      diagnostics.report('CM6027', { kernel: name, why: faultText(fault!) });
      return undefined;
    }
    const pipeline = { handle, facts: binding.pipelineFacts(handle) };
    if (pipeline.facts.width !== simdWidth) {
      binding.release(handle);
      diagnostics.report('CM6028', { kernel: name, name: info.name, given: pipeline.facts.width, wanted: simdWidth });
      return undefined;
    }
    owned.add(handle);
    made.set(name, pipeline);
    return pipeline;
  };
  return { pipeline, handles: () => [...made.values()].map(({ handle }) => handle) };
}
