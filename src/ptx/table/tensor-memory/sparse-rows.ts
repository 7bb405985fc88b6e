/** Tensor memory: loads with a reduction, and products that shift a factor or have a sparse one. Source: PTX ISA 9.0, 9.7.16.8 and 9.7.16.10. */
import type { Value } from '../../../ir/index.ts';
import { type AnyModifiers, type Row, type RowBuilder, row } from '../../model/row.ts';
import { orNan } from '../compose.ts';
import { loadTensor } from './moves.ts';
import {
  atOnce,
  blockOf,
  blocks,
  byOf,
  collectors,
  constants,
  cpu,
  factors,
  floats,
  group,
  inShared,
  inTensor,
  integerCommon,
  kept,
  kindOf,
  lanes,
  multiplied,
  ofShared,
  ofTensor,
  productCommon,
  scaledKinds,
  stationary,
  vectors,
} from './row-parts.ts';
import { addressOf } from './words.ts';

// ── loads with a reduction ──

const num = ['x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] as const;
const ops = ['min', 'max'] as const;
const registersOf = ({ num }: AnyModifiers): number => Number(String(num).slice(1));

interface Reduction {
  readonly op: (typeof ops)[number];
  readonly abs?: true;
  readonly NaN?: true;
}

/** The registers of a load as floats, and the least or the greatest of them. */
function reducedFloats(ir: RowBuilder, words: readonly Value[], { op, abs, NaN: keepsNan }: Reduction) {
  const d = words.map((word) => ir.bitcast('f32', word));
  const r = d
    .map((value) => (abs ? ir.fabs(value) : value))
    .reduce((a, b) => (keepsNan ? orNan(ir, a, b, ir[`f${op}`](a, b)) : ir[`f${op}`](a, b)));
  return { d, r };
}

const reducedWords = (ir: RowBuilder, d: readonly Value[], { op, type }: { readonly op: (typeof ops)[number]; readonly type: string }) => ({
  d,
  r: d.reduce((a, b) => ir[`${type === 's32' ? 's' : 'u'}${op}`](a, b)),
});

const reduction = {
  since: { ptx: 8.8, sm: 101 },
  status: 'exact',
  isCollective: true,
  source: '9.7.16.8',
  cases: () => [],
} as const;
const apart = { b: [0, 511] } as const;
const ofFloats = 'the least or the greatest float of each thread. NaNs do not count, unless with `.NaN`.';
const ofWords = 'the least or the greatest integer of each thread.';

export const reductionRows = (): readonly Row[] => [
  row({
    ...reduction,
    syntax: 'tcgen05.ld.red.sync.aligned.32x32b.num.op{.abs}{.NaN}.f32 d, r, [a]',
    values: { num, op: ops },
    types: { d: 'f32', r: 'f32', a: 'b32' },
    spaces: { a: 'shared' },
    vectors: { d: 'elements' },
    lanes: { d: registersOf },
    doc: `Loads tensor memory into registers, and ${ofFloats} ${cpu}`,
    lower: ({ a }, m, ir) =>
      reducedFloats(ir, loadTensor(ir, addressOf(ir, a), { shape: '32x32b', count: registersOf(m), isPacked: false }), m),
  }),
  row({
    ...reduction,
    syntax: 'tcgen05.ld.red.sync.aligned.16x32bx2.num.op{.abs}{.NaN}.f32 d, r, [a], b',
    values: { num, op: ops },
    types: { d: 'f32', r: 'f32', a: 'b32', b: 's32' },
    constants: apart,
    spaces: { a: 'shared' },
    vectors: { d: 'elements' },
    lanes: { d: registersOf },
    doc: `Loads two parts of tensor memory into registers, and ${ofFloats} ${cpu}`,
    lower: ({ a, b }, m, ir) =>
      reducedFloats(ir, loadTensor(ir, addressOf(ir, a), { shape: '16x32bx2', count: registersOf(m), isPacked: false, apart: b }), m),
  }),
  row({
    ...reduction,
    syntax: 'tcgen05.ld.red.sync.aligned.32x32b.num.op.type d, r, [a]',
    values: { num, op: ops, type: ['u32', 's32'] },
    types: { a: 'b32', d: 'b32', r: 'b32' },
    spaces: { a: 'shared' },
    vectors: { d: 'elements' },
    lanes: { d: registersOf },
    doc: `Loads tensor memory into registers, and ${ofWords} ${cpu}`,
    lower: ({ a }, m, ir) =>
      reducedWords(ir, loadTensor(ir, addressOf(ir, a), { shape: '32x32b', count: registersOf(m), isPacked: false }), m),
  }),
  row({
    ...reduction,
    syntax: 'tcgen05.ld.red.sync.aligned.16x32bx2.num.op.type d, r, [a], b',
    values: { num, op: ops, type: ['u32', 's32'] },
    types: { a: 'b32', d: 'b32', r: 'b32', b: 's32' },
    constants: apart,
    spaces: { a: 'shared' },
    vectors: { d: 'elements' },
    lanes: { d: registersOf },
    doc: `Loads two parts of tensor memory into registers, and ${ofWords} ${cpu}`,
    lower: ({ a, b }, m, ir) =>
      reducedWords(ir, loadTensor(ir, addressOf(ir, a), { shape: '16x32bx2', count: registersOf(m), isPacked: false, apart: b }), m),
  }),
];

// ── products that shift a ──

/** Shifted rows cannot be kept in a collector buffer. */
const shifted = [{ ashift: ['ashift'], collector: ['collector::a::fill', 'collector::a::use'] }] as const;
const shifts = 'The rows of the former are shifted afterwards, as by `tcgen05.shift`.';

export const shiftedRows = (): readonly Row[] => [
  ...(['', ' o,'] as const).map((masks) =>
    row({
      ...productCommon,
      ...(masks === '' ? {} : { vectors, lanes }),
      syntax: `tcgen05.mma.group.kind.ashift{.collector} [c], [a], b, i,${masks} e{, z}`,
      values: { group, kind: floats, collector: collectors },
      excludes: shifted,
      types: inTensor,
      spaces: ofTensor,
      constants,
      doc: `Multiplies a matrix in tensor memory by one in shared memory and adds to tensor memory. ${shifts} ${kept} ${atOnce}`,
      lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: byOf(m.group), isInTensor: true, isShifted: true }),
    }),
  ),
  row({
    ...integerCommon,
    syntax: 'tcgen05.mma.group.kind::i8.ashift{.collector} [c], [a], b, i{, o}, e',
    values: { group, collector: collectors },
    excludes: shifted,
    types: inTensor,
    spaces: ofTensor,
    vectors,
    lanes,
    doc: `Multiplies a matrix of bytes in tensor memory by one in shared memory and adds to tensor memory. ${shifts} ${kept} ${atOnce}`,
    lower: (given, m, ir) => multiplied(ir, given, { kind: 'i8', by: byOf(m.group), isInTensor: true, isShifted: true }),
  }),
];

