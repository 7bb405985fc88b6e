/** Devices by number, waiting for them, and starting afresh. */
import { devices } from '../api/index.ts';
import {
  answer,
  answerLater,
  type cudaError_t,
  currentDevice,
  currentOrdinal,
  forgetErrors,
  type Ref,
  refuse,
  useOrdinal,
} from './state.ts';

/** What is known of a device. */
export interface cudaDeviceProp {
  readonly name: string;
  readonly warpSize: number;
  readonly maxThreadsPerBlock: number;
  readonly sharedMemPerBlock: number;
  readonly integrated: number;
  readonly unifiedAddressing: number;
}

export const cudaGetDeviceCount = (count: Ref<number>): cudaError_t =>
  answer(() => {
    count.value = devices().length;
  });

/** Uses a device of `cumetal devices` by its number; the preferred one is 0. */
export const cudaSetDevice = (ordinal: number): cudaError_t => answer(() => useOrdinal(ordinal));

export const cudaGetDevice = (ordinal: Ref<number>): cudaError_t =>
  answer(() => {
    ordinal.value = currentOrdinal();
  });

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

export const cudaDeviceSynchronize = (): Promise<cudaError_t> => answerLater(() => currentDevice().synchronize());

/** Starts afresh: memory, modules, streams and events of before are gone. */
export const cudaDeviceReset = (): Promise<cudaError_t> =>
  answerLater(async () => {
    await currentDevice().reset();
    forgetErrors();
  });
