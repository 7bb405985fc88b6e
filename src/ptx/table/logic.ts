/** Logic and shifts. Source: PTX ISA 9.0, 9.7.8. */
import type { IntType } from '../../ir/index.ts';
import { row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { countAs } from './compose.ts';

const bits = ['b16', 'b32', 'b64'] as const;
const bitsOrPredicate = ['pred', ...bits] as const;
const always = { ptx: 1, sm: 10 } as const;

export const logicRows = [
  row({
    syntax: 'and.type d, a, b',
    values: { type: bitsOrPredicate },
    since: always,
    doc: 'Bitwise and.',
    source: '9.7.8.1',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.and(a, b),
    cases: () => [
      { form: 'and.b32', a: 0xff00ff00, b: 0x0ff00ff0, d: 0x0f000f00, why: 'common bits' },
      { form: 'and.b16', a: 0xffff, b: 0x8001, d: 0x8001, why: 'all ones keep the bits' },
      { form: 'and.pred', a: 1, b: 0, d: 0, why: 'predicates' },
    ],
  }),
  row({
    syntax: 'or.type d, a, b',
    values: { type: bitsOrPredicate },
    since: always,
    doc: 'Bitwise or.',
    source: '9.7.8.2',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.or(a, b),
    cases: () => [
      { form: 'or.b32', a: 0xff000000, b: 0x000000ff, d: 0xff0000ff, why: 'bits of either' },
      { form: 'or.b64', a: 0x8000000000000000n, b: 1, d: 0x8000000000000001n, why: 'both ends' },
      { form: 'or.pred', a: 1, b: 0, d: 1, why: 'predicates' },
    ],
  }),
  row({
    syntax: 'xor.type d, a, b',
    values: { type: bitsOrPredicate },
    since: always,
    doc: 'Bitwise exclusive or.',
    source: '9.7.8.3',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.xor(a, b),
    cases: () => [
      { form: 'xor.b32', a: 0xffffffff, b: 0x0f0f0f0f, d: 0xf0f0f0f0, why: 'bits that differ' },
      { form: 'xor.b16', a: 0x1234, b: 0x1234, d: 0, why: 'equal operands' },
      { form: 'xor.pred', a: 1, b: 1, d: 0, why: 'predicates' },
    ],
  }),
  row({
    syntax: 'not.type d, a',
    values: { type: bitsOrPredicate },
    since: always,
    doc: 'Flips every bit.',
    source: '9.7.8.4',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.xor(a, ir.const(ir.typeOf(a), -1n)),
    cases: () => [
      { form: 'not.b32', a: 0, d: 0xffffffff, why: 'of 0' },
      { form: 'not.b16', a: 0x00ff, d: 0xff00, why: 'a half' },
      { form: 'not.pred', a: 1, d: 0, why: 'a predicate' },
    ],
  }),
  row({
    syntax: 'cnot.type d, a',
    values: { type: bits },
    since: always,
    doc: '1 for 0, and 0 for any other value, as `!` in C.',
    source: '9.7.8.5',
    status: 'exact',
    lower: ({ a }, _, ir) => ir.zext(ir.typeOf(a), ir.icmp(a, ir.const(ir.typeOf(a), 0), { pred: 'eq' })),
    cases: () => [
      { form: 'cnot.b32', a: 0, d: 1, why: 'of 0' },
      { form: 'cnot.b32', a: 1, d: 0, why: 'of 1' },
      { form: 'cnot.b64', a: 0x100000000n, d: 0, why: 'the upper half matters' },
    ],
  }),
  row({
    syntax: 'shl.type d, a, b',
    values: { type: bits },
    types: { b: 'u32' },
    since: always,
    doc: 'Shifts left. A count of the width or more gives 0.',
    source: '9.7.8.6',
    status: 'exact',
    lower: ({ a, b }, _, ir) => ir.shl(a, countAs(ir, b, ir.typeOf(a) as IntType)),
    cases: () => [
      { form: 'shl.b32', a: 1, b: 31, d: 0x80000000, why: 'to the top' },
      { form: 'shl.b32', a: 1, b: 32, d: 0, why: 'counts do not wrap' },
      { form: 'shl.b16', a: 0xffff, b: 0x10000, d: 0, why: 'a count beyond 16 bits' },
    ],
  }),
  row({
    syntax: 'shr.type d, a, b',
    values: { type: ['b16', 'b32', 'b64', 'u16', 'u32', 'u64', 's16', 's32', 's64'] },
    types: { b: 'u32' },
    since: always,
    doc: 'Shifts right, with sign bits for signed types and zeros for others. A count of the width or more acts like the width.',
    source: '9.7.8.7',
    status: 'exact',
    lower({ a, b }, { type }, ir) {
      const count = countAs(ir, b, ir.typeOf(a) as IntType);
      return isSignedType(type) ? ir.ashr(a, count) : ir.lshr(a, count);
    },
    cases: () => [
      { form: 'shr.u32', a: 0x80000000, b: 31, d: 1, why: 'zeros are shifted in' },
      { form: 'shr.s32', a: 0x80000000, b: 40, d: 0xffffffff, why: 'only sign bits remain' },
      { form: 'shr.b64', a: 0xffffffffffffffffn, b: 64, d: 0, why: 'counts do not wrap' },
    ],
  }),
];
