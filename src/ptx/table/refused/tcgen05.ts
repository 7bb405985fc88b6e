/** Refused: matrix products in tensor memory (9.7.16). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noTensorMemory: Refusal = {
  refused: 'Apple GPUs have neither tensor memory (sm_100a) nor asynchronous matrix products',
  instead: 'compile for sm_80 or below, and compute the product with `fma` or `mad`',
};

const since = { ptx: 8.6, sm: 100 } as const;
const tcgen05 = refusedGroup({ since, source: '9.7.16.7', status: noTensorMemory });
const move = refusedGroup({ since, source: '9.7.16.8', status: noTensorMemory });
const copy = refusedGroup({ since, source: '9.7.16.9', status: noTensorMemory });
const product = refusedGroup({ since, source: '9.7.16.10', status: noTensorMemory });

const group = ['cta_group::1', 'cta_group::2'] as const;
const num = ['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] as const;
const shape = ['16x64b', '16x128b', '16x256b', '32x32b'] as const;
/** At most 128 registers are possible. */
const tooMany = [
  { shape: ['16x128b', '16x256b'], num: ['x128'] },
  { shape: ['16x256b'], num: ['x64'] },
] as const;

/** Source formats of 6 or 4 bits that are unpacked. */
const formats = [
  { b8x16: ['b8x16'], format: [''] },
  { b8x16: [''], format: ['b6x16_p32', 'b4x16_p64'] },
] as const;

const memory = [
  tcgen05({
    syntax: 'tcgen05.alloc.group.sync.aligned{.shared::cta}.b32 [a], b',
    values: { group },
    types: { a: 'b64', b: 'u32' },
    doc: 'Allocates columns of tensor memory and stores their address in shared memory.',
  }),
  tcgen05({
    syntax: 'tcgen05.dealloc.group.sync.aligned.b32 a, b',
    values: { group },
    types: { a: 'b32', b: 'u32' },
    doc: 'Frees columns of tensor memory.',
  }),
  tcgen05({
    syntax: 'tcgen05.relinquish_alloc_permit.group.sync.aligned',
    values: { group },
    doc: 'Declares that the block allocates no more tensor memory.',
  }),
  move({
    syntax: 'tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32 d, [a]',
    values: { shape, num },
    excludes: tooMany,
    types: { d: 'b32', a: 'b32' },
    vectors: { d: 'some' },
    doc: 'Loads tensor memory into registers.',
  }),
  move({
    syntax: 'tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32 d, [a], b',
    values: { num },
    types: { d: 'b32', a: 'b32', b: 's32' },
    vectors: { d: 'some' },
    doc: 'Loads two parts of tensor memory into registers.',
  }),
  move({
    syntax: 'tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [a], b',
    values: { shape, num },
    excludes: tooMany,
    types: { a: 'b32', b: 'b32' },
    vectors: { b: 'some' },
    doc: 'Stores registers to tensor memory.',
  }),
  move({
    syntax: 'tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32 [a], b, c',
    values: { num },
    types: { a: 'b32', b: 's32', c: 'b32' },
    vectors: { c: 'some' },
    doc: 'Stores registers to two parts of tensor memory.',
  }),
  move({
    syntax: 'tcgen05.ld.red.sync.aligned.32x32b.num.op{.abs}{.NaN}.f32 d, r, [a]',
    values: { num: num.slice(1), op: ['min', 'max'] },
    types: { d: 'f32', r: 'f32', a: 'b32' },
    vectors: { d: 'some' },
    since: { ptx: 8.8, sm: 101 },
    doc: 'Loads tensor memory into registers, with the minimum or maximum as a float.',
  }),
  move({
    syntax: 'tcgen05.ld.red.sync.aligned.16x32bx2.num.op{.abs}{.NaN}.f32 d, r, [a], b',
    values: { num: num.slice(1), op: ['min', 'max'] },
    types: { d: 'f32', r: 'f32', a: 'b32', b: 's32' },
    vectors: { d: 'some' },
    since: { ptx: 8.8, sm: 101 },
    doc: 'Loads two parts of tensor memory into registers, with the minimum or maximum as a float.',
  }),
  move({
    syntax: 'tcgen05.ld.red.sync.aligned.32x32b.num.op.type d, r, [a]',
    values: { num: num.slice(1), op: ['min', 'max'], type: ['u32', 's32'] },
    types: { a: 'b32', d: 'b32', r: 'b32' },
    vectors: { d: 'some' },
    since: { ptx: 8.8, sm: 101 },
    doc: 'Loads tensor memory into registers, with the minimum or maximum as an integer.',
  }),
  move({
    syntax: 'tcgen05.ld.red.sync.aligned.16x32bx2.num.op.type d, r, [a], b',
    values: { num: num.slice(1), op: ['min', 'max'], type: ['u32', 's32'] },
    types: { a: 'b32', d: 'b32', r: 'b32', b: 's32' },
    vectors: { d: 'some' },
    since: { ptx: 8.8, sm: 101 },
    doc: 'Loads two parts of tensor memory into registers, with the minimum or maximum as an integer.',
  }),
  move({
    syntax: 'tcgen05.wait.sync.aligned',
    values: { wait: ['wait::ld', 'wait::st'] },
    doc: 'Waits for the loads or the stores of tensor memory.',
  }),
  copy({
    syntax: 'tcgen05.cp.group.shape{.b8x16}{.format} [a], b',
    values: { group, shape: ['128x256b', '4x256b', '128x128b'], format: ['b6x16_p32', 'b4x16_p64'] },
    excludes: formats,
    types: { a: 'b32', b: 'b64' },
    doc: 'Copies shared memory into tensor memory.',
  }),
  copy({
    syntax: 'tcgen05.cp.group.64x128b.multicast{.b8x16}{.format} [a], b',
    values: { group, multicast: ['warpx2::02_13', 'warpx2::01_23'], format: ['b6x16_p32', 'b4x16_p64'] },
    excludes: formats,
    types: { a: 'b32', b: 'b64' },
    doc: 'Copies shared memory into tensor memory, for pairs of warps.',
  }),
  copy({
    syntax: 'tcgen05.cp.group.32x128b.warpx4{.b8x16}{.format} [a], b',
    values: { group, format: ['b6x16_p32', 'b4x16_p64'] },
    excludes: formats,
    types: { a: 'b32', b: 'b64' },
    doc: 'Copies shared memory into tensor memory, for all four warps.',
  }),
  copy({ syntax: 'tcgen05.shift.group.down [a]', values: { group }, types: { a: 'b32' }, doc: 'Shifts rows of tensor memory down.' }),
  tcgen05({
    syntax: 'tcgen05.fence',
    values: { fence: ['fence::before_thread_sync', 'fence::after_thread_sync'] },
    source: '9.7.16.11',
    doc: 'Orders asynchronous operations before or after a synchronization of threads.',
  }),
  tcgen05({
    syntax: 'tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.b64 [a]',
    values: { group },
    types: { a: 'b64' },
    source: '9.7.16.12',
    doc: 'Arrives at a barrier in memory when all asynchronous operations are complete.',
  }),
  tcgen05({
    syntax: 'tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.multicast::cluster.b64 [a], b',
    values: { group },
    types: { a: 'b64', b: 'b16' },
    source: '9.7.16.12',
    doc: 'Arrives at the barriers of several blocks when all asynchronous operations are complete.',
  }),
];

