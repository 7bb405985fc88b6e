/** Copies to tensors by a tensor map, and prefetches; those from tensors are in `tensor-loads.ts`. Source: PTX ISA 9.0, 9.7.9.25.5. */
import { type Row, row } from '../../model/row.ts';
import type { Reduction } from './bulk-copy.ts';
import { reducePart, storePart } from './tensor-copy.ts';

const dims = ['1d', '2d', '3d', '4d', '5d'] as const;
const imageDims = ['3d', '4d', '5d'] as const;
const operations = ['add', 'min', 'max', 'inc', 'dec', 'and', 'or', 'xor'] as const;
const hopper = { ptx: 8, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const ignore = (): void => {};
const atOnce = 'The copy is performed immediately.';
const unread = 'Ignored, because it has no effect on results.';

const outward = { a: 'b8', map: 'b8', coords: 's32', policy: 'b64' } as const;
const hinted = { policy: 'L2::cache_hint' } as const;
const elements = { coords: 'elements' } as const;
const fromShared = { a: 'shared' } as const;

const storeRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: dims },
    types: outward,
    vectors: elements,
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    spaces: fromShared,
    since: hopper,
    doc: `Copies shared memory into a box of a tensor. ${atOnce}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ map, coords, a }, _, ir) => storePart(ir, { map, coords, mode: 'tile' }, a),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.tensor.dim.global.shared::cta.im2col_no_offs.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: imageDims },
    types: outward,
    vectors: elements,
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    spaces: fromShared,
    since: hopper,
    doc: `Copies shared memory into columns of a convolution. ${atOnce}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ map, coords, a }, _, ir) => storePart(ir, { map, coords, mode: 'columns' }, a),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    types: outward,
    vectors: elements,
    lanes: { coords: 5 },
    onlyWith: hinted,
    spaces: fromShared,
    since: blackwell,
    doc: `Copies shared memory into four rows of a matrix. ${atOnce}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ map, coords, a }, _, ir) => storePart(ir, { map, coords, mode: 'gather' }, a),
    cases: () => [],
  }),
  row({
    syntax: 'cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{.tile}.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: dims, op: operations },
    types: outward,
    vectors: elements,
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    spaces: fromShared,
    since: hopper,
    doc: `Reduces shared memory into a box of a tensor, each element atomically. ${atOnce}`,
    source: '9.7.9.25.5.3',
    status: 'exact',
    lower: ({ map, coords, a }, { op }, ir) => reducePart(ir, { map, coords, mode: 'tile' }, a, op as Reduction),
    cases: () => [],
  }),
  row({
    syntax: 'cp.reduce.async.bulk.tensor.dim.global.shared::cta.op.im2col_no_offs.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: imageDims, op: operations },
    types: outward,
    vectors: elements,
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    spaces: fromShared,
    since: hopper,
    doc: `Reduces shared memory into columns of a convolution, each element atomically. ${atOnce}`,
    source: '9.7.9.25.5.3',
    status: 'exact',
    lower: ({ map, coords, a }, { op }, ir) => reducePart(ir, { map, coords, mode: 'columns' }, a, op as Reduction),
    cases: () => [],
  }),
];

const prefetched = { map: 'b8', coords: 's32', policy: 'b64' } as const;

const prefetchRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint} [map, coords]{, policy}',
    values: { dim: dims },
    types: prefetched,
    vectors: elements,
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    since: hopper,
    doc: `Prefetches a box of a tensor into the cache. ${unread}`,
    source: '9.7.9.25.5.4',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4{.L2::cache_hint} [map, coords]{, policy}',
    types: prefetched,
    vectors: elements,
    lanes: { coords: 5 },
    onlyWith: hinted,
    since: blackwell,
    doc: `Prefetches four rows of a matrix into the cache. ${unread}`,
    source: '9.7.9.25.5.4',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.dim.L2.global.im2col{.L2::cache_hint} [map, coords], offsets{, policy}',
    values: { dim: imageDims },
    types: { ...prefetched, offsets: 'u16' },
    vectors: { coords: 'elements', offsets: 'elements' },
    lanes: { coords: '.dim', offsets: '.dim-2' },
    onlyWith: hinted,
    since: hopper,
    doc: `Prefetches the columns of a convolution into the cache. ${unread}`,
    source: '9.7.9.25.5.4',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.dim.L2.global.mode{.L2::cache_hint} [map, coords], halo{, policy}',
    values: { dim: imageDims, mode: ['im2col::w', 'im2col::w::128'] },
    types: { ...prefetched, halo: 'u16' },
    vectors: { coords: 'elements', halo: 'elements' },
    lanes: { coords: '.dim', halo: 2 },
    onlyWith: hinted,
    since: blackwell,
    doc: `Prefetches the columns of a convolution along its width into the cache. ${unread}`,
    source: '9.7.9.25.5.4',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
];

export const tensorRows = (): readonly Row[] => [...storeRows(), ...prefetchRows()];
