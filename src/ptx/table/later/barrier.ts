/** Barriers but for those that the whole block waits at (9.7.13.1 to 9.7.13.3). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../row.ts';
import { refusing } from './refuse.ts';

const ofAPart: Refusal = {
  refused: 'a barrier at which a part of the block waits, or none: AIR has barriers for all threads of a threadgroup only',
  instead: 'wait with `bar.sync 0`, that is `__syncthreads()`',
};
const reduces: Refusal = {
  refused: 'a barrier that computes over the block (`__syncthreads_count`, `_and`, `_or`) is not there yet',
  instead: 'collect the votes in shared memory between two `bar.sync 0`',
};
const ofAClusters: Refusal = {
  refused: 'a barrier of a cluster: Metal has no clusters of threadgroups',
  instead: 'end the kernel where blocks wait for each other, and launch another',
};

const old = { ptx: 2, sm: 20 } as const;
const recent = { ptx: 6, sm: 30 } as const;
const arrival = refusing({ since: old, source: '9.7.13.1', status: ofAPart });
const reduction = refusing({ since: old, source: '9.7.13.1', status: reduces });
const cluster = refusing({ since: { ptx: 7.8, sm: 90 }, source: '9.7.13.3', status: ofAClusters });
const numbers = { a: 'u32', b: 'u32' } as const;

export const laterBarrierRows = (): readonly Row[] => [
  arrival({ syntax: 'bar{.cta}.arrive a, b', types: numbers, doc: 'Arrives at a barrier without waiting.' }),
  arrival({ syntax: 'barrier{.cta}.arrive{.aligned} a, b', types: numbers, since: recent, doc: 'Arrives at a barrier without waiting.' }),
  reduction({
    syntax: 'bar{.cta}.red.popc.u32 d, a{, b}, {!}c',
    types: { ...numbers, d: 'u32', c: 'pred' },
    doc: 'Waits, and counts the threads of the block for which a predicate holds.',
  }),
  reduction({
    syntax: 'bar{.cta}.red.op.pred p, a{, b}, {!}c',
    values: { op: ['and', 'or'] },
    types: { ...numbers, p: 'pred', c: 'pred' },
    doc: 'Waits, and tells whether a predicate holds for all threads of the block, or for any.',
  }),
  reduction({
    syntax: 'barrier{.cta}.red.popc{.aligned}.u32 d, a{, b}, {!}c',
    types: { ...numbers, d: 'u32', c: 'pred' },
    since: recent,
    doc: 'Waits, and counts the threads of the block for which a predicate holds.',
  }),
  reduction({
    syntax: 'barrier{.cta}.red.op{.aligned}.pred p, a{, b}, {!}c',
    values: { op: ['and', 'or'] },
    types: { ...numbers, p: 'pred', c: 'pred' },
    since: recent,
    doc: 'Waits, and tells whether a predicate holds for all threads of the block, or for any.',
  }),
  cluster({
    syntax: 'barrier.cluster.arrive{.sem}{.aligned}',
    values: { sem: ['release', 'relaxed'] },
    doc: 'Arrives at the barrier of the cluster.',
  }),
  cluster({ syntax: 'barrier.cluster.wait{.acquire}{.aligned}', doc: 'Waits for the blocks of the cluster.' }),
];
