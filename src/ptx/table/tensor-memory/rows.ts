/** Tensor memory (`tcgen05`). Layouts are those of the manual and of CUTLASS; no GPU was compared. Source: PTX ISA 9.0, 9.7.16. */
import type { Value } from '../../../ir/index.ts';
import { eachRank, pointerInRank, sharedOffsetMask } from '../../model/clusters.ts';
import { type AnyModifiers, type Row, type RowBuilder, row } from '../../model/row.ts';
import { barrierAt, step } from '../async/barrier-word.ts';
import { fence } from '../order.ts';
import { allocate, copyToTensor, cpuOnly, free, loadTensor, shiftTensor, storeTensor } from './moves.ts';
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
  isPair,
  kept,
  kindOf,
  lanes,
  listOf,
  multiplied,
  ofShared,
  ofTensor,
  productCommon,
  scaledKinds,
  since,
  stationary,
  vectors,
} from './row-parts.ts';
import { reductionRows, shiftedRows, sparseRows } from './sparse-rows.ts';
import { addressOf, int } from './words.ts';

const num = ['x1', 'x2', 'x4', 'x8', 'x16', 'x32', 'x64', 'x128'] as const;
const shape = ['16x64b', '16x128b', '16x256b', '32x32b'] as const;
/** At most 128 registers are possible. */
const tooMany = [
  { shape: ['16x128b', '16x256b'], num: ['x128'] },
  { shape: ['16x256b'], num: ['x64'] },
] as const;

const registersOf = ({ shape, num }: AnyModifiers): number =>
  ((({ '16x128b': 2, '16x256b': 4 }) as Record<string, number>)[String(shape)] ?? 1) * Number(String(num).slice(1));
const moveOf = (m: AnyModifiers, shape: string, isPacked: boolean) => ({ shape, count: registersOf(m), isPacked });

/** Columns between two parts. */
const apart = { b: [0, 511] } as const;
const common = { since, status: 'exact', cases: () => [] } as const;
const together = { ...common, isCollective: true } as const;
const onCpu = (_: unknown, __: unknown, ir: RowBuilder): void => ir.needsCpu(cpuOnly);

const columnRows = (): readonly Row[] => [
  row({
    ...together,
    syntax: 'tcgen05.alloc.group.sync.aligned{.shared::cta}.b32 [a], b',
    values: { group },
    types: { a: 'b64', b: 'u32' },
    source: '9.7.16.7',
    doc: `Allocates columns of tensor memory, the lowest that are free, and stores their address in shared memory. ${cpu}`,
    lower: ({ a, b }, m, ir) => allocate(ir, a, b, m['shared::cta'] ? 'shared' : undefined),
  }),
  row({
    ...together,
    syntax: 'tcgen05.dealloc.group.sync.aligned.b32 a, b',
    values: { group },
    types: { a: 'b32', b: 'u32' },
    source: '9.7.16.7',
    doc: `Frees columns of tensor memory. ${cpu}`,
    lower: ({ a, b }, _, ir) => free(ir, a, b),
  }),
  row({
    ...together,
    syntax: 'tcgen05.relinquish_alloc_permit.group.sync.aligned',
    values: { group },
    source: '9.7.16.7',
    doc: `Declares that the block allocates no more tensor memory, which no other block has. ${cpu}`,
    lower: onCpu,
  }),
];

