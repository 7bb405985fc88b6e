/** A metallib made ready: every kernel raised to IR, and compiled when it is first launched. */
import {
  type GivenConstant,
  givenFor,
  type KernelReflection,
  type RaisedKernel,
  raiseModule,
  readFunctionConstants,
} from '../../../air/index.ts';
import { Diagnostics } from '../../../base/diagnostic.ts';
import { readModule } from '../../../bitcode/index.ts';
import { compileKernel, compileStrips, copyOf, expandMatmul, type Plan, poolStart, windowsOf } from '../../../engine/index.ts';
import { type Kernel, type Pass, runPass, runPasses, standardPasses } from '../../../ir/index.ts';
import { type LibraryFunction, readMetallib } from '../../../metallib/index.ts';
import type { Dim3, EngineOptions, LoadOptions, SanitizeKind } from '../../device.ts';
import { fmaMode } from '../fma-support.ts';
import type { Site } from '../observe/sites.ts';
import { type Guards, insertGuards } from '../sanitizer/fast/insert-checks.ts';
import { checkInstrumentation } from '../sanitizer/fast/instrumentation.ts';
import { devicePassObserver } from '../verify-passes.ts';
import { type Instruments, instrumentsKey, newInstrumentation } from './instruments.ts';
import { newKernelCache } from './kernel-cache.ts';

export interface LoadedKernel {
  readonly reflection: KernelReflection;
  /** Of the raised kernel, whose slots the arguments go to. */
  readonly params: Kernel['params'];
  /** Initial bytes of the window of constant memory. */
  readonly constants: Uint8Array;
  /** Compiled at the first call for blocks of a shape. */
  compiled(block: Dim3): CompiledKernel;
  /** Compiled with instruments, one lane at a time, at the first call with these. */
  instrumented(how: Instruments): CompiledKernel;
  /** In strips that look for faults quickly, at the first call for blocks of a shape; nothing where that cannot be. */
  guarded(kinds: ReadonlySet<SanitizeKind>, block: Dim3): CompiledKernel | undefined;
}

export interface CompiledKernel {
  /** Only where nothing is in excess. */
  readonly wasm: WebAssembly.Module | undefined;
  /** Constant vectors, the last bytes of the window of constant memory. */
  readonly pool?: Uint8Array;
  /** What about the module is more than engines take, in words. */
  readonly excess: string | undefined;
  readonly windows: Plan['windows'];
  /** Bytes of the records of a block. */
  readonly recordBytes: number;
  /** Threads that go on together, of which the first is named in a fault; 1 on the one-lane path. */
  readonly lanes: number;
  /** Why a kernel is run one lane at a time that was to run in strips. */
  readonly alone: string | undefined;
  /** Of strips that look for faults quickly: what they look at. */
  readonly guards?: Guards | undefined;
  /** Of an instrumented compilation: what reports speak of. */
  readonly watched?: { readonly plan: Plan; readonly sites: readonly Site[] } | undefined;
}

export interface LoadedLibrary {
  readonly kernels: readonly LoadedKernel[];
  /** What is said of kernels that cannot be run, by their names. */
  readonly refused: ReadonlyMap<string, Diagnostics>;
}

const cached = newKernelCache<LoadedKernel>();

/** How kernels are compiled. */
export interface CompileChoice extends EngineOptions {
  /** For a memory that workers share. */
  readonly isShared?: boolean;
}

