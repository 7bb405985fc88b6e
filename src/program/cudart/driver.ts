/**
 * The driver API over the same state. Names with `_v2` are those that CUDA's headers give to programs of today. Source: CUDA Driver API.
 */
import { type CudaError, cudaErrors } from '../../api/cuda-errors.ts';
import type { Dim3 } from '../../device/index.ts';
import { type LaunchConfig, type LoadedKernel, launchAttributes } from './clusters.ts';
import { copy, fillWords, kinds } from './copies.ts';
import { allocate, allocateManaged, allocatePinned, deviceMemory, free, totalBytes } from './device-memory.ts';
import { attributeOf, cudaVersion, devices, keptText, propertiesOf } from './devices.ts';
import { driverArrays } from './driver-arrays.ts';
import { inContext, initialized, same } from './driver-row.ts';
import { type ArgumentBytes, argumentsAt, assertTogether, kernelNamed, maxSharedBytesOf, prepareLaunch, usualShared } from './launches.ts';
import { links } from './link.ts';
import { occupancy } from './occupancy.ts';
import { driverPools } from './pools.ts';
import { driverRow, must, type Row } from './row.ts';
import { type CodeImage, CudaFailure, type CudaState, fail, type LaunchShape } from './state.ts';
import { streams } from './streams.ts';
import { placeNamed } from './symbols.ts';
import { tensorMaps } from './tensor-maps.ts';
import { virtualMemory } from './virtual-memory.ts';
import { work } from './work.ts';

/** The context of the device that the runtime uses as well. */
const primary = (1n << 48n) + 8n;

function assertDevice(device: number): void {
  if (device !== 0) fail('cudaErrorInvalidDevice');
}

const current = ({ contexts, usesRuntime }: CudaState): bigint => contexts.at(-1) ?? (usesRuntime ? primary : 0n);

function assertContext({ ownContexts }: CudaState, context: bigint): void {
  if (context !== primary && !ownContexts.has(context)) fail('cudaErrorDeviceUninitialized');
}

// ── modules ──

function loadModule(state: CudaState, to: bigint, text: string | undefined): void {
  // A text that never was PTX is no image; one with errors is invalid PTX.
  if (!text?.includes('.version')) fail('cudaErrorInvalidKernelImage');
  const image: CodeImage = { text: text!, module: undefined };
  // Errors of code are those of this call.
  state.moduleOf(image);
  const handle = state.newHandle();
  state.modules.set(handle, image);
  must(state.memory.putU64(to, handle));
}

const imageAt = ({ memory, options }: CudaState, pointer: bigint): string | undefined =>
  (options.readImage ?? ((from, at) => from.cString(at)))(memory, pointer);

const moduleOf = ({ modules }: CudaState, handle: bigint): CodeImage => modules.get(handle) ?? fail('cudaErrorInvalidResourceHandle');
const textAt = ({ memory }: CudaState, pointer: bigint): string => memory.cString(pointer) ?? fail('cudaErrorInvalidValue');

function functionOf(state: CudaState, to: bigint, handle: bigint, nameAt: bigint): void {
  const [image, name] = [moduleOf(state, handle), textAt(state, nameAt)];
  const module = state.moduleOf(image);
  const isThere = module.kernels.some((kernel) => kernel.name === name) || module.refused?.has(name);
  if (!isThere) fail('cudaErrorSymbolNotFound');
  const known = [...state.functions].find(([, named]) => named.image === image && named.name === name)?.[0];
  const made = known ?? state.newHandle();
  state.functions.set(made, { name, image });
  must(state.memory.putU64(to, made));
}

function globalOf(state: CudaState, to: bigint, bytesTo: bigint, handle: bigint, nameAt: bigint): void {
  const image = moduleOf(state, handle);
  const name = textAt(state, nameAt);
  const { address, size } = placeNamed(state, image, name);
  must(to === 0n || state.memory.putU64(to, address));
  must(bytesTo === 0n || state.memory.putU64(bytesTo, size));
}

