/** Fences, and the order of launches (9.7.13.4, 9.7.13.13). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusing } from './refuse.ts';

const ofAProxy: Refusal = {
  refused: 'a fence between ways to reach memory (proxies): Apple GPUs have no asynchronous copies, tensor maps or aliases to order',
  instead: 'compile for a target below sm_90, such as `-arch=sm_80`',
};
const ofACluster: Refusal = {
  refused: 'a fence of a cluster: Metal has no clusters of threadgroups',
  instead: 'compile for a target below sm_90, such as `-arch=sm_80`',
};
const hopper = { ptx: 7.8, sm: 90 } as const;
const bulk = { ptx: 8, sm: 90 } as const;
const tensorMaps = { ptx: 8.3, sm: 90 } as const;
const late = { ptx: 8.6, sm: 90 } as const;
const source = '9.7.13.4';
const fence = refusing({ since: hopper, source, status: ofACluster });
const proxy = refusing({ since: bulk, source, status: ofAProxy });

export const fenceRows = (): readonly Row[] => [
  fence({
    syntax: 'fence{.sem}.cluster',
    values: { sem: ['sc', 'acq_rel', 'acquire', 'release'] },
    doc: 'Orders memory for the threads of the cluster.',
  }),
  fence({
    syntax: 'fence.acquire.sync_restrict::shared::cluster.cluster',
    since: late,
    doc: 'Orders what other blocks of the cluster wrote into shared memory.',
  }),
  fence({
    syntax: 'fence.release.sync_restrict::shared::cta.cluster',
    since: late,
    doc: 'Orders what was written into shared memory for other blocks of the cluster.',
  }),
  fence({
    syntax: 'fence.mbarrier_init.release.cluster',
    since: bulk,
    doc: 'Makes barriers that were initialised known to the cluster.',
  }),
  proxy({
    syntax: 'fence.proxy.kind',
    values: { kind: ['alias', 'async'] },
    since: { ptx: 7.5, sm: 70 },
    doc: 'Orders accesses of one memory by several ways.',
  }),
  proxy({
    syntax: 'fence.proxy.async.space',
    values: { space: ['global', 'shared::cta', 'shared::cluster'] },
    doc: 'Orders ordinary and asynchronous accesses of a space.',
  }),
  proxy({
    syntax: 'fence.proxy.tensormap::generic.release.scope',
    values: { scope: ['cta', 'cluster', 'gpu', 'sys'] },
    since: tensorMaps,
    doc: 'Orders writes of a tensor map before its uses.',
  }),
  proxy({
    syntax: 'fence.proxy.tensormap::generic.acquire.scope [a], b',
    values: { scope: ['cta', 'cluster', 'gpu', 'sys'] },
    types: { a: 'b64', b: 'u32' },
    since: tensorMaps,
    doc: 'Orders uses of a tensor map of `b` bytes after its writes.',
  }),
  proxy({
    syntax: 'fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster',
    since: late,
    doc: 'Orders asynchronous accesses after ordinary ones of other blocks of the cluster.',
  }),
  proxy({
    syntax: 'fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster',
    since: late,
    doc: 'Orders ordinary accesses before asynchronous ones of other blocks of the cluster.',
  }),
  proxy({ syntax: 'membar.proxy.alias', since: { ptx: 7.5, sm: 70 }, doc: 'Orders accesses of one memory by several addresses.' }),
];
