/** The workers of this process, which all CPU devices have in common: started when a launch is worth it, idle until the next. */
import { type Control, end, isOver, noteEnding, noteWhy, revoke } from './control.ts';
import { type Handle, spawn } from './spawn.ts';
import { keptModules, type Task } from './task.ts';
import { workerText } from './worker.generated.ts';

/** A worker, and the share that it was given last. */
export interface Hand {
  readonly handle: Handle;
  /** Modules that it has. */
  readonly known: Set<number>;
  job: { readonly control: Control; readonly slot: number } | undefined;
  /** What to do when it has ended. */
  readonly farewells: (() => void)[];
}

const hands = new Set<Hand>();
const listeners = new Set<() => void>();
/** Workers that ended before they had done anything: where they cannot be, they are not started again and again. */
let failures = 0;
const mostFailures = 3;
let hasAnswered = false;
/** Milliseconds that launches took without workers which could have had them. */
let aloneMs = 0;
/** So many pay for starting some. */
const mostAloneMs = 60;

/** Whether there are workers, or there can be. */
export const hasHands = (): boolean => hands.size > 0 || failures < mostFailures;

/** Whether workers are there, or are worth starting for launches to come. */
export const isWarm = (): boolean => (hasAnswered && hands.size > 0) || aloneMs > mostAloneMs;

/** Notes how long a launch took that had no workers, or that it had some. */
export function noteLaunch(hadWorkers: boolean, ms: number): void {
  if (hadWorkers) hasAnswered = true;
  else if (!hasAnswered && ms > leastMs) aloneMs += ms;
}
/** Milliseconds of a launch that is worth a worker that is there. */
export const leastMs = 0.2;

/** Has something done whenever a share has ended. */
export const onAnswer = (act: () => void): void => void listeners.add(act);

const isIdle = ({ job }: Hand): boolean => !job || isOver(job.control, job.slot);

/** Some workers that have nothing to do, as many as are wanted if there are; they are started up to some number of all. */
export function idleHands(wanted: number, most: number): Hand[] {
  const idle = [...hands].filter(isIdle).slice(0, wanted);
  while (idle.length < wanted && hands.size < most && failures < mostFailures) {
    const hand = start();
    if (!hand) break;
    idle.push(hand);
  }
  return idle;
}

function start(): Hand | undefined {
  let isNew = true;
  const handle = spawn(workerText, {
    message() {
      isNew = false;
      hasAnswered = true;
      answer();
    },
    ended(why) {
      if (!hands.delete(hand)) return runFarewells(hand);
      if (isNew) failures++;
      abandon(hand, `a worker of the device is gone: ${why}`);
      runFarewells(hand);
    },
  });
  if (!handle) {
    failures = mostFailures;
    return undefined;
  }
  const hand: Hand = { handle, known: new Set(), job: undefined, farewells: [] };
  hands.add(hand);
  return hand;
}

function answer(): void {
  for (const act of listeners) act();
}

function runFarewells({ farewells }: Hand): void {
  for (const act of farewells.splice(0)) act();
}

/** Ends the share of a worker that will not. One that had not begun is anybody's. */
function abandon({ job }: Hand, why: string): void {
  if (!job || isOver(job.control, job.slot)) return;
  if (revoke(job.control, job.slot)) return answer();
  noteWhy(job.control, why);
  noteEnding(job.control, job.slot, 'broken', { block: [0, 0, 0], thread: 0, first: 0 });
  end(job.control, job.slot);
  answer();
}

/** Terminates a worker that does not come back, and does something when it has ended. */
export function dropHand(hand: Hand, then: () => void): void {
  hands.delete(hand);
  hand.farewells.push(then);
  abandon(hand, 'a worker of the device did not stop');
  hand.handle.terminate();
}

const numbers = new WeakMap<object, number>();
let lastNumber = 0;

/** The number of a module or a memory. */
function numberOf(what: object): number {
  const known = numbers.get(what) ?? ++lastNumber;
  numbers.set(what, known);
  return known;
}

/** As the worker does: the module used last stands last, and those that it has no room for go. */
function keep(known: Set<number>, number: number): void {
  known.delete(number);
  known.add(number);
  for (const oldest of known) {
    if (known.size <= keptModules) return;
    known.delete(oldest);
  }
}

/** Gives a share of a launch to a worker that has nothing to do. The slot was asked for. */
export function giveTask(
  hand: Hand,
  {
    wasm,
    control,
    ...task
  }: Omit<Task, 'moduleNumber' | 'memoryNumber' | 'wasm' | 'control'> & {
    readonly wasm: WebAssembly.Module;
    readonly control: Control;
  },
): void {
  const moduleNumber = numberOf(wasm);
  const known = hand.known.has(moduleNumber) ? {} : { wasm };
  keep(hand.known, moduleNumber);
  hand.job = { control, slot: task.slot };
  const buffer = control.words.buffer as SharedArrayBuffer;
  const message: Task = { ...task, ...known, control: buffer, moduleNumber, memoryNumber: numberOf(task.memory) };
  hand.handle.post(message);
}

/** Has workers let go of a memory. */
export function forgetMemory(memory: WebAssembly.Memory): void {
  const forget = numbers.get(memory);
  if (forget !== undefined) for (const { handle } of hands) handle.post({ forget });
}
