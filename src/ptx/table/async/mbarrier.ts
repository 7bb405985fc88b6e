/** Barriers in shared memory, mbarrier. Source: PTX ISA 9.0, 9.7.13.15. */
import type { Value } from '../../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { fence } from '../order.ts';
import { barrierAt, initialize, invalidate, isComplete, parityOf, pendingCount, type Step, step } from './barrier-word.ts';

const since = { ptx: 7, sm: 80 } as const;
const hopper = { ptx: 8, sm: 90 } as const;
const own = ['shared', 'shared::cta'] as const;
const all = [...own, 'shared::cluster'] as const;
const scope = ['cta', 'cluster'] as const;
const sem = ['release', 'relaxed'] as const;
/** An order requires a scope, and a scope an order. */
const unscoped = [
  { sem: ['release', 'acquire', 'relaxed'], scope: [''] },
  { sem: [''], scope },
] as const;
const object = { a: 'b64', b: 'u32', d: 'b64' } as const;
const locked = 'Apple GPUs have it from macOS 15 on.';

interface Order {
  readonly sem?: string;
  readonly scope?: string;
}

/** Orders memory before an arrival, or after a wait. */
function order(ir: RowBuilder, m: Order): void {
  if (m.sem !== 'relaxed') fence(ir, m.scope === 'cluster' ? 'gpu' : 'cta');
}

interface Arrival extends Order {
  readonly space?: string;
}

/** Arrives at a barrier; returns its state before. */
function arrive(ir: RowBuilder, a: AddressOperand, m: Arrival, todo: Step): Value {
  const barrier = barrierAt(ir, a, m.space);
  order(ir, m);
  return step(ir, barrier, todo);
}

/** Tests of a barrier in one `try_wait`: a thread lets others run after 64. */
const tries = 66;

/** Tests a barrier; returns whether the phase of a parity is complete. */
function wait(ir: RowBuilder, a: AddressOperand, m: Arrival, parity: Value, most: number): Value {
  const barrier = barrierAt(ir, a, m.space);
  const holds = (): Value => isComplete(ir, barrier, parity);
  const done = most === 1 ? holds() : ir.poll(most, holds);
  order(ir, m);
  return done;
}

const one = (ir: RowBuilder): Value => ir.const('i32', 1);

const cluster = { space: 'shared::cluster' } as const;

