/**
 * Collectives of a simdgroup or of a quadgroup, built from shuffles and ballots of the IR. Inactive threads are ignored.
 * Source: Metal Shading Language Specification 4, section 6.9.
 */
import { type Type as LlvmType, types as llvm } from '../../bitcode/types.ts';
import { type Builder, bitsOf, type Fold, isFloat, isScalar, type ScalarType, type Value } from '../../ir/index.ts';
import { llvmScalar } from '../llvm-scalar.ts';
import type { ElementFunction } from './row.ts';

const word = (b: Builder, value: bigint | number): Value => b.const('i32', value);
const lane = (b: Builder): Value => b.sreg('i32', { name: 'laneid' });
const allLanes = (b: Builder): Value => b.ballot('i32', b.const('i1', 1));
const no = (b: Builder, flag: Value): Value => b.xor(flag, b.const('i1', 1));

/** The threads that take part in a collective. */
interface Group {
  /** The number of threads. */
  readonly size: number;
  /** The lane of the group's first thread. */
  base(b: Builder): Value;
  /** The bits of the group's threads, shifted to bit 0. */
  groupBits(b: Builder, mask: Value): Value;
}

const groups: Readonly<Record<string, Group>> = {
  simd: { size: 32, base: (b) => word(b, 0), groupBits: (_, mask) => mask },
  quad: {
    size: 4,
    base: (b) => b.and(lane(b), word(b, -4)),
    groupBits: (b, mask) => b.and(b.lshr(mask, b.and(lane(b), word(b, -4))), word(b, 15)),
  },
};

type Make = (b: Builder, args: readonly Value[], group: Group, type: ScalarType, isSigned: boolean) => Value;

const lowestLane = (b: Builder, group: Group): Value => b.add(group.base(b), b.clz(b.bitrev(group.groupBits(b, allLanes(b)))));
const place = (b: Builder, { size }: Group): Value => b.and(lane(b), word(b, size - 1));
const wide = (b: Builder, operand: Value): Value => b.zext('i32', operand);

/** Shuffles from the position in the group that a function computes from the thread's own position and an operand. */
const shuffleFrom =
  (from: (b: Builder, own: Value, operand: Value) => Value): Make =>
  (b, [a, operand], group) => {
    const target = from(b, place(b, group), wide(b, operand!));
    const inside = b.and(target, word(b, group.size - 1));
    return b.shuffle(a!, b.add(group.base(b), inside));
  };

/** The same, but a thread keeps its own value if that position is outside of the group. */
const shuffleBy =
  (from: (b: Builder, own: Value, operand: Value) => Value): Make =>
  (b, [a, operand], group) => {
    const own = place(b, group);
    const target = from(b, own, wide(b, operand!));
    const inside = b.select(b.icmp(target, word(b, group.size), { pred: 'ult' }), target, own);
    return b.shuffle(a!, b.add(group.base(b), inside));
  };

/** Shuffles up or down within vectors of `modulo` lanes; lanes shifted in come from the opposite end of the second operand. */
const shuffleAndFill =
  (isUp: boolean): Make =>
  (b, [a, filling, delta, modulo], group) => {
    const last = b.sub(wide(b, modulo!), word(b, 1));
    const own = b.and(place(b, group), last);
    const target = isUp ? b.sub(own, wide(b, delta!)) : b.add(own, wide(b, delta!));
    const from = b.add(b.sub(lane(b), own), b.and(target, last));
    return b.select(b.icmp(target, last, { pred: 'ule' }), b.shuffle(a!, from), b.shuffle(filling!, from));
  };

type Combine = (b: Builder, x: Value, y: Value, type: ScalarType, isSigned: boolean) => Value;

const combine: Readonly<Record<string, Combine>> = {
  sum: (b, x, y, type) => (isFloat(type) ? b.fadd(x, y) : b.add(x, y)),
  product: (b, x, y, type) => (isFloat(type) ? b.fmul(x, y) : b.mul(x, y)),
  min: (b, x, y, type, isSigned) => (isFloat(type) ? b.fmin(x, y) : isSigned ? b.smin(x, y) : b.umin(x, y)),
  max: (b, x, y, type, isSigned) => (isFloat(type) ? b.fmax(x, y) : isSigned ? b.smax(x, y) : b.umax(x, y)),
  and: (b, x, y) => b.and(x, y),
  or: (b, x, y) => b.or(x, y),
  xor: (b, x, y) => b.xor(x, y),
};

const ones: Partial<Record<ScalarType, bigint>> = { f16: 0x3c00n, bf16: 0x3f80n, f32: 0x3f80_0000n };
const neutral = (b: Builder, name: string, type: ScalarType): Value => b.const(type, name === 'product' ? (ones[type] ?? 1n) : 0n);

interface Scanned {
  /** The reduction over the thread and all active threads below it. */
  readonly inclusive: Value;
  /** The next lower active lane; above 31 if there is none. */
  readonly below: Value;
  /** The highest active lane. */
  readonly last: Value;
}

