/** A launch made ready to run, by whoever takes a share of it; and what is told of it when all have ended. */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import { product } from '../../../base/dim3.ts';
import { handPrinted, reportStop } from '../../completion.ts';
import type { DeviceInfo, LaunchRequest, LaunchResult } from '../../device.ts';
import { validateLaunch, validatorOf } from '../../validate-launch.ts';
import { bufferIn } from '../buffer.ts';
import type { DeviceMemory } from '../memory.ts';
import { type Allocations, newAllocations } from '../observe/allocations.ts';
import type { Observer } from '../observe/observer.ts';
import { type Quick, startQuick } from '../sanitizer/fast/launch.ts';
import { startWatch, type Watch } from '../sanitizer/precise/launch.ts';
import { type Control, claimed, doneUnits, endingOf, endings, type Place, placeOf, stops, whyBroken, whyStop } from '../workers/control.ts';
import type { Globals } from '../workers/instance.ts';
import { blocksOf, unitOf, unitsOf, type Work } from '../workers/share.ts';
import type { LoadedKernel } from './library.ts';
import { areaOf, fillArea, globalsOf, ownAreaOf } from './memory-layout.ts';
import { canWatch, instrumentsOf, startObservers } from './observers.ts';

export interface Surroundings {
  readonly info: DeviceInfo;
  /** Address of the module's own memory. */
  readonly ownMemory: number;
  /** Threads that may take part; 1 where nothing is said. */
  readonly threads?: number;
  /** What the device has given out, for launches that are watched. */
  readonly allocations?: Allocations;
  /** What the kernel sees of a slot, for a caller that has bound all of them itself. */
  readonly bound?: (slot: number) => bigint;
  /** Whether a launch that is watched goes lane by lane from the start. */
  readonly isExact?: boolean;
}

/** A launch that has all it needs. */
export interface Prepared {
  readonly memory: DeviceMemory;
  readonly wasm: WebAssembly.Module;
  readonly request: LaunchRequest;
  readonly work: Work;
  /** Of a launch in which faults are looked for. */
  readonly watch: Watch | undefined;
  /** Of one that is looked at quickly first. */
  readonly quick: QuickLook | undefined;
  /** What else goes along with it. */
  readonly observers: readonly Observer[];
  /** Whether only one may run blocks, for what they do is in their order. */
  readonly isOrdered: boolean;
  /** For who runs blocks, by a number from 0 on; nothing where there is no memory for one more. */
  globals(slot: number): Globals | undefined;
  /** Says what the kernel left and why it stopped; what the launch gave. */
  tell(control: Control, durationMs: number, diagnostics: Diagnostics): LaunchResult | undefined;
  /** Gives its memory back. */
  giveBack(): void;
}

/** A launch in strips that give up where something may be wrong. */
export interface QuickLook extends Pick<Quick, 'imports' | 'begin' | 'tick'> {
  /** Leaves memory as it was, and makes the launch ready to be watched lane by lane; nothing after reporting CM6012. */
  giveUp(diagnostics: Diagnostics): Prepared | undefined;
}

/** Makes a launch ready; a result where there is nothing to run, nothing after reporting CM50xx or CM60xx. */
export function prepare(
  memory: DeviceMemory,
  surroundings: Surroundings,
  given: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): Prepared | LaunchResult | undefined {
  const { info, ownMemory, bound, allocations, threads = 1 } = surroundings;
  const validator = validatorOf(info, (buffer) => bufferIn(memory, buffer));
  if (!validateLaunch(validator, given.reflection, request, diagnostics)) return undefined;
  if (!canWatch(request, diagnostics)) return undefined;
  if (product(request.grid) === 0 || product(request.block) === 0) return { durationMs: 0 };
  const guarded = surroundings.isExact || !allocations || bound ? undefined : guardedKernel(given, request);
  const kernel = guarded ?? instrumentedKernel(given, request);
  const compiled = kernel.compiled(request.block);
  const { wasm } = compiled;
  if (!wasm) {
    diagnostics.report('CM6013', { kernel: request.kernel, what: compiled.excess ?? '' });
    return undefined;
  }
  const area = areaOf(compiled, kernel, request);
  const start = memory.take(area.bytes);
  if (start === undefined) {
    diagnostics.report('CM6012', { bytes: area.bytes, what: `a launch of \`${request.kernel}\`` });
    return undefined;
  }
  fillArea(memory, start, area, kernel, request);
  if (compiled.pool)
    memory.view(start + area.constant + compiled.windows.constant - compiled.pool.length, compiled.pool.length).set(compiled.pool);
  const { sanitize } = request;
  const observed = {
    memory,
    allocations: allocations ?? newAllocations(memory),
    kernel,
    compiled,
    request,
    area: { ...area, start },
    own: { address: ownMemory, bytes: kernel.params.find((param) => param.memory)?.memory?.size ?? 0 },
  };
  const quick = guarded && sanitize && startQuick({ ...observed, request: { ...request, sanitize } }, compiled.guards!);
  const exactly = (to: Diagnostics) => prepare(memory, { ...surroundings, isExact: true }, given, request, to);
  if (guarded && !quick) {
    memory.give(start);
    return exactly(diagnostics);
  }
  const observers = startObservers(observed, diagnostics);
  const watched = !quick && observers && sanitize && allocations ? { ...observed, request: { ...request, sanitize } } : undefined;
  const watch = watched && startWatch(watched, diagnostics);
  if (!observers || (watched && !watch)) {
    for (const observer of observers ?? []) observer.end(false);
    memory.give(start);
    return undefined;
  }
  if (!watched && !quick) allocations?.writeAll();
  const taken = [start];
  const going = [...observers];
  let isWell = false;
  const isOrdered =
    watch !== undefined || quick !== undefined || observers.length > 0 || kernel.reflection.printf !== undefined || !memory.isShared;
  const work: Work = {
    grid: request.grid,
    sharers: isOrdered ? 1 : Math.max(1, Math.min(threads, product(request.grid))),
    timeoutMs: request.timeoutMs,
  };
  const giveBack = (): void => {
    for (const observer of going.splice(0)) observer.end(isWell);
    if (taken.length > 0) quick?.giveBack();
    for (const address of taken.splice(0)) memory.give(address);
  };
  return {
    memory,
    wasm,
    request,
    work,
    watch,
    quick: quick && {
      imports: quick.imports,
      begin: quick.begin,
      tick: quick.tick,
      giveUp(to) {
        quick.restore();
        return exactly(to) as Prepared | undefined;
      },
    },
    observers,
    isOrdered,
    globals(slot) {
      const ownArea = slot === 0 ? area : ownAreaOf(compiled, request);
      const at = slot === 0 ? start : memory.take(ownArea.bytes);
      if (at === undefined) return undefined;
      if (slot > 0) taken.push(at);
      return globalsOf({ start, own: { start: at, area: ownArea }, ownMemory, bound }, area, kernel, request);
    },
    tell(control, durationMs, to) {
      const hasEnded = tellEnding(control, work, { request, lanes: compiled.lanes }, to);
      watch?.end(to);
      quick?.end();
      isWell = hasEnded;
      handPrinted(memory.view(start + area.printed, area.printedBytes), kernel.reflection, request, to);
      const hasStopped = hasEnded && reportStop(memory.view(start + area.faults, 4), kernel.reflection, to);
      return hasEnded && !hasStopped ? { durationMs } : undefined;
    },
    giveBack,
  };
}

