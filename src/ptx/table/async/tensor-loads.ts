/** Copies from tensors into shared memory, also that of several blocks of a cluster. Source: PTX ISA 9.0, 9.7.9.25.5.2. */
import type { Value } from '../../../ir/index.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { loadPart, loadPartForMany, type Part } from './tensor-copy.ts';

const dims = ['1d', '2d', '3d', '4d', '5d'] as const;
const imageDims = ['3d', '4d', '5d'] as const;
const hopper = { ptx: 8, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;
const group = ['cta_group::1', 'cta_group::2'] as const;
const space = ['shared::cluster', 'shared::cta'] as const;
const source = '9.7.9.25.5.2';
const atOnce = 'The copy is performed immediately.';

const types = { mask: 'b16', policy: 'b64', coords: 's32', map: 'b64', to: 'b8', mbar: 'b64' } as const;
const onlyWith = { mask: 'multicast::cluster', policy: 'L2::cache_hint' } as const;
const spaces = { to: 'shared', mbar: 'shared' } as const;
/** Only the shared memory of a cluster is of several blocks. */
const ofSeveral = [{ space: ['shared::cta'], 'multicast::cluster': ['multicast::cluster'] }] as const;

interface Copy {
  readonly to: AddressOperand;
  readonly mbar: AddressOperand;
  readonly mask?: Value;
}

function copy(ir: RowBuilder, part: Part, { to, mbar, mask }: Copy, group: string | undefined): void {
  if (mask === undefined) loadPart(ir, part, to, mbar);
  else loadPartForMany(ir, part, { to, mbar, mask, isOfPair: group === 'cta_group::2' });
}

export const tensorLoadRows = (): readonly Row[] => [
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global{.tile}.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [to], [map, coords], [mbar]{, mask}{, policy}`,
    values: { dim: dims, space, group },
    excludes: ofSeveral,
    types,
    vectors: { coords: 'elements' },
    lanes: { coords: '.dim' },
    onlyWith,
    spaces,
    since: hopper,
    doc: `Copies a box of a tensor into shared memory, or to the same place in that of several blocks of a cluster. ${atOnce}`,
    source,
    status: 'exact',
    lower: ({ map, coords, ...given }, m, ir) => copy(ir, { map, coords, mode: 'tile' }, given, m.group),
    cases: () => [],
  }),
  row({
    syntax: `cp.async.bulk.tensor.2d.space.global.tile::gather4.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [to], [map, coords], [mbar]{, mask}{, policy}`,
    values: { space, group },
    excludes: ofSeveral,
    types,
    vectors: { coords: 'elements' },
    lanes: { coords: 5 },
    onlyWith,
    spaces,
    since: blackwell,
    doc: `Copies four rows of a matrix into shared memory, or to the same place in that of several blocks of a cluster. ${atOnce}`,
    source,
    status: 'exact',
    lower: ({ map, coords, ...given }, m, ir) => copy(ir, { map, coords, mode: 'gather' }, given, m.group),
    cases: () => [],
  }),
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global.im2col.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [to], [map, coords], [mbar], offsets{, mask}{, policy}`,
    values: { dim: imageDims, space, group },
    excludes: ofSeveral,
    types: { ...types, offsets: 'u16' },
    vectors: { coords: 'elements', offsets: 'elements' },
    lanes: { coords: '.dim', offsets: '.dim-2' },
    onlyWith,
    spaces,
    since: hopper,
    doc: `Copies the columns of a convolution into shared memory, or to the same place in that of several blocks of a cluster. ${atOnce}`,
    source,
    status: 'exact',
    lower: ({ map, coords, offsets, ...given }, m, ir) => copy(ir, { map, coords, offsets, mode: 'columns' }, given, m.group),
    cases: () => [],
  }),
  row({
    syntax: `cp.async.bulk.tensor.dim.space.global.mode.${signal}{.multicast::cluster}{.group}{.L2::cache_hint} [to], [map, coords], [mbar], halo{, mask}{, policy}`,
    values: { dim: imageDims, space, mode: ['im2col::w', 'im2col::w::128'], group },
    excludes: ofSeveral,
    types: { ...types, halo: 'u16' },
    vectors: { coords: 'elements', halo: 'elements' },
    lanes: { coords: '.dim', halo: 2 },
    onlyWith,
    spaces,
    since: blackwell,
    doc: `Copies the columns of a convolution along its width into shared memory, or to the same place in that of several blocks of a cluster. Pixels behind a column stop the kernel, since their places are documented in figures alone. ${atOnce}`,
    source,
    status: 'exact',
    lower: ({ map, coords, halo, ...given }, m, ir) =>
      copy(ir, { map, coords, offsets: halo, mode: m.mode === 'im2col::w' ? 'w' : 'w128' }, given, m.group),
    cases: () => [],
  }),
];