/** The kernels of a library; nothing after reporting what cannot be read (CM40xx), or why none can be run. */
export function loadLibrary(
  bytes: Uint8Array,
  diagnostics: Diagnostics,
  options: CompileChoice & LoadOptions = {},
): LoadedLibrary | undefined {
  const { constants = [], kernels: names } = options;
  const library = readMetallib(bytes, diagnostics);
  if (!library) return undefined;
  const all = library.functions.filter(({ type }) => type === 'kernel');
  const wanted = all.filter(({ name }) => names?.includes(name));
  const kernels: LoadedKernel[] = [];
  const refused = new Map<string, Diagnostics>();
  for (const fn of wanted.length > 0 ? wanted : all) {
    const own = new Diagnostics();
    const kernel = cached(fn.bitcode, fn.name, options, () => {
      const module = readModule(fn.bitcode, own);
      const raised = module && raiseModule(module, own, constants).find((each) => each.reflection.name === fn.name);
      return raised && own.list.length === 0 ? loadedKernel(raised, options, standardPasses) : undefined;
    });
    if (own.list.length > 0) refused.set(fn.name, own);
    if (kernel) kernels.push(kernel);
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

const matmulPass: Pass = { name: 'expand-matmul', run: expandMatmul };

/** A kernel made ready to launch; passes run before it is compiled first. */
export function loadedKernel(
  { kernel, reflection }: RaisedKernel,
  options: CompileChoice = {},
  passes: readonly Pass[] = [],
): LoadedKernel {
  const made = new Map<string, CompiledKernel>();
  const watched = new Map<string, CompiledKernel>();
  const guarded = new Map<string, CompiledKernel | undefined>();
  let lane: CompiledKernel | undefined;
  let isReady = false;
  const ready = (): Kernel => {
    if (isReady) return kernel;
    isReady = true;
    const afterPass = devicePassObserver();
    runPasses(kernel, passes, afterPass);
    runPass(kernel, matmulPass, afterPass);
    return kernel;
  };
  const flush = options.denormals === 'flush' ? { isFlushing: true } : undefined;
  const alone = (why: string | undefined): CompiledKernel => {
    lane ??= compileLane(ready(), options, why, flush);
    return lane;
  };
  return {
    reflection,
    params: kernel.params,
    get constants() {
      return constantBytes(ready());
    },
    compiled(block) {
      if (!isForStrips(kernel, block, options)) return alone(undefined);
      const key = block.join();
      const known = made.get(key) ?? compileVectors(ready(), block, options);
      const compiled = 'why' in known ? alone(known.why) : known;
      made.set(key, compiled);
      return compiled;
    },
    instrumented(how) {
      const key = instrumentsKey(how);
      const known = watched.get(key);
      if (known) return known;
      const fresh = compileLane(ready(), options, undefined, { ...how, ...flush });
      watched.set(key, fresh);
      return fresh;
    },
    guarded(kinds, block) {
      const key = [...block, ...[...kinds].sort()].join();
      if (!guarded.has(key))
        guarded.set(key, isForStrips(kernel, block, options) ? compileGuarded(ready(), block, kinds, options) : undefined);
      return guarded.get(key);
    },
  };
}

/** Blocks of less than a warp leave most lanes of a strip empty. */
const leastThreads = 32;

/** Instructions for each thread of a block above which making strips takes longer than they save. */
const mostInstructions = 150;

function isForStrips({ insts }: Kernel, block: Dim3, { engine = 'auto', denormals }: EngineOptions): boolean {
  if (denormals === 'flush') return false;
  const threads = block[0] * block[1] * block[2];
  return engine === 'simd' || (engine === 'auto' && threads >= leastThreads && insts.length <= mostInstructions * threads);
}

function compileLane(kernel: Kernel, { isShared }: CompileChoice, why: string | undefined, how?: Instruments): CompiledKernel {
  const instrumentation = how && newInstrumentation(how);
  const { bytes, plan, excess: known } = compileKernel(copyOf(kernel), instrumentation, isShared);
  const { wasm, excess } = known === undefined ? moduleOf(bytes) : { wasm: undefined, excess: known };
  const watched = instrumentation && { plan, sites: instrumentation.sites() };
  return { wasm, excess, windows: plan.windows, recordBytes: plan.recordBytes, lanes: 1, alone: why, watched };
}

function compileVectors(
  kernel: Kernel,
  block: Dim3,
  { fma = 'exact', lanes, isShared = false }: CompileChoice,
  guards?: Guards,
): CompiledKernel | { readonly why: string } {
  const isFusing = kernel.insts.some(({ op, type }) => op === 'fma' && type === 'f32');
  const made = compileStrips(kernel, block, {
    fma: isFusing ? fmaMode(fma) : 'exact',
    lanes,
    isShared,
    checks: guards && checkInstrumentation(guards),
    afterPass: devicePassObserver(),
  });
  if ('why' in made) return made;
  const { bytes, plan, recordBytes, pool } = made;
  const { wasm, excess } = moduleOf(bytes);
  if (excess !== undefined) return { why: excess };
  const windows = { ...plan.windows, constant: poolStart(plan) + pool.length };
  return { wasm, pool, excess, windows, recordBytes, lanes: plan.lanes, alone: undefined };
}

/** The module; or, in the engine's words, what is too much: on the thread of a page some megabytes are. */
function moduleOf(bytes: Uint8Array): Pick<CompiledKernel, 'wasm' | 'excess'> {
  try {
    return { wasm: new WebAssembly.Module(bytes as BufferSource), excess: undefined };
  } catch (error) {
    if (error instanceof RangeError) return { wasm: undefined, excess: error.message };
    throw error;
  }
}

/** Nothing where strips, or guards, cannot be. */
function compileGuarded(
  original: Kernel,
  block: Dim3,
  kinds: ReadonlySet<SanitizeKind>,
  options: CompileChoice,
): CompiledKernel | undefined {
  const kernel = copyOf(original);
  const guards = insertGuards(kernel, kinds);
  if ('why' in guards) return undefined;
  devicePassObserver()?.('insert-checks', kernel);
  const compiled = compileVectors(kernel, block, options, guards);
  return 'why' in compiled ? undefined : { ...compiled, guards };
}

function constantBytes(kernel: Kernel): Uint8Array {
  const { windows, offsets } = windowsOf(kernel);
  const bytes = new Uint8Array(windows.constant);
  for (const { name, space, init } of kernel.variables) if (space === 'constant' && init) bytes.set(init, offsets.get(name)!);
  return bytes;
}
