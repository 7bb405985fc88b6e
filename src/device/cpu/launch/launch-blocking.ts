/**
 * Launches that the caller waits for. The calling thread runs blocks itself, and workers help if that is worth it. A launch that ends
 * soon or would have to start workers runs without them, and so does one on the thread of a page, which may not block.
 */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import { Stuck } from '../../../engine/codegen/host.ts';
import { type MemoryWork, runWithChildren } from '../../children.ts';
import type { LaunchRequest, LaunchResult } from '../../device.ts';
import type { DeviceMemory } from '../memory.ts';
import type { KernelCode } from '../native/module.ts';
import { BlockTimeout, Deadlock, Overwritten, TooLong } from '../observe/endings.ts';
import {
  askToLeave,
  type Control,
  claimed,
  doneUnits,
  endingOf,
  endingOfTrap,
  endings,
  isOver,
  mayWait,
  newControl,
  noteEnding,
  now,
  renewControl,
  revoke,
  stopAll,
  stops,
  waitFor,
  whyStop,
} from '../workers/control.ts';
import { currentPlace, type KernelInstance, newInstance } from '../workers/instance.ts';
import { minWorthMs, type WorkerHandle, workerPool } from '../workers/pool.ts';
import { Waiting } from '../workers/residents.ts';
import { newShare, type Share, Stopped, unitsOf } from '../workers/share.ts';
import { argumentAt, doWork } from './children.ts';
import { chooseCode, type Running } from './choose-code.ts';
import { assignShare, newProgressReporter, newStopWatch, progressMs } from './drive.ts';
import { expectedMs, isBrief, noteTime } from './launch-times.ts';
import type { LoadedKernel } from './library.ts';
import { type FinishedGrid, type LaunchEnvironment, type PreparedLaunch, prepareLaunch } from './prepare.ts';
import { describePlace } from './report-ending.ts';

/** Runs a kernel to its end, and all that it launches; undefined after reporting CM50xx or CM60xx. */
export function launchKernel(
  memory: DeviceMemory,
  environment: LaunchEnvironment,
  kernel: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const run = (which: LoadedKernel, what: LaunchRequest): FinishedGrid | undefined => {
    const preparation = prepareLaunch(memory, environment, which, what, diagnostics);
    return 'launch' in preparation ? runWithControl(preparation.launch, diagnostics) : preparation.result;
  };
  const follower = {
    run,
    argumentAt: (address: bigint) => argumentAt(memory, address),
    doWork: (work: MemoryWork) => doWork(memory, work),
  };
  return runWithChildren(follower, kernel, request);
}

/** The control words of the latest launch that had no workers, for the next one. */
let spare: Control | undefined;

/** Runs a launch with control words that an earlier one had, where they fit. */
function runWithControl(prepared: PreparedLaunch, diagnostics: Diagnostics): FinishedGrid | undefined {
  const { work, memory } = prepared;
  const isFit = spare?.slots === work.sharers && spare.words.buffer instanceof ArrayBuffer !== memory.isShared;
  const control = isFit ? spare! : newControlFor(prepared);
  // A callback of the launch may launch others.
  if (isFit) spare = undefined;
  const result = runBlocking(prepared, diagnostics, control);
  // A worker may still look at what it was asked for.
  if (control.isAsked) return result;
  renewControl(control);
  spare = control;
  return result;
}

/** Runs a prepared launch on the calling thread, and runs it again with the precise sanitizer if its fast checks fail. */
export function runBlocking(
  prepared: PreparedLaunch,
  diagnostics: Diagnostics,
  control = newControlFor(prepared),
): FinishedGrid | undefined {
  const outcome = runOnce(prepared, diagnostics, control);
  if (outcome !== 'suspicious') return outcome.result;
  const precise = prepared.fallBack?.(diagnostics);
  const second = precise && runOnce(precise, diagnostics, newControlFor(precise), control);
  return second && second !== 'suspicious' ? second.result : undefined;
}

/** The result of a run; `suspicious` if its fast checks have failed. */
type RunOutcome = 'suspicious' | { readonly result: FinishedGrid | undefined };

