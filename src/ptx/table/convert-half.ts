/** Conversions with bf16 and to packed halves, and packed integers. Source: PTX ISA 9.0, 9.7.9.21 and 9.7.9.22. */
import type { Value } from '../../ir/index.ts';
import type { IntType } from '../../ir/types.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { bitsOfType, isSignedType } from '../model/types.ts';
import { doubleToOdd, flush, intToOdd, narrowFloat, type Rounding, rectify, saturateInt, widened } from './compose.ts';
import { floatToInteger, integerRoundings, integers, roundings, toIntegral } from './convert.ts';
import { halfOf, joined, packed, type Single } from './halves.ts';

const toNearest = ['rn', 'rz'] as const;
const ampere = { ptx: 7, sm: 80 } as const;
const finite = { ptx: 8.1, sm: 80 } as const;
const hopper = { ptx: 7.8, sm: 90 } as const;
const turing = { ptx: 6.5, sm: 75 } as const;

interface Bounds {
  readonly relu?: true;
  readonly satfinite?: true;
}

/** `.satfinite` replaces an infinity by the largest number of its sign. A NaN is the canonical one of NVIDIA GPUs. */
function finiteOnly(ir: RowBuilder, type: Single, a: Value): Value {
  const bits = ir.bitcast('i16', a);
  const size = ir.umin(ir.and(bits, ir.const('i16', 0x7fff)), ir.const('i16', type === 'f16' ? 0x7bff : 0x7f7f));
  const limited = ir.or(size, ir.and(bits, ir.const('i16', 0x8000)));
  const isNone = ir.fcmp(a, a, { pred: 'uno' });
  return ir.bitcast(type, ir.select(isNone, ir.const('i16', 0x7fff), limited));
}

/** Converts f32 to a half-precision type, with the requested clamping. */
function toHalf(ir: RowBuilder, type: Single, a: Value, rounding: Rounding, { relu, satfinite }: Bounds): Value {
  const value = rectify(ir, narrowFloat(ir, type, a, rounding), relu);
  return satfinite ? finiteOnly(ir, type, value) : value;
}

