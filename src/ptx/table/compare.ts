/** Comparison and selection: integers and floats (9.7.6), half precision (9.7.7). Source: PTX ISA 9.0. */
import type { FcmpPredicate, IcmpPredicate, Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { isFloatType, isSignedType, kindOfType } from '../model/types.ts';
import { flush, not } from './compose.ts';

const always = { ptx: 1, sm: 10 } as const;
const signed = ['s16', 's32', 's64'] as const;
const unsigned = ['u16', 'u32', 'u64'] as const;
const bits = ['b16', 'b32', 'b64'] as const;
const floats = ['f32', 'f64', 'f16', 'bf16'] as const;
const bool = ['and', 'or', 'xor'] as const;

/** Comparison operators by type kind. `lo ls hi hs` are aliases of the unsigned ones. */
const operators = {
  bits: ['eq', 'ne'],
  signed: ['eq', 'ne', 'lt', 'le', 'gt', 'ge'],
  unsigned: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'lo', 'ls', 'hi', 'hs'],
  floats: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'equ', 'neu', 'ltu', 'leu', 'gtu', 'geu', 'num', 'nan'],
} as const;

/** Integer types have fewer comparisons than `operators.unsigned` lists. */
const integerOperators = [
  { cmp: ['lt', 'le', 'gt', 'ge', 'lo', 'ls', 'hi', 'hs'], stype: bits },
  { cmp: ['lo', 'ls', 'hi', 'hs'], stype: signed },
];

const unsignedNames: Readonly<Record<string, IcmpPredicate>> = { lo: 'ult', ls: 'ule', hi: 'ugt', hs: 'uge' };

const floatPredicates: Readonly<Record<string, FcmpPredicate>> = {
  eq: 'oeq',
  ne: 'one',
  lt: 'olt',
  le: 'ole',
  gt: 'ogt',
  ge: 'oge',
  equ: 'ueq',
  neu: 'une',
  ltu: 'ult',
  leu: 'ule',
  gtu: 'ugt',
  geu: 'uge',
  num: 'ord',
  nan: 'uno',
};

/** The comparison for an operator and a type, with flushed operands if requested. */
export function compare(ir: RowBuilder, operator: string, type: string, a: Value, b: Value, ftz: true | undefined): Value {
  if (isFloatType(type)) return ir.fcmp(flush(ir, a, ftz), flush(ir, b, ftz), { pred: floatPredicates[operator]! });
  if (operator === 'eq' || operator === 'ne') return ir.icmp(a, b, { pred: operator });
  const sign = isSignedType(type) ? 's' : 'u';
  return ir.icmp(a, b, { pred: unsignedNames[operator] ?? (`${sign}${operator}` as IcmpPredicate) });
}

/** Both results: the comparison and its negation, each combined with a third predicate if there is one. */
function both(ir: RowBuilder, holds: Value, operator?: (typeof bool)[number], c?: Value): { p: Value; q: Value } {
  if (operator === undefined || c === undefined) return { p: holds, q: not(ir, holds) };
  return { p: ir[operator](holds, c), q: ir[operator](not(ir, holds), c) };
}

/** All ones, or 1.0 for floats, if the comparison holds. */
function truth(ir: RowBuilder, type: string, holds: Value): Value {
  if (type === 'f32') return ir.select(holds, ir.const('f32', 0x3f800000), ir.const('f32', 0));
  if (type === 'f16') return ir.select(holds, ir.const('f16', 0x3c00), ir.const('f16', 0));
  if (type === 'bf16') return ir.select(holds, ir.const('bf16', 0x3f80), ir.const('bf16', 0));
  return ir.sext(kindOfType(type) === 'u' && type === 'u16' ? 'i16' : 'i32', holds);
}

const setpDoc = 'Compares. q is the negation of the result.';
const joinedDoc = 'Compares and combines the result with the predicate c. q combines the negated result with c.';

