/** Integer forms that are refused: pairs in one register. Source: PTX ISA 9.0, 9.7.1, 9.7.8. */
import { type Row, row } from '../../row.ts';

const pairs = ['u16x2', 's16x2'] as const;
const hopper = { ptx: 8, sm: 90 } as const;

const inPairs = {
  refused: 'two 16-bit integers in one register: not there yet',
  instead: 'compile for an architecture before sm_90, for which nvcc takes the pairs apart',
} as const;
const notBelowZero = {
  refused: 'a minimum or maximum that is cut off at 0: not there yet',
  instead: 'compile for an architecture before sm_90, or write `max(x, 0)`',
} as const;
const pairRows = (): readonly Row[] => [
  row({
    syntax: 'add.type d, a, b',
    values: { type: pairs },
    since: hopper,
    doc: 'Adds 16-bit integers in pairs.',
    source: '9.7.1.1',
    status: inPairs,
  }),
  row({
    syntax: 'min{.relu}.type d, a, b',
    values: { type: pairs },
    excludes: [{ relu: ['relu'], type: ['u16x2'] }],
    since: hopper,
    doc: 'The smaller of 16-bit integers in pairs, with `.relu` not below 0.',
    source: '9.7.1.12',
    status: inPairs,
  }),
  row({
    syntax: 'max{.relu}.type d, a, b',
    values: { type: pairs },
    excludes: [{ relu: ['relu'], type: ['u16x2'] }],
    since: hopper,
    doc: 'The larger of 16-bit integers in pairs, with `.relu` not below 0.',
    source: '9.7.1.13',
    status: inPairs,
  }),
  row({
    syntax: 'min.relu.s32 d, a, b',
    types: { d: 's32', a: 's32', b: 's32' },
    since: hopper,
    doc: 'The smaller, and not below 0.',
    source: '9.7.1.12',
    status: notBelowZero,
  }),
  row({
    syntax: 'max.relu.s32 d, a, b',
    types: { d: 's32', a: 's32', b: 's32' },
    since: hopper,
    doc: 'The larger, and not below 0.',
    source: '9.7.1.13',
    status: notBelowZero,
  }),
];

const bitRows = (): readonly Row[] => [
  row({
    syntax: 'lop3.op.b32 d|p, a, b, c, table, q',
    values: { op: ['or', 'and'] },
    types: { d: 'b32', p: 'pred', a: 'b32', b: 'b32', c: 'b32', table: 'b32', q: 'pred' },
    constants: { table: [0, 255] },
    since: { ptx: 8.2, sm: 70 },
    doc: 'Any logic of three words, and whether the result is not 0, joined with a predicate.',
    source: '9.7.8.6',
    status: { refused: 'logic of three words with a predicate as a second result: not there yet', instead: 'use `lop3.b32` and `setp`' },
  }),
];

export const laterIntegerRows = (): readonly Row[] => [...pairRows(), ...bitRows()];
