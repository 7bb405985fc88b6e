/** A metallib made ready: every kernel raised to IR, and compiled when it is first launched. */
import { type KernelReflection, type RaisedKernel, raiseModule } from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import { type Kernel, runPasses, standardPasses } from '../../ir/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import type { SanitizeKind } from '../device.ts';
import { compileKernel, type KernelModule } from './compile/kernel-module.ts';

export interface LoadedKernel {
  readonly reflection: KernelReflection;
  /** Of the raised kernel, whose slots the arguments go to. */
  readonly params: Kernel['params'];
  /** Initial bytes of the window of constant memory. */
  readonly constants: Uint8Array;
  /** Compiled at the first call. */
  compiled(): CompiledKernel;
  /** Compiled with what looks for faults of some kinds, at the first call with these. */
  sanitized(kinds: ReadonlySet<SanitizeKind>): CompiledKernel;
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
export function loadLibrary(bytes: Uint8Array, diagnostics: Diagnostics): LoadedLibrary | undefined {
  const library = readMetallib(bytes, diagnostics);
  if (!library) return undefined;
  const kernels: LoadedKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const fn of library.functions) {
    if (fn.type !== 'kernel') continue;
    const own = new Diagnostics();
    const module = readModule(fn.bitcode, own);
    const raised = module && raiseModule(module, own).find((each) => each.reflection.name === fn.name);
    if (own.list.length > 0) refused.set(fn.name, own);
    if (!raised || own.list.length > 0) continue;
    kernels.push(loadedKernel(raised, () => raiseModule(module, new Diagnostics()).find((each) => each.reflection.name === fn.name)!));
  }
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** A kernel made ready to launch; it is changed when it is compiled. `again` raises it once more. */
export function loadedKernel({ kernel, reflection }: RaisedKernel, again: () => RaisedKernel): LoadedKernel {
  runPasses(kernel, standardPasses);
  let made: CompiledKernel | undefined;
  const watched = new Map<string, CompiledKernel>();
  return {
    reflection,
    params: kernel.params,
    get constants() {
      return constantBytes(kernel, this.compiled());
    },
    compiled() {
      if (made) return made;
      made = instantiable(compileKernel(kernel));
      return made;
    },
    sanitized(kinds) {
      const key = [...kinds].sort().join();
      const known = watched.get(key);
      if (known) return known;
      const { kernel: own } = again();
      runPasses(own, standardPasses);
      const fresh = instantiable(compileKernel(own, kinds));
      watched.set(key, fresh);
      return fresh;
    },
  };
}

const instantiable = (compiled: KernelModule): CompiledKernel => ({
  ...compiled,
  wasm: compiled.excess === undefined ? new WebAssembly.Module(compiled.bytes as BufferSource) : undefined,
});

function constantBytes(kernel: Kernel, { plan }: CompiledKernel): Uint8Array {
  const bytes = new Uint8Array(plan.windows.constant);
  for (const { name, space, init } of kernel.variables) if (space === 'constant' && init) bytes.set(init, plan.offsets.get(name)!);
  return bytes;
}
