/** Warp matrix products (`wmma`), whose fragments have load and store instructions of their own. Source: PTX ISA 9.0, 9.7.14.4. */
import type { Value } from '../../../ir/index.ts';
import { type AddressOperand, type AnyModifiers, type Row, type RowBuilder, row, type Since } from '../../model/row.ts';
import type { Rounding } from '../compose.ts';
import { joined, lowAndHigh } from '../halves.ts';
import { spaceOf } from '../spaces.ts';
import { loadFragment, type RegisterType, storeFragment } from './access.ts';
import { type Element, type Fragment, type Role, sizesOf, wmmaFragment } from './fragments.ts';
import {
  ampere,
  both,
  boundOf,
  doubles,
  type Elements,
  type Fragments,
  integers,
  listOf,
  productOf,
  registersOf,
  singles,
  vectors,
} from './mma.ts';
import { productOfBits, productOfMatrices } from './tile-product.ts';

const space = ['global', 'shared', 'shared::cta'] as const;
const shapes = ['m16n16k16', 'm8n32k16', 'm32n8k16'] as const;
const volta = { ptx: 6, sm: 70 } as const;
const xavier = { ptx: 6.3, sm: 72 } as const;
const turing = { ptx: 6.3, sm: 75 } as const;

/** A family of matrices: shapes, element types, the version that introduced them, and register types. */
interface Kind {
  readonly shape: readonly string[];
  readonly type: readonly Element[];
  readonly since: Since;
  readonly what: string;
  readonly held: 'b32' | 'f32' | 's32' | 'f64';
  /** Set if only one storage order is allowed. */
  readonly layout?: 'row' | 'col';
}

const factors: readonly Kind[] = [
  { shape: shapes, type: ['f16'], since: volta, what: 'halves', held: 'b32' },
  { shape: shapes, type: ['s8', 'u8'], since: xavier, what: 'bytes', held: 'b32' },
  { shape: shapes, type: ['bf16'], since: ampere, what: 'bfloats', held: 'b32' },
  { shape: ['m16n16k8'], type: ['tf32'], since: ampere, what: 'short floats', held: 'b32' },
  { shape: ['m8n8k4'], type: ['f64'], since: ampere, what: 'doubles', held: 'f64' },
];
/** Sub-byte types: rows of a and columns of b. */
const narrow = (layout: 'row' | 'col'): readonly Kind[] => [
  { shape: ['m8n8k32'], type: ['s4', 'u4'], since: turing, what: '4-bit integers', held: 'b32', layout },
  { shape: ['m8n8k128'], type: ['b1'], since: turing, what: 'bits', held: 'b32', layout },
];
const sums: readonly Kind[] = [
  { shape: shapes, type: ['f16'], since: volta, what: 'halves', held: 'b32' },
  { shape: shapes, type: ['f32'], since: volta, what: 'singles', held: 'f32' },
  { shape: shapes, type: ['s32'], since: xavier, what: 'integers', held: 's32' },
  { shape: ['m16n16k8'], type: ['f32'], since: ampere, what: 'singles', held: 'f32' },
  { shape: ['m8n8k4'], type: ['f64'], since: ampere, what: 'doubles', held: 'f64' },
  { shape: ['m8n8k32', 'm8n8k128'], type: ['s32'], since: turing, what: 'integers', held: 's32' },
];

const fragmentOf = (role: Role, m: AnyModifiers): Fragment => wmmaFragment(role, String(m.shape), m.type as Element);

interface Access {
  readonly p: AddressOperand;
  readonly stride?: Value;
}

/** The matrix in memory; without a stride its rows or columns are contiguous. */
function imageOf(ir: RowBuilder, role: Role, { p, stride }: Access, m: AnyModifiers) {
  const size = sizesOf(String(m.shape));
  const layout = m.layout as 'row' | 'col';
  const [rows, columns] = { a: [size.m, size.k], b: [size.k, size.n], c: [size.m, size.n] }[role] as [number, number];
  const pointer = ir.pointer(p, spaceOf(m.space as string | undefined));
  return { pointer, layout, stride: stride ?? ir.const('i32', layout === 'row' ? columns : rows) };
}

const heldAs = (held: Kind['held']): RegisterType => (held === 'f32' || held === 'f64' ? held : 'i32');

const loadRow = (role: Role, { shape, type, since, what, held, layout }: Kind) =>
  row({
    syntax: 'wmma.load.which.sync.aligned.layout.shape{.space}.type d, [p]{, stride}',
    values: { which: [role], layout: layout ? [layout] : both, shape, space, type },
    types: { d: held, p: 'b64', stride: 'u32' },
    vectors: { d: 'elements' },
    lanes: { d: (m) => fragmentOf(role, m).registers },
    since,
    doc: `Loads a matrix of ${what}, as ${role === 'c' ? 'the addend' : 'a factor'} of a product. Each thread gets its fragment.`,
    source: '9.7.14.4.3',
    status: 'exact',
    isCollective: true,
    lower: (access, m, ir) => loadFragment(ir, fragmentOf(role, m), imageOf(ir, role, access, m), heldAs(held)),
    cases: () => [],
  });

