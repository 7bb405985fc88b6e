/**
 * Pools of device memory, allocated and freed in stream order. Freed memory is used again at once by the stream that freed it, and by other
 * streams when the free has been reached. Source: NVIDIA, CUDA Runtime API, "Stream Ordered Memory Allocator".
 */
import { Diagnostics } from '../base/diagnostic.ts';
import { DevicePool, heldBytes, type PoolBlock } from '../device/pool/index.ts';
import { type ElementType, elements } from '../runtime/index.ts';
import { type Buffer, Part, partOf, type StreamOption } from './buffer.ts';
import { assertUsable, type Context, errorWith, type Memory, type Owned } from './context.ts';
import { type CumetalError, errorOf } from './failures.ts';
import { forgetAddress, whenIdle } from './memory.ts';
import { type Lane, type Task, unfinished, whenEnded } from './schedule.ts';
import { assertAcceptsWork, enqueue, type InStream, nothing } from './work.ts';

/** The options of a pool. */
export interface MemoryPoolOptions {
  /** Bytes that stay reserved when a synchronization finds the pool with more; 0 by default, as in CUDA. */
  readonly releaseThreshold?: number;
  /** Most bytes that the pool reserves, rounded up to 256 KiB; 0, the default, is no limit. */
  readonly maxBytes?: number;
  /**
   * Fills free memory with the byte 0xa5, and reports writes to it (CM5057) when it is used again. For finding faults: allocations and frees
   * copy their memory then.
   */
  readonly poison?: boolean;
}

/** What is in a pool: bytes, but for `allocations` and `fragmentation`. */
export interface MemoryPoolStatistics {
  /** Bytes of the allocations that live. */
  readonly used: number;
  /** Bytes of those and of freed ones that their stream has not reached. */
  readonly pending: number;
  /** Those with what rounding adds: to slots of a size, or to pages of 256 KiB. */
  readonly held: number;
  /** Bytes that the pool has from the device. */
  readonly reserved: number;
  /** Most bytes used and reserved at a time, since the pool was made or the peaks were reset. */
  readonly usedPeak: number;
  readonly reservedPeak: number;
  /** Allocations that live. */
  readonly allocations: number;
  /** The part of free pages that is not in the longest run of them: 0 if all free memory is in one piece. */
  readonly fragmentation: number;
}

/** Freed memory whose free the stream has not reached. */
interface Freed {
  readonly block: PoolBlock;
  readonly lane: Lane;
  readonly held: number;
  task: Task | undefined;
  /** Whether other memory is there already, or work of another stream still uses it. */
  isGone: boolean;
}

/** Memory of a pool. The contents of an allocation are those that the memory has. */
export class MemoryPool implements Owned {
  /** @internal */
  readonly context: Context;
  /** @internal */
  readonly age: number;
  readonly #defaultStream: InStream;
  readonly #low: DevicePool;
  readonly #live = new Map<Memory, PoolBlock>();
  readonly #freed = new Set<Freed>();
  #releaseThreshold = 0;
  #used = 0;
  #usedPeak = 0;
  #isClosed = false;

  /** @internal */
  constructor(context: Context, defaultStream: InStream, { releaseThreshold = 0, maxBytes = 0, poison = false }: MemoryPoolOptions) {
    this.context = context;
    this.age = context.age;
    this.#defaultStream = defaultStream;
    assertBytes('maxBytes', maxBytes);
    this.releaseThreshold = releaseThreshold;
    this.#low = new DevicePool(context.low, { maxBytes, hasPoison: poison });
    context.pools.add(this);
  }

  /** Bytes that stay reserved when a synchronization finds the pool with more; may be `Infinity`. */
  get releaseThreshold(): number {
    return this.#releaseThreshold;
  }

  set releaseThreshold(bytes: number) {
    assertBytes('releaseThreshold', bytes);
    this.#releaseThreshold = bytes;
  }

  /** What is in the pool. */
  get statistics(): MemoryPoolStatistics {
    const { held, reserved, reservedPeak, fragmentation } = this.#low.statistics;
    const allocations = this.#live.size;
    return {
      used: this.#used,
      pending: this.#low.used,
      held,
      reserved,
      usedPeak: this.#usedPeak,
      reservedPeak,
      allocations,
      fragmentation,
    };
  }