/** The kernel in strips that look for faults; nothing where a launch wants none, or more than that, or where it cannot be. */
function guardedKernel(kernel: LoadedKernel, { sanitize, schedule, trace, profile, block }: LaunchRequest): LoadedKernel | undefined {
  if (!sanitize || schedule || trace || profile) return undefined;
  const compiled = kernel.guarded(sanitize.kinds, block);
  return compiled && (Object.create(kernel, { compiled: { value: () => compiled } }) as LoadedKernel);
}

/** The kernel compiled with the instruments that a launch asks for. */
function instrumentedKernel(kernel: LoadedKernel, request: LaunchRequest): LoadedKernel {
  const instruments = instrumentsOf(request);
  if (!instruments) return kernel;
  const compiled = kernel.instrumented(instruments);
  return Object.create(kernel, { compiled: { value: () => compiled } }) as LoadedKernel;
}

interface About {
  readonly request: LaunchRequest;
  /** Threads that go on together. */
  readonly lanes: number;
}

/** Whether all blocks have ended; reports CM6010, CM6011, CM6016, CM6017 or CM6019 where not. */
function tellEnding(control: Control, work: Work, about: About, diagnostics: Diagnostics): boolean {
  const { request, lanes } = about;
  const { kernel } = request;
  const first = (...wanted: number[]): (Place & { readonly ending: number }) | undefined => {
    const slots = Array.from({ length: control.slots }, (_, slot) => ({ ending: endingOf(control, slot), ...placeOf(control, slot) }));
    return slots.filter(({ ending }) => wanted.includes(ending)).sort((a, b) => a.first - b.first)[0];
  };
  const fault = first(endings.fault, endings.misaligned);
  if (fault) {
    // Threads of a strip access memory together.
    const last = Math.min(fault.thread + lanes, product(request.block)) - 1 - fault.thread;
    const others = last > 0 ? ` or one of the ${last} behind it` : '';
    diagnostics.report(fault.ending === endings.fault ? 'CM6011' : 'CM6019', { ...wordsOf(fault, request), others });
    return false;
  }
  const why = whyStop(control);
  const done = doneUnits(control);
  if (done >= unitsOf(work)) return true;
  if (why === stops.timeUp) {
    const place = first(endings.stopped) ?? nextPlace(control, work);
    diagnostics.report('CM6010', { ...wordsOf(place, request), seconds: request.timeoutMs / 1000 });
  } else if (why === stops.cancelled) {
    const total = blocksOf(work);
    diagnostics.report('CM6016', { kernel, done: Math.min(total, done * unitOf(work)), total });
  } else if (why === stops.broken) diagnostics.report('CM6017', { kernel, why: whyBroken(control) });
  // Else the watch has found a deadlock and says so.
  return false;
}

/** Where the next share would have begun. */
function nextPlace(control: Control, work: Work): Place {
  const [nx, ny] = work.grid;
  const block = Math.min(claimed(control) * unitOf(work), blocksOf(work) - 1);
  return { block: [block % nx, Math.floor(block / nx) % ny, Math.floor(block / (nx * ny))], thread: 0 };
}

/** A place in a launch, in the words of diagnostics. */
export function wordsOf(
  { block, thread }: Pick<Place, 'block' | 'thread'>,
  { kernel, block: [nx, ny] }: LaunchRequest,
): { kernel: string; block: string; thread: string } {
  const at = [thread % nx, Math.floor(thread / nx) % ny, Math.floor(thread / (nx * ny))];
  return { kernel, block: block.join(', '), thread: at.join(', ') };
}
