/** Integer arithmetic. Source: PTX ISA 9.0, 9.7.1. */
import type { Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { saturated32 } from './compose.ts';

const integers = ['u16', 'u32', 'u64', 's16', 's32', 's64'] as const;
const narrower = ['u16', 'u32', 's16', 's32'] as const;
const signed = ['s16', 's32', 's64'] as const;
const always = { ptx: 1, sm: 10 } as const;

const highHalf = (ir: RowBuilder, type: string, a: Value, b: Value): Value => (isSignedType(type) ? ir.smulhi(a, b) : ir.umulhi(a, b));

/** The full product of two operands of up to 32 bits. */
function wideProduct(ir: RowBuilder, type: string, a: Value, b: Value): Value {
  const wide = ir.typeOf(a) === 'i16' ? 'i32' : 'i64';
  return isSignedType(type) ? ir.mul(ir.sext(wide, a), ir.sext(wide, b)) : ir.mul(ir.zext(wide, a), ir.zext(wide, b));
}

export const integerRows = [
  row({
    syntax: 'add.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'Adds. The carry out of the highest bit is discarded.',
    source: '9.7.1.1',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.add(a, b),
    cases: () => [
      { form: 'add.s32', a: 7, b: 35, d: 42, why: 'no overflow' },
      { form: 'add.u32', a: 0xffffffff, b: 1, d: 0, why: 'wraps to 0' },
      { form: 'add.s16', a: 0x7fff, b: 1, d: 0x8000, why: 'wraps from the maximum to the minimum' },
      { form: 'add.u64', a: 0xffffffffn, b: 1, d: 0x100000000n, why: 'the carry crosses the 32-bit halves' },
    ],
  }),
  row({
    syntax: 'add.sat.s32 d, a, b',
    types: { d: 's32', a: 's32', b: 's32' },
    since: always,
    doc: 'Adds and saturates to the minimum or maximum.',
    source: '9.7.1.1',
    status: 'exact',
    lower: ({ a, b }, _, ir) => saturated32(ir, (wide) => ir.add(wide(a), wide(b))),
    cases: () => [
      { form: 'add.sat.s32', a: 0x7fffffff, b: 1, d: 0x7fffffff, why: 'saturates to the maximum' },
      { form: 'add.sat.s32', a: 0x80000000, b: 0xffffffff, d: 0x80000000, why: 'saturates to the minimum' },
      { form: 'add.sat.s32', a: 5, b: 0xffffffff, d: 4, why: '5 - 1, no saturation' },
    ],
  }),
  row({
    syntax: 'sub.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'Subtracts b from a. The borrow is discarded.',
    source: '9.7.1.2',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.sub(a, b),
    cases: () => [
      { form: 'sub.s32', a: 50, b: 8, d: 42, why: 'no borrow' },
      { form: 'sub.u32', a: 0, b: 1, d: 0xffffffff, why: 'wraps to the maximum' },
      { form: 'sub.s16', a: 0x8000, b: 1, d: 0x7fff, why: 'wraps from the minimum to the maximum' },
    ],
  }),
  row({
    syntax: 'sub.sat.s32 d, a, b',
    types: { d: 's32', a: 's32', b: 's32' },
    since: always,
    doc: 'Subtracts and saturates to the minimum or maximum.',
    source: '9.7.1.2',
    status: 'exact',
    lower: ({ a, b }, _, ir) => saturated32(ir, (wide) => ir.sub(wide(a), wide(b))),
    cases: () => [
      { form: 'sub.sat.s32', a: 0x80000000, b: 1, d: 0x80000000, why: 'saturates to the minimum' },
      { form: 'sub.sat.s32', a: 0, b: 0x80000000, d: 0x7fffffff, why: '2^31 has no s32' },
      { form: 'sub.sat.s32', a: 9, b: 4, d: 5, why: 'no saturation' },
    ],
  }),
  row({
    syntax: 'mul.lo.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'The low half of the product.',
    source: '9.7.1.3',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.mul(a, b),
    cases: () => [
      { form: 'mul.lo.s32', a: 6, b: 7, d: 42, why: 'no overflow' },
      { form: 'mul.lo.u32', a: 0x10000, b: 0x10000, d: 0, why: '2^32 modulo 2^32' },
      { form: 'mul.lo.s16', a: 0xffff, b: 5, d: 0xfffb, why: '-1 times 5' },
    ],
  }),
  row({
    syntax: 'mul.hi.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'The high half of the product.',
    source: '9.7.1.3',
    status: 'exact',
    lower: ({ a, b }, { type }, ir) => highHalf(ir, type, a, b),
    cases: () => [
      { form: 'mul.hi.u32', a: 0xffffffff, b: 0xffffffff, d: 0xfffffffe, why: '(2^32-1)^2 >> 32' },
      { form: 'mul.hi.s32', a: 0xffffffff, b: 0xffffffff, d: 0, why: '(-1)^2 is 1' },
      { form: 'mul.hi.s64', a: 0x8000000000000000n, b: 2, d: 0xffffffffffffffffn, why: '-2^64 >> 64 is -1' },
    ],
  }),
  row({
    syntax: 'mul.wide.type d, a, b',
    values: { type: narrower },
    types: { d: 'wide .type' },
    since: always,
    doc: 'The full product, twice as wide as its operands.',
    source: '9.7.1.3',
    status: 'exact',
    lower: ({ a, b }, { type }, ir) => wideProduct(ir, type, a, b),
    cases: () => [
      { form: 'mul.wide.u32', a: 0xffffffff, b: 4, d: 0x3fffffffcn, why: 'no bit is lost' },
      { form: 'mul.wide.s32', a: 0xffffffff, b: 4, d: 0xfffffffffffffffcn, why: '-1 times 4' },
      { form: 'mul.wide.s16', a: 0x8000, b: 0x8000, d: 0x40000000, why: '2^15 squared' },
    ],
  }),
  row({
    syntax: 'mad.lo.type d, a, b, c',
    values: { type: integers },
    since: always,
    doc: 'The low half of the product, plus c.',
    source: '9.7.1.4',
    status: 'exact',
    lower: ({ a, b, c }, _, ir) => ir.add(ir.mul(a, b), c),
    cases: () => [
      { form: 'mad.lo.s32', a: 4, b: 10, c: 2, d: 42, why: 'no overflow' },
      { form: 'mad.lo.u32', a: 0xffffffff, b: 0xffffffff, c: 0xffffffff, d: 0, why: '1 - 1 modulo 2^32' },
      { form: 'mad.lo.s64', a: 0x100000000n, b: 0x100000000n, c: 3, d: 3, why: '2^64 is lost' },
    ],
  }),
  row({
    syntax: 'mad.hi.type d, a, b, c',
    values: { type: integers },
    since: always,
    doc: 'The high half of the product, plus c.',
    source: '9.7.1.4',
    status: 'exact',
    lower: ({ a, b, c }, { type }, ir) => ir.add(highHalf(ir, type, a, b), c),
    cases: () => [
      { form: 'mad.hi.u32', a: 0x80000000, b: 4, c: 5, d: 7, why: '2^33 >> 32, plus 5' },
      { form: 'mad.hi.s32', a: 0xffffffff, b: 1, c: 1, d: 0, why: 'the high half of -1 is -1' },
      { form: 'mad.hi.u16', a: 0xffff, b: 0xffff, c: 2, d: 0, why: '0xfffe + 2 wraps' },
    ],
  }),
  row({
    syntax: 'mad.hi.sat.s32 d, a, b, c',
    types: { d: 's32', a: 's32', b: 's32', c: 's32' },
    since: always,
    doc: 'The high half of the product, plus c, saturated.',
    source: '9.7.1.4',
    status: 'exact',
    lower: ({ a, b, c }, _, ir) => saturated32(ir, (wide) => ir.add(wide(ir.smulhi(a, b)), wide(c))),
    cases: () => [
      { form: 'mad.hi.sat.s32', a: 0x40000000, b: 4, c: 0x7fffffff, d: 0x7fffffff, why: '1 more than the maximum' },
      { form: 'mad.hi.sat.s32', a: 0xffffffff, b: 1, c: 0x80000000, d: 0x80000000, why: '1 less than the minimum' },
      { form: 'mad.hi.sat.s32', a: 0x40000000, b: 8, c: 3, d: 5, why: 'no saturation' },
    ],
  }),
  row({
    syntax: 'mad.wide.type d, a, b, c',
    values: { type: narrower },
    types: { d: 'wide .type', c: 'wide .type' },
    since: always,
    doc: 'The full product, plus a c of the same width.',
    source: '9.7.1.4',
    status: 'exact',
    lower: ({ a, b, c }, { type }, ir) => ir.add(wideProduct(ir, type, a, b), c),
    cases: () => [
      { form: 'mad.wide.u32', a: 0xffffffff, b: 2, c: 2, d: 0x200000000n, why: 'beyond 32 bits' },
      { form: 'mad.wide.s32', a: 0xffffffff, b: 1, c: 1, d: 0, why: '-1 + 1' },
      { form: 'mad.wide.u16', a: 3, b: 4, c: 5, d: 17, why: 'no overflow' },
    ],
  }),
  row({
    syntax: 'div.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'The quotient, truncated towards zero. The manual leaves division by zero open; the result is all ones, as on GPUs.',
    source: '9.7.1.9',
    status: 'exact',
    lower: ({ a, b }, { type }, ir) => (isSignedType(type) ? ir.sdiv(a, b) : ir.udiv(a, b)),
    cases: () => [
      { form: 'div.s32', a: 0xfffffff9, b: 2, d: 0xfffffffd, why: '-7 / 2 is -3' },
      { form: 'div.u32', a: 7, b: 0, d: 0xffffffff, why: 'by zero, as recorded' },
      { form: 'div.s32', a: 0x80000000, b: 0xffffffff, d: 0x80000000, why: '2^31 wraps' },
    ],
  }),
  row({
    syntax: 'rem.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'The remainder, with the sign of a. The manual leaves division by zero open; the result is all ones, as on GPUs.',
    source: '9.7.1.10',
    status: 'exact',
    lower({ a, b }, { type }, ir) {
      const int = ir.typeOf(a);
      const rest = isSignedType(type) ? ir.srem(a, b) : ir.urem(a, b);
      return ir.select(ir.icmp(b, ir.const(int, 0), { pred: 'eq' }), ir.const(int, -1n), rest);
    },
    cases: () => [
      { form: 'rem.s32', a: 0xfffffff9, b: 2, d: 0xffffffff, why: '-7 rem 2 is -1' },
      { form: 'rem.u32', a: 7, b: 0, d: 0xffffffff, why: 'by zero, as recorded' },
      { form: 'rem.s64', a: 0x8000000000000000n, b: 0xffffffffffffffffn, d: 0, why: 'the overflowing quotient leaves no remainder' },
    ],
  }),
  row({
    syntax: 'abs.type d, a',
    values: { type: signed },
    since: always,
    doc: 'The absolute value. The minimum value is unchanged.',
    source: '9.7.1.11',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.smax(a, ir.sub(ir.const(ir.typeOf(a), 0), a)),
    cases: () => [
      { form: 'abs.s32', a: 0xffffffd6, d: 42, why: 'of -42' },
      { form: 'abs.s32', a: 42, d: 42, why: 'of 42' },
      { form: 'abs.s16', a: 0x8000, d: 0x8000, why: '2^15 has no s16' },
    ],
  }),
  row({
    syntax: 'neg.type d, a',
    values: { type: signed },
    since: always,
    doc: 'Negates. The minimum value is unchanged.',
    source: '9.7.1.12',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.sub(ir.const(ir.typeOf(a), 0), a),
    cases: () => [
      { form: 'neg.s32', a: 42, d: 0xffffffd6, why: 'a small number' },
      { form: 'neg.s32', a: 0, d: 0, why: 'of zero' },
      { form: 'neg.s64', a: 0x8000000000000000n, d: 0x8000000000000000n, why: '2^63 has no s64' },
    ],
  }),
  row({
    syntax: 'min.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'The smaller operand.',
    source: '9.7.1.13',
    status: 'exact',
    lower: ({ a, b }, { type }, ir) => (isSignedType(type) ? ir.smin(a, b) : ir.umin(a, b)),
    cases: () => [
      { form: 'min.s32', a: 0xffffffff, b: 1, d: 0xffffffff, why: '-1 is below 1' },
      { form: 'min.u32', a: 0xffffffff, b: 1, d: 1, why: 'unsigned, it is above' },
      { form: 'min.s16', a: 7, b: 7, d: 7, why: 'equal operands' },
    ],
  }),
  row({
    syntax: 'max.type d, a, b',
    values: { type: integers },
    since: always,
    doc: 'The larger operand.',
    source: '9.7.1.14',
    status: 'exact',
    lower: ({ a, b }, { type }, ir) => (isSignedType(type) ? ir.smax(a, b) : ir.umax(a, b)),
    cases: () => [
      { form: 'max.s32', a: 0xffffffff, b: 1, d: 1, why: '1 is above -1' },
      { form: 'max.u32', a: 0xffffffff, b: 1, d: 0xffffffff, why: 'unsigned, it is below' },
      { form: 'max.u64', a: 0x100000000n, b: 1, d: 0x100000000n, why: 'beyond 32 bits' },
    ],
  }),
];
