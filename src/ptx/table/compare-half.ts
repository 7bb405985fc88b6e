/** Comparisons of f16 and bf16, packed and with register results (9.7.7). Source: PTX ISA 9.0. */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { compare } from './compare.ts';
import { halfOf, joined, lowAndHigh, type Packed, packed } from './halves.ts';

const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'] as const;
const bool = ['and', 'or', 'xor'] as const;
const half = { ptx: 4.2, sm: 53 } as const;
const hopper = { ptx: 7.8, sm: 90 } as const;
const ofOthers = ['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64', 'f32', 'f64'] as const;
/** Bit types have no order. */
const unordered = [{ cmp: ['lt', 'le', 'gt', 'ge'], stype: ['b16', 'b32', 'b64'] }];

/** All ones, or 1.0 for floats, if the condition holds, else 0. */
function truth(ir: RowBuilder, type: string, holds: Value): Value {
  if (type === 'f16' || type === 'bf16') return ir.select(holds, ir.const(type, type === 'f16' ? 0x3c00 : 0x3f80), ir.const(type, 0));
  return ir.sext(type.endsWith('16') ? 'i16' : 'i32', holds);
}

/** Compares both halves of packed operands. */
function compareBoth(ir: RowBuilder, cmp: string, type: Packed, a: Value, b: Value, ftz: true | undefined): readonly [Value, Value] {
  const [x, y] = [lowAndHigh(ir, type, a), lowAndHigh(ir, type, b)];
  const one = (i: 0 | 1): Value => compare(ir, cmp, halfOf(type), x[i], y[i], ftz);
  return [one(0), one(1)];
}

/** Both results as 16-bit values: floats for a float d, else all ones. */
function truths(ir: RowBuilder, type: string, low: Value, high: Value): Value {
  const each = type.startsWith('f') ? 'f16' : type.startsWith('bf') ? 'bf16' : 'u16';
  return joined(ir, truth(ir, each, low), truth(ir, each, high));
}

const into = 'Compares halves. The result is all ones, or 1.0 for a half d, if the comparison holds, else 0.';
const intoJoined = 'Compares halves and combines the result with the predicate c. The result is all ones or 1.0 if it holds, else 0.';
const pairs = 'Compares packed halves. Each result is 16 ones, or 1.0 as a half, if the comparison holds, else 0.';
const pairsJoined =
  'Compares packed halves and combines the results with the predicate c. Each result is 16 ones or 1.0 if it holds, else 0.';

