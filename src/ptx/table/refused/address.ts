/** Refused: matrices in memory. Source: PTX ISA 9.0, 9.7.9. */
import { type Row, row } from '../../model/row.ts';

const tileMoves = {
  refused: 'this layout of matrix tiles for NVIDIA tensor cores is not supported yet',
  instead: 'load each element with `ld.shared`',
} as const;

const tileRows = (): readonly Row[] => [
  row({
    syntax: 'ldmatrix.sync.aligned.m8n16.num{.space}.b8x16.source d, [a]',
    values: { num: ['x1', 'x2', 'x4'], space: ['shared', 'shared::cta'], source: ['b6x16_p32', 'b4x16_p64'] },
    types: { d: 'b32' },
    vectors: { d: 'elements' },
    lanes: { d: '.num' },
    since: { ptx: 8.6, sm: 100 },
    doc: 'Loads 8-by-16 tiles of small floats, distributed over the warp.',
    source: '9.7.14.5.15',
    status: tileMoves,
  }),
  row({
    syntax: 'ldmatrix.sync.aligned.m16n16.x1.trans{.space}.b8 d, [a]',
    values: { space: ['shared', 'shared::cta'] },
    types: { d: 'b32' },
    vectors: { d: 'elements' },
    lanes: { d: 2 },
    since: { ptx: 8.6, sm: 100 },
    doc: 'Loads a 16-by-16 tile of bytes, distributed over the warp.',
    source: '9.7.14.5.15',
    status: tileMoves,
  }),
  row({
    syntax: 'ldmatrix.sync.aligned.m16n16.x2.trans{.space}.b8 d, [a]',
    values: { space: ['shared', 'shared::cta'] },
    types: { d: 'b32' },
    vectors: { d: 'elements' },
    lanes: { d: 4 },
    since: { ptx: 8.6, sm: 100 },
    doc: 'Loads two 16-by-16 tiles of bytes, distributed over the warp.',
    source: '9.7.14.5.15',
    status: tileMoves,
  }),
  row({
    syntax: 'ldmatrix.sync.aligned.m16n16.x1.trans{.space}.b8x16.source d, [a]',
    values: { space: ['shared', 'shared::cta'], source: ['b6x16_p32', 'b4x16_p64'] },
    types: { d: 'b32' },
    vectors: { d: 'elements' },
    lanes: { d: 2 },
    since: { ptx: 8.6, sm: 100 },
    doc: 'Loads a 16-by-16 tile of small floats, distributed over the warp.',
    source: '9.7.14.5.15',
    status: tileMoves,
  }),
  row({
    syntax: 'ldmatrix.sync.aligned.m16n16.x2.trans{.space}.b8x16.source d, [a]',
    values: { space: ['shared', 'shared::cta'], source: ['b6x16_p32', 'b4x16_p64'] },
    types: { d: 'b32' },
    vectors: { d: 'elements' },
    lanes: { d: 4 },
    since: { ptx: 8.6, sm: 100 },
    doc: 'Loads two 16-by-16 tiles of small floats, distributed over the warp.',
    source: '9.7.14.5.15',
    status: tileMoves,
  }),
  row({
    syntax: 'stmatrix.sync.aligned.m16n8.num.trans{.space}.b8 [a], b',
    values: { num: ['x1', 'x2', 'x4'], space: ['shared', 'shared::cta'] },
    types: { b: 'b32' },
    vectors: { b: 'elements' },
    lanes: { b: '.num' },
    since: { ptx: 8.6, sm: 100 },
    doc: 'Stores 16-by-8 tiles of bytes that are distributed over the warp.',
    source: '9.7.14.5.16',
    status: tileMoves,
  }),
];

export const refusedAddressRows = (): readonly Row[] => [...tileRows()];