const moveRows = (): readonly Row[] => [
  row({
    ...together,
    syntax: 'tcgen05.ld.sync.aligned.shape.num{.pack::16b}.b32 d, [a]',
    values: { shape, num },
    excludes: tooMany,
    types: { d: 'b32', a: 'b32' },
    spaces: { a: 'shared' },
    vectors: { d: 'elements' },
    lanes: { d: registersOf },
    source: '9.7.16.8',
    doc: `Loads tensor memory into registers. ${cpu}`,
    lower: ({ a }, m, ir) => loadTensor(ir, addressOf(ir, a), moveOf(m, m.shape, m['pack::16b'] === true)),
  }),
  row({
    ...together,
    syntax: 'tcgen05.ld.sync.aligned.16x32bx2.num{.pack::16b}.b32 d, [a], b',
    values: { num },
    types: { d: 'b32', a: 'b32', b: 's32' },
    constants: apart,
    spaces: { a: 'shared' },
    vectors: { d: 'elements' },
    lanes: { d: registersOf },
    source: '9.7.16.8',
    doc: `Loads two parts of tensor memory into registers. ${cpu}`,
    lower: ({ a, b }, m, ir) => loadTensor(ir, addressOf(ir, a), { ...moveOf(m, '16x32bx2', m['pack::16b'] === true), apart: b }),
  }),
  row({
    ...together,
    syntax: 'tcgen05.st.sync.aligned.shape.num{.unpack::16b}.b32 [a], b',
    values: { shape, num },
    excludes: tooMany,
    types: { a: 'b32', b: 'b32' },
    spaces: { a: 'shared' },
    vectors: { b: 'elements' },
    lanes: { b: registersOf },
    source: '9.7.16.8',
    doc: `Stores registers to tensor memory. Halves that are unpacked have zeros above. ${cpu}`,
    lower: ({ a, b }, m, ir) => storeTensor(ir, addressOf(ir, a), listOf(b), moveOf(m, m.shape, m['unpack::16b'] === true)),
  }),
  row({
    ...together,
    syntax: 'tcgen05.st.sync.aligned.16x32bx2.num{.unpack::16b}.b32 [a], b, c',
    values: { num },
    types: { a: 'b32', b: 's32', c: 'b32' },
    constants: apart,
    spaces: { a: 'shared' },
    vectors: { c: 'elements' },
    lanes: { c: registersOf },
    source: '9.7.16.8',
    doc: `Stores registers to two parts of tensor memory. Halves that are unpacked have zeros above. ${cpu}`,
    lower: ({ a, b, c }, m, ir) =>
      storeTensor(ir, addressOf(ir, a), listOf(c), { ...moveOf(m, '16x32bx2', m['unpack::16b'] === true), apart: b }),
  }),
  row({
    ...together,
    syntax: 'tcgen05.wait.sync.aligned',
    values: { wait: ['wait::ld', 'wait::st'] },
    source: '9.7.16.8',
    doc: `Waits for the loads or the stores of tensor memory, which are performed immediately. ${cpu}`,
    lower: onCpu,
  }),
];

/** Formats of fewer than 8 bits, whose numbers a copy puts into the middle of a byte each. */
const formats = ['b6x16_p32', 'b4x16_p64'] as const;
const widened = 'Copies shared memory into tensor memory, numbers of 6 or 4 bits into the middle of a byte each';

const copyRows = (): readonly Row[] => [
  row({
    ...common,
    syntax: 'tcgen05.cp.group.shape [a], b',
    values: { group, shape: ['128x256b', '4x256b', '128x128b'] },
    types: { a: 'b32', b: 'b64' },
    spaces: { a: 'shared' },
    source: '9.7.16.9',
    doc: `Copies shared memory into tensor memory. ${atOnce}`,
    lower: ({ a, b }, m, ir) => copyToTensor(ir, { address: addressOf(ir, a), descriptor: b, shape: m.shape, isPair: isPair(m.group) }),
  }),
  row({
    ...common,
    syntax: 'tcgen05.cp.group.64x128b.multicast [a], b',
    values: { group, multicast: ['warpx2::02_13', 'warpx2::01_23'] },
    types: { a: 'b32', b: 'b64' },
    spaces: { a: 'shared' },
    source: '9.7.16.9',
    doc: `Copies shared memory into tensor memory, for pairs of warps. ${atOnce}`,
    lower: ({ a, b }, { group, multicast }, ir) =>
      copyToTensor(ir, { address: addressOf(ir, a), descriptor: b, shape: '64x128b', multicast, isPair: isPair(group) }),
  }),
  row({
    ...common,
    syntax: 'tcgen05.cp.group.32x128b.warpx4 [a], b',
    values: { group },
    types: { a: 'b32', b: 'b64' },
    spaces: { a: 'shared' },
    source: '9.7.16.9',
    doc: `Copies shared memory into tensor memory, for all four warps. ${atOnce}`,
    lower: ({ a, b }, m, ir) => copyToTensor(ir, { address: addressOf(ir, a), descriptor: b, shape: '32x128b', isPair: isPair(m.group) }),
  }),
];

