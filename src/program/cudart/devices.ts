/** The device, its properties, limits and errors. There is one, with the number 0. */

import { cudaErrorNumbered } from '../../api/cuda-errors.ts';
import { coreModels } from '../../api/occupancy.ts';
import { cBytes } from '../memory.ts';
import { must, plainRow, type Row, row } from './row.ts';
import { type CudaState, fail } from './state.ts';
import { deviceProperties, deviceProperties11, deviceProperties13, putStruct } from './structs.ts';
import { breakCaptures } from './work.ts';

/** Most shared memory of a block that does not ask for more, on devices of NVIDIA. */
export const usualShared = 49_152;

/** What programs are compiled for at least: `sm_80`. */
const minCapability = 80;
/** The newest architecture of the program's code, which a device has to have to run it. */
function capabilityOf({ images }: CudaState): number {
  let newest = minCapability;
  for (const { text } of images.values()) newest = Math.max(newest, Number(/^\s*\.target\s+sm_(\d+)/m.exec(text)?.[1] ?? 0));
  return newest;
}

/** The release of CUDA whose functions these are. */
export const cudaVersion = 12_080;

/** Devices that run clusters have as many multiprocessors as the largest of them has blocks, at least. */
const minClusterCores = 16;
const clusterCapability = 90;

/** The number of multiprocessors; programs divide grids of clusters by it. */
export function coresOf(state: CudaState): number {
  const { properties } = state.options.device.info;
  const own = Number(properties?.multiProcessorCount ?? 1);
  return capabilityOf(state) >= clusterCapability ? Math.max(own, minClusterCores) : own;
}

const versionOf = ({ version }: CudaState): number => (version === undefined || version === 12 ? cudaVersion : version * 1000);

type Values = Readonly<Record<string, string | number | readonly number[]>>;

/** Extents of textures and surfaces at most. Source: recorded on an NVIDIA H200. */
const textureLimits = {
  maxTexture1D: 131_072,
  maxTexture1DMipmap: 32_768,
  maxTexture1DLinear: 268_435_456,
  maxTexture2D: [131_072, 65_536],
  maxTexture2DMipmap: [32_768, 32_768],
  maxTexture2DLinear: [131_072, 65_000, 2_097_120],
  maxTexture2DGather: [32_768, 32_768],
  maxTexture3D: [16_384, 16_384, 16_384],
  maxTexture3DAlt: [8192, 8192, 32_768],
  maxTextureCubemap: 32_768,
  maxTexture1DLayered: [32_768, 2048],
  maxTexture2DLayered: [32_768, 32_768, 2048],
  maxTextureCubemapLayered: [32_768, 2046],
  maxSurface1D: 32_768,
  maxSurface2D: [131_072, 65_536],
  maxSurface3D: [16_384, 16_384, 16_384],
  maxSurface1DLayered: [32_768, 2048],
  maxSurface2DLayered: [32_768, 32_768, 2048],
  maxSurfaceCubemap: 32_768,
  maxSurfaceCubemapLayered: [32_768, 2046],
} as const;

/** The properties of the device, by the names of `cudaDeviceProp`. Sizes that the device does not know are those of an A100. */
export function propertiesOf(state: CudaState): Values {
  const { info } = state.options.device;
  const capability = capabilityOf(state);
  const shared = info.limits.maxThreadgroupBytes;
  return {
    totalGlobalMem: 2 ** 32,
    regsPerBlock: 65_536,
    memPitch: 2 ** 31 - 1,
    clockRate: 1_410_000,
    totalConstMem: 65_536,
    major: Math.floor(capability / 10),
    minor: capability % 10,
    textureAlignment: 512,
    texturePitchAlignment: 32,
    surfaceAlignment: 512,
    ...textureLimits,
    canMapHostMemory: 1,
    concurrentKernels: 1,
    asyncEngineCount: 1,
    memoryClockRate: 1_215_000,
    memoryBusWidth: 5120,
    l2CacheSize: 41_943_040,
    maxThreadsPerMultiProcessor: coreModels.cpu.threads,
    sharedMemPerMultiprocessor: coreModels.cpu.sharedBytes,
    sharedMemPerBlockOptin: shared,
    regsPerMultiprocessor: 65_536,
    managedMemory: 1,
    // No kernel runs while the host does.
    concurrentManagedAccess: 1,
    computePreemptionSupported: 1,
    streamPrioritiesSupported: 1,
    hostRegisterSupported: 1,
    memoryPoolsSupported: 1,
    virtualMemorySupported: 1,
    maxBlocksPerMultiProcessor: coreModels.cpu.blocks,
    ...info.properties,
    multiProcessorCount: coresOf(state),
    // What every device of NVIDIA has, where this one has as much.
    sharedMemPerBlock: Math.min(usualShared, Number(info.properties?.sharedMemPerBlockOptin ?? shared)),
    cooperativeLaunch: 1,
    clusterLaunch: 1,
    name: info.name,
  };
}

