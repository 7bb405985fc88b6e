/**
 * Integer arithmetic with the carry flag, which passes from an instruction with `.cc` to the next one that uses it. Signed types carry like
 * unsigned ones. Source: PTX ISA 9.0, 9.7.2.
 */
import type { Value } from '../../ir/index.ts';
import type { IntType } from '../../ir/types.ts';
import { type RowBuilder, row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { not } from './compose.ts';

const types = ['u32', 's32', 'u64', 's64'] as const;
const halves = ['lo', 'hi'] as const;
const early = { ptx: 1.2, sm: 10 } as const;
const fermi = { ptx: 3, sm: 20 } as const;
const all = 0xffffffffffffffffn;

/** The carry flag as an integer. */
const carryIn = (ir: RowBuilder, like: Value): Value => ir.zext(ir.typeOf(like) as IntType, ir.carry());
/** The borrow as an integer. The hardware computes a difference as a sum with the complement: its carry means no borrow. */
const borrowIn = (ir: RowBuilder, like: Value): Value => ir.zext(ir.typeOf(like) as IntType, not(ir, ir.carry()));

/** a + b plus the carry in; the carry out is stored if requested. */
function sum(ir: RowBuilder, a: Value, b: Value, carry: Value | undefined, keeps: true | undefined): Value {
  const first = ir.add(a, b);
  const whole = carry === undefined ? first : ir.add(first, carry);
  // At most one of the two additions wraps.
  const wraps = ir.icmp(first, a, { pred: 'ult' });
  if (keeps) ir.setCarry(carry === undefined ? wraps : ir.or(wraps, ir.icmp(whole, first, { pred: 'ult' })));
  return whole;
}

/** a - b minus the borrow in; the borrow out is stored if requested. */
function difference(ir: RowBuilder, a: Value, b: Value, borrow: Value | undefined, keeps: true | undefined): Value {
  const first = ir.sub(a, b);
  const whole = borrow === undefined ? first : ir.sub(first, borrow);
  const wraps = ir.icmp(a, b, { pred: 'ult' });
  if (keeps) ir.setCarry(not(ir, borrow === undefined ? wraps : ir.or(wraps, ir.icmp(first, borrow, { pred: 'ult' }))));
  return whole;
}

function halfOfProduct(ir: RowBuilder, half: (typeof halves)[number], type: string, a: Value, b: Value): Value {
  if (half === 'lo') return ir.mul(a, b);
  return isSignedType(type) ? ir.smulhi(a, b) : ir.umulhi(a, b);
}

/** Cases start with a clear carry flag; `spec/ptx/carry.spec.ts` has chains. */
export const carryRows = [
  row({
    syntax: 'add.cc.type d, a, b',
    values: { type: types },
    since: early,
    doc: 'Adds and sets the carry flag.',
    source: '9.7.2.1',
    status: 'exact',
    lower: ({ a, b }, _, ir) => sum(ir, a, b, undefined, true),
    cases: () => [
      { form: 'add.cc.u32', a: 2, b: 40, d: 42, why: 'no overflow' },
      { form: 'add.cc.s32', a: 0xffffffff, b: 2, d: 1, why: '-1 + 2 carries' },
      { form: 'add.cc.u64', a: all, b: all, d: all - 1n, why: 'wraps' },
    ],
  }),
  row({
    syntax: 'addc{.cc}.type d, a, b',
    values: { type: types },
    since: early,
    doc: 'Adds with the carry flag.',
    source: '9.7.2.2',
    status: 'exact',
    lower: ({ a, b }, { cc }, ir) => sum(ir, a, b, carryIn(ir, a), cc),
    cases: () => [
      { form: 'addc.u32', a: 2, b: 40, d: 42, why: 'the flag is initially clear' },
      { form: 'addc.cc.u32', a: 0xffffffff, b: 1, d: 0, why: 'wraps' },
      { form: 'addc.s64', a: all, b: 1n, d: 0, why: '-1 + 1' },
    ],
  }),
  row({
    syntax: 'sub.cc.type d, a, b',
    values: { type: types },
    since: early,
    doc: 'Subtracts and sets the carry flag to the inverted borrow.',
    source: '9.7.2.3',
    status: 'exact',
    lower: ({ a, b }, _, ir) => difference(ir, a, b, undefined, true),
    cases: () => [
      { form: 'sub.cc.u32', a: 44, b: 2, d: 42, why: 'no borrow' },
      { form: 'sub.cc.s32', a: 0, b: 1, d: 0xffffffff, why: '0 - 1 borrows' },
      { form: 'sub.cc.u64', a: 0n, b: all, d: 1, why: 'wraps' },
    ],
  }),
  row({
    syntax: 'subc{.cc}.type d, a, b',
    values: { type: types },
    since: fermi,
    doc: 'Subtracts with the borrow of the carry flag: a - (b + borrow).',
    source: '9.7.2.4',
    status: 'exact',
    lower: ({ a, b }, { cc }, ir) => difference(ir, a, b, borrowIn(ir, a), cc),
    cases: () => [
      { form: 'subc.u32', a: 44, b: 1, d: 42, why: 'a clear flag is a borrow' },
      { form: 'subc.cc.s32', a: 0x80000000, b: 0, d: 0x7fffffff, why: 'wraps from the minimum to the maximum' },
      { form: 'subc.u64', a: 0n, b: 0n, d: all, why: 'wraps' },
    ],
  }),
  row({
    syntax: 'mad.half.cc.type d, a, b, c',
    values: { half: halves, type: types },
    since: fermi,
    doc: 'Adds c to half of the product and sets the carry flag to the carry of the addition.',
    source: '9.7.2.5',
    status: 'exact',
    lower: ({ a, b, c }, { half, type }, ir) => sum(ir, halfOfProduct(ir, half, type, a, b), c, undefined, true),
    cases: () => [
      { form: 'mad.lo.cc.u32', a: 4, b: 10, c: 2, d: 42, why: 'no overflow' },
      { form: 'mad.hi.cc.s32', a: 0xffffffff, b: 1, c: 1, d: 0, why: 'the high half of -1 is -1' },
      { form: 'mad.hi.cc.u64', a: all, b: all, c: 2n, d: 0, why: '2^64 - 2 + 2 wraps' },
    ],
  }),
  row({
    syntax: 'madc.half{.cc}.type d, a, b, c',
    values: { half: halves, type: types },
    since: fermi,
    doc: 'Adds c and the carry flag to half of the product.',
    source: '9.7.2.6',
    status: 'exact',
    lower: ({ a, b, c }, { half, cc, type }, ir) => {
      const product = halfOfProduct(ir, half, type, a, b);
      return sum(ir, product, c, carryIn(ir, product), cc);
    },
    cases: () => [
      { form: 'madc.lo.u32', a: 4, b: 10, c: 2, d: 42, why: 'the flag is initially clear' },
      { form: 'madc.hi.cc.u32', a: 0xffffffff, b: 0xffffffff, c: 2, d: 0, why: '0xfffffffe + 2 wraps' },
      { form: 'madc.hi.s64', a: all, b: 5n, c: 7n, d: 6, why: 'the high half of -5 is -1' },
    ],
  }),
];
