/** Control flow (9.7.12) and barriers (9.7.13). Source: PTX ISA 9.0. */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';

const always = { ptx: 1, sm: 10 } as const;
const fermi = { ptx: 2.1, sm: 20 } as const;
const called = { f: 'function' } as const;
const pointed = { f: 'u64', t: 'label' } as const;
const byNumber =
  'Functions have numbers for addresses. It may be any whose address the module takes and that has the parameters of the prototype, or one of a list; a number of none of them stops the kernel.';
const inlined = 'The body has to be in the module and comes in place of the call; functions that call themselves are refused.';

/** Barriers of the whole block; `src/lower` refuses the others. */
const wholeBlock = 'Only barrier 0 without a thread count is supported.';
const count = 'Waits for all threads of the block, and counts those for which a predicate holds (`__syncthreads_count()`).';
const judge =
  'Waits for all threads of the block, and tells whether a predicate holds for all (`__syncthreads_and()`) or for any (`__syncthreads_or()`).';
const inWord =
  'Threads that have left the kernel neither wait nor count. Takes a word of shared memory of the kernel and two barriers more.';

/** The old and the new spelling of barriers that vote. */
const votes = [
  { name: 'bar', aligned: '', since: { ptx: 2, sm: 20 } },
  { name: 'barrier', aligned: '{.aligned}', since: { ptx: 6, sm: 30 } },
] as const;

type Together = 'popc' | 'and' | 'or';

/**
 * What the threads of the block make of a predicate, in a word that all set to what changes nothing, then those change for
 * whom it matters, then all read. Behind the last barrier the word is free for the next.
 */
function overBlock(ir: RowBuilder, how: Together, c: Value): Value {
  const [word, one] = [ir.blockWord(), ir.const('i32', 1)];
  const plain = { align: 4, volatile: false } as const;
  ir.store(word, how === 'and' ? one : ir.const('i32', 0), plain);
  ir.barrier();
  if (how === 'and') ir.when(ir.xor(c, ir.const('i1', 1)), () => void ir.atomic(word, ir.const('i32', 0), { rmw: 'and' }));
  else ir.when(c, () => void ir.atomic(word, one, { rmw: how === 'popc' ? 'add' : 'or' }));
  ir.barrier();
  const found = ir.load('i32', word, plain);
  ir.barrier();
  return how === 'popc' ? found : ir.icmp(found, ir.const('i32', 0), { pred: 'ne' });
}

export const controlRows = [
  row({
    syntax: 'bra{.uni} a',
    types: { a: 'label' },
    since: always,
    doc: 'Goes on at a label. `.uni` promises that all threads of a warp do, which changes no result.',
    source: '9.7.12.3',
    status: 'exact',
    control: 'branch',
    cases: () => [],
  }),
  row({
    syntax: 'brx.idx{.uni} a, t',
    types: { a: 'u32', t: 'targets' },
    since: { ptx: 6, sm: 30 },
    doc: 'Goes on at the label of a list that an index picks, the first being number 0. An index behind the list picks the last, where the manual leaves it open.',
    source: '9.7.12.4',
    status: 'exact',
    control: 'branch',
    cases: () => [],
  }),
  row({
    syntax: 'ret{.uni}',
    since: always,
    doc: 'Returns; from an entry, it ends the thread.',
    source: '9.7.12.6',
    status: 'exact',
    control: 'return',
    cases: () => [],
  }),
  row({
    syntax: 'exit',
    since: always,
    doc: 'Ends the thread. Barriers do not wait for it any more.',
    source: '9.7.12.7',
    status: 'exact',
    control: 'exit',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} (d), f, (a)',
    types: called,
    since: always,
    doc: `Calls a function with arguments, for its result. ${inlined}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} f, (a)',
    types: called,
    since: always,
    doc: `Calls a function with arguments. ${inlined}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} f',
    types: called,
    since: always,
    doc: `Calls a function. ${inlined}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} (d), f, (a), t',
    types: pointed,
    since: fermi,
    doc: `Calls the function whose address a register has, for its result; \`t\` labels its prototype or the list of its targets. ${byNumber}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} f, (a), t',
    types: pointed,
    since: fermi,
    doc: `Calls the function whose address a register has, with arguments. ${byNumber}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} f, t',
    types: pointed,
    since: fermi,
    doc: `Calls the function whose address a register has. ${byNumber}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'bar{.cta}.sync a{, b}',
    types: { a: 'u32', b: 'u32' },
    since: always,
    doc: `Waits for all threads of the block. ${wholeBlock}`,
    source: '9.7.13.1',
    status: 'exact',
    control: 'barrier',
    cases: () => [],
  }),
  row({
    syntax: 'barrier{.cta}.sync{.aligned} a{, b}',
    types: { a: 'u32', b: 'u32' },
    since: { ptx: 6, sm: 30 },
    doc: `Waits for all threads of the block. ${wholeBlock}`,
    source: '9.7.13.1',
    status: 'exact',
    control: 'barrier',
    cases: () => [],
  }),
  ...votes.flatMap(({ name, aligned, since }) => [
    row({
      syntax: `${name as 'bar'}{.cta}.red.popc${aligned as ''}.u32 d, a{, b}, {!}c`,
      types: { a: 'u32', b: 'u32', c: 'pred', d: 'u32' },
      since,
      doc: `${count} ${inWord} ${wholeBlock}`,
      source: '9.7.13.1',
      status: 'exact',
      control: 'barrier',
      lower: ({ c }, _, ir) => overBlock(ir, 'popc', c),
      cases: () => [],
    }),
    row({
      syntax: `${name as 'bar'}{.cta}.red.op${aligned as ''}.pred d, a{, b}, {!}c`,
      values: { op: ['and', 'or'] },
      types: { a: 'u32', b: 'u32', c: 'pred', d: 'pred' },
      since,
      doc: `${judge} ${inWord} ${wholeBlock}`,
      source: '9.7.13.1',
      status: 'exact',
      control: 'barrier',
      lower: ({ c }, { op }, ir) => overBlock(ir, op, c),
      cases: () => [],
    }),
  ]),
];
