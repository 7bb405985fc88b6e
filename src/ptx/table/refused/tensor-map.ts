/** Refused: tensor copies by a tensor map, and updates of tensor maps. Source: PTX ISA 9.0, 9.7.9.25.5 and 9.7.9.26. */
import { type Row, row } from '../../model/row.ts';

const dims = ['1d', '2d', '3d', '4d', '5d'] as const;
const imageDims = ['3d', '4d', '5d'] as const;
const operations = ['add', 'min', 'max', 'inc', 'dec', 'and', 'or', 'xor'] as const;
const hopper = { ptx: 8, sm: 90 } as const;
const hopperMaps = { ptx: 8.3, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;

const byEngine = {
  refused: 'Apple GPUs have neither the tensor copy engine of a Hopper GPU nor mbarriers',
  instead: 'build for an architecture before sm_90, whose code computes addresses and copies with loads and stores',
} as const;
const ofMap = {
  refused: 'the format of tensor maps is undocumented and only the Hopper copy engine reads it',
  instead: 'build for an architecture before sm_90, whose code needs no tensor map',
} as const;

const inward = { mask: 'b16', policy: 'b64', coords: 's32', map: 'b64' } as const;
const when = { mask: 'multicast::cluster', policy: 'L2::cache_hint' } as const;
const hinted = { policy: 'L2::cache_hint' } as const;

const loadRows = (): readonly Row[] => [
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global{.tile}.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar]{, mask}{, policy}`,
    values: { dim: dims, space: ['shared::cluster', 'shared::cta'], group: ['cta_group::1', 'cta_group::2'] },
    excludes: [{ space: ['shared::cta'], 'multicast::cluster': ['multicast::cluster'] }],
    types: inward,
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith: when,
    since: hopper,
    doc: 'Copies a box of a tensor into shared memory.',
    source: '9.7.9.25.5.2',
    status: byEngine,
  }),
  row({
    syntax: `cp.async.bulk.tensor.2d.space.global.tile::gather4.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar]{, mask}{, policy}`,
    values: { space: ['shared::cluster', 'shared::cta'], group: ['cta_group::1', 'cta_group::2'] },
    excludes: [{ space: ['shared::cta'], 'multicast::cluster': ['multicast::cluster'] }],
    types: inward,
    vectors: { coords: 'elements' },
    lanes: { coords: 5 },
    onlyWith: when,
    since: blackwell,
    doc: 'Copies four rows of a matrix into shared memory.',
    source: '9.7.9.25.5.2',
    status: byEngine,
  }),
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global.im2col.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar], offsets{, mask}{, policy}`,
    values: { dim: imageDims, space: ['shared::cluster', 'shared::cta'], group: ['cta_group::1', 'cta_group::2'] },
    excludes: [{ space: ['shared::cta'], 'multicast::cluster': ['multicast::cluster'] }],
    types: { ...inward, offsets: 'u16' },
    vectors: { coords: 'elements', offsets: 'elements' },
    lanes: { coords: '.dim', offsets: '.dim-2' },
    onlyWith: when,
    since: hopper,
    doc: 'Copies the columns of a convolution into shared memory.',
    source: '9.7.9.25.5.2',
    status: byEngine,
  }),
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global.mode.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar], halo{, mask}{, policy}`,
    values: {
      dim: imageDims,
      space: ['shared::cluster', 'shared::cta'],
      mode: ['im2col::w', 'im2col::w::128'],
      group: ['cta_group::1', 'cta_group::2'],
    },
    excludes: [{ space: ['shared::cta'], 'multicast::cluster': ['multicast::cluster'] }],
    types: { ...inward, halo: 'u16' },
    vectors: { coords: 'elements', halo: 'elements' },
    lanes: { coords: '.dim', halo: 2 },
    onlyWith: when,
    since: blackwell,
    doc: 'Copies the columns of a convolution along its width into shared memory.',
    source: '9.7.9.25.5.2',
    status: byEngine,
  }),
];

const storeRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.bulk.tensor.dim.global.shared::cta{.tile}.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: dims },
    types: { map: 'b64', coords: 's32', policy: 'b64' },
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    since: hopper,
    doc: 'Copies shared memory into a box of a tensor.',
    source: '9.7.9.25.5.2',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.tensor.dim.global.shared::cta.im2col_no_offs.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: imageDims },
    types: { map: 'b64', coords: 's32', policy: 'b64' },
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    since: hopper,
    doc: 'Copies shared memory into columns of a convolution.',
    source: '9.7.9.25.5.2',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    types: { map: 'b64', coords: 's32', policy: 'b64' },
    vectors: { coords: 'elements' },
    lanes: { coords: 5 },
    onlyWith: hinted,
    since: blackwell,
    doc: 'Copies shared memory into four rows of a matrix.',
    source: '9.7.9.25.5.2',
    status: byEngine,
  }),
  row({
    syntax: 'cp.reduce.async.bulk.tensor.dim.global.shared::cta.op{.tile}.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: dims, op: operations },
    types: { map: 'b64', coords: 's32', policy: 'b64' },
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    since: hopper,
    doc: 'Reduces shared memory into a box of a tensor.',
    source: '9.7.9.25.5.3',
    status: byEngine,
  }),
  row({
    syntax: 'cp.reduce.async.bulk.tensor.dim.global.shared::cta.op.im2col_no_offs.bulk_group{.L2::cache_hint} [map, coords], [a]{, policy}',
    values: { dim: imageDims, op: operations },
    types: { map: 'b64', coords: 's32', policy: 'b64' },
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    since: hopper,
    doc: 'Reduces shared memory into columns of a convolution.',
    source: '9.7.9.25.5.3',
    status: byEngine,
  }),
];

const prefetchRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.dim.L2.global{.tile}{.L2::cache_hint} [map, coords]{, policy}',
    values: { dim: dims },
    types: { map: 'b64', coords: 's32', policy: 'b64' },
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith: hinted,
    since: hopper,
    doc: 'Prefetches a box of a tensor into the cache.',
    source: '9.7.9.25.5.4',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4{.L2::cache_hint} [map, coords]{, policy}',
    types: { map: 'b64', coords: 's32', policy: 'b64' },
    vectors: { coords: 'elements' },
    lanes: { coords: 5 },
    onlyWith: hinted,
    since: blackwell,
    doc: 'Prefetches four rows of a matrix into the cache.',
    source: '9.7.9.25.5.4',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.dim.L2.global.im2col{.L2::cache_hint} [map, coords], offsets{, policy}',
    values: { dim: imageDims },
    types: { map: 'b64', coords: 's32', offsets: 'u16', policy: 'b64' },
    vectors: { coords: 'elements', offsets: 'elements' },
    lanes: { coords: '.dim', offsets: '.dim-2' },
    onlyWith: hinted,
    since: hopper,
    doc: 'Prefetches the columns of a convolution into the cache.',
    source: '9.7.9.25.5.4',
    status: byEngine,
  }),
  row({
    syntax: 'cp.async.bulk.prefetch.tensor.dim.L2.global.mode{.L2::cache_hint} [map, coords], halo{, policy}',
    values: { dim: imageDims, mode: ['im2col::w', 'im2col::w::128'] },
    types: { map: 'b64', coords: 's32', halo: 'u16', policy: 'b64' },
    vectors: { coords: 'elements', halo: 'elements' },
    lanes: { coords: '.dim', halo: 2 },
    onlyWith: hinted,
    since: blackwell,
    doc: 'Prefetches the columns of a convolution along its width into the cache.',
    source: '9.7.9.25.5.4',
    status: byEngine,
  }),
];

const mapSpaces = ['global', 'shared::cta'] as const;

const mapRows = (): readonly Row[] => [
  row({
    syntax: 'tensormap.replace.tile.global_address{.space}.b1024.b64 [a], value',
    values: { space: mapSpaces },
    types: { value: 'b64' },
    since: hopperMaps,
    doc: 'Sets the address in a tensor map.',
    source: '9.7.9.26.1',
    status: ofMap,
  }),
  row({
    syntax: 'tensormap.replace.tile.rank{.space}.b1024.b32 [a], value',
    values: { space: mapSpaces },
    types: { value: 'b32' },
    since: hopperMaps,
    doc: 'Sets the number of dimensions in a tensor map.',
    source: '9.7.9.26.1',
    status: ofMap,
  }),
  row({
    syntax: 'tensormap.replace.tile.field{.space}.b1024.b32 [a], index, value',
    values: { field: ['box_dim', 'global_dim', 'element_stride'], space: mapSpaces },
    types: { index: 'b32', value: 'b32' },
    constants: { index: [0, 4] },
    since: hopperMaps,
    doc: 'Sets a size in a tensor map.',
    source: '9.7.9.26.1',
    status: ofMap,
  }),
  row({
    syntax: 'tensormap.replace.tile.global_stride{.space}.b1024.b64 [a], index, value',
    values: { space: mapSpaces },
    types: { index: 'b32', value: 'b64' },
    constants: { index: [0, 4] },
    since: hopperMaps,
    doc: 'Sets a stride in a tensor map.',
    source: '9.7.9.26.1',
    status: ofMap,
  }),
  row({
    syntax: 'tensormap.replace.tile.field{.space}.b1024.b32 [a], constant',
    values: { field: ['elemtype', 'interleave_layout', 'swizzle_mode', 'fill_mode', 'swizzle_atomicity'], space: mapSpaces },
    types: { constant: 'b32' },
    constants: { constant: [0, 15] },
    since: hopperMaps,
    doc: 'Sets a kind in a tensor map.',
    source: '9.7.9.26.1',
    status: ofMap,
  }),
  row({
    syntax: 'tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [d], [a], size',
    values: { scope: ['cta', 'cluster', 'gpu', 'sys'] },
    types: { size: 'b32' },
    constants: { size: [128, 128] },
    since: hopperMaps,
    doc: 'Copies a tensor map to where the copy engine reads it.',
    source: '9.7.13.16',
    status: ofMap,
  }),
];

export const refusedTensorRows = (): readonly Row[] => [...loadRows(), ...storeRows(), ...prefetchRows(), ...mapRows()];
