/** Bulk copies between global and shared memory, and reductions. Source: PTX ISA 9.0, 9.7.9.25.4. */

import type { Value } from '../../../ir/index.ts';
import { eachRank, pointerInRank } from '../../model/clusters.ts';
import { type AddressOperand, type Row, type RowBuilder, row } from '../../model/row.ts';
import { barrierAt, step } from './barrier-word.ts';
import { copyBytes, copyMasked, type Reduction, reduceBytes } from './bulk-copy.ts';

const hopper = { ptx: 8, sm: 90 } as const;
const blackwell = { ptx: 8.6, sm: 100 } as const;
const ops = ['and', 'or', 'xor', 'add', 'inc', 'dec', 'min', 'max'] as const;
const ignore = (): void => {};
const atOnce = 'The copy is performed immediately.';
const hinted = { policy: 'L2::cache_hint' } as const;

/** Conflicting operations and types, if each kind of operation has types of its own; `and` and the others stand for their kind. */
export const joining = (taken: Readonly<Record<'and' | 'add' | 'inc' | 'min', readonly string[]>>, types: readonly string[]) =>
  ([['and', 'or', 'xor'], ['add'], ['inc', 'dec'], ['min', 'max']] as const).map((op) => ({
    op,
    type: types.filter((type) => !taken[op[0]].includes(type)),
  }));

interface Inward {
  readonly to: AddressOperand;
  readonly a: AddressOperand;
  readonly size: Value;
  readonly mbar: AddressOperand;
}

/** Does something with the bytes of a copy into shared memory, and tells the barrier that they have arrived. */
function inward(ir: RowBuilder, { to, a, size, mbar }: Inward, from: 'global' | 'shared', move: (to: Value, from: Value) => void): void {
  const barrier = barrierAt(ir, mbar, 'shared::cluster');
  move(ir.pointer(to, 'shared::cluster'), ir.pointer(a, from));
  step(ir, barrier, { completes: size });
}

const shared = { to: 'shared', a: 'shared', mbar: 'shared' } as const;

const inwardRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes{.L2::cache_hint} [to], [a], size, [mbar]{, policy}',
    types: { to: 'b8', a: 'b8', mbar: 'b64', size: 'u32', policy: 'b64' },
    onlyWith: hinted,
    spaces: { ...shared, a: 'global' },
    since: hopper,
    doc: `Copies into shared memory and signals an mbarrier. ${atOnce}`,
    source: '9.7.9.25.4.1',
    status: 'exact',
    lower: (given, _, ir) => inward(ir, given, 'global', (to, from) => copyBytes(ir, to, from, given.size)),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes{.L2::cache_hint} [to], [a], size, [mbar]{, policy}',
    types: { to: 'b8', a: 'b8', mbar: 'b64', size: 'u32', policy: 'b64' },
    onlyWith: hinted,
    spaces: { ...shared, a: 'global' },
    since: blackwell,
    doc: `Copies into the shared memory of this block and signals its mbarrier. ${atOnce}`,
    source: '9.7.9.25.4.1',
    status: 'exact',
    lower: (given, _, ir) => inward(ir, given, 'global', (to, from) => copyBytes(ir, to, from, given.size)),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [to], [a], size, [mbar]',
    types: { to: 'b8', a: 'b8', mbar: 'b64', size: 'u32' },
    spaces: shared,
    since: hopper,
    doc: `Copies from the shared memory of this block to that of the cluster. ${atOnce}`,
    source: '9.7.9.25.4.1',
    status: 'exact',
    lower: (given, _, ir) => inward(ir, given, 'shared', (to, from) => copyBytes(ir, to, from, given.size)),
    cases: () => [],
  }),
  row({
    syntax: 'cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.op.type [to], [a], size, [mbar]',
    values: { op: ops, type: ['s32', 'u32', 'u64', 'b32'] },
    excludes: joining({ and: ['b32'], add: ['u32', 's32', 'u64'], inc: ['u32'], min: ['s32', 'u32'] }, ['s32', 'u32', 'u64', 'b32']),
    types: { mbar: 'b64', size: 'u32' },
    spaces: shared,
    since: hopper,
    doc: `Reduces shared memory into that of the cluster, each element atomically. ${atOnce}`,
    source: '9.7.9.25.4.2',
    status: 'exact',
    lower: (given, { op, type }, ir) =>
      inward(ir, given, 'shared', (to, from) => reduceBytes(ir, [to, from, given.size], op as Reduction, type)),
    cases: () => [],
  }),
];

const multicastRows = (): readonly Row[] => [
  row({
    syntax:
      'cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster{.L2::cache_hint} [to], [a], size, [mbar], mask{, policy}',
    types: { to: 'b8', a: 'b8', mbar: 'b64', size: 'u32', mask: 'b16', policy: 'b64' },
    onlyWith: hinted,
    spaces: { ...shared, a: 'global' },
    since: hopper,
    doc: `Copies to the same place in the shared memory of each block of a mask, and signals the mbarrier at the same place there. ${atOnce}`,
    source: '9.7.9.25.4.1',
    status: 'exact',
    lower({ to, a, size, mbar, mask }, _, ir) {
      const [barrier, place, from] = [barrierAt(ir, mbar, 'shared'), ir.pointer(to, 'shared'), ir.pointer(a, 'global')];
      eachRank(ir, mask, (rank) => {
        copyBytes(ir, pointerInRank(ir, place, rank), from, size);
        step(ir, pointerInRank(ir, barrier, rank), { completes: size });
      });
    },
    cases: () => [],
  }),
];

