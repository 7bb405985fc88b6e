/** Fetches: the texels around a place, mixed by their distances. Source: CUDA C++ Programming Guide, "Texture Fetching". */

import type { Value } from '../../../ir/index.ts';
import { addressModes, textureHead } from '../../../ir/texture.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Axis, type Place, placeOn, type Sampling, samplingOf, texelOn } from './axis.ts';
import { axesOf, type Descriptor, type Geometry, type Image, imageOf, int, isCube, offsetIn } from './descriptor.ts';
import { finestLevel, type LevelPlace } from './levels.ts';
import { mixture, type Plane, partOf, whole } from './mix.ts';
import { type Format, formatOf, texelAt } from './texel.ts';

/** A fetch: its texture, the shape that the instruction names, and the place on its axes. */
export interface Fetch {
  readonly descriptor: Descriptor;
  readonly geometry: Geometry;
  readonly coordinates: readonly Value[];
  readonly layer: Value | undefined;
  /** The number of the layer as it was given, which may be of none. */
  readonly number?: Value | undefined;
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
  /** The rows of an image of one, for an instruction with one coordinate. */
  readonly line: Axis | undefined;
  readonly layer: Value | undefined;
}

/** Faces of cubes do not continue in each other; the coordinates on one are from 0 to 1. */
function commonOf(ir: RowBuilder, { descriptor, geometry }: Fetch): Common {
  return {
    sampling: isCube(geometry) ? { ...samplingOf(ir, descriptor), isNormalized: ir.const('i1', 1) } : samplingOf(ir, descriptor),
    format: formatOf(descriptor),
    modes: textureHead.addressMode.slice(0, axesOf[geometry]).map((offset) => descriptor.word(offset)),
    border: [0, 4, 8, 12].map((offset) => descriptor.word(textureHead.border + offset)),
  };
}

function shapeOf(ir: RowBuilder, { descriptor, geometry, layer }: Fetch, common: Common, level?: Value): Shape {
  const image = imageOf(ir, descriptor, level);
  const line = geometry === '1d' ? { size: int(ir, 1), mode: descriptor.word(textureHead.addressMode[1]) } : undefined;
  return { ...common, image, layer, line, axes: common.modes.map((mode, i): Axis => ({ size: image.extent[i]!, mode })) };
}

/** Where a line is between the rows of a texture with one: at the edge of the first, of which half is outside if there is a border. */
function edgeOf(ir: RowBuilder, { mode }: Axis): Place {
  const isBorder = ir.icmp(mode, int(ir, addressModes.border), { pred: 'eq' });
  return { first: ir.select(isBorder, int(ir, -1), int(ir, 0)), weight: ir.select(isBorder, int(ir, 128), int(ir, 0)) };
}

