/** Lanes that run, for guards: as bits, and giving up for those alone. */
import type { Strip } from '../strips/strip.ts';
import { giveUpIf } from './state.ts';

/** Gives up where the condition on the stack holds, if any lane runs. */
export function giveUpIfAny(s: Strip): void {
  s.code.open('if');
  if (s.mask) {
    pushBits(s);
    s.code.op('i32.eqz');
    s.code.op('i32.eqz');
    giveUpIf(s.code);
  } else s.code.op('unreachable');
  s.code.end();
}

/** The bits of all lanes. */
export const allBits = ({ plan: { lanes } }: Strip): number => (lanes === 32 ? -1 : 2 ** lanes - 1);

/** A bit for each lane that runs. */
export function pushBits(s: Strip): void {
  if (!s.mask) return s.code.i32(allBits(s));
  s.mask.forEach((mask, pack) => {
    s.code.at('local.get', mask);
    s.code.op('i32x4.bitmask');
    if (pack === 0) return;
    s.code.i32(4 * pack);
    s.code.op('i32.shl');
    s.code.op('i32.or');
  });
}

/** Gives up where what is on the stack holds for a lane of a pack that runs. */
export function giveUpIfOf(s: Strip, pack: number): void {
  if (s.mask) {
    s.code.at('local.get', s.mask[pack]!);
    s.code.op('v128.and');
  }
  s.code.op('v128.any_true');
  giveUpIf(s.code);
}
