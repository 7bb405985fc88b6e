/** Refused: tensor copies by pairs of blocks, and columns along the width alone. Source: PTX ISA 9.0, 9.7.9.25.5. */
import { type Row, row } from '../../model/row.ts';

const dims = ['1d', '2d', '3d', '4d', '5d'] as const;
const imageDims = ['3d', '4d', '5d'] as const;
const hopper = { ptx: 8, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;
const group = ['cta_group::1', 'cta_group::2'] as const;
const space = ['shared::cluster', 'shared::cta'] as const;

const ofPairs = {
  refused: 'pairs of blocks and the tensor memory that they share are those of Blackwell GPUs',
  instead: 'copy without `.cta_group`',
} as const;
const alongWidth = {
  refused: 'where this mode stops and continues at the ends of rows is not documented in full',
  instead: 'copy by `.im2col`, or box by box by `.tile`',
} as const;

const inward = { mask: 'b16', policy: 'b64', coords: 's32', map: 'b64' } as const;
const when = { mask: 'multicast::cluster', policy: 'L2::cache_hint' } as const;
/** For a pair of blocks. */
const ofOneBlock = [{ group: [''] }, { space: ['shared::cta'], 'multicast::cluster': ['multicast::cluster'] }] as const;

export const refusedTensorRows = (): readonly Row[] => [
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global{.tile}.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar]{, mask}{, policy}`,
    values: { dim: dims, space, group },
    excludes: ofOneBlock,
    types: inward,
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith: when,
    since: hopper,
    doc: 'Copies a box of a tensor for a pair of blocks.',
    source: '9.7.9.25.5.2',
    status: ofPairs,
  }),
  row({
    syntax: `cp.async.bulk.tensor.2d.space.global.tile::gather4.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar]{, mask}{, policy}`,
    values: { space, group },
    excludes: ofOneBlock,
    types: inward,
    vectors: { coords: 'elements' },
    lanes: { coords: 5 },
    onlyWith: when,
    since: blackwell,
    doc: 'Copies four rows of a matrix for a pair of blocks.',
    source: '9.7.9.25.5.2',
    status: ofPairs,
  }),
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global.im2col.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar], offsets{, mask}{, policy}`,
    values: { dim: imageDims, space, group },
    excludes: ofOneBlock,
    types: { ...inward, offsets: 'u16' },
    vectors: { coords: 'elements', offsets: 'elements' },
    lanes: { coords: '.dim', offsets: '.dim-2' },
    onlyWith: when,
    since: hopper,
    doc: 'Copies the columns of a convolution for a pair of blocks.',
    source: '9.7.9.25.5.2',
    status: ofPairs,
  }),
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global.mode.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [d], [map, coords], [mbar], halo{, mask}{, policy}`,
    values: { dim: imageDims, space, mode: ['im2col::w', 'im2col::w::128'], group },
    excludes: [{ space: ['shared::cta'], 'multicast::cluster': ['multicast::cluster'] }],
    types: { ...inward, halo: 'u16' },
    vectors: { coords: 'elements', halo: 'elements' },
    lanes: { coords: '.dim', halo: 2 },
    onlyWith: when,
    since: blackwell,
    doc: 'Copies the columns of a convolution along its width into shared memory.',
    source: '9.7.9.25.5.2',
    status: alongWidth,
  }),
];
