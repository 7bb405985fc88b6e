/** Stores and reductions of texels of surfaces by their format (`sust.p`, `sured.p`). Source: PTX ISA 9.0, 9.7.11.2 and 9.7.11.3. */
import type { AtomicOp, Value } from '../../../ir/index.ts';
import { texelDecoders, textureHead } from '../../../ir/texture.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { axesOf, coordinatesOf, type Descriptor, descriptorOf, int, listOf } from './descriptor.ts';
import { type Mode, type Place, placeOf, stopOutside } from './surface.ts';

const geometries = ['1d', '2d', '3d'] as const;
const modes = ['trap', 'clamp', 'zero'] as const;
const vectors = ['v2', 'v4'] as const;
const outside = 'Outside of the surface `.trap` stops the kernel, `.clamp` takes the nearest texel, and `.zero` changes nothing.';
const types = { a: 'u64', b: 's32', c: 'b32' } as const;

interface Form {
  readonly geom: (typeof geometries)[number];
  readonly mode: Mode;
}

/** Does something with the texel of an instruction. */
function withTexel(
  ir: RowBuilder,
  { a, b }: { readonly a: AddressOperand; readonly b: Value | readonly Value[] },
  { geom, mode }: Form,
  change: (surface: Descriptor, place: Place) => void,
): void {
  const surface = descriptorOf(ir, a, 'surface');
  const place = placeOf(ir, surface, { geometry: geom, coordinates: coordinatesOf(ir, b, geom, axesOf[geom]), mode });
  if (mode === 'trap') stopOutside(ir, place);
  if (mode === 'zero') ir.when(place.isInside, () => change(surface, place));
  else change(surface, place);
}

const isEqual = (ir: RowBuilder, a: Value, b: number): Value => ir.icmp(a, int(ir, b), { pred: 'eq' });

/** A word as a channel of 8 or 16 bits: an integer is limited to what fits, a float is rounded to a half. Source: recorded on an NVIDIA H200. */
function shortened(ir: RowBuilder, surface: Descriptor, word: Value, bytes: Value): Value {
  const bits = ir.shl(bytes, int(ir, 3));
  const decoder = surface.word(textureHead.decoder);
  const most = ir.sub(ir.shl(int(ir, 1), bits), int(ir, 1));
  const half = ir.lshr(most, int(ir, 1));
  const signed = ir.smax(ir.smin(word, half), ir.xor(half, int(ir, -1)));
  const float = ir.zext('i32', ir.bitcast('i16', ir.fptrunc('f16', ir.bitcast('f32', word))));
  const integer = ir.select(isEqual(ir, decoder, texelDecoders.signed), signed, ir.umin(word, most));
  return ir.select(isEqual(ir, decoder, texelDecoders.half), float, integer);
}

function storeTexel(ir: RowBuilder, surface: Descriptor, { pointer }: Place, values: readonly Value[]): void {
  const [channels, bytes] = [surface.word(textureHead.channels), surface.word(textureHead.channelBytes)];
  for (const [channel, value] of values.entries()) {
    const at = ir.ptradd(pointer, ir.zext('i64', ir.mul(int(ir, channel), bytes)));
    const put = (size: number, write: () => void): void =>
      ir.when(ir.and(ir.icmp(channels, int(ir, channel), { pred: 'ugt' }), isEqual(ir, bytes, size)), write);
    put(4, () => ir.store(at, value, { align: 4, volatile: false }));
    put(2, () => ir.store(at, ir.trunc('i16', shortened(ir, surface, value, bytes)), { align: 2, volatile: false }));
    put(1, () => ir.store(at, ir.trunc('i8', shortened(ir, surface, value, bytes)), { align: 1, volatile: false }));
  }
}

/** Combines a texel of one word with a number, whose sign is that of the format. */
function reduceTexel(ir: RowBuilder, surface: Descriptor, { pointer }: Place, value: Value, op: string): void {
  const isWord = isEqual(ir, surface.word(textureHead.texelBytes), 4);
  ir.when(ir.xor(isWord, ir.const('i1', 1)), () => ir.stop('a reduction of texels that are not 32 bits'));
  const rmw = (kind: string): void => void ir.atomic(pointer, value, { rmw: kind as AtomicOp });
  if (op !== 'min' && op !== 'max') return rmw(op);
  const isSigned = isEqual(ir, surface.word(textureHead.decoder), texelDecoders.signed);
  ir.when(isSigned, () => rmw(`s${op}`));
  ir.when(ir.xor(isSigned, ir.const('i1', 1)), () => rmw(`u${op}`));
}

export const texelStoreRows = (): readonly Row[] => [
  row({
    syntax: 'sust.p.geom{.vec}.b32.mode [a, b], c',
    values: { geom: geometries, vec: vectors, mode: modes },
    types,
    vectors: { b: 'some', c: 'elements' },
    spaces: { a: 'global' },
    since: { ptx: 1.5, sm: 20 },
    doc: `Stores a texel of a surface, converted to its format. Channels without a value stay. ${outside}`,
    source: '9.7.11.2',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => withTexel(ir, { a, b }, m, (surface, place) => storeTexel(ir, surface, place, listOf(c))),
    cases: () => [],
  }),
  row({
    syntax: 'sured.p.op.geom.b32.mode [a, b], c',
    values: { op: ['add', 'min', 'max', 'and', 'or'], geom: geometries, mode: modes },
    types,
    vectors: { b: 'some' },
    spaces: { a: 'global' },
    since: { ptx: 2, sm: 20 },
    doc: `Combines a texel of 32 bits with a number, atomically. ${outside}`,
    source: '9.7.11.3',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => withTexel(ir, { a, b }, m, (surface, place) => reduceTexel(ir, surface, place, c, m.op)),
    cases: () => [],
  }),
];
