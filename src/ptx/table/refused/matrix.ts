/** Refused: sparse, block-scaled and saturated warp matrix products (9.7.14). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const instead = 'compute the product with `fma` or `mad`, without tensor cores';
const notYet: Refusal = { refused: 'this warp matrix product is not supported yet', instead };
const ofFloats: Refusal = {
  refused: 'tensor cores round the sums of this warp matrix product in their own way, which is not supported yet',
  instead,
};

const layout = ['row', 'col'] as const;
const shapes = ['m16n16k16', 'm8n32k16', 'm32n8k16'] as const;
const half = ['f16', 'f32'] as const;

const old = { ptx: 6, sm: 70 } as const;
const ampere = { ptx: 7, sm: 80 } as const;

const fragments = { d: 'some', a: 'some', b: 'some', c: 'some' } as const;
const integers = { d: 's32', a: 'b32', b: 'b32', c: 's32' } as const;
const singles = { d: 'f32', a: 'b32', b: 'b32', c: 'f32' } as const;
const halves = { d: '.dtype', a: 'b32', b: 'b32', c: '.ctype' } as const;
const signs = { alayout: layout, blayout: layout } as const;

const wmmaProducts = [
  refusedGroup({
    since: old,
    source: '9.7.14.4.5',
    status: {
      refused: 'saturation of float sums was removed from PTX in version 6.5',
      instead: 'leave out `.satfinite`, and clamp the result with `min`',
    },
  })({
    syntax: 'wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype.satfinite d, a, b, c',
    values: { ...signs, shape: shapes, dtype: half, ctype: half },
    types: halves,
    vectors: fragments,
    doc: 'Multiplies matrices of halves and adds a matrix, with saturation.',
  }),
];

const mma = refusedGroup({ since: ampere, source: '9.7.14.5', status: ofFloats });
const eighth = ['e4m3', 'e5m2'] as const;
const short = ['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1'] as const;
const scaled = { ...singles, s: 'b32', i: 'b16', t: 'b32', j: 'b16' } as const;
const scales = { ...fragments, s: 'some', i: 'elements', t: 'some', j: 'elements' } as const;
const pairs = { i: 2, j: 2 } as const;
const blackwell = { ptx: 8.7, sm: 120 } as const;

const products = [
  mma({
    syntax: 'mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c',
    values: { dtype: half, atype: short, btype: short, ctype: half },
    excludes: [
      { dtype: ['f16'], ctype: ['f32'] },
      { dtype: ['f32'], ctype: ['f16'] },
    ],
    types: halves,
    vectors: fragments,
    since: blackwell,
    doc: 'Multiplies matrices of 4- to 8-bit floats and adds a matrix.',
  }),
  mma({
    syntax: 'mma.sync.aligned.m16n8k64.row.col.kind.block_scale{.scale}.f32.e2m1.e2m1.f32.stype d, a, b, c, s, i, t, j',
    values: { kind: ['kind::mxf4'], scale: ['scale_vec::2X'], stype: ['ue8m0'] },
    types: scaled,
    vectors: scales,
    lanes: pairs,
    since: blackwell,
    doc: 'Multiplies matrices of 4-bit floats with block scale factors and adds a matrix.',
  }),
  mma({
    syntax: 'mma.sync.aligned.m16n8k64.row.col.kind.block_scale.scale.f32.e2m1.e2m1.f32.stype d, a, b, c, s, i, t, j',
    values: { kind: ['kind::mxf4nvf4'], scale: ['scale_vec::2X', 'scale_vec::4X'], stype: ['ue8m0', 'ue4m3'] },
    excludes: [
      { scale: ['scale_vec::2X'], stype: ['ue4m3'] },
      { scale: ['scale_vec::4X'], stype: ['ue8m0'] },
    ],
    types: scaled,
    vectors: scales,
    lanes: pairs,
    since: blackwell,
    doc: 'Multiplies matrices of 4-bit floats with block scale factors and adds a matrix.',
  }),
  mma({
    syntax: 'mma.sync.aligned.m16n8k32.row.col.kind.block_scale{.scale}.f32.atype.btype.f32.ue8m0 d, a, b, c, s, i, t, j',
    values: { kind: ['kind::mxf8f6f4'], scale: ['scale_vec::1X'], atype: short, btype: short },
    types: scaled,
    vectors: scales,
    lanes: pairs,
    since: blackwell,
    doc: 'Multiplies matrices of 4- to 8-bit floats with block scale factors and adds a matrix.',
  }),
];

const sparse = refusedGroup({ since: { ptx: 7.1, sm: 80 }, source: '9.7.14.6', status: ofFloats });
const variants = ['sp', 'sp::ordered_metadata'] as const;
const metadata = { e: 'b32', f: 'u32' } as const;

const sparseProducts = [
  sparse({
    syntax: 'mma.variant.sync.aligned.shape.row.col.dtype.f16.f16.ctype d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k16', 'm16n8k32'], dtype: half, ctype: half },
    excludes: [
      { dtype: ['f16'], ctype: ['f32'] },
      { dtype: ['f32'], ctype: ['f16'] },
    ],
    types: { ...halves, ...metadata },
    vectors: fragments,
    doc: 'Multiplies a sparse matrix of halves by another matrix and adds a matrix.',
  }),
  sparse({
    syntax: 'mma.variant.sync.aligned.shape.row.col.f32.bf16.bf16.f32 d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k16', 'm16n8k32'] },
    types: { ...singles, ...metadata },
    vectors: fragments,
    doc: 'Multiplies a sparse matrix of bfloats by another matrix and adds a matrix.',
  }),
  sparse({
    syntax: 'mma.variant.sync.aligned.shape.row.col.f32.tf32.tf32.f32 d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k8', 'm16n8k16'] },
    types: { ...singles, ...metadata },
    vectors: fragments,
    doc: 'Multiplies a sparse matrix of short floats by another matrix and adds a matrix.',
  }),
  sparse({
    syntax: 'mma.variant.sync.aligned.m16n8k64.row.col.dtype.atype.btype.ctype d, a, b, c, e, f',
    values: { variant: variants, dtype: ['f32'], atype: eighth, btype: eighth, ctype: ['f32'] },
    types: { ...halves, ...metadata },
    vectors: fragments,
    since: { ptx: 8.4, sm: 89 },
    doc: 'Multiplies a sparse matrix of 8-bit floats by another matrix and adds a matrix.',
  }),
  sparse({
    syntax: 'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c, e, f',
    values: { dtype: half, atype: short, btype: short, ctype: half },
    excludes: [
      { dtype: ['f16'], ctype: ['f32'] },
      { dtype: ['f32'], ctype: ['f16'] },
    ],
    types: { ...halves, ...metadata },
    vectors: fragments,
    since: blackwell,
    doc: 'Multiplies a sparse matrix of 4- to 8-bit floats by another matrix and adds a matrix.',
  }),
  sparse({
    syntax:
      'mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind.block_scale{.scale}.f32.e2m1.e2m1.f32.stype d, a, b, c, e, f, s, i, t, j',
    values: { kind: ['kind::mxf4'], scale: ['scale_vec::2X'], stype: ['ue8m0'] },
    types: { ...scaled, ...metadata },
    vectors: scales,
    lanes: pairs,
    since: blackwell,
    doc: 'Multiplies a sparse matrix of 4-bit floats by another matrix, with block scale factors.',
  }),
  sparse({
    syntax:
      'mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind.block_scale.scale.f32.e2m1.e2m1.f32.stype d, a, b, c, e, f, s, i, t, j',
    values: { kind: ['kind::mxf4nvf4'], scale: ['scale_vec::2X', 'scale_vec::4X'], stype: ['ue8m0', 'ue4m3'] },
    excludes: [
      { scale: ['scale_vec::2X'], stype: ['ue4m3'] },
      { scale: ['scale_vec::4X'], stype: ['ue8m0'] },
    ],
    types: { ...scaled, ...metadata },
    vectors: scales,
    lanes: pairs,
    since: blackwell,
    doc: 'Multiplies a sparse matrix of 4-bit floats by another matrix, with block scale factors.',
  }),
  sparse({
    syntax:
      'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind.block_scale{.scale}.f32.atype.btype.f32.ue8m0 d, a, b, c, e, f, s, i, t, j',
    values: { kind: ['kind::mxf8f6f4'], scale: ['scale_vec::1X'], atype: short, btype: short },
    types: { ...scaled, ...metadata },
    vectors: scales,
    lanes: pairs,
    since: blackwell,
    doc: 'Multiplies a sparse matrix of 4- to 8-bit floats by another matrix, with block scale factors.',
  }),
  sparse({
    syntax: 'mma.variant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k32', 'm16n8k64'], atype: ['u8', 's8'], btype: ['u8', 's8'] },
    types: { ...integers, ...metadata },
    vectors: fragments,
    status: notYet,
    doc: 'Multiplies a sparse matrix of bytes by another matrix and adds a matrix.',
  }),
  sparse({
    syntax: 'mma.variant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k64', 'm16n8k128'], atype: ['u4', 's4'], btype: ['u4', 's4'] },
    types: { ...integers, ...metadata },
    vectors: fragments,
    status: notYet,
    doc: 'Multiplies a sparse matrix of 4-bit integers by another matrix and adds a matrix.',
  }),
];

export const matrixRows = (): readonly Row[] => [...wmmaProducts, ...products, ...sparseProducts];