/** Runs a launch as it is prepared. `first` is the control of its first run, by which the second one may be cancelled. */
function runOnce(prepared: PreparedLaunch, diagnostics: Diagnostics, control: Control, first?: Control): RunOutcome {
  const { work, observers, request } = prepared;
  const reportProgress = newProgressReporter(prepared, control);
  const poll = (): void => {
    helpers.recruit();
    reportProgress();
  };
  // Codes are still compared where there are rivals.
  const isAlone = work.sharers === 1 || (prepared.rivals.length === 0 && isBrief(prepared));
  const share = newShare(isAlone ? { ...work, sharers: 1 } : work, control, 0, isAlone && !request.progress ? undefined : poll);
  const tick = (instance: KernelInstance) => (): void => {
    if (first && whyStop(first) !== stops.no) stopAll(control, whyStop(first));
    share.tick();
    if (observers.length === 0) return;
    const block = currentPlace(instance).block.join();
    for (const observer of observers) observer.tick?.(block);
  };
  const opened: Running[] = [];
  const open = (own: PreparedLaunch): Running => {
    const instance = instanceFor(own);
    instance.isBusy = true;
    instance.onTick = tick(instance);
    const running = { prepared: own, instance };
    opened.push(running);
    instance.set(own.globals(0)!);
    return running;
  };
  const state: RunningShare = { running: open(prepared), isChosen: false, open, share, control };
  const helpers = newHelpers(state, isAlone);
  let mayRelease = true;
  try {
    for (const observer of observers) observer.begin(state.running.instance.global);
    const start = performance.now();
    helpers.recruit();
    if (runShare(state, now(start), diagnostics) === 'suspicious') return 'suspicious';
    mayRelease = helpers.wait(reportProgress);
    const ms = performance.now() - start;
    if (opened.length === 1) helpers.note(ms);
    const result = state.running.prepared.finish(control, ms, diagnostics);
    const others = opened.filter((each) => each !== state.running);
    return { result: others.some((each) => each.prepared.hasStopped(diagnostics)) ? undefined : result };
  } finally {
    for (const { instance } of opened) instance.isBusy = false;
    if (whyStop(control) === stops.broken) mayRelease = helpers.wait(reportProgress);
    if (mayRelease) for (const running of opened) running.prepared.release();
  }
}

interface RunningShare {
  /** What runs now: the launch as it was prepared, or its rival. */
  running: Running;
  /** Whether that runs all blocks which are left. */
  isChosen: boolean;
  readonly open: (prepared: PreparedLaunch) => Running;
  readonly share: Share;
  readonly control: Control;
}

/** Runs the share of the calling thread, and records how it ended. Rethrows internal errors and errors of callbacks. */
function runShare(state: RunningShare, at: number, diagnostics: Diagnostics): 'suspicious' | undefined {
  const { open, share, control } = state;
  try {
    const use = (running: Running): void => {
      state.running = running;
    };
    chooseCode(state.running, share, { open, use });
    state.isChosen = true;
    share.take(state.running.instance, at);
  } catch (error) {
    const { prepared, instance } = state.running;
    const isTrap = error instanceof WebAssembly.RuntimeError;
    // A trap is a fault or a failed check.
    if (prepared.fallBack && (isTrap || error instanceof BlockTimeout)) return 'suspicious';
    const where = { ...currentPlace(instance), first: share.first };
    if (error instanceof TooLong) diagnostics.report('CM6018', describePlace(where, prepared.request));
    else if (error instanceof Overwritten) diagnostics.report('CM6034', describePlace(where, prepared.request));
    else if (error instanceof Stopped) noteEnding(control, 0, 'stopped', where);
    else if (error instanceof Stuck) noteEnding(control, 0, 'stuck', where);
    else if (error instanceof Waiting) noteEnding(control, 0, 'waiting', where);
    else if (isTrap) noteEnding(control, 0, endingOfTrap(error), where);
    else if (!(error instanceof Deadlock)) {
      stopAll(control, stops.broken);
      throw error;
    }
  }
  return undefined;
}

/** Control words for a launch that the calling thread takes part in. */
const newControlFor = ({ memory, work }: PreparedLaunch): Control => newControl(work.sharers, memory.isShared);

/** Instances without observers, which later launches use again, by memory and module. */
const instances = new WeakMap<DeviceMemory, WeakMap<KernelCode, KernelInstance>>();

function instanceFor({ memory, wasm, observers }: PreparedLaunch): KernelInstance {
  if (observers.length > 0) return newInstance(wasm, memory.memory, Object.assign({}, ...observers.map((each) => each.imports)));
  const ofMemory = instances.get(memory) ?? new WeakMap<KernelCode, KernelInstance>();
  instances.set(memory, ofMemory);
  const known = ofMemory.get(wasm);
  // A progress callback may launch the same kernel.
  if (known && !known.isBusy) return known;
  const fresh = newInstance(wasm, memory.memory);
  ofMemory.set(wasm, fresh);
  return fresh;
}

// ── workers ──

