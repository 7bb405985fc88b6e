/**
 * The CUDA driver as handles, addresses and copies instead of pointers. A call that fails returns undefined or false, and `lastFault` has
 * the reason. The caller owns a handle and releases it once.
 */
import type { Ffi } from '../bun.ts';
import { cText, type Pointer } from '../types.ts';
import { attachGlobal, type CudaApi, cudaResults, functionAttributes, jitOptions } from './api.ts';

declare const handleBrand: unique symbol;
/** A context, module, function, stream or event of the driver. */
export type CudaHandle = number & { readonly [handleBrand]: true };

/** The reason why a call failed. */
export interface CudaFault {
  /** The name of the driver function. */
  readonly call: string;
  /** `CUresult`, as a number and as a name such as `CUDA_ERROR_INVALID_PTX`. */
  readonly result: number;
  readonly name: string;
  /** The driver's description. */
  readonly text: string;
}

export interface CudaModule {
  /** Undefined if the driver rejected the PTX. */
  readonly handle: CudaHandle | undefined;
  /** The log of the driver's compiler; may be empty. */
  readonly info: string;
  readonly errors: string;
}

export interface CudaFunctionFacts {
  /** The largest block, in threads; smaller than the device's limit if the kernel needs many registers. */
  readonly maxThreads: number;
  /** Bytes. */
  readonly staticShared: number;
  /** Per thread. */
  readonly registers: number;
}

/** Arguments of a launch in the layout of the driver, which copies them when the launch is submitted. */
export interface PackedArguments {
  /** The memory to fill, with each parameter at its offset. The two views are the same memory, and offsets are multiples of 16. */
  readonly bytes: Uint8Array;
  readonly words: BigUint64Array;
  readonly offsets: readonly number[];
  /** The pointer array for the driver. */
  readonly pointers: Pointer;
}

/** A launch in the driver's terms. */
export interface CudaLaunch {
  readonly kernel: CudaHandle;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Dynamic shared memory, in bytes. */
  readonly shared: number;
  readonly stream: CudaHandle;
  readonly args: PackedArguments;
}

export interface CudaBinding {
  /** The version of CUDA that the driver supports, such as `12.4`. */
  readonly version: string;
  lastFault(): CudaFault;
  deviceCount(): number;
  deviceName(device: number): string;
  /** Bytes. */
  deviceMemory(device: number): number;
  /** A `CUdevice_attribute` by number; undefined if the driver does not know it. */
  deviceAttribute(device: number, attribute: number): number | undefined;
  /** The primary context of a device, made current for this thread. */
  retain(device: number): CudaHandle | undefined;
  makeCurrent(context: CudaHandle): boolean;
  release(device: number): boolean;
  /** Destroys the primary context with everything in it. */
  reset(device: number): boolean;
  module(ptx: string): CudaModule;
  unload(module: CudaHandle): boolean;
  function(module: CudaHandle, name: string): CudaHandle | undefined;
  functionFacts(kernel: CudaHandle): CudaFunctionFacts | undefined;
  /** Allows a kernel more dynamic shared memory than the default limit of 48 KB. */
  allowShared(kernel: CudaHandle, bytes: number): boolean;
  symbol(module: CudaHandle, name: string): { readonly address: bigint; readonly size: number } | undefined;
  /** The content is undefined. */
  allocate(bytes: number): bigint | undefined;
  /**
   * Managed memory, which the host accesses in place. It is valid until it is freed, and the host may access it only while no kernel runs.
   * At most 4 GiB.
   */
  allocateManaged(bytes: number): { readonly address: bigint; readonly view: Uint8Array } | undefined;
  free(address: bigint): boolean;
  fill(address: bigint, value: number, bytes: number): boolean;
  write(address: bigint, bytes: Uint8Array): boolean;
  read(address: bigint, bytes: Uint8Array): boolean;
  copy(to: bigint, from: bigint, bytes: number): boolean;
  stream(): CudaHandle | undefined;
  endStream(stream: CudaHandle): boolean;
  /** Waits for all work of the stream. */
  synchronize(stream: CudaHandle): boolean;
  event(): CudaHandle | undefined;
  endEvent(event: CudaHandle): boolean;
  record(event: CudaHandle, stream: CudaHandle): boolean;
  /** Makes later work of the stream wait for the event. */
  wait(stream: CudaHandle, event: CudaHandle): boolean;
  state(event: CudaHandle): 'done' | 'running' | 'failed';
  /** Milliseconds between two completed events. */
  elapsed(from: CudaHandle, to: CudaHandle): number | undefined;
  /** Allocates memory for arguments of the given sizes in bytes. */
  pack(sizes: readonly number[]): PackedArguments;
  launch(launch: CudaLaunch): boolean;
}

/** The size of each of the two logs. */
const logBytes = 32768;