// ── sparse products ──

const zeros = 'Metadata in tensor memory say where the zeros of the former are.';

/** Where a is, and whether it is shifted: rows with the same modifiers differ in `[a]` alone. */
const places = [
  { form: '', isInTensor: false, isShifted: false },
  { form: '', isInTensor: true, isShifted: false },
  { form: '.ashift', isInTensor: true, isShifted: true },
] as const;
type Place = (typeof places)[number];

const operandOf = ({ isInTensor }: Pick<Place, 'isInTensor'>): 'a' => (isInTensor ? ('[a]' as 'a') : 'a');
const typesOf = ({ isInTensor }: Pick<Place, 'isInTensor'>) => ({
  types: isInTensor ? inTensor : inShared,
  spaces: (isInTensor ? ofTensor : ofShared) as typeof ofShared,
});
const factorsOf = (what: string, { isInTensor, isShifted }: Place): string =>
  `Multiplies a sparse matrix${what} in ${isInTensor ? 'tensor' : 'shared'} memory by one in shared memory and adds to tensor memory. ${zeros}${isShifted ? ` ${shifts}` : ''} ${kept} ${atOnce}`;

const floatRows = (): readonly Row[] =>
  (['', ' o,'] as const).flatMap((masks) =>
    places.map((place) =>
      row({
        ...productCommon,
        ...(masks === '' ? {} : { vectors, lanes }),
        ...typesOf(place),
        syntax: `tcgen05.mma.sp.group.kind${place.form}{.collector} [c], ${operandOf(place)}, b, [m], i,${masks} e{, z}`,
        values: { group, kind: floats, collector: collectors },
        excludes: place.isShifted ? shifted : [],
        constants,
        doc: factorsOf('', place),
        lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: byOf(m.group), ...place }),
      }),
    ),
  );

const integerRows = (): readonly Row[] =>
  places.map((place) =>
    row({
      ...integerCommon,
      ...typesOf(place),
      syntax: `tcgen05.mma.sp.group.kind::i8${place.form}{.collector} [c], ${operandOf(place)}, b, [m], i{, o}, e`,
      values: { group, collector: collectors },
      excludes: place.isShifted ? shifted : [],
      vectors,
      lanes,
      doc: factorsOf(' of bytes', place),
      lower: (given, m, ir) => multiplied(ir, given, { kind: 'i8', by: byOf(m.group), ...place }),
    }),
  );

const scaledRows = (): readonly Row[] =>
  ([false, true] as const).map((isInTensor) =>
    row({
      ...productCommon,
      ...typesOf({ isInTensor }),
      syntax: `tcgen05.mma.sp.group.kind.block_scale{.scale}{.collector} [c], ${operandOf({ isInTensor })}, b, [m], i, [s], [t], e`,
      values: { group, kind: scaledKinds, scale: factors, collector: collectors },
      excludes: blocks,
      doc: `Multiplies a sparse matrix in ${isInTensor ? 'tensor' : 'shared'} memory by one in shared memory with block scale factors. ${zeros} ${kept} ${atOnce}`,
      lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: byOf(m.group), isInTensor, block: blockOf(m) }),
    }),
  );

const weightRows = (): readonly Row[] =>
  ([productCommon, integerCommon] as const).flatMap((each) =>
    ([false, true] as const).map((isInTensor) =>
      row({
        ...each,
        ...typesOf({ isInTensor }),
        syntax: `tcgen05.mma.ws.sp.cta_group::1.kind{.collector} [c], ${operandOf({ isInTensor })}, b, [m], i, e{, o}`,
        values: { kind: each === integerCommon ? (['kind::i8'] as const) : floats, collector: stationary },
        types: { ...(isInTensor ? inTensor : inShared), o: 'b64' },
        doc: `Multiplies a sparse matrix in ${isInTensor ? 'tensor' : 'shared'} memory by one in shared memory; the hardware may keep the latter for later products. A descriptor makes columns of it zeros. Of fewer than 128 rows the first copy of the metadata is read. ${atOnce}`,
        lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: 'stationary', isInTensor }),
      }),
    ),
  );

export const sparseRows = (): readonly Row[] => [...floatRows(), ...integerRows(), ...scaledRows(), ...weightRows()];
