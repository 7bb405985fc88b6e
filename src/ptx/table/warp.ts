/**
 * Warp collectives. Source: PTX ISA 9.0, 9.7.9.5, 9.7.9.6 and 9.7.13.2 to 9.7.13.14. An instruction with a member mask becomes collectives by
 * that mask, for which the threads of the mask meet wherever they are. Those without a mask apply to the threads that execute them together.
 */
import type { Fold, Value } from '../../ir/index.ts';
import { type RowBuilder, row, type Withdrawn } from '../model/row.ts';
import { not } from './compose.ts';

const masked = { ptx: 6, sm: 30 } as const;
const volta = { ptx: 6, sm: 70 } as const;
/** Instructions without `.sync`: from sm_70 on no hardware guarantees which threads of a warp execute together. */
const withdrawnWithoutSync = (instead: string): Withdrawn => ({
  sm: 70,
  refused: 'it applies to the threads of a warp that execute together, which no hardware guarantees from sm_70 on',
  instead,
});
const inStep = 'The participants are the threads of the warp that execute it together.';
const word = (ir: RowBuilder, value: number): Value => ir.const('i32', value);
const low5 = (ir: RowBuilder, value: Value): Value => ir.and(value, word(ir, 31));
const laneOf = (ir: RowBuilder): Value => ir.once('laneid', () => ir.sreg('i32', { name: 'laneid' }));

/** A ballot of the threads of a mask, or of those that execute it together, for instructions without a mask. */
const votes = (ir: RowBuilder, predicate: Value, mask: Value | undefined): Value =>
  mask === undefined ? ir.ballot('i32', predicate) : ir.ballotsync('i32', predicate, mask);
const isNone = (ir: RowBuilder, lanes: Value): Value => ir.icmp(lanes, word(ir, 0), { pred: 'eq' });
/** The threads of a mask that have not exited. */
const activeLanes = (ir: RowBuilder, mask: Value): Value => votes(ir, ir.const('i1', 1), mask);
/** The index of the lowest lane in a mask. */
const lowestLane = (ir: RowBuilder, lanes: Value): Value => ir.clz(ir.bitrev(lanes));

/** The source lane, and whether it is valid; the names are the manual's. */
function sourceLane(ir: RowBuilder, mode: 'up' | 'down' | 'bfly' | 'idx', b: Value, c: Value): { j: Value; p: Value } {
  const lane = laneOf(ir);
  const bval = low5(ir, b);
  const segment = low5(ir, ir.lshr(c, word(ir, 8)));
  const free = ir.xor(segment, word(ir, 31));
  const minLane = ir.and(lane, segment);
  const maxLane = ir.or(minLane, ir.and(low5(ir, c), free));
  const j = {
    up: () => ir.sub(lane, bval),
    down: () => ir.add(lane, bval),
    bfly: () => ir.xor(lane, bval),
    idx: () => ir.or(minLane, ir.and(bval, free)),
  }[mode]();
  // No lane is above the last one of the warp.
  const isInWarp = (mode === 'bfly' || mode === 'idx') && ir.constantOf(maxLane) === 31n;
  return { j, p: isInWarp ? ir.const('i1', 1) : ir.icmp(j, maxLane, { pred: mode === 'up' ? 'sge' : 'sle' }) };
}

/** The value of the lane that `shfl` selects, or the thread's own value if that lane is invalid. */
function exchange(
  ir: RowBuilder,
  mode: 'up' | 'down' | 'bfly' | 'idx',
  { a, b, c, members }: { readonly a: Value; readonly b: Value; readonly c: Value; readonly members?: Value },
): { d: Value; p: Value } {
  const { j, p } = sourceLane(ir, mode, b, c);
  const from = ir.select(p, j, laneOf(ir));
  return { d: members === undefined ? ir.shuffle(a, from) : ir.shufflesync(a, from, members), p };
}

