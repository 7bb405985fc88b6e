/** Checks without memory: the range of numbers that addresses are computed from, and masks that name all lanes. */
import { type LaneGroup, longOf, maskPart, shapeOf } from '../../../../engine/simd/lanes/lane-group.ts';
import { allBits, pushBits } from '../../../../engine/simd/lanes/lane-masks.ts';
import { longs, words } from '../../../../engine/simd/lanes/vectors.ts';
import { type InstOf, uniform, type Value, varying } from '../../../../ir/index.ts';
import { bailOutIfAny, bailOutIfPack } from './lane-checks.ts';
import { bailOutIf } from './shadow-state.ts';

/** Affine values with a smaller stride do not wrap between the first and the last lane. */
const maxEndStride = 2 ** 18;

/** Whether checking the first and the last lane covers all lanes. */
const areEndsEnough = (s: LaneGroup, value: Value): boolean =>
  shapeOf(s, value) !== varying && (shapeOf(s, value) === uniform || Math.abs(s.plan.shapes.stride[value]!) < maxEndStride);

/** Bails out if the 32-bit value of an active lane plus `shift` is not below the limit; `from` may subtract something first. */
export function writeBelow(
  s: LaneGroup,
  value: Value,
  { shift, limit }: { shift: number; limit: number },
  from?: { scalar(): void; part(pack: number): void },
): void {
  const { code } = s;
  const ends = areEndsEnough(s, value);
  if (ends) {
    for (const ahead of shapeOf(s, value) === uniform ? [0] : [0, (s.plan.lanes - 1) * s.plan.shapes.stride[value]!]) {
      s.scalar(value);
      from?.scalar();
      code.i32((shift + ahead) | 0);
      code.op('i32.add');
      code.i32(limit | 0);
      code.op('i32.ge_u');
      if (ahead !== 0) code.op('i32.or');
    }
    if (!s.mask) return bailOutIf(code);
    code.open('if');
  }
  for (let pack = 0; pack < s.plan.packs; pack++) {
    s.part(value, pack);
    from?.part(pack);
    code.v128(words(shift));
    code.op('i32x4.add');
    code.v128(words(limit));
    code.op('i32x4.ge_u');
    bailOutIfPack(s, pack);
  }
  if (ends) code.end();
}

/** Bails out if a number exceeds its limit. The limit itself fails too, so that one comparison checks both ends. */
export function writeWithin(s: LaneGroup, { a, limit, isSigned }: InstOf<'within'>): void {
  if (!longOf(s, a)) return writeBelow(s, a, isSigned ? { shift: limit, limit: 2 * limit } : { shift: 0, limit });
  const { code } = s;
  const [min, max] = [BigInt(isSigned ? -limit : 0), BigInt(limit)];
  if (shapeOf(s, a) === uniform) {
    s.scalar(a);
    code.i64(-min);
    code.op('i64.add');
    code.i64(max - min);
    code.op('i64.ge_u');
    return bailOutIfAny(s);
  }
  for (let part = 0; part < 2 * s.plan.packs; part++) {
    for (const [op, bound] of [
      ['i64x2.lt_s', min],
      ['i64x2.ge_s', max],
    ] as const) {
      s.part(a, part);
      code.v128(longs(bound));
      code.op(op);
    }
    code.op('v128.or');
    if (s.mask) {
      maskPart(s, part, true);
      code.op('v128.and');
    }
    code.op('v128.any_true');
    bailOutIf(code);
  }
}

/** Checks that all threads of the warp are active, for a mask that names all lanes. */
export function writeMembers(s: LaneGroup): void {
  if (!s.mask) return;
  const { code, plan } = s;
  const left = plan.threads % plan.lanes;
  pushBits(s);
  code.i32(allBits(s.plan));
  if (left > 0) {
    code.i32(2 ** left - 1);
    code.at('local.get', s.frame.first);
    code.i32(plan.threads - left);
    code.op('i32.lt_u');
    code.op('select');
  }
  code.op('i32.ne');
  bailOutIf(code);
}
