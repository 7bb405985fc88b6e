/**
 * What handles say of samplers and of themselves, and reductions of texels of 64 bits, which no surface of CUDA has. Source: PTX ISA 9.0, 9.7.10.5,
 * 9.7.10.6, 9.7.11.3 and 9.7.11.4.
 */
import type { Value } from '../../../ir/index.ts';
import { addressModes, textureHead } from '../../../ir/texture.ts';
import { type Row, type RowBuilder, row } from '../../model/row.ts';
import { type Descriptor, descriptorOf, int } from './descriptor.ts';

/** The manual's number of an address mode: wrap, mirror, clamp as OpenGL does, to the edge, and to the border. */
const modeNumbers: readonly (readonly [number, number])[] = [
  [addressModes.wrap, 0],
  [addressModes.mirror, 1],
  [addressModes.clamp, 3],
  [addressModes.border, 4],
];

const samplerQueries = ['force_unnormalized_coords', 'filter_mode', 'addr_mode_0', 'addr_mode_1', 'addr_mode_2'] as const;

function samplerOf(ir: RowBuilder, { word }: Descriptor, query: (typeof samplerQueries)[number]): Value {
  if (query === 'filter_mode') return word(textureHead.isLinear);
  if (query === 'force_unnormalized_coords') return int(ir, 0);
  const mode = word(textureHead.addressMode[Number(query.at(-1))]!);
  return modeNumbers.reduce((found, [own, number]) => ir.select(ir.icmp(mode, int(ir, own), { pred: 'eq' }), int(ir, number), found), mode);
}

const query = {
  types: { d: 'b32', a: 'u64' },
  spaces: { a: 'global' },
  since: { ptx: 1.5, sm: 10 },
  status: 'exact',
  cases: () => [],
} as const;

export const textureQueryRows = (): readonly Row[] => [
  row({
    ...query,
    syntax: 'txq.query.b32 d, [a]',
    values: { query: samplerQueries },
    doc: 'Queries an attribute of the sampler of a texture, of which none forces coordinates.',
    source: '9.7.10.5',
    lower: ({ a }, m, ir) => samplerOf(ir, descriptorOf(ir, a, 'texture'), m.query),
  }),
  row({
    ...query,
    syntax: 'txq.num_samples.b32 d, [a]',
    doc: 'Queries the samples of a texel: 0, since no texture of CUDA has several.',
    source: '9.7.10.5',
    lower({ a }, _, ir) {
      descriptorOf(ir, a, 'texture');
      return int(ir, 0);
    },
  }),
  row({
    syntax: 'istypep.type d, a',
    values: { type: ['texref', 'samplerref', 'surfref'] },
    types: { d: 'pred', a: 'u64' },
    since: { ptx: 4, sm: 30 },
    doc: 'Whether an address is of an opaque variable. Handles of CUDA are of none. Source: recorded on an NVIDIA H200.',
    source: '9.7.10.6',
    status: 'exact',
    lower: (_, __, ir) => ir.const('i1', 0),
    cases: () => [
      { form: 'istypep.texref', a: 0n, d: 0, why: 'null' },
      { form: 'istypep.samplerref', a: 0x123456789abcn, d: 0, why: 'no address of anything' },
      { form: 'istypep.surfref', a: 1n, d: 0, why: 'a number' },
    ],
  }),
];

export const surfaceQueryRows = (): readonly Row[] => [
  row({
    ...query,
    syntax: 'suq.memory_layout.b32 d, [a]',
    doc: 'Queries whether the texels of a surface lie in the order of an array in memory: 0, since a surface of CUDA is of an array of its own layout.',
    source: '9.7.11.4',
    lower({ a }, _, ir) {
      descriptorOf(ir, a, 'surface');
      return int(ir, 0);
    },
  }),
  row({
    syntax: 'sured.p.op.geom.b64.mode [a, b], c',
    values: { op: ['min', 'max'], geom: ['1d', '2d', '3d'], mode: ['trap', 'clamp', 'zero'] },
    types: { a: 'u64', b: 's32', c: 'b64' },
    vectors: { b: 'some' },
    spaces: { a: 'global' },
    since: { ptx: 2, sm: 20 },
    doc: 'Combines a texel of one number of 64 bits with another one, atomically. No surface of CUDA has such texels, so that the kernel stops.',
    source: '9.7.11.3',
    status: 'exact',
    lower({ a }, _, ir) {
      descriptorOf(ir, a, 'surface');
      ir.stop('a reduction of texels that are not 64 bits');
    },
    cases: () => [],
  }),
];
