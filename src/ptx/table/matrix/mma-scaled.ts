/**
 * Warp matrix products of floats of 4 to 8 bits (`mma` with a `.kind`), of which some have a scale for each row of a and column of b, or several
 * along k. Bytes hold six bits at their lower end, and four bits in the middle. Source: PTX ISA 9.0, 9.7.14.3 (scales), 9.7.14.5 and 9.7.14.6;
 * CUTLASS, include/cute/atom/mma_traits_sm120.hpp, for the threads that have the scales.
 */
import type { Value } from '../../../ir/index.ts';
import { type AnyModifiers, type Row, type RowBuilder, row } from '../../model/row.ts';
import { decoded } from '../small-floats.ts';
import { packed } from './elements.ts';
import { laneOf } from './lanes.ts';
import { boundOf, listOf, type Registers, registersOf, singles, vectors } from './mma.ts';
import { sparseProduct } from './mma-sparse.ts';
import { mmaOf, unpacked } from './whole-product.ts';

const cpu = ' Requires `--target cpu`.';
const unrecorded = 'layouts are those of the manual and of CUTLASS, and no GPU was compared';
const rounded = {
  f16: { approximate: `${boundOf.f16.approximate}; ${unrecorded}` },
  f32: { approximate: `${boundOf.f32.approximate}; ${unrecorded}` },
} as const;
const int = (ir: RowBuilder, value: number): Value => ir.const('i32', value);

interface Operands {
  readonly a: Registers;
  readonly b: Registers;
  readonly c: Registers;
  /** Of a sparse a. */
  readonly e?: Value;
  readonly f?: Value;
  /** The scales of a, and the numbers of a byte and of a thread; and those of b. */
  readonly s: Value;
  readonly i: Registers;
  readonly t: Value;
  readonly j: Registers;
}

interface Scaled {
  /** The form without a selector. */
  readonly form: string;
  /** Scales of a row along k. */
  readonly count: 1 | 2 | 4;
  readonly type: string;
}

/** The scale in a byte of a word, an f64. */
function scaleIn(ir: RowBuilder, type: string, word: Value, byte: Value): Value {
  const bits = ir.and(ir.lshr(word, ir.shl(byte, int(ir, 3))), int(ir, 0xff));
  if (type === 'ue4m3') return ir.fpext('f64', decoded(ir, 'e4m3', ir.and(bits, int(ir, 0x7f)), undefined));
  // A power of two, of which the smallest is a subnormal f32.
  const single = ir.select(ir.icmp(bits, int(ir, 0), { pred: 'eq' }), int(ir, 0x00400000), ir.shl(bits, int(ir, 23)));
  const whole = ir.select(ir.icmp(bits, int(ir, 0xff), { pred: 'eq' }), int(ir, 0x7fc00000), single);
  return ir.fpext('f64', ir.bitcast('f32', whole));
}

const numberIn = (ir: RowBuilder, values: Registers, index: number): Value => ir.zext('i32', listOf(values)[index]!);

/** The scales of the rows and columns of this thread's elements of d, by their number along k. */
function scalesOf(ir: RowBuilder, { s, i, t, j }: Operands, { count, type }: Scaled): Value[][] {
  const lane = laneOf(ir);
  const group = ir.and(lane, int(ir, -4));
  const inGroup = ir.and(lane, int(ir, 3));
  // Two threads of four have the scales of rows g and g + 8; one of four has those of a column.
  const pair = ir.and(ir.shl(numberIn(ir, i, 1), int(ir, 1)), int(ir, 2));
  const rows = [0, 1].map((half) => ir.shuffle(s, ir.or(group, ir.or(pair, int(ir, half)))));
  const columns = [0, 1].map((odd) => {
    const column = ir.or(ir.shl(inGroup, int(ir, 1)), int(ir, odd));
    return ir.shuffle(t, ir.or(ir.shl(column, int(ir, 2)), ir.and(numberIn(ir, j, 1), int(ir, 3))));
  });
  const [first, firstOfB] = [numberIn(ir, i, 0), numberIn(ir, j, 0)];
  return Array.from({ length: count }, (_, step) => {
    const [left, right] = [
      rows.map((word) => scaleIn(ir, type, word, ir.add(first, int(ir, step)))),
      columns.map((word) => scaleIn(ir, type, word, ir.add(firstOfB, int(ir, step)))),
    ] as [Value[], Value[]];
    return [0, 1, 2, 3].map((element) => ir.fmul(left[element >> 1]!, right[element & 1]!));
  });
}

