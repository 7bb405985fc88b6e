/**
 * Preparation of a launch: validation, the compiled form of the kernel, memory, observers. A launch that is sanitized is prepared
 * with fast checks where that is possible; when these find something suspicious, it is prepared again with the precise sanitizer.
 */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import { product } from '../../../base/dim3.ts';
import { defaultStackBytes, endedAt } from '../../../ir/index.ts';
import { dispatchOf } from '../../cluster-groups.ts';
import { reportPrinted, reportStop } from '../../completion.ts';
import type { LaunchRequest, LaunchResult } from '../../device.ts';
import { validateLaunch, validatorOf } from '../../validate-launch.ts';
import { bufferIn } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import type { KernelCode } from '../native/module.ts';
import type { Observer } from '../observe/observer.ts';
import { type Control, doneUnits } from '../workers/control.ts';
import type { Globals } from '../workers/instance.ts';
import type { Residents } from '../workers/residents.ts';
import { unitsOf, type Work } from '../workers/share.ts';
import { type Allocated, allocate, type Inputs, type LaunchEnvironment } from './allocate.ts';
import { type ChildWork, isLaunching, launchesIn } from './children.ts';
import { type KnownLaunch, launchFacts } from './launch-facts.ts';
import type { CompiledKernel, LoadedKernel } from './library.ts';
import { globalsOf, type OwnArea, ownAreaOf, ownWords, type ResidentAreas } from './memory-layout.ts';
import { chosenCode } from './native-twin.ts';
import { canObserve, instrumentsOf, isBeyondFastChecks, startFastObserver, startObservers } from './observers.ts';
import { reportEnding } from './report-ending.ts';
import { type Scope, withScope } from './scope.ts';

export type { LaunchEnvironment } from './allocate.ts';

/** A launch that is ready to run. */
export interface PreparedLaunch {
  readonly memory: DeviceMemory;
  readonly wasm: KernelCode;
  readonly request: LaunchRequest;
  readonly work: Work;
  /** What is known of the launch beforehand: the same object for one with the same shape and arguments, where that is remembered. */
  readonly facts?: KnownLaunch | undefined;
  readonly observers: readonly Observer[];
  /**
   * For a launch with fast checks: restores the memory that it has written, and prepares the launch with the precise sanitizer.
   * Returns undefined after reporting CM60xx.
   */
  readonly fallBack: ((diagnostics: Diagnostics) => PreparedLaunch | undefined) | undefined;
  /** Other codes for the same blocks, which may be faster, with memory of their own, in the order in which they are tried. */
  readonly rivals: readonly Rival[];
  /** The globals of the instance that runs a share, by its number from 0 on; undefined if there is no memory for one more. */
  globals(slot: number): Globals | undefined;
  /** Whether a thread has stopped the kernel, which it reports. */
  hasStopped(diagnostics: Diagnostics): boolean;
  /** Reports printed lines, findings and faults; returns the result of the launch. */
  finish(control: Control, durationMs: number, diagnostics: Diagnostics): FinishedGrid | undefined;
  /** Releases the memory of the launch. */
  release(): void;
}

/** The result of one grid, and what it launched. */
export interface FinishedGrid extends LaunchResult {
  readonly launched: readonly ChildWork[];
}

/** Code that may run a launch in place of the usual one. */
export interface Rival {
  /** Native code is as fast at once as it will be; it takes some milliseconds to compile. Scalar code may be much slower than what runs. */
  readonly kind: 'native' | 'scalar';
  /** Milliseconds that it is expected to take to compile, infinite without any; known better after the call of `refine`, which takes some of them. */
  readonly expectedMs: number;
  refine?(): void;
  /** The launch with that code; undefined without memory for it. */
  prepare(): PreparedLaunch | undefined;
  /** Records which code later launches have. */
  settle(isFaster: boolean): void;
}

/** A launch that is ready, or the result of one that has nothing to run: undefined if it was refused. */
export type Preparation = { readonly launch: PreparedLaunch } | { readonly result: FinishedGrid | undefined };

/** Whether a request asks for observers. */
const isObserved = ({ sanitize, schedule, trace, profile }: LaunchRequest): boolean =>
  sanitize !== undefined || schedule !== undefined || trace !== undefined || profile !== undefined;

/** Prepares a launch. Refuses it after reporting CM50xx or CM60xx. */
export function prepareLaunch(
  memory: DeviceMemory,
  environment: LaunchEnvironment,
  kernel: LoadedKernel,
  given: LaunchRequest,
  diagnostics: Diagnostics,
): Preparation {
  const validator = validatorOf(environment.info, (buffer) => bufferIn(memory, buffer));
  // Whoever binds addresses dispatches blocks of the device.
  const reflection = environment.bound ? { ...kernel.reflection, cluster: undefined } : kernel.reflection;
  const isValid = validateLaunch(validator, reflection, given, diagnostics) && (!isObserved(given) || canObserve(given, diagnostics));
  if (!isValid) return { result: undefined };
  if (product(given.grid) === 0 || product(given.block) === 0) return { result: { durationMs: 0, launched: [] } };
  const request = environment.bound ? given : dispatchOf(kernel.reflection, given);
  const withStack = kernel.withStack(request.stackBytes ?? defaultStackBytes) ?? kernel;
  const inputs = { memory, environment, kernel: withStack, request };
  const launch = prepareFast(inputs) ?? prepareExact(inputs, diagnostics);
  return launch ? { launch } : { result: undefined };
}

