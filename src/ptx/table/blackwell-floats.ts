/**
 * Conversions of 4-bit floats, of 8-bit powers of two, and of 19-bit floats that saturate; the least and greatest of three floats. Source: PTX ISA 9.0,
 * 5.2.3 (the formats), 9.7.3.11, 9.7.3.12 and 9.7.9.21; OCP Microscaling Formats (MX) Specification 1.0.
 */
import type { Value } from '../../ir/index.ts';
import { type Row, type RowBuilder, row } from '../model/row.ts';
import { flush, orNan, rectify } from './compose.ts';
import { joined, lowAndHigh } from './halves.ts';
import { asFloats, decoded, encoded, shortened } from './small-floats.ts';

const blackwell = { ptx: 8.6, sm: 100 } as const;
const source = '9.7.9.21';
const i32 = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

/** Two 4-bit floats, a above b. */
const encodedPair = (ir: RowBuilder, a: Value, b: Value, relu: true | undefined): Value =>
  ir.trunc('i8', ir.or(encoded(ir, 'e2m1', b, relu), ir.shl(encoded(ir, 'e2m1', a, relu), i32(ir, 4))));

const fours = (): readonly Row[] => [
  row({
    syntax: 'cvt.rn.satfinite{.relu}.e2m1x2.f32 d, a, b',
    types: { d: 'b8', a: 'f32', b: 'f32' },
    since: blackwell,
    doc: 'Two floats as packed 4-bit floats, a in the upper four bits. A NaN gives the largest number.',
    source,
    status: 'exact',
    lower: ({ a, b }, { relu }, ir) => encodedPair(ir, a, b, relu),
    cases: () => [],
  }),
  row({
    syntax: 'cvt.rn.satfinite{.relu}.e2m1x2.f16x2 d, a',
    types: { d: 'b8', a: 'f16x2' },
    since: blackwell,
    doc: 'Two halves as 4-bit floats.',
    source,
    status: 'exact',
    lower: ({ a }, { relu }, ir) => encodedPair(ir, ...asFloats(ir, a), relu),
    cases: () => [],
  }),
  row({
    syntax: 'cvt.rn{.relu}.f16x2.e2m1x2 d, a',
    types: { d: 'f16x2', a: 'b8' },
    since: blackwell,
    doc: 'Two 4-bit floats as halves.',
    source,
    status: 'exact',
    lower({ a }, { relu }, ir) {
      const both = ir.zext('i32', a);
      const low = ir.and(both, i32(ir, 15));
      return joined(ir, decoded(ir, 'e2m1', low, relu), decoded(ir, 'e2m1', ir.lshr(both, i32(ir, 4)), relu));
    },
    cases: () => [],
  }),
];

/** The exponent of an f32, of which the sign does not count, rounded towards zero or upwards. */
function powerOf(ir: RowBuilder, a: Value, rounding: 'rz' | 'rp', satfinite: true | undefined): Value {
  const bits = ir.and(ir.bitcast('i32', a), i32(ir, 0x7fff_ffff));
  const exponent = ir.lshr(bits, i32(ir, 23));
  const isBelowInfinity = ir.icmp(bits, i32(ir, 0x7f80_0000), { pred: 'ult' });
  const isBetween = ir.icmp(ir.and(bits, i32(ir, 0x7f_ffff)), i32(ir, 0), { pred: 'ne' });
  // 2^-127, the least power, is a subnormal number.
  const isAbove = ir.and(ir.and(isBetween, isBelowInfinity), ir.icmp(bits, i32(ir, 0x0040_0000), { pred: 'ugt' }));
  const rounded = rounding === 'rz' ? exponent : ir.add(exponent, ir.zext('i32', isAbove));
  if (!satfinite) return rounded;
  const isNumber = ir.icmp(bits, i32(ir, 0x7f80_0000), { pred: 'ule' });
  return ir.select(ir.and(isNumber, ir.icmp(rounded, i32(ir, 255), { pred: 'eq' })), i32(ir, 254), rounded);
}

const powersOf = (ir: RowBuilder, a: Value, b: Value, rnd: 'rz' | 'rp', satfinite: true | undefined): Value =>
  ir.trunc('i16', ir.or(powerOf(ir, b, rnd, satfinite), ir.shl(powerOf(ir, a, rnd, satfinite), i32(ir, 8))));

