/** Asynchronous stores and reductions, and stores of many bytes. Source: PTX ISA 9.0, 9.7.9.12, 9.7.9.13 and 9.7.13.7. */
import type { Value } from '../../../ir/index.ts';
import { type Row, type RowBuilder, row } from '../../model/row.ts';
import { bitsOfType, isSignedType } from '../../model/types.ts';
import { fence } from '../order.ts';
import { barrierAt, step } from './barrier-word.ts';
import { joining } from './bulk.ts';
import { clearBytes } from './bulk-copy.ts';

const hopper = { ptx: 8.1, sm: 90 } as const;
const signal = 'mbarrier::complete_tx::bytes' as const;
const words = ['b32', 'b64', 'u32', 'u64', 's32', 's64', 'f32', 'f64'] as const;
const narrow = ['b8', 'b16', 'u8', 'u16', 's8', 's16'] as const;
const atOnce = 'It is performed immediately.';
const shared = { a: 'shared', mbar: 'shared' } as const;

/** Stores values one behind the other. */
function storeAll(ir: RowBuilder, to: Value, values: readonly Value[], bytes: number): void {
  for (const [i, value] of values.entries())
    ir.store(i === 0 ? to : ir.ptradd(to, ir.const('i64', i * bytes)), value, { align: bytes, volatile: false });
}

const storeRows = (): readonly Row[] => [
  row({
    syntax: `st.async{.weak}{.shared::cluster}.${signal}{.vec}.type [a], b, [mbar]`,
    values: { vec: ['v2', 'v4'], type: words },
    excludes: [{ vec: ['v4'], type: ['b64', 'u64', 's64', 'f64'] }],
    types: { mbar: 'b64' },
    vectors: { b: 'elements' },
    spaces: shared,
    since: hopper,
    doc: `Stores to shared memory of the cluster and signals an mbarrier. ${atOnce}`,
    source: '9.7.9.12',
    status: 'exact',
    lower({ a, b, mbar }, { type }, ir) {
      const values = typeof b === 'number' ? [b] : b;
      const bytes = bitsOfType(type) / 8;
      const barrier = barrierAt(ir, mbar, 'shared::cluster');
      storeAll(ir, ir.pointer(a, 'shared::cluster'), values, bytes);
      step(ir, barrier, { completes: ir.const('i32', values.length * bytes) });
    },
    cases: () => [],
  }),
  row({
    syntax: 'st.async{.mmio}.release.scope{.global}.type [a], b',
    values: { scope: ['gpu', 'sys'], type: [...narrow, ...words] },
    spaces: { a: 'global' },
    since: { ptx: 8.7, sm: 100 },
    doc: `Stores after all earlier stores. ${atOnce}`,
    source: '9.7.9.12',
    status: 'exact',
    lower({ a, b }, { scope, type }, ir) {
      fence(ir, scope);
      ir.store(ir.pointer(a, 'global'), b, { align: bitsOfType(type) / 8, volatile: true });
    },
    cases: () => [],
  }),
  row({
    syntax: 'st.bulk{.weak}{.shared::cta} [a], size, value',
    types: { a: 'b8', size: 'b64', value: 'b64' },
    constants: { value: [0, 0] },
    spaces: { a: 'shared' },
    since: { ptx: 8.6, sm: 100 },
    doc: 'Sets shared memory to 0.',
    source: '9.7.9.13',
    status: 'exact',
    lower: ({ a, size }, m, ir) => clearBytes(ir, ir.pointer(a, m['shared::cta'] ? 'shared' : 'generic'), size),
    cases: () => [],
  }),
];

const integers = ['u32', 's32', 'u64', 'b32'] as const;

const reduceRows = (): readonly Row[] => [
  row({
    syntax: `red.async.relaxed.cluster{.shared::cluster}.${signal}.op.type [a], b, [mbar]`,
    values: { op: ['inc', 'dec', 'min', 'max', 'add', 'and', 'or', 'xor'], type: integers },
    excludes: joining({ and: ['b32'], add: ['u32', 's32', 'u64'], inc: ['u32'], min: ['u32', 's32'] }, integers),
    types: { mbar: 'b64' },
    spaces: shared,
    since: hopper,
    doc: `Reduces into shared memory of the cluster, and signals an mbarrier. ${atOnce}`,
    source: '9.7.13.7',
    status: 'exact',
    lower({ a, b, mbar }, { op, type }, ir) {
      const barrier = barrierAt(ir, mbar, 'shared::cluster');
      const rmw = op === 'min' || op === 'max' ? (`${isSignedType(type) ? 's' : 'u'}${op}` as const) : op;
      ir.atomic(ir.pointer(a, 'shared::cluster'), b, { rmw });
      step(ir, barrier, { completes: ir.const('i32', bitsOfType(type) / 8) });
    },
    cases: () => [],
  }),
  row({
    syntax: 'red.async{.mmio}.release.gpu{.global}.add.type [a], b',
    values: { type: ['u32', 's32', 'u64', 's64'] },
    spaces: { a: 'global' },
    since: { ptx: 8.7, sm: 100 },
    doc: `Adds to memory after all earlier stores. ${atOnce}`,
    source: '9.7.13.7',
    status: 'exact',
    lower({ a, b }, _, ir) {
      fence(ir, 'gpu');
      ir.atomic(ir.pointer(a, 'global'), b, { rmw: 'add' });
    },
    cases: () => [],
  }),
];

export const asyncStoreRows = (): readonly Row[] => storeRows();
export const asyncReductionRows = (): readonly Row[] => reduceRows();
