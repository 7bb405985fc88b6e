/** Refused: asynchronous matrix products by a warp group (9.7.15). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noGroups: Refusal = {
  refused: 'AIR has no asynchronous matrix products by a warp group (sm_90a), and no shared-memory descriptors',
  instead: 'compile for sm_80 or below, and compute the product with `fma` or `mad`',
};

const since = { ptx: 8, sm: 90 } as const;
const wgmma = refusedGroup({ since, source: '9.7.15.5', status: noGroups });
const sparse = refusedGroup({ since: { ptx: 8.2, sm: 90 }, source: '9.7.15.6', status: noGroups });
const order = refusedGroup({ since, source: '9.7.15.7', status: noGroups });

/** The shapes for a list of widths and a depth, such as `m64n8k16`. */
const shapes = (widths: readonly number[], depth: number): readonly string[] => widths.map((width) => `m64n${width}k${depth}`);
const byEight = Array.from({ length: 32 }, (_, i) => 8 * (i + 1));
const bySixteen = [8, ...byEight.filter((width) => width === 24 || width % 16 === 0)];

const halves = shapes(byEight, 16);
const singles = shapes(byEight, 8);
const bytes = shapes(byEight, 32);
const integers = shapes(bySixteen, 32);

const vectors = { d: 'some' } as const;
const inRegisters = { d: 'some', a: 'some' } as const;
const descriptors = { a: 'b64', b: 'b64', s: 'pred', x: 's32', y: 's32', u: 's32', v: 's32' } as const;
const registers = { ...descriptors, a: 'b32' } as const;
const metadata = { e: 'b32', f: 's32' } as const;
const eighth = ['e4m3', 'e5m2'] as const;
const byte = ['s8', 'u8'] as const;
const half = ['f16', 'f32'] as const;

const product = 'Multiplies matrices in shared memory and adds to registers: ';
const mixed = 'Multiplies a matrix in registers by one in shared memory and adds to registers: ';
const thin = 'Multiplies a sparse matrix by another one and adds to registers: ';

const dense = [
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.f16.f16 d, a, b, s, x, y, u, v',
    values: { shape: halves, dtype: half },
    types: { ...descriptors, d: '.dtype' },
    vectors,
    doc: `${product}halves.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.f16.f16 d, a, b, s, x, y, v',
    values: { shape: halves, dtype: half },
    types: { ...registers, d: '.dtype' },
    vectors: inRegisters,
    doc: `${mixed}halves.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16 d, a, b, s, x, y, u, v',
    values: { shape: halves },
    types: { ...descriptors, d: 'f32' },
    vectors,
    doc: `${product}bfloats.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.bf16.bf16 d, a, b, s, x, y, v',
    values: { shape: halves },
    types: { ...registers, d: 'f32' },
    vectors: inRegisters,
    doc: `${mixed}bfloats.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32 d, a, b, s, x, y',
    values: { shape: singles },
    types: { ...descriptors, d: 'f32' },
    vectors,
    doc: `${product}short floats.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.f32.tf32.tf32 d, a, b, s, x, y',
    values: { shape: singles },
    types: { ...registers, d: 'f32' },
    vectors: inRegisters,
    doc: `${mixed}short floats.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, a, b, s, x, y',
    values: { shape: bytes, dtype: half, atype: eighth, btype: eighth },
    types: { ...descriptors, d: '.dtype' },
    vectors,
    doc: `${product}8-bit floats.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, a, b, s, x, y',
    values: { shape: bytes, dtype: half, atype: eighth, btype: eighth },
    types: { ...registers, d: '.dtype' },
    vectors: inRegisters,
    doc: `${mixed}8-bit floats.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype d, a, b, s',
    values: { shape: integers, atype: byte, btype: byte },
    types: { ...descriptors, d: 's32' },
    vectors,
    doc: `${product}bytes.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape{.satfinite}.s32.atype.btype d, a, b, s',
    values: { shape: integers, atype: byte, btype: byte },
    types: { ...registers, d: 's32' },
    vectors: inRegisters,
    doc: `${mixed}bytes.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc d, a, b, s',
    values: { shape: shapes(bySixteen, 256) },
    types: { ...descriptors, d: 's32' },
    vectors,
    doc: `${product}bits, counting those set in both.`,
  }),
  wgmma({
    syntax: 'wgmma.mma_async.sync.aligned.shape.s32.b1.b1.and.popc d, a, b, s',
    values: { shape: shapes(bySixteen, 256) },
    types: { ...registers, d: 's32' },
    vectors: inRegisters,
    doc: `${mixed}bits, counting those set in both.`,
  }),
];