/** Numbers of `cudaDeviceAttr` and the properties that they ask for; a number behind a period is a place in a list. */
const attributes: Readonly<Record<number, string>> = {
  1: 'maxThreadsPerBlock',
  2: 'maxThreadsDim.0',
  3: 'maxThreadsDim.1',
  4: 'maxThreadsDim.2',
  5: 'maxGridSize.0',
  6: 'maxGridSize.1',
  7: 'maxGridSize.2',
  8: 'sharedMemPerBlock',
  9: 'totalConstMem',
  10: 'warpSize',
  11: 'memPitch',
  12: 'regsPerBlock',
  13: 'clockRate',
  14: 'textureAlignment',
  15: 'deviceOverlap',
  16: 'multiProcessorCount',
  17: 'kernelExecTimeoutEnabled',
  18: 'integrated',
  19: 'canMapHostMemory',
  20: 'computeMode',
  21: 'maxTexture1D',
  22: 'maxTexture2D.0',
  23: 'maxTexture2D.1',
  24: 'maxTexture3D.0',
  25: 'maxTexture3D.1',
  26: 'maxTexture3D.2',
  27: 'maxTexture2DLayered.0',
  28: 'maxTexture2DLayered.1',
  29: 'maxTexture2DLayered.2',
  30: 'surfaceAlignment',
  31: 'concurrentKernels',
  32: 'ECCEnabled',
  33: 'pciBusID',
  34: 'pciDeviceID',
  35: 'tccDriver',
  36: 'memoryClockRate',
  37: 'memoryBusWidth',
  38: 'l2CacheSize',
  39: 'maxThreadsPerMultiProcessor',
  40: 'asyncEngineCount',
  41: 'unifiedAddressing',
  42: 'maxTexture1DLayered.0',
  43: 'maxTexture1DLayered.1',
  45: 'maxTexture2DGather.0',
  46: 'maxTexture2DGather.1',
  47: 'maxTexture3DAlt.0',
  48: 'maxTexture3DAlt.1',
  49: 'maxTexture3DAlt.2',
  50: 'pciDomainID',
  51: 'texturePitchAlignment',
  52: 'maxTextureCubemap',
  53: 'maxTextureCubemapLayered.0',
  54: 'maxTextureCubemapLayered.1',
  55: 'maxSurface1D',
  56: 'maxSurface2D.0',
  57: 'maxSurface2D.1',
  58: 'maxSurface3D.0',
  59: 'maxSurface3D.1',
  60: 'maxSurface3D.2',
  61: 'maxSurface1DLayered.0',
  62: 'maxSurface1DLayered.1',
  63: 'maxSurface2DLayered.0',
  64: 'maxSurface2DLayered.1',
  65: 'maxSurface2DLayered.2',
  66: 'maxSurfaceCubemap',
  67: 'maxSurfaceCubemapLayered.0',
  68: 'maxSurfaceCubemapLayered.1',
  69: 'maxTexture1DLinear',
  70: 'maxTexture2DLinear.0',
  71: 'maxTexture2DLinear.1',
  72: 'maxTexture2DLinear.2',
  73: 'maxTexture2DMipmap.0',
  74: 'maxTexture2DMipmap.1',
  75: 'major',
  76: 'minor',
  77: 'maxTexture1DMipmap',
  78: 'streamPrioritiesSupported',
  79: 'globalL1CacheSupported',
  80: 'localL1CacheSupported',
  81: 'sharedMemPerMultiprocessor',
  82: 'regsPerMultiprocessor',
  83: 'managedMemory',
  84: 'isMultiGpuBoard',
  85: 'multiGpuBoardGroupID',
  86: 'hostNativeAtomicSupported',
  88: 'pageableMemoryAccess',
  89: 'concurrentManagedAccess',
  90: 'computePreemptionSupported',
  91: 'canUseHostPointerForRegisteredMem',
  95: 'cooperativeLaunch',
  // Absent things are 0.
  96: 'cooperativeMultiDeviceLaunch',
  120: 'clusterLaunch',
  97: 'sharedMemPerBlockOptin',
  99: 'hostRegisterSupported',
  102: 'virtualMemorySupported',
  103: 'handleTypesSupported',
  106: 'maxBlocksPerMultiProcessor',
  107: 'compressionSupported',
  111: 'reservedSharedMemPerBlock',
  115: 'memoryPoolsSupported',
  119: 'memoryPoolSupportedHandleTypes',
};

