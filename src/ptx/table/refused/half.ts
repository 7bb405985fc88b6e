/** Forms of half precision that are refused. Source: PTX ISA 9.0, 9.7.4. */
import { type Row, row } from '../../model/row.ts';

const outOfBounds = {
  refused: 'the NaN that stands for an element out of bounds of a tensor, which only NVIDIA hardware makes and knows',
  instead: 'use `fma` without `.oob`, and mask what lies outside',
} as const;

export const laterHalfRows = (): readonly Row[] => [
  row({
    syntax: 'fma.rn.oob{.relu}.type d, a, b, c',
    values: { type: ['f16', 'bf16', 'f16x2', 'bf16x2'] },
    since: { ptx: 8.1, sm: 90 },
    doc: 'Multiplies and adds halves; 0 where an operand is the NaN that tensor copies fill with.',
    source: '9.7.4.4',
    status: outOfBounds,
  }),
];
