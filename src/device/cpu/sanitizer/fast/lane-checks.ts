/** Bails out of vectorized code if a condition holds for an active lane. */
import type { LaneGroup } from '../../../../engine/simd/lanes/lane-group.ts';
import { pushBits } from '../../../../engine/simd/lanes/lane-masks.ts';
import { bailOutIf } from './shadow-state.ts';

/** Bails out if the condition on the stack holds and any lane is active. */
export function bailOutIfAny(s: LaneGroup): void {
  s.code.open('if');
  if (s.mask) {
    pushBits(s);
    s.code.op('i32.eqz');
    s.code.op('i32.eqz');
    bailOutIf(s.code);
  } else s.code.op('unreachable');
  s.code.end();
}

/** Bails out if the vector condition on the stack holds for an active lane of a pack. */
export function bailOutIfPack(s: LaneGroup, pack: number): void {
  if (s.mask) {
    s.code.at('local.get', s.mask[pack]!);
    s.code.op('v128.and');
  }
  s.code.op('v128.any_true');
  bailOutIf(s.code);
}
