/** Handles, types and checks of the functions. */

import { errorOf } from '../api/failures.ts';
import { type Device, type KernelBuffer, type LaunchReport, partOf, type Stream, type Work } from '../api/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { kernel, type Pointer, type TypedKernel, type Value } from '../build/index.ts';
import { withFused } from '../kernels/product-sum.ts';
import { type Letter, partsOf } from './number.ts';

/** What products of f32 may do: with `TF32_TENSOR_OP` their factors are rounded to tf32, which tensor cores multiply. */
export type MathMode = 'DEFAULT' | 'TF32_TENSOR_OP';
/** Products of f32 are those of f32. */
export const CUBLAS_DEFAULT_MATH = 'DEFAULT';
/** Factors of f32 are rounded to tf32. */
export const CUBLAS_TF32_TENSOR_OP_MATH = 'TF32_TENSOR_OP';

/** Where the functions work: what `cublasCreate` gives. */
export class CublasHandle {
  /** The device. */
  readonly device: Device;
  /** The stream of the functions; the default stream if there is none. */
  stream: Stream | undefined;
  /** What products of f32 may do. */
  mathMode: MathMode = 'DEFAULT';

  /** @internal */
  constructor(device: Device) {
    this.device = device;
  }
}
/** A handle for a device. Nothing is to be destroyed: kernels stay with the device, and scratch memory is freed as soon as it is not used. */
export const cublasCreate = (device: Device): CublasHandle => new CublasHandle(device);
/** Does nothing, for programs that are translated. */
export const cublasDestroy = (_handle: CublasHandle): void => undefined;
/** Puts later functions into a stream; without one into the default stream. */
export function cublasSetStream(handle: CublasHandle, stream?: Stream): void {
  handle.stream = stream;
}
/** The stream of the functions. */
export const cublasGetStream = (handle: CublasHandle): Stream => handle.stream ?? handle.device.defaultStream;

/** Sets what later products of f32 may do: `cublasSgemm` and its batched forms, and products with types whose sums are f32. */
export function cublasSetMathMode(handle: CublasHandle, mode: MathMode): void {
  if (mode !== 'DEFAULT' && mode !== 'TF32_TENSOR_OP') refuse('cublasSetMathMode', `the mode ${mode} is not there`);
  handle.mathMode = mode;
}
/** What products of f32 may do. */
export const cublasGetMathMode = (handle: CublasHandle): MathMode => handle.mathMode;

/** A complex number: its real and its imaginary part. */
export type Complex = readonly [re: number, im: number];
/** A scalar of a type. */
export type Scalar<L extends Letter> = L extends 'C' | 'Z' ? number | Complex : number;
/** Memory of a type: complex numbers are pairs of reals. */
export type Memory<L extends Letter> = KernelBuffer<L extends 'S' | 'C' ? 'f32' : 'f64'>;

/** `N` for a matrix as it is, `T` for its transpose, `C` for its conjugate transpose. */
export type Operation = 'N' | 'T' | 'C';
/** The triangle that is stored. */
export type FillMode = 'U' | 'L';
/** The side of the matrix with a structure. */
export type Side = 'L' | 'R';
/** Whether the diagonal is ones, which are not read. */
export type Diagonal = 'N' | 'U';

/** A matrix as it is. */
export const CUBLAS_OP_N = 'N';
/** The transpose of a matrix. */
export const CUBLAS_OP_T = 'T';
/** The conjugate transpose of a matrix. */
export const CUBLAS_OP_C = 'C';
/** The upper triangle. */
export const CUBLAS_FILL_MODE_UPPER = 'U';
/** The lower triangle. */
export const CUBLAS_FILL_MODE_LOWER = 'L';
/** On the left. */
export const CUBLAS_SIDE_LEFT = 'L';
/** On the right. */
export const CUBLAS_SIDE_RIGHT = 'R';
/** A diagonal that is read. */
export const CUBLAS_DIAG_NON_UNIT = 'N';
/** A diagonal of ones. */
export const CUBLAS_DIAG_UNIT = 'U';

/** Throws CM5093. */
export function refuse(name: string, why: string): never {
  const diagnostics = new Diagnostics();
  diagnostics.report('CM5093', { kernel: name, why });
  throw errorOf(diagnostics);
}

