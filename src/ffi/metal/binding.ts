/**
 * Metal as handles, numbers and views of memory instead of pointers, over the flat functions of any way to Metal. The caller owns a handle
 * and releases it once.
 */
import type { Ffi } from '../bun.ts';
import { cText, type Flat } from './flat.ts';

declare const handleBrand: unique symbol;
/** A Metal object. */
export type Handle = number & { readonly [handleBrand]: true };

/** The last error: the parts of an NSError. The domain is `cumetal` if Metal gave no error. */
export interface MetalFault {
  readonly domain: string;
  readonly code: number;
  readonly text: string;
}

export interface DeviceFacts {
  /** Bytes, as are the next two. */
  readonly maxBufferBytes: number;
  readonly workingSetBytes: number;
  readonly maxThreadgroupBytes: number;
  /** The largest threadgroup in x, y and z. */
  readonly maxThreads: readonly [number, number, number];
  readonly allocatedBytes: number;
  readonly hasUnifiedMemory: boolean;
}

export interface PipelineFacts {
  /** The largest threadgroup, in threads; smaller than the device's limit if the kernel needs many registers. */
  readonly maxThreads: number;
  /** Threads per simdgroup. */
  readonly width: number;
  readonly staticBytes: number;
}

/** The result of completed commands. */
export interface Outcome {
  readonly hasFailed: boolean;
  /** Milliseconds on the GPU; 0 if the device does not report it. */
  readonly gpuMs: number;
}

/** Reports completion of commands without a call of Metal: a memory word that a completion block stores. */
export interface Completion {
  /** Whether the block has run. */
  isDone(): boolean;
  /** Releases the word, whether the block has run or not. */
  free(): void;
}

type Dims = readonly [number, number, number];

export interface MetalBinding {
  /** The name of the way to Metal. */
  readonly way: string;
  lastFault(): MetalFault;
  release(object: Handle): void;
  setLabel(object: Handle, text: string): void;
  pause(microseconds: number): void;
  device(): Handle | undefined;
  deviceName(device: Handle): string;
  deviceFacts(device: Handle): DeviceFacts;
  supportsFamily(device: Handle, family: number): boolean;
  queue(device: Handle, maxCommandBuffers: number): Handle | undefined;
  library(device: Handle, bytes: Uint8Array): Handle | undefined;
  /** A library of a text in the Metal Shading Language of a version, without fast math. */
  sourceLibrary(device: Handle, text: string, version: readonly [number, number]): Handle | undefined;
  functionCount(library: Handle): number;
  function(library: Handle, name: string): Handle | undefined;
  pipeline(device: Handle, of: Handle): Handle | undefined;
  pipelineFacts(pipeline: Handle): PipelineFacts;
  /** Memory that host and device share. The content is undefined. */
  buffer(device: Handle, bytes: number): Handle | undefined;
  /** A buffer over whole pages of the caller's memory, which must outlive the buffer. */
  bufferOver(device: Handle, memory: Uint8Array): Handle | undefined;
  /** A view of the memory without a copy, valid until the buffer is released. At most 4 GiB at once. */
  view(buffer: Handle, offset: number, bytes: number): Uint8Array;
  address(buffer: Handle): bigint;
  commands(queue: Handle): Handle | undefined;
  compute(commands: Handle): Handle | undefined;
  blit(commands: Handle): Handle | undefined;
  /** Ends an encoder. Call it once, before the release. */
  end(encoder: Handle): void;
  /** Call it before `commit`. */
  watch(commands: Handle): Completion;
  commit(commands: Handle): void;
  hasEnded(commands: Handle): boolean;
  outcome(commands: Handle): Outcome;
  setPipeline(encoder: Handle, pipeline: Handle): void;
  setBuffer(encoder: Handle, buffer: Handle, offset: number, slot: number): void;
  /** 1 to 4096 bytes. */
  setBytes(encoder: Handle, bytes: Uint8Array, slot: number): void;
  setThreadgroupMemory(encoder: Handle, bytes: number, slot: number): void;
  /** Makes a buffer resident that the kernel accesses by address. */
  use(encoder: Handle, buffer: Handle): void;
  dispatch(encoder: Handle, groups: Dims, threads: Dims): void;
  copy(encoder: Handle, from: Handle, fromOffset: number, to: Handle, toOffset: number, bytes: number): void;
  fill(encoder: Handle, buffer: Handle, offset: number, bytes: number, value: number): void;
  event(device: Handle): Handle | undefined;
  eventValue(event: Handle): bigint;
  setEvent(event: Handle, value: bigint): void;
  /** Whether the event reached the value in time. */
  waitForEvent(event: Handle, value: bigint, milliseconds: number): boolean;
  signal(commands: Handle, event: Handle, value: bigint): void;
  await(commands: Handle, event: Handle, value: bigint): void;
  startCapture(device: Handle, path: string): boolean;
  stopCapture(): void;
}