/** The registers of b that are of one of several steps along k, with zeros for the others. */
function stepOf(ir: RowBuilder, registers: readonly Value[], step: number, count: number): Value[] {
  const zero = int(ir, 0);
  const perStep = registers.length / count;
  if (perStep >= 1) return registers.map((each, i) => (Math.floor(i / perStep) === step ? each : zero));
  // Half of a register's columns are in the lower two threads of four.
  const isUpper = ir.icmp(ir.and(laneOf(ir), int(ir, 2)), zero, { pred: 'ne' });
  return registers.map((each, i) => {
    if (i !== step >> 1) return zero;
    return step & 1 ? ir.select(isUpper, each, zero) : ir.select(isUpper, zero, each);
  });
}

/** The registers of d: products of each step along k, scaled and added in doubles. */
function scaledProduct(ir: RowBuilder, operands: Operands, scaled: Scaled): Value[] {
  ir.needsCpu('AIR has no products of scaled matrices');
  const scales = scalesOf(ir, operands, scaled);
  const none = Array.from({ length: 4 }, () => ir.const('f32', 0));
  const start = listOf(operands.c).map((each) => ir.fpext('f64', each));
  const sums = scales.reduce((before, factors, step) => {
    const b = scales.length === 1 ? listOf(operands.b) : stepOf(ir, listOf(operands.b), step, scales.length);
    const { e, f } = operands;
    const product =
      e !== undefined && f !== undefined
        ? sparseProduct(ir, { a: operands.a, b, c: none, e, f }, scaled.form, 'f32')
        : mmaOf(ir, scaled.form, listOf(operands.a), b, none);
    return before.map((sum, i) => ir.fadd(sum, ir.fmul(ir.fpext('f64', product[i]!), factors[i]!)));
  }, start);
  return sums.map((sum) => ir.fptrunc('f32', sum));
}

// ── rows ──

const since = { ptx: 8.7, sm: 120 } as const;
const short = ['e4m3', 'e5m2', 'e3m2', 'e2m3', 'e2m1'] as const;
const metadata = { e: 'b32', f: 'u32' } as const;
const constants = { f: [0, 0] } as const;
const scaledTypes = { ...singles, s: 'b32', i: 'b16', t: 'b32', j: 'b16' } as const;
const scaledVectors = { ...vectors, i: 'elements', j: 'elements' } as const;
const dense = { d: 4, a: 4, b: 2, c: 4 } as const;
const thin = { d: 4, a: 4, b: 4, c: 4 } as const;
const pairs = { i: 2, j: 2 } as const;
const common = { isCollective: true, since, cases: () => [] } as const;
const plain = 'Multiplies matrices of 4- to 8-bit floats and adds a matrix.';
const sparse = 'Multiplies a sparse matrix of 4- to 8-bit floats by another matrix and adds a matrix.';
const four = 'Multiplies matrices of 4-bit floats with block scale factors and adds a matrix.';
const sparseFour = 'Multiplies a sparse matrix of 4-bit floats by another matrix, with block scale factors.';
const twice = [
  { scale: ['scale_vec::2X'], stype: ['ue4m3'] },
  { scale: ['scale_vec::4X'], stype: ['ue8m0'] },
] as const;

const countIn = (m: AnyModifiers): 1 | 2 | 4 => (m.scale === 'scale_vec::4X' ? 4 : m.scale === 'scale_vec::1X' ? 1 : 2);

const plainRows = (): Row[] =>
  (['f16', 'f32'] as const).flatMap((d) => [
    row({
      ...common,
      syntax: 'mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c',
      values: { dtype: [d], atype: short, btype: short, ctype: [d] },
      types: { d: registersOf[d], a: 'b32', b: 'b32', c: registersOf[d] },
      vectors,
      lanes: { ...dense, d: d === 'f16' ? 2 : 4, c: d === 'f16' ? 2 : 4 },
      source: '9.7.14.5',
      doc: `${plain}${cpu}`,
      status: rounded[d],
      lower(operands, m, ir) {
        ir.needsCpu('AIR has no products of floats of 4 to 8 bits');
        const sums = unpacked(ir, listOf(operands.c), d);
        return packed(ir, d, mmaOf(ir, `m16n8k32.${m.atype}.${m.btype}.f32`, listOf(operands.a), listOf(operands.b), sums));
      },
    }),
    row({
      ...common,
      syntax: 'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.dtype.atype.btype.ctype d, a, b, c, e, f',
      values: { dtype: [d], atype: short, btype: short, ctype: [d] },
      types: { d: registersOf[d], a: 'b32', b: 'b32', c: registersOf[d], ...metadata },
      vectors,
      constants,
      lanes: { ...thin, d: d === 'f16' ? 2 : 4, c: d === 'f16' ? 2 : 4 },
      source: '9.7.14.6',
      doc: `${sparse}${cpu}`,
      status: rounded[d],
      lower: (operands, m, ir) => sparseProduct(ir, operands, `m16n8k64.${m.atype}.${m.btype}.f32`, d),
    }),
  ]);