function unload(state: CudaState, handle: bigint): void {
  const image = moduleOf(state, handle);
  image.module?.close();
  for (const allocation of state.unnamed.get(image)?.values() ?? []) {
    state.allocations.remove(allocation);
    allocation.buffer.free();
  }
  state.unnamed.delete(image);
  state.modules.delete(handle);
  for (const [each, named] of [...state.functions]) if (named.image === image) state.functions.delete(each);
}

// ── launches ──

/** Words of the list `extra`: its end, a pointer to all arguments behind each other, and their bytes. */
const extraWords = { end: 0n, pointer: 1n, size: 2n } as const;

/** Arguments behind each other, each at a multiple of its size. */
function argumentsIn(state: CudaState, extra: bigint, offsets: readonly number[]): ArgumentBytes {
  let [pointer, size] = [0n, 0];
  for (let at = extra; ; at += 16n) {
    const word = state.memory.u64(at) ?? fail('cudaErrorInvalidValue');
    if (word === extraWords.end) break;
    const value = state.memory.u64(at + 8n) ?? fail('cudaErrorInvalidValue');
    if (word === extraWords.pointer) pointer = value;
    else if (word === extraWords.size) size = Number(state.memory.u64(value) ?? fail('cudaErrorInvalidValue'));
    else fail('cudaErrorInvalidValue');
  }
  return (i, bytes) => {
    const offset = offsets[i]!;
    if (offset + bytes > size) fail('cudaErrorInvalidValue');
    return state.memory.slice(pointer + BigInt(offset), bytes)?.slice() ?? fail('cudaErrorInvalidValue');
  };
}

type Launch = [
  fn: bigint,
  gx: number,
  gy: number,
  gz: number,
  bx: number,
  by: number,
  bz: number,
  bytes: number,
  stream: bigint,
  list: bigint,
];

function launch(
  state: CudaState,
  cooperative: boolean,
  ...[fn, gx, gy, gz, bx, by, bz, sharedBytes, stream, list, extra]: [...Launch, extra: bigint]
): void {
  launchShape(state, { grid: [gx, gy, gz], block: [bx, by, bz], sharedBytes, stream, cooperative }, fn, list, extra);
}

function launchShape(state: CudaState, shape: LaunchShape, fn: bigint, list: bigint, extra: bigint): void {
  if (!state.functions.has(fn)) fail('cudaErrorInvalidResourceHandle');
  if (list !== 0n && extra !== 0n) fail('cudaErrorInvalidValue');
  const loaded = kernelNamed(state, state.functions.get(fn)!);
  const { kernel } = loaded;
  const given = extra === 0n ? argumentsAt(state, list) : argumentsIn(state, extra, offsetsOf(kernel.params));
  if (shape.cooperative) assertTogether(state, loaded, shape);
  work(state, shape.stream, 'kernel', lateFailure(state, prepareLaunch(state, fn, shape, given)));
}

/** The error of a kernel that has begun is that of later calls. */
const lateFailure = (state: CudaState, run: () => void) => (): void => {
  try {
    run();
  } catch (error) {
    if (!(error instanceof CudaFailure) || state.sticky === undefined) throw error;
  }
};

/** What a `CUlaunchConfig` says. */
function launchConfig(state: CudaState, config: bigint): LaunchConfig {
  const word = (i: number): number => state.memory.u32(config + BigInt(4 * i)) ?? fail('cudaErrorInvalidValue');
  const stream = state.memory.u64(config + 32n) ?? fail('cudaErrorInvalidValue');
  const { isTogether, ...more } = launchAttributes(state, state.memory.u64(config + 40n) ?? 0n, word(12));
  const [grid, block] = [0, 3].map((first) => [word(first), word(first + 1), word(first + 2)] as const) as [Dim3, Dim3];
  return { isTogether, shape: { grid, block, sharedBytes: word(6), stream, cooperative: isTogether, ...more } };
}