const singleRows = [
  row({
    syntax: 'cvt.rnd.relu{.satfinite}.f16.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'f16', a: 'f32' },
    since: ampere,
    doc: 'A float as a half. `.relu` clamps negative values to 0. `.satfinite` replaces infinities by the largest half.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => toHalf(ir, 'f16', a, m.rnd, { relu: true, ...(m.satfinite ? { satfinite: true } : {}) }),
    cases: () => [
      { form: 'cvt.rn.relu.f16.f32', a: 0xbf800000, d: 0, why: 'clamped to 0' },
      { form: 'cvt.rz.relu.f16.f32', a: 0x3f801fff, d: 0x3c00, why: 'cut' },
      { form: 'cvt.rn.relu.satfinite.f16.f32', a: 0x7f800000, d: 0x7bff, why: 'infinity becomes the largest half' },
    ],
  }),
  row({
    syntax: 'cvt.rnd.satfinite.f16.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'f16', a: 'f32' },
    since: finite,
    doc: 'A float as a half. Values out of range become the largest half of their sign.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => toHalf(ir, 'f16', a, m.rnd, { satfinite: true }),
    cases: () => [
      { form: 'cvt.rn.satfinite.f16.f32', a: 0xc77ff000, d: 0xfbff, why: '-65520 would tie to -infinity' },
      { form: 'cvt.rn.satfinite.f16.f32', a: 0x3f800000, d: 0x3c00, why: '1' },
      { form: 'cvt.rz.satfinite.f16.f32', a: 0x7fc00000, d: 0x7fff, why: 'a NaN' },
    ],
  }),
  row({
    syntax: 'cvt.rnd{.relu}.satfinite.bf16.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'bf16', a: 'f32' },
    since: finite,
    doc: 'A float as a bfloat. Values out of range become the largest bfloat of their sign.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => toHalf(ir, 'bf16', a, m.rnd, { satfinite: true, ...(m.relu ? { relu: true } : {}) }),
    cases: () => [
      { form: 'cvt.rn.satfinite.bf16.f32', a: 0x7f7fffff, d: 0x7f7f, why: 'would round to infinity' },
      { form: 'cvt.rn.relu.satfinite.bf16.f32', a: 0xff800000, d: 0, why: 'clamped to 0' },
      { form: 'cvt.rz.satfinite.bf16.f32', a: 0xff800000, d: 0xff7f, why: '-infinity becomes the smallest bfloat' },
    ],
  }),
  row({
    syntax: 'cvt.rnd{.relu}{.satfinite}.type.f32 d, a, b',
    values: { rnd: toNearest, type: packed },
    types: { a: 'f32', b: 'f32' },
    since: ampere,
    doc: 'Two floats as packed halves, a in the upper half.',
    source: '9.7.9.21',
    status: 'exact',
    lower({ a, b }, m, ir) {
      const [low, high] = [b, a].map((each) => toHalf(ir, halfOf(m.type), each, m.rnd, m));
      return joined(ir, low!, high!);
    },
    cases: () => [
      { form: 'cvt.rn.f16x2.f32', a: 0x3f800000, b: 0x40000000, d: 0x3c004000, why: '1 above 2' },
      { form: 'cvt.rn.bf16x2.f32', a: 0x3f808000, b: 0x3f818000, d: 0x3f803f82, why: 'both tie to even' },
      { form: 'cvt.rn.relu.bf16x2.f32', a: 0xbf800000, b: 0x3f800000, d: 0x00003f80, why: 'clamped to 0' },
      { form: 'cvt.rz.satfinite.f16x2.f32', a: 0xff800000, b: 0x7f800000, d: 0xfbff7bff, why: 'not infinite' },
    ],
  }),
  row({
    syntax: 'cvt.rnd.ftz.bf16.f32 d, a',
    values: { rnd: toNearest },
    types: { d: 'bf16', a: 'f32' },
    since: hopper,
    doc: 'A float as a bfloat. Subnormals are flushed to 0.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => narrowFloat(ir, 'bf16', flush(ir, a, true), m.rnd),
    cases: () => [
      { form: 'cvt.rn.ftz.bf16.f32', a: 0x007fffff, d: 0, why: 'a subnormal' },
      { form: 'cvt.rn.ftz.bf16.f32', a: 0x3f808001, d: 0x3f81, why: 'above the midpoint' },
      { form: 'cvt.rz.ftz.bf16.f32', a: 0x80000001, d: 0x8000, why: 'zero with the same sign' },
    ],
  }),
  row({
    syntax: 'cvt.ftz.f32.bf16 d, a',
    types: { d: 'f32', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as a float. Subnormals are flushed to 0.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, _, ir) => flush(ir, ir.fpext('f32', a), true),
    cases: () => [
      { form: 'cvt.ftz.f32.bf16', a: 0x3f80, d: 0x3f800000, why: '1' },
      { form: 'cvt.ftz.f32.bf16', a: 0x807f, d: 0x80000000, why: 'a subnormal' },
      { form: 'cvt.ftz.f32.bf16', a: 0x0080, d: 0x00800000, why: 'the smallest normal number' },
    ],
  }),
];

/** bf16 as f32, and f32 that is rounded again to bf16. */
const single = (ir: RowBuilder, a: Value): Value => ir.fpext('f32', a);

