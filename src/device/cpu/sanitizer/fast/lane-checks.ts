/** Lanes that run, for guards: giving up for those alone. */

import type { LaneGroup } from '../../../../engine/simd/lanes/lane-group.ts';
import { pushBits } from '../../../../engine/simd/lanes/lane-masks.ts';
import { giveUpIf } from './shadow-state.ts';

/** Gives up where the condition on the stack holds, if any lane runs. */
export function giveUpIfAny(s: LaneGroup): void {
  s.code.open('if');
  if (s.mask) {
    pushBits(s);
    s.code.op('i32.eqz');
    s.code.op('i32.eqz');
    giveUpIf(s.code);
  } else s.code.op('unreachable');
  s.code.end();
}

/** Gives up where what is on the stack holds for a lane of a pack that runs. */
export function giveUpIfOf(s: LaneGroup, pack: number): void {
  if (s.mask) {
    s.code.at('local.get', s.mask[pack]!);
    s.code.op('v128.and');
  }
  s.code.op('v128.any_true');
  giveUpIf(s.code);
}
