/** Groups: the lanes of a warp that are at a place together, named by a member mask, and ways to make smaller groups of them. */
import type { Writer } from './writer.ts';

/** All lanes of `mask` that have not exited reach the place that the group belongs to. */
export interface Group {
  /** The member mask: a register or a constant. */
  readonly mask: string;
  /** The lanes of it that have not exited: a register. */
  alive: string;
}

/** What groups are made of: the thread's values, and whether the last warp of a block is smaller than the others. */
export interface Thread {
  readonly w: Writer;
  /** Registers with the lane, a number that is the same in a warp, the lanes that exist, and a predicate that holds. */
  readonly lane: string;
  readonly warp: string;
  readonly exists: string;
  readonly always: string;
  readonly isPartial: boolean;
  /** A varying word. */
  value(): string;
}

export const hex = (word: number): string => `0x${(word >>> 0).toString(16)}`;

/** The lanes of a group with a true predicate: a collective of the group. */
export const ballot = ({ w }: Thread, p: string, mask: string): string => w.op('vote.sync.ballot.b32', p, mask);

/** The lane's number within its group, and the group's lowest or highest lane. */
export const rank = ({ w }: Thread, { alive }: Group): string => {
  const below = w.op('mov.u32', '%lanemask_lt');
  return w.op('popc.b32', w.op('and.b32', alive, below));
};
export const leader = ({ w }: Thread, { alive }: Group): string =>
  w.once(2) ? w.lowest(alive) : w.op('sub.u32', 31, w.op('clz.b32', alive));

/** A predicate that varies within a group, most often. */
export function condition(t: Thread, group: Group): string {
  const { w, lane } = t;
  switch (w.pick(8)) {
    case 0:
      return w.test(w.oneOf(['lt.u32', 'ge.u32']), lane, 1 + w.pick(31));
    case 1:
      return w.test(w.oneOf(['eq.u32', 'ne.u32']), w.op('and.b32', lane, 1 << w.pick(5)), 0);
    case 2:
      return w.test('ne.u32', w.op('and.b32', w.op('shr.u32', hex(oddSet(w)), lane), 1), 0);
    case 3:
      return w.test(w.oneOf(['eq.u32', 'ne.u32']), lane, leader(t, group));
    case 4:
      return w.test(w.oneOf(['eq.u32', 'ne.u32']), w.op('and.b32', t.warp, 1), 0);
    case 5:
      return w.test('eq.u32', w.op('and.b32', rank(t, group), 1), w.pick(2));
    default:
      return w.test(w.oneOf(['eq.u32', 'ne.u32']), w.op('and.b32', t.value(), w.oneOf([1, 2, 4, 16, 3, 5])), 0);
  }
}

const oddSet = (w: Writer): number => 1 + w.pick(0xfffffffe);

/** Both sides of a predicate. */
export interface Split {
  readonly p: string;
  readonly yes: Group;
  readonly no: Group;
}

/** Splits a group by a predicate; the masks of the two sides are constants, or come from votes. */
export function split(t: Thread, group: Group): Split {
  const { w } = t;
  const whole = /^0x|^-1$/.test(group.mask) ? Number(group.mask) >>> 0 : 0;
  // A set of one lane has no two sides.
  if ((whole & (whole - 1)) !== 0 && w.once(2)) return constantSplit(t, group, whole);
  const elected = w.once(8) ? w.predicate() : undefined;
  if (elected) w.emit(`elect.sync ${w.word()}|${elected}, ${group.mask};`);
  const p = elected ?? condition(t, group);
  const yes = ballot(t, p, group.mask);
  const no = splitRest(t, group, p, yes);
  return { p, yes: { mask: yes, alive: yes }, no };
}

function splitRest(t: Thread, { mask, alive }: Group, p: string, yes: string): Group {
  const { w } = t;
  const rest = w.op('and.b32', alive, w.op('not.b32', yes));
  if (w.once(3)) {
    const other = ballotOfNot(w, p, mask);
    return { mask: other, alive: w.once(2) ? other : rest };
  }
  // The mask names lanes that have exited too.
  if (w.once(3) && !t.isPartial) return { mask: w.op('xor.b32', mask, yes), alive: rest };
  return { mask: rest, alive: rest };
}

