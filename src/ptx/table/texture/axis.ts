/** Coordinates of one axis: where a fetch is, in texels and 256ths of one, and which texels it reads. Source: CUDA C++ Programming Guide, "Texture Fetching"; bits as recorded on an NVIDIA H200. */

import type { Value } from '../../../ir/index.ts';
import { addressModes, textureHead } from '../../../ir/texture.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Descriptor, int, single } from './descriptor.ts';

/** What all axes of a fetch have in common. */
export interface Sampling {
  readonly isLinear: Value;
  readonly isNormalized: Value;
}

export const samplingOf = (ir: RowBuilder, descriptor: Descriptor): Sampling => ({
  isLinear: ir.icmp(descriptor.word(textureHead.isLinear), int(ir, 0), { pred: 'ne' }),
  isNormalized: ir.icmp(descriptor.word(textureHead.isNormalized), int(ir, 0), { pred: 'ne' }),
});

export interface Axis {
  readonly size: Value;
  /** A number of `addressModes`. */
  readonly mode: Value;
}

/** The first of the texels that a fetch reads, and the weight of the next one in 256ths; 0 without a filter. */
export interface Place {
  readonly first: Value;
  readonly weight: Value;
}

const isMode = (ir: RowBuilder, { mode }: Axis, name: keyof typeof addressModes): Value =>
  ir.icmp(mode, int(ir, addressModes[name]), { pred: 'eq' });

/** The least normal number: coordinates below it are 0. */
const minNormal = 2 ** -126;
/** Coordinates are limited to this, beyond any texture. */
const farthest = 2 ** 20;
/** The same for coordinates from 0 to 1. */
const farthestPeriod = 8;
/** Textures of more texels along an axis have one more bit of a coordinate from 0 to 1. */
const manyTexels = 16_384;
const bitsOfCoordinate = 21;

/** A coordinate without what is no number of the hardware: NaN and subnormal numbers are 0. */
function numberOf(ir: RowBuilder, x: Value): Value {
  const isNumber = ir.fcmp(ir.fabs(x), single(ir, minNormal), { pred: 'oge' });
  return ir.select(isNumber, x, single(ir, 0));
}

const limited = (ir: RowBuilder, x: Value, to: number): Value => ir.fmax(ir.fmin(x, single(ir, to)), single(ir, -to));

/** A coordinate from 0 to 1 in texels, 256ths of one rounded to the nearest and the whole ones: fixed-point numbers in i64. */
function scaled(ir: RowBuilder, axis: Axis, x: Value): { readonly fixed: Value; readonly whole: Value } {
  const isPeriodic = ir.or(isMode(ir, axis, 'wrap'), isMode(ir, axis, 'mirror'));
  const isInfinite = ir.fcmp(ir.fabs(x), single(ir, Number.POSITIVE_INFINITY), { pred: 'oeq' });
  const number = ir.select(ir.and(isPeriodic, isInfinite), single(ir, 0), x);
  const extra = ir.icmp(axis.size, int(ir, manyTexels), { pred: 'ugt' });
  const power = ir.select(extra, single(ir, 2 ** (bitsOfCoordinate + 1)), single(ir, 2 ** bitsOfCoordinate));
  const bits = ir.ffloor(ir.fmul(ir.select(isPeriodic, number, limited(ir, number, farthestPeriod)), power));
  // Of a place that is repeated, or repeated and mirrored, the part behind two periods counts.
  const both = ir.fmul(power, single(ir, 2));
  const rest = ir.fsub(bits, ir.fmul(ir.ffloor(ir.fdiv(bits, both)), both));
  const product = ir.mul(ir.fptosi('i64', ir.select(isPeriodic, rest, bits)), ir.zext('i64', axis.size));
  const shift = ir.zext('i64', ir.add(int(ir, bitsOfCoordinate), ir.zext('i32', extra)));
  const half = ir.shl(ir.const('i64', 1), ir.sub(shift, ir.const('i64', 9)));
  return {
    fixed: ir.trunc('i32', ir.ashr(ir.add(product, half), ir.sub(shift, ir.const('i64', 8)))),
    whole: ir.trunc('i32', ir.ashr(product, shift)),
  };
}

