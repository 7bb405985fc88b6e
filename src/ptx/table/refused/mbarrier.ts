/** Refused: barriers in shared memory, mbarrier (9.7.13.15). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noObjects: Refusal = {
  refused: 'AIR has no barriers in memory (mbarrier)',
  instead: 'wait with `bar.sync 0`, or compile for a target below sm_80, such as `-arch=sm_75`',
};

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

const mbarrier = refusedGroup({ since, source: '9.7.13.15.13', status: noObjects });

const arrivals = [
  mbarrier({
    syntax: 'mbarrier.arrive{.sem}{.scope}{.state}.b64 d, [a]{, b}',
    values: { sem, scope, state: own },
    excludes: unscoped,
    types: object,
    doc: 'Arrives, once or `b` times, and returns the old state.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive{.sem}{.scope}{.shared::cluster}.b64 _, [a]{, b}',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    since: hopper,
    doc: 'Arrives at a barrier of the cluster.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive.expect_tx{.sem}{.scope}{.state}.b64 d, [a], b',
    values: { sem, scope, state: own },
    excludes: unscoped,
    types: object,
    since: hopper,
    doc: 'Expects `b` more bytes and arrives.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive.expect_tx{.sem}{.scope}{.shared::cluster}.b64 _, [a], b',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    since: hopper,
    doc: 'Expects `b` more bytes at a barrier of the cluster and arrives.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive.noComplete{.sem}{.scope}{.state}.b64 d, [a], b',
    values: { sem: ['release'], scope: ['cta'], state: own },
    excludes: unscoped,
    types: object,
    doc: 'Arrives `b` times if that does not complete the phase.',
  }),
];

const drops = [
  mbarrier({
    syntax: 'mbarrier.arrive_drop{.sem}{.scope}{.state}.b64 d, [a]{, b}',
    values: { sem, scope, state: own },
    excludes: unscoped,
    types: object,
    source: '9.7.13.15.14',
    doc: 'Arrives and leaves the barrier.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop{.sem}{.scope}{.shared::cluster}.b64 _, [a]{, b}',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    since: hopper,
    source: '9.7.13.15.14',
    doc: 'Arrives at a barrier of the cluster and leaves it.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.state}.b64 d, [a], b',
    values: { sem, scope, state: own },
    excludes: unscoped,
    types: object,
    since: hopper,
    source: '9.7.13.15.14',
    doc: 'Expects `b` more bytes, arrives, and leaves the barrier.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.shared::cluster}.b64 _, [a], b',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    since: hopper,
    source: '9.7.13.15.14',
    doc: 'Expects `b` more bytes at a barrier of the cluster, arrives, and leaves it.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop.noComplete{.sem}{.scope}{.state}.b64 d, [a], b',
    values: { sem: ['release'], scope: ['cta'], state: own },
    excludes: unscoped,
    types: object,
    source: '9.7.13.15.14',
    doc: 'Arrives `b` times if that does not complete the phase, and leaves the barrier.',
  }),
];

const waits = [
  mbarrier({
    syntax: 'mbarrier.test_wait{.sem}{.scope}{.state}.b64 p, [a], b',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'b64' },
    source: '9.7.13.15.16',
    doc: 'Whether the phase of a state is complete.',
  }),
  mbarrier({
    syntax: 'mbarrier.test_wait.parity{.sem}{.scope}{.state}.b64 p, [a], b',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'u32' },
    since: { ptx: 7.1, sm: 80 },
    source: '9.7.13.15.16',
    doc: 'Whether the phase of a parity is complete.',
  }),
  mbarrier({
    syntax: 'mbarrier.try_wait{.sem}{.scope}{.state}.b64 p, [a], b{, c}',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'b64', c: 'u32' },
    since: { ptx: 7.8, sm: 90 },
    source: '9.7.13.15.16',
    doc: 'Waits for the phase of a state to complete, at most `c` nanoseconds.',
  }),
  mbarrier({
    syntax: 'mbarrier.try_wait.parity{.sem}{.scope}{.state}.b64 p, [a], b{, c}',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'u32', c: 'u32' },
    since: { ptx: 7.8, sm: 90 },
    source: '9.7.13.15.16',
    doc: 'Waits for the phase of a parity to complete, at most `c` nanoseconds.',
  }),
];

export const mbarrierRows = (): readonly Row[] => [
  mbarrier({
    syntax: 'mbarrier.init{.state}.b64 [a], b',
    values: { state: own },
    types: object,
    source: '9.7.13.15.9',
    doc: 'Initializes a barrier that expects `b` arrivals.',
  }),
  mbarrier({
    syntax: 'mbarrier.inval{.state}.b64 [a]',
    values: { state: own },
    types: object,
    source: '9.7.13.15.10',
    doc: 'Invalidates a barrier, so that its memory can be reused.',
  }),
  mbarrier({
    syntax: 'mbarrier.transaction{.sem}{.scope}{.space}.b64 [a], b',
    values: { transaction: ['expect_tx', 'complete_tx'], sem: ['relaxed'], scope, space: all },
    excludes: unscoped,
    types: object,
    since: hopper,
    source: '9.7.13.15.11',
    doc: 'Expects `b` more bytes, or reports that `b` bytes have arrived.',
  }),
  ...arrivals,
  ...drops,
  ...waits,
  mbarrier({
    syntax: 'mbarrier.pending_count.b64 d, a',
    types: { d: 'u32', a: 'b64' },
    source: '9.7.13.15.17',
    doc: 'The number of pending arrivals of a state.',
  }),
];
