/**
 * The flat functions without any C: `objc_msgSend` itself, bound once for each shape of arguments. That works on arm64, where a
 * struct of more than 16 bytes travels as its address and one of 16 in two registers. What it cannot do is build a block, so
 * nothing stores a status by itself, and whoever waits asks.
 *
 * Source: AAPCS64, and Apple's arm64 ABI as far as it differs; selectors as spec/support/metal/headers.ts has them.
 */
import { bunFfi, type Ffi } from '../bun.ts';
import { bindingOver, type MetalBinding } from './binding.ts';
import { abi, cText, type Flat, type Pointer, type TypeName } from './flat.ts';
import { openAlso, type SystemLibraries } from './system.ts';

/**
 * Every message that is sent: the result, then the arguments, as bun:ffi names types. A `size` is a struct of three words, which
 * goes by its address; a `range` is one of two, which is two arguments.
 */
export const messages = {
  retain: ['ptr'],
  release: ['void'],
  new: ['ptr'],
  'stringWithUTF8String:': ['ptr', 'ptr'],
  UTF8String: ['cstring'],
  count: ['u64'],
  'objectAtIndex:': ['ptr', 'u64'],
  domain: ['ptr'],
  code: ['i64'],
  localizedDescription: ['ptr'],
  'fileURLWithPath:': ['ptr', 'ptr'],
  'setLabel:': ['void', 'ptr'],
  name: ['ptr'],
  maxBufferLength: ['u64'],
  recommendedMaxWorkingSetSize: ['u64'],
  maxThreadgroupMemoryLength: ['u64'],
  currentAllocatedSize: ['u64'],
  hasUnifiedMemory: ['bool'],
  registryID: ['u64'],
  'supportsFamily:': ['bool', 'i64'],
  'newCommandQueueWithMaxCommandBufferCount:': ['ptr', 'u64'],
  'newLibraryWithData:error:': ['ptr', 'ptr', 'ptr'],
  functionNames: ['ptr'],
  'newFunctionWithName:': ['ptr', 'ptr'],
  'newComputePipelineStateWithFunction:error:': ['ptr', 'ptr', 'ptr'],
  maxTotalThreadsPerThreadgroup: ['u64'],
  threadExecutionWidth: ['u64'],
  staticThreadgroupMemoryLength: ['u64'],
  'newBufferWithLength:options:': ['ptr', 'u64', 'u64'],
  'newBufferWithBytesNoCopy:length:options:deallocator:': ['ptr', 'ptr', 'u64', 'u64', 'ptr'],
  contents: ['ptr'],
  gpuAddress: ['u64'],
  commandBuffer: ['ptr'],
  computeCommandEncoder: ['ptr'],
  blitCommandEncoder: ['ptr'],
  endEncoding: ['void'],
  commit: ['void'],
  status: ['u64'],
  waitUntilCompleted: ['void'],
  GPUStartTime: ['f64'],
  GPUEndTime: ['f64'],
  kernelStartTime: ['f64'],
  kernelEndTime: ['f64'],
  error: ['ptr'],
  'setComputePipelineState:': ['void', 'ptr'],
  'setBuffer:offset:atIndex:': ['void', 'ptr', 'u64', 'u64'],
  'setBytes:length:atIndex:': ['void', 'ptr', 'u64', 'u64'],
  'setThreadgroupMemoryLength:atIndex:': ['void', 'u64', 'u64'],
  'useResource:usage:': ['void', 'ptr', 'u64'],
  'dispatchThreadgroups:threadsPerThreadgroup:': ['void', 'size', 'size'],
  'copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:': ['void', 'ptr', 'u64', 'ptr', 'u64', 'u64'],
  'fillBuffer:range:value:': ['void', 'ptr', 'range', 'u32'],
  newSharedEvent: ['ptr'],
  signaledValue: ['u64'],
  'setSignaledValue:': ['void', 'u64'],
  'waitUntilSignaledValue:timeoutMS:': ['bool', 'u64', 'u64'],
  'encodeSignalEvent:value:': ['void', 'ptr', 'u64'],
  'encodeWaitForEvent:value:': ['void', 'ptr', 'u64'],
  sharedCaptureManager: ['ptr'],
  'supportsDestination:': ['bool', 'i64'],
  'setCaptureObject:': ['void', 'ptr'],
  'setDestination:': ['void', 'i64'],
  'setOutputURL:': ['void', 'ptr'],
  'startCaptureWithDescriptor:error:': ['bool', 'ptr', 'ptr'],
  stopCapture: ['void'],
} as const satisfies Record<string, readonly (TypeName | 'size' | 'range')[]>;

