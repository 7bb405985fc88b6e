/** Refused: matrix products in tensor memory (9.7.16). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const because = (refused: string, instead: string): Refusal => ({ refused, instead });
const instead = 'use a product without it';

const since = { ptx: 8.6, sm: 100 } as const;
const move = refusedGroup({
  since,
  source: '9.7.16.8',
  status: because('loads of tensor memory with a reduction (sm_101a) are not implemented', 'load the registers, and reduce them'),
});
const copy = refusedGroup({
  since,
  source: '9.7.16.9',
  status: because(
    'the place of 4 or 6 bits in a byte of tensor memory is not documented',
    'unpack in registers, and store with `tcgen05.st`',
  ),
});
const shift = refusedGroup({
  since,
  source: '9.7.16.9',
  status: because('which rows of tensor memory a shift keeps is not documented in full', 'load the rows, and store them with `tcgen05.st`'),
});
const sparse = refusedGroup({
  since,
  source: '9.7.16.10',
  status: because('where the metadata of a sparse matrix lie in tensor memory is documented in figures alone', 'multiply dense matrices'),
});
const shifting = refusedGroup({
  since,
  source: '9.7.16.10',
  status: because('which rows of tensor memory a shift keeps is not documented in full', instead),
});

const group = ['cta_group::1', 'cta_group::2'] as const;
const num = ['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] as const;
const memory = [
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
  copy({
    syntax: 'tcgen05.cp.group.shape.b8x16.format [a], b',
    values: { group, shape: ['128x256b', '4x256b', '128x128b'], format: ['b6x16_p32', 'b4x16_p64'] },
    types: { a: 'b32', b: 'b64' },
    doc: 'Copies shared memory into tensor memory.',
  }),
  copy({
    syntax: 'tcgen05.cp.group.64x128b.multicast.b8x16.format [a], b',
    values: { group, multicast: ['warpx2::02_13', 'warpx2::01_23'], format: ['b6x16_p32', 'b4x16_p64'] },
    types: { a: 'b32', b: 'b64' },
    doc: 'Copies shared memory into tensor memory, for pairs of warps.',
  }),
  copy({
    syntax: 'tcgen05.cp.group.32x128b.warpx4.b8x16.format [a], b',
    values: { group, format: ['b6x16_p32', 'b4x16_p64'] },
    types: { a: 'b32', b: 'b64' },
    doc: 'Copies shared memory into tensor memory, for all four warps.',
  }),
  shift({ syntax: 'tcgen05.shift.group.down [a]', values: { group }, types: { a: 'b32' }, doc: 'Shifts rows of tensor memory down.' }),
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
  shifting({
    syntax: 'tcgen05.mma.group.kind.ashift{.collector} [d], [a], b, i{, o}, e{, z}',
    values: { group, kind: floats, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a matrix in tensor memory by one in shared memory and adds to tensor memory.',
  }),
  shifting({
    syntax: 'tcgen05.mma.group.kind::i8.ashift{.collector} [d], [a], b, i{, o}, e',
    values: { group, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a matrix of bytes in tensor memory by one in shared memory and adds to tensor memory.',
  }),
];

const sparseProducts = [
  sparse({
    syntax: 'tcgen05.mma.sp.group.kind{.collector} [d], a, b, [m], i{, o}, e{, z}',
    values: { group, kind: floats, collector: collectors },
    types: shared,
    vectors,
    doc: 'Multiplies a sparse matrix in shared memory by another one and adds to tensor memory.',
  }),
  sparse({
    syntax: 'tcgen05.mma.sp.group.kind{.ashift}{.collector} [d], [a], b, [m], i{, o}, e{, z}',
    values: { group, kind: floats, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a sparse matrix in tensor memory by one in shared memory and adds to tensor memory.',
  }),
  sparse({
    syntax: 'tcgen05.mma.sp.group.kind::i8{.collector} [d], a, b, [m], i{, o}, e',
    values: { group, collector: collectors },
    types: shared,
    vectors,
    doc: 'Multiplies a sparse matrix of bytes in shared memory by another one and adds to tensor memory.',
  }),
  sparse({
    syntax: 'tcgen05.mma.sp.group.kind::i8{.ashift}{.collector} [d], [a], b, [m], i{, o}, e',
    values: { group, collector: collectors },
    excludes: shifted,
    types: tensor,
    vectors,
    doc: 'Multiplies a sparse matrix of bytes in tensor memory by one in shared memory.',
  }),
  sparse({
    syntax: 'tcgen05.mma.sp.group.kind.block_scale{.scale}{.collector} [d], a, b, [m], i, [s], [t], e',
    values: { group, kind: scaled, scale: factors, collector: collectors },
    excludes: blocks,
    types: shared,
    doc: 'Multiplies a sparse matrix in shared memory by another one, with block scale factors.',
  }),
  sparse({
    syntax: 'tcgen05.mma.sp.group.kind.block_scale{.scale}{.collector} [d], [a], b, [m], i, [s], [t], e',
    values: { group, kind: scaled, scale: factors, collector: collectors },
    excludes: blocks,
    types: tensor,
    doc: 'Multiplies a sparse matrix in tensor memory by one in shared memory, with block scale factors.',
  }),
];

const weightProducts = [
  sparse({
    syntax: 'tcgen05.mma.ws.sp.cta_group::1.kind{.collector} [d], a, b, [m], i, e{, o}',
    values: { kind: [...floats, 'kind::i8'], collector: stationary },
    types: shared,
    doc: 'Multiplies a sparse matrix in shared memory by another one and keeps the latter.',
  }),
  sparse({
    syntax: 'tcgen05.mma.ws.sp.cta_group::1.kind{.collector} [d], [a], b, [m], i, e{, o}',
    values: { kind: [...floats, 'kind::i8'], collector: stationary },
    types: tensor,
    doc: 'Multiplies a sparse matrix in tensor memory by one in shared memory and keeps the latter.',
  }),
];

export const tcgen05Rows = (): readonly Row[] => [...memory, ...products, ...sparseProducts, ...weightProducts];
