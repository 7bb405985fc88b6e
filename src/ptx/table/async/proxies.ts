/**
 * Fences between proxies. There is one way to memory here: copies are performed by the thread that asks for them, so that a fence of the
 * scope is all that is needed. Source: PTX ISA 9.0, 9.7.13.4 and 8.6.
 */
import { type Row, type RowBuilder, row } from '../../model/row.ts';
import { fence } from '../order.ts';

const hopper = { ptx: 8, sm: 90 } as const;
const tensorMaps = { ptx: 8.3, sm: 90 } as const;
const late = { ptx: 8.6, sm: 90 } as const;
const source = '9.7.13.4';
const scope = ['cta', 'cluster', 'gpu', 'sys'] as const;
const here = 'Memory has one proxy here.';

const ofScope = (ir: RowBuilder, word: string): void => fence(ir, word === 'cta' ? 'cta' : 'gpu');

export const proxyRows = (): readonly Row[] => [
  row({
    syntax: 'fence.mbarrier_init.release.cluster',
    since: hopper,
    doc: 'Makes initialized barriers visible to the cluster.',
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir, 'gpu'),
    cases: () => [],
  }),
  row({
    syntax: 'fence.proxy.kind',
    values: { kind: ['alias', 'async'] },
    since: { ptx: 7.5, sm: 70 },
    doc: `Orders accesses to the same memory through several proxies. ${here}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir, 'gpu'),
    cases: () => [],
  }),
  row({
    syntax: 'fence.proxy.async.space',
    values: { space: ['global', 'shared::cta', 'shared::cluster'] },
    since: hopper,
    doc: `Orders generic and asynchronous accesses to a space. ${here}`,
    source,
    status: 'exact',
    lower: (_, { space }, ir) => fence(ir, space === 'shared::cta' ? 'cta' : 'gpu'),
    cases: () => [],
  }),
  row({
    syntax: 'fence.proxy.tensormap::generic.release.scope',
    values: { scope },
    since: tensorMaps,
    doc: `Orders stores to a tensor map before its uses. ${here}`,
    source,
    status: 'exact',
    lower: (_, m, ir) => ofScope(ir, m.scope),
    cases: () => [],
  }),
  row({
    syntax: 'fence.proxy.tensormap::generic.acquire.scope [a], b',
    values: { scope },
    types: { a: 'b64', b: 'u32' },
    constants: { b: [128, 128] },
    since: tensorMaps,
    doc: `Orders uses of a tensor map of \`b\` bytes after stores to it. ${here}`,
    source,
    status: 'exact',
    lower: (_, m, ir) => ofScope(ir, m.scope),
    cases: () => [],
  }),
  row({
    syntax: 'fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster',
    since: late,
    doc: `Orders asynchronous accesses after generic ones of other blocks of the cluster. ${here}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir, 'gpu'),
    cases: () => [],
  }),
  row({
    syntax: 'fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster',
    since: late,
    doc: `Orders generic accesses before asynchronous ones of other blocks of the cluster. ${here}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir, 'gpu'),
    cases: () => [],
  }),
  row({
    syntax: 'membar.proxy.alias',
    since: { ptx: 7.5, sm: 70 },
    doc: `Orders accesses to the same memory through several addresses. ${here}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir, 'gpu'),
    cases: () => [],
  }),
];