/** A launch with fast checks. Undefined if the request needs other observers, if the kernel cannot have them, or without memory for them. */
function prepareFast(inputs: Inputs): PreparedLaunch | undefined {
  const { environment, kernel, request } = inputs;
  const { sanitize, schedule, trace, profile, block } = request;
  const { isPrecise, allocations, bound } = environment;
  if (!sanitize || schedule || trace || profile || isPrecise || !allocations || bound) return undefined;
  if (isBeyondFastChecks(request) || kernel.params.some(({ service }) => service === 'cluster' || service === 'grid')) return undefined;
  const compiled = kernel.checked(sanitize.kinds, block);
  const { wasm, checks } = compiled ?? {};
  if (!compiled || !wasm || !checks) return undefined;
  return withScope((scope) => {
    const allocated = allocate(inputs, compiled, scope);
    if (typeof allocated === 'number') return undefined;
    const fast = startFastObserver({ ...allocated, request: { ...request, sanitize } }, checks);
    if (!fast) return undefined;
    scope.defer((isWell) => fast.end(isWell));
    return preparedLaunch(inputs, { ...allocated, wasm, scope, observers: [fast] }, (diagnostics) => {
      fast.restore();
      return prepareExact(inputs, diagnostics);
    });
  });
}

/** A launch without fast checks: plain, or with the observers that the request asks for. Undefined after reporting CM6012 or CM6013. */
function prepareExact(inputs: Inputs, diagnostics: Diagnostics): PreparedLaunch | undefined {
  const { memory, environment, kernel, request } = inputs;
  const instruments = isObserved(request) ? instrumentsOf(request) : undefined;
  const facts = instruments ? undefined : launchFacts({ memory, bound: environment.bound }, kernel, request);
  const usual = instruments ? kernel.instrumented(instruments) : kernel.compiled(request.block, facts);
  const compiled = chosenCode(usual, environment.native ?? 'never');
  const { wasm, excess = '' } = compiled;
  if (!wasm) {
    diagnostics.report('CM6013', { kernel: request.kernel, what: excess });
    return undefined;
  }
  return withScope((scope) => {
    const allocated = allocate(inputs, compiled, scope);
    if (typeof allocated === 'number') {
      diagnostics.report('CM6012', { bytes: allocated, what: `a launch of \`${request.kernel}\`` });
      return undefined;
    }
    const hasAllocations = environment.allocations !== undefined;
    const observers = isObserved(request) ? startObservers(allocated, hasAllocations, scope, diagnostics) : [];
    if (!observers) return undefined;
    // A launch without a sanitizer may write any memory.
    if (!request.sanitize) environment.allocations?.writeAll();
    const rivals = observers.length === 0 && canSwitch(kernel, compiled) ? rivalsOf(inputs, usual, compiled, facts) : [];
    const { twin } = usual;
    const note = twin && ((ms: number, units: number): void => twin.note(compiled !== usual, ms, units));
    return preparedLaunch(inputs, { ...allocated, wasm, scope, observers, rivals, facts, note }, undefined);
  });
}

/**
 * Whether other code may run some blocks of a launch. What a kernel launches or prints, and where its blocks meet, is in the memory that one
 * code has for a launch.
 */
const canSwitch = (kernel: LoadedKernel, { parts }: CompiledKernel): boolean =>
  !parts && !kernel.reflection.printf && !isLaunching(kernel) && !kernel.reflection.services?.some(({ service }) => together.has(service));

const together = new Set<string>(['alone', 'cluster', 'grid']);

/** The rivals of a plain launch: the native code of what runs, and scalar code for vectorized code. */
function rivalsOf(inputs: Inputs, usual: CompiledKernel, running: CompiledKernel, facts: KnownLaunch | undefined): Rival[] {
  const { kernel, request, environment } = inputs;
  const { twin } = usual;
  const rivals: Rival[] = [];
  const isNative = running !== usual;
  if (twin && environment.native === 'auto' && !isNative)
    rivals.push({
      kind: 'native',
      get expectedMs() {
        return twin.expectedMs;
      },
      refine: () => twin.prepare(),
      // One launch on a machine that does other work says little: later ones run it, and are compared.
      settle: (isFaster) => twin.noteTrial(isFaster),
      prepare: () => preparedRival(inputs, twin.code()),
    });
  const compile = running.lanes > 1 ? kernel.rival(request.block, facts) : undefined;
  if (compile)
    rivals.push({
      kind: 'scalar',
      expectedMs: 0,
      settle: (isFaster) => kernel.settle(request.block, isFaster),
      // Native code is compared with native code.
      prepare() {
        const scalar = compile();
        const areNative = environment.native !== 'never' && twin?.isDue();
        return preparedRival(inputs, (areNative ? scalar.twin?.code() : undefined) ?? scalar);
      },
    });
  return rivals;
}

