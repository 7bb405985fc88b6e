/** Events: marks in streams, to be waited for by others, and to be asked for the time between them. */
import { type Context, errorWith, mayUse, type Owned, tell } from './context.ts';
import { ended, type Task } from './schedule.ts';

export interface EventOptions {
  /** Whether it has a time; it has where nothing is said. */
  readonly timing?: boolean;
}

/** A mark in a stream. Recorded again, it is the new mark; who waits for the old one still does. */
export class Event implements Owned {
  /** @internal */
  readonly context: Context;
  /** @internal */
  readonly age: number;
  /** Of the last record. @internal */
  mark: { task: Task | undefined; atMs: number | undefined } | undefined;
  readonly #timing: boolean;
  #isClosed = false;

  /** @internal */
  constructor(context: Context, { timing = true }: EventOptions) {
    this.context = context;
    this.age = context.age;
    this.#timing = timing;
  }

  /** Whether all work before the mark has ended; so it is where nothing was recorded. */
  get isDone(): boolean {
    this.mayUse();
    return this.mark?.task?.isDone ?? true;
  }

  /** Waits for the work before the mark. Rejects with what went wrong on the device. */
  async synchronize(): Promise<void> {
    this.mayUse();
    await ended(this.mark?.task);
    tell(this.context);
  }

  /** Milliseconds from the mark of another event to that of this one, by the host's clock when the streams came to them. */
  elapsedSince(start: Event): number {
    const marks = [start, this].map((event) => event.markInTime());
    return marks[1]! - marks[0]!;
  }

  close(): void {
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  mayUse(): void {
    mayUse(this.context, this, 'event');
    if (this.#isClosed) throw errorWith('CM5061', { what: 'event', ended: 'closed' });
  }

  private markInTime(): number {
    this.mayUse();
    if (!this.#timing) throw errorWith('CM5067', { why: 'it was made without timing' });
    if (!this.mark) throw errorWith('CM5067', { why: 'it was not recorded' });
    if (!this.mark.task!.isDone) throw errorWith('CM5068', { what: 'event' });
    return this.mark.atMs ?? 0;
  }
}
