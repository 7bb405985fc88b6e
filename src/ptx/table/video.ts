/**
 * Packed video instructions, on two or four integers in a register. A selector after an operand may reorder them (`a.h31`). Results are
 * exact, and `.sat` saturates them. Source: PTX ISA 9.0, 9.7.18.
 */
import type { IcmpPredicate, Value } from '../../ir/index.ts';
import { type Row, type RowBuilder, row } from '../model/row.ts';
import { isSignedType } from '../model/types.ts';
import { saturateInt } from './compose.ts';

const words = ['u32', 's32'] as const;
export const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;
const kepler = { ptx: 3, sm: 30 } as const;

const i64 = (ir: RowBuilder, value: number): Value => ir.const('i64', value);

/** A part of a 32-bit value, extended to i64 by the sign of a type. */
export function extended(ir: RowBuilder, a: Value, type: string, { bits, from }: { readonly bits: number; readonly from: number }): Value {
  const top = ir.shl(ir.zext('i64', a), i64(ir, 64 - bits - from));
  return isSignedType(type) ? ir.ashr(top, i64(ir, 64 - bits)) : ir.lshr(top, i64(ir, 64 - bits));
}

/** Saturates an exact 64-bit value to a given width, if requested. */
function limited(ir: RowBuilder, value: Value, type: string, bits: number, sat: true | undefined): Value {
  return sat ? saturateInt(ir, value, { bits: 64, isSigned: true }, { bits, isSigned: isSignedType(type) }) : value;
}

/** The exact result of two extended operands. */
export type Compute = (ir: RowBuilder, a: Value, b: Value) => Value;

export const absolute: Compute = (ir, a, b) => {
  const difference = ir.sub(a, b);
  return ir.smax(difference, ir.sub(i64(ir, 0), difference));
};
/** Rounds up for a non-negative sum, else down. */
const average: Compute = (ir, a, b) => {
  const sum = ir.add(a, b);
  const isNegative = ir.icmp(sum, i64(ir, 0), { pred: 'slt' });
  return ir.ashr(ir.add(sum, ir.select(isNegative, i64(ir, 0), i64(ir, 1))), i64(ir, 1));
};
export const compared =
  (cmp: (typeof comparisons)[number]): Compute =>
  (ir, a, b) =>
    ir.zext('i64', ir.icmp(a, b, { pred: (cmp === 'eq' || cmp === 'ne' ? cmp : `s${cmp}`) as IcmpPredicate }));

// ── two or four parts at once ──

interface Shape {
  readonly count: 2 | 4;
  readonly bits: 16 | 8;
  /** Selectors of parts, highest first: of a (the lower numbers) and of b. */
  readonly choice: RegExp;
  /** Selectors of the result parts that are written. */
  readonly mask: RegExp;
}

const shapes: readonly Shape[] = [
  { count: 2, bits: 16, choice: /^h[0-3]{2}$/, mask: /^h(1?0|1)$/ },
  { count: 4, bits: 8, choice: /^b[0-7]{4}$/, mask: /^b(?=.)3?2?1?0?$/ },
];

/** The part indices of a selector, lowest first; the default selects those of a, or of b. */
function selectedParts(word: string | undefined, { count }: Shape, isB: boolean): readonly number[] {
  if (word === undefined) return Array.from({ length: count }, (_, i) => i + (isB ? count : 0));
  return [...word.slice(1)].reverse().map(Number);
}

/** The parts of one operand, from both registers, by its selector. */
function partsOf(ir: RowBuilder, shape: Shape, name: 'a' | 'b', a: Value, b: Value, type: string): readonly Value[] {
  const { bits, count } = shape;
  return selectedParts(ir.part(name), shape, name === 'b').map((i) =>
    extended(ir, i < count ? a : b, type, { bits, from: bits * (i % count) }),
  );
}

/** The result parts that are written. */
const writtenParts = (ir: RowBuilder, { count }: Shape): readonly boolean[] =>
  Array.from({ length: count }, (_, i) => ir.part('d')?.slice(1).includes(String(i)) ?? true);