/** The driver's functions with memory for their results, and the last fault. */
interface Driver {
  readonly api: CudaApi;
  readonly ffi: Ffi;
  readonly handles: BigUint64Array;
  readonly integers: Int32Array;
  readonly floats: Float32Array;
  /** Whether a call succeeded; keeps the fault if not. */
  readonly succeeds: (call: string, result: number) => boolean;
  /** The handle that a call returned. */
  readonly handle: (call: string, result: number) => CudaHandle | undefined;
  readonly lastFault: () => CudaFault;
}

function driverOf(api: CudaApi, ffi: Ffi): Driver {
  let last: { call: string; result: number } = { call: '', result: 0 };
  const handles = new BigUint64Array(2);
  const textOf = (read: (result: number, out: Pointer) => number, result: number): string => {
    if (read(result, handles) !== cudaResults.success) return '';
    return String(new ffi.CString(Number(handles[0]) as never));
  };
  const succeeds = (call: string, result: number): boolean => {
    if (result === cudaResults.success) return true;
    last = { call, result };
    return false;
  };
  return {
    api,
    ffi,
    handles,
    integers: new Int32Array(1),
    floats: new Float32Array(1),
    succeeds,
    handle: (call, result) => (succeeds(call, result) ? (Number(handles[0]) as CudaHandle) : undefined),
    lastFault: () => ({
      ...last,
      name: textOf(api.cuGetErrorName, last.result) || `error ${last.result}`,
      text: textOf(api.cuGetErrorString, last.result) || 'the driver does not know this error',
    }),
  };
}

/** The binding over the driver's functions, or the fault that prevents it. */
export function bindingOver(api: CudaApi, ffi: Ffi): CudaBinding | CudaFault {
  const driver = driverOf(api, ffi);
  const { integers, lastFault, succeeds } = driver;
  if (!succeeds('cuInit', api.cuInit(0)) || !succeeds('cuDriverGetVersion', api.cuDriverGetVersion(integers))) return lastFault();
  const version = integers[0]!;
  return {
    version: `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`,
    lastFault,
    ...deviceFunctions(driver),
    ...moduleFunctions(driver),
    ...memoryFunctions(driver),
    ...streamFunctions(driver),
    pack: (sizes) => packOf(ffi, sizes),
    launch: ({ kernel, grid, block, shared, stream, args }) =>
      succeeds('cuLaunchKernel', api.cuLaunchKernel(kernel, ...grid, ...block, shared, stream, args.pointers, null)),
  };
}

const deviceFunctions = ({ api, handles, integers, succeeds, handle }: Driver) =>
  ({
    deviceCount: () => (succeeds('cuDeviceGetCount', api.cuDeviceGetCount(integers)) ? integers[0]! : 0),
    deviceName(device) {
      const name = new Uint8Array(256);
      if (!succeeds('cuDeviceGetName', api.cuDeviceGetName(name, name.length, device))) return '';
      return new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
    },
    deviceMemory: (device) => (succeeds('cuDeviceTotalMem', api.cuDeviceTotalMem_v2(handles, device)) ? Number(handles[0]) : 0),
    deviceAttribute: (device, attribute) =>
      succeeds('cuDeviceGetAttribute', api.cuDeviceGetAttribute(integers, attribute, device)) ? integers[0] : undefined,
    retain(device) {
      const context = handle('cuDevicePrimaryCtxRetain', api.cuDevicePrimaryCtxRetain(handles, device));
      return context !== undefined && succeeds('cuCtxSetCurrent', api.cuCtxSetCurrent(context)) ? context : undefined;
    },
    makeCurrent: (context) => succeeds('cuCtxSetCurrent', api.cuCtxSetCurrent(context)),
    release: (device) => succeeds('cuDevicePrimaryCtxRelease', api.cuDevicePrimaryCtxRelease_v2(device)),
    reset: (device) => succeeds('cuDevicePrimaryCtxReset', api.cuDevicePrimaryCtxReset_v2(device)),
  }) satisfies Partial<CudaBinding>;

const moduleFunctions = (driver: Driver) => {
  const { api, handles, integers, succeeds, handle } = driver;
  return {
    module: (ptx) => loadModule(driver, ptx),
    unload: (module) => succeeds('cuModuleUnload', api.cuModuleUnload(module)),
    function: (module, name) => handle('cuModuleGetFunction', api.cuModuleGetFunction(handles, module, cText(name))),
    functionFacts(kernel) {
      const [maxThreads, staticShared, registers] = (['maxThreads', 'staticShared', 'registers'] as const).map((name) =>
        succeeds('cuFuncGetAttribute', api.cuFuncGetAttribute(integers, functionAttributes[name], kernel)) ? integers[0] : undefined,
      );
      return maxThreads === undefined || staticShared === undefined || registers === undefined
        ? undefined
        : { maxThreads, staticShared, registers };
    },
    allowShared: (kernel, bytes) =>
      succeeds('cuFuncSetAttribute', api.cuFuncSetAttribute(kernel, functionAttributes.maxDynamicShared, bytes)),
    symbol(module, name) {
      const found = api.cuModuleGetGlobal_v2(handles, handles.subarray(1), module, cText(name));
      return succeeds('cuModuleGetGlobal', found) ? { address: handles[0]!, size: Number(handles[1]) } : undefined;
    },
  } satisfies Partial<CudaBinding>;
};

