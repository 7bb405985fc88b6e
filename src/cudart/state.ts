/** What CUDA's functions keep between calls: the device in use, and the last error. */

import {
  type CudaError,
  type CudaErrorName,
  CumetalError,
  cudaErrorNumbered,
  cudaErrors,
  Device,
  devices,
  type Stream,
} from '../api/index.ts';
import { bug } from '../base/bug.ts';

/** CUDA's errors by name: `cudaError_t.cudaErrorInvalidValue` is 1. */
export const cudaError_t = Object.fromEntries(Object.values(cudaErrors).map(({ name, number }) => [name, number])) as {
  readonly [N in CudaErrorName]: (typeof cudaErrors)[N]['number'];
};
/** A number of `cudaError_t`. */
export type cudaError_t = number;

/** Where a function leaves what C leaves behind a pointer: `cudaMalloc(a, 4096)`, then `a.value`. */
export interface Ref<T> {
  value: T;
}

/** A place for a result. Looked at before a function has succeeded it holds nothing. */
export const ref = <T>(): Ref<T> => ({ value: undefined as T });

/** A stream, or a number as in C: 0 and 1 the legacy default stream, 2 that of the thread. */
export type cudaStream_t = Stream | 0 | 1 | 2 | null | undefined;
export const cudaStreamLegacy = 1;
export const cudaStreamPerThread = 2;

interface State {
  device: Device | undefined;
  ordinal: number;
  readonly opened: Map<number, Device>;
  last: CudaError;
  lastError: CumetalError | undefined;
}

const state: State = { device: undefined, ordinal: 0, opened: new Map(), last: cudaErrors.cudaSuccess, lastError: undefined };

/** An answer that no diagnostic stands for. */
class Refusal extends Error {
  readonly row: CudaError;

  constructor(name: CudaErrorName) {
    super(name);
    this.row = cudaErrors[name];
  }
}

/** Ends a function with an error. */
export function refuse(name: CudaErrorName): never {
  throw new Refusal(name);
}

/** The device in use: the preferred one of this machine, opened when it is first used. */
export function currentDevice(): Device {
  state.device ??= openOrdinal(state.ordinal);
  return state.device;
}

function openOrdinal(ordinal: number): Device {
  const known = state.opened.get(ordinal);
  if (known) return known;
  const info = devices()[ordinal] ?? refuse('cudaErrorInvalidDevice');
  const device = Device.open(info.kind);
  state.opened.set(ordinal, device);
  return device;
}

/** Uses a device of this machine by its number. */
export function useOrdinal(ordinal: number): void {
  if (devices()[ordinal] === undefined) refuse('cudaErrorInvalidDevice');
  state.ordinal = ordinal;
  state.device = state.opened.get(ordinal);
}

/** The number of the device in use. */
export const currentOrdinal = (): number => state.ordinal;

/** Uses a device that is open: its buffers, modules and streams may be given to CUDA's functions and theirs to it. Not of CUDA. */
export function cumetalUseDevice(device: Device): void {
  state.device = device;
  forgetErrors();
}

/** Nothing has gone wrong yet. */
export function forgetErrors(): void {
  state.last = cudaErrors.cudaSuccess;
  state.lastError = undefined;
}

/** The exception behind the last error that had one, with its diagnostics. Not of CUDA. */
export const cumetalLastError = (): CumetalError | undefined => state.lastError;

/** The stream that is meant. */
export function streamOf(stream: cudaStream_t): Stream {
  if (stream === cudaStreamPerThread) return currentDevice().perThreadStream;
  return typeof stream === 'object' && stream !== null ? stream : currentDevice().defaultStream;
}

/** Runs the body of a function; gives the number of what came of it, which is the last error if it is one. */
export function answer(run: () => void): cudaError_t {
  try {
    run();
    return stays();
  } catch (error) {
    return note(error);
  }
}

/** The same of a function that waits. */
export async function answerLater(run: () => Promise<unknown>): Promise<cudaError_t> {
  try {
    await run();
    return stays();
  } catch (error) {
    return note(error);
  }
}

/** Success, unless the device has failed for good. */
const stays = (): cudaError_t => (state.device?.failure?.cuda ?? cudaErrors.cudaSuccess).number;

function note(error: unknown): cudaError_t {
  if (error instanceof Refusal) state.last = error.row;
  else if (error instanceof CumetalError) {
    state.last = error.cuda;
    state.lastError = error;
  } else throw error;
  return state.last.number;
}

/** The last error, which is forgotten unless it stays with the device. */
export function cudaGetLastError(): cudaError_t {
  const { number } = peek();
  state.last = cudaErrors.cudaSuccess;
  return number;
}

/** The last error. */
export const cudaPeekAtLastError = (): cudaError_t => peek().number;

const peek = (): CudaError => state.device?.failure?.cuda ?? state.last;

/** `cudaErrorInvalidValue` of 1. */
export const cudaGetErrorName = (error: cudaError_t): string => cudaErrorNumbered(error)?.name ?? unrecognized;
/** `invalid argument` of 1. */
export const cudaGetErrorString = (error: cudaError_t): string => cudaErrorNumbered(error)?.text ?? unrecognized;

const unrecognized = 'unrecognized error code';

/** The driver's number of an error. */
export function driverNumber(error: cudaError_t): number {
  const row = cudaErrorNumbered(error) ?? bug(`${error} is no error of the table`);
  return row.driverNumber ?? row.number;
}
