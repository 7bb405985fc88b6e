/**
 * Refused: asynchronous bulk copies and stores, multi-device memory, and work stealing between blocks. Source: PTX ISA 9.0, 9.7.9 and
 * 9.7.13.
 */
import { type Row, row } from '../../model/row.ts';

const ampere = { ptx: 7, sm: 80 } as const;
const hopper = { ptx: 8, sm: 90 } as const;
const hopperStores = { ptx: 8.1, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;

const signals = {
  refused: 'AIR has no barriers in memory (mbarrier) for the copy to signal',
  instead: 'wait with `cp.async.wait_all` and `bar.sync 0`',
} as const;
const byEngine = {
  refused: 'Apple GPUs have neither the copy engine of a Hopper GPU nor mbarriers',
  instead: 'build for an architecture before sm_90, whose code copies with loads and stores',
} as const;
const ofCluster = {
  refused: 'Apple GPUs cannot access the shared memory of other blocks of a cluster',
  instead: 'exchange data through device memory, in a kernel without clusters',
} as const;
const ofMany = {
  refused: 'Apple machines have no memory that several GPUs share by NVLink multicast',
  instead: 'reduce over devices on the host',
} as const;
const ofLaunch = {
  refused: 'only NVIDIA hardware lets a block take over the work of a block that is not launched yet',
  instead: 'assign each block its own tile, or distribute tiles by an atomic counter',
} as const;

const reduced = ['f16', 'bf16', 'b32', 'u32', 's32', 'b64', 'u64', 's64', 'f32', 'f64'] as const;

/** Conflicting operations and types, if each kind of operation has types of its own; `and` and the others stand for their kind. */
const joining = (taken: Readonly<Record<'and' | 'add' | 'inc' | 'min', readonly string[]>>, types: readonly string[]) =>
  ([['and', 'or', 'xor'], ['add'], ['inc', 'dec'], ['min', 'max']] as const).map((op) => ({
    op,
    type: types.filter((type) => !taken[op[0]].includes(type)),
  }));

const copyRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.mbarrier.arrive{.noinc}{.space}.b64 [a]',
    values: { space: ['shared', 'shared::cta'] },
    since: ampere,
    doc: 'Signals an mbarrier when the copies of this thread are complete.',
    source: '9.7.13.15.15',
    status: signals,
  }),
];

