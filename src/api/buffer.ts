/**
 * Typed buffers. What a buffer may be used for follows from its state, in TypeScript by its type and when it runs by CM5060: kernels
 * take `device` and `unified` memory, and the host looks at `host`, `staging` and `unified` memory.
 */
import { type ElementType, elements } from '../runtime/index.ts';
import { type Arrays, arrayOn, bytesOf, type Data, type ValueOf } from './arrays.ts';
import { type Context, errorWith, type Memory, mayUse, type Owned } from './context.ts';
import { addressOf, type BufferState, bytesAt, giveBack, mustHold, type Place, putBytes, sight } from './memory.ts';
import { enqueue, type InStream, nothing, type Work } from './work.ts';

/** In which stream; the legacy default stream where nothing is said. */
export interface StreamOption {
  readonly stream?: InStream;
}

interface Common<E extends ElementType, S extends BufferState> {
  readonly element: E;
  readonly state: S;
  /** Elements. */
  readonly length: number;
  readonly byteLength: number;
  /** Elements of this buffer as a buffer, which shares its memory. To the end where no length is said. */
  part(start: number, length?: number): Buffer<E, S>;
  /** The same memory as elements of another type. */
  as<F extends ElementType>(element: F): Buffer<F, S>;
  /** Gives the memory back, to all parts, when the work that was handed over before has ended. */
  free(): void;
  [Symbol.dispose](): void;
}

/** What the host can do with memory that it sees. */
interface Seen<E extends ElementType> {
  /** The memory itself, without a copy. Of unified memory CM5066 while work uses it; keep no view over a launch. */
  readonly view: Arrays[E];
}

/** What the host can do with memory of the device. */
interface Reached<E extends ElementType> {
  /** Where kernels see the buffer: to be put into memory that they read, or moved within the buffer and given as an argument. */
  readonly address: bigint;
  /** Copies data to the buffer when the stream comes to it. The data is taken at once, so it may change afterwards. */
  write(data: Data<E>, options?: StreamOption): Work<undefined>;
  /** A copy of what the buffer holds when the stream comes to it. */
  read(options?: StreamOption): Promise<Arrays[E]>;
  fill(value: ValueOf<E>, options?: StreamOption): Work<undefined>;
}

/** Memory of one state with elements of one type. */
export type Buffer<E extends ElementType = ElementType, S extends BufferState = BufferState> = Common<E, S> &
  (S extends 'device' ? Reached<E> : S extends 'unified' ? Reached<E> & Seen<E> : Seen<E>);

/** A buffer that kernels see. */
export type KernelBuffer<E extends ElementType = ElementType> = Buffer<E, 'device'> | Buffer<E, 'unified'>;

interface PartOf {
  readonly memory: Memory;
  readonly state: BufferState;
  readonly age: number;
  readonly defaultStream: InStream;
}

/** Every buffer, whatever its state: what the types above do not show is refused. */
export class Part implements Owned, Place {
  readonly element: ElementType;
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

  get byteLength(): number {
    return this.length * elements[this.element].size;
  }

  part(start: number, length = this.length - start): Part {
    this.mayUse();
    const { size } = elements[this.element];
    // Of whole elements.
    mustHold(this.length, start, length);
    return new Part(this.#of, this.element, this.start + start * size, length);
  }

  as(element: ElementType): Part {
    this.mayUse();
    const { size } = elements[element];
    if (this.byteLength % size !== 0 || this.start % size !== 0)
      throw errorWith('CM5063', { start: this.start, count: Math.ceil(this.byteLength / size) * size, size: this.byteLength });
    return new Part(this.#of, element, this.start, this.byteLength / size);
  }

  get view(): Arrays[ElementType] {
    this.mayUse();
    if (!sight[this.state].host) throw errorWith('CM5060', { what: 'a view', wanted: 'host, staging or unified', given: this.state });
    if (this.state === 'unified' && this.memory.uses > 0) throw errorWith('CM5066', {});
    return arrayOn(this.element, bytesAt(this, this.byteLength));
  }

  get address(): bigint {
    this.mayUse();
    this.mustBeSeen('an address');
    return addressOf(this.memory) + BigInt(this.start);
  }

  write(data: Data<ElementType>, { stream = this.#of.defaultStream }: StreamOption = {}): Work<undefined> {
    this.mayUse();
    this.mustBeSeen('writing');
    const bytes = bytesOf(this.element, data).slice();
    mustHold(this.byteLength, 0, bytes.length);
    return transfer(stream, [this.memory], () => putBytes(this, bytes));
  }

  async read({ stream = this.#of.defaultStream }: StreamOption = {}): Promise<Arrays[ElementType]> {
    this.mayUse();
    this.mustBeSeen('reading');
    let bytes = new Uint8Array(0);
    await transfer(stream, [this.memory], () => {
      bytes = bytesAt(this, this.byteLength).slice();
    }).ended();
    return arrayOn(this.element, bytes);
  }

  fill(value: number | bigint, { stream = this.#of.defaultStream }: StreamOption = {}): Work<undefined> {
    this.mayUse();
    this.mustBeSeen('filling');
    const one = bytesOf(this.element, [value] as Data<ElementType>);
    return transfer(stream, [this.memory], () => putBytes(this, repeated(one, this.length)));
  }

  free(): void {
    giveBack(this.memory, this.age === this.context.age);
  }

  [Symbol.dispose](): void {
    this.free();
  }

  /** Throws where the buffer may not be used. @internal */
  mayUse(): void {
    mayUse(this.context, this, 'buffer');
    if (this.memory.isFree) throw errorWith('CM5061', { what: 'buffer', ended: 'freed' });
  }

  /** Throws where kernels do not see the buffer. @internal */
  mustBeSeen(what: string): void {
    if (!sight[this.state].kernels) throw errorWith('CM5060', { what, wanted: 'device or unified', given: this.state });
  }
}

/** The buffer behind the types; nothing for what is none. */
export const partOf = (value: unknown): Part | undefined => (value instanceof Part ? value : undefined);

/** Moves bytes when a stream comes to it. */
export const transfer = (stream: InStream, uses: readonly Memory[], move: () => void): Work<undefined> =>
  enqueue(
    stream,
    () => {
      try {
        move();
        return nothing;
      } catch (thrown) {
        // A driver that does not copy; everything of ours was checked before.
        return { error: errorWith('CM5075', { why: thrown instanceof Error ? thrown.message : String(thrown) }, {}, thrown) };
      }
    },
    { uses },
  );

/** Bytes, so many times. */
export function repeated(bytes: Uint8Array, count: number): Uint8Array {
  const all = new Uint8Array(bytes.length * count);
  if (bytes.every((byte) => byte === bytes[0])) return all.fill(bytes[0] ?? 0);
  for (let i = 0; i < count; i++) all.set(bytes, i * bytes.length);
  return all;
}
