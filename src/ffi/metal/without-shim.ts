/**
 * The flat functions without C, by messages to Metal's objects. Blocks cannot be built this way, so that no completion stores a status and
 * the caller polls. The texts of faults are those of shim.c.
 */
import { bunFfi } from '../bun.ts';
import { bindingOver, type MetalBinding } from './binding.ts';
import { abi, type Flat, type Pointer } from './flat.ts';
import { type MessageArgument, openRuntime, type Runtime, type Selector } from './messages.ts';
import type { SystemLibraries } from './system.ts';

/** The binding without C. Throws if a library is missing or the machine is not arm64. */
export function openMessages(libraries: SystemLibraries): MetalBinding {
  const ffi = bunFfi();
  if (!ffi) throw new Error('foreign functions need Bun');
  if (process.arch !== 'arm64') throw new Error('messages without C need arm64, where structs are passed by reference');
  return bindingOver(flatOf(openRuntime(ffi, libraries)), ffi, { way: 'Objective-C, without the shim', hasBlocks: false });
}

/** The parts of the last NSError. */
interface LastError {
  code: bigint;
  domain: string;
  text: string;
}

type PointerOrNull = number | null;

/** Messages with typed results, autorelease pools, and the last error. */
interface Messenger {
  readonly runtime: Runtime;
  readonly last: LastError;
  /** Runs a function inside an autorelease pool. */
  readonly pooled: <T>(body: () => T) => T;
  readonly pointer: (to: Pointer, selector: Selector, ...args: MessageArgument[]) => PointerOrNull;
  readonly integer: (to: Pointer, selector: Selector, ...args: MessageArgument[]) => bigint;
  readonly nsString: (text: Pointer) => PointerOrNull;
  readonly textOf: (string: Pointer) => string;
  /** Sets the last error. */
  readonly fail: (domain: string, code: bigint, text: string) => null;
  /** Sets the last error from an NSError, with a text for an error without one. */
  readonly failWith: (error: PointerOrNull, fallback: string) => null;
  /** A call with an error as its last argument. The error belongs to the autorelease pool. */
  readonly withError: (fallback: string, call: (error: BigUint64Array) => PointerOrNull) => PointerOrNull;
  /** A pointer that the caller owns, or a fault. */
  readonly owned: (fault: string, call: () => PointerOrNull) => PointerOrNull;
  readonly retained: (object: PointerOrNull) => PointerOrNull;
  /** Stores the results of several messages as 64-bit integers. */
  readonly readIntegers: (out: Pointer, from: Pointer, selectors: readonly Selector[]) => void;
  /** A function that sends a message without result. */
  readonly sender: (selector: Selector) => (to: Pointer, ...args: MessageArgument[]) => void;
}

function messengerOf(runtime: Runtime): Messenger {
  const { send, classOf, pushPool, popPool } = runtime;
  const last: LastError = { code: 0n, domain: '', text: '' };
  const pooled: Messenger['pooled'] = (body) => {
    const pool = pushPool();
    try {
      return body();
    } finally {
      popPool(pool);
    }
  };
  const pointer: Messenger['pointer'] = (to, selector, ...args) => send(to, selector, ...args) as PointerOrNull;
  const integer: Messenger['integer'] = (to, selector, ...args) => send(to, selector, ...args) as bigint;
  const textOf = (string: Pointer): string => (string ? String(send(string, 'UTF8String')) : '');
  const fail: Messenger['fail'] = (domain, code, text) => {
    Object.assign(last, { domain, code, text });
    return null;
  };
  const failWith: Messenger['failWith'] = (error, fallback) =>
    error
      ? fail(textOf(pointer(error, 'domain')), integer(error, 'code'), textOf(pointer(error, 'localizedDescription')) || fallback)
      : fail('cumetal', 0n, fallback);
  return {
    runtime,
    last,
    pooled,
    pointer,
    integer,
    nsString: (text) => pointer(classOf('NSString'), 'stringWithUTF8String:', text),
    textOf,
    fail,
    failWith,
    withError(fallback, call) {
      const error = new BigUint64Array(1);
      return call(error) || failWith(Number(error[0]), fallback);
    },
    owned: (fault, call) => pooled(() => call() || fail('cumetal', 0n, fault)),
    retained: (object) => object && pointer(object, 'retain'),
    readIntegers: (out, from, selectors) =>
      pooled(() =>
        selectors.forEach((selector, i) => {
          (out as BigUint64Array)[i] = BigInt(send(from, selector) as bigint | boolean);
        }),
      ),
    sender:
      (selector) =>
      (to, ...args) =>
        pooled(() => void send(to, selector, ...args)),
  };
}

