/**
 * The instruction table: all rows, in the order of the manual, those that are refused last. One file per chapter; `compose.ts` holds what rows share. To
 * add an instruction, copy the manual's line into a row (see `docs/architecture.md`).
 */
import type { Row } from '../row.ts';
import { approximateRows } from './approximate.ts';
import { asyncCopyRows } from './async-copy.ts';
import { atomicRows } from './atomic.ts';
import { halfAtomicRows } from './atomic-half.ts';
import { bitRows } from './bits.ts';
import { carryRows } from './carry.ts';
import { compareRows } from './compare.ts';
import { compareHalfRows } from './compare-half.ts';
import { controlRows } from './control.ts';
import { convertRows } from './convert.ts';
import { convertHalfRows } from './convert-half.ts';
import { directedRows } from './directed.ts';
import { fenceRows } from './fence.ts';
import { floatRows } from './float.ts';
import { halfRows } from './half.ts';
import { hintRows } from './hints.ts';
import { integerRows } from './integer.ts';
import { refusedDataRows } from './later/data.ts';
import { refusedRows } from './later/index.ts';
import { logicRows } from './logic.ts';
import { miscRows } from './misc.ts';
import { mmaRows } from './mma.ts';
import { moveRows } from './move.ts';
import { orderedRows } from './ordered.ts';
import { pairedRows } from './pairs.ts';
import { smallFloatRows } from './small-floats.ts';
import { tileRows } from './tiles.ts';
import { videoRows } from './video.ts';
import { warpRows } from './warp.ts';
import { wmmaRows } from './wmma.ts';

/** Rows of forms that are compiled, in the order of the manual. */
const ownRows: readonly Row[] = [
  ...integerRows,
  ...carryRows,
  ...floatRows,
  ...directedRows,
  ...halfRows,
  ...pairedRows,
  ...compareRows,
  ...compareHalfRows,
  ...logicRows,
  ...bitRows,
  ...approximateRows,
  ...moveRows,
  ...orderedRows,
  ...hintRows,
  ...asyncCopyRows,
  ...atomicRows,
  ...halfAtomicRows,
  ...convertRows,
  ...convertHalfRows,
  ...smallFloatRows,
  ...controlRows,
  ...warpRows,
  ...wmmaRows,
  ...mmaRows,
  ...tileRows,
  ...fenceRows,
  ...miscRows,
  ...videoRows,
];

type Groups = ReadonlyMap<string, readonly Row[]>;

function grouped(rows: readonly Row[]): Groups {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.name);
    if (group) group.push(row);
    else groups.set(row.name, [row]);
  }
  return groups;
}

/** The rows of each opcode that are compiled: most files need no others, and these are there at the start. */
export const ownRowsByName: Groups = grouped(ownRows);

let every: { readonly rows: readonly Row[]; readonly byName: Groups } | undefined;

/** The whole table, with what is refused last; made when it is first asked for. */
function table(): NonNullable<typeof every> {
  if (!every) {
    const rows = [...ownRows, ...refusedDataRows(), ...refusedRows()];
    every = { rows, byName: grouped(rows) };
  }
  return every;
}

/** Every row. */
export const allRows = (): readonly Row[] => table().rows;

/** The rows of each opcode. */
export const rowsByName = (): Groups => table().byName;
