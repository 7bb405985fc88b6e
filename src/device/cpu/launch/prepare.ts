/**
 * Preparation of a launch: validation, the compiled form of the kernel, memory, observers. A launch that is sanitized is prepared
 * with fast checks where that is possible; when these find something suspicious, it is prepared again with the precise sanitizer.
 */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import { product } from '../../../base/dim3.ts';
import { defaultHeapBytes, defaultStackBytes, endedAt, lockTableBytes } from '../../../ir/index.ts';
import { type Dispatch, dispatchOf } from '../../cluster-groups.ts';
import { reportPrinted, reportStop } from '../../completion.ts';
import type { DeviceInfo, Dim3, LaunchRequest, LaunchResult } from '../../device.ts';
import { clusterOfLaunch } from '../../launch-shape.ts';
import { validateLaunch, validatorOf } from '../../validate-launch.ts';
import { bufferIn } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import { type Allocations, newAllocations } from '../observe/allocations.ts';
import type { BlockTurns, ObservedLaunch, Observer } from '../observe/observer.ts';
import type { Control } from '../workers/control.ts';
import type { Globals } from '../workers/instance.ts';
import type { Residents } from '../workers/residents.ts';
import type { Work } from '../workers/share.ts';
import { type ChildWork, isLaunching, launchesBytes, launchesIn, openLaunches } from './children.ts';
import { type Heap, heapOf } from './heap.ts';
import { type KnownLaunch, launchFacts } from './launch-facts.ts';
import type { CompiledKernel, LoadedKernel } from './library.ts';
import { useLocks } from './lock-table.ts';
import {
  type Area,
  areaOf,
  clusterBytesOf,
  fillArea,
  fillClusters,
  globalsOf,
  type OwnArea,
  ownAreaOf,
  ownWords,
  type ResidentAreas,
  residentAreas,
} from './memory-layout.ts';
import { canObserve, instrumentsOf, isBeyondFastChecks, startFastObserver, startObservers } from './observers.ts';
import { reportEnding } from './report-ending.ts';
import { type Scope, withScope } from './scope.ts';

/** The module and the device that a kernel is launched on. */
export interface LaunchEnvironment {
  readonly info: DeviceInfo;
  /** Address of the memory of the module's variables; 0 if there are none. */
  readonly ownMemory: number;
  /** All kernels of the library, for those that launch others. */
  readonly kernels?: () => readonly LoadedKernel[];
  /** Threads that may share a launch; 1 by default. */
  readonly threads?: number;
  /** The allocations of the device, for the sanitizers. */
  readonly allocations?: Allocations;
  /** The address that is bound to a slot, for a caller that has bound all of them itself. */
  readonly bound?: (slot: number) => bigint;
  /** Whether the caller goes on while the launch runs, and other launches may write what it waits for. */
  readonly isInBackground?: boolean;
  /** Whether a sanitized launch uses the precise sanitizer from the start. */
  readonly isPrecise?: boolean;
}

/** A launch that is ready to run. */
export interface PreparedLaunch {
  readonly memory: DeviceMemory;
  readonly wasm: WebAssembly.Module;
  readonly request: LaunchRequest;
  readonly work: Work;
  readonly observers: readonly Observer[];
  /**
   * For a launch with fast checks: restores the memory that it has written, and prepares the launch with the precise sanitizer.
   * Returns undefined after reporting CM60xx.
   */
  readonly fallBack: ((diagnostics: Diagnostics) => PreparedLaunch | undefined) | undefined;
  /** Other code for the same blocks, which may be faster, with memory of its own. */
  readonly rival: Rival | undefined;
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

/** Code that may run a launch in place of vectorized code. */
export interface Rival {
  /** The launch with that code; undefined without memory for it. */
  prepare(): PreparedLaunch | undefined;
  /** Records which code later launches have. */
  settle(isFaster: boolean): void;
}

/** A launch that is ready, or the result of one that has nothing to run: undefined if it was refused. */
export type Preparation = { readonly launch: PreparedLaunch } | { readonly result: FinishedGrid | undefined };

/** What a launch is prepared from. */
interface Inputs {
  readonly memory: DeviceMemory;
  readonly environment: LaunchEnvironment;
  readonly kernel: LoadedKernel;
  readonly request: Dispatch;
}

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
  const compiled = instruments ? kernel.instrumented(instruments) : kernel.compiled(request.block, facts);
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
    // What a kernel launches is noted in the memory of one launch.
    const mayChoose = observers.length === 0 && compiled.lanes > 1 && !isLaunching(kernel);
    const rival = mayChoose ? rivalOf(inputs, facts) : undefined;
    return { ...preparedLaunch(inputs, { ...allocated, wasm, scope, observers }, undefined), rival };
  });
}

/** The rival of a plain launch with vectorized code. */
function rivalOf(inputs: Inputs, facts: KnownLaunch | undefined): Rival | undefined {
  const { kernel, request } = inputs;
  const compile = kernel.rival(request.block, facts);
  if (!compile) return undefined;
  return {
    settle: (isFaster) => kernel.settle(request.block, isFaster),
    prepare() {
      const compiled = compile();
      const { wasm } = compiled;
      if (!wasm) return undefined;
      return withScope((scope) => {
        const allocated = allocate(inputs, compiled, scope);
        return typeof allocated === 'number' ? undefined : preparedLaunch(inputs, { ...allocated, wasm, scope, observers: [] }, undefined);
      });
    },
  };
}

