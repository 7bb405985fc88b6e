/**
 * Convolutions of images (NCHW): products of matrices whose elements are found in the image while a tile is loaded, so that no matrix is made in memory; and
 * a direct one, a thread for each element of the result, for filters of few channels. Source: S. Chetlur and others, "cuDNN: efficient primitives for
 * deep learning", arXiv:1410.0759.
 */
import type { KernelBuffer } from '../api/index.ts';
import {
  blockIndex,
  blockReduce,
  constant,
  f32,
  gridSize,
  kernel,
  local,
  loop,
  type Pointer,
  ptr,
  s32,
  threadIndex,
  u32,
  type Value,
  when,
} from '../build/index.ts';
import type { Any } from './combine.ts';
import { depth, multiply, split, threads, tile } from './convolution-product.ts';
import { type ConvolutionShape, countsOf, type Sizes, sizeParameters, sizesOf, type Words } from './convolution-shape.ts';
import { plus } from './functions.ts';
import { assertHolds, Procedure, type Steps } from './procedure.ts';
import { productSum, withFused } from './product-sum.ts';
import { refuse } from './refuse.ts';
import { blocksFor, type Floating, named, portable, type Routine, routine, type TypeOption, typeOf } from './routine.ts';

type Word = Value<'u32'>;
type Real = Value<'f32'>;
type BufferOf<T extends Floating> = KernelBuffer<T> | bigint;
/** What a launch of `convolution` is given. */
export interface ConvolutionArguments<T extends Floating> extends ConvolutionShape {
  /** Images: batch, channels, rows, columns. */
  readonly x: BufferOf<T>;
  /** Filters: filters, channels of a group, rows, columns. */
  readonly weights: BufferOf<T>;
  /** A number for each filter that is added, or none. */
  readonly bias?: BufferOf<T> | null;
  /** Receives the result: batch, filters, rows, columns; `convolutionSize` says how many. */
  readonly y: BufferOf<T>;
}
/** What a launch of `convolutionBackward` is given: gradients that are not given are not computed. */
export interface ConvolutionBackwardArguments<T extends Floating> extends ConvolutionShape {
  readonly dy: BufferOf<T>;
  /** The images, for the gradient of the weights. */
  readonly x?: BufferOf<T>;
  /** The filters, for the gradient of the images. */
  readonly weights?: BufferOf<T>;
  readonly dx?: BufferOf<T>;
  readonly dweights?: BufferOf<T>;
  readonly dbias?: BufferOf<T>;
}

/** An element of an image, 0 outside of it. `y` and `x` are where it is if there were no padding. */
function pixel(from: Pointer<'f32', 'global'>, plane: Word, y: Value<'s32'>, x: Value<'s32'>, height: Word, width: Word): Real {
  const value = local(f32, 0);
  // Below 0 is above every size.
  when(y.as(u32).lt(height).and(x.as(u32).lt(width)), () =>
    value.set(
      from
        .at(plane.mul(height).add(y.as(u32)).mul(width).add(x.as(u32)))
        .get()
        .to(f32),
    ),
  );
  return value.get();
}

interface Pointers {
  readonly x: Pointer<'f32', 'global'>;
  readonly weights: Pointer<'f32', 'global'>;
  readonly bias: Pointer<'f32', 'global'>;
  readonly y: Pointer<'f32', 'global'>;
}
type Body = (p: Pointers & Words, type: Any) => void;

/** A place of the image by a place of the result and one of the filter. */
const placeIn = (p: Words, row: Word, column: Word, r: Word, s: Word): [Value<'s32'>, Value<'s32'>] => [
  row.mul(p.strideY).add(r.mul(p.dilationY)).sub(p.padY).as(s32),
  column.mul(p.strideX).add(s.mul(p.dilationX)).sub(p.padX).as(s32),
];

/** The index of the result that a place of the image and one of the filter belong to, beyond all if there is none. */
function resultOf(at: Word, tap: Word, [stride, pad, dilation]: readonly [Word, Word, Word]): Value<'s32'> {
  const distance = at.add(pad).sub(tap.mul(dilation));
  const [quotient, rest] = split(distance, stride);
  return rest.eq(0).and(distance.as(s32).ge(0)).select(quotient, 0xffffffff).as(s32);
}