const powers = (): readonly Row[] => [
  row({
    syntax: 'cvt.rnd{.satfinite}.ue8m0x2.f32 d, a, b',
    values: { rnd: ['rz', 'rp'] },
    types: { d: 'b16', a: 'f32', b: 'f32' },
    since: blackwell,
    doc: 'Two floats as 8-bit powers of 2, a in the upper byte. Signs do not count.',
    source,
    status: 'exact',
    lower: ({ a, b }, { rnd, satfinite }, ir) => powersOf(ir, a, b, rnd, satfinite),
    cases: () => [
      { form: 'cvt.rz.ue8m0x2.f32', a: 0x3fc00000, b: 0xc0000000, d: 0x7f80, why: '1.5 towards 0, and 2 of -2' },
      { form: 'cvt.rp.ue8m0x2.f32', a: 0x3fc00000, b: 0x00400001, d: 0x8001, why: '1.5 upwards, and just above 2^-127' },
      { form: 'cvt.rp.satfinite.ue8m0x2.f32', a: 0x7f7fffff, b: 0x7fc00000, d: 0xfeff, why: 'the largest power, and a NaN' },
      { form: 'cvt.rp.ue8m0x2.f32', a: 0x7f800000, b: 0, d: 0xff00, why: 'infinity is a NaN, and 0 the least power' },
    ],
  }),
  row({
    syntax: 'cvt.rnd{.satfinite}.ue8m0x2.bf16x2 d, a',
    values: { rnd: ['rz', 'rp'] },
    types: { d: 'b16', a: 'bf16x2' },
    since: blackwell,
    doc: 'Two bfloats as 8-bit powers of 2. Signs do not count.',
    source,
    status: 'exact',
    lower({ a }, { rnd, satfinite }, ir) {
      const [low, high] = lowAndHigh(ir, 'bf16x2', a).map((half) => ir.fpext('f32', half)) as [Value, Value];
      return powersOf(ir, high, low, rnd, satfinite);
    },
    cases: () => [
      { form: 'cvt.rz.ue8m0x2.bf16x2', a: 0x3fc0c000, d: 0x7f80, why: '1.5 towards 0, and 2 of -2' },
      { form: 'cvt.rp.ue8m0x2.bf16x2', a: 0x3fc00041, d: 0x8001, why: '1.5 upwards, and just above 2^-127' },
      { form: 'cvt.rp.satfinite.ue8m0x2.bf16x2', a: 0x7f807fc0, d: 0xfeff, why: 'infinity, and a NaN' },
    ],
  }),
  row({
    syntax: 'cvt.rn.bf16x2.ue8m0x2 d, a',
    types: { d: 'bf16x2', a: 'b16' },
    since: blackwell,
    doc: 'Two 8-bit powers of 2 as bfloats.',
    source,
    status: 'exact',
    lower({ a }, _, ir) {
      const bfloat = (power: Value): Value => {
        const plain = ir.shl(power, i32(ir, 7));
        const least = ir.select(ir.icmp(power, i32(ir, 0), { pred: 'eq' }), i32(ir, 0x40), plain);
        return ir.trunc('i16', ir.select(ir.icmp(power, i32(ir, 255), { pred: 'eq' }), i32(ir, 0x7fff), least));
      };
      const both = ir.zext('i32', a);
      return joined(ir, bfloat(ir.and(both, i32(ir, 255))), bfloat(ir.lshr(both, i32(ir, 8))));
    },
    cases: () => [
      { form: 'cvt.rn.bf16x2.ue8m0x2', a: 0x7f80, d: 0x3f804000, why: '1 and 2' },
      { form: 'cvt.rn.bf16x2.ue8m0x2', a: 0x00ff, d: 0x00407fff, why: '2^-127, and a NaN' },
      { form: 'cvt.rn.bf16x2.ue8m0x2', a: 0xfe01, d: 0x7f000080, why: '2^127 and 2^-126' },
    ],
  }),
];

/** A float with 10 bits of mantissa, of which the largest number is the limit. */
function limited(ir: RowBuilder, a: Value, rounding: 'rna' | 'rn' | 'rz', relu: true | undefined): Value {
  const short = shortened(ir, rectify(ir, a, relu), rounding);
  const size = ir.and(short, i32(ir, 0x7fff_ffff));
  const isBeyond = ir.and(ir.icmp(size, i32(ir, 0x7f80_0000), { pred: 'uge' }), ir.fcmp(a, a, { pred: 'ord' }));
  const largest = ir.or(ir.and(short, i32(ir, 0x8000_0000)), i32(ir, 0x7f7f_e000));
  return ir.select(isBeyond, largest, short);
}

const tensorDoc = 'A float with 10 bits of mantissa, as tensor cores read it, saturated to the largest number. The other bits are 0.';

