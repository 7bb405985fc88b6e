/** Streams: work that is done in the order in which it is handed over, beside that of other streams. */
import type { ElementType } from '../runtime/index.ts';
import { bytesIn, bytesOf, type Data, type ValueOf } from './arrays.ts';
import { type Buffer, type KernelBuffer, type Part, partOf, transfer } from './buffer.ts';
import { type Context, errorOfThrown, errorWith, mayUse, tell } from './context.ts';
import type { Event } from './event.ts';
import { bytesAt, mustHold, putBytes } from './memory.ts';
import { allEnded, blockingEnds, closeLane, ended, type Lane } from './schedule.ts';
import { enqueue, type InStream, mayEnqueue, nothing, type Work } from './work.ts';

export interface StreamOptions {
  /** Has no part in the order that the legacy default stream keeps with all others. */
  readonly nonBlocking?: boolean;
}

/** A row of work: kernels, copies, fills, events, calls of the host. */
export class Stream implements InStream {
  /** @internal */
  readonly context: Context;
  /** @internal */
  readonly age: number;
  /** @internal */
  readonly lane: Lane;
  readonly #isDefault: boolean;
  #isClosed = false;

  /** @internal */
  constructor(context: Context, lane: Lane, isDefault = false) {
    this.context = context;
    this.age = context.age;
    this.lane = lane;
    this.#isDefault = isDefault;
  }

  /** Whether all its work has ended. */
  get isDone(): boolean {
    this.mayUse();
    return this.lane.last === undefined;
  }

  /** @internal */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Copies from one buffer to the start of another, between any two states; a typed array is taken at once. What `host` memory holds
   * is taken at once as well, while that of `staging` is read when the copy is at its turn.
   */
  copy<E extends ElementType>(to: Buffer<E>, from: Buffer<E> | Data<E>): Work<undefined> {
    const [target, source] = [this.part(to), partOf(from) ? this.part(from) : undefined];
    const bytes = source ? undefined : bytesOf(target.element, from as Data<ElementType>).slice();
    const count = bytes?.length ?? source!.byteLength;
    mustHold(target.byteLength, 0, count);
    mayEnqueue(this.context, this);
    const taken = bytes ?? (source!.state === 'host' ? bytesAt(source!, count).slice() : undefined);
    const uses = [target.memory, ...(source && !taken ? [source.memory] : [])];
    return transfer(this, uses, () => putBytes(target, taken ?? bytesAt(source!, count)));
  }

  /** Sets every element. */
  fill<E extends ElementType>(buffer: KernelBuffer<E>, value: ValueOf<E>): Work<undefined> {
    return this.part(buffer).fill(value, { stream: this });
  }

  /** Fills a typed array with what a buffer holds when its turn comes; to be looked at when the work has ended. */
  fetch<E extends ElementType>(into: ArrayBufferView, from: KernelBuffer<E>): Work<undefined> {
    const source = this.part(from);
    const bytes = bytesIn(into);
    mustHold(source.byteLength, 0, bytes.length);
    return transfer(this, [source.memory], () => bytes.set(bytesAt(source, bytes.length)));
  }

  /** Calls a function when the work before it has ended. It may not use the device. What it throws is told to who waits. */
  call(run: () => void): Work<undefined> {
    const { context } = this;
    return enqueue(this, () => {
      context.isCallingBack = true;
      try {
        run();
        return nothing;
      } catch (thrown) {
        return { error: errorOfThrown(thrown) };
      } finally {
        context.isCallingBack = false;
      }
    });
  }

  /** Sets a mark behind the work so far. */
  record(event: Event): Work<undefined> {
    event.mayUse();
    if (event.context !== this.context) throw errorWith('CM5062', { what: 'event' });
    const mark: NonNullable<Event['mark']> = { task: undefined, atMs: undefined };
    const work = enqueue(this, () => {
      mark.atMs = performance.now();
      return nothing;
    });
    mark.task = work.task;
    event.mark = mark;
    return work;
  }

  /** Keeps what is handed over from now on waiting for the mark that an event has now; for nothing where it has none. */
  wait(event: Event): void {
    event.mayUse();
    enqueue(this, () => nothing, { after: [event.mark?.task] });
  }

  /** Waits for all work so far, the legacy default stream for that of all blocking streams. Rejects with what went wrong on the device. */
  async synchronize(): Promise<void> {
    this.mayUse();
    const { legacy, lanes } = this.context.schedule;
    if (this.lane === legacy) await allEnded(blockingEnds(lanes));
    else if (this.lane.last) await ended(this.lane.last);
    tell(this.context);
  }

  /** Takes no more work; what it has goes on to its end. The default streams stay. */
  close(): void {
    if (this.#isDefault || this.#isClosed) return;
    this.#isClosed = true;
    closeLane(this.context.schedule, this.lane);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private mayUse(): void {
    mayUse(this.context, this, 'stream');
    if (this.#isClosed) throw errorWith('CM5061', { what: 'stream', ended: 'closed' });
  }

  private part(buffer: unknown): Part {
    const part = partOf(buffer);
    if (!part) throw errorWith('CM5060', { what: 'a copy', wanted: 'host, device, unified or staging', given: 'none' });
    part.mayUse();
    if (part.context !== this.context) throw errorWith('CM5062', { what: 'buffer' });
    return part;
  }
}
