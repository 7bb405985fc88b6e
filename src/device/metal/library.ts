/** A metallib on the device: described by our own reader, taken by Metal, a pipeline for each kernel when it is first launched. */
import { describeModule } from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import type { Handle } from '../../ffi/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import type { DeviceModule, DeviceSymbol } from '../device.ts';
import { fillModuleMemory, findModuleMemory } from '../module-memory.ts';
import { takeMemory } from './buffer.ts';
import type { Context, MetalKernel, MetalLibrary, Pipeline } from './context.ts';
import { faultText } from './faults.ts';
import { simdWidth } from './info.ts';
import { launchKernel } from './launch.ts';

/** Loads a library; nothing after reporting CM40xx, CM6012 or CM6026. */
export function loadModule(context: Context, metallib: Uint8Array, diagnostics: Diagnostics): DeviceModule | undefined {
  const described = describe(metallib, diagnostics);
  const memory = described && findModuleMemory(described.kernels, diagnostics);
  if (!described || memory === 'fault') return undefined;
  const handle = context.binding.library(context.device, metallib);
  if (!handle) {
    diagnostics.report('CM6026', { why: faultText(context.binding.lastFault()) });
    return undefined;
  }
  context.owned.add(handle);
  const own = memory && takeMemory(context, memory.size);
  if (memory && !own) {
    diagnostics.report('CM6012', { bytes: memory.size, what: 'the global variables of a module' });
    return undefined;
  }
  if (own) fillModuleMemory(own.view, memory!, context.binding.address(own.handle));
  const { kernels, refused } = described;
  const library: MetalLibrary = { memory: own, pipeline: pipelines(context, handle) };
  return {
    kernels: kernels.map((kernel) => kernel.reflection),
    refused,
    symbols: own ? memory!.symbols.map(({ name, offset, size }) => symbolOf(name, own.view.subarray(offset, offset + size))) : [],
    launch(request, to) {
      const kernel = kernels.find((each) => each.reflection.name === request.kernel);
      if (kernel) return launchKernel(context, library, kernel, request, to);
      const why = refused.get(request.kernel);
      if (why) to.addAll(why.list);
      else to.report('CM5001', { name: request.kernel });
      return undefined;
    },
  };
}

const symbolOf = (name: string, bytes: Uint8Array): DeviceSymbol => ({
  name,
  size: bytes.length,
  write: (from, offset = 0) => bytes.set(from, offset),
  read: () => bytes.slice(),
});

interface Described {
  readonly kernels: readonly MetalKernel[];
  /** What is said of kernels that are not run here, by their names. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

/** What our own reader makes of a library; nothing after reporting what it cannot read, or why none of the kernels is run. */
function describe(metallib: Uint8Array, diagnostics: Diagnostics): Described | undefined {
  const library = readMetallib(metallib, diagnostics);
  if (!library) return undefined;
  const kernels: MetalKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const fn of library.functions) {
    if (fn.type !== 'kernel') continue;
    const own = new Diagnostics();
    const module = readModule(fn.bitcode, own);
    const found = module && describeModule(module, own).find((each) => each.reflection.name === fn.name);
    // More shared memory than any Apple GPU has is what tells code for the CPU device.
    if (found?.reflection.maxSharedBytes !== undefined)
      own.report('CM4053', { kernel: fn.name, why: 'code for the CPU device (`--target cpu`)' });
    if (own.list.length > 0) refused.set(fn.name, own);
    else if (found) kernels.push({ reflection: found.reflection, params: found.kernel.params });
  }
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** Makes pipelines of a library's kernels, each once. */
function pipelines({ binding, device, owned, info }: Context, library: Handle): MetalLibrary['pipeline'] {
  const made = new Map<string, Pipeline>();
  return ({ reflection: { name } }, diagnostics) => {
    const known = made.get(name);
    if (known) return known;
    const of = binding.function(library, name);
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
}