const flatOf = (runtime: Runtime): Flat => {
  const messenger = messengerOf(runtime);
  return {
    ...generalFunctions(messenger),
    ...deviceFunctions(messenger),
    ...libraryFunctions(messenger),
    ...bufferFunctions(messenger),
    ...commandFunctions(messenger),
    ...encoderFunctions(messenger),
    ...eventFunctions(messenger),
    ...captureFunctions(messenger),
  };
};

const generalFunctions = ({ runtime, last, pooled, nsString, sender }: Messenger) =>
  ({
    cm_abi: () => abi,
    cm_error_code: () => last.code,
    cm_error_domain: () => last.domain,
    cm_error_text: () => last.text,
    cm_release: (object) => void (object && sender('release')(object)),
    cm_set_label: (object, text) => pooled(() => void runtime.send(object, 'setLabel:', nsString(text))),
    cm_pause: runtime.pause,
  }) satisfies Partial<Flat>;

const deviceFunctions = ({ runtime, pooled, pointer, integer, textOf, owned, retained, readIntegers }: Messenger) =>
  ({
    cm_device: () =>
      owned('the system has no Metal device', () => {
        const device = runtime.defaultDevice() as PointerOrNull;
        const all = device ? null : (runtime.allDevices() as PointerOrNull);
        if (!all) return device;
        const first = integer(all, 'count') > 0n ? retained(pointer(all, 'objectAtIndex:', 0)) : null;
        runtime.send(all, 'release');
        return first;
      }),
    cm_device_name: (device, out, room) =>
      pooled(() => new TextEncoder().encodeInto(textOf(pointer(device, 'name')), (out as Uint8Array).subarray(0, room)).written),
    cm_device_facts(device, out) {
      const all = out as BigUint64Array;
      readIntegers(all, device, ['maxBufferLength', 'recommendedMaxWorkingSetSize', 'maxThreadgroupMemoryLength']);
      // This struct is returned through x8, which bun:ffi cannot set. The pipeline reports the real limit.
      all.fill(1024n, 3, 6);
      readIntegers(all.subarray(6), device, ['currentAllocatedSize', 'hasUnifiedMemory', 'registryID']);
    },
    cm_supports_family: (device, family) => pooled(() => Number(runtime.send(device, 'supportsFamily:', family))),
    cm_queue: (device, count) =>
      owned('the device gives no command queue', () => pointer(device, 'newCommandQueueWithMaxCommandBufferCount:', count)),
  }) satisfies Partial<Flat>;

const libraryFunctions = ({ runtime, pooled, pointer, integer, nsString, withError, owned, readIntegers }: Messenger) =>
  ({
    cm_library: (device, bytes, length) =>
      pooled(() => {
        const data = runtime.dataOf(bytes, length, null, null);
        const library = withError('the device takes no library of these bytes', (error) =>
          pointer(device, 'newLibraryWithData:error:', data, error),
        );
        runtime.send(data, 'release');
        return library;
      }),
    cm_library_source: (device, text, version) =>
      pooled(() => {
        const options = pointer(runtime.classOf('MTLCompileOptions'), 'new');
        runtime.send(options as Pointer, 'setFastMathEnabled:', false);
        runtime.send(options as Pointer, 'setLanguageVersion:', BigInt(version));
        const library = withError('the device compiles no library of this source', (error) =>
          pointer(device, 'newLibraryWithSource:options:error:', nsString(text), options, error),
        );
        runtime.send(options as Pointer, 'release');
        return library;
      }),
    cm_library_count: (library) => pooled(() => integer(pointer(library, 'functionNames'), 'count')),
    cm_function: (library, name) =>
      owned('the library has no such function', () => pointer(library, 'newFunctionWithName:', nsString(name))),
    cm_pipeline: (device, of) =>
      pooled(() =>
        withError('the device makes no pipeline of the function', (error) =>
          pointer(device, 'newComputePipelineStateWithFunction:error:', of, error),
        ),
      ),
    cm_pipeline_facts: (pipeline, out) =>
      readIntegers(out, pipeline, ['maxTotalThreadsPerThreadgroup', 'threadExecutionWidth', 'staticThreadgroupMemoryLength']),
  }) satisfies Partial<Flat>;

const noMemory = 'the device has no memory for a buffer of this size';

const bufferFunctions = ({ pooled, pointer, integer, owned }: Messenger) =>
  ({
    cm_buffer: (device, length, options) => owned(noMemory, () => pointer(device, 'newBufferWithLength:options:', length, options)),
    cm_buffer_over: (device, bytes, length, options) =>
      owned(noMemory, () => pointer(device, 'newBufferWithBytesNoCopy:length:options:deallocator:', bytes, length, options, null)),
    cm_buffer_contents: (buffer) => pooled(() => pointer(buffer, 'contents')),
    cm_buffer_address: (buffer) => pooled(() => integer(buffer, 'gpuAddress')),
  }) satisfies Partial<Flat>;