const storeRow = ({ shape, type, since, what, held }: Kind) =>
  row({
    syntax: 'wmma.store.d.sync.aligned.layout.shape{.space}.type [p], r{, stride}',
    values: { layout: both, shape, space, type },
    types: { p: 'b64', r: held, stride: 'u32' },
    vectors: { r: 'elements' },
    lanes: { r: (m) => fragmentOf('c', m).registers },
    since,
    doc: `Stores a matrix of ${what}. Each thread stores its fragment.`,
    source: '9.7.14.4.4',
    status: 'exact',
    isCollective: true,
    lower: ({ r, ...access }, m, ir) => storeFragment(ir, fragmentOf('c', m), imageOf(ir, 'c', access, m), listOf(r)),
    cases: () => [],
  });

// ── products ──

const source = '9.7.14.4.5';
const layouts = { alayout: both, blayout: both } as const;

/** The number of registers of each matrix, for a given shape or that of the modifiers. */
function counts(elements: Partial<Elements>, shape?: string) {
  const count =
    (name: 'd' | Role) =>
    (m: AnyModifiers): number =>
      wmmaFragment(name === 'd' ? 'c' : name, shape ?? String(m.shape), elements[name] ?? (m[`${name}type`] as Element)).registers;
  return { d: count('d'), a: count('a'), b: count('b'), c: count('c') };
}

interface How {
  readonly rounding?: Rounding | undefined;
  readonly isSaturated?: boolean;
}

function multiplied(ir: RowBuilder, operands: Fragments, shape: string, elements: Elements, how: How = {}): Value[] {
  const layoutOf = (role: Role, element: Element): Fragment => wmmaFragment(role, shape, element);
  return productOfMatrices(ir, productOf(operands, elements, sizesOf(shape).k, layoutOf, how));
}

const halfRows = (['f16', 'f32'] as const).flatMap((d) =>
  (['f16', 'f32'] as const).map((c) =>
    row({
      syntax: 'wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype d, a, b, c',
      values: { ...layouts, shape: shapes, dtype: [d], ctype: [c] },
      types: { d: registersOf[d], a: 'b32', b: 'b32', c: registersOf[c] },
      vectors,
      lanes: counts({ a: 'f16', b: 'f16' }),
      since: volta,
      doc: 'Multiplies matrices of halves and adds a matrix.',
      source,
      status: boundOf[d],
      isCollective: true,
      lower: (operands, { shape }, ir) => multiplied(ir, operands, shape, { a: 'f16', b: 'f16', c, d }),
      cases: () => [],
    }),
  ),
);

/** A float without infinities and NaNs: the largest number of its sign, and 0. Source: CUDA C++ Programming Guide, "Warp Matrix Functions". */
function finite(ir: RowBuilder, value: Value, type: 'f16' | 'f32'): Value {
  const most = ir.const(type, type === 'f16' ? 0x7bff : 0x7f7f_ffff);
  const limited = ir.fmax(ir.fmin(value, most), ir.fneg(most));
  return ir.select(ir.fcmp(value, value, { pred: 'uno' }), ir.const(type, 0), limited);
}

function finiteHalves(ir: RowBuilder, both: Value): Value {
  const [low, high] = lowAndHigh(ir, 'f16x2', both);
  return joined(ir, finite(ir, low, 'f16'), finite(ir, high, 'f16'));
}

const finiteRows = (['f16', 'f32'] as const).flatMap((d) =>
  (['f16', 'f32'] as const).map((c) =>
    row({
      syntax: 'wmma.mma.sync.aligned.alayout.blayout.shape.dtype.ctype.satfinite d, a, b, c',
      values: { ...layouts, shape: shapes, dtype: [d], ctype: [c] },
      types: { d: registersOf[d], a: 'b32', b: 'b32', c: registersOf[c] },
      vectors,
      lanes: counts({ a: 'f16', b: 'f16' }),
      since: volta,
      withdrawn: {
        sm: 80,
        ptx: 6.5,
        refused: 'saturation of float sums was removed from PTX in version 6.5',
        instead: 'leave out `.satfinite`, and clamp the result with `min`',
      },
      doc: 'Multiplies matrices of halves and adds a matrix; infinities become the largest numbers, and NaN 0.',
      source,
      status: boundOf[d],
      isCollective: true,
      lower: (operands, { shape }, ir) => {
        const sums = multiplied(ir, operands, shape, { a: 'f16', b: 'f16', c, d });
        return sums.map((sum) => (d === 'f32' ? finite(ir, sum, 'f32') : finiteHalves(ir, sum)));
      },
      cases: () => [],
    }),
  ),
);

