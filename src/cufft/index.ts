/**
 * cuFFT: transforms by the names of NVIDIA's library, over buffers of the API. A plan has tables and memory for a size; running it enqueues a launch for each
 * pass. Start at `plan.ts` for how a transform runs, `kernels.ts` for passes, `tables.ts` for how a length is taken apart.
 */
import type { Device, KernelBuffer, Stream } from '../api/index.ts';
import { type Layout, refuse, type Sizes, type TransformType } from './layout.ts';
import { CufftPlan } from './plan.ts';

export type { TransformType } from './layout.ts';
export { CufftPlan } from './plan.ts';

/** Complex f32 to complex f32. */
export const CUFFT_C2C = 'C2C';
/** Real f32 to the first half of its transform. */
export const CUFFT_R2C = 'R2C';
/** The first half of a transform to real f32. */
export const CUFFT_C2R = 'C2R';
/** Complex f64 to complex f64. */
export const CUFFT_Z2Z = 'Z2Z';
/** Real f64 to the first half of its transform. */
export const CUFFT_D2Z = 'D2Z';
/** The first half of a transform to real f64. */
export const CUFFT_Z2D = 'Z2D';
/** The transform with exp(-2πi jk / n). */
export const CUFFT_FORWARD = -1;
/** The transform with exp(2πi jk / n), which is not divided by the number of elements. */
export const CUFFT_INVERSE = 1;
/** The direction of a complex transform. */
export type Direction = -1 | 1;

const isFromReal = (type: TransformType): boolean => type === 'R2C' || type === 'D2Z';
const isToReal = (type: TransformType): boolean => type === 'C2R' || type === 'Z2D';

/** Three dimensions of up to three, the first ones 1. */
function three(name: string, n: readonly number[]): [number, number, number] {
  if (n.length < 1 || n.length > 3) refuse(name, `a transform has one to three dimensions, and not ${n.length}`);
  for (const each of n) if (!Number.isInteger(each) || each < 1 || each > 2 ** 27) refuse(name, `${each} is no length from 1 to 134217728`);
  return [...Array<number>(3 - n.length).fill(1), ...n] as [number, number, number];
}

/** The layout of numbers that follow each other. */
function usual(n: readonly [number, number, number], isHalf: boolean): Layout {
  const row = isHalf ? Math.floor(n[2] / 2) + 1 : n[2];
  return { embed: [n[0], n[1], row], stride: 1, distance: n[0] * n[1] * row };
}

function planOf(device: Device, name: string, n: readonly number[], type: TransformType, batch: number): CufftPlan {
  const whole = three(name, n);
  assertType(name, type, batch);
  const layouts = { input: usual(whole, isToReal(type)), output: usual(whole, isFromReal(type)), isUsual: true };
  return new CufftPlan(device, { rank: n.length, n: whole, batch, type, ...layouts });
}
function assertType(name: string, type: TransformType, batch: number): void {
  if (!['C2C', 'R2C', 'C2R', 'Z2Z', 'D2Z', 'Z2D'].includes(type)) refuse(name, `the transform ${type} is not there`);
  if (!Number.isInteger(batch) || batch < 0 || batch > 0x7fff_ffff) refuse(name, `${batch} transforms are no whole number`);
}

/** A plan of `batch` transforms of `nx` numbers, which follow each other. */
export const cufftPlan1d = (device: Device, nx: number, type: TransformType, batch = 1): CufftPlan =>
  planOf(device, 'cufftPlan1d', [nx], type, batch);
/** A plan of `nx` rows of `ny` numbers. */
export const cufftPlan2d = (device: Device, nx: number, ny: number, type: TransformType): CufftPlan =>
  planOf(device, 'cufftPlan2d', [nx, ny], type, 1);
/** A plan of three dimensions; the last one is that of neighboring numbers. */
export const cufftPlan3d = (device: Device, nx: number, ny: number, nz: number, type: TransformType): CufftPlan =>
  planOf(device, 'cufftPlan3d', [nx, ny, nz], type, 1);

