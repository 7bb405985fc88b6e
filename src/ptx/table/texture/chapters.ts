/**
 * The chapters of textures and surfaces, which few kernels use: this file is loaded at the first call (`scripts/lazy-modules.ts`), and exports nothing
 * but functions.
 */
import type { Row } from '../../model/row.ts';
import { surfaceQueryRows, textureQueryRows } from './queries.ts';
import { surfaceReductionRows } from './reduction.ts';
import { surfaceRows } from './surface.ts';
import { texelStoreRows } from './texel-stores.ts';
import { textureRows } from './texture.ts';

/** Textures and what is asked of them. */
export const textureChapter = (): readonly Row[] => [...textureRows(), ...textureQueryRows()];
/** Surfaces, in the order of the manual. */
export const surfaceChapter = (): readonly Row[] => [
  ...surfaceRows(),
  ...surfaceReductionRows(),
  ...texelStoreRows(),
  ...surfaceQueryRows(),
];
