/** Sizes of convolutions: what a caller gives, and what the kernels take. */
import { u32, type Value } from '../build/index.ts';
import { assertSize } from './procedure.ts';
import { refuse } from './refuse.ts';

type Pair = number | readonly [number, number];

/** The sizes of a convolution. Pairs are of rows and of columns, or one number for both. */
export interface ConvolutionShape {
  /** The images. */
  readonly batch: number;
  /** The channels of an image. */
  readonly channels: number;
  /** Rows and columns of an image. */
  readonly size: Pair;
  /** The filters: channels of the result. */
  readonly filters: number;
  /** Rows and columns of a filter. */
  readonly kernel: Pair;
  /** The distance of neighboring results in the image; 1 by default. */
  readonly stride?: Pair;
  /** Zeros around the image; none by default. */
  readonly padding?: Pair;
  /** The distance of neighboring elements of a filter in the image; 1 by default. */
  readonly dilation?: Pair;
  /** Parts of the channels that are convolved alone, each with its part of the filters; 1 by default. */
  readonly groups?: number;
}
/** All sizes of a convolution, as the kernels take them. */
export interface Sizes {
  readonly batch: number;
  readonly groups: number;
  /** Channels and filters of a group. */
  readonly channels: number;
  readonly filters: number;
  readonly height: number;
  readonly width: number;
  readonly kernelHeight: number;
  readonly kernelWidth: number;
  readonly outHeight: number;
  readonly outWidth: number;
  readonly strideY: number;
  readonly strideX: number;
  readonly padY: number;
  readonly padX: number;
  readonly dilationY: number;
  readonly dilationX: number;
}
const sizeNames = [
  ...['batch', 'groups', 'channels', 'filters', 'height', 'width', 'kernelHeight', 'kernelWidth', 'outHeight', 'outWidth'],
  ...['strideY', 'strideX', 'padY', 'padX', 'dilationY', 'dilationX'],
] as (keyof Sizes)[];
/** The sizes as parameters. */
export const sizeParameters = Object.fromEntries(sizeNames.map((name) => [name, u32])) as Record<keyof Sizes, typeof u32>;
/** The sizes in a kernel. */
export type Words = Record<keyof Sizes, Value<'u32'>>;

const pairOf = (pair: Pair | undefined, otherwise: number): readonly [number, number] =>
  pair === undefined ? [otherwise, otherwise] : typeof pair === 'number' ? [pair, pair] : pair;

/** Rows and columns of the result of a convolution. */
export function convolutionSize({ size, kernel: taps, stride, padding, dilation }: ConvolutionShape): [rows: number, columns: number] {
  const [sizes, ofKernel, steps, pads, holes] = [
    pairOf(size, 0),
    pairOf(taps, 1),
    pairOf(stride, 1),
    pairOf(padding, 0),
    pairOf(dilation, 1),
  ];
  const of = (d: 0 | 1): number => Math.max(0, Math.floor((sizes[d] + 2 * pads[d] - holes[d] * (ofKernel[d] - 1) - 1) / steps[d]) + 1);
  return [of(0), of(1)];
}

/** The largest number of elements of an array: indices have 32 bits. */
const most = 2 ** 31 - 2 ** 16;

/** The sizes of a launch. Refuses what is none. */
export function sizesOf(name: string, shape: ConvolutionShape): Sizes {
  const { batch, channels, filters, groups = 1 } = shape;
  const [[height, width], [kernelHeight, kernelWidth]] = [pairOf(shape.size, 0), pairOf(shape.kernel, 1)];
  const [[strideY, strideX], [padY, padX]] = [pairOf(shape.stride, 1), pairOf(shape.padding, 0)];
  const [dilationY, dilationX] = pairOf(shape.dilation, 1);
  const [outHeight, outWidth] = convolutionSize(shape);
  const whole = { batch, channels, filters, height, width, padY, padX };
  for (const [what, value] of Object.entries(whole)) assertSize(name, what, value, 0x7fff_ffff);
  const positive = { groups, kernelHeight, kernelWidth, strideY, strideX, dilationY, dilationX };
  for (const [what, value] of Object.entries(positive)) assertSize(name, what, value, 0xffff, 1);
  if (channels % groups !== 0 || filters % groups !== 0)
    refuse(name, `${channels} channels and ${filters} filters are not shared out to ${groups} groups`);
  const counts = [
    batch * channels * height * width,
    batch * filters * outHeight * outWidth,
    (filters * channels * kernelHeight * kernelWidth) / groups,
  ];
  if (counts.some((count) => count > most)) refuse(name, `an array has more than ${most} elements`);
  return {
    ...{
      batch,
      groups,
      channels: channels / groups,
      filters: filters / groups,
      height,
      width,
      kernelHeight,
      kernelWidth,
      outHeight,
      outWidth,
    },
    ...{ strideY, strideX, padY, padX, dilationY, dilationX },
  };
}

/** The elements of the arrays. */
export const countsOf = (s: Sizes): { x: number; y: number; weights: number; filters: number } => ({
  x: s.batch * s.groups * s.channels * s.height * s.width,
  y: s.batch * s.groups * s.filters * s.outHeight * s.outWidth,
  weights: s.groups * s.filters * s.channels * s.kernelHeight * s.kernelWidth,
  filters: s.groups * s.filters,
});