/** `MTLCommandBufferStatus`. */
const status = { completed: 4, error: 5 } as const;
/** `MTLResourceUsage`: read and write. */
const readAndWrite = 3;

export interface WayTraits {
  readonly way: string;
  /** Whether commands accept a completion block, which stores their status. */
  readonly hasBlocks: boolean;
}

const handleOf = (pointer: number | null): Handle | undefined => (pointer ? (pointer as Handle) : undefined);

/** The binding over the flat functions of a way to Metal. */
export const bindingOver = (flat: Flat, ffi: Ffi, { way, hasBlocks }: WayTraits): MetalBinding => ({
  way,
  lastFault: () => ({
    domain: String(flat.cm_error_domain()),
    code: Number(flat.cm_error_code()),
    text: String(flat.cm_error_text()),
  }),
  release: flat.cm_release,
  setLabel: (object, text) => flat.cm_set_label(object, cText(text)),
  pause: flat.cm_pause,
  ...deviceFunctions(flat),
  ...libraryFunctions(flat),
  ...bufferFunctions(flat, ffi),
  ...commandFunctions(flat, hasBlocks),
  ...encoderFunctions(flat),
  ...eventFunctions(flat),
});

function deviceFunctions(flat: Flat) {
  const out = new BigUint64Array(9);
  return {
    device: () => handleOf(flat.cm_device()),
    deviceName(device) {
      const name = new Uint8Array(256);
      return new TextDecoder().decode(name.subarray(0, flat.cm_device_name(device, name, name.length)));
    },
    deviceFacts(device) {
      flat.cm_device_facts(device, out);
      return {
        maxBufferBytes: Number(out[0]),
        workingSetBytes: Number(out[1]),
        maxThreadgroupBytes: Number(out[2]),
        maxThreads: [Number(out[3]), Number(out[4]), Number(out[5])],
        allocatedBytes: Number(out[6]),
        hasUnifiedMemory: Number(out[7]) !== 0,
      };
    },
    supportsFamily: (device, family) => flat.cm_supports_family(device, family) !== 0,
    queue: (device, most) => handleOf(flat.cm_queue(device, most)),
  } satisfies Partial<MetalBinding>;
}

function libraryFunctions(flat: Flat) {
  const out = new BigUint64Array(3);
  return {
    library: (device, bytes) => handleOf(flat.cm_library(device, bytes.length > 0 ? bytes : cText(''), bytes.length)),
    sourceLibrary: (device, text, [major, minor]) => handleOf(flat.cm_library_source(device, cText(text), (major << 16) + minor)),
    functionCount: (library) => Number(flat.cm_library_count(library)),
    function: (library, name) => handleOf(flat.cm_function(library, cText(name))),
    pipeline: (device, of) => handleOf(flat.cm_pipeline(device, of)),
    pipelineFacts(pipeline) {
      flat.cm_pipeline_facts(pipeline, out);
      return { maxThreads: Number(out[0]), width: Number(out[1]), staticBytes: Number(out[2]) };
    },
  } satisfies Partial<MetalBinding>;
}

