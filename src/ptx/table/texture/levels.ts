/** Levels of mipmaps: which are read for a level of detail, and how they are mixed. Source: CUDA C++ Programming Guide, "Texture Fetching". */

import type { Value } from '../../../ir/index.ts';
import { textureHead } from '../../../ir/texture.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Descriptor, imageOf, int, single } from './descriptor.ts';

/** Levels are limited to this, beyond any mipmap. */
const farthest = 2 ** 12;

/** The first level that is read, and the weight of the next one in 256ths. */
export interface LevelPlace {
  readonly first: Value;
  readonly weight: Value;
}

/** The levels for a level of detail, in 256ths: without what is below one. Source: recorded on an NVIDIA H200. */
export function levelsAt(ir: RowBuilder, descriptor: Descriptor, detail: Value, isBiased = true): LevelPlace {
  const float = (offset: number): Value => ir.bitcast('f32', descriptor.word(offset));
  const parts = (value: Value): Value => ir.fmul(ir.fmax(ir.fmin(value, single(ir, farthest)), single(ir, -farthest)), single(ir, 256));
  const whole = (offset: number): Value => ir.fptosi('i32', parts(float(offset)));
  const isNumber = ir.fcmp(detail, detail, { pred: 'ord' });
  const given = ir.fptosi('i32', ir.ffloor(parts(ir.select(isNumber, detail, single(ir, 0)))));
  const biased = isBiased ? ir.add(given, whole(textureHead.levelBias)) : given;
  const limited = ir.smax(ir.smin(biased, whole(textureHead.maxLevel)), whole(textureHead.minLevel));
  const last = ir.shl(ir.sub(descriptor.word(textureHead.levels), int(ir, 1)), int(ir, 8));
  const fixed = ir.smax(ir.smin(limited, last), int(ir, 0));
  const isMipLinear = ir.icmp(descriptor.word(textureHead.isMipLinear), int(ir, 0), { pred: 'ne' });
  const nearest = ir.lshr(ir.add(fixed, int(ir, 128)), int(ir, 8));
  return {
    first: ir.select(isMipLinear, ir.lshr(fixed, int(ir, 8)), nearest),
    weight: ir.select(isMipLinear, ir.and(fixed, int(ir, 255)), int(ir, 0)),
  };
}

/** The levels of a fetch without a level of detail: the finest that the sampler allows, whatever it adds. Source: recorded on an NVIDIA H200. */
export function finestLevel(ir: RowBuilder, descriptor: Descriptor): LevelPlace {
  const isMipmap = ir.icmp(descriptor.word(textureHead.levels), int(ir, 1), { pred: 'ugt' });
  const place = (): Value[] => {
    const { first, weight } = levelsAt(ir, descriptor, single(ir, 0), false);
    return [first, weight];
  };
  const [first, weight] = ir.choose(isMipmap, place, () => [int(ir, 0), int(ir, 0)]);
  return { first: first!, weight: weight! };
}

/** The level of detail of two gradients: the logarithm to base 2 of the longer one, in texels of the first level. */
export function gradientDetail(ir: RowBuilder, descriptor: Descriptor, axes: number, gradients: readonly (readonly Value[])[]): Value {
  const { extent } = imageOf(ir, descriptor);
  const [a, b] = gradients.map((gradient) =>
    gradient
      .slice(0, axes)
      .map((each, i) => ir.fmul(each, ir.uitofp('f32', extent[i]!)))
      .map((each) => ir.fmul(each, each))
      .reduce((sum, each) => ir.fadd(sum, each)),
  ) as [Value, Value];
  return ir.fmul(ir.flog2(ir.fmax(a, b)), single(ir, 0.5));
}
