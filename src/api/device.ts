/** The device of the API: opened by kind, it makes buffers, modules, streams and events, and says what went wrong. */
import { Diagnostics } from '../base/diagnostic.ts';
import { type DeviceInfo, type EngineOptions, type Device as LowDevice, openDevice } from '../device/index.ts';
import { type ElementType, elements } from '../runtime/index.ts';
import { type Arrays, bytesOf, type Data } from './arrays.ts';
import { type Buffer, Part, partOf } from './buffer.ts';
import { type Context, type ContextOptions, errorWith, mayUse, must, newContext, tell } from './context.ts';
import { Event, type EventOptions } from './event.ts';
import { type CumetalError, errorOf } from './failures.ts';
import { loadSource, type ModuleOptions, type ModuleSource } from './load.ts';
import { type BufferState, placeAt, putBytes, takeMemory } from './memory.ts';
import { Module } from './module.ts';
import { addLane, allEnded, ends, newSchedule } from './schedule.ts';
import { Stream, type StreamOptions } from './stream.ts';

export { devices } from '../device/index.ts';

export interface DeviceOptions extends ContextOptions, EngineOptions {}

/** A device and all that is on it. Close it when done, or declare it with `using`; with `await using` its work is waited for. */
export class Device {
  readonly #context: Context;
  #legacy: Stream;
  #perThread: Stream;

  private constructor(context: Context) {
    this.#context = context;
    this.#legacy = new Stream(context, context.schedule.legacy, true);
    this.#perThread = new Stream(context, context.schedule.perThread, true);
  }

  /** Opens `metal`, `cpu` or another kind that is here; `auto` is the GPU of a Mac, else the CPU device. Throws CM6001. */
  static open(kind = 'auto', { print, timeoutMs, ...engine }: DeviceOptions = {}): Device {
    const open = (): LowDevice => must((diagnostics) => openDevice(kind, diagnostics, engine));
    return new Device(newContext(open(), open, contextOptions(print, timeoutMs)));
  }

  /** A device of the API over one that is open, which it closes; `reopen` gives a fresh one for `reset`. */
  static over(low: LowDevice, { reopen, ...options }: ContextOptions & { readonly reopen?: () => LowDevice } = {}): Device {
    return new Device(newContext(low, reopen, options));
  }

  /** Kind, name and limits. */
  get info(): DeviceInfo {
    return this.#context.low.info;
  }

  /** The legacy default stream: it waits for all blocking streams, and they for it. */
  get defaultStream(): Stream {
    return this.#legacy;
  }

  /** The default stream of this thread, an ordinary blocking stream. */
  get perThreadStream(): Stream {
    return this.#perThread;
  }

  /** The error that stays with the device, after which it takes nothing until it is reset. */
  get failure(): CumetalError | undefined {
    return this.#context.fault;
  }

  /** Memory of zeros. Throws CM6012 where there is none. */
  allocate<E extends ElementType, S extends BufferState = 'device'>(element: E, length: number, state?: S): Buffer<E, S> {
    this.mayUse();
    const where: BufferState = state ?? 'device';
    const memory = takeMemory(this.#context, length * elements[element].size, where);
    const part = new Part({ memory, state: where, age: this.#context.age, defaultStream: this.#legacy }, element, 0, length);
    return part as unknown as Buffer<E, S>;
  }

  /** A buffer with the elements of a typed array, or of a list of numbers, in `device` memory or another that kernels see. */
  bufferOf<E extends ElementType, S extends 'device' | 'unified' = 'device'>(
    element: E,
    data: Arrays[E] | readonly number[],
    state?: S,
  ): Buffer<E, S> {
    const buffer = this.allocate(element, data.length, state ?? 'device');
    const part = partOf(buffer)!;
    // Nobody else has it yet, so that it need not wait for its turn.
    putBytes(part, bytesOf(element, data as Data<E>));
    return buffer as unknown as Buffer<E, S>;
  }

  /** Compiles PTX, or takes a metallib. Throws `CompileError` or `PipelineCreationError`. */
  load(source: ModuleSource, options: ModuleOptions = {}): Module {
    this.mayUse();
    const diagnostics = new Diagnostics();
    const low = loadSource(this.#context.low, source, options, diagnostics);
    if (!low) throw errorOf(diagnostics);
    return new Module(low, this.#legacy);
  }

  stream({ nonBlocking = false }: StreamOptions = {}): Stream {
    this.mayUse();
    return new Stream(this.#context, addLane(this.#context.schedule, !nonBlocking));
  }

  event(options: EventOptions = {}): Event {
    this.mayUse();
    return new Event(this.#context, options);
  }

  /** The buffer's memory that an address is in, from there on, as bytes. Throws CM5064. */
  at(address: bigint): Buffer<'u8', 'device'> {
    this.mayUse();
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

  /** Waits for all work of all streams. Rejects with what went wrong, once unless it stays. */
  async synchronize(): Promise<void> {
    this.mayUse();
    await allEnded(ends(this.#context.schedule));
    tell(this.#context);
  }

  /**
   * Starts afresh after an error, as `cudaDeviceReset` does: work under way is given up, and buffers, modules, streams and events of
   * before are gone. Throws CM5061 for a device that cannot be opened again.
   */
  async reset(): Promise<void> {
    const context = this.#context;
    const { reopen } = context;
    if (context.isCallingBack) throw errorWith('CM5069', {});
    if (context.isClosed || !reopen) throw errorWith('CM5061', { what: 'device', ended: context.isClosed ? 'closed' : 'opened elsewhere' });
    context.age++;
    context.isClosed = true;
    context.addressed = [];
    context.untold = undefined;
    const { low, schedule } = context;
    await stopRunning(context);
    await allEnded(ends(schedule));
    low.close();
    context.low = reopen();
    context.schedule = newSchedule();
    context.fault = undefined;
    context.isClosed = false;
    this.#legacy = new Stream(context, context.schedule.legacy, true);
    this.#perThread = new Stream(context, context.schedule.perThread, true);
  }

  /** Gives everything back. Work that has not begun is left out, and work under way is told to end. */
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

  /** Waits for all work, then closes: `await using`. Rejects with what went wrong that nobody was told of. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      if (!this.#context.isClosed) await this.synchronize();
    } finally {
      this.close();
    }
  }

  private mayUse(): void {
    mayUse(this.#context);
  }
}

const contextOptions = (print: ContextOptions['print'], timeoutMs: number | undefined): ContextOptions => ({
  ...(print ? { print } : {}),
  ...(timeoutMs === undefined ? {} : { timeoutMs }),
});

/** Tells launches that are under way to end, and waits for it. */
async function stopRunning({ running }: Context): Promise<void> {
  const all = [...running];
  for (const each of all) each.cancel();
  await Promise.all(all.map(({ done }) => done));
}
