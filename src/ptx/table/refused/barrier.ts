/** Refused: barriers for a cluster (9.7.13.3). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const clusterBarrier: Refusal = {
  refused: 'Metal has no clusters of threadgroups, and so no barrier of a cluster',
  instead: 'end the kernel where blocks wait for each other, and launch another one',
};

const cluster = refusedGroup({ since: { ptx: 7.8, sm: 90 }, source: '9.7.13.3', status: clusterBarrier });

export const refusedBarrierRows = (): readonly Row[] => [
  cluster({
    syntax: 'barrier.cluster.arrive{.sem}{.aligned}',
    values: { sem: ['release', 'relaxed'] },
    doc: 'Arrives at the barrier of the cluster.',
  }),
  cluster({ syntax: 'barrier.cluster.wait{.acquire}{.aligned}', doc: 'Waits for the blocks of the cluster.' }),
];
