/** Refused: warp reductions of floats (9.7.13.8 to 9.7.13.14). Source: PTX ISA 9.0. */
import { type Refusal, type Row, row } from '../../model/row.ts';

const notYet = (what: string): Refusal => ({
  refused: `${what} is not supported yet`,
  instead: 'exchange the values through shared memory',
});

export const warpRows = (): readonly Row[] => [
  row({
    syntax: 'redux.sync.op{.abs}{.NaN}.f32 d, a, b',
    values: { op: ['min', 'max'] },
    types: { d: 'f32', a: 'f32', b: 'u32' },
    since: { ptx: 8.6, sm: 100 },
    source: '9.7.13.12',
    status: notYet('a reduction over the warp'),
    doc: 'The minimum or maximum float over the threads of a mask.',
  }),
];