const arrivals = (): readonly Row[] => [
  row({
    syntax: 'mbarrier.arrive{.sem}{.scope}{.space}.b64 d, [a]{, b}',
    values: { sem, scope, space: own },
    excludes: unscoped,
    types: object,
    sinks: ['d'],
    since,
    doc: `Arrives, once or \`b\` times, and returns the old state. ${locked}`,
    source: '9.7.13.15.13',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arrive(ir, a, m, { arrives: b ?? one(ir) }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive{.sem}{.scope}.shared::cluster.b64 _, [a]{, b}',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    spaces: { a: 'shared' },
    since: hopper,
    doc: `Arrives at a barrier of the cluster, once or \`b\` times. ${locked}`,
    source: '9.7.13.15.13',
    status: 'exact',
    lower: ({ a, b }, m, ir) => void arrive(ir, a, { ...m, ...cluster }, { arrives: b ?? one(ir) }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive.expect_tx{.sem}{.scope}{.space}.b64 d, [a], b',
    values: { sem, scope, space: own },
    excludes: unscoped,
    types: object,
    sinks: ['d'],
    since: hopper,
    doc: `Expects \`b\` more bytes and arrives. ${locked}`,
    source: '9.7.13.15.13',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arrive(ir, a, m, { expects: b, arrives: one(ir) }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive.expect_tx{.sem}{.scope}.shared::cluster.b64 _, [a], b',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    spaces: { a: 'shared' },
    since: hopper,
    doc: `Expects \`b\` more bytes at a barrier of the cluster and arrives. ${locked}`,
    source: '9.7.13.15.13',
    status: 'exact',
    lower: ({ a, b }, m, ir) => void arrive(ir, a, { ...m, ...cluster }, { expects: b, arrives: one(ir) }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive.noComplete{.sem}{.scope}{.space}.b64 d, [a], b',
    values: { sem: ['release'], scope: ['cta'], space: own },
    excludes: unscoped,
    types: object,
    sinks: ['d'],
    since,
    doc: `Arrives \`b\` times, which must not complete the phase. ${locked}`,
    source: '9.7.13.15.13',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arrive(ir, a, m, { arrives: b, mustNotComplete: true }),
    cases: () => [],
  }),
];

const drops = (): readonly Row[] => [
  row({
    syntax: 'mbarrier.arrive_drop{.sem}{.scope}{.space}.b64 d, [a]{, b}',
    values: { sem, scope, space: own },
    excludes: unscoped,
    types: object,
    sinks: ['d'],
    since,
    doc: `Arrives, once or \`b\` times, and returns the old state, and leaves the barrier. ${locked}`,
    source: '9.7.13.15.14',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arrive(ir, a, m, { arrives: b ?? one(ir), drops: true }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive_drop{.sem}{.scope}.shared::cluster.b64 _, [a]{, b}',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    spaces: { a: 'shared' },
    since: hopper,
    doc: `Arrives at a barrier of the cluster, once or \`b\` times, and leaves the barrier. ${locked}`,
    source: '9.7.13.15.14',
    status: 'exact',
    lower: ({ a, b }, m, ir) => void arrive(ir, a, { ...m, ...cluster }, { arrives: b ?? one(ir), drops: true }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.space}.b64 d, [a], b',
    values: { sem, scope, space: own },
    excludes: unscoped,
    types: object,
    sinks: ['d'],
    since: hopper,
    doc: `Expects \`b\` more bytes and arrives, and leaves the barrier. ${locked}`,
    source: '9.7.13.15.14',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arrive(ir, a, m, { expects: b, arrives: one(ir), drops: true }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive_drop.expect_tx{.sem}{.scope}.shared::cluster.b64 _, [a], b',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    spaces: { a: 'shared' },
    since: hopper,
    doc: `Expects \`b\` more bytes at a barrier of the cluster and arrives, and leaves the barrier. ${locked}`,
    source: '9.7.13.15.14',
    status: 'exact',
    lower: ({ a, b }, m, ir) => void arrive(ir, a, { ...m, ...cluster }, { expects: b, arrives: one(ir), drops: true }),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.arrive_drop.noComplete{.sem}{.scope}{.space}.b64 d, [a], b',
    values: { sem: ['release'], scope: ['cta'], space: own },
    excludes: unscoped,
    types: object,
    sinks: ['d'],
    since,
    doc: `Arrives \`b\` times, which must not complete the phase, and leaves the barrier. ${locked}`,
    source: '9.7.13.15.14',
    status: 'exact',
    lower: ({ a, b }, m, ir) => arrive(ir, a, m, { arrives: b, drops: true, mustNotComplete: true }),
    cases: () => [],
  }),
];

const waits = (): readonly Row[] => [
  row({
    syntax: 'mbarrier.test_wait{.sem}{.scope}{.space}.b64 d, [a], b',
    values: { sem: ['acquire', 'relaxed'], scope, space: own },
    excludes: unscoped,
    types: { d: 'pred', a: 'b64', b: 'b64' },
    since,
    doc: `Whether the phase of a state is complete. ${locked}`,
    source: '9.7.13.15.16',
    status: 'exact',
    lower: ({ a, b }, m, ir) => wait(ir, a, m, parityOf(ir, b), 1),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.test_wait.parity{.sem}{.scope}{.space}.b64 d, [a], b',
    values: { sem: ['acquire', 'relaxed'], scope, space: own },
    excludes: unscoped,
    types: { d: 'pred', a: 'b64', b: 'u32' },
    since: { ptx: 7.1, sm: 80 },
    doc: `Whether the phase of a parity is complete. ${locked}`,
    source: '9.7.13.15.16',
    status: 'exact',
    lower: ({ a, b }, m, ir) => wait(ir, a, m, ir.and(b, one(ir)), 1),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.try_wait{.sem}{.scope}{.space}.b64 d, [a], b{, c}',
    values: { sem: ['acquire', 'relaxed'], scope, space: own },
    excludes: unscoped,
    types: { d: 'pred', a: 'b64', b: 'b64', c: 'u32' },
    since: { ptx: 7.8, sm: 90 },
    doc: `Waits a while for the phase of a state to be complete, and returns whether it is; the time limit is ignored. ${locked}`,
    source: '9.7.13.15.16',
    status: 'exact',
    lower: ({ a, b }, m, ir) => wait(ir, a, m, parityOf(ir, b), tries),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.try_wait.parity{.sem}{.scope}{.space}.b64 d, [a], b{, c}',
    values: { sem: ['acquire', 'relaxed'], scope, space: own },
    excludes: unscoped,
    types: { d: 'pred', a: 'b64', b: 'u32', c: 'u32' },
    since: { ptx: 7.8, sm: 90 },
    doc: `Waits a while for the phase of a parity to be complete, and returns whether it is; the time limit is ignored. ${locked}`,
    source: '9.7.13.15.16',
    status: 'exact',
    lower: ({ a, b }, m, ir) => wait(ir, a, m, ir.and(b, one(ir)), tries),
    cases: () => [],
  }),
];

export const mbarrierRows = (): readonly Row[] => [
  row({
    syntax: 'mbarrier.init{.space}.b64 [a], b',
    values: { space: own },
    types: object,
    since,
    doc: `Initializes a barrier that expects \`b\` arrivals. ${locked}`,
    source: '9.7.13.15.9',
    status: 'exact',
    lower: ({ a, b }, { space }, ir) => initialize(ir, barrierAt(ir, a, space), b),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.inval{.space}.b64 [a]',
    values: { space: own },
    types: object,
    since,
    doc: `Invalidates a barrier, so that its memory can be reused. ${locked}`,
    source: '9.7.13.15.10',
    status: 'exact',
    lower: ({ a }, { space }, ir) => invalidate(ir, barrierAt(ir, a, space)),
    cases: () => [],
  }),
  row({
    syntax: 'mbarrier.transaction{.sem}{.scope}{.space}.b64 [a], b',
    values: { transaction: ['expect_tx', 'complete_tx'], sem: ['relaxed'], scope, space: all },
    excludes: unscoped,
    types: object,
    since: hopper,
    doc: `Expects \`b\` more bytes, or reports that \`b\` bytes have arrived. ${locked}`,
    source: '9.7.13.15.11',
    status: 'exact',
    lower: ({ a, b }, { transaction, space }, ir) =>
      void step(ir, barrierAt(ir, a, space), transaction === 'expect_tx' ? { expects: b } : { completes: b }),
    cases: () => [],
  }),
  ...arrivals(),
  ...drops(),
  ...waits(),
  row({
    syntax: 'mbarrier.pending_count.b64 d, a',
    types: { d: 'u32', a: 'b64' },
    since,
    doc: `The number of pending arrivals of a state. ${locked}`,
    source: '9.7.13.15.17',
    status: 'exact',
    lower: ({ a }, _, ir) => pendingCount(ir, a),
    cases: () => [],
  }),
];