const outward = { to: 'global', a: 'shared' } as const;
const reduced = ['f16', 'bf16', 'b32', 'u32', 's32', 'b64', 'u64', 's64', 'f32', 'f64'] as const;

interface Outward {
  readonly to: AddressOperand;
  readonly a: AddressOperand;
  readonly size: Value;
}

const placesOf = (ir: RowBuilder, { to, a, size }: Outward): [Value, Value, Value] => [
  ir.pointer(to, 'global'),
  ir.pointer(a, 'shared'),
  size,
];

const outwardRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint} [to], [a], size{, policy}',
    types: { to: 'b8', a: 'b8', size: 'u32', policy: 'b64' },
    onlyWith: hinted,
    spaces: outward,
    since: hopper,
    doc: `Copies from shared memory to global memory. ${atOnce}`,
    source: '9.7.9.25.4.1',
    status: 'exact',
    lower: (given, _, ir) => copyBytes(ir, ...placesOf(ir, given)),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.cp_mask [to], [a], size{, policy}, mask',
    types: { to: 'b8', a: 'b8', size: 'u32', policy: 'b64', mask: 'b16' },
    onlyWith: hinted,
    spaces: outward,
    since: blackwell,
    doc: `Copies from shared memory to global memory, with a mask of bytes for every 16 bytes. ${atOnce}`,
    source: '9.7.9.25.4.1',
    status: 'exact',
    lower: (given, _, ir) => copyMasked(ir, placesOf(ir, given), given.mask),
    cases: () => [],
  }),
  row({
    syntax: 'cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.op.type [to], [a], size{, policy}',
    values: { op: ops, type: reduced },
    excludes: joining(
      {
        and: ['b32', 'b64'],
        add: ['u32', 's32', 'u64', 'f32', 'f64'],
        inc: ['u32'],
        min: ['u32', 's32', 'u64', 's64', 'f16', 'bf16'],
      },
      reduced,
    ),
    types: { size: 'u32', policy: 'b64' },
    onlyWith: hinted,
    spaces: outward,
    since: hopper,
    doc: `Reduces shared memory into global memory, each element atomically. ${atOnce}`,
    source: '9.7.9.25.4.2',
    status: 'exact',
    lower: (given, { op, type }, ir) => reduceBytes(ir, placesOf(ir, given), op as Reduction, type),
    cases: () => [],
  }),
  row({
    syntax: 'cp.reduce.async.bulk.global.shared::cta.bulk_group{.L2::cache_hint}.add.noftz.type [to], [a], size{, policy}',
    values: { type: ['f16', 'bf16'] },
    types: { size: 'u32', policy: 'b64' },
    onlyWith: hinted,
    spaces: outward,
    since: hopper,
    doc: `Adds halves in shared memory to global memory and keeps subnormals. ${atOnce}`,
    source: '9.7.9.25.4.2',
    status: 'exact',
    lower: (given, { type }, ir) => reduceBytes(ir, placesOf(ir, given), 'add', type),
    cases: () => [],
  }),
];

const groupRows = (): readonly Row[] => [
  row({
    syntax: 'cp.async.bulk.prefetch.L2.global{.L2::cache_hint} [a], size{, policy}',
    types: { a: 'b8', size: 'u32', policy: 'b64' },
    onlyWith: hinted,
    spaces: { a: 'global' },
    since: hopper,
    doc: 'Prefetches memory into the cache. Ignored, because it has no effect on results.',
    source: '9.7.9.25.4.3',
    status: 'exact',
    lower: ignore,
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.commit_group',
    since: hopper,
    doc: 'Closes the group of the bulk copies so far, which are already complete.',
    source: '9.7.9.25.6.1',
    status: 'exact',
    lower: (_, __, ir) => ir.orderPoint(),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.bulk.wait_group{.read} n',
    types: { n: 'u32' },
    constants: { n: [0, 0x7fffffff] },
    since: hopper,
    doc: 'Waits until all groups but the latest n are complete, or have read their sources, which they already have.',
    source: '9.7.9.25.6.2',
    status: 'exact',
    lower: (_, __, ir) => ir.orderPoint(),
    cases: () => [],
  }),
  row({
    syntax: 'cp.async.mbarrier.arrive{.noinc}{.space}.b64 [a]',
    values: { space: ['shared', 'shared::cta'] },
    types: { a: 'b64' },
    since: { ptx: 7, sm: 80 },
    doc: `Arrives at an mbarrier when the copies of this thread are complete, which they already are. Without \`.noinc\` it expects the arrival, too, so that nothing changes.`,
    source: '9.7.13.15.15',
    status: 'exact',
    lower({ a }, { noinc, space }, ir) {
      const barrier = barrierAt(ir, a, space);
      if (noinc) step(ir, barrier, { arrives: ir.const('i32', 1) });
      else ir.orderPoint(barrier);
    },
    cases: () => [],
  }),
];

export const bulkRows = (): readonly Row[] => [...inwardRows(), ...multicastRows(), ...outwardRows(), ...groupRows()];