/** The vote of the threads of a mask. */
function vote(ir: RowBuilder, mode: 'all' | 'any' | 'uni', a: Value, mask: Value | undefined): Value {
  const none = isNone(ir, votes(ir, a, mask));
  if (mode === 'any') return not(ir, none);
  const all = isNone(ir, votes(ir, not(ir, a), mask));
  return mode === 'all' ? all : ir.or(none, all);
}

/** The lanes with the same bits as this one, by one vote per bit. */
function matchingLanes(ir: RowBuilder, a: Value, mask: Value): Value {
  const type = ir.typeOf(a);
  let lanes = activeLanes(ir, mask);
  for (let bit = 0; bit < (type === 'i64' ? 64 : 32); bit++) {
    const isSet = ir.icmp(ir.and(a, ir.const(type, 1n << BigInt(bit))), ir.const(type, 0), { pred: 'ne' });
    const set = ir.ballotsync('i32', isSet, mask);
    lanes = ir.and(lanes, ir.select(isSet, set, ir.xor(set, word(ir, -1))));
  }
  return lanes;
}

/** Whether all lanes have the bits of the lowest lane, 32 bits at a time. */
function isUniform(ir: RowBuilder, a: Value, mask: Value): Value {
  const first = lowestLane(ir, activeLanes(ir, mask));
  const words = ir.typeOf(a) === 'i64' ? [ir.trunc('i32', a), ir.trunc('i32', ir.lshr(a, ir.const('i64', 32)))] : [a];
  const differs = words.map((each) => ir.icmp(each, ir.shufflesync(each, first, mask), { pred: 'ne' }));
  return isNone(ir, votes(ir, differs.length > 1 ? ir.or(differs[0]!, differs[1]!) : differs[0]!, mask));
}

const foldOf = (op: string, type: string): Fold => (op === 'add' ? 'add' : (`${type[0] === 's' ? 's' : 'u'}${op}` as Fold));

/** The bits of a float, or back, as an integer that is ordered as floats are, -0 below +0. */
const orderedBits = (ir: RowBuilder, bits: Value): Value =>
  ir.xor(bits, ir.and(ir.ashr(bits, ir.const('i32', 31)), ir.const('i32', 0x7fff_ffff)));

interface Extreme {
  readonly value: Value;
  readonly mask: Value;
  readonly keepsNan: true | undefined;
}

/** The least or the greatest of the floats of a mask of threads; NaNs are beyond one end of the numbers. */
function extremeFloat(ir: RowBuilder, op: 'min' | 'max', { value, mask, keepsNan }: Extreme): Value {
  const isLow = (op === 'min') === (keepsNan === true);
  const nan = ir.const('i32', isLow ? 0x8000_0000 : 0x7fff_ffff);
  const ordered = ir.select(ir.fcmp(value, value, { pred: 'uno' }), nan, orderedBits(ir, ir.bitcast('i32', value)));
  const found = ir.reducesync(ordered, mask, { fold: `s${op}` });
  const bits = ir.select(ir.icmp(found, nan, { pred: 'eq' }), ir.const('i32', 0x7fff_ffff), orderedBits(ir, found));
  return ir.bitcast('f32', bits);
}

