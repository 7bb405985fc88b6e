/** Conversions that are refused. Source: PTX ISA 9.0, 9.7.9.21 and 9.7.9.22. */
import { type Row, row } from '../../row.ts';

const toNearest = ['rn', 'rz'] as const;
const floats8 = ['e4m3x2', 'e5m2x2'] as const;
const floats6 = ['e2m3x2', 'e3m2x2'] as const;
const packed = ['f16x2', 'bf16x2'] as const;
const integers = ['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64'] as const;
const ampere = { ptx: 7, sm: 80 } as const;
const hopper = { ptx: 7.8, sm: 90 } as const;
const ada = { ptx: 8.1, sm: 89 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;

const inPairs = {
  refused: 'a conversion to two halves in one register: not there yet',
  instead: 'convert one at a time: `__half` in place of `__half2`',
} as const;
const cutOff = {
  refused: 'a conversion to a half that is cut off at 0 or at the greatest finite value: not there yet',
  instead: 'bound the value with `max` and `min` first',
} as const;
const small = {
  refused: 'floats of 8, 6 or 4 bits, which no Apple GPU holds: not there yet',
  instead: 'store the values as f16 or bf16',
} as const;
const random = {
  refused: 'stochastic rounding, of which the manual does not say every bit',
  instead: 'round to nearest: `.rn`',
} as const;
const tensorFloat = {
  refused: 'the 19-bit float of NVIDIA tensor cores: not there yet',
  instead: 'leave the value in f32',
} as const;
const bfloat = {
  refused: 'a conversion of a bfloat other than with f32: not there yet',
  instead: 'convert by way of f32 where that rounds once',
} as const;
const toItself = {
  refused: 'a conversion of a type to itself: not there yet',
  instead: 'use `mov`, which copies the bits',
} as const;
const packs = {
  refused: 'integers packed into one register: not there yet',
  instead: 'bound each with `min` and `max`, and join them with `prmt` or shifts',
} as const;

const halfRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.rnd{.relu}{.satfinite}.f16.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'f16', a: 'f32' },
    since: ampere,
    doc: 'A float as a half: not below 0, or not infinite.',
    source: '9.7.9.21',
    status: cutOff,
  }),
  row({
    syntax: 'cvt.rnd{.relu}.satfinite.bf16.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'bf16', a: 'f32' },
    since: { ptx: 8.1, sm: 80 },
    doc: 'A float as a bfloat: not below 0, or not infinite.',
    source: '9.7.9.21',
    status: cutOff,
  }),
  row({
    syntax: 'cvt.rnd{.relu}{.satfinite}.type.f32 d, a, b',
    values: { rnd: toNearest, type: packed },
    types: { a: 'f32', b: 'f32' },
    since: ampere,
    doc: 'Two floats as halves in one register, a in the upper half.',
    source: '9.7.9.21',
    status: inPairs,
  }),
  row({
    syntax: 'cvt.rs{.relu}{.satfinite}.type.f32 d, a, b, random',
    values: { type: packed },
    types: { a: 'f32', b: 'f32', random: 'b32' },
    since: { ptx: 8.7, sm: 100 },
    doc: 'Two floats as halves in one register, rounded by random bits.',
    source: '9.7.9.21',
    status: random,
  }),
  row({
    syntax: 'cvt.rna{.satfinite}.tf32.f32 d, a',
    types: { d: 'b32', a: 'f32' },
    since: ampere,
    doc: 'A float with the 10 bits of mantissa that tensor cores read, ties away from 0.',
    source: '9.7.9.21',
    status: tensorFloat,
  }),
  row({
    syntax: 'cvt.rnd{.relu}{.satfinite}.tf32.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'b32', a: 'f32' },
    since: { ptx: 7.8, sm: 90 },
    doc: 'A float with the 10 bits of mantissa that tensor cores read.',
    source: '9.7.9.21',
    status: tensorFloat,
  }),
];

const smallRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.rn.satfinite{.relu}.type.f32 d, a, b',
    values: { type: [...floats8, ...floats6] },
    types: { d: 'b16', a: 'f32', b: 'f32' },
    since: ada,
    doc: 'Two floats as floats of 8 or 6 bits, a in the upper byte.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn.satfinite{.relu}.type.f16x2 d, a',
    values: { type: floats8 },
    types: { d: 'b16', a: 'f16x2' },
    since: ada,
    doc: 'Two halves as floats of 8 bits.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn{.relu}.f16x2.type d, a',
    values: { type: [...floats8, ...floats6] },
    types: { d: 'f16x2', a: 'b16' },
    since: ada,
    doc: 'Two floats of 8 or 6 bits as halves.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn.satfinite{.relu}.e2m1x2.f32 d, a, b',
    types: { d: 'b8', a: 'f32', b: 'f32' },
    since: blackwell,
    doc: 'Two floats as floats of 4 bits, a in the upper four.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn{.relu}.f16x2.e2m1x2 d, a',
    types: { d: 'f16x2', a: 'b8' },
    since: blackwell,
    doc: 'Two floats of 4 bits as halves.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn.satfinite{.relu}.e2m1x2.f16x2 d, a',
    types: { d: 'b8', a: 'f16x2' },
    since: blackwell,
    doc: 'Two halves as floats of 4 bits.',
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
    doc: 'Four floats as floats of 8 or 6 bits, rounded by random bits.',
    source: '9.7.9.21',
    status: random,
  }),
  row({
    syntax: 'cvt.rs{.relu}.satfinite.e2m1x4.f32 d, a, random',
    types: { d: 'b16', a: 'f32', random: 'b32' },
    vectors: { a: 'elements' },
    lanes: { a: 4 },
    since: { ptx: 8.7, sm: 100 },
    doc: 'Four floats as floats of 4 bits, rounded by random bits.',
    source: '9.7.9.21',
    status: random,
  }),
  row({
    syntax: 'cvt.rnd{.satfinite}.ue8m0x2.f32 d, a, b',
    values: { rnd: ['rz', 'rp'] },
    types: { d: 'b16', a: 'f32', b: 'f32' },
    since: blackwell,
    doc: 'Two floats as powers of 2 of 8 bits, a in the upper byte.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rnd{.satfinite}.ue8m0x2.bf16x2 d, a',
    values: { rnd: ['rz', 'rp'] },
    types: { d: 'b16', a: 'bf16x2' },
    since: blackwell,
    doc: 'Two bfloats as powers of 2 of 8 bits.',
    source: '9.7.9.21',
    status: small,
  }),
  row({
    syntax: 'cvt.rn.bf16x2.ue8m0x2 d, a',
    types: { d: 'bf16x2', a: 'b16' },
    since: blackwell,
    doc: 'Two powers of 2 of 8 bits as bfloats.',
    source: '9.7.9.21',
    status: small,
  }),
];

const bfloatRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.rnd.bf16.type d, a',
    values: { rnd: ['rn', 'rz', 'rm', 'rp'], type: [...integers, 'f16', 'f64'] },
    types: { d: 'bf16', a: '.type' },
    since: hopper,
    doc: 'An integer, a half or a double as a bfloat.',
    source: '9.7.9.21',
    status: bfloat,
  }),
  row({
    syntax: 'cvt.rnd.type.bf16 d, a',
    values: { rnd: ['rni', 'rzi', 'rmi', 'rpi'], type: integers },
    types: { d: '.type', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as an integer.',
    source: '9.7.9.21',
    status: bfloat,
  }),
  row({
    syntax: 'cvt.rnd.f16.bf16 d, a',
    values: { rnd: ['rn', 'rz', 'rm', 'rp'] },
    types: { d: 'f16', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as a half.',
    source: '9.7.9.21',
    status: bfloat,
  }),
  row({
    syntax: 'cvt.f64.bf16 d, a',
    types: { d: 'f64', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as a double.',
    source: '9.7.9.21',
    status: bfloat,
  }),
  row({
    syntax: 'cvt.rnd.bf16.bf16 d, a',
    values: { rnd: ['rni', 'rzi', 'rmi', 'rpi'] },
    types: { d: 'bf16', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat rounded to an integral value.',
    source: '9.7.9.21',
    status: bfloat,
  }),
];

const ownRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.bf16.bf16 d, a',
    types: { d: 'bf16', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as itself.',
    source: '9.7.9.21',
    status: toItself,
  }),
  row({
    syntax: 'cvt.ftz.f32.bf16 d, a',
    types: { d: 'f32', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as a float, subnormals as 0.',
    source: '9.7.9.21',
    status: bfloat,
  }),
  row({
    syntax: 'cvt.rnd.ftz.bf16.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'bf16', a: 'f32' },
    since: hopper,
    doc: 'A float as a bfloat, subnormals as 0.',
    source: '9.7.9.21',
    status: bfloat,
  }),
];

const packRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.pack.sat.type.s32 d, a, b',
    values: { type: ['u16', 's16'] },
    types: { d: 'b32', a: 's32', b: 's32' },
    since: { ptx: 6.5, sm: 72 },
    doc: 'Two integers as 16-bit ones in one register, saturated.',
    source: '9.7.9.22',
    status: packs,
  }),
  row({
    syntax: 'cvt.pack.sat.type.s32.b32 d, a, b, c',
    values: { type: ['u8', 's8', 'u4', 's4', 'u2', 's2'] },
    types: { d: 'b32', a: 's32', b: 's32', c: 'b32' },
    since: { ptx: 6.5, sm: 72 },
    doc: 'Two integers as smaller ones, saturated, below those that c has already.',
    source: '9.7.9.22',
    status: packs,
  }),
];

export const laterConvertRows = (): readonly Row[] => [...halfRows(), ...smallRows(), ...bfloatRows(), ...ownRows(), ...packRows()];
