/**
 * Clusters of blocks: addresses in the shared memory of other blocks, and the barrier of the cluster. Source: PTX ISA 9.0, 9.7.9.8, 9.7.9.11, 9.7.9.19 to 9.7.9.23, 9.7.13.3 and 9.7.13.4.
 */
import { mapToRank, rankOfAddress } from '../model/clusters.ts';
import { type Row, row } from '../model/row.ts';
import { load, memoryTypes, store, wide } from './memory-access.ts';
import { type FenceWord, fence, fenceAround, fenceScopes } from './order.ts';

const hopper = { ptx: 7.8, sm: 90 } as const;
const late = { ptx: 8.6, sm: 90 } as const;
const vec = ['v2', 'v4', 'v8'] as const;
const few = ['v2', 'v4'] as const;
const words = ['b32', 'u32', 's32', 'f32'] as const;
const scope = ['cluster'] as const;
const evict = ['L1::evict_normal', 'L1::evict_unchanged', 'L1::evict_first', 'L1::evict_last', 'L1::no_allocate'] as const;
const prefetch = ['L2::64B', 'L2::128B', 'L2::256B'] as const;
const shared = ['shared', 'shared::cta', 'shared::cluster'] as const;
/** More than 128 bits. */
const tooWide = [
  { vec: ['v4', 'v8'], type: wide },
  { vec: ['v8'], type: words },
] as const;
const cpu = 'Elsewhere than on the CPU device and NVIDIA GPUs a whole cluster is one block of the device.';
const window = { space: 'shared::cluster' } as const;
const ofCluster = 'Addresses of other blocks come from `mapa`.';

/** Plain, volatile and ordered accesses. */
const accesses = (): readonly Row[] => [
  row({
    syntax: 'ld{.weak}.shared::cluster{.vec}.type d, [a]',
    values: { vec, type: memoryTypes },
    excludes: tooWide,
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: hopper,
    doc: `Loads shared memory of a block of the cluster. ${ofCluster}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, ...window }, false),
    cases: () => [],
  }),
  row({
    syntax: 'st{.weak}.shared::cluster{.vec}.type [a], b',
    values: { vec, type: memoryTypes },
    excludes: tooWide,
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: hopper,
    doc: `Stores shared memory of a block of the cluster. ${ofCluster}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, ...window }, false),
    cases: () => [],
  }),
  row({
    syntax: 'ld.volatile.shared::cluster{.vec}.type d, [a]',
    values: { vec, type: memoryTypes },
    excludes: tooWide,
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: hopper,
    doc: `Loads shared memory of a block of the cluster. The access is neither omitted nor merged. ${ofCluster}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => load(ir, a, { ...m, ...window }, true),
    cases: () => [],
  }),
  row({
    syntax: 'st.volatile.shared::cluster{.vec}.type [a], b',
    values: { vec, type: memoryTypes },
    excludes: tooWide,
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: hopper,
    doc: `Stores shared memory of a block of the cluster. The access is neither omitted nor merged. ${ofCluster}`,
    source: '9.7.9.11',
    status: 'exact',
    lower: ({ a, b }, m, ir) => store(ir, a, b, { ...m, ...window }, true),
    cases: () => [],
  }),
];

const orderedDoc = 'The scope of the cluster is the device here, which is stronger.';

/** Of the scope of the cluster, and of shared memory of the cluster with other scopes. */
const ordered = (): readonly Row[] => [
  row({
    syntax: 'ld.order.scope{.space}{.evict}{.prefetch}{.vec}.type d, [a]',
    values: { order: ['relaxed', 'acquire'], scope, space: ['global', ...shared], evict, prefetch, vec: few, type: memoryTypes },
    excludes: [
      { space: shared, evict },
      { space: shared, prefetch },
      { space: shared, vec: ['v4'], type: wide },
    ],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: hopper,
    doc: `Loads with a memory order among the threads of the cluster. ${orderedDoc}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => fenceAround(ir, m.scope, m.order, () => load(ir, a, m, true)),
    cases: () => [],
  }),
  row({
    syntax: 'st.order.scope{.space}{.evict}{.vec}.type [a], b',
    values: { order: ['relaxed', 'release'], scope, space: ['global', ...shared], evict, vec: few, type: memoryTypes },
    excludes: [
      { space: shared, evict },
      { space: shared, vec: ['v4'], type: wide },
    ],
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: hopper,
    doc: `Stores with a memory order among the threads of the cluster. ${orderedDoc}`,
    source: '9.7.9.12',
    status: 'exact',
    lower: ({ a, b }, m, ir) => fenceAround(ir, m.scope, m.order, () => store(ir, a, b, m, true)),
    cases: () => [],
  }),
  row({
    syntax: 'ld.order.scope.shared::cluster{.vec}.type d, [a]',
    values: { order: ['relaxed', 'acquire'], scope: fenceScopes, vec: few, type: memoryTypes },
    excludes: [{ vec: ['v4'], type: wide }],
    relaxed: ['d'],
    vectors: { d: 'elements' },
    since: hopper,
    doc: `Loads shared memory of a block of the cluster with a memory order and a scope. ${ofCluster}`,
    source: '9.7.9.8',
    status: 'exact',
    lower: ({ a }, m, ir) => fenceAround(ir, m.scope as FenceWord, m.order, () => load(ir, a, { ...m, ...window }, true)),
    cases: () => [],
  }),
  row({
    syntax: 'st.order.scope.shared::cluster{.vec}.type [a], b',
    values: { order: ['relaxed', 'release'], scope: fenceScopes, vec: few, type: memoryTypes },
    excludes: [{ vec: ['v4'], type: wide }],
    relaxed: ['b'],
    vectors: { b: 'elements' },
    since: hopper,
    doc: `Stores shared memory of a block of the cluster with a memory order and a scope. ${ofCluster}`,
    source: '9.7.9.12',
    status: 'exact',
    lower: ({ a, b }, m, ir) => fenceAround(ir, m.scope as FenceWord, m.order, () => store(ir, a, b, { ...m, ...window }, true)),
    cases: () => [],
  }),
];

