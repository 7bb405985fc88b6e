/** Refused: conversions with stochastic rounding. Source: PTX ISA 9.0, 9.7.9.21 and 9.7.9.22. */
import { type Row, row } from '../../model/row.ts';

const packed = ['f16x2', 'bf16x2'] as const;

const random = {
  refused: 'the manual does not specify every bit of stochastic rounding',
  instead: 'round to nearest: `.rn`',
} as const;

const halfRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.rs{.relu}{.satfinite}.type.f32 d, a, b, random',
    values: { type: packed },
    types: { a: 'f32', b: 'f32', random: 'b32' },
    since: { ptx: 8.7, sm: 100 },
    doc: 'Two floats as packed halves, with stochastic rounding.',
    source: '9.7.9.21',
    status: random,
  }),
];

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

export const refusedConvertRows = (): readonly Row[] => [...halfRows(), ...smallRows()];
