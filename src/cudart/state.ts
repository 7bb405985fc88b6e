/** The state of the CUDA functions between calls: the current device and the last error. */

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

/** An output parameter in place of a C pointer: `cudaMalloc(a, 4096)`, then `a.value`. */
export interface Ref<T> {
  value: T;
}

/** Creates an output parameter; its value is undefined until a function has succeeded. */
export const ref = <T>(): Ref<T> => ({ value: undefined as T });

/** A stream, or a number as in C: 0 and 1 are the legacy default stream, 2 is the per-thread default stream. */
export type cudaStream_t = Stream | 0 | 1 | 2 | null | undefined;
/** The legacy default stream as a number. */
export const cudaStreamLegacy = 1;
/** The per-thread default stream as a number. */
export const cudaStreamPerThread = 2;

interface State {
  device: Device | undefined;
  ordinal: number;
  readonly opened: Map<number, Device>;
  last: CudaError;
  lastError: CumetalError | undefined;
}

const state: State = { device: undefined, ordinal: 0, opened: new Map(), last: cudaErrors.cudaSuccess, lastError: undefined };

/** An error without a diagnostic. */
class Refusal extends Error {
  readonly row: CudaError;

  constructor(name: CudaErrorName) {
    super(name);
    this.row = cudaErrors[name];
  }
}

/** Fails a function with an error. */
export function refuse(name: CudaErrorName): never {
  throw new Refusal(name);
}

/** The current device: by default the preferred one of this machine, opened on first use. */
export function currentDevice(): Device {
  state.device ??= openOrdinal(state.ordinal);
  return state.device;
}

function openOrdinal(ordinal: number): Device {
  const known = state.opened.get(ordinal);
  if (known) return known;
  const { kind, ordinal: number } = devices()[ordinal] ?? refuse('cudaErrorInvalidDevice');
  const device = Device.open(number === undefined ? kind : `${kind}:${number}`);
  device.poll();
  state.opened.set(ordinal, device);
  return device;
}

/** Selects a device of this machine by its ordinal. */
export function useOrdinal(ordinal: number): void {
  if (devices()[ordinal] === undefined) refuse('cudaErrorInvalidDevice');
  state.ordinal = ordinal;
  state.device = state.opened.get(ordinal);
}

/** The device with an ordinal, opened on first use. */
export const deviceAt = (ordinal: number): Device => (ordinal === state.ordinal ? currentDevice() : openOrdinal(ordinal));

/** The ordinal of the current device. */
export const currentOrdinal = (): number => state.ordinal;

/** Selects an open device of the API, which shares buffers, modules and streams with the CUDA functions. An extension. */
export function cumetalUseDevice(device: Device): void {
  state.device = device;
  state.device?.poll();
  forgetErrors();
}

/** Clears the last error. */
export function forgetErrors(): void {
  state.last = cudaErrors.cudaSuccess;
  state.lastError = undefined;
}

/** The exception of the last error, with its diagnostics. An extension. */
export const cumetalLastError = (): CumetalError | undefined => state.lastError;

/** The stream of a stream argument. */
export function streamOf(stream: cudaStream_t): Stream {
  if (stream === cudaStreamPerThread) return currentDevice().perThreadStream;
  return typeof stream === 'object' && stream !== null ? stream : currentDevice().defaultStream;
}

/** Runs the body of a function. Returns its error number, and records an error as the last one. */
export function answer(run: () => void): cudaError_t {
  try {
    run();
    return status();
  } catch (error) {
    return note(error);
  }
}

/** `answer` for an asynchronous function. */
export async function answerAsync(run: () => Promise<unknown>): Promise<cudaError_t> {
  try {
    await run();
    return status();
  } catch (error) {
    return note(error);
  }
}

/** Success, unless the device has a sticky error. */
const status = (): cudaError_t => (state.device?.failure?.cuda ?? cudaErrors.cudaSuccess).number;

function note(error: unknown): cudaError_t {
  if (error instanceof Refusal) state.last = error.row;
  else if (error instanceof CumetalError) {
    state.last = error.cuda;
    state.lastError = error;
  } else throw error;
  return state.last.number;
}

/** Returns the last error, and clears it unless it is sticky. */
export function cudaGetLastError(): cudaError_t {
  const { number } = peek();
  state.last = cudaErrors.cudaSuccess;
  return number;
}

/** Returns the last error without clearing it. */
export const cudaPeekAtLastError = (): cudaError_t => peek().number;

const peek = (): CudaError => state.device?.failure?.cuda ?? state.last;

/** `cudaErrorInvalidValue` of 1. */
export const cudaGetErrorName = (error: cudaError_t): string => cudaErrorNumbered(error)?.name ?? unrecognized;
/** `invalid argument` of 1. */
export const cudaGetErrorString = (error: cudaError_t): string => cudaErrorNumbered(error)?.text ?? unrecognized;

const unrecognized = 'unrecognized error code';

/** The driver's number of a runtime error. */
export function driverNumber(error: cudaError_t): number {
  const row = cudaErrorNumbered(error) ?? bug(`${error} is not in the table of errors`);
  return row.driverNumber ?? row.number;
}
