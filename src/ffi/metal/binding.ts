/**
 * Metal for the rest of the program: handles, numbers and views of memory in place of pointers, over the flat functions of
 * whichever way there is. A handle is the caller's until it is released, once.
 */
import type { Ffi } from '../bun.ts';
import { cText, type Flat } from './flat.ts';

declare const handleBrand: unique symbol;
/** An object of Metal. */
export type Handle = number & { readonly [handleBrand]: true };

/** The last error: NSError's parts; the domain `cumetal` where Metal itself said nothing. */
export interface MetalFault {
  readonly domain: string;
  readonly code: number;
  readonly text: string;
}

export interface DeviceFacts {
  /** Bytes, as the two that follow. */
  readonly maxBufferBytes: number;
  readonly workingSetBytes: number;
  readonly maxThreadgroupBytes: number;
  /** Threads of a threadgroup in x, y, z. */
  readonly maxThreads: readonly [number, number, number];
  readonly allocatedBytes: number;
  readonly hasUnifiedMemory: boolean;
}

export interface PipelineFacts {
  /** Most threads of a threadgroup, fewer than the device's where the kernel needs many registers. */
  readonly maxThreads: number;
  /** Threads of a simdgroup. */
  readonly width: number;
  readonly staticBytes: number;
}

/** Of commands that have ended. */
export interface Outcome {
  readonly hasFailed: boolean;
  /** Milliseconds on the GPU; 0 where the device does not say. */
  readonly gpuMs: number;
}

/** What tells that commands have ended without asking Metal: a word that a completion block stores. */
export interface Completion {
  /** Whether the block has run. */
  isDone(): boolean;
  /** For the end of waiting, whether the block has run or not. */
  free(): void;
}

type Dims = readonly [number, number, number];

export interface MetalBinding {
  /** In words, which way it goes to Metal. */
  readonly way: string;
  lastFault(): MetalFault;
  release(object: Handle): void;
  setLabel(object: Handle, text: string): void;
  pause(microseconds: number): void;
  device(): Handle | undefined;
  deviceName(device: Handle): string;
  deviceFacts(device: Handle): DeviceFacts;
  supportsFamily(device: Handle, family: number): boolean;
  queue(device: Handle, mostCommandBuffers: number): Handle | undefined;
  library(device: Handle, bytes: Uint8Array): Handle | undefined;
  functionCount(library: Handle): number;
  function(library: Handle, name: string): Handle | undefined;
  pipeline(device: Handle, of: Handle): Handle | undefined;
  pipelineFacts(pipeline: Handle): PipelineFacts;
  /** Memory that host and device share; nothing is promised of what it holds. */
  buffer(device: Handle, bytes: number): Handle | undefined;
  /** A buffer over memory of the caller, which outlives it; whole pages. */
  bufferOver(device: Handle, memory: Uint8Array): Handle | undefined;
  /** The memory itself, without a copy, good until the buffer is released. At most 4 GiB at once. */
  view(buffer: Handle, offset: number, bytes: number): Uint8Array;
  address(buffer: Handle): bigint;
  commands(queue: Handle): Handle | undefined;
  compute(commands: Handle): Handle | undefined;
  blit(commands: Handle): Handle | undefined;
  /** Ends an encoder: once, and before it is released. */
  end(encoder: Handle): void;
  /** Before `commit`. */
  watch(commands: Handle): Completion;
  commit(commands: Handle): void;
  hasEnded(commands: Handle): boolean;
  outcome(commands: Handle): Outcome;
  setPipeline(encoder: Handle, pipeline: Handle): void;
  setBuffer(encoder: Handle, buffer: Handle, offset: number, slot: number): void;
  /** At most 4096 bytes, and at least one. */
  setBytes(encoder: Handle, bytes: Uint8Array, slot: number): void;
  setThreadgroupMemory(encoder: Handle, bytes: number, slot: number): void;
  /** Makes a buffer resident that a kernel reads and writes by its address. */
  use(encoder: Handle, buffer: Handle): void;
  dispatch(encoder: Handle, groups: Dims, threads: Dims): void;
  copy(encoder: Handle, from: Handle, fromOffset: number, to: Handle, toOffset: number, bytes: number): void;
  fill(encoder: Handle, buffer: Handle, offset: number, bytes: number, value: number): void;
  event(device: Handle): Handle | undefined;
  eventValue(event: Handle): bigint;
  setEvent(event: Handle, value: bigint): void;
  /** Whether it had the value in time. */
  waitForEvent(event: Handle, value: bigint, milliseconds: number): boolean;
  signal(commands: Handle, event: Handle, value: bigint): void;
  await(commands: Handle, event: Handle, value: bigint): void;
  startCapture(device: Handle, path: string): boolean;
  stopCapture(): void;
}

/** `MTLCommandBufferStatus`. */
const status = { completed: 4, error: 5 } as const;
/** `MTLResourceUsage`: read and written. */
const readAndWrite = 3;