type Selector = keyof typeof messages;
type Word = Pointer | bigint | undefined;
/** Sends a message; a result is what the type of the selector says. */
type Send = (to: Pointer, selector: Selector, ...args: Word[]) => unknown;

/** The binding without C; throws where a library is not there, or the machine is not one where it works. */
export function openMessages(libraries: SystemLibraries): MetalBinding {
  const ffi = bunFfi();
  if (!ffi) throw new Error('foreign functions need Bun');
  if (process.arch !== 'arm64') throw new Error('messages without C need arm64, where structs travel as their addresses');
  return bindingOver(flatOf(runtimeOf(ffi, libraries)), ffi, { way: 'Objective-C, without the shim', hasBlocks: false });
}

interface Runtime {
  readonly send: Send;
  readonly classOf: (name: string) => Pointer;
  readonly pushPool: () => Pointer;
  readonly popPool: (pool: Pointer) => void;
  readonly defaultDevice: () => Pointer;
  readonly allDevices: () => Pointer;
  readonly dataOf: (bytes: Pointer, length: number | bigint, queue: null, destructor: null) => Pointer;
  readonly pause: (microseconds: number) => void;
}

function runtimeOf(ffi: Ffi, libraries: SystemLibraries): Runtime {
  const { dlopen } = ffi;
  const { objc, metal, system, dispatch } = libraries;
  openAlso(ffi, libraries);
  const core = dlopen(objc, {
    sel_registerName: { args: ['ptr'], returns: 'ptr' },
    objc_getClass: { args: ['ptr'], returns: 'ptr' },
    objc_autoreleasePoolPush: { args: [], returns: 'ptr' },
    objc_autoreleasePoolPop: { args: ['ptr'], returns: 'void' },
  }).symbols;
  const devices = dlopen(metal, {
    MTLCreateSystemDefaultDevice: { args: [], returns: 'ptr' },
    MTLCopyAllDevices: { args: [], returns: 'ptr' },
  }).symbols;
  const { dispatch_data_create: dataOf } = dlopen(dispatch, {
    dispatch_data_create: { args: ['ptr', 'u64', 'ptr', 'ptr'], returns: 'ptr' },
  }).symbols;
  const { usleep } = dlopen(system, { usleep: { args: ['u32'], returns: 'i32' } }).symbols;
  const shapes = new Map<string, (...args: unknown[]) => unknown>();
  const senders = new Map<Selector, (to: Pointer, args: Word[]) => unknown>();
  /** The sender of a selector: `objc_msgSend` bound for its shape, which others share, and its number. */
  const senderOf = (selector: Selector) => {
    const [returns, ...kinds] = messages[selector] as readonly string[];
    const args = kinds.flatMap((kind) => (kind === 'size' ? ['ptr'] : kind === 'range' ? ['u64', 'u64'] : [kind]));
    const shape = [returns, ...args].join();
    const types = { args: ['ptr', 'ptr', ...args], returns } as never;
    const call =
      shapes.get(shape) ?? (dlopen(objc, { objc_msgSend: types }).symbols.objc_msgSend as unknown as (...args: unknown[]) => unknown);
    shapes.set(shape, call);
    const number = core.sel_registerName(cText(selector));
    return (to: Pointer, given: Word[]): unknown => call(to, number, ...given);
  };
  return {
    send(to, selector, ...args) {
      const sender = senders.get(selector) ?? senderOf(selector);
      senders.set(selector, sender);
      return sender(to, args);
    },
    classOf: (name) => core.objc_getClass(cText(name)) as Pointer,
    pushPool: core.objc_autoreleasePoolPush as () => Pointer,
    popPool: core.objc_autoreleasePoolPop as (pool: Pointer) => void,
    defaultDevice: devices.MTLCreateSystemDefaultDevice as () => Pointer,
    allDevices: devices.MTLCopyAllDevices as () => Pointer,
    dataOf: dataOf as Runtime['dataOf'],
    pause: (microseconds) => void usleep(microseconds),
  };
}

/** What of an NSError is kept until somebody asks. */
interface Last {
  code: bigint;
  domain: string;
  text: string;
}

/** `MTLCaptureDestination`: a file. */
const captureToFile = 2;

