/**
 * A launch that the caller waits for. The calling thread runs blocks itself, and has workers help where that is worth it: a launch
 * that is over soon, or that would have to start them, goes without, and so does one on the thread of a page, which may not wait for them.
 */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { LaunchRequest, LaunchResult } from '../../device.ts';
import { TooLong } from '../instrument/profile/run.ts';
import type { DeviceMemory } from '../memory.ts';
import { Waiting } from '../sanitizer/fast/launch.ts';
import { Deadlock } from '../sanitizer/precise/launch.ts';
import {
  ask,
  type Control,
  claimed,
  doneUnits,
  elapsed,
  endingOfTrap,
  isOver,
  mayWait,
  newControl,
  noteEnding,
  now,
  revoke,
  stopAll,
  stops,
  waitFor,
  whyStop,
} from '../workers/control.ts';
import { type KernelInstance, newInstance, placeIn } from '../workers/instance.ts';
import { dropHand, giveTask, type Hand, idleHands, isWarm, leastMs, noteLaunch } from '../workers/pool.ts';
import { blocksOf, newShare, Stopped, unitOf, unitsOf } from '../workers/share.ts';
import type { LoadedKernel } from './library.ts';
import { type Prepared, prepare, type Surroundings, wordsOf } from './prepare.ts';

export type { Surroundings } from './prepare.ts';

/** Runs a kernel to its end; nothing after reporting CM50xx or CM60xx. */
export function launchKernel(
  memory: DeviceMemory,
  surroundings: Surroundings,
  kernel: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): LaunchResult | undefined {
  const prepared = prepare(memory, surroundings, kernel, request, diagnostics);
  return !prepared || 'durationMs' in prepared ? prepared : runHere(prepared, diagnostics);
}

/** Milliseconds between two calls of who wants to know how far a launch is. */
export const progressMs = 100;
/** Milliseconds after which a worker that was told to stop is given up. */
export const graceMs = 3000;

/** Runs a launch that is ready. */
export function runHere(prepared: Prepared, diagnostics: Diagnostics, control = controlOf(prepared)): LaunchResult | undefined {
  const result = runOnce(prepared, diagnostics, control);
  if (result !== 'given up') return result;
  const exact = prepared.quick!.giveUp(diagnostics);
  if (!exact) return undefined;
  const again = runOnce(exact, diagnostics, controlOf(exact), control);
  return again === 'given up' ? undefined : again;
}

/** Runs it as it is made ready; `before` is of a quick look that was given up, whose launch may be cancelled. */
function runOnce(prepared: Prepared, diagnostics: Diagnostics, control: Control, before?: Control): LaunchResult | undefined | 'given up' {
  const { work, watch, quick } = prepared;
  const helpers = newHelpers(prepared, control);
  const tellProgress = progressTeller(prepared, control);
  const look = (): void => {
    helpers.recruit();
    tellProgress();
  };
  const share = newShare(work, control, 0, work.sharers === 1 && !prepared.request.progress ? undefined : look);
  const instance = instanceFor(prepared);
  instance.isBusy = true;
  instance.onTick = () => {
    if (before && whyStop(before) !== stops.no) stopAll(control, whyStop(before));
    share.tick();
    watch?.tick();
    quick?.tick(placeIn(instance).block.join());
  };
  let mayGive = true;
  try {
    instance.set(prepared.globals(0)!);
    watch?.begin(instance.global);
    quick?.begin(instance.global);
    for (const observer of prepared.observers) observer.begin(instance.global);
    const start = performance.now();
    try {
      share.take(instance.run, now(start));
    } catch (error) {
      // What traps may be a fault, or look like one.
      if (quick && (error instanceof WebAssembly.RuntimeError || error instanceof Waiting)) return 'given up';
      if (error instanceof TooLong) diagnostics.report('CM6018', wordsOf(placeIn(instance), prepared.request));
      else noteError(error, control, { ...placeIn(instance), first: share.first });
    }
    mayGive = helpers.wait(tellProgress);
    return prepared.tell(control, performance.now() - start, diagnostics);
  } finally {
    instance.isBusy = false;
    if (whyStop(control) === stops.broken) mayGive = helpers.wait(tellProgress);
    if (mayGive) prepared.giveBack();
  }
}

/** Words for a launch that the calling thread takes part in. */
const controlOf = ({ memory, work }: Prepared): Control => newControl(work.sharers, memory.isShared);