/** A launch with other code; undefined without code or memory for it. */
function preparedRival(inputs: Inputs, compiled: CompiledKernel | undefined): PreparedLaunch | undefined {
  const { wasm } = compiled ?? {};
  if (!compiled || !wasm) return undefined;
  return withScope((scope) => {
    const allocated = allocate(inputs, compiled, scope);
    return typeof allocated === 'number' ? undefined : preparedLaunch(inputs, { ...allocated, wasm, scope, observers: [] }, undefined);
  });
}

interface Resources extends Allocated {
  readonly wasm: KernelCode;
  readonly scope: Scope;
  readonly observers: readonly Observer[];
  readonly rivals?: readonly Rival[];
  readonly facts?: KnownLaunch | undefined;
  /** Records how long the code took for all of its units. */
  readonly note?: ((ms: number, units: number) => void) | undefined;
}

function preparedLaunch(
  { environment }: Inputs,
  {
    memory,
    kernel,
    compiled,
    request,
    area,
    resident,
    clusters,
    locks,
    heap,
    launches,
    wasm,
    scope,
    observers,
    rivals = [],
    facts,
    note,
  }: Resources,
  fallBack: PreparedLaunch['fallBack'],
): PreparedLaunch {
  const { ownMemory, bound, threads = 1, isInBackground = false } = environment;
  const { reflection } = kernel;
  const addresses = { start: area.start, ownMemory, locks, heap: heap.address, launches: launches.address, clusters, bound };
  const globalsIn = (start: number, ownArea: OwnArea): Globals =>
    globalsOf({ ...addresses, own: { start, area: ownArea } }, area, compiled, kernel, request);
  const isAlone = reflection.services?.some(({ service }) => service === 'alone') === true;
  const shares = memory.isShared && observers.length === 0 && !reflection.printf && !isAlone ? threads : 1;
  const residents =
    resident &&
    residentsOf(
      {
        ...resident,
        first: globalsIn(resident.start, resident.area),
        ended: clusters && clusters + endedAt(resident.count / product(resident.cluster)),
        isInBackground,
      },
      memory,
      compiled,
      kernel,
    );
  const work = { ...workOf(request, shares), residents };
  const view = (offset: number, bytes: number): Uint8Array => memory.view(area.start + offset, bytes);
  const hasStopped = (diagnostics: Diagnostics): boolean =>
    reflection.faults !== undefined && reportStop(view(area.faults, 4), reflection, diagnostics);
  let isWell = false;
  return {
    memory,
    wasm,
    request,
    work,
    observers,
    fallBack,
    rivals,
    facts,
    globals(slot) {
      if (residents) return residents.first;
      const ownArea = slot === 0 ? area : ownAreaOf(compiled, request);
      const start = slot === 0 ? area.start : memory.take(ownArea.bytes);
      if (start === undefined) return undefined;
      if (slot > 0) scope.defer(() => memory.give(start));
      return globalsIn(start, ownArea);
    },
    hasStopped,
    finish(control, durationMs, diagnostics) {
      if (note && doneUnits(control) >= unitsOf(work)) note(durationMs, unitsOf(work));
      isWell = reportEnding(control, { work, request, lanes: compiled.lanes }, diagnostics);
      for (const observer of observers) observer.finish?.(diagnostics);
      if (reflection.printf) reportPrinted(view(area.printed, area.printedBytes), reflection, request, diagnostics);
      // A thread that has stopped may be why others wait.
      const isStopped = hasStopped(diagnostics);
      if (!isWell || isStopped) return undefined;
      return { durationMs, launched: launches.address > 0 ? launchesIn(memory, launches.address, environment.kernels?.() ?? []) : [] };
    },
    release: () => scope.release(isWell),
  };
}

/** The areas of blocks that run by turns, as shares know them. */
function residentsOf(
  {
    area,
    count,
    cluster,
    first,
    ended,
    isInBackground,
  }: ResidentAreas & { readonly first: Globals; readonly ended: number; readonly isInBackground: boolean },
  { isShared }: DeviceMemory,
  { parts }: CompiledKernel,
  { params }: LoadedKernel,
): Residents {
  return {
    areas: count,
    cluster,
    ended,
    bytes: area.bytes,
    words: ownWords,
    params: params.flatMap(({ kind }, i) => (kind === 'threadgroup' ? [i] : [])),
    first,
    inUse: new Int32Array(isShared ? new SharedArrayBuffer(4 * count) : new ArrayBuffer(4 * count)),
    canWaitForever: !parts!.hasClock && !isInBackground,
  };
}

/** The blocks of a launch, for at most as many shares as there are blocks. */
const workOf = ({ grid, timeoutMs }: LaunchRequest, threads: number): Work => ({
  grid,
  sharers: Math.max(1, Math.min(threads, product(grid))),
  timeoutMs,
});
