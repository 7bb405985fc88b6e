/**
 * Video instructions: integers of 8, 16 and 32 bits that are picked out of registers by words after the operands (`a.b2`, `b.h1`),
 * computed with exactly, limited with `.sat`, and joined with a third operand. Source: PTX ISA 9.0, 9.7.18.
 */
import type { IcmpPredicate, Value } from '../../ir/index.ts';
import { type RowBuilder, row } from '../row.ts';
import { isSignedType } from '../types.ts';
import { saturateInt } from './compose.ts';

const words = ['u32', 's32'] as const;
const merges = ['add', 'min', 'max'] as const;
const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;
const fermi = { ptx: 2, sm: 20 } as const;
const kepler = { ptx: 3, sm: 30 } as const;

type Merge = (typeof merges)[number];

const i64 = (ir: RowBuilder, value: number): Value => ir.const('i64', value);

/** Bits of a part and where they start: `b2` are 8 from 16 on. All of the register without a word. */
function placeOf(part: string | undefined): { readonly bits: number; readonly from: number } {
  if (part === undefined) return { bits: 32, from: 0 };
  const bits = part.startsWith('b') ? 8 : 16;
  return { bits, from: bits * Number(part.slice(1)) };
}

/** A part of 32 bits as an i64, extended by the sign of a type. */
function extended(ir: RowBuilder, a: Value, type: string, { bits, from }: { readonly bits: number; readonly from: number }): Value {
  const top = ir.shl(ir.zext('i64', a), i64(ir, 64 - bits - from));
  return isSignedType(type) ? ir.ashr(top, i64(ir, 64 - bits)) : ir.lshr(top, i64(ir, 64 - bits));
}

/** An exact value of 64 bits that stays between the bounds of so many bits, where asked for. */
function limited(ir: RowBuilder, value: Value, type: string, bits: number, sat: true | undefined): Value {
  return sat ? saturateInt(ir, value, { bits: 64, isSigned: true }, { bits, isSigned: isSignedType(type) }) : value;
}

/** What becomes of an exact value: joined with c by an operation, put into a part of c, or cut to 32 bits. */
function merged(ir: RowBuilder, value: Value, type: string, op: Merge | undefined, c: Value | undefined): Value | undefined {
  const part = ir.part('d');
  if (op !== undefined && c !== undefined) return ir.trunc('i32', joinedBy(ir, op, value, extended(ir, c, type, placeOf(undefined))));
  const cut = ir.trunc('i32', value);
  if (part === undefined) return cut;
  if (c === undefined || op !== undefined) return ir.refuse('a part of `d` is put into `c`, which is not there or is used otherwise');
  const { bits, from } = placeOf(part);
  const field = (2 ** bits - 1) * 2 ** from;
  const kept = ir.and(c, ir.const('i32', ~field));
  return ir.or(kept, ir.and(ir.shl(cut, ir.const('i32', from)), ir.const('i32', field)));
}

function joinedBy(ir: RowBuilder, op: Merge, a: Value, b: Value): Value {
  if (op === 'add') return ir.add(a, b);
  return op === 'min' ? ir.smin(a, b) : ir.smax(a, b);
}

/** The exact result of two extended operands. */
type Compute = (ir: RowBuilder, a: Value, b: Value) => Value;

const absolute: Compute = (ir, a, b) => {
  const difference = ir.sub(a, b);
  return ir.smax(difference, ir.sub(i64(ir, 0), difference));
};
/** Rounded up where the sum is not negative, else down. */
const average: Compute = (ir, a, b) => {
  const sum = ir.add(a, b);
  const isNegative = ir.icmp(sum, i64(ir, 0), { pred: 'slt' });
  return ir.ashr(ir.add(sum, ir.select(isNegative, i64(ir, 0), i64(ir, 1))), i64(ir, 1));
};
const compared =
  (cmp: (typeof comparisons)[number]): Compute =>
  (ir, a, b) =>
    ir.zext('i64', ir.icmp(a, b, { pred: (cmp === 'eq' || cmp === 'ne' ? cmp : `s${cmp}`) as IcmpPredicate }));

/** A shift of at most 32; past any 32 bits a value stays past them. */
function shifted(ir: RowBuilder, a: Value, b: Value, way: 'left' | 'right', mode: 'clamp' | 'wrap'): Value {
  const count = mode === 'wrap' ? ir.and(b, i64(ir, 31)) : ir.umin(b, i64(ir, 32));
  if (way === 'right') return ir.ashr(a, count);
  const most = ir.shl(a, ir.umin(count, i64(ir, 31)));
  const bounded = ir.smax(ir.smin(most, ir.const('i64', 1n << 40n)), ir.const('i64', -(1n << 40n)));
  return ir.select(ir.icmp(count, i64(ir, 32), { pred: 'eq' }), ir.shl(bounded, i64(ir, 1)), most);
}