  /**
   * Allocates memory for `length` elements in stream order: work of the stream may use it, and other work behind an event of it. Its contents
   * are not defined. Throws CM6012 if there is not enough, CM5057 if free memory of a pool with `poison` was written.
   */
  allocate<E extends ElementType>(element: E, length: number, { stream = this.#defaultStream }: StreamOption = {}): Buffer<E, 'device'> {
    this.assertUsable();
    assertAcceptsWork(this.context, stream);
    const size = length * elements[element].size;
    const { block, reused } = this.#blockFor(size, stream.lane);
    const memory: Memory = {
      context: this.context,
      size,
      low: block.buffer,
      host: undefined,
      uses: 0,
      isFree: false,
      release: () => this.#releaseWhenIdle(memory),
      pool: this,
    };
    this.#begin(block, stream, reused);
    this.#live.set(memory, block);
    this.#used += size;
    this.#usedPeak = Math.max(this.#usedPeak, this.#used);
    const part = new Part({ memory, state: 'device', age: this.age, defaultStream: stream }, element, 0, length);
    return part as unknown as Buffer<E, 'device'>;
  }

  /**
   * Frees memory of this pool in stream order: earlier work of the stream may still use it. Throws CM5055 for other memory, CM5061 for memory
   * that is freed already. CM5056 is reported if work of another stream still uses the memory then.
   */
  free(buffer: Buffer, { stream = this.#defaultStream }: StreamOption = {}): void {
    assertUsable(this.context, this, 'memory pool');
    const memory = partOf(buffer)?.memory;
    if (memory?.pool !== this) throw errorWith('CM5055', {});
    partOf(buffer)!.assertUsable();
    assertAcceptsWork(this.context, stream);
    const block = this.#end(memory);
    if (unfinished(this.context.schedule).length === 0) this.#give(block);
    else this.#giveInOrder(memory, block, stream);
  }

  /** Frees reserved memory without an allocation as long as at least some bytes stay reserved. */
  trim(keptBytes = 0): void {
    assertBytes('trim', keptBytes);
    this.assertUsable();
    this.#low.trimTo(keptBytes);
  }

  /** Sets the most bytes used, or reserved, to what is now; both if neither is named. */
  resetPeak(which?: 'used' | 'reserved'): void {
    if (which !== 'reserved') this.#usedPeak = this.#used;
    if (which !== 'used') this.#low.resetPeak('reserved');
  }

  /** Accepts no more allocations. The memory of those that live is freed with the last of them. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#endIfEmpty();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** @internal */
  trimToThreshold(): void {
    this.#low.releaseTo(this.#releaseThreshold);
  }

  /** @internal */
  trimForOthers(): void {
    this.#low.trimTo(0);
  }

  private assertUsable(): void {
    assertUsable(this.context, this, 'memory pool');
    if (this.#isClosed) throw errorWith('CM5061', { what: 'memory pool', ended: 'closed' });
  }

  /** Memory that the stream has freed, memory that nothing uses, or, if there is no more, memory that another stream frees. */
  #blockFor(size: number, lane: Lane): { readonly block: PoolBlock; readonly reused: Freed | undefined } {
    const own = this.#freedFor(size, (each) => each.lane === lane);
    if (own) return { block: this.#reuse(own, size), reused: own };
    const diagnostics = new Diagnostics();
    const block = this.#low.take(size, diagnostics);
    if (block) return { block, reused: undefined };
    const other = this.#freedFor(size, () => true);
    if (!other) throw errorOf(diagnostics);
    return { block: this.#reuse(other, size), reused: other };
  }

  #freedFor(size: number, isGood: (freed: Freed) => boolean): Freed | undefined {
    if (this.#freed.size === 0) return undefined;
    const held = heldBytes(size);
    for (const each of this.#freed) if (each.held === held && isGood(each)) return each;
    return undefined;
  }

  #reuse(freed: Freed, size: number): PoolBlock {
    freed.isGone = true;
    this.#freed.delete(freed);
    return this.#low.again(freed.block, size);
  }

  /** Makes a block live when those who used its memory before are done. */
  #begin(block: PoolBlock, stream: InStream, reused: Freed | undefined): void {
    const begin = (): CumetalError | undefined => {
      const at = this.#low.spoiledAt(block);
      if (at !== undefined) this.#low.spoil(block, true);
      block.buffer.begin();
      return at === undefined ? undefined : errorWith('CM5057', { at, bytes: block.size });
    };
    if (reused) {
      enqueue(
        stream,
        () => {
          const error = begin();
          return error ? { error } : nothing;
        },
        { after: [reused.task] },
      );
      return;
    }
    const error = begin();
    if (!error) return;
    this.#low.give(block);
    throw error;
  }

  /** Ends the life of an allocation for its user. */
  #end(memory: Memory): PoolBlock {
    const block = this.#live.get(memory)!;
    this.#live.delete(memory);
    this.#used -= memory.size;
    memory.isFree = true;
    forgetAddress(memory);
    return block;
  }

  #give(block: PoolBlock): void {
    this.#low.spoil(block);
    this.#low.give(block);
    this.#endIfEmpty();
  }

  /** Gives memory back when the stream has reached this point. */
  #giveInOrder(memory: Memory, block: PoolBlock, stream: InStream): void {
    const freed: Freed = { block, lane: stream.lane, held: heldBytes(memory.size), task: undefined, isGone: false };
    const { task } = enqueue(stream, () => {
      if (memory.uses > 0) {
        const error = errorWith('CM5056', { bytes: memory.size });
        // Other memory is there already, or nothing may be.
        if (!freed.isGone) this.#giveWhenIdle(block);
        freed.isGone = true;
        this.#freed.delete(freed);
        return { error };
      }
      this.#low.spoil(block);
      block.buffer.free();
      return nothing;
    });
    freed.task = task;
    this.#freed.add(freed);
    whenEnded(task!, () => {
      this.#freed.delete(freed);
      if (freed.isGone || this.context.isClosed || this.context.age !== this.age) return;
      this.#low.give(block);
      this.#endIfEmpty();
    });
  }

  #releaseWhenIdle(memory: Memory): void {
    if (this.#live.has(memory)) this.#giveWhenIdle(this.#end(memory));
  }

  #giveWhenIdle(block: PoolBlock): void {
    whenIdle(this.context, () => this.#give(block));
  }

  #endIfEmpty(): void {
    if (!this.#isClosed || this.#low.used > 0 || this.#live.size > 0 || this.#freed.size > 0) return;
    this.#low.trimTo(0);
    this.context.pools.delete(this);
  }
}

/** Throws CM5078 for a number of bytes that is none. */
function assertBytes(option: string, bytes: number): void {
  const isBytes = typeof bytes === 'number' && bytes >= 0;
  if (!isBytes) throw errorWith('CM5078', { option, given: String(bytes), wanted: 'a number of bytes, at least 0,' });
}
