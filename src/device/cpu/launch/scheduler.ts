/**
 * The scheduler of asynchronous launches. Workers alone run their blocks, and each launch has a worker before any has two. If all workers
 * are busy and do not reach the end of a block soon, there may be a few more workers than cores: a launch may wait for what another does.
 */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { LaunchResult, PendingLaunch } from '../../device.ts';
import type { DeviceMemory } from '../memory.ts';
import {
  askToLeave,
  type Control,
  claimed,
  doneUnits,
  duration,
  endingOf,
  endings,
  isOver,
  lastUnit,
  newControl,
  noteWhy,
  revoke,
  stopAll,
  stops,
  whyStop,
} from '../workers/control.ts';
import type { Globals } from '../workers/instance.ts';
import { type WorkerHandle, workerPool } from '../workers/pool.ts';
import { unitsOf } from '../workers/share.ts';
import { assignShare, newProgressReporter, newStopWatch, progressMs, progressOf } from './drive.ts';
import { runBlocking } from './launch-blocking.ts';
import { noteTime } from './launch-times.ts';
import type { FinishedGrid, PreparedLaunch } from './prepare.ts';

/** A share of a launch by its number, with the globals of its instance. */
interface Slot {
  readonly number: number;
  readonly globals: Globals;
}

/** A launch on workers. */
interface RunningLaunch {
  readonly prepared: PreparedLaunch;
  readonly diagnostics: Diagnostics;
  readonly control: Control;
  readonly threads: number;
  /** The workers of the launch. */
  readonly active: Map<Slot, WorkerHandle>;
  /** Shares of these that were asked to leave the launch. */
  readonly leaving: Set<Slot>;
  /** Slots of shares that have ended, for use again. */
  readonly free: Slot[];
  usedSlots: number;
  /** The time since which the launch has no worker. */
  waitsSince: number;
  readonly reportProgress: () => void;
  /** Stops an overdue launch; returns whether its workers must be terminated. */
  readonly isOutOfGrace: () => boolean;
  readonly resolve: (result: FinishedGrid | undefined) => void;
}

/** A launch that waits for the calling thread. */
type DeferredLaunch = Pick<RunningLaunch, 'prepared' | 'control'>;

/** Slots of a launch. Some are used up by shares that are revoked. */
const slotsFor = (threads: number): number => 4 * threads + 8;

/** Milliseconds after which a launch without a worker gets an additional one, and the most of these. */
const [patienceMs, maxAdditionalWorkers] = [40, 8];

/** Milliseconds of launches that the caller runs itself between two turns of its events. */
const maxRunsNowMs = 8;

/** Calls back when events have had their turn. */
const afterEvents: (call: () => void) => void =
  typeof setImmediate === 'function' ? (call) => void setImmediate(call) : (call) => void setTimeout(call, 0);

class LaunchScheduler {
  readonly #running = new Set<RunningLaunch>();
  readonly #deferred = new Set<DeferredLaunch>();
  #timer: ReturnType<typeof setInterval> | undefined;
  #isListening = false;
  /** When the caller ran the first launch itself since events had their turn. */
  #runsNowSince: number | undefined;

  /** Runs a launch on the calling thread, when the caller is idle. */
  startLater(prepared: PreparedLaunch, diagnostics: Diagnostics): PendingLaunch<FinishedGrid> {
    const control = newControl(prepared.work.sharers, prepared.memory.isShared);
    const deferred = { prepared, control };
    this.#deferred.add(deferred);
    const done = new Promise<FinishedGrid | undefined>((resolve) => {
      afterEvents(() => {
        this.#deferred.delete(deferred);
        resolve(caught(prepared, diagnostics, () => runBlocking(prepared, diagnostics, control)));
      });
    });
    return { done, cancel: () => stopAll(control, stops.cancelled), progress: () => progressOf(prepared, control) };
  }

  /** Whether the caller may run a launch now. Callers that wait for launch after launch get to their other events from time to time. */
  mayRunNow(): boolean {
    if (this.#runsNowSince === undefined) {
      this.#runsNowSince = performance.now();
      afterEvents(() => {
        this.#runsNowSince = undefined;
      });
    }
    return performance.now() - this.#runsNowSince < maxRunsNowMs;
  }