const noEncoder = 'the command buffer gives no encoder';

/** `MTLCommandBufferStatus`. */
const statusError = 5;

const commandFunctions = ({ runtime, pooled, pointer, integer, failWith, owned, retained, sender }: Messenger) =>
  ({
    cm_commands: (queue) => owned('the queue gives no command buffer', () => retained(pointer(queue, 'commandBuffer'))),
    cm_compute: (commands) => owned(noEncoder, () => retained(pointer(commands, 'computeCommandEncoder'))),
    cm_blit: (commands) => owned(noEncoder, () => retained(pointer(commands, 'blitCommandEncoder'))),
    cm_end: sender('endEncoding'),
    cm_commit: sender('commit'),
    cm_status: (commands) => pooled(() => Number(integer(commands, 'status'))),
    cm_wait: sender('waitUntilCompleted'),
    cm_outcome: (commands, out) =>
      pooled(() => {
        const status = Number(integer(commands, 'status'));
        const times = ['GPUStartTime', 'GPUEndTime', 'kernelStartTime', 'kernelEndTime'] as const;
        times.forEach((time, i) => {
          (out as Float64Array)[i] = runtime.send(commands, time) as number;
        });
        if (status === statusError) failWith(pointer(commands, 'error'), 'the command buffer failed');
        return status;
      }),
    // Blocks cannot be built without C, so no status word is stored; the status is polled instead.
    cm_on_complete: () => {},
  }) satisfies Partial<Flat>;

const encoderFunctions = ({ runtime, pooled, sender }: Messenger) =>
  ({
    cm_set_pipeline: sender('setComputePipelineState:'),
    cm_set_buffer: sender('setBuffer:offset:atIndex:'),
    cm_set_bytes: sender('setBytes:length:atIndex:'),
    cm_set_threadgroup_memory: sender('setThreadgroupMemoryLength:atIndex:'),
    cm_use: sender('useResource:usage:'),
    cm_dispatch: sender('dispatchThreadgroups:threadsPerThreadgroup:'),
    cm_copy: sender('copyFromBuffer:sourceOffset:toBuffer:destinationOffset:size:'),
    cm_fill: (encoder, buffer, offset, size, byte) =>
      pooled(() => void runtime.send(encoder, 'fillBuffer:range:value:', buffer, offset, size, byte & 0xff)),
  }) satisfies Partial<Flat>;

const eventFunctions = ({ runtime, pooled, pointer, integer, owned, sender }: Messenger) =>
  ({
    cm_event: (device) => owned('the device gives no shared event', () => pointer(device, 'newSharedEvent')),
    cm_event_value: (event) => pooled(() => integer(event, 'signaledValue')),
    cm_event_set: sender('setSignaledValue:'),
    cm_event_wait: (event, value, milliseconds) =>
      pooled(() => Number(runtime.send(event, 'waitUntilSignaledValue:timeoutMS:', value, milliseconds))),
    cm_signal: sender('encodeSignalEvent:value:'),
    cm_await: sender('encodeWaitForEvent:value:'),
  }) satisfies Partial<Flat>;

/** `MTLCaptureDestination`: a file. */
const captureToFile = 2;

function captureFunctions({ runtime: { send, classOf }, pooled, pointer, nsString, fail, failWith }: Messenger) {
  const manager = () => pointer(classOf('MTLCaptureManager'), 'sharedCaptureManager');
  return {
    cm_capture_start: (device, path) =>
      pooled(() => {
        if (!send(manager(), 'supportsDestination:', captureToFile)) {
          fail('cumetal', 0n, 'captures to a file are off: start with METAL_CAPTURE_ENABLED=1 in the environment');
          return 0;
        }
        const descriptor = pointer(classOf('MTLCaptureDescriptor'), 'new');
        send(descriptor, 'setCaptureObject:', device);
        send(descriptor, 'setDestination:', captureToFile);
        send(descriptor, 'setOutputURL:', pointer(classOf('NSURL'), 'fileURLWithPath:', nsString(path)));
        const error = new BigUint64Array(1);
        const isStarted = send(manager(), 'startCaptureWithDescriptor:error:', descriptor, error) as boolean;
        send(descriptor, 'release');
        if (!isStarted) failWith(Number(error[0]), 'the capture could not be started');
        return isStarted ? 1 : 0;
      }),
    cm_capture_stop: () => pooled(() => void send(manager(), 'stopCapture')),
  } satisfies Partial<Flat>;
}
