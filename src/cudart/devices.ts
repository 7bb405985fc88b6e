/** Devices by ordinal: selection, properties, synchronization, reset. */
import { devices } from '../api/index.ts';
import {
  answer,
  answerAsync,
  type cudaError_t,
  currentDevice,
  currentOrdinal,
  forgetErrors,
  type Ref,
  refuse,
  useOrdinal,
} from './state.ts';

/** The properties of a device. */
export interface cudaDeviceProp {
  readonly name: string;
  readonly warpSize: number;
  readonly maxThreadsPerBlock: number;
  readonly sharedMemPerBlock: number;
  readonly integrated: number;
  readonly unifiedAddressing: number;
}

/** Stores the number of devices of this machine in `count`. */
export const cudaGetDeviceCount = (count: Ref<number>): cudaError_t =>
  answer(() => {
    count.value = devices().length;
  });

/** Selects a device of `cumetal devices` by its ordinal; the preferred one is 0. */
export const cudaSetDevice = (ordinal: number): cudaError_t => answer(() => useOrdinal(ordinal));

/** Stores the ordinal of the current device in `ordinal`. */
export const cudaGetDevice = (ordinal: Ref<number>): cudaError_t =>
  answer(() => {
    ordinal.value = currentOrdinal();
  });

/** Stores 0: kernels access memory of their own device only. Copies go between any two (`cudaMemcpyPeer`). */
export const cudaDeviceCanAccessPeer = (canAccess: Ref<number>, ordinal: number, peer: number): cudaError_t =>
  answer(() => {
    for (const each of [ordinal, peer]) if (devices()[each] === undefined) refuse('cudaErrorInvalidDevice');
    canAccess.value = 0;
  });

/** Refuses: kernels access memory of their own device only. */
export const cudaDeviceEnablePeerAccess = (peer: number, _flags = 0): cudaError_t =>
  answer(() => refuse(devices()[peer] === undefined ? 'cudaErrorInvalidDevice' : 'cudaErrorPeerAccessUnsupported'));

/** Stores the properties of a device by its ordinal in `properties`. */
export const cudaGetDeviceProperties = (properties: Ref<cudaDeviceProp>, ordinal: number): cudaError_t =>
  answer(() => {
    const { name, kind, limits } = devices()[ordinal] ?? refuse('cudaErrorInvalidDevice');
    properties.value = {
      name,
      warpSize: limits.simdWidth,
      maxThreadsPerBlock: limits.maxThreadsPerThreadgroup,
      sharedMemPerBlock: limits.maxThreadgroupBytes,
      integrated: kind === 'cuda' ? 0 : 1,
      unifiedAddressing: 1,
    };
  });

/** Waits for all work of the current device. */
export const cudaDeviceSynchronize = (): Promise<cudaError_t> => answerAsync(() => currentDevice().synchronize());

/** Resets the device: existing memory, modules, streams and events become invalid. */
export const cudaDeviceReset = (): Promise<cudaError_t> =>
  answerAsync(async () => {
    await currentDevice().reset();
    forgetErrors();
  });
