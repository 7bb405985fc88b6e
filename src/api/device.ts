/// <reference lib="esnext.disposable" preserve="true" />
/** The device of the API: opens a device by kind, creates buffers, modules, streams and events, and reports errors. */
import { Diagnostics } from '../base/diagnostic.ts';
import {
  type DeviceInfo,
  type DeviceKind,
  type EngineOptions,
  type Device as LowDevice,
  openDevice,
  prepareWebgpu,
} from '../device/index.ts';
import { type ElementType, elements } from '../runtime/index.ts';
import { type Arrays, bytesOf, type Data, type Numbers, type ValueOf } from './arrays.ts';
import { type Buffer, Part, partOf } from './buffer.ts';
import {
  assertTimeLimit,
  assertUsable,
  type Context,
  type ContextOptions,
  errorWith,
  newContext,
  orThrow,
  synchronizeWith,
} from './context.ts';
import { Event, type EventOptions } from './event.ts';
import { type CumetalError, errorOf } from './failures.ts';
import { loadSource, type ModuleOptions, type ModuleSource } from './load.ts';
import { allocateMemory, type BufferState, placeAt, putBytes } from './memory.ts';
import { Module } from './module.ts';
import { MemoryPool, type MemoryPoolOptions } from './pool.ts';
import { addLane, allEnded, newSchedule, unfinished } from './schedule.ts';
import { Stream, type StreamOptions } from './stream.ts';
import { noteHeard } from './unheard.ts';

export { devices } from '../device/index.ts';

/** The options of `Device.open`. */
export interface DeviceOptions extends ContextOptions, EngineOptions {}

/** A device and its objects. Close it when done, or declare it with `using`; `await using` waits for its work. */
export class Device {
  readonly #context: Context;
  #legacy: Stream;
  #perThread: Stream;
  #pool: MemoryPool | undefined;

  private constructor(context: Context) {
    this.#context = context;
    this.#legacy = new Stream(context, context.schedule.legacy, true);
    this.#perThread = new Stream(context, context.schedule.perThread, true);
  }

  /** Opens `metal`, `cpu` or another available kind; `auto` is the GPU of a Mac, otherwise the CPU device. Throws CM5077, CM5078, CM6001. */
  static open(kind: DeviceKind = 'auto', options: DeviceOptions = {}): Device {
    assertTimeLimit(options.timeoutMs);
    const open = (): LowDevice => orThrow((diagnostics) => openDevice(kind, diagnostics, { ...options, inBackground: true }));
    return new Device(newContext(open(), open, options));
  }

  /**
   * Opens a device as `open` does, and waits for what only answers later: in a worker of a page the GPU of `webgpu`, which has to be connected before it is opened.
   */
  static async connect(kind: DeviceKind = 'auto', options: DeviceOptions = {}): Promise<Device> {
    const why = kind === 'webgpu' ? await prepareWebgpu() : undefined;
    if (why !== undefined) orThrow((diagnostics) => void diagnostics.report('CM6001', { name: kind }, { notes: [why] }));
    return Device.open(kind, options);
  }

  /** Wraps an open device, and takes ownership of it; `reopen` creates a new one for `reset`. */
  static over(low: LowDevice, { reopen, ...options }: ContextOptions & { readonly reopen?: () => LowDevice } = {}): Device {
    assertTimeLimit(options.timeoutMs);
    return new Device(newContext(low, reopen, options));
  }

  /** Kind, name and limits. */
  get info(): DeviceInfo {
    return this.#context.low.info;
  }

  /** The legacy default stream, which synchronizes with all blocking streams. */
  get defaultStream(): Stream {
    return this.#legacy;
  }

  /** The default stream of this thread, an ordinary blocking stream. */
  get perThreadStream(): Stream {
    return this.#perThread;
  }