const narrowRows = (): readonly Row[] => [
  row({
    ...common,
    syntax: 'tcgen05.cp.group.shape.b8x16.format [a], b',
    values: { group, shape: ['128x256b', '4x256b', '128x128b'], format: formats },
    types: { a: 'b32', b: 'b64' },
    spaces: { a: 'shared' },
    source: '9.7.16.9',
    doc: `${widened}. ${atOnce}`,
    lower: ({ a, b }, { group, shape, format }, ir) =>
      copyToTensor(ir, { address: addressOf(ir, a), descriptor: b, shape, format, isPair: isPair(group) }),
  }),
  row({
    ...common,
    syntax: 'tcgen05.cp.group.64x128b.multicast.b8x16.format [a], b',
    values: { group, multicast: ['warpx2::02_13', 'warpx2::01_23'], format: formats },
    types: { a: 'b32', b: 'b64' },
    spaces: { a: 'shared' },
    source: '9.7.16.9',
    doc: `${widened}, for pairs of warps. ${atOnce}`,
    lower: ({ a, b }, { group, multicast, format }, ir) =>
      copyToTensor(ir, { address: addressOf(ir, a), descriptor: b, shape: '64x128b', multicast, format, isPair: isPair(group) }),
  }),
  row({
    ...common,
    syntax: 'tcgen05.cp.group.32x128b.warpx4.b8x16.format [a], b',
    values: { group, format: formats },
    types: { a: 'b32', b: 'b64' },
    spaces: { a: 'shared' },
    source: '9.7.16.9',
    doc: `${widened}, for all four warps. ${atOnce}`,
    lower: ({ a, b }, { group, format }, ir) =>
      copyToTensor(ir, { address: addressOf(ir, a), descriptor: b, shape: '32x128b', format, isPair: isPair(group) }),
  }),
  row({
    ...common,
    syntax: 'tcgen05.shift.group.down [a]',
    values: { group },
    types: { a: 'b32' },
    spaces: { a: 'shared' },
    source: '9.7.16.9',
    doc: `Moves 32 bytes of 31 of 32 lanes to the lane before; the last lane keeps its own. ${atOnce}`,
    lower: ({ a }, m, ir) => shiftTensor(ir, addressOf(ir, a), isPair(m.group)),
  }),
];

const one = (ir: RowBuilder): Value => int(ir, 1);

const orderRows = (): readonly Row[] => [
  row({
    ...common,
    syntax: 'tcgen05.fence',
    values: { fence: ['fence::before_thread_sync', 'fence::after_thread_sync'] },
    source: '9.7.16.11',
    doc: `Orders asynchronous operations before or after a synchronization of threads. ${cpu}`,
    lower(_, __, ir) {
      ir.needsCpu(cpuOnly);
      fence(ir, 'cta');
    },
  }),
  row({
    ...common,
    syntax: 'tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.b64 [a]',
    values: { group },
    types: { a: 'b64' },
    source: '9.7.16.12',
    doc: `Arrives at a barrier in memory, since all asynchronous operations of the thread are complete. ${cpu}`,
    lower: ({ a }, m, ir) => void step(ir, barrierAt(ir, a, m['shared::cluster'] ? 'shared::cluster' : undefined), { arrives: one(ir) }),
  }),
  row({
    ...common,
    syntax: 'tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}.multicast::cluster.b64 [a], b',
    values: { group },
    types: { a: 'b64', b: 'b16' },
    source: '9.7.16.12',
    doc: `Arrives at the barriers at the same place in several blocks, since all asynchronous operations of the thread are complete. ${cpu}`,
    lower({ a, b }, m, ir) {
      const barrier = barrierAt(ir, a, m['shared::cluster'] ? 'shared' : undefined);
      const own = ir.inttoptr('ptr.shared', ir.and(ir.ptrtoint('i64', barrier), ir.const('i64', sharedOffsetMask)));
      eachRank(ir, b, (rank) => void step(ir, pointerInRank(ir, own, rank), { arrives: one(ir) }));
    },
  }),
];

const floatRows = (): readonly Row[] =>
  (['', ' o,'] as const).flatMap((lanesOrNone) => {
    // Two rows, since the masks of lanes and the power of two are both optional; without masks first.
    const masks = lanesOrNone === '' ? {} : { vectors, lanes };
    return [
      row({
        ...productCommon,
        ...masks,
        syntax: `tcgen05.mma.group.kind{.collector} [c], a, b, i,${lanesOrNone} e{, z}`,
        values: { group, kind: floats, collector: collectors },
        types: inShared,
        spaces: ofShared,
        constants,
        doc: `Multiplies matrices in shared memory and adds to tensor memory. ${kept} ${atOnce}`,
        lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: byOf(m.group), isInTensor: false }),
      }),
      row({
        ...productCommon,
        ...masks,
        syntax: `tcgen05.mma.group.kind{.collector} [c], [a], b, i,${lanesOrNone} e{, z}`,
        values: { group, kind: floats, collector: collectors },
        types: inTensor,
        spaces: ofTensor,
        constants,
        doc: `Multiplies a matrix in tensor memory by one in shared memory and adds to tensor memory. ${kept} ${atOnce}`,
        lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: byOf(m.group), isInTensor: true }),
      }),
    ];
  });

