/**
 * Conversions of 8-bit and 6-bit floats, packed two to a register with a byte each, and of 19-bit floats. The small formats round to
 * nearest and saturate. Source: PTX ISA 9.0, 5.2.3 (the formats), 9.7.9.21.
 */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { rectify } from './compose.ts';
import { joined, lowAndHigh } from './halves.ts';

interface Format {
  readonly mantissaBits: number;
  readonly bias: number;
  /** The size in bits without the sign. */
  readonly bits: number;
  /** The largest number. */
  readonly max: number;
  /** The result for NaN: a NaN, or the largest number if the format has none. */
  readonly nan: number;
}

const formats = {
  e4m3: { mantissaBits: 3, bias: 7, bits: 7, max: 448, nan: 0x7f },
  e5m2: { mantissaBits: 2, bias: 15, bits: 7, max: 57344, nan: 0x7f },
  e2m3: { mantissaBits: 3, bias: 1, bits: 5, max: 7.5, nan: 0x1f },
  e3m2: { mantissaBits: 2, bias: 3, bits: 5, max: 28, nan: 0x1f },
  e2m1: { mantissaBits: 1, bias: 1, bits: 3, max: 6, nan: 0x7 },
} as const satisfies Record<string, Format>;
export type SmallFloat = keyof typeof formats;
type Name = SmallFloat;

