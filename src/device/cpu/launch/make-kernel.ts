/**
 * Makes kernels of AIR: raised to IR, prepared by passes, and compiled when they are first launched. A launch whose code is stored does
 * without all that this file needs, so that it is loaded at its first call (`scripts/lazy-modules.ts`), and exports nothing but functions.
 */
import { type GivenConstant, givenFor, type RaisedKernel, raiseModule, readFunctionConstants } from '../../../air/index.ts';
import { alignUp } from '../../../base/bytes.ts';
import { Diagnostics } from '../../../base/diagnostic.ts';
import { readModule } from '../../../bitcode/index.ts';
import type { FmaMode } from '../../../engine/codegen/fma-mode.ts';
import {
  type AlignmentFacts,
  checkAlignment,
  compileKernel,
  compileSimd,
  expandMatmul,
  poolStart,
  type SimdModule,
  type Target,
  windowsOf,
} from '../../../engine/index.ts';
import {
  anyLaunch,
  copyOf,
  hasMasks,
  hasSpinLoop,
  type Kernel,
  optimize,
  type Pass,
  replaceMasks,
  runPass,
  runPasses,
  stackAlign,
  stackBytes,
  standardPasses,
  withStack,
} from '../../../ir/index.ts';
import type { LibraryFunction } from '../../../metallib/index.ts';
import type { CodeStore, Dim3, EngineOptions, Fma, SanitizeKind } from '../../device.ts';
import { fmaMode } from '../fma-support.ts';
import { compileModule } from '../native/compile.ts';
import { nativeTarget } from '../native/mode.ts';
import type { KernelCode } from '../native/module.ts';
import { type AccessChecks, insertChecks } from '../sanitizer/fast/insert-checks.ts';
import { checkInstrumentation } from '../sanitizer/fast/instrumentation.ts';
import { shiftMode } from '../shift-support.ts';
import { devicePassObserver } from '../verify-passes.ts';
import { codeForLaunches } from './code-for-launch.ts';
import { type Instruments, instrumentsKey, newInstrumentation } from './instruments.ts';
import { type KnownLaunch, maxPointerZeros } from './launch-facts.ts';
import type { CompiledKernel, LoadedKernel, StorableCode } from './loaded-kernel.ts';
import { type NativeSource, NativeTwin } from './native-twin.ts';
import { rivalsOf } from './rivals.ts';

/** Options of a compilation. */
export interface CompileChoice extends EngineOptions {
  /** Whether workers share the memory. */
  readonly isShared?: boolean;
  /** Where the code is kept. */
  readonly codes?: CodeStore;
}

/** The IR of a kernel's function; undefined after reporting why it cannot be raised. */
export function raiseFunction(
  { bitcode, name }: LibraryFunction,
  diagnostics: Diagnostics,
  constants: readonly GivenConstant[] = [],
): RaisedKernel | undefined {
  const module = readModule(bitcode, diagnostics);
  const raised = module && raiseModule(module, diagnostics, constants).find(({ reflection }) => reflection.name === name);
  return diagnostics.list.length === 0 ? raised : undefined;
}

/** A kernel's function that is compiled on demand, after the standard passes; undefined after reporting why it cannot be raised. */
export function makeKernel(
  fn: LibraryFunction,
  options: CompileChoice,
  constants: readonly GivenConstant[],
  diagnostics: Diagnostics,
): LoadedKernel | undefined {
  const raised = raiseFunction(fn, diagnostics, constants);
  return raised && loadedKernel(raised, options, standardPasses);
}

