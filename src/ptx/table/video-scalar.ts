/**
 * Scalar video instructions, on a 32-bit value, a byte or a half of each operand. Their results are those of the code that NVIDIA's compiler makes
 * of them for sm_90, which leaves the pseudo-code of the manual where a result is saturated, merged or combined; each difference is marked here.
 * Source: PTX ISA 9.0, 9.7.18.1 to 9.7.18.4; the code of `ptxas` 13.0; recorded on an NVIDIA H200.
 */
import type { Value } from '../../ir/index.ts';
import { type Row, type RowBuilder, row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { absolute, type Compute, compared, comparisons, extended } from './video.ts';

const words = ['u32', 's32'] as const;
const merges = ['add', 'min', 'max'] as const;
const modes = ['clamp', 'wrap'] as const;
const fermi = { ptx: 2, sm: 20 } as const;

type Merge = (typeof merges)[number];

const i64 = (ir: RowBuilder, value: number | bigint): Value => ir.const('i64', value);

/** A byte (`b0`) or half (`h1`) of an operand. */
const onePart = /^(b[0-3]|h[01])$/;
const sources = { a: onePart, b: onePart } as const;
const parts = { ...sources, d: onePart } as const;

interface Place {
  readonly bits: number;
  readonly from: number;
}
function placeOf(part: string): Place {
  const bits = part.startsWith('b') ? 8 : 16;
  return { bits, from: bits * Number(part[1]) };
}
const wholeWord: Place = { bits: 32, from: 0 };

/** The part of an operand that its selector names, or all of it, extended to i64. */
function chosen(ir: RowBuilder, name: 'a' | 'b', a: Value, type: string): Value {
  const part = ir.part(name)?.replace('-', '');
  return extended(ir, a, type, part ? placeOf(part) : wholeWord);
}

const signExtended = (ir: RowBuilder, value: Value): Value => ir.sext('i64', ir.trunc('i32', value));

/** What becomes of an exact value. */
interface Finish {
  /** The type by whose sign the result is limited and compared. */
  readonly type: string;
  readonly sat?: true | undefined;
  readonly op?: Merge | undefined;
  readonly kind?: 'sum' | 'shift';
  /** Whether the result is compared as a word with a sign, which it keeps if it is compared with a word without one. */
  readonly isCut?: boolean;
}

/**
 * Saturates a value. Unsigned words are only limited from below. Bytes and halves are compared without a sign, so that a negative value becomes the
 * greatest one; those of shifts are limited as words are.
 */
function saturated(ir: RowBuilder, value: Value, { type, kind }: Finish, part: string | undefined): Value {
  if (part !== undefined && kind !== 'shift') {
    const bits = placeOf(part).bits - (isSignedType(type) ? 1 : 0);
    return ir.umin(value, i64(ir, 2 ** bits - 1));
  }
  if (!isSignedType(type)) return ir.smax(kind === 'shift' ? ir.smin(value, i64(ir, 0xffff_ffff)) : value, i64(ir, 0));
  return ir.smax(ir.smin(value, i64(ir, 0x7fff_ffff)), i64(ir, -0x8000_0000));
}

/** The result of an exact value: saturated, combined with c, or as a part of c, of which `h1` is bits 16 to 31 of the value. */
function finished(ir: RowBuilder, exact: Value, c: Value | undefined, finish: Finish): Value | undefined {
  const { type, sat, op, kind } = finish;
  const part = ir.part('d');
  let value = sat ? saturated(ir, exact, finish, part) : exact;
  if (op !== undefined && c !== undefined) {
    if (op === 'add') return ir.add(ir.trunc('i32', value), c);
    if (finish.isCut || (kind === 'sum' && (!sat || !isSignedType(type)))) value = signExtended(ir, value);
    return ir.trunc('i32', isSignedType(type) ? ir[`s${op}`](value, ir.sext('i64', c)) : ir[`u${op}`](value, ir.zext('i64', c)));
  }
  const word = ir.trunc('i32', value);
  if (part === undefined) return word;
  if (c === undefined) return ir.refuse('a part of `d` is written, and there is no operand `c` for the other parts');
  const { bits, from } = placeOf(part);
  const field = ir.const('i32', (2 ** bits - 1) * 2 ** from);
  const placed = part === 'h1' ? word : ir.shl(word, ir.const('i32', from));
  return ir.or(ir.and(c, ir.xor(field, ir.const('i32', -1))), ir.and(placed, field));
}

// ── sums, differences, the lesser and the greater ──

interface Scalar {
  readonly name: 'vadd' | 'vsub' | 'vabsdiff' | 'vmin' | 'vmax';
  readonly verb: string;
  readonly compute: Compute;
  /** Of -1 and 7, signed; of 2^32 - 1 and 7, unsigned and saturated; the former combined with 5 by maximum. */
  readonly results: readonly [signed: number, saturated: number, combined: number];
}

const scalars: readonly Scalar[] = [
  { name: 'vadd', verb: 'Adds', compute: (ir, a, b) => ir.add(a, b), results: [6, 6, 6] },
  { name: 'vsub', verb: 'Subtracts', compute: (ir, a, b) => ir.sub(a, b), results: [0xfffffff8, 0xfffffff8, 5] },
  { name: 'vabsdiff', verb: 'Computes the absolute difference of', compute: absolute, results: [8, 0xfffffff8, 8] },
  { name: 'vmin', verb: 'Computes the minimum of', compute: (ir, a, b) => ir.smin(a, b), results: [0xffffffff, 7, 5] },
  { name: 'vmax', verb: 'Computes the maximum of', compute: (ir, a, b) => ir.smax(a, b), results: [7, 0xffffffff, 7] },
];

const scalarRows = scalars.flatMap(({ name, verb, compute, results: [signed, saturatedWord, combined] }) => {
  const kind = name === 'vadd' || name === 'vsub' ? 'sum' : undefined;
  const exact = (ir: RowBuilder, a: Value, b: Value, m: { readonly atype: string; readonly btype: string }): Value =>
    compute(ir, chosen(ir, 'a', a, m.atype), chosen(ir, 'b', b, m.btype));
  const finish = (m: { readonly dtype: string; readonly sat?: true | undefined }, op?: Merge): Finish => ({
    type: m.dtype,
    sat: m.sat,
    op,
    ...(kind && { kind }),
  });
  return [
    row({
      syntax: `${name as 'vadd'}.dtype.atype.btype{.sat} d, a, b{, c}`,
      values: { dtype: words, atype: words, btype: words },
      types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
      parts,
      since: fermi,
      doc: `${verb} 32-bit values, bytes or halves. A part of d is put into c.`,
      source: '9.7.18.1',
      status: 'exact',
      lower: ({ a, b, c }, m, ir) => finished(ir, exact(ir, a, b, m), c, finish(m)),
      cases: () => [
        { form: `${name}.s32.s32.s32`, a: 0xffffffff, b: 7, d: signed, why: '-1 and 7' },
        { form: `${name}.u32.u32.u32.sat`, a: 0xffffffff, b: 7, d: saturatedWord, why: '2^32 - 1 and 7' },
        { form: `${name}.s32.u32.s32.sat`, a: 0, b: 0, d: 0, why: 'zeros' },
      ],
    }),
    row({
      syntax: `${name as 'vadd'}.dtype.atype.btype{.sat}.op d, a, b, c`,
      values: { dtype: words, atype: words, btype: words, op: merges },
      types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
      parts: sources,
      since: fermi,
      doc: `${verb} 32-bit values, bytes or halves, and combines the result with c.`,
      source: '9.7.18.1',
      status: 'exact',
      lower: ({ a, b, c }, m, ir) => finished(ir, exact(ir, a, b, m), c, finish(m, m.op)),
      cases: () => [
        { form: `${name}.s32.s32.s32.max`, a: 0xffffffff, b: 7, c: 5, d: combined, why: '-1 and 7, and not below 5' },
        { form: `${name}.s32.s32.s32.min`, a: 0, b: 0, c: 0xffffffff, d: 0xffffffff, why: 'not above -1' },
        { form: `${name}.u32.u32.u32.sat.add`, a: 0xffffffff, b: 7, c: 1, d: (saturatedWord + 1) % 2 ** 32, why: 'and 1' },
      ],
    }),
  ];
});

// ── shifts ──

/**
 * An exact shift, by at most 32 bits or by an amount modulo 32. What is saturated are the lower 34 bits of a shift to the left, with their sign.
 * Source: recorded on an NVIDIA H200.
 */
function shifted(ir: RowBuilder, name: 'vshl' | 'vshr', a: Value, b: Value, mode: (typeof modes)[number], sat = false): Value {
  const count = mode === 'clamp' ? ir.umin(b, i64(ir, 32)) : ir.and(b, i64(ir, 31));
  if (name === 'vshr') return ir.ashr(a, count);
  const whole = ir.shl(a, count);
  return sat ? ir.ashr(ir.shl(whole, i64(ir, 30)), i64(ir, 30)) : whole;
}

const shifts = [
  { name: 'vshl', way: 'left', result: 0x1e },
  { name: 'vshr', way: 'right', result: 0x07 },
] as const;

const shiftRows = shifts.flatMap(({ name, way, result }) => {
  const exact = (ir: RowBuilder, a: Value, b: Value, m: { readonly atype: string; readonly mode: (typeof modes)[number] }): Value =>
    shifted(ir, name, chosen(ir, 'a', a, m.atype), chosen(ir, 'b', b, 'u32'), m.mode);
  const common = { since: fermi, source: '9.7.18.2', status: 'exact' } as const;
  return [
    row({
      ...common,
      syntax: `${name as 'vshl'}.dtype.atype.u32.mode d, a, b{, c}`,
      values: { dtype: words, atype: words, mode: modes },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      parts,
      doc: `Shifts a 32-bit value, byte or half to the ${way}. A part of d is put into c.`,
      lower: ({ a, b, c }, m, ir) => finished(ir, exact(ir, a, b, m), c, { type: m.dtype, kind: 'shift' }),
      cases: () => [
        { form: `${name}.u32.u32.u32.clamp`, a: 0x0f, b: 1, d: result, why: 'by one bit' },
        { form: `${name}.u32.u32.u32.clamp`, a: 0xffffffff, b: 40, d: 0, why: 'by more than all bits' },
        { form: `${name}.s32.s32.u32.wrap`, a: 0x80000000, b: 32, d: 0x80000000, why: 'the amount modulo 32' },
      ],
    }),
    row({
      ...common,
      syntax: `${name as 'vshl'}.dtype.atype.u32.mode.op d, a, b, c`,
      values: { dtype: words, atype: words, mode: modes, op: merges },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      parts: sources,
      doc: `Shifts a 32-bit value, byte or half to the ${way}, and combines the result with c.`,
      lower: ({ a, b, c }, m, ir) => finished(ir, exact(ir, a, b, m), c, { type: m.dtype, op: m.op, kind: 'shift' }),
      cases: () => [
        { form: `${name}.u32.u32.u32.clamp.add`, a: 0x0f, b: 1, c: 100, d: result + 100, why: 'plus a hundred' },
        { form: `${name}.u32.u32.u32.clamp.min`, a: 7, b: 0, c: 0xffffffff, d: 7, why: 'without a sign' },
        { form: `${name}.s32.s32.u32.clamp.max`, a: 0xfffffffe, b: 0, c: 5, d: 5, why: 'above -2' },
      ],
    }),
  ];
});

/** Saturated shifts to the right. Those to the left are refused. */
/** Worked examples of saturated shifts, alone and combined. */
const saturatedShifts = [
  {
    name: 'vshl',
    what: 'to the left, and saturates the lower 34 bits, with their sign, as a 32-bit value',
    alone: [
      { form: 'vshl.s32.s32.u32.sat.clamp', a: 0x40000000, b: 1, d: 0x7fffffff, why: 'the greatest number with a sign' },
      { form: 'vshl.u32.u32.u32.sat.clamp', a: 0x21, b: 28, d: 0, why: 'bit 33 is the sign' },
      { form: 'vshl.u32.u32.u32.sat.wrap', a: 0x32, b: 31, d: 0xffffffff, why: 'more than 32 bits' },
    ],
    combined: [
      { form: 'vshl.u32.u32.u32.sat.clamp.add', a: 0x21, b: 28, c: 9, d: 9, why: '0, plus 9' },
      { form: 'vshl.s32.s32.u32.sat.clamp.min', a: 0x40000000, b: 1, c: 5, d: 5, why: '5 is less' },
      { form: 'vshl.u32.s32.u32.sat.wrap.max', a: 0x6173a49f, b: 14, c: 0xffffffff, d: 0xe927c000, why: 'as a negative number of 64 bits' },
    ],
  },
  {
    name: 'vshr',
    what: 'to the right, and saturates it as a 32-bit value',
    alone: [
      { form: 'vshr.s32.u32.u32.sat.clamp', a: 0xffffffff, b: 0, d: 0x7fffffff, why: 'the greatest number with a sign' },
      { form: 'vshr.u32.s32.u32.sat.clamp', a: 0xffffffff, b: 1, d: 0, why: '-1 is below 0' },
      { form: 'vshr.u32.u32.u32.sat.wrap', a: 0xf0, b: 36, d: 0x0f, why: 'the amount modulo 32' },
    ],
    combined: [
      { form: 'vshr.u32.s32.u32.sat.clamp.add', a: 0xffffffff, b: 1, c: 9, d: 9, why: '0, plus 9' },
      { form: 'vshr.s32.u32.u32.sat.clamp.min', a: 0xffffffff, b: 0, c: 0xfffffffe, d: 0xfffffffe, why: '-2 is less' },
      { form: 'vshr.u32.u32.u32.sat.wrap.max', a: 0xf0, b: 36, c: 0xfffffffe, d: 0xfffffffe, why: 'without a sign' },
    ],
  },
] as const;

const saturatedShiftRows = saturatedShifts.flatMap(({ name, what, alone, combined }) => {
  const exact = (ir: RowBuilder, a: Value, b: Value, m: { readonly atype: string; readonly mode: (typeof modes)[number] }): Value =>
    shifted(ir, name, chosen(ir, 'a', a, m.atype), chosen(ir, 'b', b, 'u32'), m.mode, true);
  const common = { since: fermi, source: '9.7.18.2', status: 'exact' } as const;
  return [
    row({
      ...common,
      syntax: `${name as 'vshl'}.dtype.atype.u32.sat.mode d, a, b{, c}`,
      values: { dtype: words, atype: words, mode: modes },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      parts,
      doc: `Shifts a 32-bit value, byte or half ${what}. A part of d is put into c.`,
      lower: ({ a, b, c }, m, ir) => finished(ir, exact(ir, a, b, m), c, { type: m.dtype, sat: true, kind: 'shift' }),
      cases: () => alone,
    }),
    row({
      ...common,
      syntax: `${name as 'vshl'}.dtype.atype.u32.sat.mode.op d, a, b, c`,
      values: { dtype: words, atype: words, mode: modes, op: merges },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      parts: sources,
      doc: `Shifts a 32-bit value, byte or half ${what}. The result is combined with c.`,
      lower: ({ a, b, c }, m, ir) =>
        finished(ir, exact(ir, a, b, m), c, {
          type: m.dtype,
          sat: true,
          op: m.op,
          kind: 'shift',
          isCut: name === 'vshl' || (m.mode === 'wrap' && m.dtype === 'u32' && m.atype === 'u32'),
        }),
      cases: () => combined,
    }),
  ];
});

// ── products and comparisons ──

/** An operand of a product: a sign before it negates the product. */
const signedPart = /^-?(b[0-3]|h[01])$|^-$/;
const isNegated = (ir: RowBuilder, name: 'a' | 'b' | 'c'): boolean => ir.part(name)?.startsWith('-') ?? false;

interface ProductForm {
  readonly atype: string;
  readonly btype: string;
  readonly sat?: true | undefined;
  readonly scale?: 'shr7' | 'shr15' | undefined;
}

/** The product of operands that count as 32-bit values with a sign once they are extended, and c with its sign, of 64 bits. */
function scaledProduct(
  ir: RowBuilder,
  [a, b, c]: readonly [Value, Value, Value],
  { atype, btype, sat, scale }: ProductForm,
  isPlusOne: boolean,
) {
  const factors = [chosen(ir, 'a', a, atype), chosen(ir, 'b', b, btype)].map((value) => signExtended(ir, value)) as [Value, Value];
  const zero = i64(ir, 0);
  const product = ir.mul(...factors);
  const negates = isNegated(ir, 'a') !== isNegated(ir, 'b');
  const signedTerm = ir.sext('i64', c);
  const term = isNegated(ir, 'c') ? ir.sub(zero, signedTerm) : signedTerm;
  const sum = ir.add(ir.add(negates ? ir.sub(zero, product) : product, term), i64(ir, isPlusOne ? 1 : 0));
  const isSigned = isSignedType(atype) || isSignedType(btype) || negates || isNegated(ir, 'c');
  const amount = scale === undefined ? undefined : i64(ir, scale === 'shr7' ? 7 : 15);
  const scaled = amount === undefined ? sum : isSigned ? ir.ashr(sum, amount) : ir.lshr(sum, amount);
  if (!sat) return ir.trunc('i32', scaled);
  const [least, most] = isSigned ? [-0x8000_0000, 0x7fff_ffff] : [0, 0xffff_ffff];
  return ir.trunc('i32', ir.smax(ir.smin(scaled, i64(ir, most)), i64(ir, least)));
}

const productRows = [
  row({
    syntax: 'vmad.dtype.atype.btype{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: ['shr7', 'shr15'] },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    parts: { a: signedPart, b: signedPart, c: /^-$/ },
    since: fermi,
    doc: 'Multiplies 32-bit values, bytes or halves and adds c, each optionally negated, and shifts the result right.',
    source: '9.7.18.3',
    status: 'exact',
    lower({ a, b, c }, m, ir) {
      if (isNegated(ir, 'c') && (isNegated(ir, 'a') || isNegated(ir, 'b')))
        return ir.refuse('a factor and `c` are negated, of which one may be');
      if (isNegated(ir, 'a') && isNegated(ir, 'b')) return ir.refuse('both factors are negated, of which one may be');
      return scaledProduct(ir, [a, b, c], m, false);
    },
    cases: () => [
      { form: 'vmad.s32.s32.s32', a: 0xffffffff, b: 7, c: 10, d: 3, why: '-7 and 10' },
      { form: 'vmad.u32.u32.u32.shr7', a: 256, b: 3, c: 128, d: 7, why: 'divided by 128' },
      { form: 'vmad.s32.s32.s32.sat', a: 0x10000, b: 0x10000, c: 0, d: 0x7fffffff, why: 'the greatest number' },
    ],
  }),
  row({
    syntax: 'vmad.dtype.atype.btype.po{.sat}{.scale} d, a, b, c',
    values: { dtype: words, atype: words, btype: words, scale: ['shr7', 'shr15'] },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    parts: sources,
    since: fermi,
    doc: 'Multiplies 32-bit values, bytes or halves, adds c and 1, and shifts the result right.',
    source: '9.7.18.3',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => scaledProduct(ir, [a, b, c], m, true),
    cases: () => [
      { form: 'vmad.s32.s32.s32.po', a: 0xffffffff, b: 7, c: 10, d: 4, why: '-7, 10 and 1' },
      { form: 'vmad.u32.u32.u32.po.shr15', a: 0x8000, b: 2, c: 0x7fff, d: 3, why: 'one more carries' },
      { form: 'vmad.s32.s32.s32.po.sat', a: 1, b: 1, c: 0x7fffffff, d: 0x7fffffff, why: 'the greatest number' },
    ],
  }),
];

const comparisonRows = [
  row({
    syntax: 'vset.atype.btype.cmp d, a, b{, c}',
    values: { atype: words, btype: words, cmp: comparisons },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    parts,
    since: fermi,
    doc: 'Compares 32-bit values, bytes or halves. A part of d is put into c.',
    source: '9.7.18.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) =>
      finished(ir, compared(m.cmp)(ir, chosen(ir, 'a', a, m.atype), chosen(ir, 'b', b, m.btype)), c, { type: 'u32' }),
    cases: () => [
      { form: 'vset.s32.s32.lt', a: 0xffffffff, b: 7, d: 1, why: '-1 is less than 7' },
      { form: 'vset.u32.u32.lt', a: 0xffffffff, b: 7, d: 0, why: '2^32 - 1 is not' },
      { form: 'vset.s32.u32.eq', a: 0xffffffff, b: 0xffffffff, d: 0, why: '-1 is not 2^32 - 1' },
    ],
  }),
  row({
    syntax: 'vset.atype.btype.cmp.op d, a, b, c',
    values: { atype: words, btype: words, cmp: comparisons, op: merges },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    parts: sources,
    since: fermi,
    doc: 'Compares 32-bit values, bytes or halves, and combines 1 or 0 with c, which has a sign if a has one.',
    source: '9.7.18.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) =>
      finished(ir, compared(m.cmp)(ir, chosen(ir, 'a', a, m.atype), chosen(ir, 'b', b, m.btype)), c, { type: m.atype, op: m.op }),
    cases: () => [
      { form: 'vset.s32.s32.lt.add', a: 0xffffffff, b: 7, c: 41, d: 42, why: '1 and 41' },
      { form: 'vset.s32.s32.lt.max', a: 0xffffffff, b: 7, c: 0xffffffff, d: 1, why: '1 is above -1' },
      { form: 'vset.u32.s32.lt.max', a: 1, b: 7, c: 0xffffffff, d: 0xffffffff, why: '1 is below 2^32 - 1' },
    ],
  }),
];

/** In the order of the manual. */
export const scalarVideoRows = (): readonly Row[] => [
  ...scalarRows,
  ...shiftRows,
  ...saturatedShiftRows,
  ...productRows,
  ...comparisonRows,
];
