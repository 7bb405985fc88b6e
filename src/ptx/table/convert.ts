/**
 * Conversions. Source: PTX ISA 9.0, 9.7.9.21. The integer result for NaN is recorded from the hardware: 0, or only the highest bit if
 * either side has 64 bits.
 */
import type { Value } from '../../ir/index.ts';
import { bitsOf, type FloatType, type IntType } from '../../ir/types.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { bitsOfType, isSignedType, registerTypes } from '../model/types.ts';
import { flush, intToFloat, narrowFloat, rectify, saturate, saturateInt, typeOf, widened } from './compose.ts';
import { cheaperToCut } from './half-away.ts';

const always = { ptx: 1, sm: 10 } as const;
export const integers = ['u8', 'u16', 'u32', 'u64', 's8', 's16', 's32', 's64'] as const;
const floats = ['f16', 'f32', 'f64'] as const;
export const roundings = ['rn', 'rz', 'rm', 'rp'] as const;
export const integerRoundings = ['rni', 'rzi', 'rmi', 'rpi'] as const;

const shapeOf = (type: string) => ({ bits: bitsOfType(type), isSigned: isSignedType(type) });

/** Whether `to` contains every value of `from`, so that nothing saturates. */
function holdsAll(to: string, from: string): boolean {
  const [wide, narrow] = [shapeOf(to), shapeOf(from)];
  if (wide.isSigned === narrow.isSigned) return wide.bits >= narrow.bits;
  return wide.isSigned && wide.bits > narrow.bits;
}

/** Truncates, extends by the sign of the source, or saturates. */
function integerToInteger(ir: RowBuilder, a: Value, from: string, to: string, sat: true | undefined): Value {
  const value = sat ? saturateInt(ir, a, shapeOf(from), shapeOf(to)) : a;
  const [have, want] = [bitsOfType(from), bitsOfType(to)];
  const type = registerTypes[to]!;
  if (have === want) return value;
  if (have > want) return ir.trunc(type, value);
  return isSignedType(from) ? ir.sext(type, value) : ir.zext(type, value);
}

/** Rounds to an integral value as the modifier says. */
export function toIntegral(ir: RowBuilder, a: Value, rounding: (typeof integerRoundings)[number]): Value {
  const ops = { rni: 'frint', rzi: 'ftrunc', rmi: 'ffloor', rpi: 'fceil' } as const;
  return ir[ops[rounding]](rounding === 'rzi' ? cheaperToCut(ir, a) : a);
}

/** Saturates, as the manual demands for conversions to integers with and without `.sat`. */
export function floatToInteger(ir: RowBuilder, a: Value, to: string, rounding: (typeof integerRoundings)[number]): Value {
  const type = registerTypes[to] as IntType;
  const integral = rounding === 'rzi' ? cheaperToCut(ir, a) : toIntegral(ir, a, rounding);
  const value = isSignedType(to) ? ir.fptosi(type, integral) : ir.fptoui(type, integral);
  if (typeOf(ir, a) !== 'f64' && bitsOf(type) !== 64) return value;
  const highest = ir.const(type, 1n << BigInt(bitsOf(type) - 1));
  return ir.select(ir.fcmp(a, a, { pred: 'uno' }), highest, value);
}

const widen = (ir: RowBuilder, a: Value, to: string): Value => (typeOf(ir, a) === to ? a : ir.fpext(registerTypes[to] as FloatType, a));