/** Values for function constants that no function has. */
export function unknownConstants(functions: readonly LibraryFunction[], given: readonly GivenConstant[]): GivenConstant[] {
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

/** Runs the passes that precede both compilers. Bodies in the place of calls get those that AIR went through, because code around them is new to them. */
export function prepareKernel(kernel: Kernel, passes: readonly Pass[]): void {
  const afterPass = devicePassObserver();
  if (kernel.hasInlined && passes === standardPasses) optimize(kernel, false, afterPass);
  else runPasses(kernel, passes, afterPass);
  runPass(kernel, matmulPass, afterPass);
}

/** A kernel that is compiled on demand; passes run before the first compilation. */
export function loadedKernel(
  { kernel, reflection }: RaisedKernel,
  options: CompileChoice = {},
  passes: readonly Pass[] = [],
): LoadedKernel {
  const instrumented = new Map<string, CompiledKernel>();
  const checked = new Map<string, CompiledKernel | undefined>();
  const plain = new Map<boolean, CompiledKernel>();
  let isReady = false;
  const ready = (): Kernel => {
    if (isReady) return kernel;
    isReady = true;
    prepareKernel(kernel, passes);
    return kernel;
  };
  const flush = options.denormals === 'flush' ? { isFlushing: true } : undefined;
  const scalar = (reason: string | undefined, areBuffersAligned = false): CompiledKernel => {
    const compiled = plain.get(areBuffersAligned) ?? compileScalar(ready(), { ...options, areBuffersAligned }, reason, flush);
    plain.set(areBuffersAligned, compiled);
    return compiled;
  };
  const newVectorized = (areAligned: boolean) => {
    let form: Kernel | undefined;
    const unmasked = (): Kernel => {
      form ??= withoutMasks(ready(), areAligned) ?? kernel;
      return form;
    };
    return codeForLaunches(unmasked, (block, facts) => {
      const made = compileVectorized(unmasked(), block, { ...options, facts });
      return { code: made, addressChecks: 'why' in made ? undefined : made.addressChecks };
    });
  };
  const { isScalar, ...rivals } = rivalsOf(ready, options, scalar);
  /** By whether the rows of blocks are aligned, which decides only what masks of collectives mean. */
  const forms = new Map<boolean, ReturnType<typeof newVectorized>>();
  let isMasked: boolean | undefined;
  const vectorized = (areAligned: boolean): ReturnType<typeof newVectorized> => {
    isMasked ??= hasMasks(ready());
    const key = areAligned || !isMasked;
    const form = forms.get(key) ?? newVectorized(key);
    forms.set(key, form);
    return form;
  };
  return {
    ...stackOf({ kernel, reflection }, (other) => loadedKernel(other, options, passes)),
    reflection,
    params: kernel.params,
    get constants() {
      return constantBytes(ready());
    },
    compiled(block, facts) {
      const isWanted = isVectorized(ready(), block, options) && !isScalar(block);
      const made = isWanted ? vectorized(areRowsAligned(block))(block, facts) : { why: undefined };
      return 'why' in made ? scalar(made.why, facts?.areBuffersAligned) : made;
    },
    ...rivals,
    instrumented(instruments) {
      const key = instrumentsKey(instruments);
      const compiled = instrumented.get(key) ?? compileScalar(ready(), options, undefined, { ...instruments, ...flush });
      instrumented.set(key, compiled);
      return compiled;
    },
    checked(kinds, block) {
      const key = [...block, ...[...kinds].sort()].join();
      if (!checked.has(key))
        checked.set(key, isVectorized(ready(), block, options) ? compileChecked(ready(), block, kinds, options) : undefined);
      return checked.get(key);
    },
  };
}

/** The size of the stack of a raised kernel, and the kernel with a stack of another size. */
function stackOf(raised: RaisedKernel, load: (raised: RaisedKernel) => LoadedKernel): Pick<LoadedKernel, 'stackBytes' | 'withStack'> {
  if (!raised.reflection.services?.some(({ service }) => service === 'stack')) return { stackBytes: 0, withStack: () => undefined };
  // Passes change the kernel itself.
  const original = copyOf(raised.kernel);
  const sizes = new Map<number, LoadedKernel>();
  return {
    stackBytes,
    withStack(wanted) {
      const bytes = alignUp(wanted, stackAlign);
      const known = sizes.get(bytes) ?? { ...load({ ...raised, kernel: withStack(original, bytes) }), stackBytes: bytes };
      sizes.set(bytes, known);
      return known;
    },
  };
}

/** Of launches whose buffers are aligned for every access. */
const alignedBuffers: AlignmentFacts = { ...anyLaunch, pointerZeros: () => maxPointerZeros };

/** Whether the lanes of a warp have consecutive `tid.x` in blocks of a shape. */
const areRowsAligned = (block: Dim3): boolean => block[0] % 32 === 0 || block[1] * block[2] === 1;

/** A copy of a kernel whose collectives by masks are replaced; undefined where there are none, or not in convergent code. */
function withoutMasks(kernel: Kernel, areAligned: boolean, keepsMembers = false): Kernel | undefined {
  // A thread that waits in a loop is late for a collective.
  if (!hasMasks(kernel) || hasSpinLoop(kernel)) return undefined;
  const copy = copyOf(kernel);
  if (!replaceMasks(copy, { areRowsAligned: areAligned, keepsMembers })) return undefined;
  const afterPass = devicePassObserver();
  afterPass?.('replace-masks', copy);
  runPasses(copy, standardPasses, afterPass);
  return copy;
}

/** Fewest threads of a vectorized block: smaller ones leave most lanes empty. */
const minThreads = 32;

/** Instructions for each thread of a block above which the vectorizer takes longer than vectorized code saves. */
const maxInstructionsPerThread = 100;

/** The instructions of a kernel. Passes take instructions out of blocks, and leave those that they replace in the array of all. */
const lengthOf = ({ blocks }: Kernel): number => blocks.reduce((sum, { body }) => sum + body.length, 0);

/** Whether a kernel is to be vectorized, by its length after the passes. */
function isVectorized(kernel: Kernel, block: Dim3, { engine = 'auto', denormals }: EngineOptions): boolean {
  const { params } = kernel;
  if (denormals === 'flush' || params.some(({ service }) => service === 'cluster' || service === 'alone')) return false;
  const threads = block[0] * block[1] * block[2];
  return engine === 'simd' || (engine === 'auto' && threads >= minThreads && lengthOf(kernel) <= maxInstructionsPerThread * threads);
}

/** Whether blocks of a kernel know of others, so that those of a sanitized launch run by turns, too. */
const knowsOthers = ({ params }: Kernel): boolean => params.some(({ service }) => service === 'cluster' || service === 'grid');

/** Scalar code. A sanitizer checks alignment itself. */
function compileScalar(
  original: Kernel,
  choice: ScalarChoice,
  scalarReason: string | undefined,
  instruments?: Instruments,
): CompiledKernel {
  const instrumentation = instruments && newInstrumentation(instruments);
  const made = scalarModule(original, choice, instruments, instrumentation);
  const { bytes, plan, excess: known, kernel } = made;
  const { wasm, excess } = known === undefined ? moduleOf(bytes) : { wasm: undefined, excess: known };
  const instrumented = instrumentation && { plan, sites: instrumentation.sites() };
  const isByTurns = !instruments?.sanitize || knowsOthers(kernel);
  const hasParts = plan.regions.hasYields && isByTurns && !instruments?.isOrdered && instruments?.probe === undefined;
  const parts = hasParts ? { hasClock: kernel.insts.some(({ op }) => op === 'clock') } : undefined;
  const { windows, recordBytes, stagingBytes } = plan;
  const compiled: CompiledKernel = {
    wasm,
    stored: choice.codes && { bytes, fma: undefined, facts: `${choice.areBuffersAligned === true}` },
    excess,
    windows,
    recordBytes,
    stagingBytes,
    lanes: 1,
    scalarReason,
    instrumented,
    parts,
  };
  if (instruments || !wasm) return compiled;
  const source = (): NativeSource<CompiledKernel> => {
    const native = scalarModule(original, choice, undefined, undefined, nativeTarget()).bytes;
    return sourceOf(native, compiled.stored, (code) => ({ ...compiled, wasm: code }));
  };
  return { ...compiled, twin: new NativeTwin(bytes.length, source) };
}

interface ScalarChoice extends CompileChoice {
  readonly areBuffersAligned?: boolean;
}

/** The scalar compiler's module, and the copy of the kernel that it was made of. */
function scalarModule(
  original: Kernel,
  { isShared, areBuffersAligned = false }: ScalarChoice,
  instruments: Instruments | undefined,
  instrumentation: ReturnType<typeof newInstrumentation> | undefined,
  target?: Target,
): ReturnType<typeof compileKernel> & { readonly kernel: Kernel } {
  const kernel = copyOf(original);
  if (!instruments?.sanitize) checkAlignment(kernel, areBuffersAligned ? alignedBuffers : undefined);
  return { ...compileKernel(kernel, instrumentation, isShared, target), kernel };
}

interface SimdChoice extends CompileChoice {
  readonly facts?: KnownLaunch | undefined;
}

/** Whether the code of a kernel depends on how this machine computes fused multiply-adds. */
const isFusing = ({ insts }: Kernel): boolean => insts.some(({ op, type }) => op === 'fma' && (type === 'f32' || type === 'f64'));

/** Native code has fused instructions. Where WebAssembly rounds twice, so does native code: blocks of one launch may run either. */
const nativeFma = (fma: Fma): FmaMode => (fmaMode(fma) === 'fast' ? 'fast' : 'relaxed');

/** The SIMD compiler's module for blocks of a shape, or the reason why there is none. */
export function simdModule(
  kernel: Kernel,
  block: Dim3,
  { fma = 'exact', lanes, isShared = false, facts }: SimdChoice,
  checks?: AccessChecks,
  target?: Target,
): ReturnType<typeof compileSimd> {
  return compileSimd(kernel, block, {
    target,
    fma: !isFusing(kernel) ? 'exact' : target ? nativeFma(fma) : fmaMode(fma),
    shifts: target ? 'immediate' : shiftMode(),
    lanes,
    facts,
    isShared,
    checks: checks && checkInstrumentation(checks),
    afterPass: devicePassObserver(),
  });
}

function compileVectorized(
  kernel: Kernel,
  block: Dim3,
  choice: SimdChoice,
  checks?: AccessChecks,
): (CompiledKernel & { readonly addressChecks: string }) | { readonly why: string } {
  const fma = choice.codes && isFusing(kernel) ? fmaMode(choice.fma ?? 'exact') : undefined;
  const made = simdModule(kernel, block, choice, checks);
  if ('why' in made) return made;
  const {
    bytes,
    plan: { addressChecks },
  } = made;
  const { wasm, excess } = moduleOf(bytes);
  if (excess !== undefined) return { why: excess };
  const stored = choice.codes && { bytes, fma, facts: addressChecks };
  const twin = checks ? {} : { twin: new NativeTwin(bytes.length, () => nativeVectorized(kernel, block, choice, stored)) };
  return { ...compiledOf(made, wasm!), stored, ...twin, addressChecks };
}

/** What launches need of vectorized code. */
function compiledOf({ plan, recordBytes, pool }: SimdModule, wasm: KernelCode): CompiledKernel {
  const windows = { ...plan.windows, constant: poolStart(plan) + pool.length };
  return { wasm, pool, excess: undefined, windows, recordBytes, lanes: plan.lanes, scalarReason: undefined };
}

/** The module for the blocks of vectorized code with lane groups for wide vectors; undefined if it cannot be made. */
function nativeVectorized(
  kernel: Kernel,
  block: Dim3,
  choice: SimdChoice,
  stored: StorableCode | undefined,
): NativeSource<CompiledKernel> | undefined {
  const made = simdModule(kernel, block, choice, undefined, nativeTarget());
  return 'why' in made ? undefined : sourceOf(made.bytes, stored, (code) => compiledOf(made, code));
}

/** The native code of a module; `stored` is of the WebAssembly for the same blocks. */
const sourceOf = (
  bytes: Uint8Array,
  stored: StorableCode | undefined,
  compiled: (code: KernelCode) => CompiledKernel,
): NativeSource<CompiledKernel> => ({
  bytes: bytes.length,
  compile() {
    const native = compileModule(bytes);
    return 'why' in native ? undefined : { ...compiled(native.module), stored: stored && { ...stored, bytes: native.code } };
  },
});

/** The module, or the limit that it exceeds in the words of the engine: on the thread of a page that is some megabytes. */
function moduleOf(bytes: Uint8Array): Pick<CompiledKernel, 'wasm' | 'excess'> {
  try {
    return { wasm: new WebAssembly.Module(bytes as BufferSource), excess: undefined };
  } catch (error) {
    if (error instanceof RangeError) return { wasm: undefined, excess: error.message };
    throw error;
  }
}

/** Undefined if the kernel cannot be vectorized, or cannot have the checks. */
function compileChecked(
  original: Kernel,
  block: Dim3,
  kinds: ReadonlySet<SanitizeKind>,
  options: CompileChoice,
): CompiledKernel | undefined {
  const kernel = withoutMasks(original, areRowsAligned(block), true) ?? copyOf(original);
  const checks = insertChecks(kernel, kinds);
  if ('why' in checks) return undefined;
  devicePassObserver()?.('insert-checks', kernel);
  const compiled = compileVectorized(kernel, block, options, checks);
  return 'why' in compiled ? undefined : { ...compiled, checks };
}

function constantBytes(kernel: Kernel): Uint8Array {
  const { windows, offsets } = windowsOf(kernel);
  const bytes = new Uint8Array(windows.constant);
  for (const { name, space, init } of kernel.variables) if (space === 'constant' && init) bytes.set(init, offsets.get(name)!);
  return bytes;
}
