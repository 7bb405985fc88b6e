/**
 * Typed buffers. The state of a buffer determines its operations, checked by its TypeScript type and at run time (CM5060): kernels
 * access `device` and `unified` memory, and the host accesses `host`, `staging` and `unified` memory.
 */
import { type ElementType, elements } from '../runtime/index.ts';
import { type Arrays, arrayOn, bytesOf, type Data, type Numbers, numbersIn, type ValueOf } from './arrays.ts';
import { assertUsable, type Context, errorWith, type Memory, type Owned } from './context.ts';
import { addressOf, assertWithin, type BufferState, bytesAt, type Place, putBytes, releaseMemory, visibility } from './memory.ts';
import { enqueue, type InStream, nothing, type Queued, type Settled, type Work } from './work.ts';

/** The stream of an operation; the legacy default stream if omitted. */
export interface StreamOption {
  readonly stream?: InStream;
}

interface Common<E extends ElementType, S extends BufferState> {
  readonly element: E;
  readonly state: S;
  /** The number of elements. */
  readonly length: number;
  readonly byteLength: number;
  /** A range of this buffer that shares its memory; to the end if the length is omitted. */
  part(start: number, length?: number): Buffer<E, S>;
  /** The same memory with another element type. */
  as<F extends ElementType>(element: F): Buffer<F, S>;
  /** Frees the memory of the buffer and all its parts, when the pending work has finished. */
  free(): void;
  [Symbol.dispose](): void;
}

/** Operations on host-visible memory. */
interface HostVisible<E extends ElementType> {
  /** The memory itself, without a copy. For unified memory CM5066 while work uses it; do not keep a view across a launch. */
  readonly view: Arrays[E];
}

/** Operations on device memory. */
interface DeviceVisible<E extends ElementType> {
  /** The device address of the buffer, to store in memory, or to pass as an argument with an offset within the buffer. */
  readonly address: bigint;
  /** Copies data to the buffer in stream order. The data is read immediately and can change afterwards. */
  write(data: Data<E>, options?: StreamOption): Work<undefined>;
  /** A copy of the buffer's contents, in stream order. f16 and bf16 are numbers. */
  read(options?: StreamOption): Promise<Numbers[E]>;
  fill(value: ValueOf<E>, options?: StreamOption): Work<undefined>;
}

/** Memory of one state with one element type. */
export type Buffer<E extends ElementType = ElementType, S extends BufferState = BufferState> = Common<E, S> &
  (S extends 'device' ? DeviceVisible<E> : S extends 'unified' ? DeviceVisible<E> & HostVisible<E> : HostVisible<E>);

/** A buffer that kernels can access. */
export type KernelBuffer<E extends ElementType = ElementType> = Buffer<E, 'device'> | Buffer<E, 'unified'>;

interface PartOf {
  readonly memory: Memory;
  readonly state: BufferState;
  readonly age: number;
  readonly defaultStream: InStream;
}

/** The implementation of every buffer state; operations outside of the types above are rejected. */
export class Part implements Owned, Place {
  /** The type of its elements. */
  readonly element: ElementType;
  /** The number of elements. */
  readonly length: number;
  /** @internal */
  readonly start: number;
  readonly #of: PartOf;

  /** @internal */
  constructor(of: PartOf, element: ElementType, start: number, length: number) {
    this.#of = of;
    this.element = element;
    this.start = start;
    this.length = length;
  }

  /** Where its memory is. */
  get state(): BufferState {
    return this.#of.state;
  }

  /** @internal */
  get memory(): Memory {
    return this.#of.memory;
  }

  /** @internal */
  get context(): Context {
    return this.memory.context;
  }

  /** @internal */
  get age(): number {
    return this.#of.age;
  }

  /** The size in bytes. */
  get byteLength(): number {
    return this.length * elements[this.element].size;
  }