function loadModule({ api, ffi, handles, handle }: Driver, ptx: string): CudaModule {
  const logs = [new Uint8Array(logBytes), new Uint8Array(logBytes)] as const;
  const { infoLog, infoLogBytes, errorLog, errorLogBytes } = jitOptions;
  const options = Int32Array.of(infoLog, infoLogBytes, errorLog, errorLogBytes);
  const values = BigUint64Array.of(addressOf(ffi, logs[0]), BigInt(logBytes), addressOf(ffi, logs[1]), BigInt(logBytes));
  const loaded = handle('cuModuleLoadDataEx', api.cuModuleLoadDataEx(handles, cText(ptx), options.length, options, values));
  const [info, errors] = logs.map((log) => new TextDecoder().decode(log.subarray(0, Math.max(0, log.indexOf(0)))).trim());
  return { handle: loaded, info: info!, errors: errors! };
}

const memoryFunctions = ({ api, ffi, handles, succeeds }: Driver) =>
  ({
    allocate: (bytes) => (succeeds('cuMemAlloc', api.cuMemAlloc_v2(handles, bytes)) ? handles[0] : undefined),
    allocateManaged(bytes) {
      if (!succeeds('cuMemAllocManaged', api.cuMemAllocManaged(handles, bytes, attachGlobal))) return undefined;
      const [address] = handles;
      return { address: address!, view: new Uint8Array(ffi.toArrayBuffer(Number(address) as never, 0, bytes)) };
    },
    free: (address) => succeeds('cuMemFree', api.cuMemFree_v2(address)),
    fill: (address, value, bytes) => succeeds('cuMemsetD8', api.cuMemsetD8_v2(address, value, bytes)),
    write: (address, bytes) => bytes.length === 0 || succeeds('cuMemcpyHtoD', api.cuMemcpyHtoD_v2(address, bytes, bytes.length)),
    read: (address, bytes) => bytes.length === 0 || succeeds('cuMemcpyDtoH', api.cuMemcpyDtoH_v2(bytes, address, bytes.length)),
    copy: (to, from, bytes) => succeeds('cuMemcpyDtoD', api.cuMemcpyDtoD_v2(to, from, bytes)),
  }) satisfies Partial<CudaBinding>;

const streamFunctions = ({ api, handles, floats, succeeds, handle }: Driver) =>
  ({
    stream: () => handle('cuStreamCreate', api.cuStreamCreate(handles, 0)),
    endStream: (stream) => succeeds('cuStreamDestroy', api.cuStreamDestroy_v2(stream)),
    synchronize: (stream) => succeeds('cuStreamSynchronize', api.cuStreamSynchronize(stream)),
    event: () => handle('cuEventCreate', api.cuEventCreate(handles, 0)),
    endEvent: (event) => succeeds('cuEventDestroy', api.cuEventDestroy_v2(event)),
    record: (event, stream) => succeeds('cuEventRecord', api.cuEventRecord(event, stream)),
    wait: (stream, event) => succeeds('cuStreamWaitEvent', api.cuStreamWaitEvent(stream, event, 0)),
    state(event) {
      const result = api.cuEventQuery(event);
      if (result === cudaResults.notReady) return 'running';
      return succeeds('cuEventQuery', result) ? 'done' : 'failed';
    },
    elapsed: (from, to) => (succeeds('cuEventElapsedTime', api.cuEventElapsedTime(floats, from, to)) ? floats[0] : undefined),
  }) satisfies Partial<CudaBinding>;

const addressOf = (ffi: Ffi, bytes: Uint8Array | BigUint64Array): bigint => BigInt(ffi.ptr(bytes));

/** The alignment of each parameter: no parameter needs more than 16 bytes. */
const cellAlign = 16;

function packOf(ffi: Ffi, sizes: readonly number[]): PackedArguments {
  const offsets: number[] = [];
  let end = 0;
  for (const size of sizes) {
    offsets.push(end);
    end += Math.ceil(Math.max(size, 1) / cellAlign) * cellAlign;
  }
  const memory = new ArrayBuffer(end);
  const bytes = new Uint8Array(memory);
  const start = end === 0 ? 0n : addressOf(ffi, bytes);
  const pointers = end === 0 ? null : BigUint64Array.from(offsets, (offset) => start + BigInt(offset));
  return { bytes, words: new BigUint64Array(memory), offsets, pointers };
}
