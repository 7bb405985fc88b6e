/**
 * Instructions of the manual's later chapters that this version refuses: each form has a row that says what it is and why. A
 * row that becomes exact moves to the file of its chapter.
 */
import type { Row } from '../../model/row.ts';
import { atomicRows } from './atomic.ts';
import { laterBarrierRows } from './barrier.ts';
import { laterControlRows } from './control.ts';
import { fenceRows } from './fence.ts';
import { matrixRows } from './matrix.ts';
import { mbarrierRows } from './mbarrier.ts';
import { miscRows } from './misc.ts';
import { surfaceRows } from './surface.ts';
import { tcgen05Rows } from './tcgen05.ts';
import { textureRows } from './texture.ts';
import { warpRows } from './warp.ts';
import { wgmmaRows } from './wgmma.ts';

/** In the order of the manual. */
export const refusedRows = (): readonly Row[] => [
  ...textureRows(),
  ...surfaceRows(),
  ...laterControlRows(),
  ...laterBarrierRows(),
  ...fenceRows(),
  ...atomicRows(),
  ...warpRows(),
  ...mbarrierRows(),
  ...matrixRows(),
  ...wgmmaRows(),
  ...tcgen05Rows(),
  ...miscRows(),
];
