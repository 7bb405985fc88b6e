/** Products of matrices by a warp, whose layouts the manual gives. Source: PTX ISA 9.0, 9.7.14.5. */
import type { Value } from '../../../ir/index.ts';
import { type AnyModifiers, type Row, type RowBuilder, row } from '../../model/row.ts';
import type { Rounding } from '../compose.ts';
import type { Sum } from './elements.ts';
import { type Element, type Fragment, mmaFragment, quadPairFragment, type Role, sizesOf } from './fragments.ts';
import { bitProduct, type Product } from './product.ts';
import { productOfMatrices } from './tile-product.ts';

export type Registers = Value | readonly Value[];
export interface Fragments {
  readonly a: Registers;
  readonly b: Registers;
  readonly c: Registers;
}

/** The elements of the matrices of a product. */
export interface Elements {
  readonly a: Element;
  readonly b: Element;
  readonly c: Sum['element'];
  readonly d: Sum['element'];
}

export const listOf = (registers: Registers): readonly Value[] => (Array.isArray(registers) ? registers : [registers as Value]);

/** A product whose matrices are laid out as `layoutOf` says. */
export function productOf(
  operands: Fragments,
  elements: Elements,
  k: number,
  layoutOf: (role: Role, element: Element) => Fragment,
  how: Omit<Sum, 'element'> = {},
): Product {
  const matrix = (role: Role): Product['a'] => {
    const element = elements[role];
    return { fragment: layoutOf(role, element), element, registers: listOf(operands[role]) };
  };
  return { a: matrix('a'), b: matrix('b'), c: matrix('c'), d: { fragment: layoutOf('c', elements.d), element: elements.d, ...how }, k };
}

function multiplied(ir: RowBuilder, operands: Fragments, shape: string, elements: Elements, how: Omit<Sum, 'element'> = {}): Value[] {
  return productOfMatrices(
    ir,
    productOf(operands, elements, sizesOf(shape).k, (role, element) => mmaFragment(role, shape, element), how),
  );
}

export const both = ['row', 'col'] as const;
export const ampere = { ptx: 7, sm: 80 } as const;
export const vectors = { d: 'elements', a: 'elements', b: 'elements', c: 'elements' } as const;
export const integers = { d: 's32', a: 'b32', b: 'b32', c: 's32' } as const;
export const singles = { d: 'f32', a: 'b32', b: 'b32', c: 'f32' } as const;
export const doubles = { d: 'f64', a: 'f64', b: 'f64', c: 'f64' } as const;
/** The registers of elements of a sum. */
export const registersOf = { f16: 'b32', f32: 'f32' } as const;
const source = '9.7.14.5';

type Count = (modifiers: AnyModifiers) => number;

/** How many registers each matrix has: of elements that stand in the modifiers, or are given. */
function counts(elements: Partial<Elements> & { readonly shape?: string }): Readonly<Record<'d' | 'a' | 'b' | 'c', Count>> {
  const count =
    (name: 'd' | Role): Count =>
    (m) => {
      const element = elements[name] ?? (m[`${name}type`] as Element);
      return mmaFragment(name === 'd' ? 'c' : name, elements.shape ?? String(m.shape), element).registers;
    };
  return { d: count('d'), a: count('a'), b: count('b'), c: count('c') };
}

/** Of four products: eight halves of a sum in four registers. */
const quadCounts = (d: 'f16' | 'f32', c: 'f16' | 'f32') => ({ d: d === 'f16' ? 4 : 8, a: 2, b: 2, c: c === 'f16' ? 4 : 8 }) as const;

const near = 'within (k + 1) * 2^-23 of the sum of the magnitudes of all that is added, where nothing overflows or is subnormal on the way';
/** What is promised of sums of floats that are held as halves, or as singles. */
export const boundOf = {
  f16: { approximate: `a sum in singles that is rounded to a half at the end; it is ${near}` },
  f32: { approximate: near },
} as const;

const halfRows = (['f16', 'f32'] as const).flatMap((type) => [
  row({
    syntax: 'mma.sync.aligned.shape.row.col.dtype.f16.f16.ctype d, a, b, c',
    values: { shape: ['m16n8k8', 'm16n8k16'], dtype: [type], ctype: [type] },
    types: { d: registersOf[type], a: 'b32', b: 'b32', c: registersOf[type] },
    vectors,
    lanes: counts({ a: 'f16', b: 'f16' }),
    since: { ptx: 6.5, sm: 75 },
    doc: 'A product of matrices of halves, added to a matrix.',
    source,
    status: boundOf[type],
    isCollective: true,
    lower: (operands, m, ir) => multiplied(ir, operands, m.shape, { a: 'f16', b: 'f16', c: type, d: type }),
    cases: () => [],
  }),
]);

const quadRows = (
  [
    ['f16', 'f16'],
    ['f32', 'f16'],
    ['f32', 'f32'],
  ] as const
).map(([d, c]) =>
  row({
    syntax: 'mma.sync.aligned.m8n8k4.alayout.blayout.dtype.f16.f16.ctype d, a, b, c',
    values: { alayout: both, blayout: both, dtype: [d], ctype: [c] },
    types: { d: registersOf[d], a: 'b32', b: 'b32', c: registersOf[c] },
    vectors,
    lanes: quadCounts(d, c),
    since: { ptx: 6.4, sm: 70 },
    doc: 'Four products of matrices of halves, each of two groups of four threads, added to matrices.',
    source,
    status: boundOf[d],
    isCollective: true,
    lower(operands, m, ir) {
      const layoutOf = (role: Role, element: Element): Fragment => quadPairFragment(role, role === 'b' ? m.blayout : m.alayout, element);
      return productOfMatrices(ir, productOf(operands, { a: 'f16', b: 'f16', c, d }, 4, layoutOf));
    },
    cases: () => [],
  }),
);

