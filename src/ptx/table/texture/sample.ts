/** Fetches: the texels around a place, mixed by their distances. Source: CUDA C++ Programming Guide, "Texture Fetching". */

import type { Value } from '../../../ir/index.ts';
import { addressModes, textureHead } from '../../../ir/texture.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Axis, type Place, placeOn, type Sampling, samplingOf, texelOn } from './axis.ts';
import { axesOf, type Descriptor, type Geometry, type Image, imageOf, int, isCube, offsetIn, single } from './descriptor.ts';
import type { LevelPlace } from './levels.ts';
import { type Format, formatOf, texelAt } from './texel.ts';

/** A fetch: its texture, the shape that the instruction names, and the place on its axes. */
export interface Fetch {
  readonly descriptor: Descriptor;
  readonly geometry: Geometry;
  readonly coordinates: readonly Value[];
  readonly layer: Value | undefined;
  /** Texels that are added to the place. */
  readonly offsets: readonly Value[];
}

/** What is read once for all texels of a fetch. */
interface Common {
  readonly sampling: Sampling;
  readonly format: Format;
  readonly modes: readonly Value[];
  readonly border: readonly Value[];
}

/** An image with its axes, and the layer. */
interface Shape extends Common {
  readonly image: Image;
  readonly axes: readonly Axis[];
  readonly layer: Value | undefined;
}

/** Faces of cubes do not continue in each other. */
function commonOf(ir: RowBuilder, { descriptor, geometry }: Fetch): Common {
  return {
    sampling: samplingOf(ir, descriptor),
    format: formatOf(descriptor),
    modes: textureHead.addressMode
      .slice(0, axesOf[geometry])
      .map((offset) => (isCube(geometry) ? int(ir, addressModes.clamp) : descriptor.word(offset))),
    border: [0, 4, 8, 12].map((offset) => descriptor.word(textureHead.border + offset)),
  };
}

function shapeOf(ir: RowBuilder, { descriptor, layer }: Fetch, common: Common, level?: Value): Shape {
  const image = imageOf(ir, descriptor, level);
  return { ...common, image, layer, axes: common.modes.map((mode, i): Axis => ({ size: image.extent[i]!, mode })) };
}

/** A layer by its number: the nearest that there is. */
export function layerOf(ir: RowBuilder, descriptor: Descriptor, number: Value): Value {
  const last = ir.sub(descriptor.word(textureHead.layers), int(ir, 1));
  return ir.smax(int(ir, 0), ir.smin(number, last));
}

/** The words of the texel with a number on each axis, some of which may be outside. */
function texel(ir: RowBuilder, shape: Shape, numbers: readonly Value[]): Value[] {
  const { image, axes, layer, border, sampling, format } = shape;
  const places = numbers.map((number, i) => texelOn(ir, sampling, axes[i]!, number));
  const distances = [format.texelBytes, image.pitch, image.slice];
  const products = places.map(({ at }, i) => [at, distances[i]!] as const);
  const pointer = offsetIn(ir, image, [...products, ...(layer ? [[layer, image.slice] as const] : [])]);
  const isBorder = places.map((place) => place.isBorder).reduce((a, b) => ir.or(a, b));
  return ir.choose(
    isBorder,
    () => border,
    () => texelAt(ir, format, pointer),
  );
}

/** A texel at integer coordinates, of a level. */
export function fetchTexel(ir: RowBuilder, fetch: Fetch, level?: Value): Value[] {
  const shape = shapeOf(ir, fetch, commonOf(ir, fetch), level);
  const numbers = shifted(ir, fetch.coordinates.slice(0, shape.axes.length), fetch);
  const isInside = numbers.map((number, i) => ir.icmp(number, shape.axes[i]!.size, { pred: 'ult' })).reduce((a, b) => ir.and(a, b));
  const isBuffer = ir.icmp(fetch.descriptor.word(textureHead.isBuffer), int(ir, 0), { pred: 'ne' });
  const isZero = ir.and(isBuffer, ir.xor(isInside, ir.const('i1', 1)));
  return ir.choose(
    isZero,
    () => [0, 0, 0, 0].map((value) => int(ir, value)),
    () => texel(ir, shape, numbers),
  );
}

