/** A metallib made ready: every kernel raised to IR, and compiled when it is first launched. */
import { type KernelReflection, type RaisedKernel, raiseModule } from '../../air/index.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { readModule } from '../../bitcode/index.ts';
import { type Kernel, runPasses, standardPasses } from '../../ir/index.ts';
import { readMetallib } from '../../metallib/index.ts';
import type { Dim3, EngineOptions } from '../device.ts';
import { compileKernel } from './compile/kernel-module.ts';
import { type Plan, windowsOf } from './compile/plan.ts';
import { fmaMode } from './engine.ts';
import { compileStrips } from './strips/module.ts';
import { copyOf } from './strips/narrow.ts';

export interface LoadedKernel {
  readonly reflection: KernelReflection;
  /** Of the raised kernel, whose slots the arguments go to. */
  readonly params: Kernel['params'];
  /** Initial bytes of the window of constant memory. */
  readonly constants: Uint8Array;
  /** Compiled at the first call for blocks of a shape. */
  compiled(block: Dim3): CompiledKernel;
}

export interface CompiledKernel {
  /** Only where nothing is in excess. */
  readonly wasm: WebAssembly.Module | undefined;
  /** What about the module is more than engines take, in words. */
  readonly excess: string | undefined;
  readonly windows: Plan['windows'];
  /** Bytes of the records of a block. */
  readonly recordBytes: number;
  /** Threads that go on together, of which the first is named in a fault; 1 on the one-lane path. */
  readonly lanes: number;
  /** Why a kernel is run one lane at a time that was to run in strips. */
  readonly alone: string | undefined;
}

export interface LoadedLibrary {
  readonly kernels: readonly LoadedKernel[];
  /** What is said of kernels that cannot be run, by their names. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

/** The kernels of a library; nothing after reporting what cannot be read (CM40xx), or why none can be run. */
export function loadLibrary(bytes: Uint8Array, diagnostics: Diagnostics, options: EngineOptions = {}): LoadedLibrary | undefined {
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
    runPasses(raised.kernel, standardPasses);
    kernels.push(loadedKernel(raised, options));
  }
  if (kernels.length > 0 || refused.size === 0) return { kernels, refused };
  for (const own of refused.values()) diagnostics.addAll(own.list);
  return undefined;
}

/** A kernel made ready to launch. */
export function loadedKernel({ kernel, reflection }: RaisedKernel, options: EngineOptions = {}): LoadedKernel {
  const made = new Map<string, CompiledKernel>();
  let lane: CompiledKernel | undefined;
  const alone = (why: string | undefined): CompiledKernel => {
    lane ??= compileLane(kernel, why);
    return lane;
  };
  return {
    reflection,
    params: kernel.params,
    get constants() {
      return constantBytes(kernel);
    },
    compiled(block) {
      if (!isForStrips(kernel, block, options)) return alone(undefined);
      const key = block.join();
      const known = made.get(key) ?? compileVectors(kernel, block, options);
      const compiled = 'why' in known ? alone(known.why) : known;
      made.set(key, compiled);
      return compiled;
    },
  };
}

/** Blocks of less than a warp leave most lanes of a strip empty. */
const leastThreads = 32;

/** Instructions for each thread of a block above which making strips takes longer than they save. */
const mostInstructions = 150;

function isForStrips({ insts }: Kernel, block: Dim3, { engine = 'auto' }: EngineOptions): boolean {
  const threads = block[0] * block[1] * block[2];
  return engine === 'simd' || (engine === 'auto' && threads >= leastThreads && insts.length <= mostInstructions * threads);
}

function compileLane(kernel: Kernel, why: string | undefined): CompiledKernel {
  const { bytes, plan, excess } = compileKernel(copyOf(kernel));
  const wasm = excess === undefined ? new WebAssembly.Module(bytes as BufferSource) : undefined;
  return { wasm, excess, windows: plan.windows, recordBytes: plan.recordBytes, lanes: 1, alone: why };
}

function compileVectors(kernel: Kernel, block: Dim3, { fma = 'exact' }: EngineOptions): CompiledKernel | { readonly why: string } {
  const isFusing = kernel.insts.some(({ op, type }) => op === 'fma' && type === 'f32');
  const made = compileStrips(kernel, block, { fma: isFusing ? fmaMode(fma) : 'exact' });
  if ('why' in made) return made;
  const { bytes, plan } = made;
  const wasm = new WebAssembly.Module(bytes as BufferSource);
  return { wasm, excess: undefined, windows: plan.windows, recordBytes: plan.recordBytes, lanes: plan.lanes, alone: undefined };
}

function constantBytes(kernel: Kernel): Uint8Array {
  const { windows, offsets } = windowsOf(kernel);
  const bytes = new Uint8Array(windows.constant);
  for (const { name, space, init } of kernel.variables) if (space === 'constant' && init) bytes.set(init, offsets.get(name)!);
  return bytes;
}