const floatRows = [
  row({
    syntax: 'mma.sync.aligned.shape.row.col.f32.tf32.tf32.f32 d, a, b, c',
    values: { shape: ['m16n8k4', 'm16n8k8'] },
    types: singles,
    vectors,
    lanes: counts({ d: 'f32', a: 'tf32', b: 'tf32', c: 'f32' }),
    since: ampere,
    doc: 'A product of matrices of short floats, added to a matrix. Bits of the factors below those of the format are not looked at.',
    source,
    status: boundOf.f32,
    isCollective: true,
    lower: (operands, { shape }, ir) => multiplied(ir, operands, shape, { a: 'tf32', b: 'tf32', c: 'f32', d: 'f32' }),
    cases: () => [],
  }),
  row({
    syntax: 'mma.sync.aligned.shape.row.col.f32.bf16.bf16.f32 d, a, b, c',
    values: { shape: ['m16n8k8', 'm16n8k16'] },
    types: singles,
    vectors,
    lanes: counts({ d: 'f32', a: 'bf16', b: 'bf16', c: 'f32' }),
    since: ampere,
    doc: 'A product of matrices of bfloats, added to a matrix.',
    source,
    status: boundOf.f32,
    isCollective: true,
    lower: (operands, { shape }, ir) => multiplied(ir, operands, shape, { a: 'bf16', b: 'bf16', c: 'f32', d: 'f32' }),
    cases: () => [],
  }),
  ...(['f16', 'f32'] as const).map((type) =>
    row({
      syntax: 'mma.sync.aligned.shape.row.col.dtype.atype.btype.ctype d, a, b, c',
      values: {
        shape: ['m16n8k16', 'm16n8k32'],
        dtype: [type],
        atype: ['e4m3', 'e5m2'],
        btype: ['e4m3', 'e5m2'],
        ctype: [type],
      },
      types: { d: registersOf[type], a: 'b32', b: 'b32', c: registersOf[type] },
      vectors,
      lanes: counts({}),
      since: { ptx: 8.4, sm: 89 },
      doc: 'A product of matrices of floats of 8 bits, added to a matrix.',
      source,
      status: boundOf[type],
      isCollective: true,
      lower: (operands, m, ir) => multiplied(ir, operands, m.shape, { a: m.atype, b: m.btype, c: type, d: type }),
      cases: () => [],
    }),
  ),
  row({
    syntax: 'mma.sync.aligned.shape.row.col{.rnd}.f64.f64.f64.f64 d, a, b, c',
    values: { shape: ['m8n8k4', 'm16n8k4', 'm16n8k8', 'm16n8k16'], rnd: ['rn', 'rz', 'rm', 'rp'] },
    types: doubles,
    vectors,
    lanes: counts({ d: 'f64', a: 'f64', b: 'f64', c: 'f64' }),
    since: ampere,
    doc: 'A product of matrices of doubles, added to a matrix: each product is added with one rounding, one after the other along k.',
    source,
    status: 'exact',
    isCollective: true,
    lower: (operands, { shape, rnd }, ir) =>
      multiplied(ir, operands, shape, { a: 'f64', b: 'f64', c: 'f64', d: 'f64' }, { rounding: rnd as Rounding | undefined }),
    cases: () => [],
  }),
];

const integerRows = (
  [
    ['u8', 's8', ['m8n8k16', 'm16n8k16', 'm16n8k32'], 'bytes'],
    ['u4', 's4', ['m8n8k32', 'm16n8k32', 'm16n8k64'], 'numbers of 4 bits'],
  ] as const
).map(([unsigned, signed, shape, what]) =>
  row({
    syntax: 'mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c',
    values: { shape, atype: [unsigned, signed], btype: [unsigned, signed] },
    types: integers,
    vectors,
    lanes: counts({ d: 's32', c: 's32' }),
    since: { ptx: 6.5, sm: 75 },
    doc: `A product of matrices of ${what}, added to a matrix.`,
    source,
    status: 'exact',
    isCollective: true,
    lower: (operands, m, ir) =>
      multiplied(ir, operands, m.shape, { a: m.atype, b: m.btype, c: 's32', d: 's32' }, { isSaturated: m.satfinite ?? false }),
    cases: () => [],
  }),
);

const bitRow = row({
  syntax: 'mma.sync.aligned.shape.row.col.s32.b1.b1.s32.op.popc d, a, b, c',
  values: { shape: ['m8n8k128', 'm16n8k128', 'm16n8k256'], op: ['xor', 'and'] },
  types: integers,
  vectors,
  lanes: counts({ d: 's32', a: 'b1', b: 'b1', c: 's32' }),
  since: ampere,
  doc: 'For each row and column of two matrices of bits, how many bits differ or are both set, added to a matrix.',
  source,
  status: 'exact',
  isCollective: true,
  lower(operands, { shape, op }, ir) {
    const layoutOf = (role: Role, element: Element): Fragment => mmaFragment(role, shape, element);
    return bitProduct(ir, productOf(operands, { a: 'b1', b: 'b1', c: 's32', d: 's32' }, sizesOf(shape).k, layoutOf), op);
  },
  cases: () => [],
});

export const mmaRows = (): readonly Row[] => [...quadRows, ...halfRows, ...floatRows, ...integerRows, bitRow];
