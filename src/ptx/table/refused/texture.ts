/** Refused: textures (9.7.10). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const noTextures: Refusal = {
  refused: 'Metal binds textures as kernel arguments, so a handle in a register cannot select one, and its filter weights differ',
  instead: 'read the data from a buffer with `ld.global.nc`',
};
const noQueries: Refusal = {
  refused: 'Metal binds textures and samplers as kernel arguments, so a handle in a register cannot be queried',
  instead: 'pass the value as a kernel parameter',
};

const sampled = ['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube'] as const;
const integerCoordinates = ['1d', '2d', '3d', 'a1d', 'a2d'] as const;
const texels = { vec: ['v4'], dtype: ['u32', 's32', 'f32'] } as const;
const halves = { vec: ['v2'], dtype: ['f16x2'] } as const;

const texture = refusedGroup({ since: { ptx: 1, sm: 10 }, source: '9.7.10.3', status: noTextures });
const mipmap = refusedGroup({ since: { ptx: 3.1, sm: 20 }, source: '9.7.10.3', status: noTextures });
const footprint = refusedGroup({ since: { ptx: 3.1, sm: 20 }, source: '9.7.10.4', status: noTextures });
const query = refusedGroup({ since: { ptx: 1.5, sm: 10 }, source: '9.7.10.5', status: noQueries });

const operands = { d: '.dtype', p: 'pred', a: 'u64', b: 'u64', e: 's32', f: 'f32' } as const;
const vectors = { d: 'elements', c: 'some', e: 'some' } as const;

const lookups = [
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: sampled, ...texels, ctype: ['f32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    doc: 'Samples a texture. `p` is whether the memory is resident, `e` an offset and `f` a depth for comparison.',
  }),
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: integerCoordinates, ...texels, ctype: ['s32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    doc: 'Loads a texel at integer coordinates.',
  }),
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: ['2dms', 'a2dms'], ...texels, ctype: ['s32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    since: { ptx: 3.2, sm: 30 },
    doc: 'Loads a sample of a multisampled texture.',
  }),
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: sampled, ...halves, ctype: ['f32'] },
    types: { ...operands, d: 'b32', c: '.ctype' },
    vectors,
    since: { ptx: 4.2, sm: 53 },
    doc: 'Samples a texture with packed half results.',
  }),
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: integerCoordinates, ...halves, ctype: ['s32'] },
    types: { ...operands, d: 'b32', c: '.ctype' },
    vectors,
    since: { ptx: 4.2, sm: 53 },
    doc: 'Loads a texel at integer coordinates with packed half results.',
  }),
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: sampled, vec: ['v4'], dtype: ['f16'], ctype: ['f32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    since: { ptx: 4.2, sm: 53 },
    doc: 'Samples a texture with half results.',
  }),
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: integerCoordinates, vec: ['v4'], dtype: ['f16'], ctype: ['s32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    since: { ptx: 4.2, sm: 53 },
    doc: 'Loads a texel at integer coordinates with half results.',
  }),
];

const levels = [
  mipmap({
    syntax: 'tex.base.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: sampled, vec: ['v4'], dtype: ['u32', 's32', 'f32', 'f16'], ctype: ['f32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    doc: 'Samples the finest level of a texture.',
  }),
  mipmap({
    syntax: 'tex.base.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { geom: sampled, ...halves, ctype: ['f32'] },
    types: { ...operands, d: 'b32', c: '.ctype' },
    vectors,
    doc: 'Samples the finest level of a texture with packed half results.',
  }),
  mipmap({
    syntax: 'tex.level.geom.vec.dtype.ctype d[|p], [a{, b}, c], lod{, e}{, f}',
    values: { geom: sampled, vec: ['v4'], dtype: ['u32', 's32', 'f32', 'f16'], ctype: ['f32'] },
    types: { ...operands, c: '.ctype', lod: '.ctype' },
    vectors,
    doc: 'Samples the given level of a texture.',
  }),
  mipmap({
    syntax: 'tex.level.geom.vec.dtype.ctype d[|p], [a{, b}, c], lod{, e}{, f}',
    values: { geom: sampled, ...halves, ctype: ['f32'] },
    types: { ...operands, d: 'b32', c: '.ctype', lod: '.ctype' },
    vectors,
    doc: 'Samples the given level of a texture with packed half results.',
  }),
  mipmap({
    syntax: 'tex.grad.geom.vec.dtype.ctype d[|p], [a{, b}, c], x, y{, e}{, f}',
    values: { geom: sampled, vec: ['v4'], dtype: ['u32', 's32', 'f32', 'f16'], ctype: ['f32'] },
    types: { ...operands, c: '.ctype', x: '.ctype', y: '.ctype' },
    vectors: { ...vectors, x: 'some', y: 'some' },
    doc: 'Samples a texture at the level of the given gradients.',
  }),
  mipmap({
    syntax: 'tex.grad.geom.vec.dtype.ctype d[|p], [a{, b}, c], x, y{, e}{, f}',
    values: { geom: sampled, ...halves, ctype: ['f32'] },
    types: { ...operands, d: 'b32', c: '.ctype', x: '.ctype', y: '.ctype' },
    vectors: { ...vectors, x: 'some', y: 'some' },
    doc: 'Samples a texture at the level of the given gradients with packed half results.',
  }),
];

export const textureRows = (): readonly Row[] => [
  ...lookups,
  ...levels,
  footprint({
    syntax: 'tld4.comp.geom.vec.dtype.ctype d[|p], [a{, b}, c]{, e}{, f}',
    values: { comp: ['r', 'g', 'b', 'a'], geom: ['2d', 'a2d', 'cube', 'acube'], ...texels, ctype: ['f32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    doc: 'Gathers one component of the four texels that filtering would mix.',
  }),
  query({
    syntax: 'txq.query.b32 d, [a]',
    values: {
      query: [
        'width',
        'height',
        'depth',
        'channel_data_type',
        'channel_order',
        'normalized_coords',
        'array_size',
        'num_mipmap_levels',
        'num_samples',
      ],
    },
    types: { d: 'b32', a: 'u64' },
    doc: 'Queries an attribute of a texture.',
  }),
  query({
    syntax: 'txq.level.query.b32 d, [a], lod',
    values: { query: ['width', 'height', 'depth'] },
    types: { d: 'b32', a: 'u64', lod: 'u32' },
    since: { ptx: 3.1, sm: 30 },
    doc: 'Queries the extent of a level of a texture.',
  }),
  query({
    syntax: 'txq.query.b32 d, [a]',
    values: { query: ['force_unnormalized_coords', 'filter_mode', 'addr_mode_0', 'addr_mode_1', 'addr_mode_2'] },
    types: { d: 'b32', a: 'u64' },
    doc: 'Queries an attribute of a sampler.',
  }),
  refusedGroup({ since: { ptx: 4, sm: 30 }, source: '9.7.10.6', status: noQueries })({
    syntax: 'istypep.type p, a',
    values: { type: ['texref', 'samplerref', 'surfref'] },
    types: { p: 'pred', a: 'u64' },
    doc: 'Whether a handle refers to a texture, a sampler or a surface.',
  }),
];
