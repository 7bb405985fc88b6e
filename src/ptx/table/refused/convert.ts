/** Refused: conversions of small formats and with stochastic rounding. Source: PTX ISA 9.0, 9.7.9.21 and 9.7.9.22. */
import { type Row, row } from '../../model/row.ts';

const toNearest = ['rn', 'rz'] as const;
const packed = ['f16x2', 'bf16x2'] as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;

const small = {
  refused: '4-bit floats and 8-bit powers of 2 are not supported yet, and Apple GPUs do not have them',
  instead: 'store the values as f16 or bf16',
} as const;
const random = {
  refused: 'the manual does not specify every bit of stochastic rounding',
  instead: 'round to nearest: `.rn`',
} as const;
const tensorFloat = {
  refused: 'saturation of the 19-bit floats of NVIDIA tensor cores is not supported yet',
  instead: 'leave out `.satfinite` if no value is that large',
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
  row({
    syntax: 'cvt.rnd{.relu}.satfinite.tf32.f32 d, a',
    values: { rnd: ['rna', ...toNearest] },
    excludes: [{ rnd: ['rna'], relu: ['relu'] }],
    types: { d: 'b32', a: 'f32' },
    since: { ptx: 8.1, sm: 80 },
    doc: 'A float with 10 bits of mantissa, as tensor cores read it, saturated to the largest number.',
    source: '9.7.9.21',
    status: tensorFloat,
  }),
];

const smallRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.rn.satfinite{.relu}.e2m1x2.f32 d, a, b',
    types: { d: 'b8', a: 'f32', b: 'f32' },
    since: blackwell,
    doc: 'Two floats as packed 4-bit floats, a in the upper four bits.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn{.relu}.f16x2.e2m1x2 d, a',
    types: { d: 'f16x2', a: 'b8' },
    since: blackwell,
    doc: 'Two 4-bit floats as halves.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn.satfinite{.relu}.e2m1x2.f16x2 d, a',
    types: { d: 'b8', a: 'f16x2' },
    since: blackwell,
    doc: 'Two halves as 4-bit floats.',
    source: '9.7.9.21',
    status: small,
  }),
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
  row({
    syntax: 'cvt.rnd{.satfinite}.ue8m0x2.f32 d, a, b',
    values: { rnd: ['rz', 'rp'] },
    types: { d: 'b16', a: 'f32', b: 'f32' },
    since: blackwell,
    doc: 'Two floats as 8-bit powers of 2, a in the upper byte.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rnd{.satfinite}.ue8m0x2.bf16x2 d, a',
    values: { rnd: ['rz', 'rp'] },
    types: { d: 'b16', a: 'bf16x2' },
    since: blackwell,
    doc: 'Two bfloats as 8-bit powers of 2.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn.bf16x2.ue8m0x2 d, a',
    types: { d: 'bf16x2', a: 'b16' },
    since: blackwell,
    doc: 'Two 8-bit powers of 2 as bfloats.',
    source: '9.7.9.21',
    status: small,
  }),
];

export const refusedConvertRows = (): readonly Row[] => [...halfRows(), ...smallRows()];
