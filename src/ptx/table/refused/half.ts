/** Refused: half-precision fused multiply-add with out-of-bounds NaNs. Source: PTX ISA 9.0, 9.7.4. */
import { type Row, row } from '../../model/row.ts';

const outOfBounds = {
  refused: 'only NVIDIA hardware produces and recognizes the NaN of an out-of-bounds tensor element',
  instead: 'use `fma` without `.oob`, and mask elements out of bounds',
} as const;

export const refusedHalfRows = (): readonly Row[] => [
  row({
    syntax: 'fma.rn.oob{.relu}.type d, a, b, c',
    values: { type: ['f16', 'bf16', 'f16x2', 'bf16x2'] },
    since: { ptx: 8.1, sm: 90 },
    doc: 'Multiplies and adds halves. The result is 0 if an operand is the NaN that tensor copies use as padding.',
    source: '9.7.4.4',
    status: outOfBounds,
  }),
];
