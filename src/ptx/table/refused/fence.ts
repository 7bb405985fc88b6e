/** Refused: fences of proxies and clusters (9.7.13.4, 9.7.13.13). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const ofAProxy: Refusal = {
  refused: 'Apple GPUs have no asynchronous copies, tensor maps or memory aliases that a proxy fence could order',
  instead: 'compile for a target below sm_90, such as `-arch=sm_80`',
};
const ofACluster: Refusal = {
  refused: 'Metal has no clusters of threadgroups, and so no fence of a cluster',
  instead: 'compile for a target below sm_90, such as `-arch=sm_80`',
};
const hopper = { ptx: 7.8, sm: 90 } as const;
const bulk = { ptx: 8, sm: 90 } as const;
const tensorMaps = { ptx: 8.3, sm: 90 } as const;
const late = { ptx: 8.6, sm: 90 } as const;
const source = '9.7.13.4';
const fence = refusedGroup({ since: hopper, source, status: ofACluster });
const proxy = refusedGroup({ since: bulk, source, status: ofAProxy });

export const fenceRows = (): readonly Row[] => [
  fence({
    syntax: 'fence.mbarrier_init.release.cluster',
    since: bulk,
    doc: 'Makes initialized barriers visible to the cluster.',
  }),
  proxy({
    syntax: 'fence.proxy.kind',
    values: { kind: ['alias', 'async'] },
    since: { ptx: 7.5, sm: 70 },
    doc: 'Orders accesses to the same memory through several proxies.',
  }),
  proxy({
    syntax: 'fence.proxy.async.space',
    values: { space: ['global', 'shared::cta', 'shared::cluster'] },
    doc: 'Orders generic and asynchronous accesses to a space.',
  }),
  proxy({
    syntax: 'fence.proxy.tensormap::generic.release.scope',
    values: { scope: ['cta', 'cluster', 'gpu', 'sys'] },
    since: tensorMaps,
    doc: 'Orders stores to a tensor map before its uses.',
  }),
  proxy({
    syntax: 'fence.proxy.tensormap::generic.acquire.scope [a], b',
    values: { scope: ['cta', 'cluster', 'gpu', 'sys'] },
    types: { a: 'b64', b: 'u32' },
    since: tensorMaps,
    doc: 'Orders uses of a tensor map of `b` bytes after stores to it.',
  }),
  proxy({
    syntax: 'fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster',
    since: late,
    doc: 'Orders asynchronous accesses after generic ones of other blocks of the cluster.',
  }),
  proxy({
    syntax: 'fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster',
    since: late,
    doc: 'Orders generic accesses before asynchronous ones of other blocks of the cluster.',
  }),
  proxy({
    syntax: 'membar.proxy.alias',
    since: { ptx: 7.5, sm: 70 },
    doc: 'Orders accesses to the same memory through several addresses.',
  }),
];
