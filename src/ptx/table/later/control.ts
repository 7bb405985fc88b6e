/** Calls through pointers (9.7.12), and the stack (9.7.17). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../row.ts';
import { refusing } from './refuse.ts';

const noPointers: Refusal = {
  refused: 'calls through a pointer are not there yet',
  instead: 'choose among functions with `switch`, and call them by name',
};
const noStack: Refusal = {
  refused: 'AIR has no stack whose size changes while a kernel runs',
  instead: 'declare a `.local` array of fixed size',
};

const indirect = refusing({ since: { ptx: 2.1, sm: 20 }, source: '9.7.12.5', status: noPointers });
const stack = refusing({ since: { ptx: 7.3, sm: 52 }, source: '9.7.17.1', status: noStack });
const pointer = { f: 'u64', t: 'label' } as const;
const sizes = ['u32', 'u64'] as const;

export const laterControlRows = (): readonly Row[] => [
  indirect({
    syntax: 'call{.uni} (d), f, (a), t',
    types: pointer,
    doc: 'Calls a function by its address, for its result; `t` labels the list of its targets or its prototype.',
  }),
  indirect({ syntax: 'call{.uni} f, (a), t', types: pointer, doc: 'Calls a function by its address, with arguments.' }),
  indirect({ syntax: 'call{.uni} f, t', types: pointer, doc: 'Calls a function by its address.' }),
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
