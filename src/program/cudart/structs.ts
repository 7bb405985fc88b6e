/** Structures of the runtime API that functions fill. Source: CUDA Runtime API 12, data structures; fields in their order. */
import type { HostMemory } from '../memory.ts';
import { fail } from './state.ts';

/** A field: `char` and a count of bytes of text, `int`, `size` or a list of `int`. */
type Field = readonly [name: string, type: 'text' | 'bytes' | 'int' | 'size', count?: number];

const fields = (text: string): Field[] =>
  text
    .trim()
    .split(/\s+/)
    .map((word) => {
      const [, type = '', name = '', count] = /^(\w+):(\w+)(?:\*(\d+))?$/.exec(word) ?? [];
      return [name, type as Field[1], ...(count === undefined ? [] : [Number(count)])] as unknown as Field;
    });

export const deviceProperties = fields(`text:name*256 bytes:uuid*16 bytes:luid*8 int:luidDeviceNodeMask size:totalGlobalMem
  size:sharedMemPerBlock int:regsPerBlock int:warpSize size:memPitch int:maxThreadsPerBlock int:maxThreadsDim*3 int:maxGridSize*3 int:clockRate
  size:totalConstMem int:major int:minor size:textureAlignment size:texturePitchAlignment int:deviceOverlap int:multiProcessorCount
  int:kernelExecTimeoutEnabled int:integrated int:canMapHostMemory int:computeMode int:maxTexture1D int:maxTexture1DMipmap
  int:maxTexture1DLinear int:maxTexture2D*2 int:maxTexture2DMipmap*2 int:maxTexture2DLinear*3 int:maxTexture2DGather*2 int:maxTexture3D*3
  int:maxTexture3DAlt*3 int:maxTextureCubemap int:maxTexture1DLayered*2 int:maxTexture2DLayered*3 int:maxTextureCubemapLayered*2
  int:maxSurface1D int:maxSurface2D*2 int:maxSurface3D*3 int:maxSurface1DLayered*2 int:maxSurface2DLayered*3 int:maxSurfaceCubemap
  int:maxSurfaceCubemapLayered*2 size:surfaceAlignment int:concurrentKernels int:ECCEnabled int:pciBusID int:pciDeviceID int:pciDomainID
  int:tccDriver int:asyncEngineCount int:unifiedAddressing int:memoryClockRate int:memoryBusWidth int:l2CacheSize
  int:persistingL2CacheMaxSize int:maxThreadsPerMultiProcessor int:streamPrioritiesSupported int:globalL1CacheSupported
  int:localL1CacheSupported size:sharedMemPerMultiprocessor int:regsPerMultiprocessor int:managedMemory int:isMultiGpuBoard
  int:multiGpuBoardGroupID int:hostNativeAtomicSupported int:singleToDoublePrecisionPerfRatio int:pageableMemoryAccess
  int:concurrentManagedAccess int:computePreemptionSupported int:canUseHostPointerForRegisteredMem int:cooperativeLaunch
  int:cooperativeMultiDeviceLaunch size:sharedMemPerBlockOptin int:pageableMemoryAccessUsesHostPageTables
  int:directManagedMemAccessFromHost int:maxBlocksPerMultiProcessor int:accessPolicyMaxWindowSize size:reservedSharedMemPerBlock
  int:hostRegisterSupported int:sparseCudaArraySupported int:hostRegisterReadOnlySupported int:timelineSemaphoreInteropSupported
  int:memoryPoolsSupported int:gpuDirectRDMASupported int:gpuDirectRDMAFlushWritesOptions int:gpuDirectRDMAWritesOrdering
  int:memoryPoolSupportedHandleTypes int:deferredMappingCudaArraySupported int:ipcEventSupported int:clusterLaunch
  int:unifiedFunctionPointers int:reserved*63`);

/** The fields before release 12. */
export const deviceProperties11 = deviceProperties.slice(
  0,
  deviceProperties.findIndex(([name]) => name === 'hostRegisterSupported'),
);

/** Fields that release 13 has no more. */
const removed = new Set(
  `clockRate deviceOverlap kernelExecTimeoutEnabled computeMode maxTexture1DLinear memoryClockRate singleToDoublePrecisionPerfRatio
  cooperativeMultiDeviceLaunch`.split(/\s+/),
);
export const deviceProperties13 = deviceProperties.filter(([name]) => !removed.has(name));

export const funcAttributes = fields(`size:sharedSizeBytes size:constSizeBytes size:localSizeBytes int:maxThreadsPerBlock int:numRegs
  int:ptxVersion int:binaryVersion int:cacheModeCA int:maxDynamicSharedSizeBytes int:preferredShmemCarveout int:clusterDimMustBeSet
  int:requiredClusterWidth int:requiredClusterHeight int:requiredClusterDepth int:clusterSchedulingPolicyPreference
  int:nonPortableClusterSizeAllowed int:reserved*16`);

const sizes = { text: 1, bytes: 1, int: 4, size: 8 } as const;

/** Bytes of a structure. */
export function sizeOfStruct(list: readonly Field[]): number {
  const end = list.reduce((at, [, type, count = 1]) => Math.ceil(at / sizes[type]) * sizes[type] + sizes[type] * count, 0);
  return Math.ceil(end / 8) * 8;
}

/** Fills a structure: fields without a value are 0. */
export function putStruct(
  memory: HostMemory,
  to: bigint,
  list: readonly Field[],
  values: Readonly<Record<string, string | number | readonly number[]>>,
): void {
  const data = new DataView(new ArrayBuffer(sizeOfStruct(list)));
  let at = 0;
  for (const [name, type, count = 1] of list) {
    const size = sizes[type];
    at = Math.ceil(at / size) * size;
    const value = values[name];
    if (typeof value === 'string') new Uint8Array(data.buffer).set(new TextEncoder().encode(value).subarray(0, count - 1), at);
    else if (value !== undefined)
      for (const [i, n] of (typeof value === 'number' ? [value] : value).entries()) {
        if (type === 'size') data.setBigUint64(at + size * i, BigInt(Math.trunc(n)), true);
        else data.setInt32(at + size * i, n, true);
      }
    at += size * count;
  }
  if (!memory.put(to, new Uint8Array(data.buffer))) fail('cudaErrorInvalidValue');
}
