/** Numbers that addresses are made of are small enough, and masks name all lanes: guards that touch no memory. */

import { longOf, maskPart, type Strip, shapeOf } from '../../../../engine/simd/lanes/lane-group.ts';
import { allBits, pushBits } from '../../../../engine/simd/lanes/lane-masks.ts';
import { longs, words } from '../../../../engine/simd/lanes/vectors.ts';
import type { InstOf, Value } from '../../../../ir/index.ts';
import { giveUpIfAny, giveUpIfOf } from './lane-checks.ts';
import { giveUpIf } from './shadow-state.ts';

/** Strides below this lead to the last lane without a way past the least number and the most. */
const gentle = 2 ** 18;

/** Whether the first and the last lane tell of all. */
const areEndsEnough = (s: Strip, value: Value): boolean =>
  shapeOf(s, value) < 2 && (shapeOf(s, value) === 0 || Math.abs(s.plan.shapes.stride[value]!) < gentle);

/** Gives up where a word of a lane that runs, with `shift` added, is not below a limit; `push` may take something from it first. */
export function writeBelow(
  s: Strip,
  value: Value,
  { shift, limit }: { shift: number; limit: number },
  from?: { scalar(): void; part(pack: number): void },
): void {
  const { code } = s;
  const ends = areEndsEnough(s, value);
  if (ends) {
    for (const ahead of shapeOf(s, value) === 0 ? [0] : [0, (s.plan.lanes - 1) * s.plan.shapes.stride[value]!]) {
      s.scalar(value);
      from?.scalar();
      code.i32((shift + ahead) | 0);
      code.op('i32.add');
      code.i32(limit | 0);
      code.op('i32.ge_u');
      if (ahead !== 0) code.op('i32.or');
    }
    if (!s.mask) return giveUpIf(code);
    code.open('if');
  }
  for (let pack = 0; pack < s.plan.packs; pack++) {
    s.part(value, pack);
    from?.part(pack);
    code.v128(words(shift));
    code.op('i32x4.add');
    code.v128(words(limit));
    code.op('i32x4.ge_u');
    giveUpIfOf(s, pack);
  }
  if (ends) code.end();
}

/** Gives up where a number is above its limit. The limit itself is refused too: one comparison then checks both ends. */
export function writeWithin(s: Strip, { a, limit, isSigned }: InstOf<'within'>): void {
  if (!longOf(s, a)) return writeBelow(s, a, isSigned ? { shift: limit, limit: 2 * limit } : { shift: 0, limit });
  const { code } = s;
  const [least, most] = [BigInt(isSigned ? -limit : 0), BigInt(limit)];
  if (shapeOf(s, a) === 0) {
    s.scalar(a);
    code.i64(-least);
    code.op('i64.add');
    code.i64(most - least);
    code.op('i64.ge_u');
    return giveUpIfAny(s);
  }
  for (let part = 0; part < 2 * s.plan.packs; part++) {
    for (const [op, bound] of [
      ['i64x2.lt_s', least],
      ['i64x2.ge_s', most],
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
    giveUpIf(code);
  }
}

/** All threads that the warp has come to its mask, which names all. */
export function writeMembers(s: Strip): void {
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
  giveUpIf(code);
}
