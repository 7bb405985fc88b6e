/** Surfaces (9.7.11): bytes of images. Source: PTX ISA 9.0. */

import type { ScalarType, Value } from '../../../ir/index.ts';
import { textureHead } from '../../../ir/texture.ts';
import { intOf } from '../../../ir/types.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { axesOf, coordinatesOf, type Descriptor, descriptorOf, type Geometry, imageOf, int, listOf, offsetIn } from './descriptor.ts';

const geometries = ['1d', '2d', '3d', 'a1d', 'a2d'] as const;
const modes = ['trap', 'clamp', 'zero'] as const;
const words = ['b8', 'b16', 'b32', 'b64'] as const;
const vectors = ['v2', 'v4'] as const;
const since = { ptx: 1.5, sm: 20 } as const;

export type Mode = (typeof modes)[number];

interface Access {
  readonly geometry: Geometry;
  readonly coordinates: readonly Value[];
  readonly mode: Mode;
  /** Bytes of the access, whose first coordinate counts bytes; without it the access is of a texel, and counts texels. */
  readonly bytes?: number;
}

export interface Place {
  readonly pointer: Value;
  readonly isInside: Value;
}

/** Where an access is: clamped to the surface, with whether it is inside of it. Coordinates but the first one count texels. */
export function placeOf(ir: RowBuilder, surface: Descriptor, { geometry, coordinates, bytes }: Access): Place {
  const image = imageOf(ir, surface);
  const isLayered = geometry.startsWith('a');
  const [layer, ...inLayer] = isLayered ? (coordinates as [Value, ...Value[]]) : [undefined, ...coordinates];
  const [x, ...others] = inLayer.slice(0, axesOf[geometry]) as [Value, ...Value[]];
  const texelBytes = surface.word(textureHead.texelBytes);
  const width = bytes === undefined ? image.extent[0]! : ir.mul(image.extent[0]!, texelBytes);
  const zero = int(ir, 0);
  const last = [ir.sub(width, int(ir, bytes ?? 1)), ...others.map((_, i) => ir.sub(image.extent[i + 1]!, int(ir, 1)))];
  const axes = [x, ...others];
  const clamped = axes.map((at, i) => ir.smax(zero, ir.smin(at, last[i]!)));
  const differs = axes.map((at, i) => ir.icmp(at, clamped[i]!, { pred: 'eq' }));
  const distances = [bytes === undefined ? texelBytes : int(ir, 1), image.pitch, image.slice];
  const products = clamped.map((at, i) => [at, distances[i]!] as const);
  const layers = layer && layerOf(ir, surface, layer);
  return {
    pointer: offsetIn(ir, image, [...products, ...(layers ? [[layers.clamped, image.slice] as const] : [])]),
    isInside: [...differs, ...(layers ? [layers.isInside] : [])].reduce((a, b) => ir.and(a, b)),
  };
}

/** A layer by the lower 16 bits of its number. Source: recorded on an NVIDIA H200. */
function layerOf(ir: RowBuilder, surface: Descriptor, number: Value): { readonly clamped: Value; readonly isInside: Value } {
  const layer = ir.and(number, int(ir, 0xffff));
  const last = ir.sub(surface.word(textureHead.layers), int(ir, 1));
  const clamped = ir.umin(layer, last);
  return { clamped, isInside: ir.icmp(layer, clamped, { pred: 'eq' }) };
}

export const stopOutside = (ir: RowBuilder, { isInside }: Place): void =>
  ir.when(ir.xor(isInside, ir.const('i1', 1)), () => ir.stop('an access outside of a surface'));

interface Elements {
  readonly type: ScalarType;
  readonly count: number;
}

const elementAt = (ir: RowBuilder, pointer: Value, i: number, bytes: number): Value =>
  i === 0 ? pointer : ir.ptradd(pointer, ir.const('i64', i * bytes));

function load(ir: RowBuilder, handle: AddressOperand, access: Required<Access>, { type, count }: Elements): Value[] {
  const place = placeOf(ir, descriptorOf(ir, handle, 'surface'), access);
  const size = access.bytes / count;
  const read = (): Value[] =>
    Array.from({ length: count }, (_, i) => ir.load(type, elementAt(ir, place.pointer, i, size), { align: size, volatile: false }));
  if (access.mode === 'trap') stopOutside(ir, place);
  return access.mode === 'zero' ? ir.choose(place.isInside, read, () => Array.from({ length: count }, () => ir.const(type, 0))) : read();
}

