/**
 * OpenCL as handles, addresses and copies instead of pointers. A call that fails returns undefined or false, and `lastFault` has the reason. The
 * caller owns a handle and releases it once.
 */
import type { Ffi } from '../bun.ts';
import { cText, type Pointer } from '../types.ts';
import { deviceTypeAll, errorNames, infos, type OpenclApi, queueProfiling, svmReadWrite } from './api.ts';

declare const handleBrand: unique symbol;
/** A platform, device, context, queue, program, kernel or event. */
export type ClHandle = number & { readonly [handleBrand]: true };

export interface ClFault {
  /** The name of the function that failed. */
  readonly call: string;
  /** The status by name, such as `CL_BUILD_PROGRAM_FAILURE`. */
  readonly name: string;
}

/** An argument of a kernel. */
export type ClArgument =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'address'; readonly address: number }
  /** Local memory, in bytes. */
  | { readonly kind: 'local'; readonly bytes: number };

export interface ClLaunch {
  readonly queue: ClHandle;
  readonly kernel: ClHandle;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  readonly args: readonly ClArgument[];
  /** Addresses that the kernel may follow without having them as arguments. */
  readonly addresses: readonly number[];
}

export interface OpenclBinding {
  lastFault(): ClFault;
  /** All devices of all platforms. */
  devices(): ClHandle[];
  deviceText(device: ClHandle, info: keyof typeof infos): string;
  deviceNumber(device: ClHandle, info: keyof typeof infos): number;
  /** Three numbers of pointer size. */
  deviceSizes(device: ClHandle, info: keyof typeof infos): number[];
  context(device: ClHandle): ClHandle | undefined;
  queue(context: ClHandle, device: ClHandle): ClHandle | undefined;
  releaseContext(context: ClHandle): void;
  releaseQueue(queue: ClHandle): void;
  /** A program that is built; its log where that fails. */
  program(context: ClHandle, device: ClHandle, source: string, options: string): ClHandle | { readonly log: string };
  releaseProgram(program: ClHandle): void;
  kernel(program: ClHandle, name: string): ClHandle | undefined;
  releaseKernel(kernel: ClHandle): void;
  /** Most threads of a block of a kernel. */
  kernelThreads(kernel: ClHandle, device: ClHandle): number;
  /** Shared virtual memory; the content is undefined. */
  allocate(context: ClHandle, bytes: number): number | undefined;
  free(context: ClHandle, address: number): void;
  fill(queue: ClHandle, address: number, value: number, bytes: number): boolean;
  write(queue: ClHandle, address: number, bytes: Uint8Array): boolean;
  read(queue: ClHandle, address: number, bytes: Uint8Array): boolean;
  /** Submits a launch; its event. */
  launch(launch: ClLaunch): ClHandle | undefined;
  state(event: ClHandle): 'done' | 'running' | 'failed';
  /** Milliseconds that a launch ran. */
  elapsed(event: ClHandle): number | undefined;
  releaseEvent(event: ClHandle): void;
  finish(queue: ClHandle): boolean;
}

/** The functions with memory for their results, and the last fault. */
interface Driver {
  readonly api: OpenclApi;
  readonly ffi: Ffi;
  readonly status: Int32Array;
  readonly words: BigUint64Array;
  readonly succeeds: (call: string, result: number) => boolean;
  /** The object that a call made. */
  readonly made: (call: string, handle: number | null) => ClHandle | undefined;
}

/** The binding over the functions of the library. */
export function bindingOver(api: OpenclApi, ffi: Ffi): OpenclBinding {
  let last: ClFault = { call: '', name: '' };
  const status = new Int32Array(1);
  const succeeds = (call: string, result: number): boolean => {
    if (result === 0) return true;
    last = { call, name: errorNames[result] ?? `status ${result}` };
    return false;
  };
  const driver: Driver = {
    api,
    ffi,
    status,
    words: new BigUint64Array(4),
    succeeds,
    made: (call, handle) => (succeeds(call, status[0]!) && handle ? (handle as ClHandle) : undefined),
  };
  return {
    lastFault: () => last,
    ...deviceFunctions(driver),
    ...programFunctions(driver),
    ...memoryFunctions(driver),
    ...launchFunctions(driver),
  };
}