const launchEx = (state: CudaState, config: bigint, fn: bigint, list: bigint, extra: bigint): void =>
  launchShape(state, launchConfig(state, config).shape, fn, list, extra);

/** Where parameters lie behind each other, each at a multiple of its alignment. */
function offsetsOf(params: LoadedKernel['kernel']['params']): number[] {
  let at = 0;
  return params.map(({ kind, size, align }) => {
    const [bytes, step] = kind === 'buffer' ? [8, 8] : [size, align];
    const start = Math.ceil(at / step) * step;
    at = start + bytes;
    return start;
  });
}

const launchArguments = ['pointer', 'uint', 'uint', 'uint', 'uint', 'uint', 'uint', 'uint', 'pointer', 'pointer'] as const;

/** Attributes of a function by number. Source: `CUfunction_attribute`. */
function functionAttribute(state: CudaState, to: bigint, attribute: number, fn: bigint): void {
  const { kernel } = kernelNamed(state, state.functions.get(fn) ?? fail('cudaErrorInvalidResourceHandle'));
  const { limits } = state.options.device.info;
  const most = Math.min(kernel.maxThreads ?? limits.maxThreadsPerThreadgroup, limits.maxThreadsPerThreadgroup);
  const dynamic = state.dynamicShared.get(fn) ?? Math.max(0, usualShared - kernel.staticSharedBytes);
  const { required = [0, 0, 0], isExplicit } = kernel.cluster ?? {};
  const clusters = [isExplicit || required[0] > 0 ? 1 : 0, ...required, state.largeClusters.has(fn) ? 1 : 0, 0];
  const values = [most, kernel.staticSharedBytes, 0, 0, 32, 80, 80, 0, dynamic, -1, ...clusters];
  must(state.memory.putU32(to, (values[attribute] ?? fail('cudaErrorInvalidValue')) >>> 0));
}

const driverErrors = new Map<number, CudaError>(
  Object.values(cudaErrors as Readonly<Record<string, CudaError>>)
    .filter(({ driverNumber }) => driverNumber === undefined)
    .map((error) => [error.number, error]),
);

const errorText = (textOf: (error: CudaError) => string): Row =>
  driverRow(['int', 'pointer'], (state, number, to) => {
    const error = driverErrors.get(number);
    must(state.memory.putU64(to, error ? keptText(state, textOf(error)) : 0n));
    if (!error) fail('cudaErrorInvalidValue');
  });

const memorySet = (size: 1 | 2 | 4): Row =>
  inContext(['pointer', size === 4 ? 'uint' : 'int', 'size'], (state, pointer, value, count) => {
    work(state, 0n, 'fill', () => fillWords(state, pointer, value, size, count));
  });

/** The same in a stream, of bytes too. */
const memorySetLater = (size: 1 | 2 | 4): Row =>
  inContext(['pointer', size === 4 ? 'uint' : 'int', 'size', 'pointer'], (state, pointer, value, count, stream) =>
    work(state, stream, 'fill', () => fillWords(state, pointer, value, size, count)),
  );

const copyTo = (kind: number): Row =>
  inContext(['pointer', 'pointer', 'size'], (state, to, from, bytes) => work(state, 0n, 'copy', () => copy(state, to, from, bytes, kind)));
const copyToLater = (kind: number): Row =>
  inContext(['pointer', 'pointer', 'size', 'pointer'], (state, to, from, bytes, stream) =>
    work(state, stream, 'copy', () => copy(state, to, from, bytes, kind)),
  );

