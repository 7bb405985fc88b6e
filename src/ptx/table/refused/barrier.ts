/** Barriers but for those that the whole block waits at (9.7.13.1 to 9.7.13.3). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusing } from './refuse.ts';

const ofAPart: Refusal = {
  refused: 'a barrier at which a part of the block waits, or none: AIR has barriers for all threads of a threadgroup only',
  instead: 'wait with `bar.sync 0`, that is `__syncthreads()`',
};
const ofAClusters: Refusal = {
  refused: 'a barrier of a cluster: Metal has no clusters of threadgroups',
  instead: 'end the kernel where blocks wait for each other, and launch another',
};

const old = { ptx: 2, sm: 20 } as const;
const recent = { ptx: 6, sm: 30 } as const;
const arrival = refusing({ since: old, source: '9.7.13.1', status: ofAPart });
const cluster = refusing({ since: { ptx: 7.8, sm: 90 }, source: '9.7.13.3', status: ofAClusters });
const numbers = { a: 'u32', b: 'u32' } as const;

export const laterBarrierRows = (): readonly Row[] => [
  arrival({ syntax: 'bar{.cta}.arrive a, b', types: numbers, doc: 'Arrives at a barrier without waiting.' }),
  arrival({ syntax: 'barrier{.cta}.arrive{.aligned} a, b', types: numbers, since: recent, doc: 'Arrives at a barrier without waiting.' }),
  cluster({
    syntax: 'barrier.cluster.arrive{.sem}{.aligned}',
    values: { sem: ['release', 'relaxed'] },
    doc: 'Arrives at the barrier of the cluster.',
  }),
  cluster({ syntax: 'barrier.cluster.wait{.acquire}{.aligned}', doc: 'Waits for the blocks of the cluster.' }),
];