const singleRows = [
  row({
    syntax: 'set.cmp{.ftz}.dtype.f16 d, a, b',
    values: { cmp: comparisons, dtype: ['f16', 'bf16', 'u16', 's16', 'u32', 's32'] },
    excludes: [{ ftz: ['ftz'], dtype: ['bf16'] }],
    types: { d: '.dtype', a: 'f16', b: 'f16' },
    since: half,
    doc: into,
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => truth(ir, m.dtype, compare(ir, m.cmp, 'f16', a, b, m.ftz)),
    cases: () => [
      { form: 'set.lt.f16.f16', a: 0x3c00, b: 0x4000, d: 0x3c00, why: '1 is below 2' },
      { form: 'set.eq.u16.f16', a: 0x7e00, b: 0x7e00, d: 0, why: 'NaN equals nothing' },
      { form: 'set.eq.ftz.s32.f16', a: 1, b: 0, d: 0xffffffff, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'set.cmp.bool{.ftz}.dtype.f16 d, a, b, {!}c',
    values: { cmp: comparisons, bool, dtype: ['f16', 'bf16', 'u16', 's16', 'u32', 's32'] },
    excludes: [{ ftz: ['ftz'], dtype: ['bf16'] }],
    types: { d: '.dtype', a: 'f16', b: 'f16', c: 'pred' },
    since: half,
    doc: intoJoined,
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => truth(ir, m.dtype, ir[m.bool](compare(ir, m.cmp, 'f16', a, b, m.ftz), c)),
    cases: () => [
      { form: 'set.lt.and.f16.f16', a: 0x3c00, b: 0x4000, c: 0, d: 0, why: 'c is false' },
      { form: 'set.nan.or.s16.f16', a: 0x7e00, b: 0, c: 0, d: 0xffff, why: 'an operand is NaN' },
      { form: 'set.eq.xor.u32.f16', a: 0x8000, b: 0, c: 1, d: 0, why: 'zeros are equal, and c holds' },
    ],
  }),
  row({
    syntax: 'set.cmp.dtype.bf16 d, a, b',
    values: { cmp: comparisons, dtype: ['bf16', 'u16', 's16', 'u32', 's32'] },
    types: { d: '.dtype', a: 'bf16', b: 'bf16' },
    since: hopper,
    doc: into,
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => truth(ir, m.dtype, compare(ir, m.cmp, 'bf16', a, b, undefined)),
    cases: () => [
      { form: 'set.lt.bf16.bf16', a: 0x3f80, b: 0x4000, d: 0x3f80, why: '1 is below 2' },
      { form: 'set.geu.u16.bf16', a: 0x7fc0, b: 0, d: 0xffff, why: 'unordered' },
      { form: 'set.gt.s32.bf16', a: 1, b: 0, d: 0xffffffff, why: 'a subnormal is above 0' },
    ],
  }),
  row({
    syntax: 'set.cmp.bool.dtype.bf16 d, a, b, {!}c',
    values: { cmp: comparisons, bool, dtype: ['bf16', 'u16', 's16', 'u32', 's32'] },
    types: { d: '.dtype', a: 'bf16', b: 'bf16', c: 'pred' },
    since: hopper,
    doc: intoJoined,
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => truth(ir, m.dtype, ir[m.bool](compare(ir, m.cmp, 'bf16', a, b, undefined), c)),
    cases: () => [
      { form: 'set.lt.and.bf16.bf16', a: 0x3f80, b: 0x4000, c: 1, d: 0x3f80, why: 'both hold' },
      { form: 'set.ne.or.u16.bf16', a: 0x7fc0, b: 0, c: 0, d: 0, why: 'ordered: false for NaN' },
      { form: 'set.eq.xor.s16.bf16', a: 0x3f80, b: 0x4000, c: 1, d: 0xffff, why: 'only c holds' },
    ],
  }),
  row({
    syntax: 'set.cmp.dtype.stype d, a, b',
    values: { cmp: ['eq', 'ne', 'lt', 'le', 'gt', 'ge'], dtype: ['f16', 'bf16'], stype: ofOthers },
    excludes: unordered,
    types: { d: '.dtype', a: '.stype', b: '.stype' },
    since: half,
    doc: 'Compares. The result is 1.0 as a half if the comparison holds, else 0.',
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => truth(ir, m.dtype, compare(ir, m.cmp, m.stype, a, b, undefined)),
    cases: () => [
      { form: 'set.lt.f16.s32', a: 0xffffffff, b: 0, d: 0x3c00, why: '-1 is below 0' },
      { form: 'set.lt.bf16.u32', a: 0xffffffff, b: 0, d: 0, why: 'false for unsigned operands' },
      { form: 'set.ne.bf16.f32', a: 0x7fc00000, b: 0, d: 0, why: 'ordered' },
    ],
  }),
  row({
    syntax: 'set.cmp.bool.dtype.stype d, a, b, {!}c',
    values: { cmp: ['eq', 'ne', 'lt', 'le', 'gt', 'ge'], bool, dtype: ['f16', 'bf16'], stype: ofOthers },
    excludes: unordered,
    types: { d: '.dtype', a: '.stype', b: '.stype', c: 'pred' },
    since: half,
    doc: 'Compares and combines the result with the predicate c. The result is 1.0 as a half if it holds, else 0.',
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => truth(ir, m.dtype, ir[m.bool](compare(ir, m.cmp, m.stype, a, b, undefined), c)),
    cases: () => [
      { form: 'set.lt.and.f16.s32', a: 0xffffffff, b: 0, c: 1, d: 0x3c00, why: 'both hold' },
      { form: 'set.eq.or.bf16.b64', a: 1n, b: 2n, c: 1, d: 0x3f80, why: 'c holds' },
      { form: 'set.ge.xor.f16.u16', a: 1, b: 0, c: 1, d: 0, why: 'exclusive' },
    ],
  }),
];

const pairRows = [
  row({
    syntax: 'set.cmp{.ftz}.dtype.f16x2 d, a, b',
    values: { cmp: comparisons, dtype: ['f16x2', 'u32', 's32'] },
    types: { d: '.dtype', a: 'f16x2', b: 'f16x2' },
    since: half,
    doc: pairs,
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => truths(ir, m.dtype, ...compareBoth(ir, m.cmp, 'f16x2', a, b, m.ftz)),
    cases: () => [
      { form: 'set.lt.f16x2.f16x2', a: 0x3c004000, b: 0x40003c00, d: 0x3c000000, why: '1 is below 2, 2 is not below 1' },
      { form: 'set.eq.u32.f16x2', a: 0x7e008000, b: 0x7e000000, d: 0x0000ffff, why: 'zeros are equal, NaNs are not' },
      { form: 'set.gt.ftz.s32.f16x2', a: 0x00013c00, b: 0, d: 0x0000ffff, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'set.cmp.bool{.ftz}.dtype.f16x2 d, a, b, {!}c',
    values: { cmp: comparisons, bool, dtype: ['f16x2', 'u32', 's32'] },
    types: { d: '.dtype', a: 'f16x2', b: 'f16x2', c: 'pred' },
    since: half,
    doc: pairsJoined,
    source: '9.7.7.1',
    status: 'exact',
    lower({ a, b, c }, m, ir) {
      const [low, high] = compareBoth(ir, m.cmp, 'f16x2', a, b, m.ftz);
      return truths(ir, m.dtype, ir[m.bool](low, c), ir[m.bool](high, c));
    },
    cases: () => [
      { form: 'set.lt.and.f16x2.f16x2', a: 0x3c004000, b: 0x40003c00, c: 1, d: 0x3c000000, why: 'the upper half and c' },
      { form: 'set.lt.or.u32.f16x2', a: 0x3c004000, b: 0x40003c00, c: 1, d: 0xffffffff, why: 'c holds for both' },
      { form: 'set.lt.xor.s32.f16x2', a: 0x3c004000, b: 0x40003c00, c: 1, d: 0x0000ffff, why: 'exclusive' },
    ],
  }),
  row({
    syntax: 'set.cmp.dtype.bf16x2 d, a, b',
    values: { cmp: comparisons, dtype: ['bf16x2', 'u32', 's32'] },
    types: { d: '.dtype', a: 'bf16x2', b: 'bf16x2' },
    since: hopper,
    doc: pairs,
    source: '9.7.7.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => truths(ir, m.dtype, ...compareBoth(ir, m.cmp, 'bf16x2', a, b, undefined)),
    cases: () => [
      { form: 'set.lt.bf16x2.bf16x2', a: 0x3f804000, b: 0x40003f80, d: 0x3f800000, why: '1 is below 2, 2 is not below 1' },
      { form: 'set.neu.u32.bf16x2', a: 0x7fc08000, b: 0x7fc00000, d: 0xffff0000, why: 'zeros are equal, NaNs are not' },
      { form: 'set.gt.s32.bf16x2', a: 0x00013f80, b: 0, d: 0xffffffff, why: 'a subnormal is above 0' },
    ],
  }),
  row({
    syntax: 'set.cmp.bool.dtype.bf16x2 d, a, b, {!}c',
    values: { cmp: comparisons, bool, dtype: ['bf16x2', 'u32', 's32'] },
    types: { d: '.dtype', a: 'bf16x2', b: 'bf16x2', c: 'pred' },
    since: hopper,
    doc: pairsJoined,
    source: '9.7.7.1',
    status: 'exact',
    lower({ a, b, c }, m, ir) {
      const [low, high] = compareBoth(ir, m.cmp, 'bf16x2', a, b, undefined);
      return truths(ir, m.dtype, ir[m.bool](low, c), ir[m.bool](high, c));
    },
    cases: () => [
      { form: 'set.lt.and.bf16x2.bf16x2', a: 0x3f804000, b: 0x40003f80, c: 1, d: 0x3f800000, why: 'the upper half and c' },
      { form: 'set.lt.or.u32.bf16x2', a: 0x3f804000, b: 0x40003f80, c: 0, d: 0xffff0000, why: 'c is false' },
      { form: 'set.nan.xor.s32.bf16x2', a: 0x7fc00000, b: 0, c: 1, d: 0x0000ffff, why: 'exclusive' },
    ],
  }),
  row({
    syntax: 'setp.cmp{.ftz}.type p|q, a, b',
    values: { cmp: comparisons, type: packed },
    excludes: [{ ftz: ['ftz'], type: ['bf16x2'] }],
    types: { p: 'pred', q: 'pred' },
    since: half,
    doc: 'Compares packed halves: p is the result of the lower, q of the upper half.',
    source: '9.7.7.2',
    status: 'exact',
    lower({ a, b }, m, ir) {
      const [p, q] = compareBoth(ir, m.cmp, m.type, a, b, m.ftz);
      return { p, q };
    },
    cases: () => [
      { form: 'setp.lt.f16x2', a: 0x3c004000, b: 0x40003c00, p: 0, q: 1, why: '2 is not below 1, 1 is below 2' },
      { form: 'setp.eq.ftz.f16x2', a: 0x00017e00, b: 0x00007e00, p: 0, q: 1, why: 'a NaN, and a subnormal treated as 0' },
      { form: 'setp.geu.bf16x2', a: 0x7fc04000, b: 0x3f803f80, p: 1, q: 1, why: 'above, and unordered' },
    ],
  }),
  row({
    syntax: 'setp.cmp.bool{.ftz}.type p|q, a, b, {!}c',
    values: { cmp: comparisons, bool, type: packed },
    excludes: [{ ftz: ['ftz'], type: ['bf16x2'] }],
    types: { p: 'pred', q: 'pred', c: 'pred' },
    since: half,
    doc: 'Compares packed halves and combines both results with the predicate c: p is the result of the lower, q of the upper half.',
    source: '9.7.7.2',
    status: 'exact',
    lower({ a, b, c }, m, ir) {
      const [low, high] = compareBoth(ir, m.cmp, m.type, a, b, m.ftz);
      return { p: ir[m.bool](low, c), q: ir[m.bool](high, c) };
    },
    cases: () => [
      { form: 'setp.lt.and.f16x2', a: 0x3c004000, b: 0x40003c00, c: 0, p: 0, q: 0, why: 'c is false' },
      { form: 'setp.lt.or.f16x2', a: 0x3c004000, b: 0x40003c00, c: 0, p: 0, q: 1, why: 'the upper half' },
      { form: 'setp.lt.xor.bf16x2', a: 0x3f804000, b: 0x40003f80, c: 1, p: 1, q: 0, why: 'exclusive' },
    ],
  }),
];

/** In the order of the manual. */
export const compareHalfRows = [...singleRows, ...pairRows];
