/**
 * The CUDA driver for the rest of the program: handles, addresses and copies in place of pointers. What fails gives nothing, or
 * false, and `lastFault` says why. A handle is the caller's until it is given back, once.
 */
import type { Ffi } from '../bun.ts';
import { cText, type Pointer } from '../types.ts';
import { attachGlobal, type CudaApi, cudaResults, functionAttributes, jitOptions } from './api.ts';

declare const handleBrand: unique symbol;
/** A context, module, function, stream or event of the driver. */
export type CudaHandle = number & { readonly [handleBrand]: true };

/** Why a call failed. */
export interface CudaFault {
  /** The function of the driver. */
  readonly call: string;
  /** `CUresult`, by number and as `CUDA_ERROR_INVALID_PTX`. */
  readonly result: number;
  readonly name: string;
  /** The driver's own words. */
  readonly text: string;
}

export interface CudaModule {
  /** Nothing where the driver did not take the PTX. */
  readonly handle: CudaHandle | undefined;
  /** What the driver's compiler says, line by line; empty where it says nothing. */
  readonly info: string;
  readonly errors: string;
}

export interface CudaFunctionFacts {
  /** Most threads of a block, fewer than the device's where the kernel needs many registers. */
  readonly maxThreads: number;
  /** Bytes. */
  readonly staticShared: number;
  /** Of each thread. */
  readonly registers: number;
}

/** Arguments of a launch where the driver finds them. It copies them when the launch is asked for. */
export interface PackedArguments {
  /** To be filled, each parameter from its offset on; the same memory twice, for offsets are multiples of 16. */
  readonly bytes: Uint8Array;
  readonly words: BigUint64Array;
  readonly offsets: readonly number[];
  /** What the driver is handed. */
  readonly pointers: Pointer;
}

/** A launch as the driver takes it. */
export interface CudaLaunch {
  readonly kernel: CudaHandle;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Dynamic shared memory, bytes. */
  readonly shared: number;
  readonly stream: CudaHandle;
  readonly args: PackedArguments;
}

export interface CudaBinding {
  /** Of the driver, as CUDA counts: `12.4`. */
  readonly version: string;
  lastFault(): CudaFault;
  deviceCount(): number;
  deviceName(device: number): string;
  /** Bytes. */
  deviceMemory(device: number): number;
  /** By its number in `CUdevice_attribute`; nothing for one that the driver does not know. */
  deviceAttribute(device: number, attribute: number): number | undefined;
  /** The primary context of a device, made current for this thread. */
  retain(device: number): CudaHandle | undefined;
  makeCurrent(context: CudaHandle): boolean;
  release(device: number): boolean;
  /** Throws the primary context away with all that is in it. */
  reset(device: number): boolean;
  module(ptx: string): CudaModule;
  unload(module: CudaHandle): boolean;
  function(module: CudaHandle, name: string): CudaHandle | undefined;
  functionFacts(kernel: CudaHandle): CudaFunctionFacts | undefined;
  /** Lets a kernel have more dynamic shared memory than the 48 KB that need no permission. */
  allowShared(kernel: CudaHandle, bytes: number): boolean;
  symbol(module: CudaHandle, name: string): { readonly address: bigint; readonly size: number } | undefined;
  /** Nothing is promised of what it holds. */
  allocate(bytes: number): bigint | undefined;
  /** Memory that the host sees as well, as it is: good until it is given back, and at rest while no kernel runs. At most 4 GiB. */
  allocateManaged(bytes: number): { readonly address: bigint; readonly view: Uint8Array } | undefined;
  free(address: bigint): boolean;
  fill(address: bigint, value: number, bytes: number): boolean;
  write(address: bigint, bytes: Uint8Array): boolean;
  read(address: bigint, bytes: Uint8Array): boolean;
  copy(to: bigint, from: bigint, bytes: number): boolean;
  stream(): CudaHandle | undefined;
  endStream(stream: CudaHandle): boolean;
  /** Waits for all that the stream was given. */
  synchronize(stream: CudaHandle): boolean;
  event(): CudaHandle | undefined;
  endEvent(event: CudaHandle): boolean;
  record(event: CudaHandle, stream: CudaHandle): boolean;
  /** What comes next in the stream waits for the event. */
  wait(stream: CudaHandle, event: CudaHandle): boolean;
  state(event: CudaHandle): 'done' | 'running' | 'failed';
  /** Between two events that are done, milliseconds. */
  elapsed(from: CudaHandle, to: CudaHandle): number | undefined;
  /** Room for arguments of these sizes in bytes. */
  pack(sizes: readonly number[]): PackedArguments;
  launch(launch: CudaLaunch): boolean;
}