/**
 * A plan of `batch` transforms of any layout: an element `(x, y, z)` is at `((x * embed[1] + y) * embed[2] + z) * stride`, and transforms are `dist` elements from
 * each other. Without `inembed` or `onembed` numbers follow each other, and strides and distances are not used.
 */
export function cufftPlanMany(
  device: Device,
  rank: number,
  n: readonly number[],
  inembed: readonly number[] | null,
  istride: number,
  idist: number,
  onembed: readonly number[] | null,
  ostride: number,
  odist: number,
  type: TransformType,
  batch: number,
): CufftPlan {
  const name = 'cufftPlanMany';
  if (n.length !== rank) refuse(name, `a rank of ${rank} has ${rank} lengths, and not ${n.length}`);
  if (inembed === null || onembed === null) return planOf(device, name, n, type, batch);
  const whole = three(name, n);
  assertType(name, type, batch);
  for (const each of [istride, idist, ostride, odist])
    if (!Number.isInteger(each) || each < 0 || each > 2 ** 40) refuse(name, `${each} is no stride or distance`);
  const layout = (embed: readonly number[], stride: number, distance: number): Layout => ({ embed: three(name, embed), stride, distance });
  const sizes: Sizes = {
    ...{ rank, n: whole, batch, type, isUsual: false },
    ...{ input: layout(inembed, istride, idist), output: layout(onembed, ostride, odist) },
  };
  return new CufftPlan(device, sizes);
}

/** Frees the memory of a plan when pending work has ended. */
export const cufftDestroy = (plan: CufftPlan): void => plan.destroy();
/** Puts later transforms into a stream; without one into the default stream. */
export function cufftSetStream(plan: CufftPlan, stream?: Stream): void {
  plan.stream = stream;
}

function exec(plan: CufftPlan, name: string, type: TransformType, from: unknown, to: unknown, direction: Direction): void {
  if (plan.type !== type) refuse(name, `the plan is for ${plan.type}`);
  if (direction !== CUFFT_FORWARD && direction !== CUFFT_INVERSE) refuse(name, `the direction is ${direction}, and not -1 or 1`);
  plan.run(name, from, to, direction === CUFFT_INVERSE);
}

/** Complex numbers, as pairs of f32. `idata` and `odata` may be the same. */
export const cufftExecC2C = (plan: CufftPlan, idata: KernelBuffer<'f32'>, odata: KernelBuffer<'f32'>, direction: Direction): void =>
  exec(plan, 'cufftExecC2C', 'C2C', idata, odata, direction);
/** Real numbers to the first half of their transform, along the last dimension. In place, rows are padded. */
export const cufftExecR2C = (plan: CufftPlan, idata: KernelBuffer<'f32'>, odata: KernelBuffer<'f32'>): void =>
  exec(plan, 'cufftExecR2C', 'R2C', idata, odata, CUFFT_FORWARD);
/** The first half of a transform to real numbers. In place, rows are padded. */
export const cufftExecC2R = (plan: CufftPlan, idata: KernelBuffer<'f32'>, odata: KernelBuffer<'f32'>): void =>
  exec(plan, 'cufftExecC2R', 'C2R', idata, odata, CUFFT_INVERSE);
/** `cufftExecC2C` of f64. */
export const cufftExecZ2Z = (plan: CufftPlan, idata: KernelBuffer<'f64'>, odata: KernelBuffer<'f64'>, direction: Direction): void =>
  exec(plan, 'cufftExecZ2Z', 'Z2Z', idata, odata, direction);
/** `cufftExecR2C` of f64. */
export const cufftExecD2Z = (plan: CufftPlan, idata: KernelBuffer<'f64'>, odata: KernelBuffer<'f64'>): void =>
  exec(plan, 'cufftExecD2Z', 'D2Z', idata, odata, CUFFT_FORWARD);
/** `cufftExecC2R` of f64. */
export const cufftExecZ2D = (plan: CufftPlan, idata: KernelBuffer<'f64'>, odata: KernelBuffer<'f64'>): void =>
  exec(plan, 'cufftExecZ2D', 'Z2D', idata, odata, CUFFT_INVERSE);
