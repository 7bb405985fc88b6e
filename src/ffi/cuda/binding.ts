/**
 * The CUDA driver as handles, addresses and copies instead of pointers. A call that fails returns undefined or false, and `lastFault` has
 * the reason. The caller owns a handle and releases it once.
 */
import type { Ffi } from '../bun.ts';
import { cText } from '../types.ts';
import { attachGlobal, type CudaApi, cudaResults, functionAttributes, hostMemory, jitOptions } from './api.ts';
import { type CudaFault, type CudaHandle, type CudaLaunch, type Driver, driverOf, type PackedArguments } from './driver.ts';
import { type ImageFunctions, imageFunctions } from './images.ts';
import { launchFunction } from './launch.ts';

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

/** A word that streams write. */
export interface CudaMark {
  readonly address: bigint;
  readonly words: Uint32Array;
}

export interface CudaBinding extends ImageFunctions {
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
  /** Allows a kernel clusters of more than eight blocks. */
  allowLargeClusters(kernel: CudaHandle): boolean;
  /** Blocks of a kernel that one multiprocessor runs at the same time. */
  blocksPerCore(kernel: CudaHandle, threads: number, dynamicShared: number): number | undefined;
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
  /** Copies between memory of two contexts. */
  copyPeer(to: bigint, toContext: CudaHandle, from: bigint, fromContext: CudaHandle, bytes: number): boolean;
  /** A word of the host that streams write; undefined where the driver has none. It keeps its value when a context fails, until `endMark`. */
  mark(): CudaMark | undefined;
  endMark(mark: CudaMark): boolean;
  /** Has a stream write a word when its work so far has ended without a fault. */
  writeMark(stream: CudaHandle, mark: CudaMark, value: number): boolean;
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
    ...markFunctions(driver),
    pack: (sizes) => packOf(ffi, sizes),
    ...imageFunctions(driver),
    launch: launchFunction(driver),
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
    allowLargeClusters: (kernel) => succeeds('cuFuncSetAttribute', api.cuFuncSetAttribute(kernel, functionAttributes.largeClusters, 1)),
    blocksPerCore(kernel, threads, dynamicShared) {
      const call = 'cuOccupancyMaxActiveBlocksPerMultiprocessor';
      return succeeds(call, api[call](integers, kernel, threads, dynamicShared)) ? integers[0] : undefined;
    },
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
    copyPeer: (to, toContext, from, fromContext, bytes) =>
      succeeds('cuMemcpyPeer', api.cuMemcpyPeer(to, toContext, from, fromContext, bytes)),
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

const markFunctions = ({ api, ffi, handles, succeeds }: Driver) =>
  ({
    mark() {
      if (!api.cuStreamWriteValue32_v2 || !api.cuMemHostAlloc || !succeeds('cuMemHostAlloc', api.cuMemHostAlloc(handles, 8, hostMemory)))
        return undefined;
      const [address] = handles;
      return { address: address!, words: new Uint32Array(ffi.toArrayBuffer(Number(address) as never, 0, 8)).fill(0) };
    },
    endMark: ({ address }) => succeeds('cuMemFreeHost', api.cuMemFreeHost?.(Number(address) as never) ?? cudaResults.notSupported),
    writeMark: (stream, { address }, value) =>
      succeeds('cuStreamWriteValue32', api.cuStreamWriteValue32_v2?.(stream, address, value, 0) ?? cudaResults.notSupported),
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