export const warpRows = [
  row({
    syntax: 'shfl.sync.mode.b32 d[|p], a, b, c, members',
    values: { mode: ['up', 'down', 'bfly', 'idx'] },
    types: { d: 'b32', p: 'pred', a: 'b32', b: 'b32', c: 'b32', members: 'b32' },
    since: masked,
    doc: 'The value of another lane of the warp, and whether that lane is valid. If not, the thread’s own value. c holds a clamp and, 8 bits up, a mask that splits the warp into segments.',
    source: '9.7.9.6',
    status: 'exact',
    isCollective: true,
    lower: (sources, { mode }, ir) => exchange(ir, mode, sources),
    cases: () => [
      { form: 'shfl.sync.idx.b32', a: 7, b: 0, c: 31, members: 1, d: 7, p: 1, why: 'lane 0 reads itself' },
      { form: 'shfl.sync.up.b32', a: 7, b: 1, c: 0, members: 1, d: 7, p: 0, why: 'no lane is below 0: its own value' },
      { form: 'shfl.sync.down.b32', a: 7, b: 1, c: 0, members: 1, d: 7, p: 0, why: 'lane 1 exceeds the clamp 0' },
      { form: 'shfl.sync.bfly.b32', a: 7, b: 0, c: 31, members: 1, d: 7, p: 1, why: '0 xor 0 is 0' },
    ],
  }),
  row({
    syntax: 'shfl.mode.b32 d[|p], a, b, c',
    values: { mode: ['up', 'down', 'bfly', 'idx'] },
    types: { d: 'b32', p: 'pred', a: 'b32', b: 'b32', c: 'b32' },
    since: { ptx: 3, sm: 30 },
    withdrawn: withdrawnWithoutSync('name the threads by a mask: `shfl.sync`, which is `__shfl_sync()`'),
    doc: `The value of another lane of the warp, as for \`shfl.sync\`. ${inStep}`,
    source: '9.7.9.5',
    status: 'exact',
    isCollective: true,
    lower: (sources, { mode }, ir) => exchange(ir, mode, sources),
    cases: () => [
      { form: 'shfl.idx.b32', a: 7, b: 0, c: 31, d: 7, p: 1, why: 'lane 0 reads itself' },
      { form: 'shfl.up.b32', a: 7, b: 1, c: 0, d: 7, p: 0, why: 'no lane is below 0: its own value' },
      { form: 'shfl.down.b32', a: 7, b: 1, c: 0, d: 7, p: 0, why: 'lane 1 exceeds the clamp 0' },
    ],
  }),
  row({
    syntax: 'bar.warp.sync a',
    types: { a: 'u32' },
    since: masked,
    doc: 'Waits for the threads of a mask. Their earlier writes are visible to them afterwards.',
    source: '9.7.13.2',
    status: 'exact',
    isCollective: true,
    lower({ a }, _, ir) {
      ir.warpsync(a, { isFence: true });
    },
    cases: () => [],
  }),
  row({
    syntax: 'vote.sync.mode.pred d, {!}a, b',
    values: { mode: ['all', 'any', 'uni'] },
    types: { d: 'pred', a: 'pred', b: 'u32' },
    since: masked,
    doc: 'Whether a predicate holds for all threads of a mask, for any, or is the same for all.',
    source: '9.7.13.9',
    status: 'exact',
    isCollective: true,
    lower: ({ a, b }, { mode }, ir) => vote(ir, mode, a, b),
    cases: () => [
      { form: 'vote.sync.all.pred', a: 1, b: 1, d: 1, why: 'true for the only thread' },
      { form: 'vote.sync.any.pred', a: 0, b: 1, d: 0, why: 'true for none' },
      { form: 'vote.sync.uni.pred', a: 0, b: 1, d: 1, why: 'uniform in a single thread' },
    ],
  }),
  row({
    syntax: 'vote.sync.ballot.b32 d, {!}a, b',
    types: { d: 'b32', a: 'pred', b: 'u32' },
    since: masked,
    doc: 'A mask of the threads for which a predicate holds, within a given mask.',
    source: '9.7.13.9',
    status: 'exact',
    isCollective: true,
    lower: ({ a, b }, _, ir) => votes(ir, a, b),
    cases: () => [
      { form: 'vote.sync.ballot.b32', a: 1, b: 1, d: 1, why: 'lane 0' },
      { form: 'vote.sync.ballot.b32', a: 0, b: 1, d: 0, why: 'the predicate is false' },
      { form: 'vote.sync.ballot.b32', a: 1, b: 0xffffffff, d: 1, why: 'exited lanes do not count' },
    ],
  }),
  row({
    syntax: 'vote.mode.pred d, {!}a',
    values: { mode: ['all', 'any', 'uni'] },
    types: { d: 'pred', a: 'pred' },
    since: { ptx: 1.2, sm: 12 },
    withdrawn: withdrawnWithoutSync('name the threads by a mask: `vote.sync`, which is `__all_sync()` or `__any_sync()`'),
    doc: `Whether a predicate holds for all threads, for any, or is the same for all. ${inStep}`,
    source: '9.7.13.8',
    status: 'exact',
    isCollective: true,
    lower: ({ a }, { mode }, ir) => vote(ir, mode, a, undefined),
    cases: () => [
      { form: 'vote.all.pred', a: 1, d: 1, why: 'true for the only thread' },
      { form: 'vote.any.pred', a: 0, d: 0, why: 'true for none' },
      { form: 'vote.uni.pred', a: 0, d: 1, why: 'uniform in a single thread' },
    ],
  }),
  row({
    syntax: 'vote.ballot.b32 d, {!}a',
    types: { d: 'b32', a: 'pred' },
    since: { ptx: 2, sm: 20 },
    withdrawn: withdrawnWithoutSync('name the threads by a mask: `vote.sync.ballot`, which is `__ballot_sync()`'),
    doc: `A mask of the threads for which a predicate holds. ${inStep}`,
    source: '9.7.13.8',
    status: 'exact',
    isCollective: true,
    lower: ({ a }, _, ir) => ir.ballot('i32', a),
    cases: () => [
      { form: 'vote.ballot.b32', a: 1, d: 1, why: 'lane 0; the others have exited' },
      { form: 'vote.ballot.b32', a: 0, d: 0, why: 'the predicate is false' },
      { form: 'vote.ballot.b32', a: 0xffffffffn, d: 1, why: 'a predicate has one bit' },
    ],
  }),
  row({
    syntax: 'match.any.sync.type d, a, b',
    values: { type: ['b32', 'b64'] },
    types: { d: 'b32', b: 'u32' },
    since: volta,
    doc: 'The threads of a mask that have the same value.',
    source: '9.7.13.10',
    status: 'exact',
    isCollective: true,
    lower: ({ a, b }, _, ir) => matchingLanes(ir, a, b),
    cases: () => [
      { form: 'match.any.sync.b32', a: 5, b: 1, d: 1, why: 'a thread matches itself' },
      { form: 'match.any.sync.b64', a: 0x8000000000000000n, b: 1, d: 1, why: 'all 64 bits are compared' },
      { form: 'match.any.sync.b32', a: 0, b: 0xffffffff, d: 1, why: 'exited lanes do not match' },
    ],
  }),
  row({
    syntax: 'match.all.sync.type d[|p], a, b',
    values: { type: ['b32', 'b64'] },
    types: { d: 'b32', p: 'pred', b: 'u32' },
    since: volta,
    doc: 'The threads of a mask if all of them have the same value, otherwise 0. `p` is whether they do.',
    source: '9.7.13.10',
    status: 'exact',
    isCollective: true,
    lower({ a, b }, _, ir) {
      const p = isUniform(ir, a, b);
      return { d: ir.select(p, activeLanes(ir, b), word(ir, 0)), p };
    },
    cases: () => [
      { form: 'match.all.sync.b32', a: 5, b: 1, d: 1, p: 1, why: 'uniform in a single thread' },
      { form: 'match.all.sync.b64', a: 0x100000000n, b: 1, d: 1, p: 1, why: '64-bit values' },
      { form: 'match.all.sync.b32', a: 0, b: 0xffffffff, d: 1, p: 1, why: 'exited lanes are not in the result' },
    ],
  }),
  row({
    syntax: 'activemask.b32 d',
    types: { d: 'b32' },
    since: { ptx: 6.2, sm: 30 },
    doc: 'The threads of the warp that execute it together. After divergence no hardware guarantees which those are.',
    source: '9.7.13.11',
    status: 'exact',
    isCollective: true,
    lower: (_, __, ir) => ir.ballot('i32', ir.const('i1', 1)),
    cases: () => [
      { form: 'activemask.b32', d: 1, why: 'lane 0, while the others jump over it' },
      { form: 'activemask.b32', d: 1, why: 'lane 0 again' },
      { form: 'activemask.b32', d: 1, why: 'the same again: one thread cannot vary' },
    ],
  }),
  row({
    syntax: 'redux.sync.op.type d, a, b',
    values: { op: ['add', 'min', 'max'], type: ['u32', 's32'] },
    types: { b: 'u32' },
    since: { ptx: 7, sm: 80 },
    doc: 'The sum, the minimum or the maximum of the values of a mask of threads.',
    source: '9.7.13.12',
    status: 'exact',
    isCollective: true,
    lower: ({ a, b }, { op, type }, ir) => ir.reducesync(a, b, { fold: foldOf(op, type) }),
    cases: () => [
      { form: 'redux.sync.add.u32', a: 5, b: 1, d: 5, why: 'the sum of one value' },
      { form: 'redux.sync.min.s32', a: 0x80000000, b: 1, d: 0x80000000, why: 'the minimum value' },
      { form: 'redux.sync.max.u32', a: 0, b: 1, d: 0, why: 'the minimum value' },
    ],
  }),
  row({
    syntax: 'redux.sync.op{.abs}{.NaN}.f32 d, a, b',
    values: { op: ['min', 'max'] },
    types: { d: 'f32', a: 'f32', b: 'u32' },
    since: { ptx: 8.6, sm: 100 },
    doc: 'The least or the greatest float of a mask of threads. NaNs do not count, unless with `.NaN`. +0 is greater than -0.',
    source: '9.7.13.12',
    status: 'exact',
    isCollective: true,
    lower: ({ a, b }, { op, abs, NaN: keepsNan }, ir) => extremeFloat(ir, op, { value: abs ? ir.fabs(a) : a, mask: b, keepsNan }),
    cases: () => [
      { form: 'redux.sync.min.f32', a: 0xc0000000, b: 1, d: 0xc0000000, why: 'one value' },
      { form: 'redux.sync.max.abs.f32', a: 0xc0000000, b: 1, d: 0x40000000, why: 'its absolute value' },
      { form: 'redux.sync.min.NaN.f32', a: 0x7fc00000, b: 1, d: 0x7fffffff, why: 'NaN' },
      { form: 'redux.sync.max.f32', a: 0xff800000, b: 1, d: 0xff800000, why: '-infinity is a number' },
    ],
  }),
  row({
    syntax: 'redux.sync.op.b32 d, a, b',
    values: { op: ['and', 'or', 'xor'] },
    types: { d: 'b32', a: 'b32', b: 'u32' },
    since: { ptx: 7, sm: 80 },
    doc: 'The bits of a mask of threads, combined.',
    source: '9.7.13.12',
    status: 'exact',
    isCollective: true,
    lower: ({ a, b }, { op }, ir) => ir.reducesync(a, b, { fold: op }),
    cases: () => [
      { form: 'redux.sync.and.b32', a: 0xf0, b: 1, d: 0xf0, why: 'absent lanes clear nothing' },
      { form: 'redux.sync.or.b32', a: 0xf0, b: 1, d: 0xf0, why: 'and set nothing' },
      { form: 'redux.sync.xor.b32', a: 0xffffffff, b: 1, d: 0xffffffff, why: 'one value' },
    ],
  }),
  row({
    syntax: 'elect.sync d|p, a',
    types: { d: 'b32', p: 'pred', a: 'u32' },
    since: { ptx: 8, sm: 90 },
    doc: 'Elects one thread of a mask: `d` is its lane, and `p` holds for it.',
    source: '9.7.13.14',
    status: 'exact',
    isCollective: true,
    lower({ a }, _, ir) {
      const d = lowestLane(ir, activeLanes(ir, a));
      return { d, p: ir.icmp(d, laneOf(ir), { pred: 'eq' }) };
    },
    cases: () => [
      { form: 'elect.sync', a: 1, d: 0, p: 1, why: 'the only thread' },
      { form: 'elect.sync', a: 0xffffffff, d: 0, p: 1, why: 'the lowest active lane' },
      { form: 'elect.sync', a: 0x80000001, d: 0, p: 1, why: 'lane 31 has exited' },
    ],
  }),
];
