/** Work in a stream: executed in stream order, with a result to await. */
import type { Diagnostic } from '../base/diagnostic.ts';
import { assertUsable, type Context, errorWith, type Memory, type Owned, remember } from './context.ts';
import type { CumetalError } from './failures.ts';
import { addTask, ended, type Lane, type Task } from './schedule.ts';
import { noteHeard, waiting } from './unheard.ts';

/** The part of a stream that enqueuing work needs. */
export interface InStream extends Owned {
  readonly lane: Lane;
  readonly isClosed: boolean;
}

/** The result of finished work. */
export type Settled<T> = { readonly value: T } | { readonly error: CumetalError };

/** The result of a launch. */
export interface LaunchReport {
  /** The duration of the kernel in milliseconds. */
  readonly durationMs: number;
  /** Diagnostics of a completed launch: findings of the sanitizer, lost printf output. */
  readonly warnings: readonly Diagnostic[];
}

/** A piece of work in a stream. Awaiting it is optional: synchronizing the stream also reports its error. */
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

  /** Whether it has finished, successfully or not. */
  get isDone(): boolean {
    return this.task?.isDone ?? true;
  }

  /** Resolves to its result when it has finished. Rejects with its error. */
  async ended(): Promise<T> {
    if (this.#context.isCallingBack) assertUsable(this.#context);
    await waiting(this.#context, ended(this.task));
    const { settled } = this;
    if (settled && 'value' in settled) return settled.value;
    if (settled) {
      noteHeard(this.#context, settled.error);
      if (this.#context.unreported === settled.error) this.#context.unreported = undefined;
      throw settled.error;
    }
    assertUsable(this.#context, { context: this.#context, age: this.#age }, 'stream');
    throw errorWith('CM5061', { what: 'stream', ended: 'closed' });
  }
}

/** Work that the device has queued: what waits for its end. */
export interface Queued<T> {
  readonly end: () => Settled<T>;
}

interface Needs {
  /** Additional tasks that it waits for. */
  readonly after?: readonly (Task | undefined)[];
  /** Memory that it uses. */
  readonly uses?: readonly Memory[];
  /** Whether the device keeps it behind other such work, so that `run` queues it. */
  readonly isQueueable?: boolean;
}

/** Throws if the stream does not accept work. */
export function assertAcceptsWork(context: Context, stream: InStream): void {
  assertUsable(context, stream, 'stream');
  if (stream.context !== context) throw errorWith('CM5062', { what: 'stream' });
  if (stream.isClosed) throw errorWith('CM5061', { what: 'stream', ended: 'closed' });
}

/** Enqueues work in a stream. The work is dropped if the device has failed before its turn. */
export function enqueue<T>(
  stream: InStream,
  run: () => Settled<T> | Promise<Settled<T>> | Queued<T>,
  { after = [], uses = [], isQueueable = false }: Needs = {},
): Work<T> {
  const { context, lane } = stream;
  assertAcceptsWork(context, stream);
  if (uses.some((memory) => memory.context !== context)) throw errorWith('CM5062', { what: 'buffer' });
  const { age } = context;
  const work = new Work<T>(context);
  for (const memory of uses) memory.uses++;
  const release = (): void => {
    for (const memory of uses) memory.uses--;
  };
  const isOver = (): boolean => context.isClosed || context.age !== age;
  const settle = (settled: Settled<T>): void => {
    release();
    work.settled = settled;
    if (!('error' in settled)) return;
    if (isOver()) task.isCutOff = true;
    if (context.age === age) remember(context, settled.error);
  };
  const task = addTask(
    context.schedule,
    lane,
    () => {
      task.isCutOff = isOver();
      if (task.isCutOff || context.fault) return release();
      const settled = run();
      if (settled instanceof Promise) return settled.then(settle);
      if (!('end' in settled)) return settle(settled);
      return () => {
        task.isCutOff = isOver();
        // Work behind one that has ended the device is dropped, as if it had not been queued.
        if (task.isCutOff || context.fault) release();
        else settle(settled.end());
      };
    },
    after,
    isQueueable,
  );
  work.task = task;
  return work;
}

/** The result of work without a value. */
export const nothing: Settled<undefined> = { value: undefined };
