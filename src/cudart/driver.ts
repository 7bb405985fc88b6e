/** The driver API (`cu…`) over the runtime API, with the driver's error numbers. */
import type { Event, Kernel, Module, ModuleSource, Stream } from '../api/index.ts';
import { cudaErrors } from '../api/index.ts';
import { cudaDeviceSynchronize, cudaGetDeviceCount } from './devices.ts';
import { cudaLaunchKernel, cudaLibraryLoadData, cudaLibraryUnload, mustBeModule } from './launch.ts';
import {
  cudaFree,
  cudaMalloc,
  cudaMemcpy,
  cudaMemcpyAsync,
  cudaMemcpyKind,
  cudaMemsetAsync,
  type DevicePointer,
  type HostPointer,
} from './memory.ts';
import { answer, type cudaStream_t, driverNumber, type Ref, refuse } from './state.ts';
import {
  cudaEventCreateWithFlags,
  cudaEventDestroy,
  cudaEventElapsedTime,
  cudaEventQuery,
  cudaEventRecord,
  cudaEventSynchronize,
  cudaStreamCreateWithFlags,
  cudaStreamDestroy,
  cudaStreamQuery,
  cudaStreamSynchronize,
  cudaStreamWaitEvent,
} from './streams.ts';

/** An error number of the driver. */
export type CUresult = number;

const driverAnswer = async (answered: Promise<number>): Promise<CUresult> => driverNumber(await answered);
const { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice } = cudaMemcpyKind;

/** Checks the flags; there is nothing to initialize. */
export const cuInit = (flags: number): CUresult => answer(() => (flags === 0 ? undefined : refuse('cudaErrorInvalidValue')));
/** `cudaGetDeviceCount` of the driver. */
export const cuDeviceGetCount = (count: Ref<number>): CUresult => driverNumber(cudaGetDeviceCount(count));
/** Waits for all work of the current device. */
export const cuCtxSynchronize = (): Promise<CUresult> => driverAnswer(cudaDeviceSynchronize());

/** Loads PTX or a metallib. */
export const cuModuleLoadData = (module: Ref<Module>, image: ModuleSource): CUresult => driverNumber(cudaLibraryLoadData(module, image));
/** Closes a module. Its memory is released when the pending work has finished. */
export const cuModuleUnload = (module: Module): CUresult => driverNumber(cudaLibraryUnload(module));
/** Stores the kernel of a module by its name in `kernel`. */
export const cuModuleGetFunction = (kernel: Ref<Kernel>, module: Module, name: string): CUresult =>
  driverNumber(
    answer(() => {
      const { kernels } = mustBeModule(module);
      kernel.value = kernels.includes(name) ? module.kernel(name) : refuse('cudaErrorSymbolNotFound');
    }),
  );

/** Allocates device memory of at least one byte. */
export const cuMemAlloc = (pointer: Ref<DevicePointer>, bytes: number): CUresult =>
  bytes === 0 ? driverNumber(answer(() => refuse('cudaErrorInvalidValue'))) : driverNumber(cudaMalloc(pointer, bytes));