const functions: Readonly<Record<string, Row>> = {
  cuInit: driverRow(['uint'], (state, flags) => {
    if (flags !== 0) fail('cudaErrorInvalidValue');
    state.isInitialized = true;
  }),
  cuDriverGetVersion: driverRow(['pointer'], (state, to) => must(state.memory.putU32(to, cudaVersion))),
  cuGetErrorName: errorText(({ driver }) => driver),
  cuGetErrorString: errorText(({ text }) => text),
  cuDeviceGet: initialized(['pointer', 'int'], (state, to, device) => {
    assertDevice(device);
    must(state.memory.putU32(to, device));
  }),
  cuDeviceGetCount: initialized(['pointer'], (state, to) => must(state.memory.putU32(to, 1))),
  cuDeviceGetName: initialized(['pointer', 'int', 'int'], (state, to, room, device) => {
    assertDevice(device);
    const bytes = new Uint8Array(Math.max(0, room));
    bytes.set(new TextEncoder().encode(state.options.device.info.name).subarray(0, Math.max(0, room - 1)));
    must(state.memory.put(to, bytes));
  }),
  cuDeviceTotalMem: initialized(['pointer', 'int'], (state, to, device) => {
    assertDevice(device);
    must(state.memory.putU64(to, totalBytes(state)));
  }),
  cuDeviceGetAttribute: initialized(['pointer', 'int', 'int'], (state, to, attribute, device) => {
    assertDevice(device);
    must(state.memory.putU32(to, attributeOf(state, attribute) >>> 0));
  }),
  cuDeviceGetUuid: initialized(['pointer', 'int'], (state, to, device) => {
    assertDevice(device);
    must(state.memory.put(to, new Uint8Array(16)));
  }),
  cuDeviceComputeCapability: initialized(['pointer', 'pointer', 'int'], (state, major, minor, device) => {
    assertDevice(device);
    const properties = propertiesOf(state);
    must(state.memory.putU32(major, Number(properties.major)) && state.memory.putU32(minor, Number(properties.minor)));
  }),
  cuDeviceCanAccessPeer: initialized(['pointer', 'int', 'int'], (state, to) => must(state.memory.putU32(to, 0))),
  cuDevicePrimaryCtxRetain: initialized(['pointer', 'int'], (state, to, device) => {
    assertDevice(device);
    must(state.memory.putU64(to, primary));
  }),
  cuDevicePrimaryCtxRelease: initialized(['int'], (_state, device) => assertDevice(device)),
  cuCtxCreate: initialized(['pointer', 'uint', 'int'], (state, to, _flags, device) => {
    assertDevice(device);
    const context = state.newHandle();
    must(state.memory.putU64(to, context));
    state.ownContexts.add(context);
    state.contexts.push(context);
  }),
  cuCtxDestroy: initialized(['pointer'], (state, context) => {
    if (!state.ownContexts.delete(context)) fail('cudaErrorDeviceUninitialized');
    const at = state.contexts.lastIndexOf(context);
    if (at >= 0) state.contexts.splice(at, 1);
  }),
  cuCtxPushCurrent: initialized(['pointer'], (state, context) => {
    assertContext(state, context);
    state.contexts.push(context);
  }),
  cuCtxPopCurrent: initialized(['pointer'], (state, to) => {
    const context = state.contexts.pop() ?? fail('cudaErrorDeviceUninitialized');
    must(to === 0n || state.memory.putU64(to, context));
  }),
  cuCtxSetCurrent: initialized(['pointer'], (state, context) => {
    if (context !== 0n) assertContext(state, context);
    state.contexts.pop();
    if (context !== 0n) state.contexts.push(context);
  }),
  cuCtxGetCurrent: initialized(['pointer'], (state, to) => must(state.memory.putU64(to, current(state)))),
  cuCtxGetDevice: inContext(['pointer'], (state, to) => must(state.memory.putU32(to, 0))),
  cuCtxSynchronize: same(devices.cudaDeviceSynchronize!),
  cuModuleLoadData: inContext(['pointer', 'pointer'], (state, to, image) => loadModule(state, to, imageAt(state, image))),
  // Options of a compiler of machine code: registers, logs.
  cuModuleLoadDataEx: inContext(['pointer', 'pointer', 'uint', 'pointer', 'pointer'], (state, to, image) =>
    loadModule(state, to, imageAt(state, image)),
  ),
  cuModuleLoad: inContext(['pointer', 'pointer'], (state, to, pathAt) => {
    const path = textAt(state, pathAt);
    const bytes = state.options.readFile?.(path) ?? fail('cudaErrorFileNotFound');
    loadModule(state, to, new TextDecoder().decode(bytes).replace(/\0.*$/s, ''));
  }),
  cuModuleUnload: inContext(['pointer'], unload),
  cuModuleGetFunction: inContext(['pointer', 'pointer', 'pointer'], functionOf),
  cuModuleGetGlobal: inContext(['pointer', 'pointer', 'pointer', 'pointer'], globalOf),
  cuLaunchKernel: inContext([...launchArguments, 'pointer'], (state, ...given) => launch(state, false, ...given)),
  cuLaunchKernelEx: inContext(['pointer', 'pointer', 'pointer', 'pointer'], launchEx),
  cuLaunchCooperativeKernel: inContext(launchArguments, (state, ...given) => launch(state, true, ...(given as unknown as Launch), 0n)),
  cuFuncGetAttribute: inContext(['pointer', 'int', 'pointer'], functionAttribute),
  cuFuncSetAttribute: inContext(['pointer', 'int', 'int'], (state, fn, attribute, value) => {
    const { kernel } = kernelNamed(state, state.functions.get(fn) ?? fail('cudaErrorInvalidResourceHandle'));
    if (attribute === 9 || attribute === 15) return;
    if (attribute === 14) {
      if (value === 0) state.largeClusters.delete(fn);
      else state.largeClusters.add(fn);
      return;
    }
    if (attribute !== 8 || value < 0 || value + kernel.staticSharedBytes > maxSharedBytesOf(state, kernel)) fail('cudaErrorInvalidValue');
    state.dynamicShared.set(fn, value);
  }),
  cuFuncSetCacheConfig: inContext(['pointer', 'int'], (state, fn) => {
    if (!state.functions.has(fn)) fail('cudaErrorInvalidResourceHandle');
  }),
  ...occupancy(launchConfig),
  cuMemGetInfo: same(deviceMemory.cudaMemGetInfo!),
  ...driverPools,
  cuMemAlloc: inContext(['pointer', 'size'], (state, to, bytes) => {
    if (bytes === 0) fail('cudaErrorInvalidValue');
    must(state.memory.putU64(to, allocate(state, bytes).address));
  }),
  cuMemAllocManaged: inContext(['pointer', 'size', 'uint'], (state, to, bytes) => {
    if (bytes === 0) fail('cudaErrorInvalidValue');
    must(state.memory.putU64(to, allocateManaged(state, bytes).address));
  }),
  cuMemAllocPitch: inContext(
    ['pointer', 'pointer', 'size', 'size', 'uint'],
    (state, to, pitchTo, width, height) => void deviceMemory.cudaMallocPitch!.run(state, ...([to, pitchTo, width, height] as never[])),
  ),
  cuMemFree: inContext(['pointer'], free),
  cuMemAllocHost: inContext(['pointer', 'size'], (state, to, bytes) => allocatePinned(state, to, bytes, 0)),
  cuMemHostAlloc: inContext(['pointer', 'size', 'uint'], allocatePinned),
  cuMemFreeHost: same(deviceMemory.cudaFreeHost!),
  cuMemHostRegister: same(deviceMemory.cudaHostRegister!),
  cuMemHostUnregister: same(deviceMemory.cudaHostUnregister!),
  cuMemHostGetDevicePointer: same(deviceMemory.cudaHostGetDevicePointer!),
  cuMemcpy: copyTo(kinds.infer),
  cuMemcpyAsync: copyToLater(kinds.infer),
  cuMemcpyHtoD: copyTo(kinds.hostToDevice),
  cuMemcpyDtoH: copyTo(kinds.deviceToHost),
  cuMemcpyDtoD: copyTo(kinds.deviceToDevice),
  cuMemcpyHtoDAsync: copyToLater(kinds.hostToDevice),
  cuMemcpyDtoHAsync: copyToLater(kinds.deviceToHost),
  cuMemcpyDtoDAsync: copyToLater(kinds.deviceToDevice),
  cuMemsetD8: memorySet(1),
  cuMemsetD16: memorySet(2),
  cuMemsetD32: memorySet(4),
  cuMemsetD8Async: memorySetLater(1),
  cuMemsetD16Async: memorySetLater(2),
  cuMemsetD32Async: memorySetLater(4),
  cuStreamCreate: inContext(
    ['pointer', 'uint'],
    (state, to, flags) => void streams.cudaStreamCreateWithFlags!.run(state, ...([to, flags] as never[])),
  ),
  cuStreamCreateWithPriority: same(streams.cudaStreamCreateWithPriority!),
  cuStreamDestroy: same(streams.cudaStreamDestroy!),
  cuStreamSynchronize: same(streams.cudaStreamSynchronize!),
  cuStreamQuery: same(streams.cudaStreamQuery!),
  cuStreamWaitEvent: same(streams.cudaStreamWaitEvent!),
  cuStreamAddCallback: same(streams.cudaStreamAddCallback!),
  cuLaunchHostFunc: same(streams.cudaLaunchHostFunc!),
  cuEventCreate: same(streams.cudaEventCreateWithFlags!),
  cuEventRecord: same(streams.cudaEventRecord!),
  cuEventSynchronize: same(streams.cudaEventSynchronize!),
  cuEventQuery: same(streams.cudaEventQuery!),
  cuEventElapsedTime: same(streams.cudaEventElapsedTime!),
  cuEventDestroy: same(streams.cudaEventDestroy!),
  ...driverArrays,
  ...tensorMaps,
  ...virtualMemory,
  ...links,
  cuProfilerStart: driverRow([], () => undefined),
  cuProfilerStop: driverRow([], () => undefined),
};

