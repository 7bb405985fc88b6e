/**
 * The instruction table: all rows, in the order of the manual. One file per chapter; `compose.ts` holds what rows share. To
 * add an instruction, copy the manual's line into a row (see `docs/architecture.md`).
 */
import type { Row } from '../row.ts';
import { compareRows } from './compare.ts';
import { controlRows } from './control.ts';
import { convertRows } from './convert.ts';
import { floatRows } from './float.ts';
import { integerRows } from './integer.ts';
import { laterRows } from './later.ts';
import { logicRows } from './logic.ts';
import { moveRows } from './move.ts';

/** Every row. */
export const rows: readonly Row[] = [
  ...integerRows,
  ...floatRows,
  ...compareRows,
  ...logicRows,
  ...moveRows,
  ...convertRows,
  ...controlRows,
  ...laterRows,
];

function grouped(): ReadonlyMap<string, readonly Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.name);
    if (group) group.push(row);
    else groups.set(row.name, [row]);
  }
  return groups;
}

/** The rows of each opcode. */
export const rowsByName = grouped();

/** Opcodes of PTX ISA 9.0, chapter 9, without a row: legal, and refused by this version. */
export const opcodesWithoutRow: ReadonlySet<string> = new Set(
  `sad mul24 mad24 popc clz bfind fns brev bfe bfi szext bmsk dp4a dp2a addc subc madc testp copysign rsqrt sin cos lg2 ex2 tanh slct
  lop3 shf shfl prmt ldmatrix stmatrix isspacep mapa getctarank cp prefetch prefetchu applypriority discard createpolicy istypep
  tensormap multimem tex tld4 txq suld sust sured suq call brx alloca stacksave stackrestore activemask atom red vote match redux
  membar fence elect griddepcontrol mbarrier wmma mma wgmma tcgen05 vadd vsub vabsdiff vmin vmax vshl vshr vmad vset
  vadd2 vsub2 vavrg2 vabsdiff2 vmin2 vmax2 vset2 vadd4 vsub4 vavrg4 vabsdiff4 vmin4 vmax4 vset4 brkpt nanosleep pmevent setmaxnreg
  trap clusterlaunchcontrol movmatrix`.split(/\s+/),
);