const productRows = (): readonly Row[] => [
  row({
    ...integerCommon,
    syntax: 'tcgen05.mma.group.kind::i8{.collector} [c], a, b, i{, o}, e',
    values: { group, collector: collectors },
    types: inShared,
    spaces: ofShared,
    vectors,
    lanes,
    doc: `Multiplies matrices of bytes in shared memory and adds to tensor memory. ${kept} ${atOnce}`,
    lower: (given, m, ir) => multiplied(ir, given, { kind: 'i8', by: byOf(m.group), isInTensor: false }),
  }),
  row({
    ...integerCommon,
    syntax: 'tcgen05.mma.group.kind::i8{.collector} [c], [a], b, i{, o}, e',
    values: { group, collector: collectors },
    types: inTensor,
    spaces: ofTensor,
    vectors,
    lanes,
    doc: `Multiplies a matrix of bytes in tensor memory by one in shared memory and adds to tensor memory. ${kept} ${atOnce}`,
    lower: (given, m, ir) => multiplied(ir, given, { kind: 'i8', by: byOf(m.group), isInTensor: true }),
  }),
  row({
    ...productCommon,
    syntax: 'tcgen05.mma.group.kind.block_scale{.scale}{.collector} [c], a, b, i, [s], [t], e',
    values: { group, kind: scaledKinds, scale: factors, collector: collectors },
    excludes: blocks,
    types: inShared,
    spaces: ofShared,
    doc: `Multiplies matrices in shared memory with block scale factors and adds to tensor memory. ${kept} ${atOnce}`,
    lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: byOf(m.group), isInTensor: false, block: blockOf(m) }),
  }),
  row({
    ...productCommon,
    syntax: 'tcgen05.mma.group.kind.block_scale{.scale}{.collector} [c], [a], b, i, [s], [t], e',
    values: { group, kind: scaledKinds, scale: factors, collector: collectors },
    excludes: blocks,
    types: inTensor,
    spaces: ofTensor,
    doc: `Multiplies a matrix in tensor memory by one in shared memory with block scale factors. ${kept} ${atOnce}`,
    lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: byOf(m.group), isInTensor: true, block: blockOf(m) }),
  }),
];

const weightRows = (): readonly Row[] =>
  ([productCommon, integerCommon] as const).flatMap((each) => {
    const kind = each === integerCommon ? (['kind::i8'] as const) : floats;
    return [
      row({
        ...each,
        syntax: 'tcgen05.mma.ws.cta_group::1.kind{.collector} [c], a, b, i, e{, o}',
        values: { kind, collector: stationary },
        types: { ...inShared, o: 'b64' },
        spaces: ofShared,
        doc: `Multiplies matrices in shared memory; the hardware may keep the second one for later products. A descriptor makes columns of it zeros. ${kept} ${atOnce}`,
        lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: 'stationary', isInTensor: false }),
      }),
      row({
        ...each,
        syntax: 'tcgen05.mma.ws.cta_group::1.kind{.collector} [c], [a], b, i, e{, o}',
        values: { kind, collector: stationary },
        types: { ...inTensor, o: 'b64' },
        spaces: ofTensor,
        doc: `Multiplies a matrix in tensor memory by one in shared memory; the hardware may keep the latter for later products. A descriptor makes columns of it zeros. ${kept} ${atOnce}`,
        lower: (given, m, ir) => multiplied(ir, given, { kind: kindOf(m.kind), by: 'stationary', isInTensor: true }),
      }),
    ];
  });

export const tensorMemoryRows = (): readonly Row[] => [
  ...columnRows(),
  ...moveRows(),
  ...reductionRows(),
  ...copyRows(),
  ...narrowRows(),
  ...orderRows(),
  ...floatRows(),
  ...productRows(),
  ...weightRows(),
  ...shiftedRows(),
  ...sparseRows(),
];