/** Bytes of each of the two logs. */
const logBytes = 32768;

/** The binding over the driver's functions; in words why there is none. */
export function bindingOver(api: CudaApi, ffi: Ffi): CudaBinding | CudaFault {
  let last: { call: string; result: number } = { call: '', result: 0 };
  const good = (call: string, result: number): boolean => {
    if (result === cudaResults.success) return true;
    last = { call, result };
    return false;
  };
  const handles = new BigUint64Array(2);
  const numbers = new Int32Array(1);
  const singles = new Float32Array(1);
  const handle = (call: string, result: number): CudaHandle | undefined =>
    good(call, result) ? (Number(handles[0]) as CudaHandle) : undefined;
  const textOf = (read: (result: number, out: Pointer) => number, result: number): string => {
    if (read(result, handles) !== cudaResults.success) return '';
    return String(new ffi.CString(Number(handles[0]) as never));
  };
  const lastFault = (): CudaFault => ({
    ...last,
    name: textOf(api.cuGetErrorName, last.result) || `error ${last.result}`,
    text: textOf(api.cuGetErrorString, last.result) || 'the driver does not know this error',
  });
  const count = (call: string, result: number): number => (good(call, result) ? numbers[0]! : 0);
  const attributeOf = (kernel: CudaHandle, attribute: number): number | undefined =>
    good('cuFuncGetAttribute', api.cuFuncGetAttribute(numbers, attribute, kernel)) ? numbers[0] : undefined;
  if (!good('cuInit', api.cuInit(0)) || !good('cuDriverGetVersion', api.cuDriverGetVersion(numbers))) return lastFault();
  const version = numbers[0]!;
  return {
    version: `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`,
    lastFault,
    deviceCount: () => count('cuDeviceGetCount', api.cuDeviceGetCount(numbers)),
    deviceName(device) {
      const name = new Uint8Array(256);
      if (!good('cuDeviceGetName', api.cuDeviceGetName(name, name.length, device))) return '';
      return new TextDecoder().decode(name.subarray(0, name.indexOf(0)));
    },
    deviceMemory: (device) => (good('cuDeviceTotalMem', api.cuDeviceTotalMem_v2(handles, device)) ? Number(handles[0]) : 0),
    deviceAttribute: (device, attribute) =>
      good('cuDeviceGetAttribute', api.cuDeviceGetAttribute(numbers, attribute, device)) ? numbers[0] : undefined,
    retain(device) {
      const context = handle('cuDevicePrimaryCtxRetain', api.cuDevicePrimaryCtxRetain(handles, device));
      return context !== undefined && good('cuCtxSetCurrent', api.cuCtxSetCurrent(context)) ? context : undefined;
    },
    makeCurrent: (context) => good('cuCtxSetCurrent', api.cuCtxSetCurrent(context)),
    release: (device) => good('cuDevicePrimaryCtxRelease', api.cuDevicePrimaryCtxRelease_v2(device)),
    reset: (device) => good('cuDevicePrimaryCtxReset', api.cuDevicePrimaryCtxReset_v2(device)),
    module: (ptx) => loadModule(ptx),
    unload: (module) => good('cuModuleUnload', api.cuModuleUnload(module)),
    function: (module, name) => handle('cuModuleGetFunction', api.cuModuleGetFunction(handles, module, cText(name))),
    functionFacts(kernel) {
      const [maxThreads, staticShared, registers] = (['maxThreads', 'staticShared', 'registers'] as const).map((name) =>
        attributeOf(kernel, functionAttributes[name]),
      );
      return maxThreads === undefined || staticShared === undefined || registers === undefined
        ? undefined
        : { maxThreads, staticShared, registers };
    },
    allowShared: (kernel, bytes) => good('cuFuncSetAttribute', api.cuFuncSetAttribute(kernel, functionAttributes.maxDynamicShared, bytes)),
    symbol(module, name) {
      const found = api.cuModuleGetGlobal_v2(handles, handles.subarray(1), module, cText(name));
      return good('cuModuleGetGlobal', found) ? { address: handles[0]!, size: Number(handles[1]) } : undefined;
    },
    allocate: (bytes) => (good('cuMemAlloc', api.cuMemAlloc_v2(handles, bytes)) ? handles[0] : undefined),
    allocateManaged(bytes) {
      if (!good('cuMemAllocManaged', api.cuMemAllocManaged(handles, bytes, attachGlobal))) return undefined;
      const [address] = handles;
      return { address: address!, view: new Uint8Array(ffi.toArrayBuffer(Number(address) as never, 0, bytes)) };
    },
    free: (address) => good('cuMemFree', api.cuMemFree_v2(address)),
    fill: (address, value, bytes) => good('cuMemsetD8', api.cuMemsetD8_v2(address, value, bytes)),
    write: (address, bytes) => bytes.length === 0 || good('cuMemcpyHtoD', api.cuMemcpyHtoD_v2(address, bytes, bytes.length)),
    read: (address, bytes) => bytes.length === 0 || good('cuMemcpyDtoH', api.cuMemcpyDtoH_v2(bytes, address, bytes.length)),
    copy: (to, from, bytes) => good('cuMemcpyDtoD', api.cuMemcpyDtoD_v2(to, from, bytes)),
    stream: () => handle('cuStreamCreate', api.cuStreamCreate(handles, 0)),
    endStream: (stream) => good('cuStreamDestroy', api.cuStreamDestroy_v2(stream)),
    synchronize: (stream) => good('cuStreamSynchronize', api.cuStreamSynchronize(stream)),
    event: () => handle('cuEventCreate', api.cuEventCreate(handles, 0)),
    endEvent: (event) => good('cuEventDestroy', api.cuEventDestroy_v2(event)),
    record: (event, stream) => good('cuEventRecord', api.cuEventRecord(event, stream)),
    wait: (stream, event) => good('cuStreamWaitEvent', api.cuStreamWaitEvent(stream, event, 0)),
    state(event) {
      const result = api.cuEventQuery(event);
      if (result === cudaResults.notReady) return 'running';
      return good('cuEventQuery', result) ? 'done' : 'failed';
    },
    elapsed: (from, to) => (good('cuEventElapsedTime', api.cuEventElapsedTime(singles, from, to)) ? singles[0] : undefined),
    pack: (sizes) => packOf(ffi, sizes),
    launch: ({ kernel, grid, block, shared, stream, args }) =>
      good('cuLaunchKernel', api.cuLaunchKernel(kernel, ...grid, ...block, shared, stream, args.pointers, null)),
  };

  function loadModule(ptx: string): CudaModule {
    const logs = [new Uint8Array(logBytes), new Uint8Array(logBytes)] as const;
    const { infoLog, infoLogBytes, errorLog, errorLogBytes } = jitOptions;
    const options = Int32Array.of(infoLog, infoLogBytes, errorLog, errorLogBytes);
    const values = BigUint64Array.of(addressOf(ffi, logs[0]), BigInt(logBytes), addressOf(ffi, logs[1]), BigInt(logBytes));
    const loaded = handle('cuModuleLoadDataEx', api.cuModuleLoadDataEx(handles, cText(ptx), options.length, options, values));
    const [info, errors] = logs.map((log) => new TextDecoder().decode(log.subarray(0, Math.max(0, log.indexOf(0)))).trim());
    return { handle: loaded, info: info!, errors: errors! };
  }
}

const addressOf = (ffi: Ffi, bytes: Uint8Array | BigUint64Array): bigint => BigInt(ffi.ptr(bytes));

/** Parameters are at most 16-byte aligned, so that cells at multiples of 16 suit all. */
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