export function attributeOf(state: CudaState, attribute: number): number {
  const [name = '', place] = (attributes[attribute] ?? fail('cudaErrorInvalidValue')).split('.');
  const value = propertiesOf(state)[name] ?? 0;
  return Number(place === undefined ? value : (value as readonly number[])[Number(place)]);
}

function assertDevice(device: number): void {
  if (device !== 0) fail('cudaErrorInvalidDevice');
}

/** A text of the program that lives as long as it. */
export function keptText(state: CudaState, text: string): bigint {
  const known = state.texts.get(text);
  if (known !== undefined) return known;
  const bytes = cBytes(text);
  const pointer = BigInt.asUintN(64, state.exports.malloc(BigInt(bytes.length)));
  state.memory.put(pointer, bytes);
  state.texts.set(text, pointer);
  return pointer;
}

const done = row([], () => undefined);
/** Captured work would have to be waited for. */
const synchronize = row([], (state) => {
  breakCaptures(state, () => true, 'cudaErrorStreamCaptureUnsupported');
  state.pools.release();
});
const properties = row(['pointer', 'int'], (state, to, device) => {
  assertDevice(device);
  putStruct(state.memory, to, deviceProperties, propertiesOf(state));
});
/** The struct had fewer fields before release 12, whose header gives the function another name, and has fewer again since 13. */
const namedProperties = row(['pointer', 'int'], (state, to, device) => {
  assertDevice(device);
  const { version } = state;
  const fields = version === undefined ? deviceProperties : version >= 13 ? deviceProperties13 : deviceProperties11;
  putStruct(state.memory, to, fields, propertiesOf(state));
});

function lastError(state: CudaState, isKept: boolean): number {
  const number = state.note(state.sticky ?? state.last);
  if (!isKept && state.sticky === undefined) state.last = 'cudaSuccess';
  return number;
}

/** Where the device would be among those of a machine. */
const busId = '0000:00:00.0';

/** The number of the limit of the stack, and the most bytes of it: the local memory of a thread. Source: `cudaLimitStackSize`. */
export const stackLimit = 0;
const maxStackBytes = 2n ** 19n;

/** The number of the limit of the heap. Source: `cudaLimitMallocHeapSize`. */
export const heapLimit = 2;

/** Limits by number, with the values of NVIDIA's devices. Source: `cudaLimit`. */
const limits: Readonly<Record<number, number>> = { 0: 1024, 1: 1_048_576, 2: 8_388_608, 3: 2, 4: 2048, 5: 128, 6: 0 };

const resetRow = plainRow([], 'uint', (state) => {
  for (const { buffer } of state.allocations.all()) buffer.free();
  for (const allocation of [...state.allocations.all()]) state.allocations.remove(allocation);
  for (const image of state.images.values()) {
    image.module?.close();
    image.module = undefined;
  }
  for (const map of [state.streams, state.events, state.captures, state.graphs, state.executables, state.limits]) map.clear();
  for (const map of [state.modules, state.functions, state.dynamicShared, state.largeClusters, state.placed]) map.clear();
  for (const map of [state.arrays, state.mipmaps, state.textures, state.surfaces]) map.clear();
  state.unnamed.clear();
  state.pools.clear();
  state.graphMemory.clear();
  state.last = 'cudaSuccess';
  state.sticky = undefined;
  return 0;
});