export const compareRows = [
  row({
    syntax: 'setp.cmp.type p[|q], a, b',
    values: { cmp: operators.bits, type: bits },
    types: { p: 'pred', q: 'pred' },
    since: always,
    doc: setpDoc,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b }, { cmp, type }, ir) => both(ir, compare(ir, cmp, type, a, b, undefined)),
    cases: () => [
      { form: 'setp.eq.b32', a: 5, b: 5, p: 1, q: 0, why: 'equal' },
      { form: 'setp.ne.b64', a: 0x100000000n, b: 0, p: 1, q: 0, why: 'the upper half matters' },
      { form: 'setp.eq.b16', a: 1, b: 2, p: 0, q: 1, why: 'q is the negation' },
    ],
  }),
  row({
    syntax: 'setp.cmp.type p[|q], a, b',
    values: { cmp: operators.signed, type: signed },
    types: { p: 'pred', q: 'pred' },
    since: always,
    doc: setpDoc,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b }, { cmp, type }, ir) => both(ir, compare(ir, cmp, type, a, b, undefined)),
    cases: () => [
      { form: 'setp.lt.s32', a: 0xffffffff, b: 0, p: 1, q: 0, why: '-1 is below 0' },
      { form: 'setp.ge.s16', a: 0x8000, b: 0x7fff, p: 0, q: 1, why: 'the minimum is below the maximum' },
      { form: 'setp.le.s64', a: 3, b: 3, p: 1, q: 0, why: 'equal' },
    ],
  }),
  row({
    syntax: 'setp.cmp.type p[|q], a, b',
    values: { cmp: operators.unsigned, type: unsigned },
    types: { p: 'pred', q: 'pred' },
    since: always,
    doc: setpDoc,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b }, { cmp, type }, ir) => both(ir, compare(ir, cmp, type, a, b, undefined)),
    cases: () => [
      { form: 'setp.lt.u32', a: 0xffffffff, b: 0, p: 0, q: 1, why: 'unsigned, all ones is the maximum' },
      { form: 'setp.hi.u32', a: 0xffffffff, b: 0, p: 1, q: 0, why: 'above, by its alias' },
      { form: 'setp.ls.u16', a: 1, b: 0xffff, p: 1, q: 0, why: 'below or same' },
    ],
  }),
  row({
    syntax: 'setp.cmp{.ftz}.type p[|q], a, b',
    values: { cmp: operators.floats, type: floats },
    excludes: [{ ftz: ['ftz'], type: ['f64', 'bf16'] }],
    types: { p: 'pred', q: 'pred' },
    since: always,
    doc: `${setpDoc} Comparisons that end in u hold if an operand is NaN; the others do not.`,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b }, { cmp, ftz, type }, ir) => both(ir, compare(ir, cmp, type, a, b, ftz)),
    cases: () => [
      { form: 'setp.lt.f32', a: 0x3f800000, b: 0x40000000, p: 1, q: 0, why: '1 is below 2' },
      { form: 'setp.ne.f32', a: 0x7fc00000, b: 0, p: 0, q: 1, why: 'ordered: false for NaN' },
      { form: 'setp.neu.f32', a: 0x7fc00000, b: 0, p: 1, q: 0, why: 'unordered' },
      { form: 'setp.eq.f64', a: 0n, b: 0x8000000000000000n, p: 1, q: 0, why: 'zeros are equal' },
      { form: 'setp.eq.ftz.f32', a: 1, b: 0, p: 1, q: 0, why: 'a subnormal is treated as 0' },
    ],
  }),
  row({
    syntax: 'setp.cmp.bool.type p[|q], a, b, {!}c',
    values: { cmp: operators.bits, bool, type: bits },
    types: { p: 'pred', q: 'pred', c: 'pred' },
    since: always,
    doc: joinedDoc,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => both(ir, compare(ir, m.cmp, m.type, a, b, undefined), m.bool, c),
    cases: () => [
      { form: 'setp.eq.and.b32', a: 5, b: 5, c: 0, p: 0, q: 0, why: 'and with false is false' },
      { form: 'setp.eq.or.b32', a: 5, b: 6, c: 1, p: 1, q: 1, why: 'or with true is true' },
      { form: 'setp.ne.xor.b16', a: 1, b: 2, c: 1, p: 0, q: 1, why: 'exclusive' },
    ],
  }),
  row({
    syntax: 'setp.cmp.bool.type p[|q], a, b, {!}c',
    values: { cmp: operators.signed, bool, type: signed },
    types: { p: 'pred', q: 'pred', c: 'pred' },
    since: always,
    doc: joinedDoc,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => both(ir, compare(ir, m.cmp, m.type, a, b, undefined), m.bool, c),
    cases: () => [
      { form: 'setp.lt.and.s32', a: 0xffffffff, b: 0, c: 1, p: 1, q: 0, why: '-1 is below 0, and c' },
      { form: 'setp.gt.or.s32', a: 0xffffffff, b: 0, c: 0, p: 0, q: 1, why: 'q is not (-1 > 0), or c' },
      { form: 'setp.eq.xor.s64', a: 3, b: 3, c: 1, p: 0, q: 1, why: 'exclusive' },
    ],
  }),
  row({
    syntax: 'setp.cmp.bool.type p[|q], a, b, {!}c',
    values: { cmp: operators.unsigned, bool, type: unsigned },
    types: { p: 'pred', q: 'pred', c: 'pred' },
    since: always,
    doc: joinedDoc,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => both(ir, compare(ir, m.cmp, m.type, a, b, undefined), m.bool, c),
    cases: () => [
      { form: 'setp.lt.and.u32', a: 0xffffffff, b: 0, c: 1, p: 0, q: 1, why: 'all ones is not below 0' },
      { form: 'setp.lo.or.u32', a: 1, b: 2, c: 0, p: 1, q: 0, why: 'below' },
      { form: 'setp.ge.xor.u16', a: 2, b: 1, c: 0, p: 1, q: 0, why: 'exclusive' },
    ],
  }),
  row({
    syntax: 'setp.cmp.bool{.ftz}.type p[|q], a, b, {!}c',
    values: { cmp: operators.floats, bool, type: floats },
    excludes: [{ ftz: ['ftz'], type: ['f64', 'bf16'] }],
    types: { p: 'pred', q: 'pred', c: 'pred' },
    since: always,
    doc: joinedDoc,
    source: '9.7.6.2',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => both(ir, compare(ir, m.cmp, m.type, a, b, m.ftz), m.bool, c),
    cases: () => [
      { form: 'setp.lt.and.f32', a: 0x3f800000, b: 0x40000000, c: 1, p: 1, q: 0, why: '1 is below 2, and c' },
      { form: 'setp.num.or.f32', a: 0x7fc00000, b: 0, c: 0, p: 0, q: 1, why: 'an operand is NaN' },
      { form: 'setp.gtu.xor.f16', a: 0x7e00, b: 0, c: 1, p: 0, q: 1, why: 'unordered holds' },
    ],
  }),
  row({
    syntax: 'set.cmp.dtype.stype d, a, b',
    values: { cmp: operators.unsigned, dtype: ['u32', 's32', 'f32'], stype: [...bits, ...signed, ...unsigned] },
    excludes: integerOperators,
    types: { d: '.dtype', a: '.stype', b: '.stype' },
    since: always,
    doc: 'Compares. The result is all ones, or 1.0 for a float d, if the comparison holds, else 0.',
    source: '9.7.6.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => truth(ir, m.dtype, compare(ir, m.cmp, m.stype, a, b, undefined)),
    cases: () => [
      { form: 'set.lt.u32.s32', a: 0xffffffff, b: 0, d: 0xffffffff, why: 'holds' },
      { form: 'set.ge.f32.s32', a: 1, b: 0, d: 0x3f800000, why: 'holds, as a float' },
      { form: 'set.eq.s32.b16', a: 1, b: 2, d: 0, why: 'does not hold' },
    ],
  }),
  row({
    syntax: 'set.cmp{.ftz}.dtype.stype d, a, b',
    values: { cmp: operators.floats, dtype: ['u32', 's32', 'f32'], stype: ['f32', 'f64'] },
    excludes: [{ ftz: ['ftz'], stype: ['f64'] }],
    types: { d: '.dtype', a: '.stype', b: '.stype' },
    since: always,
    doc: 'Compares. The result is all ones, or 1.0 for a float d, if the comparison holds, else 0.',
    source: '9.7.6.1',
    status: 'exact',
    lower: ({ a, b }, m, ir) => truth(ir, m.dtype, compare(ir, m.cmp, m.stype, a, b, m.ftz)),
    cases: () => [
      { form: 'set.lt.u32.f32', a: 0x3f800000, b: 0x40000000, d: 0xffffffff, why: '1 is below 2' },
      { form: 'set.eq.f32.f32', a: 0x7fc00000, b: 0x7fc00000, d: 0, why: 'NaN equals nothing' },
      { form: 'set.nan.s32.f64', a: 0x7ff8000000000000n, b: 0n, d: 0xffffffff, why: 'an operand is NaN' },
    ],
  }),
  row({
    syntax: 'set.cmp.bool.dtype.stype d, a, b, {!}c',
    values: { cmp: operators.unsigned, bool, dtype: ['u32', 's32', 'f32'], stype: [...bits, ...signed, ...unsigned] },
    excludes: integerOperators,
    types: { d: '.dtype', a: '.stype', b: '.stype', c: 'pred' },
    since: always,
    doc: 'Compares and combines the result with the predicate c. The result is all ones or 1.0 if it holds, else 0.',
    source: '9.7.6.1',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => truth(ir, m.dtype, ir[m.bool](compare(ir, m.cmp, m.stype, a, b, undefined), c)),
    cases: () => [
      { form: 'set.eq.and.u32.u32', a: 5, b: 5, c: 1, d: 0xffffffff, why: 'both hold' },
      { form: 'set.eq.and.u32.u32', a: 5, b: 5, c: 0, d: 0, why: 'c is false' },
      { form: 'set.lt.xor.f32.s32', a: 0xffffffff, b: 0, c: 0, d: 0x3f800000, why: 'exclusive' },
    ],
  }),
  row({
    syntax: 'set.cmp.bool{.ftz}.dtype.stype d, a, b, {!}c',
    values: { cmp: operators.floats, bool, dtype: ['u32', 's32', 'f32'], stype: ['f32', 'f64'] },
    excludes: [{ ftz: ['ftz'], stype: ['f64'] }],
    types: { d: '.dtype', a: '.stype', b: '.stype', c: 'pred' },
    since: always,
    doc: 'Compares and combines the result with the predicate c. The result is all ones or 1.0 if it holds, else 0.',
    source: '9.7.6.1',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => truth(ir, m.dtype, ir[m.bool](compare(ir, m.cmp, m.stype, a, b, m.ftz), c)),
    cases: () => [
      { form: 'set.lt.or.u32.f32', a: 0x40000000, b: 0x3f800000, c: 1, d: 0xffffffff, why: 'c holds' },
      { form: 'set.lt.or.u32.f32', a: 0x40000000, b: 0x3f800000, c: 0, d: 0, why: 'neither holds' },
      { form: 'set.equ.and.f32.f64', a: 0x7ff8000000000000n, b: 0n, c: 1, d: 0x3f800000, why: 'unordered' },
    ],
  }),
  row({
    syntax: 'selp.type d, a, b, c',
    values: { type: [...bits, ...unsigned, ...signed, 'f32', 'f64'] },
    types: { c: 'pred' },
    since: always,
    doc: 'a where c holds, else b.',
    source: '9.7.6.3',
    status: 'exact',
    lower: ({ a, b, c }, _, ir) => ir.select(c, a, b),
    cases: () => [
      { form: 'selp.b32', a: 1, b: 2, c: 1, d: 1, why: 'c holds' },
      { form: 'selp.s64', a: 1, b: 2, c: 0, d: 2, why: 'c is false' },
      { form: 'selp.f32', a: 0x7f800001, b: 0, c: 1, d: 0x7f800001, why: 'a signaling NaN is not quieted' },
    ],
  }),
];