function store(ir: RowBuilder, handle: AddressOperand, access: Required<Access>, values: readonly Value[]): void {
  const place = placeOf(ir, descriptorOf(ir, handle, 'surface'), access);
  const size = access.bytes / values.length;
  const write = (): void => {
    for (const [i, value] of values.entries()) ir.store(elementAt(ir, place.pointer, i, size), value, { align: size, volatile: false });
  };
  if (access.mode === 'trap') stopOutside(ir, place);
  if (access.mode === 'zero') ir.when(place.isInside, write);
  else write();
}

const bitsOf = (type: string): number => Number(type.slice(1));
const countOf = (vec: string | undefined): number => (vec === undefined ? 1 : Number(vec.slice(1)));

const doc = (what: string): string =>
  `${what} Outside of the surface \`.trap\` stops the kernel, \`.clamp\` takes the nearest place in it, and \`.zero\` loads 0 and stores nothing.`;

export const surfaceRows = (): readonly Row[] => [
  row({
    syntax: 'suld.b.geom{.cop}{.vec}.dtype.mode d, [a, b]',
    values: { geom: geometries, cop: ['ca', 'cg', 'cs', 'cv'], vec: vectors, dtype: words, mode: modes },
    excludes: [{ vec: ['v4'], dtype: ['b64'] }],
    types: { a: 'u64', b: 's32', d: '.dtype' },
    vectors: { d: 'elements', b: 'some' },
    relaxed: ['d'],
    spaces: { a: 'global' },
    since,
    doc: doc('Loads bytes of a surface.'),
    source: '9.7.11.1',
    status: 'exact',
    lower({ a, b }, { geom, vec, dtype, mode }, ir) {
      const [count, bits] = [countOf(vec), bitsOf(dtype)];
      const access = { geometry: geom, coordinates: coordinatesOf(ir, b, geom, axesOf[geom]), mode, bytes: (count * bits) / 8 };
      const values = load(ir, a, access, { type: intOf(bits), count });
      return ir.lanes === undefined ? values[0] : values;
    },
    cases: () => [],
  }),
  row({
    syntax: 'sust.b.geom{.cop}{.vec}.ctype.mode [a, b], c',
    values: { geom: geometries, cop: ['wb', 'cg', 'cs', 'wt'], vec: vectors, ctype: words, mode: modes },
    excludes: [{ vec: ['v4'], ctype: ['b64'] }],
    types: { a: 'u64', b: 's32', c: '.ctype' },
    vectors: { b: 'some', c: 'elements' },
    relaxed: ['c'],
    spaces: { a: 'global' },
    since,
    doc: doc('Stores bytes of a surface.'),
    source: '9.7.11.2',
    status: 'exact',
    lower({ a, b, c }, { geom, ctype, mode }, ir) {
      const values = listOf(c);
      const bytes = (values.length * bitsOf(ctype)) / 8;
      store(ir, a, { geometry: geom, coordinates: coordinatesOf(ir, b, geom, axesOf[geom]), mode, bytes }, values);
    },
    cases: () => [],
  }),
  row({
    syntax: 'suq.query.b32 d, [a]',
    values: { query: ['width', 'height', 'depth', 'channel_data_type', 'channel_order', 'array_size'] },
    types: { d: 'b32', a: 'u64' },
    spaces: { a: 'global' },
    since,
    doc: 'Queries an attribute of a surface.',
    source: '9.7.11.4',
    status: 'exact',
    lower: ({ a }, { query }, ir) => queried(ir, descriptorOf(ir, a, 'surface'), query),
    cases: () => [],
  }),
];

export type Query = 'width' | 'height' | 'depth' | 'channel_data_type' | 'channel_order' | 'array_size';

/** An attribute of a texture or a surface. */
export function queried(ir: RowBuilder, object: Descriptor, query: Query): Value {
  const { extent } = imageOf(ir, object);
  const axis = ['width', 'height', 'depth'].indexOf(query);
  if (axis >= 0) return extent[axis]!;
  if (query === 'array_size') return object.word(textureHead.layers);
  return object.word(query === 'channel_order' ? textureHead.channelOrder : textureHead.channelType);
}
