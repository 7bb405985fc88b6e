/** Textures (9.7.10). Source: PTX ISA 9.0. */

import type { Value } from '../../../ir/index.ts';
import { textureHead } from '../../../ir/texture.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { orNan } from '../compose.ts';
import { joined } from '../halves.ts';
import { alongFace, onFace } from './cube.ts';
import { axesOf, coordinatesOf, descriptorOf, type Geometry, imageOf, int, isCube, type List, listOf } from './descriptor.ts';
import { gradientDetail, levelsAt } from './levels.ts';
import { type Fetch, fetchTexel, gather, layerOf, sample, sampleLevels } from './sample.ts';
import { type Query, queried } from './surface.ts';

const sampled = ['1d', '2d', '3d', 'a1d', 'a2d', 'cube', 'acube'] as const;
const integerCoordinates = ['1d', '2d', '3d', 'a1d', 'a2d'] as const;
const texels = { vec: ['v4'], dtype: ['u32', 's32', 'f32'] } as const;
const halves = { vec: ['v4', 'v2'], dtype: ['f16', 'f16x2'] } as const;
const mismatched = [
  { vec: ['v4'], dtype: ['f16x2'] },
  { vec: ['v2'], dtype: ['u32', 's32', 'f32', 'f16'] },
] as const;
const operands = { d: '.dtype', p: 'pred', a: 'u64', e: 's32' } as const;
const vectors = { d: 'elements', c: 'some', e: 'some' } as const;

interface Operands {
  readonly a: AddressOperand;
  readonly c: List;
  readonly e?: List;
}

interface Form {
  readonly geom: Geometry;
  readonly dtype: string;
}

/** The fetch of an instruction: coordinates behind the layer, and a cube as its faces. */
function fetchOf(ir: RowBuilder, { a, c, e }: Operands, geometry: Geometry): Fetch {
  const descriptor = descriptorOf(ir, a, 'texture');
  const list = coordinatesOf(ir, c, geometry, isCube(geometry) ? 3 : axesOf[geometry]);
  const isLayered = geometry.startsWith('a');
  const first = list[0]!;
  const number = isLayered ? (ir.typeOf(first) === 'f32' ? ir.bitcast('i32', first) : first) : undefined;
  const given = isLayered ? list.slice(1) : list;
  const offsets = e === undefined ? [] : listOf(e).slice(0, axesOf[geometry]);
  if (!isCube(geometry)) {
    const layer = number && layerOf(ir, descriptor, number);
    return { descriptor, geometry, coordinates: given, layer, number, offsets };
  }
  const { face, coordinates } = onFace(ir, given as unknown as [Value, Value, Value]);
  const layer = number ? ir.add(ir.mul(layerOf(ir, descriptor, number, 6), int(ir, 6)), face) : face;
  return { descriptor, geometry, coordinates, layer, offsets };
}

/** The four words of a fetch as results: floats may be rounded to halves, two of which fill a register of `f16x2`. */
function resultsOf(ir: RowBuilder, words: readonly Value[], { dtype }: Form): { readonly d: readonly Value[]; readonly p: Value } {
  const p = ir.const('i1', 1);
  if (dtype === 'u32' || dtype === 's32') return { d: words, p };
  const singles = words.map((word) => ir.bitcast('f32', word));
  if (dtype === 'f32') return { d: singles, p };
  const [r, g, b, a] = singles.map((value) => orNan(ir, value, value, ir.fptrunc('f16', value))) as [Value, Value, Value, Value];
  return { d: dtype === 'f16' ? [r, g, b, a] : [joined(ir, r, g), joined(ir, b, a)], p };
}

/** Where results may differ from the GPU's. */
const asRecorded =
  'results are those of an H200, bit for bit, but for filters of floats in boxes (one unit in the last place), of signed bytes (2^-15), and of sRGB (2^-8)';