/** Frees device memory when the pending work has finished. */
export const cuMemFree = (pointer: DevicePointer): CUresult => driverNumber(cudaFree(pointer));
/** Copies host memory to device memory, and waits for completion. */
export const cuMemcpyHtoD = (to: DevicePointer, from: HostPointer, bytes: number): Promise<CUresult> =>
  driverAnswer(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
/** Copies device memory to host memory, and waits for completion. */
export const cuMemcpyDtoH = (to: HostPointer, from: DevicePointer, bytes: number): Promise<CUresult> =>
  driverAnswer(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
/** Copies device memory to device memory, and waits for completion. */
export const cuMemcpyDtoD = (to: DevicePointer, from: DevicePointer, bytes: number): Promise<CUresult> =>
  driverAnswer(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
/** Copies host memory to device memory in stream order. */
export const cuMemcpyHtoDAsync = (to: DevicePointer, from: HostPointer, bytes: number, stream?: cudaStream_t): CUresult =>
  driverNumber(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
/** Copies device memory to host memory in stream order. */
export const cuMemcpyDtoHAsync = (to: HostPointer, from: DevicePointer, bytes: number, stream?: cudaStream_t): CUresult =>
  driverNumber(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream));
/** Sets bytes of device memory in stream order. */
export const cuMemsetD8Async = (pointer: DevicePointer, value: number, bytes: number, stream?: cudaStream_t): CUresult =>
  driverNumber(cudaMemsetAsync(pointer, value, bytes, stream));

/** Launches a kernel with its parameters in a list. */
export const cuLaunchKernel = (
  kernel: Kernel,
  ...[gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, params]: [
    gridX: number,
    gridY: number,
    gridZ: number,
    blockX: number,
    blockY: number,
    blockZ: number,
    sharedBytes: number,
    stream: cudaStream_t,
    params: readonly unknown[],
  ]
): CUresult => driverNumber(cudaLaunchKernel(kernel, [gridX, gridY, gridZ], [blockX, blockY, blockZ], params, sharedBytes, stream));

/** Creates a stream; the flags are those of `cudaStreamCreateWithFlags`. */
export const cuStreamCreate = (stream: Ref<Stream>, flags: number): CUresult => driverNumber(cudaStreamCreateWithFlags(stream, flags));
/** Closes a stream; pending work completes. */
export const cuStreamDestroy = (stream: Stream): CUresult => driverNumber(cudaStreamDestroy(stream));
/** Waits for the work of a stream. */
export const cuStreamSynchronize = (stream: cudaStream_t): Promise<CUresult> => driverAnswer(cudaStreamSynchronize(stream));
/** `CUDA_ERROR_NOT_READY` while work of the stream is pending. */
export const cuStreamQuery = (stream: cudaStream_t): CUresult => driverNumber(cudaStreamQuery(stream));
/** Makes later work of a stream wait for an event. */
export const cuStreamWaitEvent = (stream: cudaStream_t, event: Event, flags = 0): CUresult =>
  driverNumber(cudaStreamWaitEvent(stream, event, flags));

/** Creates an event; the flags are those of `cudaEventCreateWithFlags`. */
export const cuEventCreate = (event: Ref<Event>, flags: number): CUresult => driverNumber(cudaEventCreateWithFlags(event, flags));
/** Closes an event. */
export const cuEventDestroy = (event: Event): CUresult => driverNumber(cudaEventDestroy(event));
/** Records an event after the work of a stream so far. */
export const cuEventRecord = (event: Event, stream: cudaStream_t): CUresult => driverNumber(cudaEventRecord(event, stream));
/** Waits for the work before the last record of an event. */
export const cuEventSynchronize = (event: Event): Promise<CUresult> => driverAnswer(cudaEventSynchronize(event));
/** `CUDA_ERROR_NOT_READY` while work before the event is pending. */
export const cuEventQuery = (event: Event): CUresult => driverNumber(cudaEventQuery(event));
/** Stores the milliseconds between two events in `milliseconds`. */
export const cuEventElapsedTime = (milliseconds: Ref<number>, start: Event, end: Event): CUresult =>
  driverNumber(cudaEventElapsedTime(milliseconds, start, end));

/** The table row of a driver error number. */
const rowOf = (result: CUresult) => Object.values(cudaErrors).find((row) => row.number === result && row.driverNumber === undefined);

/** Stores the name of an error of the driver in `name`. */
export const cuGetErrorName = (result: CUresult, name: Ref<string | undefined>): CUresult => writeRow(result, name, 'driver');
/** Stores the text of an error of the driver in `text`. */
export const cuGetErrorString = (result: CUresult, text: Ref<string | undefined>): CUresult => writeRow(result, text, 'text');

/** Writes a field of the row. As in CUDA, an unknown number gives null and an error. */
function writeRow(result: CUresult, to: Ref<string | undefined>, what: 'driver' | 'text'): CUresult {
  to.value = rowOf(result)?.[what];
  return to.value === undefined ? cudaErrors.cudaErrorInvalidValue.number : cudaErrors.cudaSuccess.number;
}