  /** The sticky error of the device, after which it accepts no work until it is reset. */
  get failure(): CumetalError | undefined {
    if (this.#context.fault) noteHeard(this.#context);
    return this.#context.fault;
  }

  /** Callers ask for errors themselves, as those of CUDA's functions do, so that none is an unhandled rejection. @internal */
  poll(): void {
    this.#context.unheard.isPolled = true;
  }

  /** Allocates zeroed memory for `length` elements, in the `device` state by default. Throws CM6012 if there is not enough. */
  // Overloads, because an omitted state would be inferred from where the buffer goes, which may allow several states.
  allocate<E extends ElementType>(element: E, length: number): Buffer<E, 'device'>;
  allocate<E extends ElementType, S extends BufferState>(element: E, length: number, state: S): Buffer<E, S>;
  allocate(element: ElementType, length: number, where: BufferState = 'device'): unknown {
    this.assertUsable();
    const memory = allocateMemory(this.#context, length * elements[element].size, where);
    return new Part({ memory, state: where, age: this.#context.age, defaultStream: this.#legacy }, element, 0, length);
  }

  /** A buffer with the elements of a typed array or a list of numbers, in `device` or `unified` memory. */
  bufferOf<E extends ElementType>(element: E, data: Arrays[E] | Numbers[E] | readonly ValueOf<E>[]): Buffer<E, 'device'>;
  bufferOf<E extends ElementType, S extends 'device' | 'unified'>(
    element: E,
    data: Arrays[E] | Numbers[E] | readonly ValueOf<E>[],
    state: S,
  ): Buffer<E, S>;
  bufferOf(element: ElementType, data: Data<ElementType> & { readonly length: number }, state: BufferState = 'device'): unknown {
    const buffer = this.allocate(element, data.length, state);
    // The buffer is new, so the write needs no stream order.
    putBytes(partOf(buffer)!, bytesOf(element, data));
    return buffer;
  }

  /** Compiles and loads PTX, or loads a metallib. Throws `CompileError` or `PipelineCreationError`. */
  load(source: ModuleSource, options: ModuleOptions = {}): Module {
    this.assertUsable();
    const diagnostics = new Diagnostics();
    const low = loadSource(this.#context.low, source, options, diagnostics);
    if (!low) throw errorOf(diagnostics);
    return new Module(low, this.#legacy);
  }

  /** Creates a pool of memory that is allocated and freed in stream order. Throws CM5078. */
  memoryPool(options: MemoryPoolOptions = {}): MemoryPool {
    this.assertUsable();
    return new MemoryPool(this.#context, this.#legacy, options);
  }

  /** The pool of the device, as that of `cudaMallocAsync`. */
  get defaultPool(): MemoryPool {
    this.assertUsable();
    this.#pool ??= new MemoryPool(this.#context, this.#legacy, {});
    return this.#pool;
  }

  /** Creates a stream, which synchronizes with the legacy default stream unless it is `nonBlocking`. */
  stream({ nonBlocking = false }: StreamOptions = {}): Stream {
    this.assertUsable();
    return new Stream(this.#context, addLane(this.#context.schedule, !nonBlocking));
  }

  /** Creates an event, which records times unless `timing` is false. */
  event(options: EventOptions = {}): Event {
    this.assertUsable();
    return new Event(this.#context, options);
  }

  /** The bytes of a buffer from a device address on. Throws CM5064. */
  at(address: bigint): Buffer<'u8', 'device'> {
    this.assertUsable();
    const place = placeAt(this.#context, address);
    if (!place) throw errorWith('CM5064', { address: `0x${address.toString(16)}` });
    const { memory, start } = place;
    const part = new Part(
      { memory, state: 'device', age: this.#context.age, defaultStream: this.#legacy },
      'u8',
      start,
      memory.size - start,
    );
    return part as unknown as Buffer<'u8', 'device'>;
  }

  /** Waits for all work of all streams. Rejects with its error, once unless it is sticky. */
  async synchronize(): Promise<void> {
    this.assertUsable();
    await synchronizeWith(this.#context, unfinished(this.#context.schedule));
  }

  /**
   * Reopens the device after an error, as `cudaDeviceReset` does: pending work is canceled, and existing buffers, modules, streams and
   * events become invalid. Throws CM5061 for a device that cannot be reopened.
   */
  async reset(): Promise<void> {
    const context = this.#context;
    const { reopen } = context;
    if (context.isCallingBack) throw errorWith('CM5069', {});
    if (context.isClosed || !reopen) throw errorWith('CM5061', { what: 'device', ended: context.isClosed ? 'closed' : 'opened elsewhere' });
    context.age++;
    context.isClosed = true;
    context.addressed = [];
    context.pools.clear();
    this.#pool = undefined;
    context.unreported = undefined;
    const { low, schedule } = context;
    await stopRunning(context);
    await allEnded(unfinished(schedule));
    low.close();
    context.low = reopen();
    context.schedule = newSchedule();
    context.fault = undefined;
    context.isClosed = false;
    this.#legacy = new Stream(context, context.schedule.legacy, true);
    this.#perThread = new Stream(context, context.schedule.perThread, true);
  }

  /** Releases all resources. Work that has not started is dropped, and running launches are canceled. */
  close(): void {
    const context = this.#context;
    if (context.isClosed) return;
    context.isClosed = true;
    if (context.running.size === 0) context.low.close();
    else void stopRunning(context).then(() => context.low.close());
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Waits for all work, then closes: `await using`. Rejects with an unreported error. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (!this.#context.isClosed) await this.synchronize();
    } finally {
      this.close();
    }
  }

  private assertUsable(): void {
    assertUsable(this.#context);
  }
}

/** Cancels running launches, and waits for their end. */
async function stopRunning({ running }: Context): Promise<void> {
  const all = [...running];
  for (const each of all) each.cancel();
  await Promise.all(all.map(({ done }) => done));
}
