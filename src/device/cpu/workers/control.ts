/** The shared state of a launch: 32-bit words in memory of their own, which all threads of the launch see. */

/** How a share of a launch ended. */
export const endings = { ended: 0, stopped: 1, fault: 2, broken: 3, misaligned: 4, stuck: 5, waiting: 6 } as const;
export type Ending = keyof typeof endings;

/** Why a launch must stop. */
export const stops = { no: 0, cancelled: 1, timeUp: 2, broken: 3 } as const;

/** States of a slot: its share is requested, has begun, has ended, or is revoked before it has begun. */
export const states = { requested: 0, begun: 1, ended: 2, revoked: 3 } as const;

const header = 12;
const slotWords = 9;
const textWords = 128;

const word = {
  /** Units of blocks that are claimed, from the first on. */
  next: 0,
  stop: 1,
  /** The unit of the lowest fault: only lower units still matter. */
  last: 2,
  /** Units that have ended. */
  done: 3,
  /** Incremented when a share ends. */
  bell: 4,
  textLength: 5,
  /** How often shares whose blocks only waited went on. */
  moves: 6,
} as const;
/** The times at which the first share began and the last one ended, as 64-bit floats. */
const [startAt, endAt] = [4, 5];

const inSlot = { state: 0, ending: 1, x: 2, y: 3, z: 4, thread: 5, first: 6, leave: 7, quiet: 8 } as const;

/** The control words of a launch. */
export interface Control {
  readonly words: Int32Array;
  readonly times: Float64Array;
  readonly slots: number;
  /** Whether a worker was asked to take part, on the thread that asks. */
  isAsked?: boolean;
}

/** The block and the thread at which a share ended early. */
export interface Place {
  readonly block: readonly [number, number, number];
  readonly thread: number;
}

const maxUnit = 2 ** 31 - 1;