/** y: filters by pixels of all images, summed over channels and elements of the filter. */
const forward: Body = (p, type) => {
  const group = blockIndex('z');
  const [taps, pixels] = [p.kernelHeight.mul(p.kernelWidth), p.outHeight.mul(p.outWidth)];
  const k = p.channels.mul(taps);
  const first = group.mul(p.filters);
  multiply({
    ...{ m: p.filters, n: p.batch.mul(pixels), k },
    left: (filter, q) => p.weights.at(first.add(filter).mul(k).add(q)).get().to(f32),
    right: (q, column) => {
      const [[image, at], [channel, tap]] = [split(column, pixels), split(q, taps)];
      const [[row, place], [r, s]] = [split(at, p.outWidth), split(tap, p.kernelWidth)];
      const [y, x] = placeIn(p, row, place, r, s);
      const plane = image.mul(p.groups).add(group).mul(p.channels).add(channel);
      return pixel(p.x, plane, y, x, p.height, p.width);
    },
    store: (filter, column, sum) => {
      const [image, at] = split(column, pixels);
      const whole = first.add(filter);
      p.y.at(image.mul(p.groups.mul(p.filters)).add(whole).mul(pixels).add(at)).set(withBias(p, whole, sum).to(type));
    },
  });
};

function withBias(p: Pointers, filter: Word, sum: Real): Real {
  const value = local(f32, sum);
  when(p.bias.address().ne(0), () => value.set(value.add(p.bias.at(filter).get().to(f32))));
  return value.get();
}

/** A thread for each element of the result. */
const direct: Body = (p, type) => {
  const pixels = p.outHeight.mul(p.outWidth);
  const at = blockIndex('x').mad(threads, threadIndex());
  when(at.lt(pixels), () => {
    const [filter, image] = [blockIndex('y'), blockIndex('z')];
    const [row, column] = split(at, p.outWidth);
    const group = filter.div(p.filters);
    const sum = local(f32, 0);
    loop(constant(u32, 0), p.channels, 1, (channel) => {
      const plane = image.mul(p.groups).add(group).mul(p.channels).add(channel);
      loop(constant(u32, 0), p.kernelHeight, 1, (r) =>
        loop(constant(u32, 0), p.kernelWidth, 1, (s) => {
          const [y, x] = placeIn(p, row, column, r, s);
          const weight = p.weights
            .at(filter.mul(p.channels).add(channel).mul(p.kernelHeight).add(r).mul(p.kernelWidth).add(s))
            .get()
            .to(f32);
          sum.set(productSum(weight, pixel(p.x, plane, y, x, p.height, p.width), sum));
        }),
      );
    });
    p.y.at(image.mul(p.groups.mul(p.filters)).add(filter).mul(pixels).add(at)).set(withBias(p, filter, sum.get()).to(type));
  });
};

/** dx (`y`) of dy (`x`): channels by pixels of all images, summed over filters and their elements. */
const backwardImages: Body = (p, type) => {
  const group = blockIndex('z');
  const [taps, pixels] = [p.kernelHeight.mul(p.kernelWidth), p.height.mul(p.width)];
  multiply({
    ...{ m: p.channels, n: p.batch.mul(pixels), k: p.filters.mul(taps) },
    left: (channel, q) => {
      const [filter, tap] = split(q, taps);
      return p.weights.at(group.mul(p.filters).add(filter).mul(p.channels).add(channel).mul(taps).add(tap)).get().to(f32);
    },
    right: (q, column) => {
      const [[image, at], [filter, tap]] = [split(column, pixels), split(q, taps)];
      const [[row, place], [r, s]] = [split(at, p.width), split(tap, p.kernelWidth)];
      const y = resultOf(row, r, [p.strideY, p.padY, p.dilationY]);
      const x = resultOf(place, s, [p.strideX, p.padX, p.dilationX]);
      return pixel(p.x, image.mul(p.groups).add(group).mul(p.filters).add(filter), y, x, p.outHeight, p.outWidth);
    },
    store: (channel, column, sum) => {
      const [image, at] = split(column, pixels);
      p.y.at(image.mul(p.groups).add(group).mul(p.channels).add(channel).mul(pixels).add(at)).set(sum.to(type));
    },
  });
};

/** dweights (`y`) of dy (`weights`) and x: filters by their elements, summed over a part of the pixels of all images, one part behind the other. */
const backwardWeights: Body = (p) => {
  const [part, group] = split(blockIndex('z'), p.groups);
  const [taps, pixels] = [p.kernelHeight.mul(p.kernelWidth), p.outHeight.mul(p.outWidth)];
  const n = p.channels.mul(taps);
  const whole = p.batch.mul(pixels);
  const length = whole
    .add(depth - 1)
    .div(depth)
    .add(gridSize('z').div(p.groups))
    .sub(1)
    .div(gridSize('z').div(p.groups))
    .mul(depth);
  const from = part.mul(length).min(whole);
  multiply({
    ...{ m: p.filters, n, k: from.add(length).min(whole), from, isAlong: true },
    left: (filter, q) => {
      const [image, at] = split(q, pixels);
      return p.weights.at(image.mul(p.groups).add(group).mul(p.filters).add(filter).mul(pixels).add(at)).get().to(f32);
    },
    right: (q, column) => {
      const [[image, at], [channel, tap]] = [split(q, pixels), split(column, taps)];
      const [[row, place], [r, s]] = [split(at, p.outWidth), split(tap, p.kernelWidth)];
      const [y, x] = placeIn(p, row, place, r, s);
      return pixel(p.x, image.mul(p.groups).add(group).mul(p.channels).add(channel), y, x, p.height, p.width);
    },
    store: (filter, column, sum) => {
      const at = part.mul(p.groups).add(group).mul(p.filters).add(filter).mul(n).add(column);
      p.y.at(at).set(sum);
    },
  });
};

