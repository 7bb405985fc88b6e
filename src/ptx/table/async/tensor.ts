/** Copies of tensors by a tensor map. Source: PTX ISA 9.0, 9.7.9.25.5. */
import { type Row, row } from '../../model/row.ts';
import type { Reduction } from './bulk-copy.ts';
import { loadPart, multicastPart, reducePart, storePart } from './tensor-copy.ts';

const dims = ['1d', '2d', '3d', '4d', '5d'] as const;
const imageDims = ['3d', '4d', '5d'] as const;
const operations = ['add', 'min', 'max', 'inc', 'dec', 'and', 'or', 'xor'] as const;
const hopper = { ptx: 8, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const space = ['shared::cluster', 'shared::cta'] as const;
const ignore = (): void => {};
const cpu = 'The copy is performed immediately. Requires `--target cpu`.';
const unread = 'Ignored, because it has no effect on results.';

const inward = { to: 'b8', mbar: 'b64', policy: 'b64', coords: 's32', map: 'b8' } as const;
const outward = { a: 'b8', map: 'b8', coords: 's32', policy: 'b64' } as const;
const hinted = { policy: 'L2::cache_hint' } as const;
const elements = { coords: 'elements' } as const;
const toShared = { to: 'shared', mbar: 'shared' } as const;
const fromShared = { a: 'shared' } as const;

const loadRows = (): readonly Row[] => [
  row({
    syntax:
      'cp.async.bulk.tensor.dim.space.global{.tile}.mbarrier::complete_tx::bytes{.L2::cache_hint} [to], [map, coords], [mbar]{, policy}',
    values: { dim: dims, space },
    types: inward,
    vectors: elements,
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    spaces: toShared,
    since: hopper,
    doc: `Copies a box of a tensor into shared memory. ${cpu}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ to, map, coords, mbar }, { space }, ir) => loadPart(ir, { map, coords, mode: 'tile' }, { to, mbar, space }),
    cases: () => [],
  }),
  row({
    syntax:
      'cp.async.bulk.tensor.2d.space.global.tile::gather4.mbarrier::complete_tx::bytes{.L2::cache_hint} [to], [map, coords], [mbar]{, policy}',
    values: { space },
    types: inward,
    vectors: elements,
    lanes: { coords: 5 },
    onlyWith: hinted,
    spaces: toShared,
    since: blackwell,
    doc: `Copies four rows of a matrix into shared memory. ${cpu}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ to, map, coords, mbar }, { space }, ir) => loadPart(ir, { map, coords, mode: 'gather' }, { to, mbar, space }),
    cases: () => [],
  }),
  row({
    syntax:
      'cp.async.bulk.tensor.dim.space.global.im2col.mbarrier::complete_tx::bytes{.L2::cache_hint} [to], [map, coords], [mbar], offsets{, policy}',
    values: { dim: imageDims, space },
    types: { ...inward, offsets: 'u16' },
    vectors: { coords: 'elements', offsets: 'elements' },
    lanes: { coords: '.dim', offsets: '.dim-2' },
    onlyWith: hinted,
    spaces: toShared,
    since: hopper,
    doc: `Copies the columns of a convolution into shared memory. ${cpu}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ to, map, coords, mbar, offsets }, { space }, ir) =>
      loadPart(ir, { map, coords, offsets, mode: 'columns' }, { to, mbar, space }),
    cases: () => [],
  }),
];

const severalBlocks = `the shared memory of each block of a mask, at the same place. ${cpu}`;
const masked = { ...inward, mask: 'b16' } as const;

const multicastRows = (): readonly Row[] => [
  row({
    syntax:
      'cp.async.bulk.tensor.dim.shared::cluster.global{.tile}.mbarrier::complete_tx::bytes.multicast::cluster{.L2::cache_hint} [to], [map, coords], [mbar], mask{, policy}',
    values: { dim: dims },
    types: masked,
    vectors: elements,
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    spaces: toShared,
    since: hopper,
    doc: `Copies a box of a tensor into ${severalBlocks}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ to, map, coords, mbar, mask }, _, ir) => multicastPart(ir, { map, coords, mode: 'tile' }, { to, mbar }, mask),
    cases: () => [],
  }),
  row({
    syntax:
      'cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes.multicast::cluster{.L2::cache_hint} [to], [map, coords], [mbar], mask{, policy}',
    types: masked,
    vectors: elements,
    lanes: { coords: 5 },
    onlyWith: hinted,
    spaces: toShared,
    since: blackwell,
    doc: `Copies four rows of a matrix into ${severalBlocks}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ to, map, coords, mbar, mask }, _, ir) => multicastPart(ir, { map, coords, mode: 'gather' }, { to, mbar }, mask),
    cases: () => [],
  }),
  row({
    syntax:
      'cp.async.bulk.tensor.dim.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster{.L2::cache_hint} [to], [map, coords], [mbar], offsets, mask{, policy}',
    values: { dim: imageDims },
    types: { ...masked, offsets: 'u16' },
    vectors: { coords: 'elements', offsets: 'elements' },
    lanes: { coords: '.dim', offsets: '.dim-2' },
    onlyWith: hinted,
    spaces: toShared,
    since: hopper,
    doc: `Copies the columns of a convolution into ${severalBlocks}`,
    source: '9.7.9.25.5.2',
    status: 'exact',
    lower: ({ to, map, coords, mbar, offsets, mask }, _, ir) =>
      multicastPart(ir, { map, coords, offsets, mode: 'columns' }, { to, mbar }, mask),
    cases: () => [],
  }),
];

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
    doc: `Copies shared memory into a box of a tensor. ${cpu}`,
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
    doc: `Copies shared memory into columns of a convolution. ${cpu}`,
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
    doc: `Copies shared memory into four rows of a matrix. ${cpu}`,
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
    doc: `Reduces shared memory into a box of a tensor, each element atomically. ${cpu}`,
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
    doc: `Reduces shared memory into columns of a convolution, each element atomically. ${cpu}`,
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

export const tensorRows = (): readonly Row[] => [...loadRows(), ...multicastRows(), ...storeRows(), ...prefetchRows()];
