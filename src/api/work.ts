/** Work that is handed to a stream: done when its turn comes, and asked about later. */
import type { Diagnostic } from '../base/diagnostic.ts';
import { type Context, errorWith, type Memory, mayUse, type Owned, remember } from './context.ts';
import type { CumetalError } from './failures.ts';
import { addTask, ended, type Lane, type Task } from './schedule.ts';

/** A stream as far as those know it who hand work to it. */
export interface InStream extends Owned {
  readonly lane: Lane;
  readonly isClosed: boolean;
}

/** What became of work that was done. */
export type Settled<T> = { readonly value: T } | { readonly error: CumetalError };

/** What a launch gives. */
export interface LaunchReport {
  /** Time of the kernel, milliseconds. */
  readonly durationMs: number;
  /** What was said of a launch that came to its end: findings of the sanitizer, printed lines that were lost. */
  readonly warnings: readonly Diagnostic[];
}

/** A piece of work in a stream. Nobody has to ask about it: what goes wrong is told when the stream is waited for as well. */
export class Work<T> {
  readonly #context: Context;
  readonly #age: number;
  /** @internal */
  task: Task | undefined;
  /** @internal */
  settled: Settled<T> | undefined;

  /** @internal */
  constructor(context: Context) {
    this.#context = context;
    this.#age = context.age;
  }

  /** Whether it has come to its end, good or bad. */
  get isDone(): boolean {
    return this.task?.isDone ?? true;
  }

  /** What it gives, when it has ended. Rejects with what went wrong. */
  async ended(): Promise<T> {
    if (this.#context.isCallingBack) mayUse(this.#context);
    await ended(this.task);
    const { settled } = this;
    if (settled && 'value' in settled) return settled.value;
    if (settled) {
      if (this.#context.untold === settled.error) this.#context.untold = undefined;
      throw settled.error;
    }
    mayUse(this.#context, { context: this.#context, age: this.#age }, 'stream');
    throw errorWith('CM5061', { what: 'stream', ended: 'closed' });
  }
}

interface Needs {
  /** What it waits for besides. */
  readonly after?: readonly (Task | undefined)[];
  /** Memory that it uses. */
  readonly uses?: readonly Memory[];
}

/** Throws where a stream takes no work. */
export function mayEnqueue(context: Context, stream: InStream): void {
  mayUse(context, stream, 'stream');
  if (stream.context !== context) throw errorWith('CM5062', { what: 'stream' });
  if (stream.isClosed) throw errorWith('CM5061', { what: 'stream', ended: 'closed' });
}

/** Hands work to a stream. Where the device has failed by then, it is left out. */
export function enqueue<T>(stream: InStream, run: () => Settled<T> | Promise<Settled<T>>, { after = [], uses = [] }: Needs = {}): Work<T> {
  const { context, lane } = stream;
  mayEnqueue(context, stream);
  if (uses.some((memory) => memory.context !== context)) throw errorWith('CM5062', { what: 'buffer' });
  const { age } = context;
  const work = new Work<T>(context);
  for (const memory of uses) memory.uses++;
  const release = (): void => {
    for (const memory of uses) memory.uses--;
  };
  const settle = (settled: Settled<T>): void => {
    release();
    work.settled = settled;
    if ('error' in settled && context.age === age) remember(context, settled.error);
  };
  work.task = addTask(
    context.schedule,
    lane,
    () => {
      if (context.isClosed || context.fault || context.age !== age) return release();
      const settled = run();
      if (settled instanceof Promise) return settled.then(settle);
      settle(settled);
    },
    after,
  );
  return work;
}

/** Of work that gives nothing. */
export const nothing: Settled<undefined> = { value: undefined };
