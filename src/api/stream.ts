/** Streams: work in enqueue order, concurrent with other streams. */
import type { ElementType } from '../runtime/index.ts';
import { bytesIn, bytesOf, type Data, type ValueOf } from './arrays.ts';
import { type Buffer, type KernelBuffer, type Part, partOf, transfer } from './buffer.ts';
import { assertUsable, type Context, errorOfThrown, errorWith, synchronizeWith } from './context.ts';
import type { Event } from './event.ts';
import { assertWithin, bytesAt, copyBytes, putBytes } from './memory.ts';
import { copyBetween } from './peer-copy.ts';
import { closeLane, type Lane, unfinishedBlocking } from './schedule.ts';
import { assertAcceptsWork, enqueue, type InStream, nothing, type Work } from './work.ts';

/** The options of a stream. */
export interface StreamOptions {
  /** Does not synchronize with the legacy default stream. */
  readonly nonBlocking?: boolean;
}

/** A queue of work: launches, copies, fills, events and host functions. */
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

  /** Whether all its work has finished. */
  get isDone(): boolean {
    this.assertUsable();
    return this.lane.last === undefined;
  }

  /** @internal */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Copies from one buffer to the start of another, between any two states. A typed array and `host` memory are read immediately;
   * `staging` memory is read when the copy executes. One of the buffers may be of another device: its work is not waited for, other than by an
   * event.
   */
  copy<E extends ElementType>(to: Buffer<E>, from: Buffer<E> | Data<E>): Work<undefined> {
    const given = partOf(from);
    if (given && partOf(to) && given.context !== partOf(to)!.context) return copyBetween(this, partOf(to)!, given);
    const [target, source] = [this.part(to), given ? this.part(from) : undefined];
    const bytes = source ? undefined : bytesOf(target.element, from as Data<ElementType>).slice();
    const count = bytes?.length ?? source!.byteLength;
    assertWithin(target.byteLength, 0, count);
    assertAcceptsWork(this.context, this);
    const taken = bytes ?? (source!.state === 'host' ? bytesAt(source!, count).slice() : undefined);
    const uses = [target.memory, ...(source && !taken ? [source.memory] : [])];
    return transfer(this, uses, () => (taken ? putBytes(target, taken) : copyBytes(target, source!, count)));
  }

  /** Sets every element to a value. */
  fill<E extends ElementType>(buffer: KernelBuffer<E>, value: ValueOf<E>): Work<undefined> {
    return this.part(buffer).fill(value, { stream: this });
  }

  /** Copies a buffer to a typed array, which is valid when the work has finished. */
  fetch<E extends ElementType>(into: ArrayBufferView, from: KernelBuffer<E>): Work<undefined> {
    const source = this.part(from);
    const bytes = bytesIn(into);
    assertWithin(source.byteLength, 0, bytes.length);
    return transfer(this, [source.memory], () => bytes.set(bytesAt(source, bytes.length)));
  }

  /** Calls a host function when the earlier work has finished. The function cannot use the device. Its exception is reported by the next synchronization. */
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

  /** Records an event after the work so far. */
  record(event: Event): Work<undefined> {
    event.assertUsable();
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

  /** Makes later work of this stream wait for the current record of an event, if there is one. */
  wait(event: Event): void {
    event.assertUsable();
    enqueue(this, () => nothing, { after: [event.mark?.task] });
  }

  /** Waits for all work so far; on the legacy default stream for that of all blocking streams. Rejects with the error of the device. */
  async synchronize(): Promise<void> {
    this.assertUsable();
    const { legacy, lanes } = this.context.schedule;
    const { last } = this.lane;
    await synchronizeWith(this.context, this.lane === legacy ? unfinishedBlocking(lanes) : last ? [last] : []);
  }

  /** Accepts no more work; pending work completes. The default streams cannot be closed. */
  close(): void {
    if (this.#isDefault || this.#isClosed) return;
    this.#isClosed = true;
    closeLane(this.context.schedule, this.lane);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  private assertUsable(): void {
    assertUsable(this.context, this, 'stream');
    if (this.#isClosed) throw errorWith('CM5061', { what: 'stream', ended: 'closed' });
  }

  private part(buffer: unknown): Part {
    const part = partOf(buffer);
    if (!part) throw errorWith('CM5060', { what: 'a copy', wanted: 'host, device, unified or staging', given: 'none' });
    part.assertUsable();
    if (part.context !== this.context) throw errorWith('CM5062', { what: 'buffer' });
    return part;
  }
}