/** Texels, and 256ths of one rounded to the nearest, of a coordinate in texels. */
function unscaled(ir: RowBuilder, x: Value): { readonly fixed: Value; readonly whole: Value } {
  const near = limited(ir, x, farthest);
  const parts = ir.fmul(near, single(ir, 256));
  const floor = ir.ffloor(parts);
  const isUp = ir.fcmp(ir.fsub(parts, floor), single(ir, 0.5), { pred: 'oge' });
  return { fixed: ir.add(ir.fptosi('i32', floor), ir.zext('i32', isUp)), whole: ir.fptosi('i32', ir.ffloor(near)) };
}

/** Whether what lies outside of the texture is the texel at its edge: the modes that repeat it need coordinates from 0 to 1. */
function isClamped(ir: RowBuilder, { isNormalized }: Sampling, axis: Axis): Value {
  const isPeriodic = ir.or(isMode(ir, axis, 'wrap'), isMode(ir, axis, 'mirror'));
  const isWhole = ir.xor(isNormalized, ir.const('i1', 1));
  return ir.or(isMode(ir, axis, 'clamp'), ir.and(isPeriodic, isWhole));
}

/**
 * Where a coordinate is, so many texels behind it. Hardware rounds a coordinate from 0 to 1 down to 2^-21 before it is scaled, and the place to 256ths. Outside of a
 * texture that is clamped there is no weight. Source: recorded on an NVIDIA H200.
 */
export function placeOn(ir: RowBuilder, sampling: Sampling, axis: Axis, x: Value, offset = int(ir, 0)): Place {
  const { isLinear, isNormalized } = sampling;
  const number = numberOf(ir, x);
  const [a, b] = [scaled(ir, axis, number), unscaled(ir, number)];
  const moved = ir.sub(ir.shl(offset, int(ir, 8)), int(ir, 128));
  const fixed = ir.add(ir.select(isNormalized, a.fixed, b.fixed), moved);
  const last = ir.shl(ir.sub(axis.size, int(ir, 1)), int(ir, 8));
  const isOutside = ir.or(ir.icmp(fixed, int(ir, 0), { pred: 'slt' }), ir.icmp(fixed, last, { pred: 'sge' }));
  const none = ir.or(ir.xor(isLinear, ir.const('i1', 1)), ir.and(isOutside, isClamped(ir, sampling, axis)));
  return {
    first: ir.select(isLinear, ir.ashr(fixed, int(ir, 8)), ir.add(ir.select(isNormalized, a.whole, b.whole), offset)),
    weight: ir.select(none, int(ir, 0), ir.and(fixed, int(ir, 255))),
  };
}

/** A remainder that is not negative. */
function modulo(ir: RowBuilder, number: Value, by: Value): Value {
  const rest = ir.srem(number, by);
  return ir.select(ir.icmp(rest, int(ir, 0), { pred: 'slt' }), ir.add(rest, by), rest);
}

/** The texel of a number that may be outside, by the address mode, and whether it is the border. */
export function texelOn(
  ir: RowBuilder,
  { isNormalized }: Sampling,
  axis: Axis,
  number: Value,
): { readonly at: Value; readonly isBorder: Value } {
  const { size } = axis;
  const last = ir.sub(size, int(ir, 1));
  const clamped = ir.smax(int(ir, 0), ir.smin(number, last));
  const both = ir.shl(size, int(ir, 1));
  const place = modulo(ir, number, ir.select(isMode(ir, axis, 'mirror'), both, size));
  const mirrored = ir.select(ir.icmp(place, size, { pred: 'slt' }), place, ir.sub(ir.sub(both, int(ir, 1)), place));
  const isPeriodic = ir.and(isNormalized, ir.or(isMode(ir, axis, 'wrap'), isMode(ir, axis, 'mirror')));
  const isOutside = ir.xor(ir.icmp(clamped, number, { pred: 'eq' }), ir.const('i1', 1));
  return {
    at: ir.select(isPeriodic, mirrored, clamped),
    isBorder: ir.and(isOutside, isMode(ir, axis, 'border')),
  };
}