/** The parts of the sums of `backwardWeights`: enough for some hundred blocks, of which each has hundreds of pixels. */
function partsOfPixels({ filters, channels, kernelHeight, kernelWidth, groups, batch, outHeight, outWidth }: Sizes): number {
  const blocks = blocksFor(filters, tile) * blocksFor(channels * kernelHeight * kernelWidth, tile) * groups;
  return Math.max(1, Math.min(Math.floor(1056 / blocks), Math.floor((batch * outHeight * outWidth) / 256)));
}

const partParameters = { x: ptr(f32), count: u32, parts: u32 };
/** The sums of parts (`x`) of f32, in their order, in another type. */
function sumOfParts(type: Any) {
  const parameters = { ...partParameters, y: ptr(type) };
  const make = (name: string) =>
    kernel(
      name,
      parameters,
      ({ x, y, count, parts }) => {
        const i = blockIndex().mad(threads, threadIndex());
        when(i.lt(count), () => {
          const sum = local(f32, 0);
          loop(constant(u32, 0), parts, 1, (part) => sum.set(sum.add(x.add(part.mulWide(count)).at(i))));
          y.at(i).set(sum.get().to(type) as never);
        });
      },
      { ...portable, block: threads },
    );
  return routine(named('convolution', 'parts', type.name), make, (args: { x: unknown; y: unknown; count: number; parts: number }) => ({
    grid: blocksFor(args.count, threads),
    block: threads,
    args: args as never,
  }));
}

/** dbias (`y`) of dy (`x`): a block for each filter. */
const backwardBias: Body = (p, type) => {
  const [filter, pixels] = [blockIndex(), p.outHeight.mul(p.outWidth)];
  const sum = local(f32, 0);
  loop(constant(u32, 0), p.batch, 1, (image) => {
    const plane = image.mul(p.groups.mul(p.filters)).add(filter).mul(pixels);
    loop(threadIndex(), pixels, threads, (i) => sum.set(sum.add(p.x.at(plane.add(i)).get().to(f32))));
  });
  const whole = blockReduce(sum.get(), plus, { threads, identity: 0 });
  when(threadIndex().eq(0), () => p.y.at(filter).set(whole.to(type)));
};

interface Launch {
  readonly x: unknown;
  readonly weights: unknown;
  readonly bias: unknown;
  readonly y: unknown;
  readonly sizes: Sizes;
  readonly grid: readonly [number, number, number];
}

/** A kernel in two forms: with fused operations, and without for devices that emulate them. */
interface Made {
  readonly fused: Routine<never, Launch>;
  readonly rounded: Routine<never, Launch>;
}
const forSteps = ({ isFusing }: Steps, { fused, rounded }: Made): Routine<never, Launch> => (isFusing ? fused : rounded);
const partsOf = (all: readonly Made[]) => () => all.flatMap(({ fused, rounded }) => [fused, rounded]);

function made(what: string, type: Any, body: Body, to = type): Made {
  const parameters = { x: ptr(type), weights: ptr(type), bias: ptr(type), y: ptr(to), ...sizeParameters };
  const form = (fused: boolean): Routine<never, Launch> =>
    routine(
      named('convolution', what, type.name, !fused && 'rounded'),
      (name) => {
        return withFused(fused, () => kernel(name, parameters, (p) => body(p as never, type), { ...portable, block: threads }));
      },
      ({ x, weights, bias, y, sizes, grid }: Launch) => ({ grid, block: threads, args: { x, weights, bias, y, ...sizes } as never }),
    ) as unknown as Routine<never, Launch>;
  return { fused: form(true), rounded: form(false) };
}

/** The grid of a product of groups. */
const gridOf = (m: number, n: number, groups: number): readonly [number, number, number] =>
  n === 0 ? [0, 1, 1] : [blocksFor(n, tile), blocksFor(m, tile), groups];