const conversions = (): readonly Row[] => [
  row({
    syntax: 'cvta.shared::cluster.size d, a',
    values: { size: ['u32', 'u64'] },
    types: { d: '.size', a: '.size' },
    takesAddresses: true,
    since: hopper,
    doc: 'Converts an address in shared memory of the cluster to a generic address.',
    source: '9.7.9.20',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.convertAddress(a, 'shared::cluster', 'generic'),
    cases: () => [],
  }),
  row({
    syntax: 'cvta.to.shared::cluster.size d, a',
    values: { size: ['u32', 'u64'] },
    types: { d: '.size', a: '.size' },
    since: hopper,
    doc: 'Converts a generic address to an address in shared memory of the cluster.',
    source: '9.7.9.20',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.convertAddress(a, 'shared::cluster', 'space'),
    cases: () => [],
  }),
  row({
    syntax: 'isspacep.shared::cluster d, a',
    types: { d: 'pred', a: 'b64' },
    since: hopper,
    doc: 'Whether a generic address points into shared memory of a block of the cluster.',
    source: '9.7.9.19',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.isspace(a, { space: 'shared::cluster' }),
    cases: () => [],
  }),
];

/** Rows of opcodes that other chapters have as well. */
export const clusterAccessRows = (): readonly Row[] => [...accesses(), ...ordered(), ...conversions()];

export const clusterAddressRows = (): readonly Row[] => [
  row({
    syntax: 'mapa{.shared::cluster}.type d, a, b',
    values: { type: ['u32', 'u64'] },
    types: { b: 'u32' },
    takesAddresses: true,
    since: hopper,
    doc: `The address of the same place in the shared memory of block \`b\` of the cluster; an access faults if there is no such block. ${cpu}`,
    source: '9.7.9.22',
    status: 'exact',
    lower(operands, modifiers, ir) {
      const isGeneric = modifiers['shared::cluster'] === undefined && modifiers.type === 'u64';
      if (!isGeneric) return mapToRank(ir, operands.a, operands.b);
      return ir.convertAddress(
        mapToRank(ir, ir.convertAddress(operands.a, 'shared::cluster', 'space'), operands.b),
        'shared::cluster',
        'generic',
      );
    },
    cases: () => [],
  }),
  row({
    syntax: 'getctarank{.shared::cluster}.type d, a',
    values: { type: ['u32', 'u64'] },
    types: { d: 'u32' },
    takesAddresses: true,
    since: hopper,
    doc: `The number of the block of the cluster in whose shared memory an address is. ${cpu}`,
    source: '9.7.9.23',
    status: 'exact',
    lower: (operands, modifiers, ir) => {
      const isGeneric = modifiers['shared::cluster'] === undefined && modifiers.type === 'u64';
      return rankOfAddress(ir, isGeneric ? ir.convertAddress(operands.a, 'shared::cluster', 'space') : operands.a);
    },
    cases: () => [],
  }),
];

export const clusterBarrierRows: readonly Row[] = [
  row({
    syntax: 'barrier.cluster.arrive{.sem}{.aligned}',
    values: { sem: ['release', 'relaxed'] },
    since: hopper,
    doc: `Arrives at the barrier of the cluster without waiting. ${cpu}`,
    source: '9.7.13.3',
    status: 'exact',
    control: 'wait',
    lower: (_, { sem = 'release' }, ir) => {
      // The barrier of a block orders memory for all of its threads.
      if (sem === 'release' && ir.clustersTakeTurns) fence(ir);
      ir.clusterBarrier('arrive');
    },
    cases: () => [],
  }),
  row({
    syntax: 'barrier.cluster.wait{.acquire}{.aligned}',
    since: hopper,
    doc: `Waits until all threads of the cluster that have not ended have arrived at its barrier. ${cpu}`,
    source: '9.7.13.3',
    status: 'exact',
    control: 'wait',
    lower: (_, __, ir) => {
      ir.clusterBarrier('wait');
      if (ir.clustersTakeTurns) fence(ir);
    },
    cases: () => [],
  }),
];

const apple = `Apple GPUs have fences from macOS 15 on (\`--target macos15\`).`;
const source = '9.7.13.4';

export const clusterFenceRows = (): readonly Row[] => [
  row({
    syntax: 'fence{.sem}.cluster',
    values: { sem: ['sc', 'acq_rel'] },
    since: hopper,
    doc: `Orders memory for the threads of the cluster. ${apple}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir),
    cases: () => [],
  }),
  row({
    syntax: 'fence.sem.cluster',
    values: { sem: ['acquire', 'release'] },
    since: late,
    doc: `Orders memory for the threads of the cluster, in one direction. ${apple}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir),
    cases: () => [],
  }),
  row({
    syntax: 'fence.acquire.sync_restrict::shared::cluster.cluster',
    since: late,
    doc: `Orders shared-memory stores of other blocks of the cluster before later accesses. ${apple}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir),
    cases: () => [],
  }),
  row({
    syntax: 'fence.release.sync_restrict::shared::cta.cluster',
    since: late,
    doc: `Orders shared-memory stores before later accesses by other blocks of the cluster. ${apple}`,
    source,
    status: 'exact',
    lower: (_, __, ir) => fence(ir),
    cases: () => [],
  }),
];
