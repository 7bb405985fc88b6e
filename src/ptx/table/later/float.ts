/** Forms of single and double precision that are refused. Source: PTX ISA 9.0, 9.7.3. */
import { type Row, row } from '../../row.ts';

const ofThree = {
  refused: 'the least or greatest of three floats: not there yet',
  instead: 'compile for an architecture before sm_100, or take two of them at a time',
} as const;
const coarse = {
  refused: 'a coarse estimate of a double from a table of NVIDIA hardware, and no Apple GPU has doubles',
  instead: 'use `rcp.rn.f64` and `sqrt.rn.f64`, which the CPU device has',
} as const;

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

export const laterFloatRows = (): readonly Row[] => [...leastRows(), ...estimateRows(), ...oldRows()];
