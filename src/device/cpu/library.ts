/** A metallib made ready: every kernel raised to IR, and compiled when it is first launched. */
import {
  type GivenConstant,
  givenFor,
  type KernelReflection,
  type RaisedKernel,
  raiseModule,
  readFunctionConstants,
} from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import { type Kernel, runPasses, standardPasses } from '../../ir/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import { compileKernel, type KernelModule } from './compile/kernel-module.ts';

export interface LoadedKernel {
  readonly reflection: KernelReflection;
  /** Of the raised kernel, whose slots the arguments go to. */
  readonly params: Kernel['params'];
  /** Initial bytes of the window of constant memory. */
  readonly constants: Uint8Array;
  /** Compiled at the first call. */
  compiled(): CompiledKernel;
}

export interface CompiledKernel extends KernelModule {
  /** Only where nothing is in excess. */
  readonly wasm: WebAssembly.Module | undefined;
}

export interface LoadedLibrary {
  readonly kernels: readonly LoadedKernel[];
  /** What is said of kernels that cannot be run, by their names. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

/** The kernels of a library; nothing after reporting what cannot be read (CM40xx), or why none can be run. */
export function loadLibrary(
  bytes: Uint8Array,
  diagnostics: Diagnostics,
  constants: readonly GivenConstant[] = [],
): LoadedLibrary | undefined {
  const library = readMetallib(bytes, diagnostics);
  if (!library) return undefined;
  const kernels: LoadedKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  const meant = new Set<GivenConstant>();
  for (const fn of library.functions) {
    if (fn.type !== 'kernel') continue;
    const own = new Diagnostics();
    const module = readModule(fn.bitcode, own);
    for (const constant of module ? readFunctionConstants(module) : [])
      for (const given of constants) if (givenFor(constant, [given])) meant.add(given);
    const raised = module && raiseModule(module, own, constants).find((each) => each.reflection.name === fn.name);
    if (own.list.length > 0) refused.set(fn.name, own);
    if (!raised || own.list.length > 0) continue;
    runPasses(raised.kernel, standardPasses);
    kernels.push(loadedKernel(raised));
  }
  const unknown = constants.filter((given) => !meant.has(given));
  for (const { constant } of unknown) diagnostics.report('CM4056', { name: constant });
  if (unknown.length > 0) return undefined;
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** A kernel made ready to launch; it is changed when it is compiled. */
export function loadedKernel({ kernel, reflection }: RaisedKernel): LoadedKernel {
  let made: CompiledKernel | undefined;
  return {
    reflection,
    params: kernel.params,
    get constants() {
      return constantBytes(kernel, this.compiled());
    },
    compiled() {
      if (made) return made;
      const compiled = compileKernel(kernel);
      made = { ...compiled, wasm: compiled.excess === undefined ? new WebAssembly.Module(compiled.bytes as BufferSource) : undefined };
      return made;
    },
  };
}

function constantBytes(kernel: Kernel, { plan }: CompiledKernel): Uint8Array {
  const bytes = new Uint8Array(plan.windows.constant);
  for (const { name, space, init } of kernel.variables) if (space === 'constant' && init) bytes.set(init, plan.offsets.get(name)!);
  return bytes;
}
