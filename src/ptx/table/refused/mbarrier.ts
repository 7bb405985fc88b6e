/** Barriers that are objects in shared memory (9.7.13.15). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusing } from './refuse.ts';

const noObjects: Refusal = {
  refused:
    'a barrier in memory (mbarrier): AIR has barriers for all threads of a threadgroup only, and no atomics of 64 bits to build one of',
  instead: 'wait with `bar.sync 0`, or compile for a target below sm_80, such as `-arch=sm_75`',
};

const since = { ptx: 7, sm: 80 } as const;
const hopper = { ptx: 8, sm: 90 } as const;
const own = ['shared', 'shared::cta'] as const;
const all = [...own, 'shared::cluster'] as const;
const scope = ['cta', 'cluster'] as const;
const sem = ['release', 'relaxed'] as const;
/** An order has a scope, and a scope an order. */
const unscoped = [
  { sem: ['release', 'acquire', 'relaxed'], scope: [''] },
  { sem: [''], scope },
] as const;
const object = { a: 'b64', b: 'u32', d: 'b64' } as const;

const mbarrier = refusing({ since, source: '9.7.13.15.13', status: noObjects });

const arrivals = [
  mbarrier({
    syntax: 'mbarrier.arrive{.sem}{.scope}{.state}.b64 d, [a]{, b}',
    values: { sem, scope, state: own },
    excludes: unscoped,
    types: object,
    doc: 'Arrives, once or `b` times, and gives the state before.',
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
    doc: 'Arrives `b` times where that does not end the phase.',
  }),
];

const drops = [
  mbarrier({
    syntax: 'mbarrier.arrive_drop{.sem}{.scope}{.state}.b64 d, [a]{, b}',
    values: { sem, scope, state: own },
    excludes: unscoped,
    types: object,
    source: '9.7.13.15.14',
    doc: 'Arrives and is not expected any more.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop{.sem}{.scope}{.shared::cluster}.b64 _, [a]{, b}',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    since: hopper,
    source: '9.7.13.15.14',
    doc: 'Arrives at a barrier of the cluster and is not expected any more.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.state}.b64 d, [a], b',
    values: { sem, scope, state: own },
    excludes: unscoped,
    types: object,
    since: hopper,
    source: '9.7.13.15.14',
    doc: 'Expects `b` more bytes, arrives, and is not expected any more.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop.expect_tx{.sem}{.scope}{.shared::cluster}.b64 _, [a], b',
    values: { sem, scope },
    excludes: unscoped,
    types: { ...object, _: 'b64' },
    since: hopper,
    source: '9.7.13.15.14',
    doc: 'Expects `b` more bytes at a barrier of the cluster, arrives, and is not expected any more.',
  }),
  mbarrier({
    syntax: 'mbarrier.arrive_drop.noComplete{.sem}{.scope}{.state}.b64 d, [a], b',
    values: { sem: ['release'], scope: ['cta'], state: own },
    excludes: unscoped,
    types: object,
    source: '9.7.13.15.14',
    doc: 'Arrives `b` times where that does not end the phase, and is not expected any more.',
  }),
];

const waits = [
  mbarrier({
    syntax: 'mbarrier.test_wait{.sem}{.scope}{.state}.b64 p, [a], b',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'b64' },
    source: '9.7.13.15.16',
    doc: 'Whether the phase of a state is over.',
  }),
  mbarrier({
    syntax: 'mbarrier.test_wait.parity{.sem}{.scope}{.state}.b64 p, [a], b',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'u32' },
    since: { ptx: 7.1, sm: 80 },
    source: '9.7.13.15.16',
    doc: 'Whether the phase of a parity is over.',
  }),
  mbarrier({
    syntax: 'mbarrier.try_wait{.sem}{.scope}{.state}.b64 p, [a], b{, c}',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'b64', c: 'u32' },
    since: { ptx: 7.8, sm: 90 },
    source: '9.7.13.15.16',
    doc: 'Waits a while for the end of the phase of a state, at most `c` nanoseconds.',
  }),
  mbarrier({
    syntax: 'mbarrier.try_wait.parity{.sem}{.scope}{.state}.b64 p, [a], b{, c}',
    values: { sem: ['acquire', 'relaxed'], scope, state: own },
    excludes: unscoped,
    types: { p: 'pred', a: 'b64', b: 'u32', c: 'u32' },
    since: { ptx: 7.8, sm: 90 },
    source: '9.7.13.15.16',
    doc: 'Waits a while for the end of the phase of a parity, at most `c` nanoseconds.',
  }),
];

export const mbarrierRows = (): readonly Row[] => [
  mbarrier({
    syntax: 'mbarrier.init{.state}.b64 [a], b',
    values: { state: own },
    types: object,
    source: '9.7.13.15.9',
    doc: 'Makes a barrier that expects `b` arrivals.',
  }),
  mbarrier({
    syntax: 'mbarrier.inval{.state}.b64 [a]',
    values: { state: own },
    types: object,
    source: '9.7.13.15.10',
    doc: 'Gives the memory of a barrier back.',
  }),
  mbarrier({
    syntax: 'mbarrier.transaction{.sem}{.scope}{.space}.b64 [a], b',
    values: { transaction: ['expect_tx', 'complete_tx'], sem: ['relaxed'], scope, space: all },
    excludes: unscoped,
    types: object,
    since: hopper,
    source: '9.7.13.15.11',
    doc: 'Expects `b` more bytes, or says that so many have come.',
  }),
  ...arrivals,
  ...drops,
  ...waits,
  mbarrier({
    syntax: 'mbarrier.pending_count.b64 d, a',
    types: { d: 'u32', a: 'b64' },
    source: '9.7.13.15.17',
    doc: 'How many arrivals a state still lacks.',
  }),
];
