/**
 * Conversions of floats to halves with stochastic rounding: random bits are added to the bits of the mantissa that do not fit, and the carry rounds away
 * from zero. Source: PTX ISA 9.0, 9.7.9.21.
 */
import type { Value } from '../../ir/index.ts';
import { type Row, type RowBuilder, row } from '../model/row.ts';
import { rectify } from './compose.ts';
import { encodedAtRandom, type SmallFloat } from './small-floats.ts';

const i32 = (ir: RowBuilder, value: number): Value => ir.const('i32', value);
const blackwell = { ptx: 8.7, sm: 100 } as const;

/** A magnitude (the bits of a float) between a number and infinity; or what a NaN becomes. */
interface Magnitude {
  readonly size: Value;
  readonly isNumber: Value;
}

const isBelow = (ir: RowBuilder, a: Value, bits: number): Value => ir.icmp(a, i32(ir, bits), { pred: 'ult' });

/** The upper half of a float, after the random bits are added to the lower half. */
function roundedBfloat(ir: RowBuilder, { size, isNumber }: Magnitude, random: Value, satfinite: true | undefined): Value {
  const sum = ir.lshr(ir.add(size, ir.select(isNumber, random, i32(ir, 0))), i32(ir, 16));
  return satfinite ? ir.umin(sum, i32(ir, 0x7f7f)) : sum;
}

/** A half: 13 bits of a normal number do not fit, and more of a smaller one, of which those that are added to are the upper 13. */
function roundedHalf(ir: RowBuilder, { size, isNumber }: Magnitude, random: Value, satfinite: true | undefined): Value {
  const exponent = ir.lshr(size, i32(ir, 23));
  // 2^-14 is the least normal half; the number counts units of 2^-24 with 13 bits behind.
  const isSubnormal = isBelow(ir, exponent, 113);
  const isDenormal = isEqualTo(ir, exponent, 0);
  const whole = ir.or(ir.and(size, i32(ir, 0x7f_ffff)), ir.select(isDenormal, i32(ir, 0), i32(ir, 0x80_0000)));
  const shift = ir.umin(ir.sub(i32(ir, 113), exponent), i32(ir, 31));
  const small = ir.lshr(whole, shift);
  const normal = ir.sub(size, i32(ir, 112 * 2 ** 23));
  const sum = ir.lshr(ir.add(ir.select(isSubnormal, small, normal), random), i32(ir, 13));
  const isBeyond = ir.xor(isBelow(ir, size, 0x4780_0000), ir.const('i1', 1));
  // From 2^16 on a number is infinite, whatever is added.
  const limited = ir.umin(ir.select(ir.or(isBeyond, ir.xor(isNumber, ir.const('i1', 1))), i32(ir, 0x7c00), sum), i32(ir, 0x7c00));
  return satfinite ? ir.umin(limited, i32(ir, 0x7bff)) : limited;
}

const isEqualTo = (ir: RowBuilder, a: Value, value: number): Value => ir.icmp(a, i32(ir, value), { pred: 'eq' });

interface Options {
  readonly relu?: true | undefined;
  readonly satfinite?: true | undefined;
}

/** A float as 16 bits in an i32, with random bits. NaN is the canonical one. */
function converted(ir: RowBuilder, a: Value, random: Value, { relu, satfinite }: Options, round: typeof roundedHalf): Value {
  const bits = ir.bitcast('i32', rectify(ir, a, relu));
  const size = ir.and(bits, i32(ir, 0x7fff_ffff));
  const sign = ir.and(ir.lshr(bits, i32(ir, 16)), i32(ir, 0x8000));
  const rounded = ir.or(round(ir, { size, isNumber: isBelow(ir, size, 0x7f80_0000) }, random, satfinite), sign);
  return ir.select(ir.fcmp(a, a, { pred: 'uno' }), i32(ir, 0x7fff), rounded);
}

const packed = (ir: RowBuilder, upper: Value, lower: Value): Value => ir.or(ir.shl(upper, i32(ir, 16)), lower);