/** Collector buffers keep `a`, or one of four of `b`, for later products. */
const collectors = ['collector::a::fill', 'collector::a::use', 'collector::a::lastuse', 'collector::a::discard'] as const;
const stationary = ['b0', 'b1', 'b2', 'b3'].flatMap((buffer) =>
  ['fill', 'use', 'lastuse', 'discard'].map((use) => `collector::${buffer}::${use}`),
);
const floats = ['kind::f16', 'kind::tf32', 'kind::f8f6f4'] as const;
const scaled = ['kind::mxf8f6f4', 'kind::mxf4', 'kind::mxf4nvf4'] as const;
const factors = ['scale_vec::1X', 'scale_vec::2X', 'scale_vec::4X', 'block16', 'block32'] as const;
/** Blocks with a scale factor of their own. */
const blocks = [
  { kind: ['kind::mxf8f6f4'], scale: ['scale_vec::2X', 'scale_vec::4X', 'block16'] },
  { kind: ['kind::mxf4'], scale: ['scale_vec::1X', 'scale_vec::4X', 'block16'] },
  { kind: ['kind::mxf4nvf4'], scale: ['', 'scale_vec::1X'] },
] as const;
/** Shifted rows cannot be kept in a collector buffer. */
const shifted = [{ ashift: ['ashift'], collector: ['collector::a::fill', 'collector::a::use'] }] as const;
const operands = { d: 'b32', b: 'b64', i: 'b32', m: 'b32', e: 'pred', z: 's32', o: 'b64', s: 'b32', t: 'b32' } as const;
const shared = { ...operands, a: 'b64' } as const;
const tensor = { ...operands, a: 'b32' } as const;
const vectors = { o: 'some' } as const;