/** An inclusive scan over the active threads of a simdgroup, from the lowest on, in five pointer-doubling steps. */
function scan(b: Builder, a: Value, name: string, type: ScalarType, isSigned: boolean): Scanned {
  const all = allLanes(b);
  const highest = (mask: Value): Value => b.sub(word(b, 31), b.clz(mask));
  const below = highest(b.and(all, b.sub(b.shl(word(b, 1), lane(b)), word(b, 1))));
  let [sum, next] = [a, below];
  for (let step = 0; step < 5; step++) {
    const hasPartner = b.icmp(next, word(b, 32), { pred: 'ult' });
    const other = b.shuffle(sum, next);
    const further = b.shuffle(next, next);
    sum = b.select(hasPartner, combine[name]!(b, other, sum, type, isSigned), sum);
    next = b.select(hasPartner, further, next);
  }
  return { inclusive: sum, below, last: highest(all) };
}

/** The values of the quadgroup, from the active threads for whose position `included` holds. */
function gather(b: Builder, a: Value, name: string, type: ScalarType, isSigned: boolean, included?: 'ule' | 'ult'): Value {
  const quad = groups.quad!;
  const [all, base, own] = [quad.groupBits(b, allLanes(b)), quad.base(b), place(b, quad)];
  let sum: Value | undefined;
  let isAny = b.const('i1', 0);
  for (let i = 0; i < quad.size; i++) {
    const value = b.shuffle(a, b.add(base, word(b, i)));
    const isActive = b.icmp(b.and(all, word(b, 1 << i)), word(b, 0), { pred: 'ne' });
    const counts = included ? b.and(isActive, b.icmp(word(b, i), own, { pred: included })) : isActive;
    const added = sum === undefined ? value : b.select(isAny, combine[name]!(b, sum, value, type, isSigned), value);
    sum = sum === undefined ? value : b.select(counts, added, sum);
    isAny = b.or(isAny, counts);
  }
  return b.select(isAny, sum!, neutral(b, name, type));
}

const folds: Readonly<Record<string, readonly [s: Fold, u: Fold]>> = {
  sum: ['add', 'add'],
  min: ['smin', 'umin'],
  max: ['smax', 'umax'],
  and: ['and', 'and'],
  or: ['or', 'or'],
  xor: ['xor', 'xor'],
};

/** A reduction over all active threads; one IR op for integers if there is one. */
const reduction =
  (name: string): Make =>
  (b, [a], group, type, isSigned) => {
    if (group.size === 4) return gather(b, a!, name, type, isSigned);
    const fold = folds[name]?.[isSigned ? 0 : 1];
    if (fold && !isFloat(type)) {
      if (type === 'i32') return b.reduce(a!, { fold });
      return b.trunc(type, b.reduce(isSigned ? b.sext('i32', a!) : b.zext('i32', a!), { fold }));
    }
    const { inclusive, last } = scan(b, a!, name, type, isSigned);
    return b.shuffle(inclusive, last);
  };

const prefix =
  (name: string, isInclusive: boolean): Make =>
  (b, [a], group, type, isSigned) => {
    if (group.size === 4) return gather(b, a!, name, type, isSigned, isInclusive ? 'ule' : 'ult');
    const { inclusive, below } = scan(b, a!, name, type, isSigned);
    if (isInclusive) return inclusive;
    return b.select(b.icmp(below, word(b, 32), { pred: 'ult' }), b.shuffle(inclusive, below), neutral(b, name, type));
  };

/** The operands after the value: none, a lane or distance, or a fill value, a distance and a width. */
type Operands = 'value' | 'lane' | 'fill';

const rows: Readonly<Record<string, readonly [operands: Operands, make: Make]>> = {
  shuffle: ['lane', shuffleFrom((_, __, operand) => operand)],
  broadcast: ['lane', shuffleFrom((_, __, operand) => operand)],
  broadcast_first: ['value', (b, [a], group) => b.shuffle(a!, lowestLane(b, group))],
  shuffle_xor: ['lane', shuffleFrom((b, own, operand) => b.xor(own, operand))],
  shuffle_rotate_up: ['lane', shuffleFrom((b, own, operand) => b.sub(own, operand))],
  shuffle_rotate_down: ['lane', shuffleFrom((b, own, operand) => b.add(own, operand))],
  shuffle_up: ['lane', shuffleBy((b, own, operand) => b.sub(own, operand))],
  shuffle_down: ['lane', shuffleBy((b, own, operand) => b.add(own, operand))],
  shuffle_and_fill_up: ['fill', shuffleAndFill(true)],
  shuffle_and_fill_down: ['fill', shuffleAndFill(false)],
  ...Object.fromEntries(Object.keys(combine).map((name): [string, [Operands, Make]] => [name, ['value', reduction(name)]])),
  prefix_inclusive_sum: ['value', prefix('sum', true)],
  prefix_exclusive_sum: ['value', prefix('sum', false)],
  prefix_inclusive_product: ['value', prefix('product', true)],
  prefix_exclusive_product: ['value', prefix('product', false)],
};

