/** Refused: barriers for a part of the block or for a cluster (9.7.13.1 to 9.7.13.3). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const partialBarrier: Refusal = {
  refused: 'AIR only has barriers at which all threads of a threadgroup wait',
  instead: 'wait with `bar.sync 0`, which is `__syncthreads()`',
};
const clusterBarrier: Refusal = {
  refused: 'Metal has no clusters of threadgroups, and so no barrier of a cluster',
  instead: 'end the kernel where blocks wait for each other, and launch another one',
};

const old = { ptx: 2, sm: 20 } as const;
const recent = { ptx: 6, sm: 30 } as const;
const arrival = refusedGroup({ since: old, source: '9.7.13.1', status: partialBarrier });
const cluster = refusedGroup({ since: { ptx: 7.8, sm: 90 }, source: '9.7.13.3', status: clusterBarrier });
const numbers = { a: 'u32', b: 'u32' } as const;

export const refusedBarrierRows = (): readonly Row[] => [
  arrival({ syntax: 'bar{.cta}.arrive a, b', types: numbers, doc: 'Arrives at a barrier without waiting.' }),
  arrival({ syntax: 'barrier{.cta}.arrive{.aligned} a, b', types: numbers, since: recent, doc: 'Arrives at a barrier without waiting.' }),
  cluster({
    syntax: 'barrier.cluster.arrive{.sem}{.aligned}',
    values: { sem: ['release', 'relaxed'] },
    doc: 'Arrives at the barrier of the cluster.',
  }),
  cluster({ syntax: 'barrier.cluster.wait{.acquire}{.aligned}', doc: 'Waits for the blocks of the cluster.' }),
];