/** Functions that CUDA's headers rename. */
const renamed = [
  ...['cuDeviceTotalMem', 'cuCtxCreate', 'cuCtxDestroy', 'cuCtxPushCurrent', 'cuCtxPopCurrent', 'cuModuleGetGlobal', 'cuMemGetInfo'],
  ...['cuMemAlloc', 'cuMemAllocPitch', 'cuMemFree', 'cuMemAllocHost', 'cuMemHostRegister', 'cuMemHostGetDevicePointer', 'cuDeviceGetUuid'],
  ...['cuMemcpyHtoD', 'cuMemcpyDtoH', 'cuMemcpyDtoD', 'cuMemcpyHtoDAsync', 'cuMemcpyDtoHAsync', 'cuMemcpyDtoDAsync'],
  ...['cuArrayCreate', 'cuArray3DCreate', 'cuArrayGetDescriptor', 'cuArray3DGetDescriptor'],
  ...['cuMemcpy2D', 'cuMemcpy2DUnaligned', 'cuMemcpy2DAsync', 'cuMemcpy3D', 'cuMemcpy3DAsync'],
  ...['cuMemsetD8', 'cuMemsetD16', 'cuMemsetD32', 'cuStreamDestroy', 'cuEventDestroy', 'cuEventElapsedTime'],
  ...['cuLinkCreate', 'cuLinkAddData', 'cuLinkAddFile'],
] as const;

export const driver: Readonly<Record<string, Row>> = {
  ...functions,
  ...Object.fromEntries(renamed.map((name) => [`${name}_v2`, functions[name]!])),
  cuDevicePrimaryCtxRelease_v2: functions.cuDevicePrimaryCtxRelease!,
};