/** Options of `convolution`. */
export type ConvolutionOptions<T extends Floating> = TypeOption<T> & {
  /** `gemm` for a product of matrices, `direct` for a thread for each element: by default `direct` for groups of fewer than 4 channels or filters. */
  readonly algorithm?: 'gemm' | 'direct';
};

/**
 * The convolution of images with filters, and a bias: `y[i][f][p][q] = bias[f] + Σ x[i][c][p * stride + r * dilation - padding][…] * weights[f][c][r][s]` (the
 * filters are not reversed, as in cuDNN and PyTorch). f16 and bf16 are summed as f32. Arrays have up to 2^31 - 65536 elements. Deterministic.
 */
export function convolution<T extends Floating = 'f32'>(options: ConvolutionOptions<T> = {}): Procedure<ConvolutionArguments<T>> {
  const type = typeOf(options) as unknown as Any;
  const [byProduct, byElement] = [made('gemm', type, forward), made('direct', type, direct)];
  const name = named('convolution', type.name);
  return new Procedure(name, partsOf([byProduct, byElement]), (steps, given: ConvolutionArguments<T>) => {
    const sizes = sizesOf(name, given);
    const { x, weights, bias = null, y } = given;
    const counts = countsOf(sizes);
    assertHolds(name, 'x', x, counts.x);
    assertHolds(name, 'weights', weights, counts.weights);
    assertHolds(name, 'bias', bias, counts.filters);
    assertHolds(name, 'y', y, counts.y);
    const pixels = sizes.outHeight * sizes.outWidth;
    const isDirect = (options.algorithm ?? (Math.min(sizes.channels, sizes.filters) < 4 ? 'direct' : 'gemm')) === 'direct';
    if (counts.y === 0) return;
    // Grids have up to 65535 blocks along y and z.
    const isFitting = sizes.groups * sizes.filters < 65536 && sizes.batch < 65536;
    if (isDirect && isFitting)
      steps.launch(forSteps(steps, byElement), {
        x,
        weights,
        bias,
        y,
        sizes,
        grid: [blocksFor(pixels, threads), counts.filters, sizes.batch],
      });
    else
      steps.launch(forSteps(steps, byProduct), {
        x,
        weights,
        bias,
        y,
        sizes,
        grid: gridOf(sizes.filters, sizes.batch * pixels, sizes.groups),
      });
  });
}

/** The gradients of `convolution`: of the images, of the filters and of the bias, each if it is given. Deterministic. */
export function convolutionBackward<T extends Floating = 'f32'>(options: TypeOption<T> = {}): Procedure<ConvolutionBackwardArguments<T>> {
  const type = typeOf(options) as unknown as Any;
  const [images, filters, biases] = [
    made('images', type, backwardImages),
    made('weights', type, backwardWeights, f32 as unknown as Any),
    made('bias', type, backwardBias),
  ];
  const joined = sumOfParts(type);
  const name = named('convolution_backward', type.name);
  return new Procedure(
    name,
    () => [...partsOf([images, filters, biases])(), joined],
    (steps, given: ConvolutionBackwardArguments<T>) => {
      const sizes = sizesOf(name, given);
      const { dy, x, weights, dx, dweights, dbias } = given;
      const counts = countsOf(sizes);
      const needs = { dy: counts.y, x: counts.x, weights: counts.weights, dx: counts.x, dweights: counts.weights, dbias: counts.filters };
      for (const [what, count] of Object.entries(needs)) assertHolds(name, what, given[what as 'dy'], count);
      if (dx !== undefined) {
        if (weights === undefined) refuse(name, '`dx` needs `weights`');
        const grid = gridOf(sizes.channels, sizes.batch * sizes.height * sizes.width, sizes.groups);
        steps.launch(forSteps(steps, images), { x: dy, weights, bias: null, y: dx, sizes, grid });
      }
      if (dweights !== undefined) {
        if (x === undefined) refuse(name, '`dweights` needs `x`');
        const parts = partsOfPixels(sizes);
        const isWhole = parts === 1 && type.name === 'f32';
        const y = isWhole ? dweights : steps.scratch('f32', parts * counts.weights);
        const grid = gridOf(sizes.filters, sizes.channels * sizes.kernelHeight * sizes.kernelWidth, sizes.groups * parts);
        steps.launch(forSteps(steps, filters), { x, weights: dy, bias: null, y, sizes, grid });
        if (!isWhole) steps.launch(joined, { x: y, y: dweights, count: counts.weights, parts });
      }
      if (dbias !== undefined)
        steps.launch(forSteps(steps, biases), { x: dy, weights: null, bias: null, y: dbias, sizes, grid: [counts.filters, 1, 1] });
    },
  );
}
