/** Forms of single and double precision that are refused. Source: PTX ISA 9.0, 9.7.3, 9.7.5. */
import { type Row, row } from '../../row.ts';

const roundings = ['rn', 'rz', 'rm', 'rp'] as const;
const halves = ['f16', 'bf16'] as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;

const inPairs = {
  refused: 'two floats in one register: not there yet',
  instead: 'compile for an architecture before sm_100, for which nvcc takes the pairs apart',
} as const;
const mixed = {
  refused: 'an operand that is a half, the others being floats: not there yet',
  instead: 'convert it to f32 first, which is exact',
} as const;
const ofThree = {
  refused: 'the least or greatest of three floats: not there yet',
  instead: 'compile for an architecture before sm_100, or take two of them at a time',
} as const;
const coarse = {
  refused: 'a coarse estimate of a double from a table of NVIDIA hardware, and no Apple GPU has doubles',
  instead: 'use `rcp.rn.f64` and `sqrt.rn.f64`, which the CPU device has',
} as const;

const pairRows = (): readonly Row[] => [
  row({
    syntax: 'add{.rnd}{.ftz}.f32x2 d, a, b',
    values: { rnd: roundings },
    types: { d: 'b64', a: 'b64', b: 'b64' },
    since: blackwell,
    doc: 'Adds floats in pairs.',
    source: '9.7.3.3',
    status: inPairs,
  }),
  row({
    syntax: 'sub{.rnd}{.ftz}.f32x2 d, a, b',
    values: { rnd: roundings },
    types: { d: 'b64', a: 'b64', b: 'b64' },
    since: blackwell,
    doc: 'Subtracts floats in pairs.',
    source: '9.7.3.4',
    status: inPairs,
  }),
  row({
    syntax: 'mul{.rnd}{.ftz}.f32x2 d, a, b',
    values: { rnd: roundings },
    types: { d: 'b64', a: 'b64', b: 'b64' },
    since: blackwell,
    doc: 'Multiplies floats in pairs.',
    source: '9.7.3.5',
    status: inPairs,
  }),
  row({
    syntax: 'fma.rnd{.ftz}.f32x2 d, a, b, c',
    values: { rnd: roundings },
    types: { d: 'b64', a: 'b64', b: 'b64', c: 'b64' },
    since: blackwell,
    doc: 'Multiplies and adds floats in pairs, rounding once.',
    source: '9.7.3.6',
    status: inPairs,
  }),
];

const mixedRows = (): readonly Row[] => [
  row({
    syntax: 'add{.rnd}{.sat}.f32.atype d, a, b',
    values: { rnd: roundings, atype: halves },
    types: { d: 'f32', a: '.atype', b: 'f32' },
    since: blackwell,
    doc: 'Adds a half to a float.',
    source: '9.7.5.1',
    status: mixed,
  }),
  row({
    syntax: 'sub{.rnd}{.sat}.f32.atype d, a, b',
    values: { rnd: roundings, atype: halves },
    types: { d: 'f32', a: '.atype', b: 'f32' },
    since: blackwell,
    doc: 'Subtracts a float from a half.',
    source: '9.7.5.2',
    status: mixed,
  }),
  row({
    syntax: 'fma.rnd{.sat}.f32.abtype d, a, b, c',
    values: { rnd: roundings, abtype: halves },
    types: { d: 'f32', a: '.abtype', b: '.abtype', c: 'f32' },
    since: blackwell,
    doc: 'Multiplies two halves and adds a float, rounding once.',
    source: '9.7.5.3',
    status: mixed,
  }),
];

const leastRows = (): readonly Row[] => [
  row({
    syntax: 'min{.ftz}{.NaN}{.abs}.f32 d, a, b, c',
    types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
    since: { ptx: 8.8, sm: 100 },
    doc: 'The least of three, with `.abs` of their absolute values.',
    source: '9.7.3.11',
    status: ofThree,
  }),
  row({
    syntax: 'max{.ftz}{.NaN}{.abs}.f32 d, a, b, c',
    types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
    since: { ptx: 8.8, sm: 100 },
    doc: 'The greatest of three, with `.abs` of their absolute values.',
    source: '9.7.3.12',
    status: ofThree,
  }),
];

const estimateRows = (): readonly Row[] => [
  row({
    syntax: 'rcp.approx.ftz.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 2.1, sm: 20 },
    doc: 'An estimate of the reciprocal of a double, from its upper half.',
    source: '9.7.3.14',
    status: coarse,
  }),
  row({
    syntax: 'rsqrt.approx{.ftz}.f64 d, a',
    types: { d: 'f64', a: 'f64' },
    since: { ptx: 1, sm: 13 },
    doc: 'An estimate of 1 by the square root of a double; `.ftz` reads only its upper half.',
    source: '9.7.3.17',
    status: coarse,
  }),
];

/** Without a word for the rounding, which later architectures demand. */
const oldRows = (): readonly Row[] => [
  row({
    syntax: 'mad{.ftz}{.sat}.f32 d, a, b, c',
    types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
    since: { ptx: 1, sm: 10 },
    doc: 'The multiply-add of sm_1x.',
    source: '9.7.3.7',
    status: {
      refused: 'the multiply-add of sm_1x, which cuts the product off where later architectures do not round it at all',
      instead: 'compile for sm_20 or above, and write `fma.rn.f32`',
    },
  }),
];

export const laterFloatRows = (): readonly Row[] => [...pairRows(), ...mixedRows(), ...leastRows(), ...estimateRows(), ...oldRows()];
