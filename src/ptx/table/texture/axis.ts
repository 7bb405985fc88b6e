/** Coordinates of one axis: where a fetch is, in texels and 256ths of one, and which texels it reads. Source: CUDA C++ Programming Guide, "Texture Fetching". */

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

/** A coordinate from 0 to 1 whose texture is repeated, or repeated and mirrored, as that of the place in the texture itself. */
function inPeriod(ir: RowBuilder, axis: Axis, x: Value): Value {
  const wrapped = ir.fsub(x, ir.ffloor(x));
  const half = ir.fmul(x, single(ir, 0.5));
  const mirrored = ir.fabs(ir.fsub(x, ir.fmul(single(ir, 2), ir.frint(half))));
  return ir.select(isMode(ir, axis, 'wrap'), wrapped, ir.select(isMode(ir, axis, 'mirror'), mirrored, x));
}

/** Where a coordinate is. Far outside of the texture, it counts as a place that is outside as well. */
export function placeOn(ir: RowBuilder, { isLinear, isNormalized }: Sampling, axis: Axis, x: Value): Place {
  const scaled = ir.fmul(inPeriod(ir, axis, x), ir.uitofp('f32', axis.size));
  const texels = ir.select(isNormalized, scaled, x);
  const far = (value: Value): Value => ir.fmax(ir.fmin(value, single(ir, 2 ** 22)), single(ir, -(2 ** 22)));
  const fixed = ir.fptosi('i32', ir.frint(ir.fmul(far(ir.fsub(texels, single(ir, 0.5))), single(ir, 256))));
  const point = ir.fptosi('i32', ir.ffloor(far(texels)));
  return {
    first: ir.select(isLinear, ir.ashr(fixed, int(ir, 8)), point),
    weight: ir.select(isLinear, ir.and(fixed, int(ir, 255)), int(ir, 0)),
  };
}

/** The texel of a number that may be outside, by the address mode, and whether it is the border. */
export function texelOn(
  ir: RowBuilder,
  { isNormalized }: Sampling,
  axis: Axis,
  number: Value,
): { readonly at: Value; readonly isBorder: Value } {
  const zero = int(ir, 0);
  const { size } = axis;
  const last = ir.sub(size, int(ir, 1));
  const clamped = ir.smax(zero, ir.smin(number, last));
  const isBelow = ir.icmp(number, zero, { pred: 'slt' });
  const isAbove = ir.icmp(number, size, { pred: 'sge' });
  const wrapped = ir.select(isBelow, ir.add(number, size), ir.select(isAbove, ir.sub(number, size), number));
  const isWrapped = ir.and(isNormalized, isMode(ir, axis, 'wrap'));
  const isOutside = ir.xor(ir.icmp(clamped, number, { pred: 'eq' }), ir.const('i1', 1));
  return {
    at: ir.select(isWrapped, ir.smax(zero, ir.smin(wrapped, last)), clamped),
    isBorder: ir.and(isOutside, isMode(ir, axis, 'border')),
  };
}