/** What is open, chosen. */
const chosenPlaces = {
  approximate:
    'one of the two nearest numbers; which of them for given random bits is chosen, and no GPU was compared: they are added to the upper 16 bits that do not fit',
} as const;

/** Four numbers as fields of so many bits, the first one uppermost. */
const fourOf = (ir: RowBuilder, list: readonly Value[], bits: number, encode: (value: Value, i: number) => Value): Value =>
  list.map((value, i) => ir.shl(encode(value, i), i32(ir, bits * (3 - i)))).reduce((a, b) => ir.or(a, b));

export const stochasticRows = (): readonly Row[] => [
  row({
    syntax: 'cvt.rs{.relu}{.satfinite}.bf16x2.f32 d, a, b, random',
    types: { d: 'bf16x2', a: 'f32', b: 'f32', random: 'b32' },
    since: blackwell,
    doc: 'Two floats as packed bfloats, a in the upper half. 16 random bits are added to the lower 16 bits of each float.',
    source: '9.7.9.21',
    status: 'exact',
    lower({ a, b, random }, m, ir) {
      const [high, low] = [ir.lshr(random, i32(ir, 16)), ir.and(random, i32(ir, 0xffff))];
      return packed(ir, converted(ir, a, high, m, roundedBfloat), converted(ir, b, low, m, roundedBfloat));
    },
    cases: () => [
      { form: 'cvt.rs.bf16x2.f32', a: 0x3f800001, b: 0x3f80ffff, random: 0xfffe0001, d: 0x3f803f81, why: 'no carry, and one' },
      { form: 'cvt.rs.bf16x2.f32', a: 0xbf808000, b: 0x7fc00001, random: 0x8000ffff, d: 0xbf817fff, why: 'away from zero, and a NaN' },
      { form: 'cvt.rs.satfinite.bf16x2.f32', a: 0x7f7fffff, b: 0xff800000, random: 0xffffffff, d: 0x7f7fff7f, why: 'the largest number' },
      { form: 'cvt.rs.relu.bf16x2.f32', a: 0xbf800000, b: 0x7f7fffff, random: 0xffffffff, d: 0x00007f80, why: '0, and infinity' },
    ],
  }),
  row({
    syntax: 'cvt.rs{.relu}{.satfinite}.f16x2.f32 d, a, b, random',
    types: { d: 'f16x2', a: 'f32', b: 'f32', random: 'b32' },
    since: blackwell,
    doc: 'Two floats as packed halves, a in the upper half. 13 random bits are added to the bits of each mantissa that do not fit.',
    source: '9.7.9.21',
    status: {
      approximate:
        'what the manual leaves open is chosen, and no GPU was compared: random bits are added to the upper 13 bits that do not fit, and numbers from 2^16 on are infinite',
    },
    lower({ a, b, random }, m, ir) {
      const [high, low] = [ir.and(ir.lshr(random, i32(ir, 16)), i32(ir, 0x1fff)), ir.and(random, i32(ir, 0x1fff))];
      return packed(ir, converted(ir, a, high, m, roundedHalf), converted(ir, b, low, m, roundedHalf));
    },
    cases: () => [
      { form: 'cvt.rs.f16x2.f32', a: 0x3f800001, b: 0x3f801fff, random: 0x1ffe0001, d: 0x3c003c01, why: 'no carry, and one' },
      { form: 'cvt.rs.f16x2.f32', a: 0xbf801000, b: 0x7fc00001, random: 0xf0000000, d: 0xbc017fff, why: 'away from zero, and a NaN' },
      { form: 'cvt.rs.satfinite.f16x2.f32', a: 0x477fffff, b: 0xff800000, random: 0xffffffff, d: 0x7bfffbff, why: 'the largest number' },
      {
        form: 'cvt.rs.f16x2.f32',
        a: 0x33800000,
        b: 0x33c00000,
        random: 0x00001000,
        d: 0x00010002,
        why: '2^-24, and 1.5 of it with a half',
      },
    ],
  }),
  row({
    syntax: 'cvt.rs{.relu}.satfinite.type.f32 d, a, random',
    values: { type: ['e4m3x4', 'e5m2x4', 'e2m3x4', 'e3m2x4'] },
    types: { d: 'b32', a: 'f32', random: 'b32' },
    vectors: { a: 'elements' },
    lanes: { a: 4 },
    since: blackwell,
    doc: 'Four floats as 8-bit or 6-bit floats, the first one in the upper byte. The upper 16 random bits are for the first two numbers, the lower ones for the others.',
    source: '9.7.9.21',
    status: chosenPlaces,
    lower({ a, random }, { type, relu }, ir) {
      const name = type.slice(0, -2) as SmallFloat;
      const [high, low] = [ir.lshr(random, i32(ir, 16)), ir.and(random, i32(ir, 0xffff))];
      return fourOf(ir, a as readonly Value[], 8, (each, i) => encodedAtRandom(ir, name, each, i < 2 ? high : low, relu));
    },
    cases: () => [
      {
        form: 'cvt.rs.satfinite.e4m3x4.f32',
        a: [0x3f880000, 0x3f880000, 0x3f880000, 0x7fc00000],
        random: 0x7fff8000,
        d: 0x3838397f,
        why: '1.0625 below and from a half on',
      },
      {
        form: 'cvt.rs.satfinite.e5m2x4.f32',
        a: [0x7f800000, 0xff7fffff, 0x37000000, 0],
        random: 0xffff8000,
        d: 0x7bfb0100,
        why: 'the largest, and half of the smallest',
      },
      {
        form: 'cvt.rs.relu.satfinite.e2m3x4.f32',
        a: [0xbf800000, 0x40f00000, 0x41f00000, 0x3d800000],
        random: 0xffff8000,
        d: 0x001f1f01,
        why: '0, the largest, and half of the smallest',
      },
    ],
  }),
  row({
    syntax: 'cvt.rs{.relu}.satfinite.e2m1x4.f32 d, a, random',
    types: { d: 'b16', a: 'f32', random: 'b32' },
    vectors: { a: 'elements' },
    lanes: { a: 4 },
    since: blackwell,
    doc: 'Four floats as 4-bit floats, the first one in the upper bits. The upper bytes of both halves of the random bits are for the first two numbers, the lower ones for the others.',
    source: '9.7.9.21',
    status: chosenPlaces,
    lower({ a, random }, { relu }, ir) {
      const byte = (from: number): Value => ir.and(ir.lshr(random, i32(ir, from)), i32(ir, 0xff));
      const two = (upper: number): Value => ir.or(ir.shl(byte(upper), i32(ir, 8)), byte(upper - 16));
      const [high, low] = [two(24), two(16)];
      const all = fourOf(ir, a as readonly Value[], 4, (each, i) => encodedAtRandom(ir, 'e2m1', each, i < 2 ? high : low, relu));
      return ir.trunc('i16', all);
    },
    cases: () => [
      {
        form: 'cvt.rs.satfinite.e2m1x4.f32',
        a: [0x3fa00000, 0x3fa00000, 0x3fa00000, 0xc0c00000],
        random: 0x7f80ff00,
        d: 0x223f,
        why: '1.25 below and from a half on, and -6',
      },
      {
        form: 'cvt.rs.satfinite.e2m1x4.f32',
        a: [0x7fc00000, 0xff800000, 0x3e800000, 0],
        random: 0x00800000,
        d: 0x7f10,
        why: 'NaN, the largest, and half of the smallest',
      },
      {
        form: 'cvt.rs.relu.satfinite.e2m1x4.f32',
        a: [0xbf800000, 0x3f800000, 0x40400000, 0x40000000],
        random: 0,
        d: 0x0254,
        why: '0, and what is exact',
      },
    ],
  }),
];