const bufferFunctions = (flat: Flat, ffi: Ffi) =>
  ({
    buffer: (device, bytes) => handleOf(flat.cm_buffer(device, bytes, 0)),
    bufferOver: (device, memory) => handleOf(flat.cm_buffer_over(device, memory, memory.length, 0)),
    view(buffer, offset, bytes) {
      if (bytes === 0) return new Uint8Array(0);
      const start = flat.cm_buffer_contents(buffer)!;
      return new Uint8Array(ffi.toArrayBuffer(start as never, offset, bytes));
    },
    address: (buffer) => flat.cm_buffer_address(buffer),
  }) satisfies Partial<MetalBinding>;

function commandFunctions(flat: Flat, hasBlocks: boolean) {
  const times = new Float64Array(4);
  return {
    commands: (queue) => handleOf(flat.cm_commands(queue)),
    compute: (commands) => handleOf(flat.cm_compute(commands)),
    blit: (commands) => handleOf(flat.cm_blit(commands)),
    end: flat.cm_end,
    watch(commands) {
      if (!hasBlocks) return { isDone: () => false, free: () => {} };
      const word = allocateWord();
      flat.cm_on_complete(commands, word);
      return { isDone: () => isStored(word), free: () => void (isStored(word) ? freeWords : abandonedWords).push(word) };
    },
    commit: flat.cm_commit,
    hasEnded: (commands) => flat.cm_status(commands) >= status.completed,
    outcome(commands) {
      const last = flat.cm_outcome(commands, times);
      return { hasFailed: last === status.error, gpuMs: Math.max(0, times[1]! - times[0]!) * 1000 };
    },
  } satisfies Partial<MetalBinding>;
}

function encoderFunctions(flat: Flat) {
  const [groupWords, threadWords] = [new BigUint64Array(3), new BigUint64Array(3)];
  return {
    setPipeline: flat.cm_set_pipeline,
    setBuffer: flat.cm_set_buffer,
    setBytes: (encoder, bytes, slot) => flat.cm_set_bytes(encoder, bytes, bytes.length, slot),
    setThreadgroupMemory: flat.cm_set_threadgroup_memory,
    use: (encoder, buffer) => flat.cm_use(encoder, buffer, readAndWrite),
    dispatch(encoder, groups, threads) {
      for (let i = 0; i < 3; i++) {
        groupWords[i] = BigInt(groups[i]!);
        threadWords[i] = BigInt(threads[i]!);
      }
      flat.cm_dispatch(encoder, groupWords, threadWords);
    },
    copy: flat.cm_copy,
    fill: flat.cm_fill,
  } satisfies Partial<MetalBinding>;
}

const eventFunctions = (flat: Flat) =>
  ({
    event: (device) => handleOf(flat.cm_event(device)),
    eventValue: flat.cm_event_value,
    setEvent: flat.cm_event_set,
    waitForEvent: (event, value, milliseconds) => flat.cm_event_wait(event, value, milliseconds) !== 0,
    signal: flat.cm_signal,
    await: flat.cm_await,
    startCapture: (device, path) => flat.cm_capture_start(device, cText(path)) !== 0,
    stopCapture: flat.cm_capture_stop,
  }) satisfies Partial<MetalBinding>;

/**
 * Memory words for the status that completion blocks store. A block may run after its launch was abandoned, so these lists hold every word
 * that a block may still write. The words have a buffer of their own so that they never move.
 */
let abandonedWords: Uint32Array[] = [];
const freeWords: Uint32Array[] = [];

const isStored = (word: Uint32Array): boolean => Atomics.load(word, 0) >= status.completed;

function allocateWord(): Uint32Array {
  if (abandonedWords.length > 0) {
    freeWords.push(...abandonedWords.filter(isStored));
    abandonedWords = abandonedWords.filter((word) => !isStored(word));
  }
  const word = freeWords.pop() ?? new Uint32Array(new ArrayBuffer(4));
  Atomics.store(word, 0, 0);
  return word;
}
