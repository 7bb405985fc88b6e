/** Levels of mipmaps: which are read for a level of detail, and how they are mixed. Source: CUDA C++ Programming Guide, "Texture Fetching". */

import type { Value } from '../../../ir/index.ts';
import { textureHead } from '../../../ir/texture.ts';
import type { RowBuilder } from '../../model/row.ts';
import { type Descriptor, imageOf, int, single } from './descriptor.ts';

/** The first level that is read, and the weight of the next one in 256ths. */
export interface LevelPlace {
  readonly first: Value;
  readonly weight: Value;
}

/** The levels for a level of detail. */
export function levelsAt(ir: RowBuilder, descriptor: Descriptor, detail: Value): LevelPlace {
  const float = (offset: number): Value => ir.bitcast('f32', descriptor.word(offset));
  const biased = ir.fadd(detail, float(textureHead.levelBias));
  const limited = ir.fmin(ir.fmax(biased, float(textureHead.minLevel)), float(textureHead.maxLevel));
  const last = ir.sub(descriptor.word(textureHead.levels), int(ir, 1));
  const inside = ir.fmin(ir.fmax(limited, single(ir, 0)), ir.uitofp('f32', last));
  const fixed = ir.fptosi('i32', ir.frint(ir.fmul(inside, single(ir, 256))));
  const isMipLinear = ir.icmp(descriptor.word(textureHead.isMipLinear), int(ir, 0), { pred: 'ne' });
  const nearest = ir.lshr(ir.add(fixed, int(ir, 127)), int(ir, 8));
  return {
    first: ir.select(isMipLinear, ir.lshr(fixed, int(ir, 8)), nearest),
    weight: ir.select(isMipLinear, ir.and(fixed, int(ir, 255)), int(ir, 0)),
  };
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