const filtered = { approximate: asRecorded } as const;
const rounded = {
  approximate: `the results as floats, rounded to the nearest half, of which there is no recording; ${asRecorded}`,
} as const;

const doc = (what: string): string => `${what} \`p\` is whether the texels are in memory, which they always are; \`e\` are texels to add.`;

/** Rows with words as results, and with halves: four of them, or two pairs. */
const kinds = [
  { texels, status: { sampled: filtered, loaded: 'exact' }, since: undefined, words: '' },
  { texels: halves, status: { sampled: rounded, loaded: 'exact' }, since: { ptx: 4.2, sm: 53 }, words: ' Results are halves.' },
] as const;

const sampleRows = (): readonly Row[] =>
  kinds.flatMap(({ texels: results, status, since, words }) => [
    row({
      syntax: 'tex.geom.vec.dtype.ctype d[|p], [a, c]{, e}',
      values: { geom: sampled, ...results, ctype: ['f32'] },
      excludes: mismatched,
      types: { ...operands, c: '.ctype' },
      vectors,
      spaces: { a: 'global' },
      since: since ?? { ptx: 1, sm: 10 },
      doc: doc(`Samples a texture.${words}`),
      source: '9.7.10.3',
      status: status.sampled,
      lower: (given, form, ir) => resultsOf(ir, sample(ir, fetchOf(ir, given, form.geom)), form),
      cases: () => [],
    }),
    row({
      syntax: 'tex.geom.vec.dtype.ctype d[|p], [a, c]{, e}',
      values: { geom: integerCoordinates, ...results, ctype: ['s32'] },
      excludes: mismatched,
      types: { ...operands, c: '.ctype' },
      vectors,
      spaces: { a: 'global' },
      since: since ?? { ptx: 1, sm: 10 },
      doc: doc(`Loads a texel at integer coordinates.${words}`),
      source: '9.7.10.3',
      status: status.loaded,
      lower: (given, form, ir) => resultsOf(ir, fetchTexel(ir, fetchOf(ir, given, form.geom)), form),
      cases: () => [],
    }),
    row({
      syntax: 'tex.base.geom.vec.dtype.ctype d[|p], [a, c]{, e}',
      values: { geom: sampled, ...results, ctype: ['f32'] },
      excludes: mismatched,
      types: { ...operands, c: '.ctype' },
      vectors,
      spaces: { a: 'global' },
      since: since ?? { ptx: 3.1, sm: 20 },
      doc: doc(`Samples the finest level of a texture.${words}`),
      source: '9.7.10.3',
      status: status.sampled,
      lower: (given, form, ir) => resultsOf(ir, sample(ir, fetchOf(ir, given, form.geom)), form),
      cases: () => [],
    }),
    row({
      syntax: 'tex.level.geom.vec.dtype.ctype d[|p], [a, c], lod{, e}',
      values: { geom: sampled, ...results, ctype: ['f32'] },
      excludes: mismatched,
      types: { ...operands, c: '.ctype', lod: '.ctype' },
      vectors,
      spaces: { a: 'global' },
      since: since ?? { ptx: 3.1, sm: 20 },
      doc: doc(`Samples the given level of a texture.${words}`),
      source: '9.7.10.3',
      status: status.sampled,
      lower(given, form, ir) {
        const fetch = fetchOf(ir, given, form.geom);
        return resultsOf(ir, sampleLevels(ir, fetch, levelsAt(ir, fetch.descriptor, given.lod)), form);
      },
      cases: () => [],
    }),
    row({
      syntax: 'tex.grad.geom.vec.dtype.ctype d[|p], [a, c], x, y{, e}',
      values: { geom: ['1d', '2d', '3d', 'a1d', 'a2d'], ...results, ctype: ['f32'] },
      excludes: mismatched,
      types: { ...operands, c: '.ctype', x: '.ctype', y: '.ctype' },
      vectors: { ...vectors, x: 'some', y: 'some' },
      spaces: { a: 'global' },
      since: since ?? { ptx: 3.1, sm: 20 },
      doc: doc(`Samples a texture at the level of the given gradients.${words}`),
      source: '9.7.10.3',
      status: {
        approximate: `the level is the logarithm of the longer gradient in texels, without anisotropy, where an H200 has up to a half more; ${status.sampled.approximate}`,
      },
      lower(given, form, ir) {
        const fetch = fetchOf(ir, given, form.geom);
        const detail = gradientDetail(ir, fetch.descriptor, axesOf[form.geom], [listOf(given.x), listOf(given.y)]);
        return resultsOf(ir, sampleLevels(ir, fetch, levelsAt(ir, fetch.descriptor, detail)), form);
      },
      cases: () => [],
    }),
  ]);