// ── one part at a time ──

const part = /^(b[0-3]|h[01])$/;
const parts = { d: part, a: part, b: part } as const;

/** Both operands by the words after them. */
function picked(ir: RowBuilder, a: Value, b: Value, atype: string, btype: string): [Value, Value] {
  return [extended(ir, a, atype, placeOf(ir.part('a'))), extended(ir, b, btype, placeOf(ir.part('b')))];
}

/** Bits of the destination's part. */
const bitsOfResult = (ir: RowBuilder): number => placeOf(ir.part('d')).bits;

interface Scalar {
  readonly name: 'vadd' | 'vsub' | 'vabsdiff' | 'vmin' | 'vmax';
  readonly doc: string;
  readonly compute: Compute;
  /** Of -1 and 7, signed; of 2^32 - 1 and 7, saturated to unsigned; and joined by maximum with 5. */
  readonly results: readonly [signed: number, saturated: number, joined: number];
}

const scalars: readonly Scalar[] = [
  { name: 'vadd', doc: 'Adds words, bytes or halves', compute: (ir, a, b) => ir.add(a, b), results: [6, 0xffffffff, 6] },
  { name: 'vsub', doc: 'Subtracts words, bytes or halves', compute: (ir, a, b) => ir.sub(a, b), results: [0xfffffff8, 0xfffffff8, 5] },
  { name: 'vabsdiff', doc: 'Takes the absolute difference of words, bytes or halves', compute: absolute, results: [8, 0xfffffff8, 8] },
  { name: 'vmin', doc: 'Takes the smaller of words, bytes or halves', compute: (ir, a, b) => ir.smin(a, b), results: [0xffffffff, 7, 5] },
  { name: 'vmax', doc: 'Takes the larger of words, bytes or halves', compute: (ir, a, b) => ir.smax(a, b), results: [7, 0xffffffff, 7] },
];

const scalarRows = scalars.flatMap(({ name, doc, compute, results: [signed, saturated, joined] }) => [
  row({
    syntax: `${name as 'vadd'}.dtype.atype.btype{.sat} d, a, b{, c}`,
    values: { dtype: words, atype: words, btype: words },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    parts,
    since: fermi,
    doc: `${doc}; c is what the result is put into where it is a part.`,
    source: '9.7.18.1',
    status: 'exact',
    lower({ a, b, c }, m, ir) {
      const exact = compute(ir, ...picked(ir, a, b, m.atype, m.btype));
      return merged(ir, limited(ir, exact, m.dtype, bitsOfResult(ir), m.sat), m.dtype, undefined, c);
    },
    cases: [
      { form: `${name}.s32.s32.s32`, a: 0xffffffff, b: 7, d: signed, why: '-1 and 7' },
      { form: `${name}.u32.u32.u32.sat`, a: 0xffffffff, b: 7, d: saturated, why: '2^32 - 1 and 7' },
      { form: `${name}.s32.u32.s32.sat`, a: 0, b: 0, d: 0, why: 'zeros' },
    ],
  }),
  row({
    syntax: `${name as 'vadd'}.dtype.atype.btype{.sat}.op d, a, b, c`,
    values: { dtype: words, atype: words, btype: words, op: merges },
    types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
    parts: { a: part, b: part },
    since: fermi,
    doc: `${doc}, and joins the result with c.`,
    source: '9.7.18.1',
    status: 'exact',
    lower({ a, b, c }, m, ir) {
      const exact = compute(ir, ...picked(ir, a, b, m.atype, m.btype));
      return merged(ir, limited(ir, exact, m.dtype, 32, m.sat), m.dtype, m.op, c);
    },
    cases: [
      { form: `${name}.s32.s32.s32.max`, a: 0xffffffff, b: 7, c: 5, d: joined, why: '-1 and 7, and not below 5' },
      { form: `${name}.s32.s32.s32.min`, a: 0, b: 0, c: 0xffffffff, d: 0xffffffff, why: 'not above -1' },
      { form: `${name}.u32.u32.u32.sat.add`, a: 0xffffffff, b: 7, c: 1, d: (saturated + 1) % 2 ** 32, why: 'the sum wraps' },
    ],
  }),
]);