const isBitwise = (form: string): boolean => ['and', 'or', 'xor'].includes(form);

const paramsOf = (operands: Operands, type: LlvmType): LlvmType[] =>
  operands === 'value' ? [type] : operands === 'lane' ? [type, llvm.i16] : [type, type, llvm.i16, llvm.i16];

const flag = { i1: llvm.i1, i16: llvm.i16, i64: llvm.i64 };

interface Vote {
  readonly params: readonly LlvmType[];
  readonly result: LlvmType;
  readonly make: (b: Builder, a: Value | undefined, group: Group) => Value;
}

const isNone = (b: Builder, mask: Value): Value => b.icmp(mask, word(b, 0), { pred: 'eq' });

/** A mask of the existing threads of the group; the last simdgroup of a threadgroup may be partial. */
function present(b: Builder, group: Group): Value {
  const size = (['x', 'y', 'z'] as const).map((axis) => b.sreg('i32', { name: `ntid.${axis}` })).reduce((all, n) => b.mul(all, n));
  const left = b.sub(size, b.sub(b.sreg('i32', { name: 'tid.linear' }), lane(b)));
  return group.groupBits(b, b.sub(b.shl(word(b, 1), left), word(b, 1)));
}

const votes: Readonly<Record<string, Vote>> = {
  all: { params: [flag.i1], result: flag.i1, make: (b, a, group) => isNone(b, group.groupBits(b, b.ballot('i32', no(b, a!)))) },
  any: { params: [flag.i1], result: flag.i1, make: (b, a, group) => no(b, isNone(b, group.groupBits(b, b.ballot('i32', a!)))) },
  is_first: { params: [], result: flag.i1, make: (b, _, group) => b.icmp(lane(b), lowestLane(b, group), { pred: 'eq' }) },
  is_helper_thread: { params: [], result: flag.i1, make: (b) => b.const('i1', 0) },
};

/** The width of a group's mask is in the name, except for quadgroups. */
const masks = (type: LlvmType, name: 'i16' | 'i64'): Readonly<Record<string, Vote>> => ({
  ballot: { params: [flag.i1], result: type, make: (b, a, group) => asMask(b, group.groupBits(b, b.ballot('i32', a!)), name) },
  active_threads_mask: { params: [], result: type, make: (b, _, group) => asMask(b, group.groupBits(b, allLanes(b)), name) },
  vote_any: { params: [type], result: flag.i1, make: (b, a, group) => no(b, isNone(b, b.and(asWord(b, a!), inGroup(b, group)))) },
  vote_all: {
    params: [type],
    result: flag.i1,
    make: (b, a, group) => isNone(b, b.and(b.xor(asWord(b, a!), word(b, -1)), present(b, group))),
  },
});
const asMask = (b: Builder, mask: Value, type: 'i16' | 'i64'): Value => (type === 'i16' ? b.trunc(type, mask) : b.zext(type, mask));
const asWord = (b: Builder, mask: Value): Value => (b.typeOf(mask) === 'i16' ? b.zext('i32', mask) : b.trunc('i32', mask));
const inGroup = (b: Builder, { size }: Group): Value => word(b, size === 32 ? -1 : (1 << size) - 1);

const votesOf = {
  simd: { ...votes, ...Object.fromEntries(Object.entries(masks(flag.i64, 'i64')).map(([name, vote]) => [`${name}.i64`, vote])) },
  quad: { ...votes, ...masks(flag.i16, 'i16') },
} as Readonly<Record<string, Readonly<Record<string, Vote>>>>;

/** The simdgroup or quadgroup function with a name (without vector widths); undefined if there is none. */
export function groupFunctionOf(name: string): ElementFunction | undefined {
  const [, of = '', rest = ''] = /^air\.(simd|quad)_(.+)$/.exec(name) ?? [];
  const group = groups[of];
  if (!group) return undefined;
  const own = votesOf[of];
  const vote = own && Object.hasOwn(own, rest) ? own[rest] : undefined;
  if (vote) return { params: vote.params, result: vote.result, make: (b, [a]) => vote.make(b, a, group) };
  const [, form = '', sign, type = ''] = /^([a-z_]+)(?:\.([su]))?\.((?:i|f|bf)\d+)$/.exec(rest) ?? [];
  const known = Object.hasOwn(rows, form) ? rows[form] : undefined;
  if (!known || !isScalar(type) || bitsOf(type) > 32 || type === 'i1' || isFloat(type) === (sign !== undefined)) return undefined;
  if (isFloat(type) && isBitwise(form)) return undefined;
  const [operands, make] = known;
  const value = llvmScalar[type];
  return { params: paramsOf(operands, value), result: value, make: (b, args) => make(b, args, group, type, sign === 's') };
}

/** Names without `air.`, for the docs. */
export const groupFunctions: readonly string[] = Object.keys(groups).flatMap((of) => [
  ...Object.keys(rows).map((name) => `${of}_${name}`),
  ...Object.keys(votesOf[of]!).map((name) => `${of}_${name}`),
]);
