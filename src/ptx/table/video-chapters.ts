/**
 * The chapters of video instructions, which few kernels use: this file is loaded at the first call (`scripts/lazy-modules.ts`), and exports nothing
 * but functions.
 */
import type { Row } from '../model/row.ts';
import { videoRows } from './video.ts';
import { scalarVideoRows } from './video-scalar.ts';

/** Of one value. */
export const scalarVideoChapter = (): readonly Row[] => scalarVideoRows();
/** Of two and four values in a word. */
export const videoChapter = (): readonly Row[] => videoRows();
