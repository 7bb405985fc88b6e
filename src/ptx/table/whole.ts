/**
 * 128 bits at once: registers are two halves here, the lower first. What is atomic makes a launch run on one thread of the host, which changes threads of
 * the kernel only where they wait. Source: PTX ISA 9.0, 9.7.9.4, 9.7.9.8 to 9.7.9.11 and 9.7.13.5.
 */
import type { Value } from '../../ir/index.ts';
import { type AccessSpace, type AddressOperand, type Row, type RowBuilder, row } from '../model/row.ts';
import { anyOrder } from './atomic.ts';
import { isList } from './memory-access.ts';
import { type FenceWord, fenceAround } from './order.ts';
import { globalOrGeneric, spaceOf } from './spaces.ts';

const since = { ptx: 8.3, sm: 70 } as const;
const scope = ['cta', 'cluster', 'gpu', 'sys'] as const;
const anySpace = ['global', 'local', 'const', 'param', 'param::entry', 'shared', 'shared::cta', 'shared::cluster'] as const;
const notGlobal = ['local', 'const', 'param', 'param::entry', 'shared', 'shared::cta', 'shared::cluster'] as const;
const ordered = ['global', 'shared', 'shared::cta', 'shared::cluster'] as const;
const evict = ['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] as const;
const prefetch = ['L2::64B', 'L2::128B', 'L2::256B'] as const;
const cop = ['ca', 'cg', 'cs', 'lu', 'cv'] as const;
const constants = ['ca', 'cg', 'cs'] as const;
const stores = ['wb', 'cg', 'cs', 'wt'] as const;
const onlyWith = { policy: 'L2::cache_hint' } as const;
const hint = ['L2::cache_hint'] as const;
const ofGlobal = [
  { space: notGlobal, evict },
  { space: notGlobal, prefetch },
  { space: notGlobal, 'L2::cache_hint': hint },
] as const;
const storedGlobal = [
  { space: notGlobal, evict },
  { space: notGlobal, 'L2::cache_hint': hint },
] as const;
const ignored = 'Hints do not affect results and are ignored.';
const cpu = 'Requires `--target cpu`.';

type Halves = readonly [Value, Value];
export const halvesOf = (value: Value | readonly Value[]): Halves => (isList(value) ? value : [value, value]) as unknown as Halves;

function load(ir: RowBuilder, pointer: Value, volatile: boolean): Value[] {
  const whole = ir.load('v2.i64', pointer, { align: 16, volatile });
  return [0, 1].map((lane) => ir.extract('i64', whole, { lane }));
}

export const store = (ir: RowBuilder, pointer: Value, value: Value | readonly Value[], volatile: boolean): void => {
  ir.store(pointer, ir.vec2('v2.i64', ...halvesOf(value)), { align: 16, volatile });
};

/** Makes what follows atomic. */
function atomically(ir: RowBuilder): void {
  ir.needsCpu('Apple GPUs have no access of 128 bits that is atomic');
  ir.service('alone');
}

interface Order {
  readonly order?: string;
  readonly sem?: string;
  readonly scope?: FenceWord;
}

/** An access that is atomic, with its order. */
function inOrder<T>(ir: RowBuilder, m: Order, access: () => T): T {
  atomically(ir);
  return fenceAround(ir, m.scope, m.order ?? m.sem, access);
}

const at = (ir: RowBuilder, a: AddressOperand, word: string | undefined): Value => ir.pointer(a, spaceOf(word) as AccessSpace);

const plain = (): readonly Row[] => [
  row({
    syntax: 'mov.b128 d, a',
    types: { d: 'b128', a: 'b128' },
    vectors: { d: 'parts', a: 'parts' },
    since,
    doc: 'Copies 128 bits, or packs them from two halves, or unpacks these.',
    source: '9.7.9.4',
    status: 'exact',
    lower: ({ a }) => a,
    cases: () => [],
  }),
  row({
    syntax: 'ld{.weak}{.space}{.cop}{.evict}{.L2::cache_hint}{.prefetch}.b128 d, [a]{, policy}',
    values: { space: anySpace, cop, evict, prefetch },
    excludes: [{ cop, evict }, ...ofGlobal],
    types: { d: 'b128', a: 'b128', policy: 'b64' },
    onlyWith,
    since,
    doc: `Loads 128 bits. ${ignored}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, at(ir, a, m.space), false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.param::func.b128 d, [a]',
    types: { d: 'b128', a: 'b128' },
    since,
    doc: 'Loads 128 bits of a parameter of a function, or of a result of a call.',
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, _, ir) => load(ir, ir.pointer(a, 'param::func'), false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.global{.cop}.nc{.evict}{.L2::cache_hint}{.prefetch}.b128 d, [a]{, policy}',
    values: { cop: constants, evict, prefetch },
    excludes: [{ cop: constants, evict }],
    types: { d: 'b128', a: 'b128', policy: 'b64' },
    onlyWith,
    since,
    doc: `Loads 128 bits of memory that is constant while the kernel runs. ${ignored}`,
    source: '9.7.9.9',
    status: 'exact',
    lower: ({ a }, _, ir) => load(ir, ir.pointer(a, 'global'), false),
    cases: () => [],
  }),
  row({
    syntax: 'ldu{.global}.b128 d, [a]',
    types: { d: 'b128', a: 'b128' },
    since,
    doc: 'Loads 128 bits that are the same for all threads of a warp.',
    source: '9.7.9.10',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, at(ir, a, globalOrGeneric(m).space), false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.volatile{.space}{.prefetch}.b128 d, [a]',
    values: { space: ordered, prefetch },
    excludes: [{ space: notGlobal, prefetch }],
    types: { d: 'b128', a: 'b128' },
    since,
    doc: 'Loads 128 bits. The access is neither omitted nor merged.',
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, at(ir, a, m.space), true),
    cases: () => [],
  }),
  row({
    syntax: 'st{.weak}{.space}{.cop}{.evict}{.L2::cache_hint}.b128 [a], b{, policy}',
    values: { space: ['global', 'local', 'shared', 'shared::cta', 'shared::cluster'], cop: stores, evict },
    excludes: [{ cop: stores, evict }, ...storedGlobal],
    types: { a: 'b128', b: 'b128', policy: 'b64' },
    onlyWith,
    since,
    doc: `Stores 128 bits. ${ignored}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, at(ir, a, m.space), b, false),
    cases: () => [],
  }),
  row({
    syntax: 'st.space.b128 [a], b',
    values: { space: ['param', 'param::func'] },
    types: { a: 'b128', b: 'b128' },
    since,
    doc: 'Stores 128 bits of an argument of a call, or of the result of a function.',
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, _, ir) => store(ir, ir.pointer(a, 'param::func'), b, false),
    cases: () => [],
  }),
  row({
    syntax: 'st.volatile{.space}.b128 [a], b',
    values: { space: ordered },
    types: { a: 'b128', b: 'b128' },
    since,
    doc: 'Stores 128 bits. The access is neither omitted nor merged.',
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, at(ir, a, m.space), b, true),
    cases: () => [],
  }),
];

