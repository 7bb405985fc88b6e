/** Refused: saturated warp matrix products (9.7.14). Source: PTX ISA 9.0. */
import type { Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const layout = ['row', 'col'] as const;
const shapes = ['m16n16k16', 'm8n32k16', 'm32n8k16'] as const;
const half = ['f16', 'f32'] as const;

const old = { ptx: 6, sm: 70 } as const;

const fragments = { d: 'some', a: 'some', b: 'some', c: 'some' } as const;
const halves = { d: '.dtype', a: 'b32', b: 'b32', c: '.ctype' } as const;
const signs = { alayout: layout, blayout: layout } as const;

const wmmaProducts = [
  refusedGroup({
    since: old,
    source: '9.7.14.4.5',
    status: {
      refused: 'saturation of float sums was removed from PTX in version 6.5',
      instead: 'leave out `.satfinite`, and clamp the result with `min`',
    },
  })({
    syntax: 'wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype.satfinite d, a, b, c',
    values: { ...signs, shape: shapes, dtype: half, ctype: half },
    types: halves,
    vectors: fragments,
    doc: 'Multiplies matrices of halves and adds a matrix, with saturation.',
  }),
];

export const matrixRows = (): readonly Row[] => wmmaProducts;