const bulkRows = (): readonly Row[] => [
  row({
    syntax: `cp.async.bulk.shared::cluster.global.${signal}{.multicast::cluster}{.L2::cache_hint} [d], [a], size, [mbar]{, mask}{, policy}`,
    types: { size: 'u32', mask: 'b16', policy: 'b64' },
    onlyWith: { mask: 'multicast::cluster', policy: 'L2::cache_hint' },
    since: hopper,
    doc: 'Copies into the shared memory of one or several blocks and signals their mbarriers.',
    source: '9.7.9.25.4.1',
    status: byEngine,
  }),
  row({
    syntax: `cp.async.bulk.shared::cta.global.${signal}{.L2::cache_hint} [d], [a], size, [mbar]{, policy}`,
    types: { size: 'u32', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: blackwell,
    doc: 'Copies into the shared memory of this block and signals its mbarrier.',
    source: '9.7.9.25.4.1',
    status: byEngine,
  }),
  row({
    syntax: `cp.async.bulk.shared::cluster.shared::cta.${signal} [d], [a], size, [mbar]`,
    types: { size: 'u32' },
    since: hopper,
    doc: 'Copies from the shared memory of this block to that of another.',
    source: '9.7.9.25.4.1',
    status: ofCluster,
  }),
  row({
    syntax: 'cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint} [d], [a], size{, policy}',
    types: { size: 'u32', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: hopper,
    doc: 'Copies from shared memory to global memory.',
    source: '9.7.9.25.4.1',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask [d], [a], size{, policy}, mask',
    types: { size: 'u32', policy: 'b64', mask: 'b16' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: blackwell,
    doc: 'Copies from shared memory to global memory, with a mask of bytes for every 16 bytes.',
    source: '9.7.9.25.4.1',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [a], size{, policy}',
    types: { size: 'u32', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: hopper,
    doc: 'Prefetches memory into the cache.',
    source: '9.7.9.25.4.3',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.commit_group',
    since: hopper,
    doc: 'Closes the group of the bulk copies so far.',
    source: '9.7.9.25.6.1',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.wait_group{.read} n',
    types: { n: 'u32' },
    constants: { n: [0, 0x7fffffff] },
    since: hopper,
    doc: 'Waits until all groups but the latest n are complete, or have read their sources.',
    source: '9.7.9.25.6.2',
    status: byEngine,
  }),
  row({
    syntax: `cp.reduce.async.bulk.shared::cluster.shared::cta.${signal}.op.type [d], [a], size, [mbar]`,
    values: { op: ['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'], type: ['s32', 'u32', 'u64', 'b32'] },
    excludes: joining({ and: ['b32'], add: ['u32', 's32', 'u64'], inc: ['u32'], min: ['s32', 'u32'] }, ['s32', 'u32', 'u64', 'b32']),
    types: { size: 'u32' },
    since: hopper,
    doc: 'Reduces shared memory into that of another block.',
    source: '9.7.9.25.4.2',
    status: ofCluster,
  }),
  row({
    syntax: 'cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.type [d], [a], size{, policy}',
    values: {
      op: ['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'],
      type: reduced,
    },
    excludes: joining(
      {
        and: ['b32', 'b64'],
        add: ['u32', 's32', 'u64', 'f32', 'f64'],
        inc: ['u32'],
        min: ['u32', 's32', 'u64', 's64', 'f16', 'bf16'],
      },
      reduced,
    ),
    types: { size: 'u32', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: hopper,
    doc: 'Reduces shared memory into global memory, each element atomically.',
    source: '9.7.9.25.4.2',
    status: byEngine,
  }),
  row({
    syntax: 'cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type [d], [a], size{, policy}',
    values: { type: ['f16', 'bf16'] },
    types: { size: 'u32', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: hopper,
    doc: 'Adds halves in shared memory to global memory and keeps subnormals.',
    source: '9.7.9.25.4.2',
    status: byEngine,
  }),
];

const storeRows = (): readonly Row[] => [
  row({
    syntax: `st.async{.weak}{.shared::cluster}.${signal}{.vec}.type [a], b, [mbar]`,
    values: { vec: ['v2', 'v4'], type: ['b32', 'b64', 'u32', 'u64', 's32', 's64', 'f32', 'f64'] },
    excludes: [{ vec: ['v4'], type: ['b64', 'u64', 's64', 'f64'] }],
    vectors: { b: 'elements' },
    since: hopperStores,
    doc: 'Stores to shared memory of another block and signals its mbarrier.',
    source: '9.7.9.12',
    status: ofCluster,
  }),
  row({
    syntax: 'st.async{.mmio}.release.scope{.global}.type [a], b',
    values: {
      scope: ['gpu', 'sys'],
      type: ['b8', 'b16', 'b32', 'b64', 'u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64', 'f32', 'f64'],
    },
    since: { ptx: 8.7, sm: 100 },
    doc: 'Stores asynchronously, after all earlier stores.',
    source: '9.7.9.12',
    status: {
      refused: 'an asynchronous store after earlier ones is not supported yet',
      instead: 'write at the end of the kernel: the host sees every write',
    },
  }),
  row({
    syntax: 'st.bulk{.weak}{.shared::cta} [a], size, value',
    types: { size: 'b64', value: 'b64' },
    constants: { value: [0, 0] },
    since: blackwell,
    doc: 'Sets shared memory to 0.',
    source: '9.7.9.13',
    status: { refused: 'filling shared memory by one instruction is not supported yet', instead: 'store zeros in a loop over the threads' },
  }),
];

const scopes = ['cta', 'cluster', 'gpu', 'sys'] as const;
const joins = ['min', 'max', 'add', 'and', 'or', 'xor'] as const;
const integers = ['b32', 'b64', 'u32', 's32', 'u64', 's64'] as const;
const widths = ['v2', 'v4', 'v8'] as const;
const halves = ['f16', 'f16x2', 'bf16', 'bf16x2'] as const;
const small = ['e5m2', 'e5m2x2', 'e5m2x4', 'e4m3', 'e4m3x2', 'e4m3x4'] as const;
const floats = [...halves, 'f32', 'f64', ...small] as const;

const ofIntegers = joining(
  { and: ['b32', 'b64'], add: ['u32', 's32', 'u64'], inc: [], min: ['u32', 's32', 'u64', 's64'] },
  integers,
).filter(({ op }) => op[0] !== 'inc');
/** Vectors have 32 to 128 bits. */
const ofVectors = [
  { vec: [''], type: ['f16', 'bf16', 'e5m2', 'e4m3', 'e5m2x2', 'e4m3x2'] },
  { vec: ['v2'], type: ['f64', 'e5m2', 'e4m3'] },
  { vec: ['v4'], type: ['f64'] },
  { vec: ['v8'], type: ['f16x2', 'bf16x2', 'f32', 'f64', 'e5m2x4', 'e4m3x4'] },
] as const;
const ofFloats = [
  ...ofVectors,
  { op: ['min', 'max'], type: ['f32', 'f64'] },
  { op: ['min', 'max'], acc: ['acc::f32', 'acc::f16'] },
  { acc: ['acc::f32'], type: ['f32', 'f64', ...small] },
  { acc: ['acc::f16'], type: [...halves, 'f32', 'f64'] },
] as const;

const multimemRows = (): readonly Row[] => [
  row({
    syntax: 'multimem.ld_reduce{.weak}{.global}.op.type d, [a]',
    values: { op: joins, type: integers },
    excludes: ofIntegers,
    since: hopperStores,
    doc: 'Loads integers from every device and reduces them.',
    source: '9.7.9.14',
    status: ofMany,
  }),
  row({
    syntax: 'multimem.ld_reduce.sem.scope{.global}.op.type d, [a]',
    values: { sem: ['relaxed', 'acquire'], scope: scopes, op: joins, type: integers },
    excludes: ofIntegers,
    since: hopperStores,
    doc: 'Loads integers from every device with a memory order and reduces them.',
    source: '9.7.9.14',
    status: ofMany,
  }),
  row({
    syntax: 'multimem.ld_reduce{.weak}{.global}.op{.acc}{.vec}.type d, [a]',
    values: { op: ['min', 'max', 'add'], acc: ['acc::f32', 'acc::f16'], vec: widths, type: floats },
    excludes: ofFloats,
    vectors: { d: 'elements' },
    since: hopperStores,
    doc: 'Loads floats from every device and reduces them.',
    source: '9.7.9.14',
    status: ofMany,
  }),
  row({
    syntax: 'multimem.ld_reduce.sem.scope{.global}.op{.acc}{.vec}.type d, [a]',
    values: {
      sem: ['relaxed', 'acquire'],
      scope: scopes,
      op: ['min', 'max', 'add'],
      acc: ['acc::f32', 'acc::f16'],
      vec: widths,
      type: floats,
    },
    excludes: ofFloats,
    vectors: { d: 'elements' },
    since: hopperStores,
    doc: 'Loads floats from every device with a memory order and reduces them.',
    source: '9.7.9.14',
    status: ofMany,
  }),
  row({
    syntax: 'multimem.st{.weak}{.global}{.vec}.type [a], b',
    values: { vec: widths, type: [...integers, ...floats] },
    excludes: [...ofVectors, { vec: widths, type: integers }],
    vectors: { b: 'elements' },
    since: hopperStores,
    doc: 'Stores to every device.',
    source: '9.7.9.14',
    status: ofMany,
  }),
  row({
    syntax: 'multimem.st.sem.scope{.global}{.vec}.type [a], b',
    values: { sem: ['relaxed', 'release'], scope: scopes, vec: widths, type: [...integers, ...floats] },
    excludes: [...ofVectors, { vec: widths, type: integers }],
    vectors: { b: 'elements' },
    since: hopperStores,
    doc: 'Stores to every device with a memory order.',
    source: '9.7.9.14',
    status: ofMany,
  }),
  row({
    syntax: 'multimem.red{.sem}{.scope}{.global}.op.type [a], b',
    values: { sem: ['relaxed', 'release'], scope: scopes, op: joins, type: integers },
    excludes: [...ofIntegers, { sem: [''], scope: scopes }, { sem: ['relaxed', 'release'], scope: [''] }],
    since: hopperStores,
    doc: 'Reduces an integer into the memory of every device.',
    source: '9.7.9.14',
    status: ofMany,
  }),
  row({
    syntax: 'multimem.red{.sem}{.scope}{.global}.op{.vec}.type [a], b',
    values: { sem: ['relaxed', 'release'], scope: scopes, op: ['min', 'max', 'add'], vec: widths, type: [...halves, 'f32', 'f64'] },
    excludes: [
      { vec: [''], type: ['f16', 'bf16'] },
      { vec: [''], type: ['f16x2', 'bf16x2'], op: ['min', 'max'] },
      { vec: ['v2', 'v4'], type: ['f64'] },
      { vec: ['v8'], type: ['f16x2', 'bf16x2', 'f32', 'f64'] },
      { op: ['min', 'max'], type: ['f32', 'f64'] },
      { sem: [''], scope: scopes },
      { sem: ['relaxed', 'release'], scope: [''] },
    ],
    vectors: { b: 'elements' },
    since: hopperStores,
    doc: 'Reduces floats into the memory of every device.',
    source: '9.7.9.14',
    status: ofMany,
  }),
];

const launchRows = (): readonly Row[] => [
  row({
    syntax: `clusterlaunchcontrol.try_cancel.async{.shared::cta}.${signal}{.multicast::cluster::all}.b128 [a], [mbar]`,
    since: blackwell,
    doc: 'Requests the work of a block that is not launched yet.',
    source: '9.7.13.19.1',
    status: ofLaunch,
  }),
  row({
    syntax: 'clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, a',
    types: { p: 'pred', a: 'b128' },
    since: blackwell,
    doc: 'Whether the request got a block.',
    source: '9.7.13.19.2',
    status: ofLaunch,
  }),
  row({
    syntax: 'clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 d, a',
    types: { d: 'b32', a: 'b128' },
    vectors: { d: 'elements' },
    lanes: { d: 4 },
    since: blackwell,
    doc: 'The index of the block in the grid.',
    source: '9.7.13.19.2',
    status: ofLaunch,
  }),
  row({
    syntax: 'clusterlaunchcontrol.query_cancel.axis.b32.b128 d, a',
    values: { axis: ['get_first_ctaid::x', 'get_first_ctaid::y', 'get_first_ctaid::z'] },
    types: { d: 'b32', a: 'b128' },
    since: blackwell,
    doc: 'The index of the block along an axis of the grid.',
    source: '9.7.13.19.2',
    status: ofLaunch,
  }),
];

export const refusedCopyRows = (): readonly Row[] => [...copyRows(), ...bulkRows(), ...storeRows(), ...multimemRows(), ...launchRows()];
