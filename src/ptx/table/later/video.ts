/** The video instruction that is refused. Source: PTX ISA 9.0, 9.7.18.3. */
import { type Row, row } from '../../row.ts';

const words = ['u32', 's32'] as const;
const scales = ['shr7', 'shr15'] as const;
const video = {
  refused: 'products of parts of registers with a sum of 65 bits: not there yet',
  instead: 'use `mad.wide` or `mad.lo` with `bfe`, and shift the result',
} as const;

export const laterVideoRows = (): readonly Row[] => [
  row({
    syntax: 'vmad.dtype.atype.btype{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: scales },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    since: { ptx: 2, sm: 20 },
    doc: 'Multiplies words, bytes or halves and adds c, any of them negated, shifted to the right.',
    source: '9.7.18.3',
    status: video,
  }),
  row({
    syntax: 'vmad.dtype.atype.btype.po{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: scales },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    since: { ptx: 2, sm: 20 },
    doc: 'Multiplies words, bytes or halves and adds c and 1, shifted to the right.',
    source: '9.7.18.3',
    status: video,
  }),
];