const tensors = (): readonly Row[] => [
  row({
    syntax: 'cvt.rna.satfinite.tf32.f32 d, a',
    types: { d: 'b32', a: 'f32' },
    since: { ptx: 8.1, sm: 80 },
    doc: tensorDoc,
    source,
    status: 'exact',
    lower({ a }, _, ir) {
      // Of a NaN, the bits that stay are one less. Source: recorded on an NVIDIA H200.
      const kept = ir.and(ir.bitcast('i32', a), i32(ir, 0xffff_e000));
      return ir.select(ir.fcmp(a, a, { pred: 'uno' }), ir.sub(kept, i32(ir, 0x2000)), limited(ir, a, 'rna', undefined));
    },
    cases: () => [
      { form: 'cvt.rna.satfinite.tf32.f32', a: 0x7fc00000, d: 0x7fbfe000, why: 'a NaN' },
      { form: 'cvt.rna.satfinite.tf32.f32', a: 0x7f807fc0, d: 0x7f804000, why: 'a NaN whose lower bits go' },
      { form: 'cvt.rna.satfinite.tf32.f32', a: 0xffc00001, d: 0xffbfe000, why: 'a NaN with a sign' },
      { form: 'cvt.rna.satfinite.tf32.f32', a: 0x7f7fffff, d: 0x7f7fe000, why: 'no overflow' },
      { form: 'cvt.rna.satfinite.tf32.f32', a: 0x3f801000, d: 0x3f802000, why: 'a tie, away from 0' },
      { form: 'cvt.rna.satfinite.tf32.f32', a: 0xff800000, d: 0xff7fe000, why: '-infinity' },
    ],
  }),
  row({
    syntax: 'cvt.rnd{.relu}.satfinite.tf32.f32 d, a',
    values: { rnd: ['rn', 'rz'] },
    types: { d: 'b32', a: 'f32' },
    since: blackwell,
    doc: tensorDoc,
    source,
    status: 'exact',
    lower: ({ a }, { rnd, relu }, ir) => limited(ir, a, rnd, relu),
    cases: () => [
      { form: 'cvt.rn.satfinite.tf32.f32', a: 0xff800000, d: 0xff7fe000, why: '-infinity' },
      { form: 'cvt.rz.relu.satfinite.tf32.f32', a: 0xff7fffff, d: 0, why: 'clamped to 0' },
      { form: 'cvt.rn.satfinite.tf32.f32', a: 0x7fc00001, d: 0x7fffe000, why: 'NaN stays NaN' },
    ],
  }),
];

const three = { d: 'f32', a: 'f32', b: 'f32', c: 'f32' } as const;

/** The least or the greatest of three numbers. */
function extreme(ir: RowBuilder, op: 'fmin' | 'fmax', operands: readonly Value[], m: { ftz?: true; NaN?: true; abs?: true }): Value {
  const [x, y, z] = operands.map((each) => {
    const value = flush(ir, each, m.ftz);
    return m.abs ? ir.fabs(value) : value;
  }) as [Value, Value, Value];
  const result = ir[op](ir[op](x, y), z);
  return m.NaN ? orNan(ir, x, y, orNan(ir, z, z, result)) : result;
}

const threes = (): readonly Row[] => [
  row({
    syntax: 'min{.ftz}{.NaN}{.abs}.f32 d, a, b, c',
    types: three,
    since: { ptx: 8.8, sm: 100 },
    doc: 'The least of three floats; with `.abs`, of their absolute values. NaNs do not count, unless with `.NaN`. -0 is less than +0.',
    source: '9.7.3.11',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => extreme(ir, 'fmin', [a, b, c], m),
    cases: () => [
      { form: 'min.f32', a: 0x40000000, b: 0x3f800000, c: 0x40400000, d: 0x3f800000, why: '2, 1 and 3' },
      { form: 'min.f32', a: 0x7fc00000, b: 0x40000000, c: 0x7fc00000, d: 0x40000000, why: 'the only number' },
      { form: 'min.NaN.f32', a: 0x3f800000, b: 0x40000000, c: 0x7fc00000, d: 0x7fffffff, why: 'NaN is propagated' },
      { form: 'min.abs.f32', a: 0xc0400000, b: 0x40000000, c: 0xbf800000, d: 0x3f800000, why: 'of absolute values' },
      { form: 'min.f32', a: 0, b: 0x80000000, c: 0, d: 0x80000000, why: '-0 is less than +0' },
    ],
  }),
  row({
    syntax: 'max{.ftz}{.NaN}{.abs}.f32 d, a, b, c',
    types: three,
    since: { ptx: 8.8, sm: 100 },
    doc: 'The greatest of three floats; with `.abs`, of their absolute values. NaNs do not count, unless with `.NaN`. +0 is greater than -0.',
    source: '9.7.3.12',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => extreme(ir, 'fmax', [a, b, c], m),
    cases: () => [
      { form: 'max.f32', a: 0x40000000, b: 0x3f800000, c: 0x40400000, d: 0x40400000, why: '2, 1 and 3' },
      { form: 'max.NaN.f32', a: 0x7fc00000, b: 0x40000000, c: 0x3f800000, d: 0x7fffffff, why: 'NaN is propagated' },
      { form: 'max.abs.f32', a: 0xc0400000, b: 0x40000000, c: 0xbf800000, d: 0x40400000, why: 'of absolute values' },
      { form: 'max.ftz.f32', a: 0x00000001, b: 0x80000000, c: 0x80000000, d: 0, why: 'a subnormal is treated as 0' },
    ],
  }),
];

export const blackwellFloatRows = (): readonly Row[] => [...fours(), ...powers(), ...tensors(), ...threes()];
