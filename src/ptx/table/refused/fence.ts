/** Refused: fences of clusters (9.7.13.4, 9.7.13.13). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const ofACluster: Refusal = {
  refused: 'Metal has no clusters of threadgroups, and so no fence of a cluster',
  instead: 'compile for a target below sm_90, such as `-arch=sm_80`',
};
const hopper = { ptx: 7.8, sm: 90 } as const;
const late = { ptx: 8.6, sm: 90 } as const;
const source = '9.7.13.4';
const fence = refusedGroup({ since: hopper, source, status: ofACluster });

export const fenceRows = (): readonly Row[] => [
  fence({
    syntax: 'fence{.sem}.cluster',
    values: { sem: ['sc', 'acq_rel', 'acquire', 'release'] },
    doc: 'Orders memory for the threads of the cluster.',
  }),
  fence({
    syntax: 'fence.acquire.sync_restrict::shared::cluster.cluster',
    since: late,
    doc: 'Orders shared-memory stores of other blocks of the cluster before later accesses.',
  }),
  fence({
    syntax: 'fence.release.sync_restrict::shared::cta.cluster',
    since: late,
    doc: 'Orders shared-memory stores before later accesses by other blocks of the cluster.',
  }),
];