export const devices: Readonly<Record<string, Row>> = {
  cudaGetDeviceCount: row(['pointer'], (state, to) => must(state.memory.putU32(to, 1))),
  cudaSetDevice: row(['int'], (_state, device) => assertDevice(device)),
  cudaGetDevice: row(['pointer'], (state, to) => must(state.memory.putU32(to, 0))),
  cudaSetDeviceFlags: row(['uint'], () => undefined),
  cudaGetDeviceFlags: row(['pointer'], (state, to) => must(state.memory.putU32(to, 0))),
  cudaInitDevice: row(['int', 'uint', 'uint'], (_state, device) => assertDevice(device)),
  cudaGetDeviceProperties: namedProperties,
  cudaGetDeviceProperties_v2: properties,
  cudaDeviceGetAttribute: row(['pointer', 'int', 'int'], (state, to, attribute, device) => {
    assertDevice(device);
    must(state.memory.putU32(to, attributeOf(state, attribute)));
  }),
  cudaDeviceSynchronize: synchronize,
  cudaThreadSynchronize: synchronize,
  cudaDeviceReset: resetRow,
  cudaThreadExit: resetRow,
  cudaDeviceSetCacheConfig: row(['int'], () => undefined),
  cudaDeviceSetSharedMemConfig: row(['int'], () => undefined),
  cudaDeviceGetCacheConfig: row(['pointer'], (state, to) => must(state.memory.putU32(to, 0))),
  cudaDeviceGetSharedMemConfig: row(['pointer'], (state, to) => must(state.memory.putU32(to, 1))),
  cudaCtxResetPersistingL2Cache: done,
  cudaDeviceSetLimit: row(['int', 'size'], (state, limit, value) => {
    if (limits[limit] === undefined) fail('cudaErrorInvalidValue');
    if (limit === heapLimit && state.hasHeap) fail('cudaErrorInvalidValue');
    if (limit === stackLimit && BigInt(value) > maxStackBytes) fail('cudaErrorInvalidValue');
    // A GPU has the stack in units of 16 bytes. Source: recorded on an NVIDIA H200.
    state.limits.set(limit, limit === stackLimit ? Math.ceil(value / 16) * 16 : value);
  }),
  cudaDeviceGetLimit: row(['pointer', 'int'], (state, to, limit) => {
    must(state.memory.putU64(to, state.limits.get(limit) ?? limits[limit] ?? fail('cudaErrorInvalidValue')));
  }),
  cudaChooseDevice: row(['pointer', 'pointer'], (state, to) => must(state.memory.putU32(to, 0))),
  cudaSetValidDevices: row(['pointer', 'int'], (state, list, count) => {
    for (let i = 0; i < count; i++) if (state.memory.u32(list + BigInt(4 * i)) !== 0) fail('cudaErrorInvalidDevice');
  }),
  cudaDeviceGetPCIBusId: row(['pointer', 'int', 'int'], (state, to, room, device) => {
    assertDevice(device);
    const bytes = cBytes(busId);
    if (room < bytes.length) fail('cudaErrorInvalidValue');
    must(state.memory.put(to, bytes));
  }),
  cudaDeviceGetByPCIBusId: row(['pointer', 'pointer'], (state, to, text) => {
    if (!/^(0000:)?00:00(\.0)?$/.test(state.memory.cString(text) ?? '')) fail('cudaErrorInvalidDevice');
    must(state.memory.putU32(to, 0));
  }),
  // A device is no peer of its own, and there is no other.
  cudaDeviceEnablePeerAccess: row(['int', 'uint'], () => fail('cudaErrorInvalidDevice')),
  cudaDeviceDisablePeerAccess: row(['int'], () => fail('cudaErrorInvalidDevice')),
  cudaDeviceGetP2PAttribute: row(['pointer', 'int', 'int', 'int'], () => fail('cudaErrorInvalidDevice')),
  // Memory of other processes.
  cudaIpcGetMemHandle: row(['pointer', 'pointer'], () => fail('cudaErrorNotSupported')),
  cudaIpcOpenMemHandle: row(['pointer', 'pointer', 'uint'], () => fail('cudaErrorNotSupported')),
  cudaIpcCloseMemHandle: row(['pointer'], () => fail('cudaErrorNotSupported')),
  cudaIpcGetEventHandle: row(['pointer', 'pointer'], () => fail('cudaErrorNotSupported')),
  cudaIpcOpenEventHandle: row(['pointer', 'pointer'], () => fail('cudaErrorNotSupported')),
  cudaDeviceGetStreamPriorityRange: row(['pointer', 'pointer'], (state, least, greatest) => {
    must(state.memory.putU32(least, 0) && state.memory.putU32(greatest, -5 >>> 0));
  }),
  cudaDeviceCanAccessPeer: row(['pointer', 'int', 'int'], (state, to) => must(state.memory.putU32(to, 0))),
  cudaDriverGetVersion: row(['pointer'], (state, to) => must(state.memory.putU32(to, versionOf(state)))),
  cudaRuntimeGetVersion: row(['pointer'], (state, to) => must(state.memory.putU32(to, versionOf(state)))),
  cudaProfilerStart: done,
  cudaProfilerStop: done,
  cudaGetLastError: plainRow([], 'uint', (state) => lastError(state, false)),
  cudaPeekAtLastError: plainRow([], 'uint', (state) => lastError(state, true)),
  cudaGetErrorName: plainRow(['int'], 'pointer', (state, number) =>
    keptText(state, cudaErrorNumbered(number)?.name ?? 'unrecognized error code'),
  ),
  cudaGetErrorString: plainRow(['int'], 'pointer', (state, number) =>
    keptText(state, cudaErrorNumbered(number)?.text ?? 'unrecognized error code'),
  ),
};
