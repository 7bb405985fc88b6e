/** The driver's functions as tables, the types of its objects, and the memory and the fault that its calls share. */
import type { Ffi } from '../bun.ts';
import type { Pointer } from '../types.ts';
import { type CudaApi, cudaResults } from './api.ts';

declare const handleBrand: unique symbol;
/** A context, module, function, stream or event of the driver. */
export type CudaHandle = number & { readonly [handleBrand]: true };

/** The reason why a call failed. */
export interface CudaFault {
  /** The name of the driver function. */
  readonly call: string;
  /** `CUresult`, as a number and as a name such as `CUDA_ERROR_INVALID_PTX`. */
  readonly result: number;
  readonly name: string;
  /** The driver's description. */
  readonly text: string;
}

/** Arguments of a launch in the layout of the driver, which copies them when the launch is submitted. */
export interface PackedArguments {
  /** The memory to fill, with each parameter at its offset. The two views are the same memory, and offsets are multiples of 16. */
  readonly bytes: Uint8Array;
  readonly words: BigUint64Array;
  readonly offsets: readonly number[];
  /** The pointer array for the driver. */
  readonly pointers: Pointer;
}

/** A launch in the driver's terms. */
export interface CudaLaunch {
  readonly kernel: CudaHandle;
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Dynamic shared memory, in bytes. */
  readonly shared: number;
  readonly stream: CudaHandle;
  readonly args: PackedArguments;
  /** Whether all blocks run at the same time. */
  readonly cooperative?: boolean;
  /** Blocks of a cluster along each axis, if the launch says it. */
  readonly cluster?: readonly [number, number, number];
}

/** The driver's functions with memory for their results, and the last fault. */
export interface Driver {
  readonly api: CudaApi;
  readonly ffi: Ffi;
  readonly handles: BigUint64Array;
  readonly integers: Int32Array;
  readonly floats: Float32Array;
  /** Whether a call succeeded; keeps the fault if not. */
  readonly succeeds: (call: string, result: number) => boolean;
  /** The handle that a call returned. */
  readonly handle: (call: string, result: number) => CudaHandle | undefined;
  readonly lastFault: () => CudaFault;
}

/** The functions, with memory for their results. */
export function driverOf(api: CudaApi, ffi: Ffi): Driver {
  let last: { call: string; result: number } = { call: '', result: 0 };
  const handles = new BigUint64Array(2);
  const textOf = (read: (result: number, out: Pointer) => number, result: number): string => {
    if (read(result, handles) !== cudaResults.success) return '';
    return String(new ffi.CString(Number(handles[0]) as never));
  };
  const succeeds = (call: string, result: number): boolean => {
    if (result === cudaResults.success) return true;
    last = { call, result };
    return false;
  };
  return {
    api,
    ffi,
    handles,
    integers: new Int32Array(1),
    floats: new Float32Array(1),
    succeeds,
    handle: (call, result) => (succeeds(call, result) ? (Number(handles[0]) as CudaHandle) : undefined),
    lastFault: () => ({
      ...last,
      name: textOf(api.cuGetErrorName, last.result) || `error ${last.result}`,
      text: textOf(api.cuGetErrorString, last.result) || 'the driver does not know this error',
    }),
  };
}
