/** Refused: dynamic stack allocation (9.7.17). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noStack: Refusal = {
  refused: 'AIR has no stack that changes its size while a kernel runs',
  instead: 'declare a `.local` array of fixed size',
};

const stack = refusedGroup({ since: { ptx: 7.3, sm: 52 }, source: '9.7.17.1', status: noStack });
const sizes = ['u32', 'u64'] as const;

export const refusedControlRows = (): readonly Row[] => [
  stack({ syntax: 'stacksave.type d', values: { type: sizes }, doc: 'Returns the stack pointer.' }),
  stack({ syntax: 'stackrestore.type a', values: { type: sizes }, source: '9.7.17.2', doc: 'Sets the stack pointer.' }),
  stack({
    syntax: 'alloca.type d, a{, b}',
    values: { type: sizes },
    types: { b: 'u32' },
    source: '9.7.17.3',
    doc: 'Allocates stack memory of a size in a register.',
  }),
];
