/**
 * The chapter of tensor memory, which few kernels use: this file is loaded at the first call (`scripts/lazy-modules.ts`), and exports nothing but
 * functions.
 */
import type { Row } from '../../model/row.ts';
import { tensorMemoryRows } from './rows.ts';

/** Tensor memory, and products with matrices in it. */
export const tensorMemoryChapter = (): readonly Row[] => tensorMemoryRows();
