/** Refused: minimum and maximum of three floats. Source: PTX ISA 9.0, 9.7.3. */
import { type Row, row } from '../../model/row.ts';

const threeOperands = {
  refused: 'the minimum or maximum of three floats is not supported yet',
  instead: 'compile for an architecture before sm_100, or combine two at a time',
} as const;

const minRows = (): readonly Row[] => [
  row({
    syntax: 'min{.ftz}{.NaN}{.abs}.f32 d, a, b, c',
    types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
    since: { ptx: 8.8, sm: 100 },
    doc: 'The minimum of three floats; with `.abs`, of their absolute values.',
    source: '9.7.3.11',
    status: threeOperands,
  }),
  row({
    syntax: 'max{.ftz}{.NaN}{.abs}.f32 d, a, b, c',
    types: { d: 'f32', a: 'f32', b: 'f32', c: 'f32' },
    since: { ptx: 8.8, sm: 100 },
    doc: 'The maximum of three floats; with `.abs`, of their absolute values.',
    source: '9.7.3.12',
    status: threeOperands,
  }),
];

export const refusedFloatRows = (): readonly Row[] => minRows();