const products = [
  product({
    syntax: 'tcgen05.mma.group.kind{.collector} [d], a, b, i{, o}, e{, z}',
    values: { group, kind: floats, collector: collectors },
    types: shared,
    vectors,
    doc: 'Multiplies matrices in shared memory and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.group.kind{.ashift}{.collector} [d], [a], b, i{, o}, e{, z}',
    values: { group, kind: floats, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a matrix in tensor memory by one in shared memory and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.group.kind::i8{.collector} [d], a, b, i{, o}, e',
    values: { group, collector: collectors },
    types: shared,
    vectors,
    doc: 'Multiplies matrices of bytes in shared memory and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.group.kind::i8{.ashift}{.collector} [d], [a], b, i{, o}, e',
    values: { group, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a matrix of bytes in tensor memory by one in shared memory and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.group.kind.block_scale{.scale}{.collector} [d], a, b, i, [s], [t], e',
    values: { group, kind: scaled, scale: factors, collector: collectors },
    excludes: blocks,
    types: shared,
    doc: 'Multiplies matrices in shared memory with block scale factors and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.group.kind.block_scale{.scale}{.collector} [d], [a], b, i, [s], [t], e',
    values: { group, kind: scaled, scale: factors, collector: collectors },
    excludes: blocks,
    types: tensor,
    doc: 'Multiplies a matrix in tensor memory by one in shared memory with block scale factors.',
  }),
];

const sparseProducts = [
  product({
    syntax: 'tcgen05.mma.sp.group.kind{.collector} [d], a, b, [m], i{, o}, e{, z}',
    values: { group, kind: floats, collector: collectors },
    types: shared,
    vectors,
    doc: 'Multiplies a sparse matrix in shared memory by another one and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.sp.group.kind{.ashift}{.collector} [d], [a], b, [m], i{, o}, e{, z}',
    values: { group, kind: floats, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a sparse matrix in tensor memory by one in shared memory and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.sp.group.kind::i8{.collector} [d], a, b, [m], i{, o}, e',
    values: { group, collector: collectors },
    types: shared,
    vectors,
    doc: 'Multiplies a sparse matrix of bytes in shared memory by another one and adds to tensor memory.',
  }),
  product({
    syntax: 'tcgen05.mma.sp.group.kind::i8{.ashift}{.collector} [d], [a], b, [m], i{, o}, e',
    values: { group, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a sparse matrix of bytes in tensor memory by one in shared memory.',
  }),
  product({
    syntax: 'tcgen05.mma.sp.group.kind.block_scale{.scale}{.collector} [d], a, b, [m], i, [s], [t], e',
    values: { group, kind: scaled, scale: factors, collector: collectors },
    excludes: blocks,
    types: shared,
    doc: 'Multiplies a sparse matrix in shared memory by another one, with block scale factors.',
  }),
  product({
    syntax: 'tcgen05.mma.sp.group.kind.block_scale{.scale}{.collector} [d], [a], b, [m], i, [s], [t], e',
    values: { group, kind: scaled, scale: factors, collector: collectors },
    excludes: blocks,
    types: tensor,
    doc: 'Multiplies a sparse matrix in tensor memory by one in shared memory, with block scale factors.',
  }),
];

const weightProducts = [
  product({
    syntax: 'tcgen05.mma.ws.cta_group::1.kind{.collector} [d], a, b, i, e{, o}',
    values: { kind: [...floats, 'kind::i8'], collector: stationary },
    types: shared,
    doc: 'Multiplies matrices in shared memory and keeps the second one for later products.',
  }),
  product({
    syntax: 'tcgen05.mma.ws.cta_group::1.kind{.collector} [d], [a], b, i, e{, o}',
    values: { kind: [...floats, 'kind::i8'], collector: stationary },
    types: tensor,
    doc: 'Multiplies a matrix in tensor memory by one in shared memory and keeps the latter for later products.',
  }),
  product({
    syntax: 'tcgen05.mma.ws.sp.cta_group::1.kind{.collector} [d], a, b, [m], i, e{, o}',
    values: { kind: [...floats, 'kind::i8'], collector: stationary },
    types: shared,
    doc: 'Multiplies a sparse matrix in shared memory by another one and keeps the latter.',
  }),
  product({
    syntax: 'tcgen05.mma.ws.sp.cta_group::1.kind{.collector} [d], [a], b, [m], i, e{, o}',
    values: { kind: [...floats, 'kind::i8'], collector: stationary },
    types: tensor,
    doc: 'Multiplies a sparse matrix in tensor memory by one in shared memory and keeps the latter.',
  }),
];

export const tcgen05Rows = (): readonly Row[] => [...memory, ...products, ...sparseProducts, ...weightProducts];