const cubeRows = (): readonly Row[] =>
  kinds.map(({ texels: results, status, since, words }) =>
    row({
      syntax: 'tex.grad.geom.vec.dtype.ctype d[|p], [a, c], x, y{, e}{, f}',
      values: { geom: ['cube', 'acube'], ...results, ctype: ['f32'] },
      excludes: mismatched,
      types: { ...operands, c: '.ctype', x: '.ctype', y: '.ctype', f: 'f32' },
      vectors: { ...vectors, x: 'some', y: 'some' },
      spaces: { a: 'global' },
      since: since ?? { ptx: 3.1, sm: 20 },
      doc: doc(`Samples a cube at the level of the given gradients. Samplers of CUDA compare nothing with the depth \`f\`.${words}`),
      source: '9.7.10.3',
      status: {
        approximate: `the level is the logarithm of the longer gradient on the face, in texels, from which that of an H200 differs by up to two thirds; ${status.sampled.approximate}`,
      },
      lower({ a, c, x, y }, form, ir) {
        const fetch = fetchOf(ir, { a, c }, form.geom);
        const list = coordinatesOf(ir, c, form.geom, 3);
        const gradients = alongFace(ir, form.geom === 'acube' ? list.slice(1) : list, [listOf(x), listOf(y)]);
        const detail = gradientDetail(ir, fetch.descriptor, 2, gradients);
        return resultsOf(ir, sampleLevels(ir, fetch, levelsAt(ir, fetch.descriptor, detail)), form);
      },
      cases: () => [],
    }),
  );

/** A texture of CUDA has one sample, of number 0; others are zeros. Source: recorded on an NVIDIA H200. */
function sampleOf(ir: RowBuilder, { a, c, e }: Operands, geometry: 'a2d' | '2d'): Value[] {
  const list = listOf(c);
  const isLayered = geometry === 'a2d';
  const [number, ...others] = (isLayered ? [list[1], list[0], ...list.slice(2)] : list) as [Value, ...Value[]];
  const zeros = (): Value[] => Array.from({ length: 4 }, () => int(ir, 0));
  const fetch = fetchOf(ir, { a, c: others, ...(e === undefined ? {} : { e }) }, geometry);
  return ir.choose(ir.icmp(number, int(ir, 0), { pred: 'eq' }), () => fetchTexel(ir, fetch), zeros);
}

const multisampled = { '2dms': '2d', a2dms: 'a2d' } as const;

