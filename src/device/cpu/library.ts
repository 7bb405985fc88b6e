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
import { type Kernel, type Pass, runPasses, standardPasses } from '../../ir/index.ts';
import { type LibraryFunction, readMetallib } from '../../metallib/index.ts';
import type { LoadOptions } from '../device.ts';
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
  { constants = [], kernels: names }: LoadOptions = {},
): LoadedLibrary | undefined {
  const library = readMetallib(bytes, diagnostics);
  if (!library) return undefined;
  const all = library.functions.filter(({ type }) => type === 'kernel');
  const wanted = all.filter(({ name }) => names?.includes(name));
  const kernels: LoadedKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const fn of wanted.length > 0 ? wanted : all) {
    const own = new Diagnostics();
    const module = readModule(fn.bitcode, own);
    const raised = module && raiseModule(module, own, constants).find((each) => each.reflection.name === fn.name);
    if (own.list.length > 0) refused.set(fn.name, own);
    if (raised && own.list.length === 0) kernels.push(loadedKernel(raised, standardPasses));
  }
  const unknown = unknownConstants(all, constants);
  for (const { constant } of unknown) diagnostics.report('CM4056', { name: constant });
  if (unknown.length > 0) return undefined;
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** Values for function constants that no function has. */
function unknownConstants(functions: readonly LibraryFunction[], given: readonly GivenConstant[]): GivenConstant[] {
  let left = [...given];
  for (const { bitcode } of functions) {
    if (left.length === 0) return left;
    const module = readModule(bitcode, new Diagnostics());
    const known = module ? readFunctionConstants(module) : [];
    left = left.filter((each) => !known.some((constant) => givenFor(constant, [each])));
  }
  return left;
}

/** A kernel made ready to launch; it is changed when it is compiled, by passes first. */
export function loadedKernel({ kernel, reflection }: RaisedKernel, passes: readonly Pass[] = []): LoadedKernel {
  let made: CompiledKernel | undefined;
  return {
    reflection,
    params: kernel.params,
    get constants() {
      return constantBytes(kernel, this.compiled());
    },
    compiled() {
      if (made) return made;
      runPasses(kernel, passes);
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