const productRows = [
  row({
    syntax: 'wmma.mma.sync.aligned.alayout.blayout.shape.s32.atype.btype.s32{.satfinite} d, a, b, c',
    values: { ...layouts, shape: shapes, atype: ['s8', 'u8'], btype: ['s8', 'u8'] },
    excludes: [
      { atype: ['s8'], btype: ['u8'] },
      { atype: ['u8'], btype: ['s8'] },
    ],
    types: integers,
    vectors,
    lanes: counts({ d: 's32', c: 's32' }),
    since: xavier,
    doc: 'Multiplies matrices of bytes and adds a matrix.',
    source,
    status: 'exact',
    isCollective: true,
    lower: (operands, m, ir) =>
      multiplied(ir, operands, m.shape, { a: m.atype, b: m.btype, c: 's32', d: 's32' }, { isSaturated: m.satfinite ?? false }),
    cases: () => [],
  }),
  row({
    syntax: 'wmma.mma.sync.aligned.alayout.blayout.shape.f32.bf16.bf16.f32 d, a, b, c',
    values: { ...layouts, shape: shapes },
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
  row({
    syntax: 'wmma.mma.sync.aligned.alayout.blayout.m16n16k8.f32.tf32.tf32.f32 d, a, b, c',
    values: layouts,
    types: singles,
    vectors,
    lanes: counts({ d: 'f32', a: 'tf32', b: 'tf32', c: 'f32' }, 'm16n16k8'),
    since: ampere,
    doc: 'Multiplies matrices of short floats and adds a matrix. Factor bits below the precision of the format are ignored.',
    source,
    status: boundOf.f32,
    isCollective: true,
    lower: (operands, _, ir) => multiplied(ir, operands, 'm16n16k8', { a: 'tf32', b: 'tf32', c: 'f32', d: 'f32' }),
    cases: () => [],
  }),
  row({
    syntax: 'wmma.mma.sync.aligned.alayout.blayout.m8n8k4{.rnd}.f64.f64.f64.f64 d, a, b, c',
    values: { ...layouts, rnd: ['rn', 'rz', 'rm', 'rp'] },
    types: doubles,
    vectors,
    lanes: counts({ d: 'f64', a: 'f64', b: 'f64', c: 'f64' }, 'm8n8k4'),
    since: ampere,
    doc: 'Multiplies matrices of doubles and adds a matrix. Products are added in order of k, each with a single rounding.',
    source,
    status: 'exact',
    isCollective: true,
    lower: (operands, { rnd }, ir) =>
      multiplied(ir, operands, 'm8n8k4', { a: 'f64', b: 'f64', c: 'f64', d: 'f64' }, { rounding: rnd as Rounding | undefined }),
    cases: () => [],
  }),
  row({
    syntax: 'wmma.mma.sync.aligned.row.col.m8n8k32.s32.atype.btype.s32{.satfinite} d, a, b, c',
    values: { atype: ['s4', 'u4'], btype: ['s4', 'u4'] },
    excludes: [
      { atype: ['s4'], btype: ['u4'] },
      { atype: ['u4'], btype: ['s4'] },
    ],
    types: integers,
    vectors,
    lanes: counts({ d: 's32', c: 's32' }, 'm8n8k32'),
    since: turing,
    doc: 'Multiplies matrices of 4-bit integers and adds a matrix.',
    source,
    status: 'exact',
    isCollective: true,
    lower: (operands, m, ir) =>
      multiplied(ir, operands, 'm8n8k32', { a: m.atype, b: m.btype, c: 's32', d: 's32' }, { isSaturated: m.satfinite ?? false }),
    cases: () => [],
  }),
  row({
    syntax: 'wmma.mma.op.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 d, a, b, c',
    values: { op: ['xor', 'and'] },
    types: integers,
    vectors,
    lanes: counts({ d: 's32', a: 'b1', b: 'b1', c: 's32' }, 'm8n8k128'),
    since: turing,
    doc: 'Counts, for each row and column of two bit matrices, the bits that differ or that are both set, and adds a matrix.',
    source,
    status: 'exact',
    isCollective: true,
    lower(operands, { op }, ir) {
      const layoutOf = (role: Role, element: Element): Fragment => wmmaFragment(role, 'm8n8k128', element);
      return productOfBits(ir, productOf(operands, { a: 'b1', b: 'b1', c: 's32', d: 's32' }, 128, layoutOf), op);
    },
    cases: () => [],
  }),
];

export const wmmaRows = (): readonly Row[] => [
  ...[...factors, ...narrow('row')].map((kind) => loadRow('a', kind)),
  ...[...factors, ...narrow('col')].map((kind) => loadRow('b', kind)),
  ...sums.map((kind) => loadRow('c', kind)),
  ...sums.map(storeRow),
  ...halfRows,
  ...finiteRows,
  ...productRows,
];
