/** Events: markers in streams, for synchronization and timing. */
import { assertUsable, type Context, errorWith, type Owned, synchronizeWith } from './context.ts';
import type { Task } from './schedule.ts';

/** The options of an event. */
export interface EventOptions {
  /** Whether it records a time; true by default. */
  readonly timing?: boolean;
}

/** A marker in a stream. Recording it again replaces the marker; earlier waits keep the old one. */
export class Event implements Owned {
  /** @internal */
  readonly context: Context;
  /** @internal */
  readonly age: number;
  /** The last record. @internal */
  mark: { task: Task | undefined; atMs: number | undefined } | undefined;
  readonly #timing: boolean;
  #isClosed = false;

  /** @internal */
  constructor(context: Context, { timing = true }: EventOptions) {
    this.context = context;
    this.age = context.age;
    this.#timing = timing;
  }

  /** Whether all work before the marker has finished; true if nothing was recorded. */
  get isDone(): boolean {
    this.assertUsable();
    return this.mark?.task?.isDone ?? true;
  }

  /** Waits for the work before the marker. Rejects with the error of the device. */
  async synchronize(): Promise<void> {
    this.assertUsable();
    const task = this.mark?.task;
    await synchronizeWith(this.context, task ? [task] : []);
  }

  /** The milliseconds between the markers of another event and this one, by the host's clock when the streams reached them. */
  elapsedSince(start: Event): number {
    const marks = [start, this].map((event) => event.markInTime());
    return marks[1]! - marks[0]!;
  }

  /** Accepts no more records and waits. */
  close(): void {
    this.#isClosed = true;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  assertUsable(): void {
    assertUsable(this.context, this, 'event');
    if (this.#isClosed) throw errorWith('CM5061', { what: 'event', ended: 'closed' });
  }

  private markInTime(): number {
    this.assertUsable();
    if (!this.#timing) throw errorWith('CM5067', { why: 'it was created without timing' });
    if (!this.mark) throw errorWith('CM5067', { why: 'it was not recorded' });
    if (!this.mark.task!.isDone) throw errorWith('CM5068', { what: 'event' });
    return this.mark.atMs ?? 0;
  }
}
