/**
 * The chapters of asynchronous copies, which few kernels use: this file is loaded at the first call (`scripts/lazy-modules.ts`), and exports nothing
 * but functions.
 */
import type { Row } from '../../model/row.ts';
import { asyncCopyRows } from '../async-copy.ts';
import { bulkRows } from './bulk.ts';
import { launchControlRows } from './launch-control.ts';
import { mbarrierRows } from './mbarrier.ts';
import { tensorRows } from './tensor.ts';
import { tensorLoadRows } from './tensor-loads.ts';
import { tensorMapRows } from './tensor-map-rows.ts';

/** Copies of elements, of blocks of memory and of tensors. */
export const asyncCopyChapter = (): readonly Row[] => [...asyncCopyRows(), ...bulkRows(), ...tensorLoadRows(), ...tensorRows()];
/** Descriptions of tensors. */
export const tensorMapChapter = (): readonly Row[] => tensorMapRows();
/** Barriers in memory. */
export const barrierChapter = (): readonly Row[] => mbarrierRows();
/** Work that a block takes over from one that has not started. */
export const launchControlChapter = (): readonly Row[] => launchControlRows();
