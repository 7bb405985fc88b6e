/** Execution masks as the bits of an i32. */
import type { LaneGroup } from './lane-group.ts';

/** The bits of all lanes. */
export const allBits = ({ lanes }: Pick<LaneGroup['plan'], 'lanes'>): number => (lanes === 32 ? -1 : 2 ** lanes - 1);

/** Pushes a bit for each active lane. */
export function pushBits({ code, plan, mask }: LaneGroup): void {
  if (!mask) return code.i32(allBits(plan));
  for (const [pack, local] of mask.entries()) {
    code.at('local.get', local);
    bitsAt(code, pack);
  }
}

/** Converts the mask of a pack on the stack to bits at their position, combined with those of the packs before. */
export function bitsAt(code: LaneGroup['code'], pack: number): void {
  code.op('i32x4.bitmask');
  if (pack === 0) return;
  code.i32(4 * pack);
  code.op('i32.shl');
  code.op('i32.or');
}
