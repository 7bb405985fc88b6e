/** Warp matrix products of a sparse matrix (`mma.sp`). Source: PTX ISA 9.0, 9.7.14.6. */
import type { Value } from '../../../ir/index.ts';
import { mmaForm, mmaRegisters, positionsOf } from '../../../ir/mma.ts';
import { type AnyModifiers, type Row, type RowBuilder, row } from '../../model/row.ts';
import { packed, type Sum } from './elements.ts';
import { sizesOf } from './fragments.ts';
import { boundOf, integers, listOf, type Registers, registersOf, singles, vectors } from './mma.ts';
import { mmaOf, unpacked } from './whole-product.ts';

/** The instructions that are only on the CPU device. */
const cpu = ' Requires `--target cpu`.';
const unrecorded = 'layouts are those of the manual, and no GPU was compared';
const rounded = {
  f16: { approximate: `${boundOf.f16.approximate}; ${unrecorded}` },
  f32: { approximate: `${boundOf.f32.approximate}; ${unrecorded}` },
} as const;

interface Operands {
  readonly a: Registers;
  readonly b: Registers;
  readonly c: Registers;
  /** The positions of the elements, and which threads of four have them. */
  readonly e: Value;
  readonly f: Value;
}

/** The registers of d; `form` is without the selector. */
export function sparseProduct(ir: RowBuilder, { a, b, c, e, f }: Operands, form: string, d: Sum['element']): Value[] {
  ir.needsCpu('AIR has no products of sparse matrices');
  const number = ir.kernel.insts[f]!;
  const selector = number.op === 'const' ? Number(number.bits) : 0;
  // Each group of four threads has the positions of two rows, in one, two or all of them.
  const most = 4 / ((2 * positionsOf(mmaForm(`${form}.sp0`)).rowBits) / 32);
  if (selector >= most) return ir.refuse(`the positions of elements in threads number ${selector}, of ${most}`) ?? listOf(c).slice();
  return packed(ir, d, mmaOf(ir, `${form}.sp${selector}`, listOf(a), listOf(b), unpacked(ir, listOf(c), d), e));
}

type Count = (modifiers: AnyModifiers) => number;

/** The number of registers of each matrix; halves in sums are two in a register. */
export function sparseCounts(factorOf: (m: AnyModifiers) => string, d: Sum['element']): Readonly<Record<'d' | 'a' | 'b' | 'c', Count>> {
  const registers = (m: AnyModifiers) => {
    const { k } = sizesOf(String(m.shape));
    return mmaRegisters(mmaForm(`m16n8k${k}.${factorOf(m)}.${factorOf(m)}.f32.sp0`));
  };
  const sums = d === 'f16' ? 2 : 4;
  return { d: () => sums, a: (m) => registers(m).a, b: (m) => registers(m).b, c: () => sums };
}

const source = '9.7.14.6';
const variants = ['sp', 'sp::ordered_metadata'] as const;
const metadata = { e: 'b32', f: 'u32' } as const;
const constants = { f: [0, 3] } as const;
const since = { ptx: 7.1, sm: 80 } as const;
const common = { source, isCollective: true, vectors, constants, cases: () => [] } as const;

const halfRows = (): Row[] =>
  (['f16', 'f32'] as const).map((d) =>
    row({
      ...common,
      syntax: 'mma.variant.sync.aligned.shape.row.col.dtype.f16.f16.ctype d, a, b, c, e, f',
      values: { variant: variants, shape: ['m16n8k16', 'm16n8k32'], dtype: [d], ctype: [d] },
      types: { d: registersOf[d], a: 'b32', b: 'b32', c: registersOf[d], ...metadata },
      lanes: sparseCounts(() => 'f16', d),
      since,
      doc: `Multiplies a sparse matrix of halves by another matrix and adds a matrix.${cpu}`,
      status: rounded[d],
      lower: (operands, { shape }, ir) => sparseProduct(ir, operands, `${shape}.f16.f16.f32`, d),
    }),
  );

const singleRows = (): Row[] => [
  row({
    ...common,
    syntax: 'mma.variant.sync.aligned.shape.row.col.f32.bf16.bf16.f32 d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k16', 'm16n8k32'] },
    types: { ...singles, ...metadata },
    lanes: sparseCounts(() => 'bf16', 'f32'),
    since,
    doc: `Multiplies a sparse matrix of bfloats by another matrix and adds a matrix.${cpu}`,
    status: rounded.f32,
    lower: (operands, { shape }, ir) => sparseProduct(ir, operands, `${shape}.bf16.bf16.f32`, 'f32'),
  }),
  row({
    ...common,
    syntax: 'mma.variant.sync.aligned.shape.row.col.f32.tf32.tf32.f32 d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k8', 'm16n8k16'] },
    types: { ...singles, ...metadata },
    lanes: sparseCounts(() => 'tf32', 'f32'),
    since,
    doc: `Multiplies a sparse matrix of short floats by another matrix and adds a matrix.${cpu}`,
    status: rounded.f32,
    lower: (operands, { shape }, ir) => sparseProduct(ir, operands, `${shape}.tf32.tf32.f32`, 'f32'),
  }),
  row({
    ...common,
    syntax: 'mma.variant.sync.aligned.shape.row.col.f32.atype.btype.f32 d, a, b, c, e, f',
    values: { variant: variants, shape: ['m16n8k64'], atype: ['e4m3', 'e5m2'], btype: ['e4m3', 'e5m2'] },
    types: { ...singles, ...metadata },
    lanes: sparseCounts(() => 'e4m3', 'f32'),
    since: { ptx: 8.4, sm: 89 },
    doc: `Multiplies a sparse matrix of 8-bit floats by another matrix and adds a matrix.${cpu}`,
    status: rounded.f32,
    lower: (operands, m, ir) => sparseProduct(ir, operands, `${m.shape}.${m.atype}.${m.btype}.f32`, 'f32'),
  }),
];

const integerRows = (): Row[] =>
  (
    [
      ['u8', 's8', ['m16n8k32', 'm16n8k64'], 'bytes'],
      ['u4', 's4', ['m16n8k64', 'm16n8k128'], '4-bit integers'],
    ] as const
  ).map(([unsigned, signed, shape, what]) =>
    row({
      ...common,
      syntax: 'mma.variant.sync.aligned.shape.row.col{.satfinite}.s32.atype.btype.s32 d, a, b, c, e, f',
      values: { variant: variants, shape, atype: [unsigned, signed], btype: [unsigned, signed] },
      types: { ...integers, ...metadata },
      lanes: sparseCounts(() => signed, 's32'),
      since,
      doc: `Multiplies a sparse matrix of ${what} by another matrix and adds a matrix.${cpu}`,
      status: 'exact',
      lower: (operands, m, ir) =>
        sparseProduct(ir, operands, `${m.shape}.${m.atype}.${m.btype}.s32${m.satfinite ? '.satfinite' : ''}`, 's32'),
    }),
  );

export const sparseMmaRows = (): readonly Row[] => [...halfRows(), ...singleRows(), ...integerRows()];
