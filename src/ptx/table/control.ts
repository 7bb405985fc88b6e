/** Control flow (9.7.12) and barriers (9.7.13). Source: PTX ISA 9.0. */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';

const always = { ptx: 1, sm: 10 } as const;
const fermi = { ptx: 2.1, sm: 20 } as const;
const called = { f: 'function' } as const;
const pointed = { f: 'u64', t: 'label' } as const;
const byNumber =
  'Function addresses are numbers. The callee is any function whose address the module takes and that matches the prototype, or one of a list. Any other number stops the kernel.';
const inlined = 'The body must be in the module and is inlined. Recursive functions require `--target cpu` and have frames on a stack.';

/** Barriers of the whole block; `src/lower` refuses all others for Apple GPUs. */
const wholeBlock =
  'Barrier 0 without a thread count is that of the block; Apple GPUs have others, and counts of threads, from macOS 15 on.';
const count = 'Waits for all threads of the block and counts those for which a predicate holds (`__syncthreads_count()`).';
const reduce =
  'Waits for all threads of the block. The result is whether a predicate holds for all (`__syncthreads_and()`) or for any (`__syncthreads_or()`).';
const inWord = 'Threads that have exited neither wait nor count. Uses a 32-bit word of the kernel’s shared memory and two more barriers.';

/** The old and the new spelling of reducing barriers. */
const votes = [
  { name: 'bar', aligned: '', since: { ptx: 2, sm: 20 } },
  { name: 'barrier', aligned: '{.aligned}', since: { ptx: 6, sm: 30 } },
] as const;

type Reduction = 'popc' | 'and' | 'or';

/**
 * Reduces a predicate over the block in a word of shared memory: every thread stores the neutral value, the threads that matter change it,
 * and every thread loads it. After the last barrier the word is free for the next reduction.
 */
function overBlock(ir: RowBuilder, how: Reduction, c: Value): Value {
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
    doc: 'Jumps to a label. `.uni` promises that all threads of a warp do, which has no effect here.',
    source: '9.7.12.3',
    status: 'exact',
    control: 'branch',
    cases: () => [],
  }),
  row({
    syntax: 'brx.idx{.uni} a, t',
    types: { a: 'u32', t: 'targets' },
    since: { ptx: 6, sm: 30 },
    doc: 'Jumps to the label of a list at an index, starting at 0. The manual leaves an index out of range open; here it selects the last label.',
    source: '9.7.12.4',
    status: 'exact',
    control: 'branch',
    cases: () => [],
  }),
  row({
    syntax: 'ret{.uni}',
    since: always,
    doc: 'Returns. In an entry, ends the thread.',
    source: '9.7.12.6',
    status: 'exact',
    control: 'return',
    cases: () => [],
  }),
  row({
    syntax: 'exit',
    since: always,
    doc: 'Ends the thread. Barriers no longer wait for it.',
    source: '9.7.12.7',
    status: 'exact',
    control: 'exit',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} (d), f, (a)',
    types: called,
    since: always,
    doc: `Calls a function with arguments and a result. ${inlined}`,
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
    doc: `Calls the function whose address is in a register, with a result. \`t\` labels its prototype or the list of its targets. ${byNumber}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} f, (a), t',
    types: pointed,
    since: fermi,
    doc: `Calls the function whose address is in a register, with arguments. ${byNumber}`,
    source: '9.7.12.5',
    status: 'exact',
    control: 'call',
    cases: () => [],
  }),
  row({
    syntax: 'call{.uni} f, t',
    types: pointed,
    since: fermi,
    doc: `Calls the function whose address is in a register. ${byNumber}`,
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
  ...(['bar{.cta}.arrive a, b', 'barrier{.cta}.arrive{.aligned} a, b'] as const).map((syntax) =>
    row({
      syntax,
      types: { a: 'u32', b: 'u32' },
      since: syntax.startsWith('bar{') ? { ptx: 2, sm: 20 } : { ptx: 6, sm: 30 },
      doc: 'Arrives at a barrier without waiting, at another number than 0. Apple GPUs have it from macOS 15 on.',
      source: '9.7.13.1',
      status: 'exact',
      control: 'barrier',
      cases: () => [],
    }),
  ),
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
      doc: `${reduce} ${inWord} ${wholeBlock}`,
      source: '9.7.13.1',
      status: 'exact',
      control: 'barrier',
      lower: ({ c }, { op }, ir) => overBlock(ir, op, c),
      cases: () => [],
    }),
  ]),
];