const ballotOfNot = (w: Writer, p: string, mask: string): string => w.op('vote.sync.ballot.b32', `!${p}`, mask);

/** Splits a group with a constant mask by the lane alone. */
function constantSplit(t: Thread, { alive }: Group, whole: number): Split {
  const { w, lane } = t;
  let set = 0;
  while ((set & whole) === 0 || (~set & whole) === 0)
    set = w.oneOf([0xffff, 0xff00ff, 0x0f0f0f0f, 0x33333333, 0x55555555, 0x1, 0x80000000, 0x7ffffffe, 0xfff, oddSet(w), oddSet(w)]);
  const p = w.test('ne.u32', w.op('and.b32', w.op('shr.u32', hex(set), lane), 1), 0);
  return { p, yes: constant(t, set & whole, alive), no: constant(t, ~set & whole, alive) };
}

/** The group of a constant mask; where lanes are missing from the warp, the mask names only lanes that exist. */
function constant({ w, exists, isPartial }: Thread, set: number, alive: string): Group {
  const mask = isPartial ? w.op('and.b32', exists, hex(set)) : hex(set);
  return { mask, alive: w.op('and.b32', alive, hex(set)) };
}

/** Divides a group into smaller ones that stay at the same place: each lane has the mask of its own. */
export function partition(t: Thread, group: Group): Group {
  const { w } = t;
  const kind = w.pick(6);
  if (kind < 2) return tiles(t, group);
  if (kind === 2) return segments(t, group);
  if (kind === 3) {
    const [one, other] = [oddSet(w), condition(t, group)];
    // A condition on the lane alone is not enough here: the sets have to be those of the vote.
    const yes = ballot(t, other, group.mask);
    const sides = w.op('selp.b32', yes, w.op('and.b32', group.alive, w.op('not.b32', yes)), other);
    const inner = w.op('selp.b32', hex(one), hex(~one), w.test('ne.u32', w.op('and.b32', w.op('shr.u32', hex(one), t.lane), 1), 0));
    const mask = w.op('and.b32', sides, inner);
    return { mask, alive: mask };
  }
  const label = kind === 4 ? w.op('shr.u32', rank(t, group), 1 + w.pick(3)) : w.op('and.b32', t.value(), w.oneOf([1, 3, 7, 6]));
  const mask = w.op('match.any.sync.b32', label, group.mask);
  return { mask, alive: mask };
}

/** Tiles of the warp, as far as their lanes are of the group. */
function tiles({ w, lane, isPartial }: Thread, { mask, alive }: Group): Group {
  const size = w.oneOf([2, 4, 8, 16]);
  const tile = w.op('shl.b32', hex(2 ** size - 1), w.op('and.b32', lane, hex(~(size - 1))));
  const own = w.op('and.b32', tile, alive);
  return { mask: isPartial || w.once(2) ? own : w.op('and.b32', tile, mask), alive: own };
}

/** Runs of neighboring lanes, which begin where a predicate holds. */
function segments(t: Thread, group: Group): Group {
  const { w } = t;
  const heads = ballot(t, condition(t, group), group.mask);
  const upTo = w.op('and.b32', heads, w.op('mov.u32', '%lanemask_le'));
  const above = w.op('and.b32', heads, w.op('mov.u32', '%lanemask_gt'));
  const first = w.op('sub.u32', 31, w.op('clz.b32', w.op('or.b32', upTo, 1)));
  const from = w.op('shl.b32', hex(-1), first);
  // Below the next head; all lanes if there is none, as then 1 << 32 is 0.
  const below = w.op('sub.u32', w.op('shl.b32', 1, w.lowest(above)), 1);
  const mask = w.op('and.b32', w.op('and.b32', from, below), group.alive);
  return { mask, alive: mask };
}