const sparseRows = (): readonly Row[] => [
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.dtype.f16.f16 d, a, b, e, f, s, x, y, u, v',
    values: { shape: bytes, dtype: half },
    types: { ...descriptors, ...metadata, d: '.dtype' },
    vectors,
    doc: `${thin}halves.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.f32.bf16.bf16 d, a, b, e, f, s, x, y, u, v',
    values: { shape: bytes },
    types: { ...descriptors, ...metadata, d: 'f32' },
    vectors,
    doc: `${thin}bfloats.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.f32.tf32.tf32 d, a, b, e, f, s, x, y',
    values: { shape: halves },
    types: { ...descriptors, ...metadata, d: 'f32' },
    vectors,
    doc: `${thin}short floats.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype d, a, b, e, f, s, x, y',
    values: { shape: shapes(byEight, 64), dtype: half, atype: eighth, btype: eighth },
    types: { ...descriptors, ...metadata, d: '.dtype' },
    vectors,
    doc: `${thin}8-bit floats.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype d, a, b, e, f, s',
    values: { shape: shapes(bySixteen, 64), atype: byte, btype: byte },
    types: { ...descriptors, ...metadata, d: 's32' },
    vectors,
    doc: `${thin}bytes.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.dtype.f16.f16 d, a, b, e, f, s, x, y, v',
    values: { shape: bytes, dtype: half },
    types: { ...registers, ...metadata, d: '.dtype' },
    vectors: inRegisters,
    doc: `${thin}halves, the first in registers.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.f32.bf16.bf16 d, a, b, e, f, s, x, y, v',
    values: { shape: bytes },
    types: { ...registers, ...metadata, d: 'f32' },
    vectors: inRegisters,
    doc: `${thin}bfloats, the first in registers.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.f32.tf32.tf32 d, a, b, e, f, s, x, y',
    values: { shape: halves },
    types: { ...registers, ...metadata, d: 'f32' },
    vectors: inRegisters,
    doc: `${thin}short floats, the first in registers.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape.dtype.atype.btype d, a, b, e, f, s, x, y',
    values: { shape: shapes(byEight, 64), dtype: half, atype: eighth, btype: eighth },
    types: { ...registers, ...metadata, d: '.dtype' },
    vectors: inRegisters,
    doc: `${thin}8-bit floats, the first in registers.`,
  }),
  sparse({
    syntax: 'wgmma.mma_async.sp.sync.aligned.shape{.satfinite}.s32.atype.btype d, a, b, e, f, s',
    values: { shape: shapes(bySixteen, 64), atype: byte, btype: byte },
    types: { ...registers, ...metadata, d: 's32' },
    vectors: inRegisters,
    doc: `${thin}bytes, the first in registers.`,
  }),
];

export const wgmmaRows = (): readonly Row[] => [
  order({ syntax: 'wgmma.fence.sync.aligned', doc: 'Orders register accesses before a product that uses them.' }),
  order({ syntax: 'wgmma.commit_group.sync.aligned', doc: 'Closes the group of the products so far.' }),
  order({ syntax: 'wgmma.wait_group.sync.aligned a', types: { a: 's32' }, doc: 'Waits until at most `a` groups are incomplete.' }),
  ...dense,
  ...sparseRows(),
];