const bfloatRows = [
  row({
    syntax: 'cvt.rnd.bf16.type d, a',
    values: { rnd: roundings, type: integers },
    types: { d: 'bf16', a: '.type' },
    since: hopper,
    doc: 'An integer as a bfloat.',
    source: '9.7.9.21',
    status: 'exact',
    lower({ a }, m, ir) {
      const isSigned = isSignedType(m.type);
      return narrowFloat(ir, 'bf16', intToOdd(ir, widened(ir, a, isSigned), isSigned), m.rnd);
    },
    cases: () => [
      { form: 'cvt.rn.bf16.s32', a: 0xffffffd6, d: 0xc228, why: '-42' },
      { form: 'cvt.rn.bf16.u32', a: 0x81800001, d: 0x4f02, why: 'just above a midpoint' },
      { form: 'cvt.rn.bf16.u64', a: 0x8180000000000000n, d: 0x5f02, why: 'a midpoint ties to even' },
      { form: 'cvt.rp.bf16.u16', a: 0x8001, d: 0x4701, why: 'upwards' },
      { form: 'cvt.rz.bf16.s64', a: 0x8000000000000001n, d: 0xdeff, why: 'towards zero' },
    ],
  }),
  row({
    syntax: 'cvt.rnd.bf16.f16 d, a',
    values: { rnd: roundings },
    types: { d: 'bf16', a: 'f16' },
    since: hopper,
    doc: 'A half as a bfloat.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => narrowFloat(ir, 'bf16', single(ir, a), m.rnd),
    cases: () => [
      { form: 'cvt.rn.bf16.f16', a: 0x3c00, d: 0x3f80, why: '1' },
      { form: 'cvt.rp.bf16.f16', a: 0x3c01, d: 0x3f81, why: 'upwards' },
      { form: 'cvt.rn.bf16.f16', a: 0x0001, d: 0x3380, why: '2^-24 is normal as a bfloat' },
    ],
  }),
  row({
    syntax: 'cvt.rnd.bf16.f64 d, a',
    values: { rnd: roundings },
    types: { d: 'bf16', a: 'f64' },
    since: hopper,
    doc: 'A double as a bfloat.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => narrowFloat(ir, 'bf16', doubleToOdd(ir, a), m.rnd),
    cases: () => [
      { form: 'cvt.rn.bf16.f64', a: 0x3ff0000000000000n, d: 0x3f80, why: '1' },
      { form: 'cvt.rn.bf16.f64', a: 0x3ff0100000000001n, d: 0x3f81, why: '1 + 2^-8 + 2^-52, above the midpoint' },
      { form: 'cvt.rz.bf16.f64', a: 0x7fefffffffffffffn, d: 0x7f7f, why: 'no overflow towards zero' },
    ],
  }),
  row({
    syntax: 'cvt.rnd.type.bf16 d, a',
    values: { rnd: integerRoundings, type: integers },
    types: { d: '.type', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as an integer, saturated. A NaN gives 0, or only the highest bit if d has 64 bits.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => floatToInteger(ir, single(ir, a), m.type, m.rnd),
    cases: () => [
      { form: 'cvt.rzi.s32.bf16', a: 0xbfc0, d: 0xffffffff, why: '-1.5 towards zero' },
      { form: 'cvt.rni.u32.bf16', a: 0x4020, d: 2, why: '2.5 ties to even' },
      { form: 'cvt.rpi.s16.bf16', a: 0x7f7f, d: 0x7fff, why: 'saturates' },
    ],
  }),
  row({
    syntax: 'cvt.rnd.f16.bf16 d, a',
    values: { rnd: roundings },
    types: { d: 'f16', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as a half.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => narrowFloat(ir, 'f16', single(ir, a), m.rnd),
    cases: () => [
      { form: 'cvt.rn.f16.bf16', a: 0x3f81, d: 0x3c08, why: '1 + 2^-7' },
      { form: 'cvt.rn.f16.bf16', a: 0x4780, d: 0x7c00, why: '2^16 overflows' },
      { form: 'cvt.rm.f16.bf16', a: 0x8001, d: 0x8001, why: 'the smallest subnormal comes below -0' },
    ],
  }),
  row({
    syntax: 'cvt.f64.bf16 d, a',
    types: { d: 'f64', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat as a double.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.fpext('f64', single(ir, a)),
    cases: () => [
      { form: 'cvt.f64.bf16', a: 0x3f80, d: 0x3ff0000000000000n, why: '1' },
      { form: 'cvt.f64.bf16', a: 0x0001, d: 0x37a0000000000000n, why: '2^-133 is normal as a double' },
      { form: 'cvt.f64.bf16', a: 0xff80, d: 0xfff0000000000000n, why: '-infinity' },
    ],
  }),
  row({
    syntax: 'cvt.rnd.bf16.bf16 d, a',
    values: { rnd: integerRoundings },
    types: { d: 'bf16', a: 'bf16' },
    since: hopper,
    doc: 'A bfloat rounded to an integral value.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => toIntegral(ir, a, m.rnd),
    cases: () => [
      { form: 'cvt.rni.bf16.bf16', a: 0x4020, d: 0x4000, why: '2.5 ties to even' },
      { form: 'cvt.rmi.bf16.bf16', a: 0x8001, d: 0xbf80, why: 'below -0 comes -1' },
      { form: 'cvt.rzi.bf16.bf16', a: 0xbfc0, d: 0xbf80, why: '-1.5 towards zero' },
    ],
  }),
  row({
    syntax: 'cvt.bf16.bf16 d, a',
    types: { d: 'bf16', a: 'bf16' },
    since: hopper,
    doc: 'A copy of a bfloat.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }) => a,
    cases: () => [
      { form: 'cvt.bf16.bf16', a: 0x3f80, d: 0x3f80, why: '1' },
      { form: 'cvt.bf16.bf16', a: 0x8001, d: 0x8001, why: 'a subnormal is unchanged' },
      { form: 'cvt.bf16.bf16', a: 0xff80, d: 0xff80, why: '-infinity' },
    ],
  }),
];

/** A signed 32-bit integer, clamped to a type of `bits` bits, with the upper bits 0. */
function limitedTo(ir: RowBuilder, a: Value, type: string): Value {
  const bits = bitsOfType(type);
  const value = saturateInt(ir, a, { bits: 32, isSigned: true }, { bits, isSigned: isSignedType(type) });
  return ir.and(value, ir.const('i32' satisfies IntType, 2 ** bits - 1));
}

/** Two clamped integers side by side, a above b. */
function sideBySide(ir: RowBuilder, type: string, a: Value, b: Value): Value {
  return ir.or(limitedTo(ir, b, type), ir.shl(limitedTo(ir, a, type), ir.const('i32', bitsOfType(type))));
}

const packRows = [
  row({
    syntax: 'cvt.pack.sat.type.s32 d, a, b',
    values: { type: ['u16', 's16'] },
    types: { d: 'b32', a: 's32', b: 's32' },
    since: { ptx: 6.5, sm: 72 },
    doc: 'Two integers as packed 16-bit integers, saturated, a in the upper half.',
    source: '9.7.9.22',
    status: 'exact',
    lower: ({ a, b }, { type }, ir) => sideBySide(ir, type, a, b),
    cases: () => [
      { form: 'cvt.pack.sat.s16.s32', a: 1, b: 2, d: 0x00010002, why: '1 above 2' },
      { form: 'cvt.pack.sat.s16.s32', a: 0x80000000, b: 0x7fffffff, d: 0x80007fff, why: 'the minimum and the maximum' },
      { form: 'cvt.pack.sat.u16.s32', a: 0xffffffff, b: 0x12345, d: 0x0000ffff, why: '-1 is below 0' },
    ],
  }),
  row({
    syntax: 'cvt.pack.sat.type.s32.b32 d, a, b, c',
    values: { type: ['u8', 's8', 'u4', 's4', 'u2', 's2'] },
    types: { d: 'b32', a: 's32', b: 's32', c: 'b32' },
    since: turing,
    doc: 'Two integers as narrower ones, saturated, inserted below the lower half of c.',
    source: '9.7.9.22',
    status: 'exact',
    lower: ({ a, b, c }, { type }, ir) => ir.or(sideBySide(ir, type, a, b), ir.shl(c, ir.const('i32', 2 * bitsOfType(type)))),
    cases: () => [
      { form: 'cvt.pack.sat.u8.s32.b32', a: 300, b: 2, c: 0x12345678, d: 0x5678ff02, why: 'the lower half of c is shifted up' },
      { form: 'cvt.pack.sat.s4.s32.b32', a: 0xffffffff, b: 99, c: 0x1, d: 0x1f7, why: '-1 and the maximum' },
      { form: 'cvt.pack.sat.s2.s32.b32', a: 0x80000000, b: 1, c: 0, d: 9, why: '-2 and 1' },
    ],
  }),
];

export const convertHalfRows = [...singleRows, ...bfloatRows, ...packRows];