const deviceFunctions = ({ api, words, status, succeeds, made }: Driver) =>
  ({
    devices() {
      const count = new Uint32Array(1);
      if (!succeeds('clGetPlatformIDs', api.clGetPlatformIDs(0, null, count))) return [];
      const platforms = new BigUint64Array(count[0]!);
      if (!succeeds('clGetPlatformIDs', api.clGetPlatformIDs(platforms.length, platforms, null))) return [];
      return [...platforms].flatMap((platform) => {
        if (!succeeds('clGetDeviceIDs', api.clGetDeviceIDs(Number(platform), deviceTypeAll, 0, null, count))) return [];
        const found = new BigUint64Array(count[0]!);
        if (!succeeds('clGetDeviceIDs', api.clGetDeviceIDs(Number(platform), deviceTypeAll, found.length, found, null))) return [];
        return [...found].map((device) => Number(device) as ClHandle);
      });
    },
    deviceText(device, info) {
      if (!succeeds('clGetDeviceInfo', api.clGetDeviceInfo(device, infos[info], 0, null, words))) return '';
      const bytes = new Uint8Array(Number(words[0]));
      if (bytes.length === 0 || !succeeds('clGetDeviceInfo', api.clGetDeviceInfo(device, infos[info], bytes.length, bytes, null)))
        return '';
      return new TextDecoder().decode(bytes).replace(/\0.*$/s, '').trim();
    },
    deviceNumber(device, info) {
      words.fill(0n);
      return succeeds('clGetDeviceInfo', api.clGetDeviceInfo(device, infos[info], 8, words, null)) ? Number(words[0]) : 0;
    },
    deviceSizes(device, info) {
      words.fill(0n);
      return succeeds('clGetDeviceInfo', api.clGetDeviceInfo(device, infos[info], 24, words, null))
        ? [...words.subarray(0, 3)].map(Number)
        : [0, 0, 0];
    },
    context(device) {
      const list = BigUint64Array.of(BigInt(device));
      return made('clCreateContext', api.clCreateContext(null, 1, list, null, null, status));
    },
    queue(context, device) {
      const properties = BigUint64Array.of(BigInt(infos.queueProperties), BigInt(queueProfiling), 0n);
      return made('clCreateCommandQueueWithProperties', api.clCreateCommandQueueWithProperties(context, device, properties, status));
    },
    releaseContext: (context) => void api.clReleaseContext(context),
    releaseQueue: (queue) => void api.clReleaseCommandQueue(queue),
  }) satisfies Partial<OpenclBinding>;

const programFunctions = ({ api, ffi, words, status, succeeds, made }: Driver) =>
  ({
    program(context, device, source, options) {
      const text = cText(source);
      const list = BigUint64Array.of(BigInt(ffi.ptr(text)));
      const program = made('clCreateProgramWithSource', api.clCreateProgramWithSource(context, 1, list, null, status));
      if (!program) return { log: '' };
      if (succeeds('clBuildProgram', api.clBuildProgram(program, 0, null, cText(options), null, null))) return program;
      let log = '';
      if (api.clGetProgramBuildInfo(program, device, infos.buildLog, 0, null, words) === 0) {
        const bytes = new Uint8Array(Number(words[0]));
        if (bytes.length > 0 && api.clGetProgramBuildInfo(program, device, infos.buildLog, bytes.length, bytes, null) === 0)
          log = new TextDecoder().decode(bytes).replace(/\0.*$/s, '');
      }
      api.clReleaseProgram(program);
      return { log };
    },
    releaseProgram: (program) => void api.clReleaseProgram(program),
    kernel: (program, name) => made('clCreateKernel', api.clCreateKernel(program, cText(name), status)),
    releaseKernel: (kernel) => void api.clReleaseKernel(kernel),
    kernelThreads: (kernel, device) =>
      succeeds('clGetKernelWorkGroupInfo', api.clGetKernelWorkGroupInfo(kernel, device, infos.kernelWorkGroupSize, 8, words, null))
        ? Number(words[0])
        : 0,
  }) satisfies Partial<OpenclBinding>;

