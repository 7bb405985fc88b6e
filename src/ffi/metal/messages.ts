/**
 * Messages of Objective-C without C: `objc_msgSend`, bound once for each combination of argument types. This works on arm64, where a struct
 * of more than 16 bytes is passed by reference and one of 16 bytes in two registers.
 * Source: AAPCS64, and Apple's arm64 ABI as far as it differs; selectors as spec/support/metal/headers.ts has them.
 */
import type { Ffi } from '../bun.ts';
import { cText, type Pointer, type TypeName } from './flat.ts';
import { openDependencies, type SystemLibraries } from './system.ts';

/**
 * All messages that are sent: the result type, then the argument types, in bun:ffi's type names. A `size` is a struct of three 64-bit
 * integers, passed by reference. A `range` is a struct of two, passed as two arguments.
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
  'newLibraryWithSource:options:error:': ['ptr', 'ptr', 'ptr', 'ptr'],
  'setFastMathEnabled:': ['void', 'bool'],
  'setLanguageVersion:': ['void', 'u64'],
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

export type Selector = keyof typeof messages;
/** An argument of a message. */
export type MessageArgument = Pointer | bigint | boolean | undefined;

/** Sends a message. The type of the result depends on the selector. */
export type Send = (to: Pointer, selector: Selector, ...args: MessageArgument[]) => unknown;

/** Objective-C's runtime and the C functions of Metal, without any state of ours. */
export interface Runtime {
  readonly send: Send;
  readonly classOf: (name: string) => Pointer;
  readonly pushPool: () => Pointer;
  readonly popPool: (pool: Pointer) => void;
  readonly defaultDevice: () => Pointer;
  readonly allDevices: () => Pointer;
  readonly dataOf: (bytes: Pointer, length: number | bigint, queue: null, destructor: null) => Pointer;
  readonly pause: (microseconds: number) => void;
}

/** Opens the libraries. Throws if one of them is missing. */
export function openRuntime(ffi: Ffi, libraries: SystemLibraries): Runtime {
  const { dlopen } = ffi;
  const { objc, metal, system, dispatch } = libraries;
  openDependencies(ffi, libraries);
  const runtime = dlopen(objc, {
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
  const bound = new Map<string, (...args: unknown[]) => unknown>();
  const senders = new Map<Selector, (to: Pointer, args: MessageArgument[]) => unknown>();
  /** The sender of a selector: `objc_msgSend` bound for its argument types, which several selectors share, and the selector's number. */
  const senderOf = (selector: Selector) => {
    const [returns, ...kinds] = messages[selector] as readonly string[];
    const args = kinds.flatMap((kind) => (kind === 'size' ? ['ptr'] : kind === 'range' ? ['u64', 'u64'] : [kind]));
    const signature = [returns, ...args].join();
    const types = { args: ['ptr', 'ptr', ...args], returns } as never;
    const call =
      bound.get(signature) ?? (dlopen(objc, { objc_msgSend: types }).symbols.objc_msgSend as unknown as (...args: unknown[]) => unknown);
    bound.set(signature, call);
    const number = runtime.sel_registerName(cText(selector));
    return (to: Pointer, given: MessageArgument[]): unknown => call(to, number, ...given);
  };
  return {
    send(to, selector, ...args) {
      const sender = senders.get(selector) ?? senderOf(selector);
      senders.set(selector, sender);
      return sender(to, args);
    },
    classOf: (name) => runtime.objc_getClass(cText(name)) as Pointer,
    pushPool: runtime.objc_autoreleasePoolPush as () => Pointer,
    popPool: runtime.objc_autoreleasePoolPop as (pool: Pointer) => void,
    defaultDevice: devices.MTLCreateSystemDefaultDevice as () => Pointer,
    allDevices: devices.MTLCopyAllDevices as () => Pointer,
    dataOf: dataOf as Runtime['dataOf'],
    pause: (microseconds) => void usleep(microseconds),
  };
}
