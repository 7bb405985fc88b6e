/**
 * Launches that run while the caller goes on. Workers alone run their blocks, and are dealt out so that each launch has one before
 * any has two. Where all are at work and do not come to the end of a block soon, there may be a few more of them than cores: a launch
 * may wait for what another does.
 */
import type { Diagnostics } from '../../../base/diagnostic.ts';
import type { LaunchRequest, LaunchResult, PendingLaunch } from '../../device.ts';
import type { DeviceMemory } from '../memory.ts';
import {
  ask,
  askToLeave,
  type Control,
  claimed,
  doneUnits,
  duration,
  elapsed,
  endingOf,
  endings,
  isOver,
  lastUnit,
  newControl,
  noteWhy,
  now,
  revoke,
  stopAll,
  stops,
  whyStop,
} from '../workers/control.ts';
import type { Globals } from '../workers/instance.ts';
import { dropHand, giveTask, type Hand, hasHands, idleHands, onAnswer } from '../workers/pool.ts';
import { blocksOf, unitOf, unitsOf } from '../workers/share.ts';
import { graceMs, progressMs, runHere } from './launch-blocking.ts';
import type { LoadedKernel } from './library.ts';
import { type Prepared, prepare, type Surroundings } from './prepare.ts';

/** One who takes part, or took part and left. */
interface Slot {
  readonly number: number;
  readonly globals: Globals;
}

interface Pending {
  readonly prepared: Prepared;
  readonly diagnostics: Diagnostics;
  readonly control: Control;
  readonly threads: number;
  /** Who is at it. */
  readonly active: Map<Slot, Hand>;
  /** Of these, those that were asked to leave the rest to others. */
  readonly leaving: Set<Slot>;
  /** Slots that were in use, and are free again. */
  readonly free: Slot[];
  usedSlots: number;
  /** Since when it has no worker, was to stop, and when was told how far it is; of the same clock. */
  waitsSince: number;
  stoppedAt: number;
  toldAt: number;
  readonly resolve: (result: LaunchResult | undefined) => void;
}

const pendings = new Set<Pending>();
/** Those that wait for the calling thread. */
const laters = new Set<Pick<Pending, 'prepared' | 'control'>>();
let timer: ReturnType<typeof setInterval> | undefined;
let isListening = false;

/** Slots of a launch: some are used up by workers that were asked, and taken back. */
const slotsFor = (threads: number): number => 4 * threads + 8;

/** Starts a kernel. Where there are no workers for it, it runs when the caller has nothing else to do. */
export function startKernel(
  memory: DeviceMemory,
  surroundings: Surroundings,
  kernel: LoadedKernel,
  request: LaunchRequest,
  diagnostics: Diagnostics,
): PendingLaunch {
  const prepared = prepare(memory, surroundings, kernel, request, diagnostics);
  if (!prepared || 'durationMs' in prepared) return overAtOnce(prepared);
  const isForWorkers = memory.isShared && !prepared.watch && !prepared.quick && prepared.observers.length === 0 && hasHands();
  return isForWorkers ? startOnWorkers(prepared, surroundings, diagnostics) : startLater(prepared, diagnostics);
}

/** A launch that there is nothing to run of. */
export const overAtOnce = (result: LaunchResult | undefined): PendingLaunch => ({
  done: Promise.resolve(result),
  cancel: () => {},
  progress: () => ({ done: 0, total: 0 }),
});

function progressOf({ work }: Prepared, control: Control): { done: number; total: number } {
  const total = blocksOf(work);
  return { done: Math.min(total, doneUnits(control) * unitOf(work)), total };
}

/** Runs on the calling thread, later. */
function startLater(prepared: Prepared, diagnostics: Diagnostics): PendingLaunch {
  const control = newControl(prepared.work.sharers, prepared.memory.isShared);
  const later = { prepared, control };
  laters.add(later);
  const done = new Promise<LaunchResult | undefined>((resolve) => {
    setTimeout(() => {
      laters.delete(later);
      resolve(orWhyNot(prepared, diagnostics, () => runHere(prepared, diagnostics, control)));
    }, 0);
  });
  return { done, cancel: () => stopAll(control, stops.cancelled), progress: () => progressOf(prepared, control) };
}

function startOnWorkers(prepared: Prepared, { threads = 1 }: Surroundings, diagnostics: Diagnostics): PendingLaunch {
  const control = newControl(slotsFor(threads), true);
  const done = new Promise<LaunchResult | undefined>((resolve) => {
    const [stoppedAt, toldAt, waitsSince] = [0, performance.now(), performance.now()];
    const lists = { active: new Map<Slot, Hand>(), leaving: new Set<Slot>(), free: [] };
    pendings.add({ prepared, diagnostics, control, threads, ...lists, usedSlots: 0, stoppedAt, toldAt, waitsSince, resolve });
  });
  if (!isListening) onAnswer(turn);
  isListening = true;
  // A timer that runs keeps the program alive, which idle workers do not.
  timer ??= setInterval(turn, progressMs / 2);
  turn();
  return {
    done,
    cancel() {
      stopAll(control, stops.cancelled);
      turn();
    },
    progress: () => progressOf(prepared, control),
  };
}

/** Stops all launches on a memory that are under way. */
export function cancelAll(memory: DeviceMemory): void {
  for (const { prepared, control } of [...pendings, ...laters]) if (prepared.memory === memory) stopAll(control, stops.cancelled);
  turn();
}

/** Whether there is nothing left to be taken. */
function isDealt({ control, prepared: { work } }: Pending): boolean {
  const next = claimed(control);
  return whyStop(control) !== stops.no || next >= unitsOf(work) || next > lastUnit(control);
}