export const textureRows = (): readonly Row[] => [
  ...sampleRows(),
  ...cubeRows(),
  row({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a, c]{, e}{, f}',
    values: { geom: ['2dms', 'a2dms'], ...texels, ctype: ['s32'] },
    types: { ...operands, c: '.ctype', f: 'f32' },
    vectors,
    spaces: { a: 'global' },
    since: { ptx: 3.2, sm: 30 },
    doc: doc('Loads a sample of a texel; of a texture of CUDA 0 is the texel, and others are zeros.'),
    source: '9.7.10.3',
    status: 'exact',
    lower: (given, { geom, dtype }, ir) => resultsOf(ir, sampleOf(ir, given, multisampled[geom]), { geom: multisampled[geom], dtype }),
    cases: () => [],
  }),
  row({
    syntax: 'tex.geom.vec.dtype.ctype d[|p], [a, c], e, f',
    values: { geom: ['2d', 'a2d'], vec: ['v4', 'v2'], dtype: ['f32', 'f16', 'f16x2'], ctype: ['f32'] },
    excludes: [
      { vec: ['v4'], dtype: ['f16x2'] },
      { vec: ['v2'], dtype: ['f32', 'f16'] },
    ],
    types: { ...operands, c: '.ctype', f: 'f32' },
    vectors,
    spaces: { a: 'global' },
    since: { ptx: 3.1, sm: 20 },
    doc: doc('Samples a texture. Samplers of CUDA compare nothing with the depth `f`.'),
    source: '9.7.10.3',
    status: filtered,
    lower: (given, form, ir) => resultsOf(ir, sample(ir, fetchOf(ir, given, form.geom)), form),
    cases: () => [],
  }),
  row({
    syntax: 'tld4.comp.geom.vec.dtype.ctype d[|p], [a, c]{, e}',
    values: { comp: ['r', 'g', 'b', 'a'], geom: ['2d', 'a2d', 'cube', 'acube'], ...texels, ctype: ['f32'] },
    types: { ...operands, c: '.ctype' },
    vectors,
    spaces: { a: 'global' },
    since: { ptx: 3.1, sm: 20 },
    doc: doc('Gathers one component of the four texels that filtering would mix.'),
    source: '9.7.10.4',
    status: 'exact',
    lower: (given, form, ir) => resultsOf(ir, gather(ir, fetchOf(ir, given, form.geom), 'rgba'.indexOf(form.comp)), form),
    cases: () => [],
  }),
  row({
    syntax: 'txq.query.b32 d, [a]',
    values: { query: ['width', 'height', 'depth', 'channel_data_type', 'channel_order', 'array_size'] },
    types: { d: 'b32', a: 'u64' },
    spaces: { a: 'global' },
    since: { ptx: 1.5, sm: 10 },
    doc: 'Queries an attribute of a texture.',
    source: '9.7.10.5',
    status: 'exact',
    lower: ({ a }, { query }, ir) => queried(ir, descriptorOf(ir, a, 'texture'), query as Query),
    cases: () => [],
  }),
  row({
    syntax: 'txq.query.b32 d, [a]',
    values: { query: ['normalized_coords', 'num_mipmap_levels'] },
    types: { d: 'b32', a: 'u64' },
    spaces: { a: 'global' },
    since: { ptx: 1.5, sm: 10 },
    doc: 'Queries an attribute of a texture.',
    source: '9.7.10.5',
    status: 'exact',
    lower: ({ a }, { query }, ir) =>
      descriptorOf(ir, a, 'texture').word(query === 'normalized_coords' ? textureHead.isNormalized : textureHead.levels),
    cases: () => [],
  }),
  row({
    syntax: 'txq.level.query.b32 d, [a], lod',
    values: { query: ['width', 'height', 'depth'] },
    types: { d: 'b32', a: 'u64', lod: 'u32' },
    spaces: { a: 'global' },
    since: { ptx: 3.1, sm: 30 },
    doc: 'Queries the extent of a level of a texture.',
    source: '9.7.10.5',
    status: 'exact',
    lower({ a, lod }, { query }, ir) {
      const descriptor = descriptorOf(ir, a, 'texture');
      const last = ir.sub(descriptor.word(textureHead.levels), int(ir, 1));
      ir.when(ir.icmp(lod, last, { pred: 'ugt' }), () => ir.stop('a query of a level that the texture does not have'));
      const { extent } = imageOf(ir, descriptor, ir.umin(lod, last));
      return extent[['width', 'height', 'depth'].indexOf(query)]!;
    },
    cases: () => [],
  }),
];