const ada = { ptx: 8.1, sm: 89 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const bytes = ['e4m3x2', 'e5m2x2'] as const;
const sixes = ['e2m3x2', 'e3m2x2'] as const;

const nameOf = (type: `${Name}x2`): Name => type.slice(0, -2) as Name;
const i32 = (ir: RowBuilder, value: number): Value => ir.const('i32', value);
/** The f32 bits of a power of two. */
const power = (exponent: number): number => (exponent + 127) * 2 ** 23;
const bitsOfFloat = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;

/** An f32 in a small format, as an i32. */
export function encoded(ir: RowBuilder, name: Name, a: Value, relu: true | undefined): Value {
  return encodedBy(ir, name, a, relu, (size) => roundedMagnitude(ir, size, formats[name].mantissaBits, formats[name].bias));
}

/** An f32 in a small format, as an i32: 16 random bits are added to the upper bits that do not fit, and the carry rounds away from zero. */
export function encodedAtRandom(ir: RowBuilder, name: Name, a: Value, random: Value, relu: true | undefined): Value {
  const { mantissaBits, bias, max } = formats[name];
  const most = ir.lshr(ir.sub(i32(ir, bitsOfFloat(max)), i32(ir, (127 - bias) * 2 ** 23)), i32(ir, 23 - mantissaBits));
  return encodedBy(ir, name, a, relu, (size) => ir.umin(magnitudeAtRandom(ir, size, random, formats[name]), most));
}

function magnitudeAtRandom(ir: RowBuilder, size: Value, random: Value, { mantissaBits, bias }: Format): Value {
  const dropped = 23 - mantissaBits;
  const sum = ir.add(ir.bitcast('i32', size), ir.shl(random, i32(ir, dropped - 16)));
  const normal = ir.lshr(ir.sub(sum, i32(ir, (127 - bias) * 2 ** 23)), i32(ir, dropped));
  // A subnormal number counts units of the smallest one, with 16 bits behind.
  const units = ir.fmul(ir.fmul(size, ir.const('f32', power(16))), ir.const('f32', power(bias + mantissaBits - 1)));
  const isSubnormal = ir.fcmp(size, ir.const('f32', power(1 - bias)), { pred: 'olt' });
  const whole = ir.fptoui('i32', ir.select(isSubnormal, units, ir.const('f32', 0)));
  return ir.select(isSubnormal, ir.lshr(ir.add(whole, random), i32(ir, 16)), normal);
}

function encodedBy(ir: RowBuilder, name: Name, a: Value, relu: true | undefined, round: (size: Value) => Value): Value {
  const { bits, max, nan } = formats[name];
  const value = rectify(ir, a, relu);
  const size = ir.fabs(value);
  const isBeyond = ir.fcmp(size, ir.const('f32', bitsOfFloat(max)), { pred: 'ogt' });
  const limited = ir.select(isBeyond, ir.const('f32', bitsOfFloat(max)), size);
  const sign = ir.shl(ir.lshr(ir.bitcast('i32', value), i32(ir, 31)), i32(ir, bits));
  const small = ir.or(round(limited), sign);
  return ir.select(ir.fcmp(a, a, { pred: 'uno' }), i32(ir, nan), small);
}

/**
 * A magnitude rounded to `mantissaBits`, ties to even: on its bits, or for a subnormal result by adding a number with the same last place.
 */
function roundedMagnitude(ir: RowBuilder, size: Value, mantissaBits: number, bias: number): Value {
  const dropped = 23 - mantissaBits;
  const word = ir.bitcast('i32', size);
  const last = ir.and(ir.lshr(word, i32(ir, dropped)), i32(ir, 1));
  const rounded = ir.lshr(ir.add(word, ir.add(last, i32(ir, 2 ** (dropped - 1) - 1))), i32(ir, dropped));
  const normal = ir.sub(rounded, i32(ir, (127 - bias) * 2 ** mantissaBits));
  const magnet = power(1 - bias - mantissaBits + 23);
  const subnormal = ir.sub(ir.bitcast('i32', ir.fadd(size, ir.const('f32', magnet))), i32(ir, magnet));
  const isSubnormal = ir.fcmp(size, ir.const('f32', power(1 - bias)), { pred: 'olt' });
  return ir.select(isSubnormal, subnormal, normal);
}

/** A small float in the low bits of an i32 as f16, which contains every small float. */
export function decoded(ir: RowBuilder, name: Name, a: Value, relu: true | undefined): Value {
  const { mantissaBits, bias, bits, nan } = formats[name];
  const size = ir.and(a, i32(ir, 2 ** bits - 1));
  const sign = ir.shl(ir.and(ir.lshr(a, i32(ir, bits)), i32(ir, 1)), i32(ir, 15));
  return rectify(ir, ir.bitcast('f16', ir.trunc('i16', ir.or(sign, sizeAsHalf()))), relu);

  function sizeAsHalf(): Value {
    // The exponent field is that of f16.
    if (name === 'e5m2') return ir.shl(size, i32(ir, 8));
    const normal = ir.add(ir.shl(size, i32(ir, 10 - mantissaBits)), i32(ir, (15 - bias) * 2 ** 10));
    const unit = ir.const('f16', (16 - bias - mantissaBits) * 2 ** 10);
    const subnormal = ir.zext('i32', ir.bitcast('i16', ir.fmul(ir.uitofp('f16', size), unit)));
    const number = ir.select(ir.icmp(size, i32(ir, 2 ** mantissaBits), { pred: 'ult' }), subnormal, normal);
    return name === 'e4m3' ? ir.select(ir.icmp(size, i32(ir, nan), { pred: 'eq' }), i32(ir, 0x7fff), number) : number;
  }
}

/** A float with the 13 lowest bits cleared, after a rounding addend. */
function tensorFloat(ir: RowBuilder, a: Value, rounding: (bits: Value) => Value): Value {
  const bits = ir.bitcast('i32', a);
  return ir.and(ir.add(bits, rounding(bits)), i32(ir, 0xffffe000));
}

/** Half of the last place; 0 for NaNs whose sign it would change. */
function awayFromZero(ir: RowBuilder, bits: Value): Value {
  const top = i32(ir, 0x7ffff000);
  return ir.select(ir.icmp(ir.and(bits, top), top, { pred: 'eq' }), i32(ir, 0), i32(ir, 0x1000));
}

/** A float with 10 bits of mantissa. */
export function shortened(ir: RowBuilder, a: Value, rounding: 'rna' | 'rn' | 'rz'): Value {
  if (rounding === 'rna') return tensorFloat(ir, a, (bits) => awayFromZero(ir, bits));
  const last = (bits: Value): Value => ir.and(ir.lshr(bits, i32(ir, 13)), i32(ir, 1));
  const short = tensorFloat(ir, a, (bits) => (rounding === 'rz' ? i32(ir, 0) : ir.add(last(bits), i32(ir, 0xfff))));
  return ir.select(ir.fcmp(a, a, { pred: 'uno' }), i32(ir, 0x7fffe000), short);
}

/** Two f32 values in small formats, a above b. */
function encodedPair(ir: RowBuilder, name: Name, a: Value, b: Value, relu: true | undefined): Value {
  return ir.trunc('i16', ir.or(encoded(ir, name, b, relu), ir.shl(encoded(ir, name, a, relu), i32(ir, 8))));
}

/** Two small floats as halves. */
function decodedPair(ir: RowBuilder, name: Name, a: Value, relu: true | undefined): Value {
  const both = ir.zext('i32', a);
  return joined(ir, decoded(ir, name, both, relu), decoded(ir, name, ir.lshr(both, i32(ir, 8)), relu));
}

/** The halves of a register as f32, the upper first. */
export function asFloats(ir: RowBuilder, a: Value): readonly [Value, Value] {
  const [low, high] = lowAndHigh(ir, 'f16x2', a);
  return [ir.fpext('f32', high), ir.fpext('f32', low)];
}

const fromSingles = 'Two floats as packed floats of';
const source = '9.7.9.21';

export const smallFloatRows = [
  row({
    syntax: 'cvt.rn.satfinite{.relu}.type.f32 d, a, b',
    values: { type: bytes },
    types: { d: 'b16', a: 'f32', b: 'f32' },
    since: ada,
    doc: `${fromSingles} 8 bits, a in the upper byte.`,
    source,
    status: 'exact',
    lower: ({ a, b }, { type, relu }, ir) => encodedPair(ir, nameOf(type), a, b, relu),
    cases: () => [
      { form: 'cvt.rn.satfinite.e4m3x2.f32', a: 0x3f800000, b: 0xc0000000, d: 0x38c0, why: '1 above -2' },
      { form: 'cvt.rn.satfinite.e4m3x2.f32', a: 0x7f800000, b: 0x7fc00000, d: 0x7e7f, why: 'infinity gives the largest number; a NaN' },
      { form: 'cvt.rn.satfinite.e5m2x2.f32', a: 0x3f900000, b: 0x37000000, d: 0x3c00, why: '1.125 ties to 1, and 2^-17 to 0' },
      { form: 'cvt.rn.satfinite.relu.e5m2x2.f32', a: 0xbf800000, b: 0x40400000, d: 0x0042, why: 'clamped to 0, and 3' },
    ],
  }),
  row({
    syntax: 'cvt.rn.satfinite{.relu}.type.f32 d, a, b',
    values: { type: sixes },
    types: { d: 'b16', a: 'f32', b: 'f32' },
    since: blackwell,
    doc: `${fromSingles} 6 bits, a in the upper byte. A NaN gives the largest number.`,
    source,
    status: 'exact',
    lower: ({ a, b }, { type, relu }, ir) => encodedPair(ir, nameOf(type), a, b, relu),
    cases: () => [
      { form: 'cvt.rn.satfinite.e2m3x2.f32', a: 0x3f800000, b: 0xc1000000, d: 0x083f, why: '1, and -8 is below -7.5' },
      { form: 'cvt.rn.satfinite.e3m2x2.f32', a: 0x7fc00000, b: 0x3d800000, d: 0x1f01, why: 'a NaN, and 2^-4, the smallest' },
      { form: 'cvt.rn.satfinite.relu.e3m2x2.f32', a: 0xbf800000, b: 0x3f800000, d: 0x000c, why: 'clamped to 0, and 1' },
    ],
  }),
  row({
    syntax: 'cvt.rn.satfinite{.relu}.type.f16x2 d, a',
    values: { type: bytes },
    types: { d: 'b16', a: 'f16x2' },
    since: ada,
    doc: 'Two halves as 8-bit floats.',
    source,
    status: 'exact',
    lower: ({ a }, { type, relu }, ir) => encodedPair(ir, nameOf(type), ...asFloats(ir, a), relu),
    cases: () => [
      { form: 'cvt.rn.satfinite.e4m3x2.f16x2', a: 0x3c00c000, d: 0x38c0, why: '1 above -2' },
      { form: 'cvt.rn.satfinite.e4m3x2.f16x2', a: 0xfc000400, d: 0xfe00, why: '-infinity, and 2^-14, below half of the smallest' },
      { form: 'cvt.rn.satfinite.relu.e5m2x2.f16x2', a: 0xbc007bff, d: 0x007b, why: 'clamped to 0, and the largest' },
    ],
  }),
  row({
    syntax: 'cvt.rn{.relu}.f16x2.type d, a',
    values: { type: bytes },
    types: { d: 'f16x2', a: 'b16' },
    since: ada,
    doc: 'Two 8-bit floats as halves.',
    source,
    status: 'exact',
    lower: ({ a }, { type, relu }, ir) => decodedPair(ir, nameOf(type), a, relu),
    cases: () => [
      { form: 'cvt.rn.f16x2.e4m3x2', a: 0x38c0, d: 0x3c00c000, why: '1 above -2' },
      { form: 'cvt.rn.f16x2.e4m3x2', a: 0x017f, d: 0x18007fff, why: '2^-9, the smallest, and a NaN' },
      { form: 'cvt.rn.relu.f16x2.e5m2x2', a: 0xbc7c, d: 0x00007c00, why: 'clamped to 0, and infinity' },
    ],
  }),
  row({
    syntax: 'cvt.rn{.relu}.f16x2.type d, a',
    values: { type: sixes },
    types: { d: 'f16x2', a: 'b16' },
    since: blackwell,
    doc: 'Two 6-bit floats as halves.',
    source,
    status: 'exact',
    lower: ({ a }, { type, relu }, ir) => decodedPair(ir, nameOf(type), a, relu),
    cases: () => [
      { form: 'cvt.rn.f16x2.e2m3x2', a: 0x083f, d: 0x3c00c780, why: '1 and -7.5' },
      { form: 'cvt.rn.f16x2.e3m2x2', a: 0x1f01, d: 0x4f002c00, why: '28 and 2^-4' },
      { form: 'cvt.rn.relu.f16x2.e2m3x2', a: 0x2807, d: 0x00003b00, why: 'clamped to 0, and 0.875' },
    ],
  }),
  row({
    syntax: 'cvt.rna.tf32.f32 d, a',
    types: { d: 'b32', a: 'f32' },
    since: { ptx: 7, sm: 80 },
    doc: 'A float with 10 bits of mantissa, as tensor cores read it, rounded with ties away from 0. The other bits are 0.',
    source,
    status: 'exact',
    lower: ({ a }, _, ir) => shortened(ir, a, 'rna'),
    cases: () => [
      { form: 'cvt.rna.tf32.f32', a: 0x3f801000, d: 0x3f802000, why: 'a tie, away from 0' },
      { form: 'cvt.rna.tf32.f32', a: 0xbf800fff, d: 0xbf800000, why: 'below the midpoint' },
      { form: 'cvt.rna.tf32.f32', a: 0x7f7fffff, d: 0x7f800000, why: 'overflows' },
      { form: 'cvt.rna.tf32.f32', a: 0xffc00000, d: 0xffc00000, why: 'NaN bits are rounded as well' },
    ],
  }),
  row({
    syntax: 'cvt.rnd{.relu}.tf32.f32 d, a',
    values: { rnd: ['rn', 'rz'] },
    types: { d: 'b32', a: 'f32' },
    since: { ptx: 7.8, sm: 90 },
    doc: 'A float with 10 bits of mantissa, as tensor cores read it. The other bits are 0.',
    source,
    status: 'exact',
    lower: ({ a }, { rnd, relu }, ir) => shortened(ir, rectify(ir, a, relu), rnd),
    cases: () => [
      { form: 'cvt.rn.tf32.f32', a: 0x3f801000, d: 0x3f800000, why: 'a tie, to even' },
      { form: 'cvt.rn.tf32.f32', a: 0x3f803000, d: 0x3f804000, why: 'a tie, to even, upwards' },
      { form: 'cvt.rz.tf32.f32', a: 0xff7fffff, d: 0xff7fe000, why: 'no overflow towards 0' },
      { form: 'cvt.rn.relu.tf32.f32', a: 0xbf800000, d: 0, why: 'clamped to 0' },
      { form: 'cvt.rz.relu.tf32.f32', a: 0xff800001, d: 0x7fffe000, why: 'NaN stays NaN' },
    ],
  }),
];