const scaledRows = (): Row[] => [
  row({
    ...common,
    syntax: 'mma.sync.aligned.m16n8k64.row.col.kind.block_scale{.scale}.f32.e2m1.e2m1.f32.stype d, a, b, c, s, i, t, j',
    values: { kind: ['kind::mxf4'], scale: ['scale_vec::2X'], stype: ['ue8m0'] },
    types: scaledTypes,
    vectors: scaledVectors,
    lanes: { ...dense, ...pairs },
    source: '9.7.14.5',
    doc: `${four}${cpu}`,
    status: rounded.f32,
    lower: (operands, m, ir) => scaledProduct(ir, operands, { form: 'm16n8k64.packed.packed.f32', count: 2, type: m.stype }),
  }),
  row({
    ...common,
    syntax: 'mma.sync.aligned.m16n8k64.row.col.kind.block_scale.scale.f32.e2m1.e2m1.f32.stype d, a, b, c, s, i, t, j',
    values: { kind: ['kind::mxf4nvf4'], scale: ['scale_vec::2X', 'scale_vec::4X'], stype: ['ue8m0', 'ue4m3'] },
    excludes: twice,
    types: scaledTypes,
    vectors: scaledVectors,
    lanes: { ...dense, ...pairs },
    source: '9.7.14.5',
    doc: `${four}${cpu}`,
    status: rounded.f32,
    lower: (operands, m, ir) => scaledProduct(ir, operands, { form: 'm16n8k64.packed.packed.f32', count: countIn(m), type: m.stype }),
  }),
  row({
    ...common,
    syntax: 'mma.sync.aligned.m16n8k32.row.col.kind.block_scale{.scale}.f32.atype.btype.f32.ue8m0 d, a, b, c, s, i, t, j',
    values: { kind: ['kind::mxf8f6f4'], scale: ['scale_vec::1X'], atype: short, btype: short },
    types: scaledTypes,
    vectors: scaledVectors,
    lanes: { ...dense, ...pairs },
    source: '9.7.14.5',
    doc: `${plain} Each row of a and column of b has a scale.${cpu}`,
    status: rounded.f32,
    lower: (operands, m, ir) => scaledProduct(ir, operands, { form: `m16n8k32.${m.atype}.${m.btype}.f32`, count: 1, type: 'ue8m0' }),
  }),
  row({
    ...common,
    syntax:
      'mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind.block_scale{.scale}.f32.e2m1.e2m1.f32.stype d, a, b, c, e, f, s, i, t, j',
    values: { kind: ['kind::mxf4'], scale: ['scale_vec::2X'], stype: ['ue8m0'] },
    types: { ...scaledTypes, ...metadata },
    vectors: scaledVectors,
    constants,
    lanes: { ...thin, ...pairs },
    source: '9.7.14.6',
    doc: `${sparseFour}${cpu}`,
    status: rounded.f32,
    lower: (operands, m, ir) => scaledProduct(ir, operands, { form: 'm16n8k128.packed.packed.f32', count: 2, type: m.stype }),
  }),
  row({
    ...common,
    syntax:
      'mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind.block_scale.scale.f32.e2m1.e2m1.f32.stype d, a, b, c, e, f, s, i, t, j',
    values: { kind: ['kind::mxf4nvf4'], scale: ['scale_vec::2X', 'scale_vec::4X'], stype: ['ue8m0', 'ue4m3'] },
    excludes: twice,
    types: { ...scaledTypes, ...metadata },
    vectors: scaledVectors,
    constants,
    lanes: { ...thin, ...pairs },
    source: '9.7.14.6',
    doc: `${sparseFour}${cpu}`,
    status: rounded.f32,
    lower: (operands, m, ir) => scaledProduct(ir, operands, { form: 'm16n8k128.packed.packed.f32', count: countIn(m), type: m.stype }),
  }),
  row({
    ...common,
    syntax:
      'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind.block_scale{.scale}.f32.atype.btype.f32.ue8m0 d, a, b, c, e, f, s, i, t, j',
    values: { kind: ['kind::mxf8f6f4'], scale: ['scale_vec::1X'], atype: short, btype: short },
    types: { ...scaledTypes, ...metadata },
    vectors: scaledVectors,
    constants,
    lanes: { ...thin, ...pairs },
    source: '9.7.14.6',
    doc: `${sparse} Each row of a and column of b has a scale.${cpu}`,
    status: rounded.f32,
    lower: (operands, m, ir) => scaledProduct(ir, operands, { form: `m16n8k64.${m.atype}.${m.btype}.f32`, count: 1, type: 'ue8m0' }),
  }),
];

export const scaledMmaRows = (): readonly Row[] => [...plainRows(), ...scaledRows()];