function flatOf(runtime: Runtime): Flat {
  const { send, classOf, pushPool, popPool } = runtime;
  const last: Last = { code: 0n, domain: '', text: '' };
  const pooled = <T>(body: () => T): T => {
    const pool = pushPool();
    try {
      return body();
    } finally {
      popPool(pool);
    }
  };
  const pointer = (to: Pointer, selector: Selector, ...args: Word[]) => send(to, selector, ...args) as number | null;
  const word = (to: Pointer, selector: Selector, ...args: Word[]) => send(to, selector, ...args) as bigint;
  const stringOf = (text: Pointer) => pointer(classOf('NSString'), 'stringWithUTF8String:', text);
  const textOf = (string: Pointer): string => (string ? String(send(string, 'UTF8String')) : '');
  const fail = (domain: string, code: bigint, text: string): null => {
    Object.assign(last, { domain, code, text });
    return null;
  };
  const takeError = (error: number | null, otherwise: string): null =>
    error
      ? fail(textOf(pointer(error, 'domain')), word(error, 'code'), textOf(pointer(error, 'localizedDescription')) || otherwise)
      : fail('cumetal', 0n, otherwise);
  /** A call with an error at its end, which belongs to the pool. */
  const trying = (otherwise: string, call: (error: BigUint64Array) => number | null): number | null => {
    const error = new BigUint64Array(1);
    return call(error) || takeError(Number(error[0]), otherwise);
  };
  /** A pointer the caller owns, or a fault in words. */
  const made = (otherwise: string, call: () => number | null): number | null => pooled(() => call() || fail('cumetal', 0n, otherwise));
  const kept = (of: number | null): number | null => of && pointer(of, 'retain');
  const words = (out: Pointer, from: Pointer, selectors: readonly Selector[]): void =>
    pooled(() =>
      selectors.forEach((selector, i) => {
        (out as BigUint64Array)[i] = BigInt(send(from, selector) as bigint | boolean);
      }),
    );
  const tell =
    (selector: Selector) =>
    (to: Pointer, ...args: Word[]): void =>
      pooled(() => void send(to, selector, ...args));
  const manager = () => pointer(classOf('MTLCaptureManager'), 'sharedCaptureManager');
  return {
    cm_abi: () => abi,
    cm_error_code: () => last.code,
    cm_error_domain: () => last.domain,
    cm_error_text: () => last.text,
    cm_release: (object) => void (object && tell('release')(object)),
    cm_set_label: (object, text) => pooled(() => void send(object, 'setLabel:', stringOf(text))),
    cm_pause: runtime.pause,
    cm_device: () =>
      made('the system has no Metal device', () => {
        const device = runtime.defaultDevice() as number | null;
        const all = device ? null : (runtime.allDevices() as number | null);
        if (!all) return device;
        const first = word(all, 'count') > 0n ? kept(pointer(all, 'objectAtIndex:', 0)) : null;
        send(all, 'release');
        return first;
      }),
    cm_device_name: (device, out, room) =>
      pooled(() => new TextEncoder().encodeInto(textOf(pointer(device, 'name')), (out as Uint8Array).subarray(0, room)).written),
    cm_device_facts(device, out) {
      const all = out as BigUint64Array;
      words(all, device, ['maxBufferLength', 'recommendedMaxWorkingSetSize', 'maxThreadgroupMemoryLength']);
      // A struct that comes back by an address in x8 is out of reach; a pipeline says how many threads it takes.
      all.fill(1024n, 3, 6);
      words(all.subarray(6), device, ['currentAllocatedSize', 'hasUnifiedMemory', 'registryID']);
    },
    cm_supports_family: (device, family) => pooled(() => Number(send(device, 'supportsFamily:', family))),
    cm_queue: (device, most) =>
      made('the device gives no command queue', () => pointer(device, 'newCommandQueueWithMaxCommandBufferCount:', most)),
    cm_library: (device, bytes, length) =>
      pooled(() => {
        const data = runtime.dataOf(bytes, length, null, null);
        const library = trying('the device takes no library of these bytes', (error) =>
          pointer(device, 'newLibraryWithData:error:', data, error),
        );
        send(data, 'release');
        return library;
      }),
    cm_library_count: (library) => pooled(() => word(pointer(library, 'functionNames'), 'count')),
    cm_function: (library, name) =>
      made('the library has no such function', () => pointer(library, 'newFunctionWithName:', stringOf(name))),
    cm_pipeline: (device, of) =>
      pooled(() =>
        trying('the device makes no pipeline of the function', (error) =>
          pointer(device, 'newComputePipelineStateWithFunction:error:', of, error),
        ),
      ),
    cm_pipeline_facts: (pipeline, out) =>
      words(out, pipeline, ['maxTotalThreadsPerThreadgroup', 'threadExecutionWidth', 'staticThreadgroupMemoryLength']),
    cm_buffer: (device, length, options) => made(noMemory, () => pointer(device, 'newBufferWithLength:options:', length, options)),
    cm_buffer_over: (device, bytes, length, options) =>
      made(noMemory, () => pointer(device, 'newBufferWithBytesNoCopy:length:options:deallocator:', bytes, length, options, null)),
    cm_buffer_contents: (buffer) => pooled(() => pointer(buffer, 'contents')),
    cm_buffer_address: (buffer) => pooled(() => word(buffer, 'gpuAddress')),
    cm_commands: (queue) => made('the queue gives no command buffer', () => kept(pointer(queue, 'commandBuffer'))),
    cm_compute: (commands) => made(noEncoder, () => kept(pointer(commands, 'computeCommandEncoder'))),
    cm_blit: (commands) => made(noEncoder, () => kept(pointer(commands, 'blitCommandEncoder'))),
    cm_end: tell('endEncoding'),
    cm_commit: tell('commit'),
    cm_status: (commands) => pooled(() => Number(word(commands, 'status'))),
    cm_wait: tell('waitUntilCompleted'),
    cm_outcome: (commands, out) =>
      pooled(() => {
        const status = Number(word(commands, 'status'));
        const times = ['GPUStartTime', 'GPUEndTime', 'kernelStartTime', 'kernelEndTime'] as const;
        times.forEach((time, i) => {
          (out as Float64Array)[i] = send(commands, time) as number;
        });
        if (status === 5) takeError(pointer(commands, 'error'), 'the command buffer failed');
        return status;
      }),
    // Without C there is no block, and so nothing that stores a word; the status says it as well.
    cm_on_complete: () => {},
    cm_set_pipeline: tell('setComputePipelineState:'),
    cm_set_buffer: tell('setBuffer:offset:atIndex:'),
    cm_set_bytes: tell('setBytes:length:atIndex:'),
    cm_set_threadgroup_memory: tell('setThreadgroupMemoryLength:atIndex:'),
    cm_use: tell('useResource:usage:'),
    cm_dispatch: tell('dispatchThreadgroups:threadsPerThreadgroup:'),
    cm_copy: tell('copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:'),
    cm_fill: (encoder, buffer, offset, size, byte) =>
      pooled(() => void send(encoder, 'fillBuffer:range:value:', buffer, offset, size, byte & 0xff)),
    cm_event: (device) => made('the device gives no shared event', () => pointer(device, 'newSharedEvent')),
    cm_event_value: (event) => pooled(() => word(event, 'signaledValue')),
    cm_event_set: tell('setSignaledValue:'),
    cm_event_wait: (event, value, milliseconds) =>
      pooled(() => Number(send(event, 'waitUntilSignaledValue:timeoutMS:', value, milliseconds))),
    cm_signal: tell('encodeSignalEvent:value:'),
    cm_await: tell('encodeWaitForEvent:value:'),
    cm_capture_start: (device, path) =>
      pooled(() => {
        if (!send(manager(), 'supportsDestination:', captureToFile)) {
          fail('cumetal', 0n, 'captures to a file are off: start with METAL_CAPTURE_ENABLED=1 in the environment');
          return 0;
        }
        const wanted = pointer(classOf('MTLCaptureDescriptor'), 'new');
        send(wanted, 'setCaptureObject:', device);
        send(wanted, 'setDestination:', captureToFile);
        send(wanted, 'setOutputURL:', pointer(classOf('NSURL'), 'fileURLWithPath:', stringOf(path)));
        const error = new BigUint64Array(1);
        const started = send(manager(), 'startCaptureWithDescriptor:error:', wanted, error) as boolean;
        send(wanted, 'release');
        if (!started) takeError(Number(error[0]), 'the capture could not be started');
        return started ? 1 : 0;
      }),
    cm_capture_stop: () => pooled(() => void send(manager(), 'stopCapture')),
  };
}

const noMemory = 'the device has no memory for a buffer of this size';
const noEncoder = 'the command buffer gives no encoder';
