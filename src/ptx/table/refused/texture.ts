/** Refused: textures (9.7.10). Source: PTX ISA 9.0. */
import type { Refusal, Row } from '../../model/row.ts';
import { refusedGroup } from './refuse.ts';

const because = (refused: string, instead: string): Refusal => ({ refused, instead });
const noSamples = because(
  'textures of several samples are of graphics, and CUDA has no function that makes one',
  'use a texture of one sample',
);
const noCubes = because('gradients of cubes are not implemented', 'use `tex.level.cube`');
const noSamplerQueries = because(
  'a handle is of a texture with its sampler, of which these queries are not implemented',
  'pass the value as a kernel parameter',
);

const cubes = ['cube', 'acube'] as const;
const texels = { vec: ['v4'], dtype: ['u32', 's32', 'f32'] } as const;

const texture = refusedGroup({ since: { ptx: 4.2, sm: 53 }, source: '9.7.10.3', status: noSamples });
const query = refusedGroup({ since: { ptx: 1.5, sm: 10 }, source: '9.7.10.5', status: noSamplerQueries });

const operands = { d: '.dtype', p: 'pred', a: 'u64', b: 'u64', e: 's32', f: 'f32' } as const;
const vectors = { d: 'elements', c: 'some', e: 'some' } as const;

const lookups = [
  texture({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a, c]{, e}{, f}',
    values: { geom: ['2dms', 'a2dms'], ...texels, ctype: ['s32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    since: { ptx: 3.2, sm: 30 },
    status: noSamples,
    doc: 'Loads a sample of a multisampled texture.',
  }),
];

const levels = [
  texture({
    syntax: 'tex.grad.geom.vec.dtype.ctype d[|p], [a, c], x, y{, e}{, f}',
    values: { geom: cubes, ...texels, ctype: ['f32'] },
    types: { ...operands, c: '.ctype', x: '.ctype', y: '.ctype' },
    vectors: { ...vectors, x: 'some', y: 'some' },
    since: { ptx: 3.1, sm: 20 },
    status: noCubes,
    doc: 'Samples a cube at the level of the given gradients.',
  }),
];

export const refusedTextureRows = (): readonly Row[] => [
  ...lookups,
  ...levels,
  query({
    syntax: 'txq.num_samples.b32 d, [a]',
    types: { d: 'b32', a: 'u64' },
    status: noSamples,
    doc: 'Queries the samples of a texel.',
  }),
  query({
    syntax: 'txq.query.b32 d, [a]',
    values: { query: ['force_unnormalized_coords', 'filter_mode', 'addr_mode_0', 'addr_mode_1', 'addr_mode_2'] },
    types: { d: 'b32', a: 'u64' },
    doc: 'Queries an attribute of a sampler.',
  }),
  refusedGroup({
    since: { ptx: 4, sm: 30 },
    source: '9.7.10.6',
    status: because('a handle does not say what it is of', 'pass what it is of as a kernel parameter'),
  })({
    syntax: 'istypep.type p, a',
    values: { type: ['texref', 'samplerref', 'surfref'] },
    types: { p: 'pred', a: 'u64' },
    doc: 'Whether a handle refers to a texture, a sampler or a surface.',
  }),
];
