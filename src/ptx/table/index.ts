/**
 * The instruction table: all rows, in the order of the manual, those that are refused last. One file per chapter; `compose.ts` holds what rows share. To
 * add an instruction, copy the manual's line into a row (see `docs/architecture.md`).
 */
import { addTo } from '../../base/group.ts';
import type { Row } from '../model/row.ts';
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
import { logicRows } from './logic.ts';
import { mmaRows } from './matrix/mma.ts';
import { tileRows } from './matrix/tiles.ts';
import { wmmaRows } from './matrix/wmma.ts';
import { miscRows } from './misc.ts';
import { moveRows } from './move.ts';
import { orderedRows } from './ordered.ts';
import { pairedRows } from './pairs.ts';
import { refusedDataRows } from './refused/data.ts';
import { refusedRows } from './refused/index.ts';
import { smallFloatRows } from './small-floats.ts';
import { videoRows } from './video.ts';
import { warpRows } from './warp.ts';

/** Rows of forms that are compiled, in a file of their own. */
interface Chapter {
  readonly rows: () => readonly Row[];
  /** The opcodes, where no other file has any: the rows are made when one of these is first asked for. A spec holds this to the rows. */
  readonly opcodes?: string;
}

const now = (rows: readonly Row[]): Chapter => ({ rows: () => rows });
const late = (opcodes: string, rows: () => readonly Row[]): Chapter => ({ rows, opcodes });

const packedVideo = ['vadd', 'vsub', 'vavrg', 'vabsdiff', 'vmin', 'vmax', 'vset'].map((name) => `${name}2 ${name}4`).join(' ');

/** In the order of the manual. */
export const chapters: readonly Chapter[] = [
  now(integerRows),
  now(carryRows),
  now(floatRows),
  now(directedRows),
  now(halfRows),
  now(pairedRows),
  now(compareRows),
  now(compareHalfRows),
  now(logicRows),
  late('popc clz bfind brev bfe bfi szext bmsk fns sad mul24 mad24 dp4a dp2a lop3 shf prmt slct copysign testp', bitRows),
  now(approximateRows),
  now(moveRows),
  now(orderedRows),
  late('prefetch prefetchu applypriority', hintRows),
  late('cp', asyncCopyRows),
  late('atom red', () => [...atomicRows(), ...halfAtomicRows()]),
  now(convertRows),
  now(convertHalfRows),
  now(smallFloatRows),
  now(controlRows),
  now(warpRows),
  late('wmma', wmmaRows),
  late('mma', mmaRows),
  late('ldmatrix stmatrix movmatrix', tileRows),
  late('membar fence', fenceRows),
  now(miscRows),
  late(packedVideo, videoRows),
];

type Groups = ReadonlyMap<string, readonly Row[]>;

function grouped(rows: readonly Row[]): Groups {
  const groups = new Map<string, Row[]>();
  for (const row of rows) addTo(groups, row.name, row);
  return groups;
}

const groups = new Map(grouped(chapters.flatMap(({ rows, opcodes }) => (opcodes === undefined ? rows() : []))));
const lateChapters = new Map(chapters.flatMap((chapter) => chapter.opcodes?.split(' ').map((opcode) => [opcode, chapter] as const) ?? []));
const made = new Map<Chapter, readonly Row[]>();

/** A row is one object, whoever asks for it. */
function rowsOf(chapter: Chapter): readonly Row[] {
  const rows = made.get(chapter) ?? chapter.rows();
  made.set(chapter, rows);
  return rows;
}

/** The rows of an opcode that are compiled: most files need no others. */
export function ownRowsOf(opcode: string): readonly Row[] {
  const known = groups.get(opcode);
  if (known) return known;
  const chapter = lateChapters.get(opcode);
  if (!chapter) return [];
  for (const [name, rows] of grouped(rowsOf(chapter))) groups.set(name, rows);
  return groups.get(opcode) ?? [];
}

let every: { readonly rows: readonly Row[]; readonly byName: Groups } | undefined;

/** The whole table, with what is refused last; made when it is first asked for. */
function table(): NonNullable<typeof every> {
  if (!every) {
    const rows = [...chapters.flatMap(rowsOf), ...refusedDataRows(), ...refusedRows()];
    every = { rows, byName: grouped(rows) };
  }
  return every;
}

/** Every row. */
export const allRows = (): readonly Row[] => table().rows;

/** The rows of each opcode. */
export const rowsByName = (): Groups => table().byName;
