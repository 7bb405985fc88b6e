/**
 * Forms of arithmetic, conversions and data movement (9.7.1 to 9.7.9, 9.7.18) that this version refuses: each has a row that says
 * what it is and why. They stand after all exact rows, so that a form which is both is exact.
 */
import type { Row } from '../../model/row.ts';
import { laterAddressRows } from './address.ts';
import { laterCopyRows } from './async-copy.ts';
import { laterConvertRows } from './convert.ts';
import { laterFloatRows } from './float.ts';
import { laterHalfRows } from './half.ts';
import { laterMemoryRows } from './memory.ts';
import { laterTensorRows } from './tensor-map.ts';
import { laterVideoRows } from './video.ts';

/** In the order of the manual. */
export const refusedDataRows = (): readonly Row[] => [
  ...laterFloatRows(),
  ...laterHalfRows(),
  ...laterAddressRows(),
  ...laterMemoryRows(),
  ...laterCopyRows(),
  ...laterTensorRows(),
  ...laterConvertRows(),
  ...laterVideoRows(),
];