/** A launch with its memory. */
interface Allocated extends ObservedLaunch {
  readonly kernel: LoadedKernel;
  readonly compiled: CompiledKernel;
  readonly area: Area & { readonly start: number };
  /** Where blocks are that run by turns. */
  readonly resident: (ResidentAreas & { readonly start: number }) | undefined;
  /** What the launch has for clusters; 0 for a kernel without them. */
  readonly clusters: number;
}

const noHeap: Heap = { address: 0, bytes: 0 };

/** Areas of blocks that run by turns. The sanitizer follows one cluster after the other, and a grid with barriers as if it were one. */
function areasOf(compiled: CompiledKernel, { params }: LoadedKernel, request: LaunchRequest, cluster: Dim3): ResidentAreas {
  const together = request.sanitize && params.some(({ service }) => service === 'grid') ? request.grid : cluster;
  const all = residentAreas(compiled, request, together);
  return request.sanitize ? { ...all, count: product(together) } : all;
}

const turnsOf = ({ area, cluster }: ResidentAreas, start: number, service: BlockTurns['service']): BlockTurns => ({
  ...{ cluster, area, start, bytes: area.bytes },
  service,
});

/** Allocates and fills the memory of a launch; the number of bytes if the device has no more. */
function allocate({ memory, environment, kernel, request }: Inputs, compiled: CompiledKernel, scope: Scope): Allocated | number {
  const area = areaOf(compiled, kernel, request);
  const start = memory.take(area.bytes);
  if (start === undefined) return area.bytes;
  scope.defer(() => memory.give(start));
  const needsHeap = kernel.reflection.services?.some(({ service }) => service === 'heap');
  const heap = needsHeap ? heapOf(memory, request.heapBytes ?? defaultHeapBytes) : noHeap;
  if (!heap) return request.heapBytes ?? defaultHeapBytes;
  const locks = kernel.reflection.locks ? useLocks(memory, scope) : 0;
  if (locks === undefined) return lockTableBytes;
  const launches = openLaunches(memory, scope, kernel, environment.kernels);
  if (launches === undefined) return launchesBytes;
  const cluster = clusterOfLaunch(kernel.reflection, request);
  const areas = compiled.parts && areasOf(compiled, kernel, request, cluster ?? [1, 1, 1]);
  const bytes = areas ? areas.count * areas.area.bytes : 0;
  const first = areas && memory.take(bytes);
  if (areas && first === undefined) return bytes;
  if (first !== undefined) scope.defer(() => memory.give(first));
  const hasClusters = kernel.reflection.services?.some(({ service }) => service === 'cluster') === true;
  // Observers run one block after the other, each in the area of the launch.
  const placed: ResidentAreas = areas ?? { area, count: 1, cluster: [1, 1, 1] };
  const clusterBytes = hasClusters ? clusterBytesOf(placed) : 0;
  const clusters = clusterBytes > 0 ? memory.take(clusterBytes) : 0;
  if (clusters === undefined) return clusterBytes;
  if (clusters > 0) {
    scope.defer(() => memory.give(clusters));
    fillClusters(memory.view(clusters, clusterBytes), placed, cluster !== undefined);
  }
  fillArea(memory, start, area, compiled, kernel, request);
  return {
    memory,
    allocations: environment.allocations ?? newAllocations(memory),
    kernel,
    compiled,
    request,
    area: { ...area, start },
    resident: areas && { ...areas, start: first! },
    turns: areas && turnsOf(areas, first!, { address: clusters, bytes: clusterBytes }),
    clusters,
    locks,
    heap,
    launches: { address: launches, bytes: launches > 0 ? launchesBytes : 0 },
    own: { address: environment.ownMemory, bytes: kernel.params.find((param) => param.memory)?.memory?.size ?? 0 },
  };
}

interface Resources extends Allocated {
  readonly wasm: WebAssembly.Module;
  readonly scope: Scope;
  readonly observers: readonly Observer[];
}

function preparedLaunch(
  { environment }: Inputs,
  { memory, kernel, compiled, request, area, resident, clusters, locks, heap, launches, wasm, scope, observers }: Resources,
  fallBack: PreparedLaunch['fallBack'],
): PreparedLaunch {
  const { ownMemory, bound, threads = 1, isInBackground = false } = environment;
  const { reflection } = kernel;
  const globalsIn = (start: number, ownArea: OwnArea): Globals =>
    globalsOf(
      {
        start: area.start,
        own: { start, area: ownArea },
        ownMemory,
        locks,
        heap: heap.address,
        launches: launches.address,
        clusters,
        bound,
      },
      area,
      compiled,
      kernel,
      request,
    );
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
  let isWell = false;
  return {
    memory,
    wasm,
    request,
    work,
    observers,
    fallBack,
    rival: undefined,
    globals(slot) {
      if (residents) return residents.first;
      const ownArea = slot === 0 ? area : ownAreaOf(compiled, request);
      const start = slot === 0 ? area.start : memory.take(ownArea.bytes);
      if (start === undefined) return undefined;
      if (slot > 0) scope.defer(() => memory.give(start));
      return globalsIn(start, ownArea);
    },
    hasStopped: (diagnostics) => reportStop(view(area.faults, 4), reflection, diagnostics),
    finish(control, durationMs, diagnostics) {
      isWell = reportEnding(control, { work, request, lanes: compiled.lanes }, diagnostics);
      for (const observer of observers) observer.finish?.(diagnostics);
      reportPrinted(view(area.printed, area.printedBytes), reflection, request, diagnostics);
      // A thread that has stopped may be why others wait.
      const hasStopped = this.hasStopped(diagnostics);
      if (!isWell || hasStopped) return undefined;
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
