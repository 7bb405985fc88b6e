/**
 * Refused rows: legal PTX that this version does not compile. Each row has the reason and a remedy, which the checker reports and
 * `docs/ptx.md` lists. They come after all compiled rows, so that a form with both kinds of rows is compiled. To support a form, delete its
 * row here and add a compiled row to the file of its chapter.
 */
import type { Row } from '../../model/row.ts';
import { refusedConvertRows } from './convert.ts';
import { matrixRows } from './matrix.ts';
import { refusedSurfaceRows } from './surface.ts';
import { tcgen05Rows } from './tcgen05.ts';
import { refusedTensorRows } from './tensor-map.ts';
import { refusedTextureRows } from './texture.ts';
import { refusedVideoRows } from './video.ts';

/** Arithmetic, data movement, conversions and scalar video instructions first, then the other chapters in the order of the manual. */
export const refusedRows = (): readonly Row[] => [
  ...refusedTensorRows(),
  ...refusedConvertRows(),
  ...refusedVideoRows(),
  ...refusedTextureRows(),
  ...refusedSurfaceRows(),
  ...matrixRows(),
  ...tcgen05Rows(),
];
