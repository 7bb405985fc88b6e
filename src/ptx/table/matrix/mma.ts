/** Warp matrix products (`mma`) with the manual's layouts. Source: PTX ISA 9.0, 9.7.14.5. */
import type { Value } from '../../../ir/index.ts';
import { type AnyModifiers, type Row, type RowBuilder, row } from '../../model/row.ts';
import type { Rounding } from '../compose.ts';
import type { Sum } from './elements.ts';
import { type Element, type Fragment, mmaFragment, quadPairFragment, type Role, sizesOf } from './fragments.ts';
import type { Product } from './matrices.ts';
import { productOfBits, productOfMatrices } from './tile-product.ts';

export type Registers = Value | readonly Value[];
export interface Fragments {
  readonly a: Registers;
  readonly b: Registers;
  readonly c: Registers;
}

/** The element types of a product's matrices. */
export interface Elements {
  readonly a: Element;
  readonly b: Element;
  readonly c: Sum['element'];
  readonly d: Sum['element'];
}

export const listOf = (registers: Registers): readonly Value[] => (Array.isArray(registers) ? registers : [registers as Value]);

/** A product whose matrices have the layouts of `layoutOf`. */
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
/** The register types of sum elements. */
export const registersOf = { f16: 'b32', f32: 'f32' } as const;
const source = '9.7.14.5';

type Count = (modifiers: AnyModifiers) => number;

/** The number of registers of each matrix, for element types from the modifiers or as given. */
function counts(elements: Partial<Elements> & { readonly shape?: string }): Readonly<Record<'d' | 'a' | 'b' | 'c', Count>> {
  const count =
    (name: 'd' | Role): Count =>
    (m) => {
      const element = elements[name] ?? (m[`${name}type`] as Element);
      return mmaFragment(name === 'd' ? 'c' : name, elements.shape ?? String(m.shape), element).registers;
    };
  return { d: count('d'), a: count('a'), b: count('b'), c: count('c') };
}

/** For four products: eight half-precision elements of a sum are in four registers. */
const quadCounts = (d: 'f16' | 'f32', c: 'f16' | 'f32') => ({ d: d === 'f16' ? 4 : 8, a: 2, b: 2, c: c === 'f16' ? 4 : 8 }) as const;

const near = 'within (k + 1) * 2^-23 of the sum of the magnitudes of all terms, if nothing overflows or is subnormal';
/** The error bounds of half- and single-precision sums. */
export const boundOf = {
  f16: { approximate: `a single-precision sum, rounded to a half at the end, ${near}` },
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
    doc: 'Multiplies matrices of halves and adds a matrix.',
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
    doc: 'Computes four products of matrices of halves, each by two groups of four threads, and adds matrices.',
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
    doc: 'Multiplies matrices of short floats and adds a matrix. Factor bits below the precision of the format are ignored.',
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
    doc: 'Multiplies matrices of bfloats and adds a matrix.',
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
      doc: 'Multiplies matrices of 8-bit floats and adds a matrix.',
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
    doc: 'Multiplies matrices of doubles and adds a matrix. Products are added in order of k, each with a single rounding.',
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
    ['u4', 's4', ['m8n8k32', 'm16n8k32', 'm16n8k64'], '4-bit integers'],
  ] as const
).map(([unsigned, signed, shape, what]) =>
  row({
    syntax: 'mma.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c',
    values: { shape, atype: [unsigned, signed], btype: [unsigned, signed] },
    types: integers,
    vectors,
    lanes: counts({ d: 's32', c: 's32' }),
    since: { ptx: 6.5, sm: 75 },
    doc: `Multiplies matrices of ${what} and adds a matrix.`,
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
  doc: 'Counts, for each row and column of two bit matrices, the bits that differ or that are both set, and adds a matrix.',
  source,
  status: 'exact',
  isCollective: true,
  lower(operands, { shape, op }, ir) {
    const layoutOf = (role: Role, element: Element): Fragment => mmaFragment(role, shape, element);
    return productOfBits(ir, productOf(operands, { a: 'b1', b: 'b1', c: 's32', d: 's32' }, sizesOf(shape).k, layoutOf), op);
  },
  cases: () => [],
});

export const mmaRows = (): readonly Row[] => [...quadRows, ...halfRows, ...floatRows, ...integerRows, bitRow];