/** A layer, or a cube of so many faces, by its number without a sign: the last one for any that there is not. */
export function layerOf(ir: RowBuilder, descriptor: Descriptor, number: Value, faces = 1): Value {
  const count = ir.udiv(descriptor.word(textureHead.layers), int(ir, faces));
  return ir.umin(number, ir.sub(count, int(ir, 1)));
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

/** A texel at integer coordinates, of a level: zeros outside, and from an array by one coordinate. Source: recorded on an NVIDIA H200. */
export function fetchTexel(ir: RowBuilder, fetch: Fetch, level?: Value): Value[] {
  const shape = shapeOf(ir, fetch, commonOf(ir, fetch), level);
  const numbers = shifted(ir, fetch.coordinates.slice(0, shape.axes.length), fetch);
  const isBuffer = ir.icmp(fetch.descriptor.word(textureHead.isBuffer), int(ir, 0), { pred: 'ne' });
  const inside = [
    ...numbers.map((number, i) => ir.icmp(number, shape.axes[i]!.size, { pred: 'ult' })),
    ...(fetch.number === undefined ? [] : [ir.icmp(fetch.number, fetch.descriptor.word(textureHead.layers), { pred: 'ult' })]),
    ...(fetch.geometry === '1d' && level === undefined ? [isBuffer] : []),
  ];
  return ir.choose(
    inside.reduce((a, b) => ir.and(a, b)),
    () => texel(ir, shape, numbers),
    () => [0, 0, 0, 0].map((value) => int(ir, value)),
  );
}

const shifted = (ir: RowBuilder, numbers: readonly Value[], { offsets }: Fetch): Value[] =>
  numbers.map((number, i) => (offsets[i] === undefined ? number : ir.add(number, offsets[i])));

/** A sample of the first level. Bytes that are no array have nothing at the places of floats. Source: recorded on an NVIDIA H200. */
export function sample(ir: RowBuilder, fetch: Fetch): Value[] {
  const found = (): Value[] => sampleLevels(ir, fetch, finestLevel(ir, fetch.descriptor));
  if (fetch.geometry !== '1d') return found();
  const isBuffer = ir.icmp(fetch.descriptor.word(textureHead.isBuffer), int(ir, 0), { pred: 'ne' });
  return ir.choose(isBuffer, () => [0, 0, 0, 0].map((value) => int(ir, value)), found);
}

/** A sample of one level, or of two that are mixed: a level is divided as a whole texture is. */
export function sampleLevels(ir: RowBuilder, fetch: Fetch, { first, weight }: LevelPlace): Value[] {
  const common = commonOf(ir, fetch);
  const isTwo = ir.icmp(weight, int(ir, 0), { pred: 'ne' });
  const levels = ir.add(int(ir, 1), ir.zext('i32', isTwo));
  const shapeAt = (level: Value): Shape => shapeOf(ir, fetch, common, ir.add(first, level));
  const mixedLevels = (): Value[] => {
    const boxes = common.modes.length === 3 ? 1 : 0;
    const plane = (number: Value): Plane => {
      const level = ir.lshr(number, int(ir, boxes));
      const shape = shapeAt(level);
      const part = ir.select(ir.icmp(level, int(ir, 0), { pred: 'eq' }), ir.sub(int(ir, whole), weight), weight);
      return planeOf(ir, shape, placesOf(ir, fetch, shape), [ir.and(number, int(ir, boxes)), part]);
    };
    return mixture(ir, common.format, { count: ir.shl(levels, int(ir, boxes)), plane });
  };
  return ir.choose(ir.or(isTwo, common.sampling.isLinear), mixedLevels, () => {
    const shape = shapeAt(int(ir, 0));
    return texel(
      ir,
      shape,
      placesOf(ir, fetch, shape).map((place) => place.first),
    );
  });
}

function placesOf(ir: RowBuilder, fetch: Fetch, { sampling, axes }: Shape): Place[] {
  return axes.map((axis, i) => placeOn(ir, sampling, axis, fetch.coordinates[i]!, fetch.offsets[i]));
}

/** The plane of a number, 0 or 1, in a box, as the part of a texture; one axis lies at the upper edge of the first row of a plane. */
function planeOf(ir: RowBuilder, shape: Shape, places: readonly Place[], [number, part]: readonly [Value, Value]): Plane {
  const { line } = shape;
  const [axes, all] = line
    ? [
        [...shape.axes, line],
        [...places, edgeOf(ir, line)],
      ]
    : [shape.axes, places];
  const around = { ...shape, axes };
  const at = (next: readonly Value[]): Value[] =>
    texel(
      ir,
      around,
      all.map(({ first }, i) => ir.add(first, next[i] ?? number)),
    );
  const [x, y, z] = all.map(({ weight }) => weight);
  const weights = y === undefined ? [x!] : [x!, y];
  if (z === undefined) return { part, weights, at };
  const next = partOf(ir, z, part);
  return { part: ir.select(ir.icmp(number, int(ir, 1), { pred: 'eq' }), next, ir.sub(part, next)), weights, at };
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
  const isMissing = ir.icmp(shape.format.channels, int(ir, channel), { pred: 'ule' });
  return places.map((place) => ir.select(isMissing, int(ir, 0), texel(ir, shape, place)[channel]!));
}
