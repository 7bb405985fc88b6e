/**
 * The chapters of matrices, which few kernels use: this file is loaded at the first call (`scripts/lazy-modules.ts`), and exports nothing but functions.
 */
import type { Row } from '../../model/row.ts';
import { byteTileRows } from './byte-tiles.ts';
import { mmaRows } from './mma.ts';
import { scaledMmaRows } from './mma-scaled.ts';
import { sparseMmaRows } from './mma-sparse.ts';
import { tileRows } from './tiles.ts';
import { wgmmaRows } from './wgmma.ts';
import { wmmaRows } from './wmma.ts';

/** Products of the fragments of a warp. */
export const mmaChapter = (): readonly Row[] => [...mmaRows(), ...sparseMmaRows(), ...scaledMmaRows()];
/** Products of whole fragments, and their loads and stores. */
export const wmmaChapter = (): readonly Row[] => wmmaRows();
/** Products of a warp group. */
export const wgmmaChapter = (): readonly Row[] => wgmmaRows();
/** Loads and stores of tiles. */
export const tileChapter = (): readonly Row[] => [...tileRows(), ...byteTileRows()];