const shifted = (ir: RowBuilder, numbers: readonly Value[], { offsets }: Fetch): Value[] =>
  numbers.map((number, i) => (offsets[i] === undefined ? number : ir.add(number, offsets[i])));

/** A sample of the first level. */
export const sample = (ir: RowBuilder, fetch: Fetch): Value[] => sampleShape(ir, fetch, shapeOf(ir, fetch, commonOf(ir, fetch)));

/** A sample of one level, or of two that are mixed. */
export function sampleLevels(ir: RowBuilder, fetch: Fetch, { first, weight }: LevelPlace): Value[] {
  const common = commonOf(ir, fetch);
  const isTwo = ir.icmp(weight, int(ir, 0), { pred: 'ne' });
  const none = single(ir, 0);
  const sums = ir.repeat(ir.add(int(ir, 1), ir.zext('i32', isTwo)), [none, none, none, none], (i, values) => {
    const words = sampleShape(ir, fetch, shapeOf(ir, fetch, common, ir.add(first, i)));
    const part = fraction(ir, ir.select(ir.icmp(i, int(ir, 0), { pred: 'eq' }), ir.sub(int(ir, 256), weight), weight));
    return words.map((word, channel) => {
      const value = ir.bitcast('f32', word);
      return ir.select(isTwo, ir.fadd(values[channel]!, ir.fmul(part, value)), value);
    });
  });
  return sums.map((sum) => ir.bitcast('i32', sum));
}

function placesOf(ir: RowBuilder, fetch: Fetch, { sampling, axes }: Shape): Place[] {
  return axes.map((axis, i) => {
    const place = placeOn(ir, sampling, axis, fetch.coordinates[i]!);
    const offset = fetch.offsets[i];
    return offset === undefined ? place : { ...place, first: ir.add(place.first, offset) };
  });
}

function sampleShape(ir: RowBuilder, fetch: Fetch, shape: Shape): Value[] {
  const places = placesOf(ir, fetch, shape);
  const numbers = places.map(({ first }) => first);
  return ir.choose(
    shape.sampling.isLinear,
    () => mixed(ir, shape, places),
    () => texel(ir, shape, numbers),
  );
}

const fraction = (ir: RowBuilder, weight: Value): Value => ir.fmul(ir.uitofp('f32', weight), single(ir, 1 / 256));

/** The texels around a place, each weighted by the product of its weights on the axes. */
function mixed(ir: RowBuilder, shape: Shape, places: readonly Place[]): Value[] {
  const zero = single(ir, 0);
  const sums = ir.repeat(int(ir, 2 ** places.length), [zero, zero, zero, zero], (i, values) => {
    const bits = places.map((_, axis) => ir.and(ir.lshr(i, int(ir, axis)), int(ir, 1)));
    const numbers = places.map(({ first }, axis) => ir.add(first, bits[axis]!));
    const words = texel(ir, shape, numbers);
    const weights = places.map(({ weight }, axis) => {
      const isNext = ir.icmp(bits[axis]!, int(ir, 1), { pred: 'eq' });
      return fraction(ir, ir.select(isNext, weight, ir.sub(int(ir, 256), weight)));
    });
    const weight = weights.reduce((a, b) => ir.fmul(a, b));
    return words.map((word, channel) => ir.fadd(values[channel]!, ir.fmul(weight, ir.bitcast('f32', word))));
  });
  return sums.map((sum) => ir.bitcast('i32', sum));
}

/** One channel of the four texels that a filter would mix, in the order of the manual. Source: PTX ISA 9.0, 9.7.10.4. */
export function gather(ir: RowBuilder, fetch: Fetch, channel: number): Value[] {
  const common = commonOf(ir, fetch);
  const sampling = { ...common.sampling, isLinear: ir.const('i1', 1) };
  const shape = { ...shapeOf(ir, fetch, common), sampling };
  const [x, y] = placesOf(ir, fetch, shape).map(({ first }) => first) as [Value, Value];
  const next = (value: Value): Value => ir.add(value, int(ir, 1));
  const places: readonly (readonly [Value, Value])[] = [
    [x, next(y)],
    [next(x), next(y)],
    [next(x), y],
    [x, y],
  ];
  return places.map((place) => texel(ir, shape, place)[channel]!);
}
