/**
 * The instruction table: all rows in the order of the manual. Each chapter has a file; `compose.ts` has shared code. To add
 * an instruction, copy the manual's line into a row (see `docs/architecture.md`).
 */

import { bug } from '../../base/bug.ts';
import { addTo } from '../../base/group.ts';
import type { Row } from '../model/row.ts';
import { approximateRows } from './approximate.ts';
import { asyncCopyChapter, barrierChapter, launchControlChapter, tensorMapChapter } from './async/chapters.ts';
import { proxyRows } from './async/proxies.ts';
import { asyncReductionRows, asyncStoreRows } from './async/stores.ts';
import { atomicRows } from './atomic.ts';
import { clusterAtomicRows } from './atomic-cluster.ts';
import { halfAtomicRows } from './atomic-half.ts';
import { vectorAtomicRows } from './atomic-vector.ts';
import { bitRows } from './bits.ts';
import { blackwellFloatRows } from './blackwell-floats.ts';
import { carryRows } from './carry.ts';
import { clusterAccessRows, clusterAddressRows, clusterBarrierRows, clusterFenceRows } from './cluster.ts';
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
import { lazyOpcodes } from './lazy-opcodes.ts';
import { logicRows } from './logic.ts';
import { mmaChapter, tileChapter, wgmmaChapter, wmmaChapter } from './matrix/chapters.ts';
import { miscRows } from './misc.ts';
import { moveRows } from './move.ts';
import { multimemRows } from './multimem.ts';
import { outOfBoundsRows } from './oob.ts';
import { orderedRows } from './ordered.ts';
import { pairedRows } from './pairs.ts';
import { policyRows } from './policies.ts';
import { smallFloatRows } from './small-floats.ts';
import { stackRows } from './stack.ts';
import { stochasticRows } from './stochastic.ts';
import { tensorMemoryChapter } from './tensor-memory/chapters.ts';
import { surfaceChapter, textureChapter } from './texture/chapters.ts';
import { scalarVideoChapter, videoChapter } from './video-chapters.ts';
import { warpRows } from './warp.ts';
import { wholeAtomicRows, wholeRows } from './whole.ts';
import { wideAccessRows } from './wide-access.ts';

/** Rows of compiled forms, from one or two files. */
interface Chapter {
  readonly rows: () => readonly Row[];
  /** The opcodes of a lazily loaded chapter: its rows are created on first use of one of them. */
  readonly opcodes?: readonly string[];
}

const eager = (rows: readonly Row[]): Chapter => ({ rows: () => rows });
const lazy = (opcodes: string, rows: () => readonly Row[]): Chapter => ({ rows, opcodes: opcodes.split(' ') });

/** In the order of the manual. */
export const chapters: readonly Chapter[] = [
  eager(integerRows),
  eager(carryRows),
  eager(floatRows),
  eager(directedRows),
  eager(halfRows),
  eager(pairedRows),
  eager(compareRows),
  eager(compareHalfRows),
  eager(logicRows),
  lazy(lazyOpcodes.bits, bitRows),
  eager(approximateRows),
  eager(moveRows),
  eager(orderedRows),
  eager(asyncStoreRows()),
  eager(policyRows),
  eager(clusterAccessRows()),
  eager(wideAccessRows()),
  eager(wholeRows()),
  lazy(lazyOpcodes.multimem, multimemRows),
  lazy(lazyOpcodes.launchControl, launchControlChapter),
  lazy(lazyOpcodes.clusters, clusterAddressRows),
  lazy(lazyOpcodes.hints, () => [...hintRows(), ...tensorMapChapter()]),
  lazy(lazyOpcodes.asyncCopies, asyncCopyChapter),
  lazy(lazyOpcodes.atomics, () => [
    ...atomicRows(),
    ...halfAtomicRows(),
    ...clusterAtomicRows(),
    ...vectorAtomicRows(),
    ...wholeAtomicRows(),
    ...asyncReductionRows(),
  ]),
  eager(convertRows),
  eager(convertHalfRows),
  eager(smallFloatRows),
  eager(blackwellFloatRows()),
  eager(stochasticRows()),
  eager(outOfBoundsRows()),
  lazy(lazyOpcodes.textures, textureChapter),
  lazy(lazyOpcodes.surfaces, surfaceChapter),
  eager(controlRows),
  eager(clusterBarrierRows),
  eager(stackRows),
  eager(warpRows),
  lazy(lazyOpcodes.wmma, wmmaChapter),
  lazy(lazyOpcodes.mma, mmaChapter),
  lazy(lazyOpcodes.wgmma, wgmmaChapter),
  lazy(lazyOpcodes.tensorMemory, tensorMemoryChapter),
  lazy(lazyOpcodes.tiles, tileChapter),
  lazy(lazyOpcodes.fences, () => [...fenceRows(), ...clusterFenceRows(), ...proxyRows()]),
  lazy(lazyOpcodes.barriers, barrierChapter),
  eager(miscRows),
  lazy(lazyOpcodes.scalarVideo, scalarVideoChapter),
  lazy(lazyOpcodes.video, videoChapter),
];

type Groups = ReadonlyMap<string, readonly Row[]>;

function grouped(rows: readonly Row[]): Groups {
  const groups = new Map<string, Row[]>();
  for (const row of rows) addTo(groups, row.name, row);
  return groups;
}

const groups = new Map(grouped(chapters.flatMap(({ rows, opcodes }) => (opcodes === undefined ? rows() : []))));
const lazyChapters = new Map(chapters.flatMap((chapter) => chapter.opcodes?.map((opcode) => [opcode, chapter] as const) ?? []));
const rowCache = new Map<Chapter, readonly Row[]>();

/** The rows of a chapter. Each row is created once, so that rows can be compared by identity. */
function rowsOf(chapter: Chapter): readonly Row[] {
  const rows = rowCache.get(chapter) ?? chapter.rows();
  rowCache.set(chapter, rows);
  return rows;
}

/** The compiled rows of an opcode; most files need no others. */
export function compiledRowsOf(opcode: string): readonly Row[] {
  const known = groups.get(opcode);
  if (known) return known;
  const chapter = lazyChapters.get(opcode);
  if (!chapter) return [];
  for (const [name, rows] of grouped(rowsOf(chapter))) {
    if (!chapter.opcodes!.includes(name)) bug(`the opcode ${name} is missing in lazy-opcodes.ts`);
    groups.set(name, rows);
  }
  return groups.get(opcode) ?? bug(`no row of the opcode ${opcode} in its lazy chapter`);
}

let wholeTable: { readonly rows: readonly Row[]; readonly byName: Groups } | undefined;

/** The whole table; created on first use. */
function table(): NonNullable<typeof wholeTable> {
  if (!wholeTable) {
    const rows = chapters.flatMap(rowsOf);
    wholeTable = { rows, byName: grouped(rows) };
  }
  return wholeTable;
}

/** Every row. */
export const allRows = (): readonly Row[] => table().rows;

/** The rows of each opcode. */
export const rowsByName = (): Groups => table().byName;