function noteError(error: unknown, control: Control, where: Parameters<typeof noteEnding>[3]): void {
  if (error instanceof Stopped) return noteEnding(control, 0, 'stopped', where);
  if (error instanceof WebAssembly.RuntimeError) return noteEnding(control, 0, endingOfTrap(error), where);
  if (error instanceof Deadlock) return;
  stopAll(control, stops.broken);
  throw error;
}

/** Instances that launches take again, by memory and module. */
const instances = new WeakMap<DeviceMemory, WeakMap<WebAssembly.Module, KernelInstance>>();

function instanceFor({ memory, wasm, watch, quick, observers }: Prepared): KernelInstance {
  const imports = Object.assign({}, watch?.imports, quick?.imports, ...observers.map((each) => each.imports));
  if (watch || quick || observers.length > 0) return newInstance(wasm, memory.memory, imports);
  const ofMemory = instances.get(memory) ?? new WeakMap<WebAssembly.Module, KernelInstance>();
  instances.set(memory, ofMemory);
  const known = ofMemory.get(wasm);
  // Who is told of progress may launch the same kernel.
  if (known && !known.isBusy) return known;
  const fresh = newInstance(wasm, memory.memory);
  ofMemory.set(wasm, fresh);
  return fresh;
}

function progressTeller({ request: { progress }, work }: Prepared, control: Control): () => void {
  if (!progress) return () => {};
  const total = blocksOf(work);
  let last = performance.now();
  return () => {
    if (performance.now() - last < progressMs) return;
    last = performance.now();
    progress(Math.min(total, doneUnits(control) * unitOf(work)), total);
  };
}

// ── workers ──

/** Milliseconds that a launch has to have left for workers to pay: for some that are there, and for some that have to be started. */
const worth = { warm: leastMs, cold: 40 } as const;
/** Milliseconds before which nobody knows. */
const least = { warm: 0.05, cold: 8 } as const;

interface Helpers {
  /** Has workers take part, if that is worth it by now. */
  recruit(): void;
  /** Waits for all that take part; false where some do not come back, and keep what they hold. */
  wait(look: () => void): boolean;
}

function newHelpers(prepared: Prepared, control: Control): Helpers {
  const { work, memory, wasm } = prepared;
  const start = performance.now();
  const helping: Hand[] = [];
  let isDecided = work.sharers === 1 || !mayWait();
  const slotOf = (index: number): number => index + 1;
  const isWorth = (): boolean => {
    const left = unitsOf(work) - claimed(control);
    const spent = performance.now() - start;
    const kind = isWarm() ? 'warm' : 'cold';
    if (left <= 0 || spent < least[kind]) return false;
    const done = doneUnits(control);
    return (spent / Math.max(1, done)) * left > worth[kind];
  };
  const areOver = (): boolean => helping.every((_, i) => isOver(control, slotOf(i)));
  return {
    recruit() {
      if (isDecided || !isWorth()) return;
      isDecided = true;
      for (const hand of idleHands(work.sharers - 1, work.sharers - 1)) {
        const slot = slotOf(helping.length);
        const globals = prepared.globals(slot);
        if (!globals) return;
        ask(control, slot);
        helping.push(hand);
        giveTask(hand, { work, control, slot, globals, memory: memory.memory, wasm });
      }
    },
    wait(look) {
      helping.forEach((_, i) => void revoke(control, slotOf(i)));
      let stoppedAt = 0;
      while (!areOver()) {
        waitFor(control, areOver, progressMs / 2);
        if (work.timeoutMs > 0 && elapsed(control, now()) > work.timeoutMs) stopAll(control, stops.timeUp);
        if (whyStop(control) !== stops.no && stoppedAt === 0) stoppedAt = performance.now();
        if (stoppedAt > 0 && performance.now() - stoppedAt > graceMs) return dropAll(prepared, control, helping);
        look();
      }
      const hadWorkers = helping.some((_, i) => !revoke(control, slotOf(i)));
      if (work.sharers > 1) noteLaunch(hadWorkers, performance.now() - start);
      return true;
    },
  };
}

/** Gives up workers that do not stop; what the launch holds is given back when they have ended. */
function dropAll(prepared: Prepared, control: Control, helping: readonly Hand[]): false {
  const lost = helping.filter((_, i) => !isOver(control, i + 1));
  let left = lost.length;
  for (const hand of lost)
    dropHand(hand, () => {
      if (--left === 0) prepared.giveBack();
    });
  return false;
}