export interface Way {
  readonly way: string;
  /** Whether commands can be given a block, which stores their status. */
  readonly hasBlocks: boolean;
}

/** The binding over a way's flat functions. */
export function bindingOver(flat: Flat, ffi: Ffi, { way, hasBlocks }: Way): MetalBinding {
  const out = new BigUint64Array(9);
  const times = new Float64Array(4);
  const [groupWords, threadWords] = [new BigUint64Array(3), new BigUint64Array(3)];
  const given = (pointer: number | null): Handle | undefined => (pointer ? (pointer as Handle) : undefined);
  const number = (i: number): number => Number(out[i]);
  return {
    way,
    lastFault: () => ({
      domain: String(flat.cm_error_domain()),
      code: Number(flat.cm_error_code()),
      text: String(flat.cm_error_text()),
    }),
    release: flat.cm_release,
    setLabel: (object, text) => flat.cm_set_label(object, cText(text)),
    pause: flat.cm_pause,
    device: () => given(flat.cm_device()),
    deviceName(device) {
      const name = new Uint8Array(256);
      return new TextDecoder().decode(name.subarray(0, flat.cm_device_name(device, name, name.length)));
    },
    deviceFacts(device) {
      flat.cm_device_facts(device, out);
      return {
        maxBufferBytes: number(0),
        workingSetBytes: number(1),
        maxThreadgroupBytes: number(2),
        maxThreads: [number(3), number(4), number(5)],
        allocatedBytes: number(6),
        hasUnifiedMemory: number(7) !== 0,
      };
    },
    supportsFamily: (device, family) => flat.cm_supports_family(device, family) !== 0,
    queue: (device, most) => given(flat.cm_queue(device, most)),
    library: (device, bytes) => given(flat.cm_library(device, bytes.length > 0 ? bytes : cText(''), bytes.length)),
    functionCount: (library) => Number(flat.cm_library_count(library)),
    function: (library, name) => given(flat.cm_function(library, cText(name))),
    pipeline: (device, of) => given(flat.cm_pipeline(device, of)),
    pipelineFacts(pipeline) {
      flat.cm_pipeline_facts(pipeline, out);
      return { maxThreads: number(0), width: number(1), staticBytes: number(2) };
    },
    buffer: (device, bytes) => given(flat.cm_buffer(device, bytes, 0)),
    bufferOver: (device, memory) => given(flat.cm_buffer_over(device, memory, memory.length, 0)),
    view(buffer, offset, bytes) {
      if (bytes === 0) return new Uint8Array(0);
      const start = flat.cm_buffer_contents(buffer)!;
      return new Uint8Array(ffi.toArrayBuffer(start as never, offset, bytes));
    },
    address: (buffer) => flat.cm_buffer_address(buffer),
    commands: (queue) => given(flat.cm_commands(queue)),
    compute: (commands) => given(flat.cm_compute(commands)),
    blit: (commands) => given(flat.cm_blit(commands)),
    end: flat.cm_end,
    watch(commands) {
      if (!hasBlocks) return { isDone: () => false, free: () => {} };
      const word = takeWord();
      flat.cm_on_complete(commands, word);
      return { isDone: () => isStored(word), free: () => void (isStored(word) ? spareWords : leftWords).push(word) };
    },
    commit: flat.cm_commit,
    hasEnded: (commands) => flat.cm_status(commands) >= status.completed,
    outcome(commands) {
      const last = flat.cm_outcome(commands, times);
      return { hasFailed: last === status.error, gpuMs: Math.max(0, times[1]! - times[0]!) * 1000 };
    },
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
    event: (device) => given(flat.cm_event(device)),
    eventValue: flat.cm_event_value,
    setEvent: flat.cm_event_set,
    waitForEvent: (event, value, milliseconds) => flat.cm_event_wait(event, value, milliseconds) !== 0,
    signal: flat.cm_signal,
    await: flat.cm_await,
    startCapture: (device, path) => flat.cm_capture_start(device, cText(path)) !== 0,
    stopCapture: flat.cm_capture_stop,
  };
}

/**
 * Words that completion blocks store the last status in. Those that one may still store into are held here, for a block may run
 * after the launch that waited for it was given up. They have a buffer of their own, so that they never move.
 */
let leftWords: Uint32Array[] = [];
const spareWords: Uint32Array[] = [];

const isStored = (word: Uint32Array): boolean => Atomics.load(word, 0) >= status.completed;

function takeWord(): Uint32Array {
  if (leftWords.length > 0) {
    spareWords.push(...leftWords.filter(isStored));
    leftWords = leftWords.filter((word) => !isStored(word));
  }
  const word = spareWords.pop() ?? new Uint32Array(new ArrayBuffer(4));
  Atomics.store(word, 0, 0);
  return word;
}