/** Refuses what is no whole number of 32 bits, or below a limit. */
export function assertWhole(name: string, numbers: Readonly<Record<string, number>>, least = 0): void {
  for (const [what, value] of Object.entries(numbers))
    if (!Number.isInteger(value) || value < least || value > 0x7fff_ffff)
      refuse(name, `\`${what}\` is ${value}, and has to be a whole number from ${least} to 2147483647`);
}
/** Refuses steps between matrices of a batch that lead back: what is before the first one is not known. */
export function assertStrides(name: string, strides: Readonly<Record<string, number>>): void {
  for (const [what, value] of Object.entries(strides))
    if (!Number.isSafeInteger(value) || value < 0) refuse(name, `\`${what}\` is ${value}, and has to be a whole number from 0`);
}
/** Refuses a step of 0. */
export function assertSteps(name: string, steps: Readonly<Record<string, number>>): void {
  for (const [what, value] of Object.entries(steps))
    if (!Number.isInteger(value) || value === 0 || Math.abs(value) > 0x7fff_ffff)
      refuse(name, `\`${what}\` is ${value}, and has to be a whole number that is not 0`);
}
/** Refuses words that are none of a list. */
export function assertWords(name: string, words: Readonly<Record<string, readonly [given: string, allowed: string]>>): void {
  for (const [what, [given, allowed]] of Object.entries(words))
    if (given.length !== 1 || !allowed.includes(given))
      refuse(name, `\`${what}\` is ${given}, and has to be one of ${[...allowed].join(', ')}`);
}
/** Refuses a buffer with fewer numbers than are needed. */
export function assertHolds(name: string, letter: Letter, what: string, buffer: unknown, count: number): void {
  const part = partOf(buffer);
  const needed = Math.max(0, count) * partsOf(letter);
  if (part && part.length < needed) refuse(name, `\`${what}\` has ${part.length} elements, and ${needed} are needed`);
}
/** The numbers from the first one of a vector to its last one. */
export const extentOfVector = (n: number, step: number): number => (n <= 0 ? 0 : (n - 1) * Math.abs(step) + 1);
/** The numbers of a matrix in columns. */
export const extentOfMatrix = (rows: number, columns: number, ld: number): number =>
  rows <= 0 || columns <= 0 ? 0 : (columns - 1) * ld + rows;
/** The first element of a vector in the order of its elements. */
export const startOf = (n: number, step: number): number => (step < 0 ? (1 - n) * step : 0);

/** A scalar as two parameters. */
export function scalarParts(scalar: number | Complex): Complex {
  return typeof scalar === 'number' ? [scalar, 0] : scalar;
}
/** Whether a scalar is 0. */
export const isZero = (scalar: number | Complex): boolean => scalarParts(scalar).every((part) => part === 0);

/** A kernel in two forms: with fused operations, and without for devices that emulate them. Each is made when it is first launched. */
export interface Made {
  on(device: Device): TypedKernel;
}
const kernels = new Map<string, TypedKernel>();

/** The kernel of a name. */
export function kernelOf(name: string, parameters: Readonly<Record<string, unknown>>, body: (p: never) => void, block: number): Made {
  return {
    on: (device) => {
      const isFused = !device.info.emulatesFma;
      const full = isFused ? name : `${name}_rounded`;
      const known = kernels.get(full);
      if (known) return known;
      const make = (): TypedKernel =>
        kernel(full, parameters as never, body as never, { locations: false, block }) as unknown as TypedKernel;
      const made = withFused(isFused, make);
      kernels.set(full, made);
      return made;
    },
  };
}

/** Enqueues a launch in the stream of a handle. */
export function launch(
  { device, stream }: CublasHandle,
  made: Made,
  grid: number | readonly [number, number, number],
  block: number,
  args: Readonly<Record<string, unknown>>,
): Work<LaunchReport> {
  return made.on(device).launch(device, { grid, block, args: args as never, ...(stream ? { stream } : {}) });
}

/** The name of a kernel of a type. */
export const kernelName = (letter: Letter, ...words: readonly (string | false)[]): string =>
  ['cublas', letter.toLowerCase(), ...words.filter((word) => word !== false && word !== '')].join('_');

/** What bodies of kernels see: parameters by name, of the types that the table of the kernel says. */
export type Inside<P extends string, W extends string, R extends string = never> = Record<P, Pointer<'f32', 'global'>> &
  Record<W, Value<'s64'>> &
  Record<R, Value<'f32'>>;