/** The packed results; c supplies the parts that are not written. */
function sideBySide(ir: RowBuilder, shape: Shape, results: readonly Value[], c: Value): Value {
  const { bits } = shape;
  const counts = writtenParts(ir, shape);
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

/** c plus the written results. */
const summed = (ir: RowBuilder, shape: Shape, results: readonly Value[], c: Value): Value =>
  results.filter((_, i) => writtenParts(ir, shape)[i]).reduce((sum, result) => ir.add(sum, ir.trunc('i32', result)), c);

interface Lanewise {
  readonly name: 'vadd' | 'vsub' | 'vavrg' | 'vabsdiff' | 'vmin' | 'vmax';
  readonly doc: string;
  readonly compute: Compute;
  /** The result for the signed bytes or halves 5 and -8 (in the lower two of four bytes as well), and the sum of results. */
  readonly result: number;
}

const lanewise: readonly Lanewise[] = [
  { name: 'vadd', doc: 'Adds', compute: (ir, a, b) => ir.add(a, b), result: -3 },
  { name: 'vsub', doc: 'Subtracts', compute: (ir, a, b) => ir.sub(a, b), result: 13 },
  { name: 'vavrg', doc: 'Averages', compute: average, result: -2 },
  { name: 'vabsdiff', doc: 'Computes the absolute difference of', compute: absolute, result: 13 },
  { name: 'vmin', doc: 'Computes the minimum of', compute: (ir, a, b) => ir.smin(a, b), result: -8 },
  { name: 'vmax', doc: 'Computes the maximum of', compute: (ir, a, b) => ir.smax(a, b), result: 5 },
];

/** A part at its position, with all other bits 0. */
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
          doc: `${doc} integers, ${many} to a register. c supplies the parts that a mask excludes.`,
          source,
          status: 'exact',
          lower({ a, b, c }, m, ir) {
            const all = results(ir, a, b, m).map((each) => limited(ir, each, m.dtype, shape.bits, m.sat));
            return sideBySide(ir, shape, all, c);
          },
          cases: () => [
            { form: `${name}${count}.s32.s32.s32`, a: inAll(5), b: inAll(-8), c: 0, d: inAll(result), why: '5 and -8 in all parts' },
            {
              form: `${name}${count}.s32.s32.s32`,
              a: inPart(5, shape, 1),
              b: inPart(-8, shape, 1),
              c: 0xffffffff,
              d: inPart(result, shape, 1),
              why: 'no carry into other parts',
            },
            {
              form: `${name}${count}.u32.s32.s32.sat`,
              a: inPart(5, shape, 0),
              b: inPart(-8, shape, 0),
              c: 0,
              d: Math.max(result, 0),
              why: 'clamped to 0',
            },
          ],
        }),
        row({
          syntax: `${`${name}${count}` as 'vadd2'}.dtype.atype.btype.add d, a, b, c`,
          values: { dtype: words, atype: words, btype: words },
          types: { d: '.dtype', a: '.atype', b: '.btype', c: 'b32' },
          parts: both,
          since: kepler,
          doc: `${doc} integers, ${many} to a register, and adds all results to c.`,
          source,
          status: 'exact',
          lower: ({ a, b, c }, m, ir) => summed(ir, shape, results(ir, a, b, m), c),
          cases: () => [
            {
              form: `${name}${count}.s32.s32.s32.add`,
              a: inAll(5),
              b: inAll(-8),
              c: 100,
              d: 100 + count * result,
              why: 'plus a hundred',
            },
            {
              form: `${name}${count}.s32.s32.s32.add`,
              a: inPart(5, shape, 1),
              b: inPart(-8, shape, 1),
              c: 0,
              d: (result + 2 ** 32) % 2 ** 32,
              why: 'only one of them',
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
      doc: `Compares integers, ${many} to a register. Each part of the result is 1 or 0; \`.add\` adds their number to c.`,
      source: count === 2 ? '9.7.18.6' : '9.7.18.8',
      status: 'exact',
      lower({ a, b, c }, m, ir) {
        const [x, y] = [partsOf(ir, shape, 'a', a, b, m.atype), partsOf(ir, shape, 'b', a, b, m.btype)];
        const results = x.map((each, i) => compared(m.cmp)(ir, each, y[i]!));
        return m.add ? summed(ir, shape, results, c) : sideBySide(ir, shape, results, c);
      },
      cases: () => [
        { form: `vset${count}.s32.s32.gt`, a: inAll(5), b: inAll(-8), c: 0, d: inAll(1), why: '5 is above -8' },
        { form: `vset${count}.s32.u32.gt`, a: inAll(5), b: inAll(-8), c: 0, d: 0, why: 'false for unsigned parts' },
        { form: `vset${count}.s32.s32.eq.add`, a: inPart(5, shape, 1), b: 0, c: 7, d: 6 + count, why: 'all parts but one are equal' },
      ],
    }),
  ];
});

export const videoRows = (): readonly Row[] => lanewiseRows;