/** Looks after all launches: ends those that are over, and deals out workers that are free. */
function turn(): void {
  for (const pending of pendings) {
    collect(pending);
    tellProgress(pending);
    watchTime(pending);
    if (pending.active.size === 0 && isDealt(pending)) settle(pending, true);
  }
  deal();
  if (pendings.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

function settle(pending: Pending, mayGive: boolean): void {
  // What is told may call back.
  if (!pendings.delete(pending)) return;
  const { prepared, control, diagnostics, resolve } = pending;
  const result = orWhyNot(prepared, diagnostics, () => prepared.tell(control, duration(control), diagnostics));
  if (mayGive) prepared.giveBack();
  resolve(result);
}

/** What throws, of ours or of who is told of the launch, would reach nobody: it is reported. */
function orWhyNot(
  { request: { kernel } }: Prepared,
  diagnostics: Diagnostics,
  act: () => LaunchResult | undefined,
): LaunchResult | undefined {
  try {
    return act();
  } catch (error) {
    diagnostics.report('CM6017', { kernel, why: String(error) });
    return undefined;
  }
}

/** Takes note of shares that have ended. */
function collect(pending: Pending): void {
  const { active, leaving, free, control } = pending;
  const isStopped = whyStop(control) !== stops.no;
  for (const [slot, hand] of active) {
    if (isStopped) revoke(control, slot.number);
    if (!isOver(control, slot.number)) continue;
    active.delete(slot);
    // The slot may be another worker's next.
    if (hand.job?.control === control) hand.job = undefined;
    // Its number is used again only if nobody may still take what was asked for.
    if (leaving.delete(slot) && endingOf(control, slot.number) === endings.ended) free.push(slot);
    if (active.size === 0) pending.waitsSince = performance.now();
  }
}

function tellProgress(pending: Pending): void {
  const { prepared, control } = pending;
  const { progress } = prepared.request;
  if (!progress || performance.now() - pending.toldAt < progressMs) return;
  pending.toldAt = performance.now();
  const { done, total } = progressOf(prepared, control);
  try {
    progress(done, total);
  } catch (error) {
    noteWhy(control, String(error));
    stopAll(control, stops.broken);
  }
}

/** Stops what has run for too long, and gives workers up that do not stop. */
function watchTime(pending: Pending): void {
  const { control, prepared, active } = pending;
  const { timeoutMs } = prepared.work;
  if (timeoutMs > 0 && elapsed(control, now()) > timeoutMs) stopAll(control, stops.timeUp);
  if (whyStop(control) === stops.no) return;
  if (pending.stoppedAt === 0) pending.stoppedAt = performance.now();
  if (performance.now() - pending.stoppedAt < graceMs || active.size === 0) return;
  const lost = [...active.values()];
  active.clear();
  settle(pending, false);
  let left = lost.length;
  for (const hand of lost)
    dropHand(hand, () => {
      if (--left === 0) prepared.giveBack();
    });
}

/** Gives a worker to every launch that has none, and then those that are left to whoever has fewest. */
function deal(): void {
  for (;;) {
    const wanting = [...pendings].filter((pending) => !isDealt(pending) && pending.active.size < pending.prepared.work.sharers);
    const [poorest] = wanting.sort((a, b) => a.active.size - b.active.size);
    if (!poorest) return;
    const [hand] = idleHands(1, mostHands(poorest));
    if (!hand && !hasHands()) return runAllHere();
    if (!hand) return makeRoom(wanting.filter(({ active }) => active.size === 0).length);
    if (!give(poorest, hand)) return;
  }
}

/** Milliseconds after which a launch gets a worker that has none, and how many more of them there may be for that. */
const [patienceMs, mostMore] = [40, 8];

/** How many workers there may be, for one more of a launch. */
function mostHands({ active, waitsSince }: Pending): number {
  const most = Math.max(...[...pendings].map(({ threads }) => threads));
  const isHungry = active.size === 0 && performance.now() - waitsSince > patienceMs;
  return isHungry ? most + Math.min(mostMore, pendings.size) : most;
}

/** Workers cannot be had after all. */
function runAllHere(): void {
  for (const pending of [...pendings]) {
    if (pending.active.size > 0 || !pendings.delete(pending)) continue;
    const { prepared, diagnostics, resolve } = pending;
    setTimeout(() => resolve(orWhyNot(prepared, diagnostics, () => runHere(prepared, diagnostics))), 0);
  }
}

/** Has a worker take part; false where there is no memory or no number for one more. */
function give(pending: Pending, hand: Hand): boolean {
  const slot = pending.free.pop() ?? newSlot(pending);
  if (!slot) return false;
  const { prepared, control, active } = pending;
  const { work, wasm, memory } = prepared;
  ask(control, slot.number);
  active.set(slot, hand);
  giveTask(hand, { work, control, slot: slot.number, globals: slot.globals, memory: memory.memory, wasm });
  return true;
}

function newSlot(pending: Pending): Slot | undefined {
  const number = pending.usedSlots;
  const globals = number < pending.control.slots ? pending.prepared.globals(number) : undefined;
  if (globals) pending.usedSlots++;
  return globals && { number, globals };
}

/** Asks as many workers as launches have none to leave those that have several. */
function makeRoom(count: number): void {
  const leaving = [...pendings].reduce((sum, pending) => sum + pending.leaving.size, 0);
  for (let i = leaving; i < count; i++) {
    const staying = ({ active, leaving: away }: Pending): number => active.size - away.size;
    const [richest] = [...pendings].filter((pending) => staying(pending) > 1).sort((a, b) => staying(b) - staying(a));
    if (!richest) return;
    const slot = [...richest.active.keys()].filter((each) => !richest.leaving.has(each)).at(-1)!;
    richest.leaving.add(slot);
    askToLeave(richest.control, slot.number);
  }
}