export const convertRows = [
  row({
    syntax: 'cvt{.sat}.dtype.atype d, a',
    values: { dtype: integers, atype: integers },
    excludes: integers.map((atype) => ({ sat: ['sat'], atype: [atype], dtype: integers.filter((dtype) => holdsAll(dtype, atype)) })),
    types: { d: '.dtype', a: '.atype' },
    relaxed: ['d', 'a'],
    since: always,
    doc: 'An integer of another width: truncated, extended by the sign of the source, or saturated with `.sat`.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => integerToInteger(ir, a, m.atype, m.dtype, m.sat),
    cases: () => [
      { form: 'cvt.s64.s32', a: 0xffffffff, d: 0xffffffffffffffffn, why: 'the sign is extended' },
      { form: 'cvt.u64.u32', a: 0xffffffff, d: 0xffffffffn, why: 'zeros are' },
      { form: 'cvt.u64.s32', a: 0xffffffff, d: 0xffffffffffffffffn, why: 'the source type determines the extension' },
      { form: 'cvt.u16.u32', a: 0x12345, d: 0x2345, why: 'cut' },
      { form: 'cvt.sat.u16.s32', a: 0xffffffff, d: 0, why: '-1 is below 0' },
      { form: 'cvt.sat.s16.s32', a: 0x12345, d: 0x7fff, why: 'above the maximum' },
    ],
  }),
  row({
    syntax: 'cvt.frnd{.ftz}{.sat}.dtype.atype d, a',
    values: { frnd: roundings, dtype: floats, atype: integers },
    excludes: [{ ftz: ['ftz'], dtype: ['f16', 'f64'] }],
    types: { d: '.dtype', a: '.atype' },
    relaxed: ['a'],
    since: always,
    doc: 'An integer as a float. `.rz` never overflows to infinity.',
    source: '9.7.9.21',
    status: 'exact',
    lower({ a }, m, ir) {
      const isSigned = isSignedType(m.atype);
      const value = intToFloat(ir, m.dtype, widened(ir, a, isSigned), isSigned, m.frnd);
      return saturate(ir, value, m.sat);
    },
    cases: () => [
      { form: 'cvt.rn.f32.s32', a: 0xffffffd6, d: 0xc2280000, why: '-42' },
      { form: 'cvt.rn.f32.u32', a: 0x1000001, d: 0x4b800000, why: '2^24 + 1 ties to even' },
      { form: 'cvt.rp.f32.u32', a: 0x1000001, d: 0x4b800001, why: 'upwards' },
      { form: 'cvt.rz.f32.s32', a: 0x80000001, d: 0xceffffff, why: 'towards zero' },
      { form: 'cvt.rn.f16.u32', a: 0xffffffff, d: 0x7c00, why: 'overflows' },
      { form: 'cvt.rz.f16.u32', a: 0xffffffff, d: 0x7bff, why: 'the largest half' },
      { form: 'cvt.rn.f64.u64', a: 0xffffffffffffffffn, d: 0x43f0000000000000n, why: '2^64' },
    ],
  }),
  row({
    syntax: 'cvt.irnd{.ftz}{.sat}.dtype.atype d, a',
    values: { irnd: integerRoundings, dtype: integers, atype: floats },
    excludes: [{ ftz: ['ftz'], atype: ['f16', 'f64'] }],
    types: { d: '.dtype', a: '.atype' },
    relaxed: ['d'],
    since: always,
    doc: 'A float as an integer, rounded as the modifier says and saturated. A NaN gives 0, or only the highest bit if d or a has 64 bits.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => floatToInteger(ir, flush(ir, a, m.ftz), m.dtype, m.irnd),
    cases: () => [
      { form: 'cvt.rzi.s32.f32', a: 0xbfc00000, d: 0xffffffff, why: '-1.5 towards zero' },
      { form: 'cvt.rni.s32.f32', a: 0x40200000, d: 2, why: '2.5 ties to even' },
      { form: 'cvt.rmi.s32.f32', a: 0xbfc00000, d: 0xfffffffe, why: '-1.5 downwards' },
      { form: 'cvt.rpi.u32.f32', a: 0x3f800001, d: 2, why: 'upwards' },
      { form: 'cvt.rzi.u16.f32', a: 0x4f000000, d: 0xffff, why: '2^31 saturates' },
      { form: 'cvt.rzi.s32.f32', a: 0x7fc00000, d: 0, why: 'a NaN' },
      { form: 'cvt.rzi.s64.f32', a: 0x7fc00000, d: 0x8000000000000000n, why: 'a NaN, 64 bits' },
    ],
  }),
  row({
    syntax: 'cvt.frnd{.ftz}{.sat}.f32.f64 d, a',
    values: { frnd: roundings },
    types: { d: 'f32', a: 'f64' },
    since: { ptx: 1, sm: 13 },
    doc: 'A double as a float.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => saturate(ir, flush(ir, narrowFloat(ir, 'f32', a, m.frnd), m.ftz), m.sat),
    cases: () => [
      { form: 'cvt.rn.f32.f64', a: 0x3ff8000000000000n, d: 0x3fc00000, why: '1.5' },
      { form: 'cvt.rz.f32.f64', a: 0x7fefffffffffffffn, d: 0x7f7fffff, why: 'the largest double towards zero' },
      { form: 'cvt.rn.f32.f64', a: 0x7fefffffffffffffn, d: 0x7f800000, why: 'overflows when rounded to nearest' },
    ],
  }),
  row({
    syntax: 'cvt.frnd{.ftz}{.sat}.f16.atype d, a',
    values: { frnd: roundings, atype: ['f32', 'f64'] },
    excludes: [{ ftz: ['ftz'], atype: ['f64'] }],
    types: { d: 'f16', a: '.atype' },
    since: { ptx: 1, sm: 10 },
    doc: 'A wider float as a half. As on an H200, `.ftz` has no effect: rounded upwards, the smallest subnormal float gives the smallest half.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => saturate(ir, narrowFloat(ir, 'f16', a, m.frnd), m.sat),
    cases: () => [
      { form: 'cvt.rn.f16.f32', a: 0x3f800000, d: 0x3c00, why: '1' },
      { form: 'cvt.rn.f16.f32', a: 0x477ff000, d: 0x7c00, why: '65520 ties up to infinity' },
      { form: 'cvt.rz.f16.f32', a: 0x47c00000, d: 0x7bff, why: '98304 towards zero' },
      { form: 'cvt.rm.f16.f32', a: 0x80000001, d: 0x8001, why: 'the smallest subnormal comes below -0' },
      { form: 'cvt.rp.ftz.f16.f32', a: 0x007fffff, d: 1, why: 'a subnormal source is not flushed' },
    ],
  }),
  row({
    syntax: 'cvt.frnd{.relu}.bf16.f32 d, a',
    values: { frnd: roundings },
    excludes: [{ relu: ['relu'], frnd: ['rm', 'rp'] }],
    types: { d: 'bf16', a: 'f32' },
    since: { ptx: 7, sm: 80 },
    doc: 'A float as a bfloat. `.relu` clamps negative values to +0.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, m, ir) => rectify(ir, narrowFloat(ir, 'bf16', a, m.frnd), m.relu),
    cases: () => [
      { form: 'cvt.rn.bf16.f32', a: 0x3f808000, d: 0x3f80, why: 'ties to even' },
      { form: 'cvt.rz.bf16.f32', a: 0x3f81ffff, d: 0x3f81, why: 'cut' },
      { form: 'cvt.rn.relu.bf16.f32', a: 0xbf800000, d: 0, why: 'clamped to 0' },
    ],
  }),
  row({
    syntax: 'cvt{.ftz}{.sat}.dtype.atype d, a',
    values: { dtype: ['f32', 'f64'], atype: ['f16', 'f32'] },
    excludes: [{ ftz: ['ftz'], dtype: ['f64'], atype: ['f16'] }],
    types: { d: '.dtype', a: '.atype' },
    relaxed: ['a'],
    since: always,
    doc: 'A float as a wider one, or the same. `.ftz` flushes subnormal sources, and `.sat` clamps to 0 and 1.',
    source: '9.7.9.21',
    status: 'exact',
    lower({ a }, m, ir) {
      const source = flush(ir, a, m.atype === 'f32' ? m.ftz : undefined);
      return saturate(ir, widen(ir, source, m.dtype), m.sat);
    },
    cases: () => [
      { form: 'cvt.f32.f16', a: 0x3c00, d: 0x3f800000, why: '1' },
      { form: 'cvt.f64.f32', a: 1, d: 0x36a0000000000000n, why: 'the smallest subnormal float is normal as a double' },
      { form: 'cvt.sat.f32.f32', a: 0x40000000, d: 0x3f800000, why: 'clamped to 1' },
    ],
  }),
  row({
    syntax: 'cvt.f32.bf16 d, a',
    types: { d: 'f32', a: 'bf16' },
    since: { ptx: 7.1, sm: 80 },
    doc: 'A bfloat as a float: its bits are the upper half.',
    source: '9.7.9.21',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.fpext('f32', a),
    cases: () => [
      { form: 'cvt.f32.bf16', a: 0x3f80, d: 0x3f800000, why: '1' },
      { form: 'cvt.f32.bf16', a: 0x0001, d: 0x00010000, why: 'a subnormal is unchanged' },
      { form: 'cvt.f32.bf16', a: 0xff80, d: 0xff800000, why: '-infinity' },
    ],
  }),
  ...(['f16', 'f64'] as const).map((type) => {
    const [one, two, nan] = type === 'f16' ? [0x3c00, 0x4000, 0x7e00] : [0x3ff0000000000000n, 0x4000000000000000n, 0x7ff8000000000000n];
    return row({
      syntax: `cvt{.sat}.${type as 'f64'}.${type as 'f64'} d, a`,
      types: { d: type, a: type },
      since: always,
      doc: 'A copy of a float. `.sat` clamps to 0 and 1.',
      source: '9.7.9.21',
      status: 'exact',
      lower: ({ a }, m, ir) => saturate(ir, a, m.sat),
      cases: () => [
        { form: `cvt.${type}.${type}`, a: two, d: two, why: 'nothing changes' },
        { form: `cvt.sat.${type}.${type}`, a: two, d: one, why: 'clamped to 1' },
        { form: `cvt.sat.${type}.${type}`, a: nan, d: 0, why: 'a NaN is +0' },
      ],
    });
  }),
  ...floats.map((type) =>
    row({
      syntax: `cvt.irnd{.ftz}{.sat}.${type as 'f32'}.${type as 'f32'} d, a`,
      values: { irnd: integerRoundings },
      excludes: type === 'f32' ? [] : [{ ftz: ['ftz'], [type]: [type] }],
      types: { d: type, a: type },
      since: always,
      doc: 'Rounds to an integral value of the same type.',
      source: '9.7.9.21',
      status: 'exact',
      lower: ({ a }, m, ir) => saturate(ir, toIntegral(ir, flush(ir, a, m.ftz), m.irnd), m.sat),
      cases: () => [],
    }),
  ),
];
