/** The stack (9.7.17). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusing } from './refuse.ts';

const noStack: Refusal = {
  refused: 'AIR has no stack whose size changes while a kernel runs',
  instead: 'declare a `.local` array of fixed size',
};

const stack = refusing({ since: { ptx: 7.3, sm: 52 }, source: '9.7.17.1', status: noStack });
const sizes = ['u32', 'u64'] as const;

export const laterControlRows = (): readonly Row[] => [
  stack({ syntax: 'stacksave.type d', values: { type: sizes }, doc: 'The top of the stack.' }),
  stack({ syntax: 'stackrestore.type a', values: { type: sizes }, source: '9.7.17.2', doc: 'Sets the top of the stack.' }),
  stack({
    syntax: 'alloca.type d, a{, b}',
    values: { type: sizes },
    types: { b: 'u32' },
    source: '9.7.17.3',
    doc: 'Memory of the thread on its stack, of a size that is a number in a register.',
  }),
];
