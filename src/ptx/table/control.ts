/** Control flow (9.7.12) and barriers (9.7.13). Source: PTX ISA 9.0. */
import { row } from '../row.ts';

const always = { ptx: 1, sm: 10 } as const;
const called = { f: 'function' } as const;
const inlined = 'The body has to be in the module and comes in place of the call; functions that call themselves are refused.';

export const controlRows = [
  row({
    syntax: 'bra{.uni} a',
    types: { a: 'label' },
    since: always,
    doc: 'Goes on at a label. `.uni` promises that all threads of a warp do, which changes no result.',
    source: '9.7.12.3',
    status: 'exact',
    control: 'branch',
    cases: [],
  }),
  row({
    syntax: 'ret{.uni}',
    since: always,
    doc: 'Returns; from an entry, it ends the thread.',
    source: '9.7.12.6',
    status: 'exact',
    control: 'return',
    cases: [],
  }),
  row({
    syntax: 'exit',
    since: always,
    doc: 'Ends the thread. Barriers do not wait for it any more.',
    source: '9.7.12.7',
    status: 'exact',
    control: 'exit',
    cases: [],
  }),
  row({
    syntax: 'call{.uni} (d), f, (a)',
    types: called,
    since: always,
    doc: `Calls a function with arguments, for its result. ${inlined}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: [],
  }),
  row({
    syntax: 'call{.uni} f, (a)',
    types: called,
    since: always,
    doc: `Calls a function with arguments. ${inlined}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: [],
  }),
  row({
    syntax: 'call{.uni} f',
    types: called,
    since: always,
    doc: `Calls a function. ${inlined}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: [],
  }),
  row({
    syntax: 'bar{.cta}.sync a{, b}',
    types: { a: 'u32', b: 'u32' },
    since: always,
    doc: 'Waits for all threads of the block. Only barrier 0 without a thread count is supported.',
    source: '9.7.13.1',
    status: 'exact',
    control: 'barrier',
    cases: [],
  }),
  row({
    syntax: 'barrier{.cta}.sync{.aligned} a{, b}',
    types: { a: 'u32', b: 'u32' },
    since: { ptx: 6, sm: 30 },
    doc: 'Waits for all threads of the block. Only barrier 0 without a thread count is supported.',
    source: '9.7.13.1',
    status: 'exact',
    control: 'barrier',
    cases: [],
  }),
];