  /** Runs a launch on the calling thread before this returns. */
  runNow(prepared: PreparedLaunch, diagnostics: Diagnostics): PendingLaunch<FinishedGrid> {
    const control = newControl(prepared.work.sharers, prepared.memory.isShared);
    const result = caught(prepared, diagnostics, () => runBlocking(prepared, diagnostics, control));
    return endedLaunch(result, progressOf(prepared, control));
  }

  /** Runs a launch on workers. */
  startOnWorkers(prepared: PreparedLaunch, threads: number, diagnostics: Diagnostics): PendingLaunch<FinishedGrid> {
    const control = newControl(slotsFor(threads), true);
    const done = new Promise<FinishedGrid | undefined>((resolve) => {
      this.#running.add({
        prepared,
        diagnostics,
        control,
        threads,
        active: new Map(),
        leaving: new Set(),
        free: [],
        usedSlots: 0,
        waitsSince: performance.now(),
        reportProgress: newProgressReporter(prepared, control),
        isOutOfGrace: newStopWatch(prepared, control),
        resolve,
      });
    });
    if (!this.#isListening) workerPool.onAnswer(() => this.#update());
    this.#isListening = true;
    // A running timer keeps the program alive, which idle workers do not.
    this.#timer ??= setInterval(() => this.#update(), progressMs / 2);
    this.#update();
    return {
      done,
      cancel: () => {
        stopAll(control, stops.cancelled);
        this.#update();
      },
      progress: () => progressOf(prepared, control),
    };
  }

  /** Stops all launches on a memory. */
  cancelAll(memory: DeviceMemory): void {
    for (const { prepared, control } of [...this.#running, ...this.#deferred])
      if (prepared.memory === memory) stopAll(control, stops.cancelled);
    this.#update();
  }

  /** Ends launches that are over, and assigns idle workers. */
  #update(): void {
    for (const launch of this.#running) {
      collectShares(launch);
      reportProgress(launch);
      this.#enforceLimits(launch);
      if (launch.active.size === 0 && isExhausted(launch)) this.#finish(launch, true);
    }
    this.#assignWorkers();
    if (this.#running.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #finish(launch: RunningLaunch, mayRelease: boolean): void {
    // A callback of the launch may call back.
    if (!this.#running.delete(launch)) return;
    const { prepared, control, diagnostics, resolve } = launch;
    const ms = duration(control);
    const units = unitsOf(prepared.work);
    if (doneUnits(control) >= units) noteTime(prepared.wasm, ms * Math.max(1, launch.usedSlots), units, prepared.facts);
    const result = caught(prepared, diagnostics, () => prepared.finish(control, ms, diagnostics));
    if (mayRelease) prepared.release();
    resolve(result);
  }

  /** Stops an overdue launch, and terminates its workers if they do not stop. */
  #enforceLimits(launch: RunningLaunch): void {
    const { prepared, active } = launch;
    if (!launch.isOutOfGrace() || active.size === 0) return;
    const lost = [...active.values()];
    active.clear();
    this.#finish(launch, false);
    workerPool.drop(lost, () => prepared.release());
  }

  /** Assigns a worker to every launch that has none, then the others to launches with the fewest. */
  #assignWorkers(): void {
    for (;;) {
      const wanting = [...this.#running].filter((launch) => !isExhausted(launch) && launch.active.size < launch.prepared.work.sharers);
      const [poorest] = wanting.sort((a, b) => a.active.size - b.active.size);
      if (!poorest) return;
      const [handle] = workerPool.idleWorkers(1, this.#maxWorkers(poorest));
      if (!handle && !workerPool.isAvailable) return this.#runAllLater();
      if (!handle) return this.#makeRoom(wanting.filter(({ active }) => active.size === 0).length);
      if (!assignSlot(poorest, handle)) return;
    }
  }

  /** Most workers in all, for one more worker of a launch. */
  #maxWorkers({ active, waitsSince }: RunningLaunch): number {
    const maxThreads = Math.max(...[...this.#running].map(({ threads }) => threads));
    const isStarved = active.size === 0 && performance.now() - waitsSince > patienceMs;
    return isStarved ? maxThreads + Math.min(maxAdditionalWorkers, this.#running.size) : maxThreads;
  }

  /** Runs launches on the calling thread, because there are no workers after all. */
  #runAllLater(): void {
    for (const launch of [...this.#running]) {
      if (launch.active.size > 0 || !this.#running.delete(launch)) continue;
      const { prepared, diagnostics, resolve } = launch;
      setTimeout(() => resolve(caught(prepared, diagnostics, () => runBlocking(prepared, diagnostics))), 0);
    }
  }

  /** Asks as many shares of launches with several workers to leave as there are launches without a worker. */
  #makeRoom(count: number): void {
    const staying = ({ active, leaving }: RunningLaunch): number => active.size - leaving.size;
    const leavingCount = [...this.#running].reduce((sum, { leaving }) => sum + leaving.size, 0);
    for (let i = leavingCount; i < count; i++) {
      const [richest] = [...this.#running].filter((launch) => staying(launch) > 1).sort((a, b) => staying(b) - staying(a));
      if (!richest) return;
      const slot = [...richest.active.keys()].filter((each) => !richest.leaving.has(each)).at(-1)!;
      richest.leaving.add(slot);
      askToLeave(richest.control, slot.number);
    }
  }
}

export const launchScheduler = new LaunchScheduler();

/** A launch that has ended already, with its blocks that have. */
export const endedLaunch = <R extends LaunchResult>(result: R | undefined, blocks = { done: 0, total: 0 }): PendingLaunch<R> => ({
  done: Promise.resolve(result),
  ended: { result },
  cancel: () => {},
  progress: () => blocks,
});

/** Whether a launch has no blocks left to claim. */
function isExhausted({ control, prepared: { work } }: RunningLaunch): boolean {
  const next = claimed(control);
  return whyStop(control) !== stops.no || next >= unitsOf(work) || next > lastUnit(control);
}

/** Removes shares that have ended. */
function collectShares(launch: RunningLaunch): void {
  const { active, leaving, free, control } = launch;
  const isStopped = whyStop(control) !== stops.no;
  for (const [slot, handle] of active) {
    if (isStopped) revoke(control, slot.number);
    if (!isOver(control, slot.number)) continue;
    active.delete(slot);
    // Another worker may get the slot next.
    if (handle.share?.control === control) handle.share = undefined;
    // A slot is used again only if no worker can still begin its share.
    if (leaving.delete(slot) && endingOf(control, slot.number) === endings.ended) free.push(slot);
    if (active.size === 0) launch.waitsSince = performance.now();
  }
}

/** Reports progress; an error of the callback ends the launch. */
function reportProgress({ control, reportProgress: report }: RunningLaunch): void {
  try {
    report();
  } catch (error) {
    noteWhy(control, String(error));
    stopAll(control, stops.broken);
  }
}

/** Has a worker take part in a launch; false without memory or a slot for one more. */
function assignSlot(launch: RunningLaunch, handle: WorkerHandle): boolean {
  const slot = launch.free.pop() ?? newSlot(launch);
  if (!slot) return false;
  launch.active.set(slot, handle);
  assignShare(launch.prepared, launch.control, handle, slot.number, slot.globals);
  return true;
}

function newSlot(launch: RunningLaunch): Slot | undefined {
  const number = launch.usedSlots;
  const globals = number < launch.control.slots ? launch.prepared.globals(number) : undefined;
  if (globals) launch.usedSlots++;
  return globals && { number, globals };
}

/** Reports as CM6017 what is thrown by the launch or its callbacks: no caller would catch it. */
function caught(
  { request: { kernel } }: PreparedLaunch,
  diagnostics: Diagnostics,
  act: () => FinishedGrid | undefined,
): FinishedGrid | undefined {
  try {
    return act();
  } catch (error) {
    diagnostics.report('CM6017', { kernel, why: String(error) });
    return undefined;
  }
}
