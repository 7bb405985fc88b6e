/**
 * Refused: asynchronous bulk copies and stores, multi-device memory, and work stealing between blocks. Source: PTX ISA 9.0, 9.7.9 and
 * 9.7.13.
 */
import { type Row, row } from '../../model/row.ts';
import { joining } from '../async/bulk.ts';

const hopper = { ptx: 8, sm: 90 } as const;
const hopperStores = { ptx: 8.1, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;

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

const multicastRows = (): readonly Row[] => [
  row({
    syntax: `cp.async.bulk.shared::cluster.global.${signal}.multicast::cluster{.L2::cache_hint} [d], [a], size, [mbar], mask{, policy}`,
    types: { size: 'u32', mask: 'b16', policy: 'b64' },
    onlyWith: { policy: 'L2::cache_hint' },
    since: hopper,
    doc: 'Copies into the shared memory of several blocks and signals their mbarriers.',
    source: '9.7.9.25.4.1',
    status: ofCluster,
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

export const refusedCopyRows = (): readonly Row[] => [...multicastRows(), ...multimemRows(), ...launchRows()];