const atomic = (): readonly Row[] => [
  row({
    syntax: 'ld.order.scope{.space}{.evict}{.L2::cache_hint}{.prefetch}.b128 d, [a]{, policy}',
    values: { order: ['relaxed', 'acquire'], scope, space: ordered, evict, prefetch },
    excludes: ofGlobal,
    types: { d: 'b128', a: 'b128', policy: 'b64' },
    onlyWith,
    since,
    doc: `Loads 128 bits with a memory order. ${ignored} ${cpu}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => inOrder(ir, m, () => load(ir, at(ir, a, m.space), true)),
    cases: () => [],
  }),
  row({
    syntax: 'st.order.scope{.space}{.evict}{.L2::cache_hint}.b128 [a], b{, policy}',
    values: { order: ['relaxed', 'release'], scope, space: ordered, evict },
    excludes: storedGlobal,
    types: { a: 'b128', b: 'b128', policy: 'b64' },
    onlyWith,
    since,
    doc: `Stores 128 bits with a memory order. ${ignored} ${cpu}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => inOrder(ir, m, () => store(ir, at(ir, a, m.space), b, true)),
    cases: () => [],
  }),
  row({
    syntax: 'ld.mmio.relaxed.sys{.global}.b128 d, [a]',
    types: { d: 'b128', a: 'b128' },
    since,
    doc: `Loads 128 bits, as of a mapped device. ${cpu}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => inOrder(ir, {}, () => load(ir, at(ir, a, globalOrGeneric(m).space), true)),
    cases: () => [],
  }),
  row({
    syntax: 'st.mmio.relaxed.sys{.global}.b128 [a], b',
    types: { a: 'b128', b: 'b128' },
    since,
    doc: `Stores 128 bits, as to a mapped device. ${cpu}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => inOrder(ir, {}, () => store(ir, at(ir, a, globalOrGeneric(m).space), b, true)),
    cases: () => [],
  }),
];

export const wholeRows = (): readonly Row[] => [...plain(), ...atomic()];

const hopper = { ptx: 8.3, sm: 90 } as const;

export const wholeAtomicRows = (): readonly Row[] => [
  row({
    syntax: 'atom{.sem}{.scope}{.space}.exch{.L2::cache_hint}.b128 d, [a], b{, policy}',
    values: { sem: anyOrder, scope, space: ordered },
    excludes: [{ space: notGlobal, 'L2::cache_hint': hint }],
    types: { d: 'b128', a: 'b128', b: 'b128', policy: 'b64' },
    onlyWith,
    since: hopper,
    doc: `Exchanges 128 bits of memory, atomically. d has the old ones. ${ignored} ${cpu}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b }, m, ir) =>
      inOrder(ir, m, () => {
        const pointer = at(ir, a, m.space);
        const old = load(ir, pointer, true);
        store(ir, pointer, b, true);
        return old;
      }),
    cases: () => [],
  }),
  row({
    syntax: 'atom{.sem}{.scope}{.space}.cas.b128 d, [a], b, c',
    values: { sem: anyOrder, scope, space: ordered },
    types: { d: 'b128', a: 'b128', b: 'b128', c: 'b128' },
    since: hopper,
    doc: `Stores c in 128 bits of memory if they equal b, atomically. d has the old ones. ${cpu}`,
    source: '9.7.13.5',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) =>
      inOrder(ir, m, () => {
        const pointer = at(ir, a, m.space);
        const old = load(ir, pointer, true);
        const [isLow, isHigh] = halvesOf(b).map((half, i) => ir.icmp(old[i]!, half, { pred: 'eq' })) as [Value, Value];
        ir.when(ir.and(isLow, isHigh), () => store(ir, pointer, c, true));
        return old;
      }),
    cases: () => [],
  }),
];
