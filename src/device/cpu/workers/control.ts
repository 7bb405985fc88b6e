/** What those who share a launch tell each other: words that all of them see, in memory of its own. */

/** How a share of a launch ended. */
export const endings = { ended: 0, stopped: 1, fault: 2, broken: 3, misaligned: 4 } as const;
export type Ending = keyof typeof endings;

/** Why everybody is to stop. */
export const stops = { no: 0, cancelled: 1, timeUp: 2, broken: 3 } as const;

/** States of a slot: who is asked to take part has not begun, is at it, or has ended; or is not to begin any more. */
export const states = { asked: 0, begun: 1, ended: 2, revoked: 3 } as const;

const header = 12;
const slotWords = 8;
const textWords = 128;

const place = {
  /** Units of blocks that were taken, from the first on. */
  next: 0,
  stop: 1,
  /** The last unit that is of use: a thread failed there, and only what is before may fail earlier. */
  last: 2,
  /** Units that have ended. */
  done: 3,
  /** Rung when a share ends. */
  bell: 4,
  textLength: 5,
} as const;
/** When the first share began, and when the last one ended, as numbers of 64 bits. */
const [startAt, endAt] = [4, 5];

const inSlot = { state: 0, ending: 1, x: 2, y: 3, z: 4, thread: 5, first: 6, leave: 7 } as const;

/** The words of a launch. */
export interface Control {
  readonly words: Int32Array;
  readonly times: Float64Array;
  readonly slots: number;
}

/** Where a share ended before its end. */
export interface Place {
  readonly block: readonly [number, number, number];
  readonly thread: number;
}

const most = 2 ** 31 - 1;

/** The words of a launch that some may take part in; in memory that can be shared, or not. */
export function newControl(slots: number, isShared: boolean): Control {
  const bytes = 4 * (header + slots * slotWords + textWords);
  const control = controlIn(isShared ? new SharedArrayBuffer(bytes) : new ArrayBuffer(bytes));
  control.words[place.last] = most;
  return control;
}

/** The same words, seen by another. */
export function controlIn(buffer: ArrayBufferLike): Control {
  const words = new Int32Array(buffer);
  return { words, times: new Float64Array(buffer, 0, header / 2), slots: (words.length - header - textWords) / slotWords };
}

const at = (slot: number, what: keyof typeof inSlot): number => header + slot * slotWords + inSlot[what];

/** Takes some units; gives the first. */
export const claim = ({ words }: Control, units: number): number => Atomics.add(words, place.next, units);
export const claimed = ({ words }: Control): number => Atomics.load(words, place.next);
export const addDone = ({ words }: Control, units: number): void => void Atomics.add(words, place.done, units);
export const doneUnits = ({ words }: Control): number => Atomics.load(words, place.done);
export const lastUnit = ({ words }: Control): number => Atomics.load(words, place.last);
export const whyStop = ({ words }: Control): number => Atomics.load(words, place.stop);

/** Tells all to stop; the first reason counts. */
export const stopAll = ({ words }: Control, why: number): void => void Atomics.compareExchange(words, place.stop, stops.no, why);

/** By the clock of the world, which threads have in common; milliseconds. `own` is the time by this thread's clock, where it was just asked. */
export const now = (own = performance.now()): number => performance.timeOrigin + own;

/** Milliseconds from when the first share began to when the last one ended. */
export const duration = ({ times }: Control): number => (times[startAt] === 0 ? 0 : times[endAt]! - times[startAt]!);

/** Milliseconds since the first share began, at a time; 0 where none has. */
export function elapsed({ times }: Control, now: number): number {
  const start = times[startAt]!;
  return start === 0 ? 0 : now - start;
}

/** Notes when the first share began. Two that begin at once differ by less than matters. */
export function noteStart({ times }: Control, now: number): void {
  if (times[startAt] === 0) times[startAt] = now;
}

/** Whether a share is to leave the rest to others. */
export const isToLeave = ({ words }: Control, slot: number): boolean => Atomics.load(words, at(slot, 'leave')) !== 0;
export const askToLeave = ({ words }: Control, slot: number): void => void Atomics.store(words, at(slot, 'leave'), 1);

/** Makes a slot ready for who is asked to take part. */
export function ask({ words }: Control, slot: number): void {
  Atomics.store(words, at(slot, 'leave'), 0);
  Atomics.store(words, at(slot, 'ending'), endings.ended);
  Atomics.store(words, at(slot, 'state'), states.asked);
}

/** Begins a share that was asked for; false where it is not wanted any more. */
export const begin = ({ words }: Control, slot: number): boolean =>
  Atomics.compareExchange(words, at(slot, 'state'), states.asked, states.begun) === states.asked;

/** Takes back what was asked; false where it has begun, or ended. */
export const revoke = ({ words }: Control, slot: number): boolean => {
  const was = Atomics.compareExchange(words, at(slot, 'state'), states.asked, states.revoked);
  return was === states.asked || was === states.revoked;
};

export const isOver = ({ words }: Control, slot: number): boolean => Atomics.load(words, at(slot, 'state')) >= states.ended;
export const endingOf = ({ words }: Control, slot: number): number => Atomics.load(words, at(slot, 'ending'));

/** Where a share ended, and in which unit. */
export function placeOf({ words }: Control, slot: number): Place & { readonly first: number } {
  const word = (what: keyof typeof inSlot): number => words[at(slot, what)]!;
  return { block: [word('x'), word('y'), word('z')], thread: word('thread'), first: word('first') };
}

/** What a trap of WebAssembly is: engines tell by their words alone. */
export const endingOfTrap = (error: WebAssembly.RuntimeError): Ending => (/unalign/i.test(error.message) ? 'misaligned' : 'fault');

/** Notes how a share ended that did not come to its end; after a fault, nobody goes on behind its unit. */
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
  if (ending !== 'fault' && ending !== 'misaligned') return;
  for (let last = lastUnit(control); where.first < last; ) {
    const seen = Atomics.compareExchange(words, place.last, last, where.first);
    if (seen === last) return;
    last = seen;
  }
}

/** Ends a share, and wakes who waits for it. */
export function end({ words, times }: Control, slot: number): void {
  times[endAt] = now();
  Atomics.store(words, at(slot, 'state'), states.ended);
  Atomics.add(words, place.bell, 1);
  Atomics.notify(words, place.bell);
}

/** Leaves in words why something broke. */
export function noteWhy({ words }: Control, why: string): void {
  const start = words.length - textWords;
  const text = why.slice(0, textWords);
  for (let i = 0; i < text.length; i++) words[start + i] = text.charCodeAt(i);
  Atomics.store(words, place.textLength, text.length);
}

export function whyBroken({ words }: Control): string {
  const start = words.length - textWords;
  return String.fromCharCode(...words.subarray(start, start + Atomics.load(words, place.textLength)));
}

let waits: boolean | undefined;

/** Whether the calling thread may wait for others: that of a page may not. For where memory can be shared. */
export function mayWait(): boolean {
  if (waits !== undefined) return waits;
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
    waits = true;
  } catch {
    waits = false;
  }
  return waits;
}

/** Waits until `isReady`, or for some milliseconds; for threads that may. */
export function waitFor({ words }: Control, isReady: () => boolean, ms: number): void {
  const until = performance.now() + ms;
  for (;;) {
    const bell = Atomics.load(words, place.bell);
    const left = until - performance.now();
    if (isReady() || left <= 0) return;
    Atomics.wait(words, place.bell, bell, left);
  }
}