const isBlocking = 1;
/** The alignment of memory, in bytes: that of the largest vector type. */
const alignment = 128;

const memoryFunctions = ({ api, succeeds }: Driver) =>
  ({
    allocate: (context, bytes) => api.clSVMAlloc(context, svmReadWrite, bytes, alignment) ?? undefined,
    free: (context, address) => void api.clSVMFree(context, address),
    fill: (queue, address, value, bytes) =>
      succeeds('clEnqueueSVMMemFill', api.clEnqueueSVMMemFill(queue, address, Uint8Array.of(value), 1, bytes, 0, null, null)) &&
      succeeds('clFinish', api.clFinish(queue)),
    write: (queue, address, bytes) =>
      bytes.length === 0 ||
      succeeds('clEnqueueSVMMemcpy', api.clEnqueueSVMMemcpy(queue, isBlocking, address, bytes, bytes.length, 0, null, null)),
    read: (queue, address, bytes) =>
      bytes.length === 0 ||
      succeeds('clEnqueueSVMMemcpy', api.clEnqueueSVMMemcpy(queue, isBlocking, bytes, address, bytes.length, 0, null, null)),
    finish: (queue) => succeeds('clFinish', api.clFinish(queue)),
  }) satisfies Partial<OpenclBinding>;

const launchFunctions = ({ api, words, succeeds }: Driver) => {
  const setArgument = (kernel: ClHandle, at: number, argument: ClArgument): boolean => {
    if (argument.kind === 'bytes') return succeeds('clSetKernelArg', api.clSetKernelArg(kernel, at, argument.bytes.length, argument.bytes));
    if (argument.kind === 'local') return succeeds('clSetKernelArg', api.clSetKernelArg(kernel, at, argument.bytes, null));
    return succeeds('clSetKernelArgSVMPointer', api.clSetKernelArgSVMPointer(kernel, at, argument.address === 0 ? null : argument.address));
  };
  return {
    launch({ queue, kernel, grid, block, args, addresses }) {
      if (!args.every((argument, at) => setArgument(kernel, at, argument))) return undefined;
      const list = BigUint64Array.from(addresses, BigInt);
      if (list.length > 0 && !succeeds('clSetKernelExecInfo', api.clSetKernelExecInfo(kernel, infos.svmPointers, list.byteLength, list)))
        return undefined;
      const global = BigUint64Array.from(grid, (blocks, i) => BigInt(blocks * block[i]!));
      const local = BigUint64Array.from(block, BigInt);
      const event: Pointer = new BigUint64Array(1);
      const isSubmitted =
        succeeds('clEnqueueNDRangeKernel', api.clEnqueueNDRangeKernel(queue, kernel, 3, null, global, local, 0, null, event)) &&
        succeeds('clFlush', api.clFlush(queue));
      return isSubmitted ? (Number(event[0]) as ClHandle) : undefined;
    },
    state(event) {
      const status = new Int32Array(1);
      if (!succeeds('clGetEventInfo', api.clGetEventInfo(event, infos.eventStatus, 4, status, null))) return 'failed';
      if (status[0]! < 0) return succeeds('clEnqueueNDRangeKernel', status[0]!) ? 'done' : 'failed';
      return status[0] === 0 ? 'done' : 'running';
    },
    elapsed(event) {
      const [start, end] = [infos.profilingStart, infos.profilingEnd].map((info) =>
        api.clGetEventProfilingInfo(event, info, 8, words, null) === 0 ? words[0] : undefined,
      );
      return start === undefined || end === undefined ? undefined : Number(end - start) / 1e6;
    },
    releaseEvent: (event) => void api.clReleaseEvent(event),
  } satisfies Partial<OpenclBinding>;
};