/** The control words of a launch with so many slots, in shared memory or not. */
export function newControl(slots: number, isShared: boolean): Control {
  const bytes = 4 * (header + slots * slotWords + textWords);
  const control = controlIn(isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  control.words[word.last] = maxUnit;
  return control;
}

/** Makes the control words of a launch that no worker was asked to take part in those of another. */
export function renewControl({ words }: Control): void {
  words.fill(0);
  words[word.last] = maxUnit;
}

/** The control words in a buffer of another thread. */
export function controlIn(buffer: ArrayBufferLike): Control {
  const words = new Int32Array(buffer);
  return { words, times: new Float64Array(buffer, 0, header / 2), slots: (words.length - header - textWords) / slotWords };
}

const at = (slot: number, what: keyof typeof inSlot): number => header + slot * slotWords + inSlot[what];

/** Claims some units; returns the first. */
export const claim = ({ words }: Control, units: number): number => Atomics.add(words, word.next, units);
export const claimed = ({ words }: Control): number => Atomics.load(words, word.next);
export const addDone = ({ words }: Control, units: number): void => void Atomics.add(words, word.done, units);
export const doneUnits = ({ words }: Control): number => Atomics.load(words, word.done);
export const lastUnit = ({ words }: Control): number => Atomics.load(words, word.last);
export const whyStop = ({ words }: Control): number => Atomics.load(words, word.stop);

/** Stops all shares; the first reason counts. */
export const stopAll = ({ words }: Control, why: number): void => void Atomics.compareExchange(words, word.stop, stops.no, why);

/** The time in milliseconds, by the clock that all threads share. `own` is the current time by the clock of this thread. */
export const now = (own = performance.now()): number => performance.timeOrigin + own;

/** Milliseconds from the begin of the first share to the end of the last one. */
export const duration = ({ times }: Control): number => (times[startAt] === 0 ? 0 : times[endAt]! - times[startAt]!);

/** Milliseconds from the begin of the first share to a time; 0 if none has begun. */
export function elapsed({ times }: Control, now: number): number {
  const start = times[startAt]!;
  return start === 0 ? 0 : now - start;
}

/** Records when the first share began. The difference between two that begin at once does not matter. */
export function noteStart({ times }: Control, now: number): void {
  if (times[startAt] === 0) times[startAt] = now;
}

/** Stops the launch if it has run for longer than `timeoutMs`; 0 is no limit. */
export function stopOverdue(control: Control, timeoutMs: number): void {
  if (timeoutMs > 0 && elapsed(control, now()) > timeoutMs) stopAll(control, stops.timeUp);
}

/** Whether a share must leave its remaining blocks to others. */
export const isToLeave = ({ words }: Control, slot: number): boolean => Atomics.load(words, at(slot, 'leave')) !== 0;
export const askToLeave = ({ words }: Control, slot: number): void => void Atomics.store(words, at(slot, 'leave'), 1);

/** What a share does that runs blocks by turns: nothing, something, or all of its blocks have waited for long. */
export const quiets = { none: 0, busy: 1, quiet: 2 } as const;

export const setQuiet = ({ words }: Control, slot: number, what: number): void => void Atomics.store(words, at(slot, 'quiet'), what);

/** Whether all shares that run blocks only wait. */
export function areAllQuiet({ words, slots }: Control): boolean {
  for (let slot = 0; slot < slots; slot++) if (Atomics.load(words, at(slot, 'quiet')) === quiets.busy) return false;
  return true;
}

export const addMove = ({ words }: Control): void => void Atomics.add(words, word.moves, 1);
export const movesOf = ({ words }: Control): number => Atomics.load(words, word.moves);

/** Requests a share by its slot. */
export function requestShare(control: Control, slot: number): void {
  const { words } = control;
  control.isAsked = true;
  Atomics.store(words, at(slot, 'leave'), 0);
  Atomics.store(words, at(slot, 'ending'), endings.ended);
  Atomics.store(words, at(slot, 'state'), states.requested);
}

/** Begins a requested share; false if it was revoked. */
export const begin = ({ words }: Control, slot: number): boolean =>
  Atomics.compareExchange(words, at(slot, 'state'), states.requested, states.begun) === states.requested;

/** Revokes a requested share; false if it has begun or ended. */
export const revoke = ({ words }: Control, slot: number): boolean => {
  const was = Atomics.compareExchange(words, at(slot, 'state'), states.requested, states.revoked);
  return was === states.requested || was === states.revoked;
};

export const isOver = ({ words }: Control, slot: number): boolean => Atomics.load(words, at(slot, 'state')) >= states.ended;
export const endingOf = ({ words }: Control, slot: number): number => Atomics.load(words, at(slot, 'ending'));

/** The place at which a share ended, and its unit. */
export function placeOf({ words }: Control, slot: number): Place & { readonly first: number } {
  const value = (name: keyof typeof inSlot): number => words[at(slot, name)]!;
  return { block: [value('x'), value('y'), value('z')], thread: value('thread'), first: value('first') };
}

/** The kind of a WebAssembly trap, which only the text of the error shows. */
export const endingOfTrap = (error: WebAssembly.RuntimeError): Ending => (/unalign/i.test(error.message) ? 'misaligned' : 'fault');

/** Records how and where a share ended early. After a fault or where threads are stuck, no share continues with higher units. */
export function noteEnding(control: Control, slot: number, ending: Ending, where: Place & { readonly first: number }): void {
  const { words } = control;
  const put = (what: keyof typeof inSlot, value: number): void => {
    words[at(slot, what)] = value;
  };
  where.block.forEach((value, axis) => {
    put((['x', 'y', 'z'] as const)[axis]!, value);
  });
  put('thread', where.thread);
  put('first', where.first);
  put('ending', endings[ending]);
  if (ending === 'broken') stopAll(control, stops.broken);
  if (ending === 'ended' || ending === 'stopped' || ending === 'broken') return;
  for (let last = lastUnit(control); where.first < last; ) {
    const seen = Atomics.compareExchange(words, word.last, last, where.first);
    if (seen === last) return;
    last = seen;
  }
}

/** Ends a share, and wakes the threads that wait for it. */
export function end({ words, times }: Control, slot: number): void {
  times[endAt] = now();
  Atomics.store(words, at(slot, 'state'), states.ended);
  Atomics.add(words, word.bell, 1);
  Atomics.notify(words, word.bell);
}

/** Records the text of an internal error. */
export function noteWhy({ words }: Control, why: string): void {
  const start = words.length - textWords;
  const text = why.slice(0, textWords);
  for (let i = 0; i < text.length; i++) words[start + i] = text.charCodeAt(i);
  Atomics.store(words, word.textLength, text.length);
}

export function whyBroken({ words }: Control): string {
  const start = words.length - textWords;
  return String.fromCharCode(...words.subarray(start, start + Atomics.load(words, word.textLength)));
}

let canBlock: boolean | undefined;

/** Whether the calling thread may block: the thread of a page may not. Only where memory can be shared. */
export function mayWait(): boolean {
  if (canBlock !== undefined) return canBlock;
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    canBlock = true;
  } catch {
    canBlock = false;
  }
  return canBlock;
}

/** Waits until `isReady` or for some milliseconds, on a thread that may block. */
export function waitFor({ words }: Control, isReady: () => boolean, ms: number): void {
  const until = performance.now() + ms;
  for (;;) {
    const bell = Atomics.load(words, word.bell);
    const left = until - performance.now();
    if (isReady() || left <= 0) return;
    Atomics.wait(words, word.bell, bell, left);
  }
}
