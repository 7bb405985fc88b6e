/** Textures (9.7.10). Source: PTX ISA 9.0. */

import type { Value } from '../../../ir/index.ts';
import { textureHead } from '../../../ir/texture.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { orNan } from '../compose.ts';
import { joined } from '../halves.ts';
import { alongFace, onFace } from './cube.ts';
import {
  axesOf,
  coordinatesOf,
  type Descriptor,
  descriptorAt,
  descriptorOf,
  type Geometry,
  imageOf,
  int,
  isCube,
  type List,
  listOf,
  single,
} from './descriptor.ts';
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
function fetchOf(ir: RowBuilder, { descriptor, geometry, list, offsets }: Given): Fetch {
  const isLayered = geometry.startsWith('a');
  const first = list[0]!;
  const number = isLayered ? (ir.typeOf(first) === 'f32' ? ir.bitcast('i32', first) : first) : undefined;
  const given = isLayered ? list.slice(1) : list;
  if (!isCube(geometry)) {
    const layer = number && layerOf(ir, descriptor, number);
    return { descriptor, geometry, coordinates: given, layer, number, offsets };
  }
  const { face, coordinates } = onFace(ir, given as unknown as [Value, Value, Value]);
  const layer = number ? ir.add(ir.mul(layerOf(ir, descriptor, number, 6), int(ir, 6)), face) : face;
  return { descriptor, geometry, coordinates, layer, offsets };
}

/** The operands of a fetch: the layer and the coordinates, and texels to add. */
interface Given {
  readonly descriptor: Descriptor;
  readonly geometry: Geometry;
  readonly list: readonly Value[];
  readonly offsets: readonly Value[];
}

function givenOf(ir: RowBuilder, { a, c, e }: Operands, geometry: Geometry): Given {
  const descriptor = descriptorOf(ir, a, 'texture');
  const axes = isCube(geometry) ? 3 : axesOf[geometry];
  const list = coordinatesOf(ir, c, geometry, axes).slice(0, axes + (geometry.startsWith('a') ? 1 : 0));
  return { descriptor, geometry, list, offsets: e === undefined ? [] : listOf(e).slice(0, axesOf[geometry]) };
}

/** The four words of a fetch, of which `detail` is a level of detail. */
type Reading = (ir: RowBuilder, fetch: Fetch, detail: Value) => readonly Value[];

/** The four words that a fetch reads, by a function of its kind where the target has such: of the words of its place, and of the level and what is added. */
function read(ir: RowBuilder, kind: string, given: Given, reading: Reading, detail?: Value): readonly Value[] {
  const { descriptor, geometry, list, offsets } = given;
  if (!ir.readingFunction) return reading(ir, fetchOf(ir, given), detail ?? single(ir, 0));
  const asWords = (values: readonly Value[]): Value => {
    const words = values.map((value) => (ir.typeOf(value) === 'f32' ? ir.bitcast('i32', value) : value));
    return ir.vec4('v4.i32', ...([0, 1, 2, 3].map((i) => words[i] ?? int(ir, 0)) as [Value, Value, Value, Value]));
  };
  const types = list.map((value, i) => (i === 0 && geometry.startsWith('a') ? 'i32' : ir.typeOf(value)));
  const name = ['cumetal.tex', kind, geometry, types.at(-1), offsets.length > 0 ? 'offset' : 'plain'].join('.');
  const operands = [ir.ptrtoint('i64', descriptor.pointer), asWords(list), asWords([detail ?? int(ir, 0), ...offsets])] as const;
  const whole = ir.readingFunction(name, operands, (own, [address, place, more]) => {
    const wordsOf = (vector: Value): Value[] => [0, 1, 2, 3].map((lane) => own.extract('i32', vector, { lane }));
    const [level, ...added] = wordsOf(more) as [Value, ...Value[]];
    const inside = fetchOf(own, {
      descriptor: descriptorAt(own, own.inttoptr('ptr.global', address)),
      geometry,
      list: wordsOf(place).flatMap((word, i) => (i >= list.length ? [] : types[i] === 'f32' ? [own.bitcast('f32', word)] : [word])),
      offsets: added.slice(0, offsets.length),
    });
    const words = reading(own, inside, own.bitcast('f32', level)) as [Value, Value, Value, Value];
    return own.vec4('v4.i32', ...words);
  });
  return [0, 1, 2, 3].map((lane) => ir.extract('i32', whole, { lane }));
}

const sampleOfFirst: Reading = (ir, fetch) => sample(ir, fetch);
const texelOf: Reading = (ir, fetch) => fetchTexel(ir, fetch);
const ofLevel: Reading = (ir, fetch, detail) => sampleLevels(ir, fetch, levelsAt(ir, fetch.descriptor, detail));

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
      lower: (given, form, ir) => resultsOf(ir, read(ir, 'sample', givenOf(ir, given, form.geom), sampleOfFirst), form),
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
      lower: (given, form, ir) => resultsOf(ir, read(ir, 'texel', givenOf(ir, given, form.geom), texelOf), form),
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
      lower: (given, form, ir) => resultsOf(ir, read(ir, 'sample', givenOf(ir, given, form.geom), sampleOfFirst), form),
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
      lower: (given, form, ir) => resultsOf(ir, read(ir, 'level', givenOf(ir, given, form.geom), ofLevel, given.lod), form),
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
        const own = givenOf(ir, given, form.geom);
        const detail = gradientDetail(ir, own.descriptor, axesOf[form.geom], [listOf(given.x), listOf(given.y)]);
        return resultsOf(ir, read(ir, 'level', own, ofLevel, detail), form);
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
        const own = givenOf(ir, { a, c }, form.geom);
        const gradients = alongFace(ir, form.geom === 'acube' ? own.list.slice(1) : own.list, [listOf(x), listOf(y)]);
        const detail = gradientDetail(ir, own.descriptor, 2, gradients);
        return resultsOf(ir, read(ir, 'level', own, ofLevel, detail), form);
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
  const fetch = fetchOf(ir, givenOf(ir, { a, c: others, ...(e === undefined ? {} : { e }) }, geometry));
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
    lower: (given, form, ir) => resultsOf(ir, read(ir, 'sample', givenOf(ir, given, form.geom), sampleOfFirst), form),
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
    lower(given, form, ir) {
      const channel = 'rgba'.indexOf(form.comp);
      return resultsOf(
        ir,
        read(ir, `gather.${form.comp}`, givenOf(ir, given, form.geom), (own, fetch) => gather(own, fetch, channel)),
        form,
      );
    },
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
