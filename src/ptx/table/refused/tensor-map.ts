/** Refused: columns along the width alone. Source: PTX ISA 9.0, 9.7.9.25.5. */
import { type Row, row } from '../../model/row.ts';

const imageDims = ['3d', '4d', '5d'] as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;
const group = ['cta_group::1', 'cta_group::2'] as const;
const space = ['shared::cluster', 'shared::cta'] as const;

const alongWidth = {
  refused: 'where this mode stops and continues at the ends of rows is not documented in full',
  instead: 'copy by `.im2col`, or box by box by `.tile`',
} as const;

const inward = { mask: 'b16', policy: 'b64', coords: 's32', map: 'b64' } as const;
const when = { mask: 'multicast::cluster', policy: 'L2::cache_hint' } as const;

export const refusedTensorRows = (): readonly Row[] => [
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