/** Milliseconds that must be left of a launch to be worth running workers, and to be worth starting some. */
const minLeftMs = { warm: minWorthMs, cold: 40 } as const;
/** Milliseconds of a launch before its time can be estimated. */
const minSpentMs = { warm: 0.05, cold: 8 } as const;

/** A worker that helps, with the code that it runs. Its slot is its number among the helpers, counted from 1. */
interface Helper {
  handle: WorkerHandle;
  prepared: PreparedLaunch;
}

interface Helpers {
  /** Assigns shares to workers once that is worth it, and again when other code runs. */
  recruit(): void;
  /** Records how long a launch took that has run one code. */
  note(ms: number): void;
  /** Waits for all workers; false if some do not stop, which keep the memory of the launch. */
  wait(poll: () => void): boolean;
}

/** The workers that help with a launch, unless the calling thread runs it alone; worker i has slot i + 1. */
function newHelpers(state: RunningShare, isAlone: boolean): Helpers {
  const { control } = state;
  const { work } = state.running.prepared;
  const start = performance.now();
  const helping: Helper[] = [];
  let isDecided = isAlone || !mayWait();
  const isHelperOver = (_: unknown, index: number): boolean => isOver(control, index + 1);
  const isHelperRunning = (_: unknown, index: number): boolean => !isHelperOver(_, index);
  const areOver = (): boolean => helping.every(isHelperOver);
  return {
    recruit() {
      const { prepared } = state.running;
      if (isDecided) return state.isChosen ? switchHelpers(helping, prepared, control) : undefined;
      if (!isKnownWorth(prepared) && !isWorthWorkers(prepared, control, performance.now() - start)) return;
      isDecided = true;
      for (const handle of workerPool.idleWorkers(work.sharers - 1, work.sharers - 1)) {
        const slot = helping.length + 1;
        const globals = prepared.globals(slot);
        if (!globals) return;
        helping.push({ handle, prepared });
        assignShare(prepared, control, handle, slot, globals);
      }
    },
    note(ms) {
      const units = unitsOf(work);
      const begun = helping.filter((_, i) => !revoke(control, i + 1)).length;
      if (doneUnits(control) >= units) noteTime(state.running.prepared.wasm, ms * (1 + begun), units, state.running.prepared.facts);
    },
    wait(poll) {
      helping.forEach((_, i) => void revoke(control, i + 1));
      const isOutOfGrace = newStopWatch(state.running.prepared, control);
      while (!areOver()) {
        waitFor(control, areOver, progressMs / 2);
        if (isOutOfGrace()) {
          const lost = helping.filter(isHelperRunning).map(({ handle }) => handle);
          // The launch keeps its memory until the last worker has ended.
          workerPool.drop(lost, () => state.running.prepared.release());
          return lost.length === 0;
        }
        poll();
      }
      const hadWorkers = helping.some((_, i) => !revoke(control, i + 1));
      if (work.sharers > 1) workerPool.noteLaunch(hadWorkers, performance.now() - start);
      return true;
    },
  };
}

/** Has helpers with other code leave the launch, and workers in their place run the code that runs now. */
function switchHelpers(helping: readonly Helper[], prepared: PreparedLaunch, control: Control): void {
  for (const [i, helper] of helping.entries()) {
    const slot = i + 1;
    if (helper.prepared === prepared || claimed(control) >= unitsOf(prepared.work)) continue;
    if (!isOver(control, slot)) {
      askToLeave(control, slot);
      continue;
    }
    const [handle] = endingOf(control, slot) === endings.ended ? workerPool.idleWorkers(1, prepared.work.sharers - 1) : [];
    const globals = handle && prepared.globals(slot);
    if (!globals) continue;
    Object.assign(helper, { handle, prepared });
    assignShare(prepared, control, handle, slot, globals);
  }
}

/** Whether launches before have shown that workers are worth it. Where codes are still compared, one thread runs the first blocks. */
function isKnownWorth({ work, wasm, rivals }: PreparedLaunch): boolean {
  const ms = rivals.length === 0 && workerPool.isWarm ? expectedMs(wasm, unitsOf(work)) : undefined;
  return ms !== undefined && ms > minLeftMs.warm;
}

/** Whether enough of a launch is left for workers, by the time that its blocks have taken so far. */
function isWorthWorkers({ work }: PreparedLaunch, control: Control, spentMs: number): boolean {
  const left = unitsOf(work) - claimed(control);
  const state = workerPool.isWarm ? 'warm' : 'cold';
  if (left <= 0 || spentMs < minSpentMs[state]) return false;
  return (spentMs / Math.max(1, doneUnits(control))) * left > minLeftMs[state];
}