const shiftRows = (['vshl', 'vshr'] as const).flatMap((name) => {
  const way = name === 'vshl' ? 'left' : 'right';
  const pick = (left: number, right: number): number => (way === 'left' ? left : right);
  return [
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32{.sat}.mode d, a, b{, c}`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'] },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      parts,
      since: fermi,
      doc: `Shifts a word, byte or half to the ${way}, by at most 32 or modulo 32; c is what the result is put into where it is a part.`,
      source: '9.7.18.2',
      status: 'exact',
      lower({ a, b, c }, m, ir) {
        const exact = shifted(ir, ...picked(ir, a, b, m.atype, 'u32'), way, m.mode);
        return merged(ir, limited(ir, exact, m.dtype, bitsOfResult(ir), m.sat), m.dtype, undefined, c);
      },
      cases: [
        { form: `${name}.u32.u32.u32.clamp`, a: 0x80000001, b: 99, d: 0, why: 'at most 32' },
        { form: `${name}.s32.s32.u32.wrap`, a: 0xfffffffc, b: 33, d: pick(0xfffffff8, 0xfffffffe), why: '-4 by 1' },
        { form: `${name}.u32.u32.u32.sat.clamp`, a: 0x80000001, b: 1, d: pick(0xffffffff, 0x40000000), why: 'stays below 2^32' },
      ],
    }),
    row({
      syntax: `${name as 'vshl'}.dtype.atype.u32{.sat}.mode.op d, a, b, c`,
      values: { dtype: words, atype: words, mode: ['clamp', 'wrap'], op: merges },
      types: { d: '.dtype', a: '.atype', b: 'u32', c: 'b32' },
      parts: { a: part, b: part },
      since: fermi,
      doc: `Shifts a word, byte or half to the ${way}, by at most 32 or modulo 32, and joins the result with c.`,
      source: '9.7.18.2',
      status: 'exact',
      lower({ a, b, c }, m, ir) {
        const exact = shifted(ir, ...picked(ir, a, b, m.atype, 'u32'), way, m.mode);
        return merged(ir, limited(ir, exact, m.dtype, 32, m.sat), m.dtype, m.op, c);
      },
      cases: [
        { form: `${name}.u32.u32.u32.clamp.add`, a: 4, b: 1, c: 5, d: pick(13, 7), why: 'plus 5' },
        { form: `${name}.s32.s32.u32.wrap.max`, a: 0xfffffffc, b: 33, c: 0xffffffff, d: 0xffffffff, why: 'not below -1' },
        { form: `${name}.s32.s32.u32.wrap.min`, a: 0xfffffffc, b: 1, c: 0, d: pick(0xfffffff8, 0xfffffffe), why: 'below 0' },
      ],
    }),
  ];
});

const setRows = [
  row({
    syntax: 'vset.atype.btype.cmp d, a, b{, c}',
    values: { atype: words, btype: words, cmp: comparisons },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    parts,
    since: fermi,
    doc: 'Compares words, bytes or halves, and gives 1 or 0; c is what the result is put into where it is a part.',
    source: '9.7.18.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => merged(ir, compared(m.cmp)(ir, ...picked(ir, a, b, m.atype, m.btype)), 'u32', undefined, c),
    cases: [
      { form: 'vset.s32.s32.lt', a: 0xffffffff, b: 7, d: 1, why: '-1 is below 7' },
      { form: 'vset.u32.s32.lt', a: 0xffffffff, b: 7, d: 0, why: '2^32 - 1 is not' },
      { form: 'vset.u32.s32.eq', a: 0xffffffff, b: 0xffffffff, d: 0, why: 'nor is it -1' },
    ],
  }),
  row({
    syntax: 'vset.atype.btype.cmp.op d, a, b, c',
    values: { atype: words, btype: words, cmp: comparisons, op: merges },
    types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
    parts: { a: part, b: part },
    since: fermi,
    doc: 'Compares words, bytes or halves, and joins 1 or 0 with c.',
    source: '9.7.18.4',
    status: 'exact',
    lower: ({ a, b, c }, m, ir) => merged(ir, compared(m.cmp)(ir, ...picked(ir, a, b, m.atype, m.btype)), 'u32', m.op, c),
    cases: [
      { form: 'vset.s32.s32.lt.add', a: 0xffffffff, b: 7, c: 41, d: 42, why: '1 more' },
      { form: 'vset.s32.s32.ge.min', a: 0xffffffff, b: 7, c: 41, d: 0, why: 'does not hold' },
      { form: 'vset.s32.s32.ne.max', a: 0xffffffff, b: 7, c: 0xffffffff, d: 0xffffffff, why: 'c is unsigned' },
    ],
  }),
];

// ── two or four parts at once ──

interface Shape {
  readonly count: 2 | 4;
  readonly bits: 16 | 8;
  /** Words that choose parts: of a (the lower numbers) and b, highest part first. */
  readonly choice: RegExp;
  /** Words that say which parts of the result count. */
  readonly mask: RegExp;
}

const shapes: readonly Shape[] = [
  { count: 2, bits: 16, choice: /^h[0-3]{2}$/, mask: /^h(1?0|1)$/ },
  { count: 4, bits: 8, choice: /^b[0-7]{4}$/, mask: /^b(?=.)3?2?1?0?$/ },
];

/** The numbers in a word, lowest part first; without a word those of a, or of b. */
function chosen(word: string | undefined, { count }: Shape, isB: boolean): readonly number[] {
  if (word === undefined) return Array.from({ length: count }, (_, i) => i + (isB ? count : 0));
  return [...word.slice(1)].reverse().map(Number);
}

/** The parts of one operand, of both registers, by the word after it. */
function partsOf(ir: RowBuilder, shape: Shape, name: 'a' | 'b', a: Value, b: Value, type: string): readonly Value[] {
  const { bits, count } = shape;
  return chosen(ir.part(name), shape, name === 'b').map((i) => extended(ir, i < count ? a : b, type, { bits, from: bits * (i % count) }));
}

/** Which parts count. */
const counting = (ir: RowBuilder, { count }: Shape): readonly boolean[] =>
  Array.from({ length: count }, (_, i) => ir.part('d')?.slice(1).includes(String(i)) ?? true);

/** The results put side by side, c giving the parts that do not count. */
function sideBySide(ir: RowBuilder, shape: Shape, results: readonly Value[], c: Value): Value {
  const { bits } = shape;
  const counts = counting(ir, shape);
  const field = (i: number): number => (2 ** bits - 1) * 2 ** (bits * i);
  const others = counts.reduce((sum, holds, i) => (holds ? sum : sum + field(i)), 0);
  return results.reduce(
    (word, result, i) => {
      if (!counts[i]) return word;
      const placed = ir.shl(ir.trunc('i32', result), ir.const('i32', bits * i));
      return ir.or(word, ir.and(placed, ir.const('i32', field(i))));
    },
    ir.and(c, ir.const('i32', others)),
  );
}

/** c and the results that count. */
const summed = (ir: RowBuilder, shape: Shape, results: readonly Value[], c: Value): Value =>
  results.filter((_, i) => counting(ir, shape)[i]).reduce((sum, result) => ir.add(sum, ir.trunc('i32', result)), c);

interface Lanewise {
  readonly name: 'vadd' | 'vsub' | 'vavrg' | 'vabsdiff' | 'vmin' | 'vmax';
  readonly doc: string;
  readonly compute: Compute;
  /** Of the signed bytes or halves 5 and -8 (and 5 and -8 in the lower two of four), and that sum. */
  readonly result: number;
}

const lanewise: readonly Lanewise[] = [
  { name: 'vadd', doc: 'Adds', compute: (ir, a, b) => ir.add(a, b), result: -3 },
  { name: 'vsub', doc: 'Subtracts', compute: (ir, a, b) => ir.sub(a, b), result: 13 },
  { name: 'vavrg', doc: 'Averages', compute: average, result: -2 },
  { name: 'vabsdiff', doc: 'Takes the absolute difference of', compute: absolute, result: 13 },
  { name: 'vmin', doc: 'Takes the smaller of', compute: (ir, a, b) => ir.smin(a, b), result: -8 },
  { name: 'vmax', doc: 'Takes the larger of', compute: (ir, a, b) => ir.smax(a, b), result: 5 },
];

/** A part in its place, the others being 0. */
const inPart = (value: number, { bits }: Shape, i: number): number => ((value + 2 ** bits) % 2 ** bits) * 2 ** (bits * i);

const lanewiseRows = shapes.flatMap((shape) => {
  const { count, choice, mask } = shape;
  const both = { d: mask, a: choice, b: choice } as const;
  const many = count === 2 ? 'two' : 'four';
  const inAll = (value: number): number => Array.from({ length: count }, (_, i) => inPart(value, shape, i)).reduce((x, y) => x + y);
  const source = count === 2 ? '9.7.18.5' : '9.7.18.7';
  return [
    ...lanewise.flatMap(({ name, doc, compute, result }) => {
      const results = (ir: RowBuilder, a: Value, b: Value, m: { readonly atype: string; readonly btype: string }): Value[] => {
        const [x, y] = [partsOf(ir, shape, 'a', a, b, m.atype), partsOf(ir, shape, 'b', a, b, m.btype)];
        return x.map((each, i) => compute(ir, each, y[i]!));
      };
      return [
        row({
          syntax: `${`${name}${count}` as 'vadd2'}.dtype.atype.btype{.sat} d, a, b, c`,
          values: { dtype: words, atype: words, btype: words },
          types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
          parts: both,
          since: kepler,
          doc: `${doc} integers, ${many} to a register; c gives the parts that a mask leaves out.`,
          source,
          status: 'exact',
          lower({ a, b, c }, m, ir) {
            const all = results(ir, a, b, m).map((each) => limited(ir, each, m.dtype, shape.bits, m.sat));
            return sideBySide(ir, shape, all, c);
          },
          cases: [
            { form: `${name}${count}.s32.s32.s32`, a: inAll(5), b: inAll(-8), c: 0, d: inAll(result), why: '5 and -8 in all parts' },
            {
              form: `${name}${count}.s32.s32.s32`,
              a: inPart(5, shape, 1),
              b: inPart(-8, shape, 1),
              c: 0xffffffff,
              d: inPart(result, shape, 1),
              why: 'nothing is carried to other parts',
            },
            {
              form: `${name}${count}.u32.s32.s32.sat`,
              a: inPart(5, shape, 0),
              b: inPart(-8, shape, 0),
              c: 0,
              d: Math.max(result, 0),
              why: 'not below 0',
            },
          ],
        }),
        row({
          syntax: `${`${name}${count}` as 'vadd2'}.dtype.atype.btype.add d, a, b, c`,
          values: { dtype: words, atype: words, btype: words },
          types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
          parts: both,
          since: kepler,
          doc: `${doc} integers, ${many} to a register, and adds all of them to c.`,
          source,
          status: 'exact',
          lower: ({ a, b, c }, m, ir) => summed(ir, shape, results(ir, a, b, m), c),
          cases: [
            {
              form: `${name}${count}.s32.s32.s32.add`,
              a: inAll(5),
              b: inAll(-8),
              c: 100,
              d: 100 + count * result,
              why: 'a hundred more',
            },
            {
              form: `${name}${count}.s32.s32.s32.add`,
              a: inPart(5, shape, 1),
              b: inPart(-8, shape, 1),
              c: 0,
              d: (result + 2 ** 32) % 2 ** 32,
              why: 'one of them alone',
            },
            { form: `${name}${count}.u32.u32.u32.add`, a: 0, b: 0, c: 0xffffffff, d: 0xffffffff, why: 'nothing' },
          ],
        }),
      ];
    }),
    row({
      syntax: `${`vset${count}` as 'vset2'}.atype.btype.cmp{.add} d, a, b, c`,
      values: { atype: words, btype: words, cmp: comparisons },
      types: { d: 'u32', a: '.atype', b: '.btype', c: 'b32' },
      parts: both,
      since: kepler,
      doc: `Compares integers, ${many} to a register, and gives 1 or 0 in each part; \`.add\` counts those that hold.`,
      source: count === 2 ? '9.7.18.6' : '9.7.18.8',
      status: 'exact',
      lower({ a, b, c }, m, ir) {
        const [x, y] = [partsOf(ir, shape, 'a', a, b, m.atype), partsOf(ir, shape, 'b', a, b, m.btype)];
        const results = x.map((each, i) => compared(m.cmp)(ir, each, y[i]!));
        return m.add ? summed(ir, shape, results, c) : sideBySide(ir, shape, results, c);
      },
      cases: [
        { form: `vset${count}.s32.s32.gt`, a: inAll(5), b: inAll(-8), c: 0, d: inAll(1), why: '5 is above -8' },
        { form: `vset${count}.s32.u32.gt`, a: inAll(5), b: inAll(-8), c: 0, d: 0, why: 'unsigned, it is below' },
        { form: `vset${count}.s32.s32.eq.add`, a: inPart(5, shape, 1), b: 0, c: 7, d: 6 + count, why: 'all parts but one are equal' },
      ],
    }),
  ];
});

/** In the order of the manual. */
export const videoRows = [...scalarRows, ...shiftRows, ...setRows, ...lanewiseRows];
