/** Refused: conversions to small floats with stochastic rounding. Source: PTX ISA 9.0, 9.7.9.21 and 9.7.9.22. */
import { type Row, row } from '../../model/row.ts';

const random = {
  refused: 'a number has more bits to round than there are random bits, and where these are added is not documented',
  instead: 'round to nearest: `.rn`',
} as const;

const smallRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.rs{.relu}.satfinite.type.f32 d, a, random',
    values: { type: ['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4'] },
    types: { d: 'b32', a: 'f32', random: 'b32' },
    vectors: { a: 'elements' },
    lanes: { a: 4 },
    since: { ptx: 8.7, sm: 100 },
    doc: 'Four floats as 8-bit or 6-bit floats, with stochastic rounding.',
    source: '9.7.9.21',
    status: random,
  }),
  row({
    syntax: 'cvt.rs{.relu}.satfinite.e2m1x4.f32 d, a, random',
    types: { d: 'b16', a: 'f32', random: 'b32' },
    vectors: { a: 'elements' },
    lanes: { a: 4 },
    since: { ptx: 8.7, sm: 100 },
    doc: 'Four floats as 4-bit floats, with stochastic rounding.',
    source: '9.7.9.21',
    status: random,
  }),
];

export const refusedConvertRows = (): readonly Row[] => smallRows();