  /** A range of this buffer that shares its memory. */
  part(start: number, length = this.length - start): Part {
    this.assertUsable();
    const { size } = elements[this.element];
    assertWithin(this.length, start, length);
    return new Part(this.#of, this.element, this.start + start * size, length);
  }

  /** The same memory with another element type. */
  as(element: ElementType): Part {
    this.assertUsable();
    const { size } = elements[element];
    if (this.byteLength % size !== 0 || this.start % size !== 0)
      throw errorWith('CM5063', { start: this.start, count: Math.ceil(this.byteLength / size) * size, size: this.byteLength });
    return new Part(this.#of, element, this.start, this.byteLength / size);
  }

  /** The memory itself, without a copy. */
  get view(): Arrays[ElementType] {
    this.assertUsable();
    if (!visibility[this.state].host) throw errorWith('CM5060', { what: 'a view', wanted: 'host, staging or unified', given: this.state });
    if (this.state === 'unified' && this.memory.uses > 0) throw errorWith('CM5066', {});
    return arrayOn(this.element, bytesAt(this, this.byteLength));
  }

  /** The device address. */
  get address(): bigint {
    this.assertUsable();
    this.assertKernelVisible('an address');
    return addressOf(this.memory) + BigInt(this.start);
  }

  /** Copies data to the buffer in stream order. */
  write(data: Data<ElementType>, { stream = this.#of.defaultStream }: StreamOption = {}): Work<undefined> {
    this.assertUsable();
    this.assertKernelVisible('a write');
    const bytes = bytesOf(this.element, data).slice();
    assertWithin(this.byteLength, 0, bytes.length);
    return transfer(stream, [this.memory], () => putBytes(this, bytes));
  }

  /** A copy of the contents, in stream order. */
  async read({ stream = this.#of.defaultStream }: StreamOption = {}): Promise<Numbers[ElementType]> {
    this.assertUsable();
    this.assertKernelVisible('a read');
    let bytes = new Uint8Array(0);
    await transfer(stream, [this.memory], () => {
      bytes = bytesAt(this, this.byteLength).slice();
    }).ended();
    return numbersIn(this.element, bytes);
  }

  /** Sets every element in stream order. */
  fill(value: number | bigint, { stream = this.#of.defaultStream }: StreamOption = {}): Work<undefined> {
    this.assertUsable();
    this.assertKernelVisible('a fill');
    const one = bytesOf(this.element, [value] as Data<ElementType>);
    const { low } = this.memory;
    // A device that sets bytes behind its launches does so without waiting for them.
    if (low?.fill && one.every((byte) => byte === one[0]))
      return queuedTransfer(
        stream,
        [this.memory],
        () => this.length === 0 || low.fill!(one[0]!, this.start, this.byteLength) || putBytes(this, repeated(one, this.length)),
      );
    return transfer(stream, [this.memory], () => putBytes(this, repeated(one, this.length)));
  }

  /** Frees the memory when the pending work has finished. */
  free(): void {
    releaseMemory(this.memory, this.age === this.context.age);
  }

  [Symbol.dispose](): void {
    this.free();
  }

  /** Throws if the buffer is not usable. @internal */
  assertUsable(): void {
    assertUsable(this.context, this, 'buffer');
    if (this.memory.isFree) throw errorWith('CM5061', { what: 'buffer', ended: 'freed' });
  }

  /** Throws if kernels cannot access the buffer. @internal */
  assertKernelVisible(what: string): void {
    if (!visibility[this.state].kernels) throw errorWith('CM5060', { what, wanted: 'device or unified', given: this.state });
  }
}

/** The implementation of a buffer; undefined for any other value. */
export const partOf = (value: unknown): Part | undefined => (value instanceof Part ? value : undefined);

/** Enqueues a transfer of bytes in a stream. */
export const transfer = (stream: InStream, uses: readonly Memory[], move: () => void): Work<undefined> =>
  enqueue(stream, () => moved(move), { uses });

/** Enqueues a transfer that the device queues behind its launches, and that is done when they are. */
function queuedTransfer(stream: InStream, uses: readonly Memory[], move: () => unknown): Work<undefined> {
  const start = (): Queued<undefined> => {
    const settled = moved(move);
    return { end: () => settled };
  };
  return enqueue(stream, start, { uses, isQueueable: true });
}

function moved(move: () => unknown): Settled<undefined> {
  try {
    move();
    return nothing;
  } catch (thrown) {
    // Only the driver can fail here; the arguments were checked before.
    return { error: errorWith('CM5075', { why: thrown instanceof Error ? thrown.message : String(thrown) }, {}, thrown) };
  }
}

/** Bytes repeated `count` times. */
export function repeated(bytes: Uint8Array, count: number): Uint8Array {
  const all = new Uint8Array(bytes.length * count);
  if (bytes.every((byte) => byte === bytes[0])) return all.fill(bytes[0] ?? 0);
  for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
  return all;
}
