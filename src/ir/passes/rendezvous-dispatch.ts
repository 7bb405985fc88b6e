/**
 * The dispatch of a rendezvous loop. At each turn all threads of the warp that are in the loop meet here; those for which all threads of their
 * mask wait with the same mask and kind get their results, and continue where they left.
 */
import { addBlock, addBlockParam, type Builder, builder } from '../build.ts';
import { neutralOf } from '../folds.ts';
import type { Block, Kernel, Value } from '../kernel.ts';
import { type Fold, folds } from '../ops.ts';
import { broughtBy, type Cut, waits } from './rendezvous-cuts.ts';

/** The parameters of the dispatch block that are the same in every kernel. */
export interface DispatchParams {
  /** The number of the cut that the thread is at. */
  readonly place: Value;
  readonly wait: Value;
  readonly members: Value;
  readonly a: Value;
  readonly b: Value;
}

const names = ['place', 'wait', 'members', 'a', 'b'] as const;

export const dispatchParams = (kernel: Kernel, dispatch: Block): DispatchParams =>
  Object.fromEntries(names.map((name) => [name, addBlockParam(kernel, dispatch, 'i32')])) as unknown as DispatchParams;

/** The arguments for these parameters, in the block that a cut leaves. */
export function dispatchArgs(b: Builder, cut: Cut, place: number): Value[] {
  return [b.const('i32', place), b.const('i32', cut.wait), ...broughtBy(b, cut)];
}

interface Dispatch extends DispatchParams {
  readonly kernel: Kernel;
  readonly cuts: readonly Cut[];
  /** Appends to the end of what there is so far. */
  readonly at: Builder;
  /** The threads that have not left the loop, as a mask. */
  readonly staying: Value;
}

const word = (b: Builder, value: number): Value => b.const('i32', value);
const isWord = (b: Builder, value: Value, constant: number): Value => b.icmp(value, word(b, constant), { pred: 'eq' });
const isNonZero = (b: Builder, value: Value): Value => b.icmp(value, word(b, 0), { pred: 'ne' });
const hasLane = (b: Builder, mask: Value): Value => isNonZero(b, b.and(b.lshr(mask, b.sreg('i32', { name: 'laneid' })), word(b, 1)));

/** Appends what a thread does before it ends because it waits at a collective for threads that never come. */
export type EndStuck = (b: Builder, collective: Value) => void;

/** Fills the dispatch block, which has its parameters, and what follows it up to the cuts. */
export function fillDispatch(kernel: Kernel, dispatch: Block, params: DispatchParams, cuts: readonly Cut[], endStuck: EndStuck): void {
  const at = builder(kernel, dispatch);
  const staying = at.ballot('i32', at.icmp(params.wait, word(at, waits.left), { pred: 'ne' }));
  const d: Dispatch = { ...params, kernel, cuts, at, staying };
  const out = addBlock(kernel);
  branch(at, isNonZero(at, staying), out);
  const { met, sum } = findGroups(d);
  const isMet = hasLane(at, met);
  const isOpen = barrierOpens(d);
  const isReady = at.or(isMet, readyOtherwise(d, isOpen));
  const stuck = addBlock(kernel);
  branch(at, isNonZero(at, at.ballot('i32', isReady)), stuck);
  const result = resultsOf(d, { isMet, sum, isOpen });
  const again = addBlock(kernel);
  again.end = { op: 'br', to: { block: dispatch, args: [...dispatch.params] } };
  branch(at, isReady, again);
  const places = cuts.map((cut, place) => ({ cut, place }));
  const resumed = places.filter(({ cut }) => cut.wait !== waits.left);
  choose(
    kernel,
    at.block,
    params.place,
    resumed.map(({ cut, place }) => ({ place, block: cut.resume, args: cut.resume.params.map(() => result) })),
  );
  choose(
    kernel,
    out,
    params.place,
    places.filter(({ cut }) => cut.wait === waits.left).map(({ cut, place }) => ({ place, block: cut.resume, args: [] })),
  );
  const ends = resumed.flatMap(({ cut, place }) => (cut.wait === waits.free ? [] : [{ cut, place }]));
  fillStuck(d, stuck, out, ends, endStuck);
}

/** Goes on in a new block where a condition holds, and to another one where it does not. */
function branch(at: Builder, cond: Value, otherwise: Block): void {
  const next = addBlock(at.kernel);
  at.block.end = { op: 'condbr', cond, then: { block: next, args: [] }, else: { block: otherwise, args: [] } };
  at.block = next;
}

/** A cut with its number. */
interface Place {
  readonly cut: Cut;
  readonly place: number;
}

interface Choice {
  readonly place: number;
  readonly block: Block;
  readonly args: Value[];
}

/** Ends a block by a binary search for the place of each thread. */
function choose(kernel: Kernel, block: Block, place: Value, choices: readonly Choice[]): void {
  const [only] = choices;
  if (!only) return;
  if (choices.length === 1) {
    block.end = { op: 'br', to: { block: only.block, args: [...only.args] } };
    return;
  }
  const half = choices.length >> 1;
  const [low, high] = [addBlock(kernel), addBlock(kernel)];
  const b = builder(kernel, block);
  const cond = b.icmp(place, word(b, choices[half]!.place), { pred: 'ult' });
  block.end = { op: 'condbr', cond, then: { block: low, args: [] }, else: { block: high, args: [] } };
  choose(kernel, low, place, choices.slice(0, half));
  choose(kernel, high, place, choices.slice(half));
}

/**
 * A loop over the groups of threads that wait with one mask and kind. A group is complete if no thread of its mask that is still in the loop is
 * elsewhere. Returns the threads of complete groups as a mask, and the results of reductions.
 */
function findGroups({ kernel, cuts, at, staying, wait, members, a }: Dispatch): { met: Value; sum: Value } {
  const used = usedFolds(cuts);
  const none = word(at, 0);
  const first = at.ballot('i32', at.icmp(wait, word(at, waits.shuffle), { pred: 'uge' }));
  const head = addBlock(kernel);
  const [pending, met, sum] = [addBlockParam(kernel, head, 'i32'), addBlockParam(kernel, head, 'i32'), addBlockParam(kernel, head, 'i32')];
  at.block.end = { op: 'br', to: { block: head, args: [first, none, none] } };
  at.block = head;
  const done = addBlock(kernel);
  branch(at, isNonZero(at, pending), done);
  const leader = at.sub(word(at, 31), at.clz(pending));
  const [mask, kind] = [at.shuffle(members, leader), at.shuffle(wait, leader)];
  const isSame = at.and(at.icmp(members, mask, { pred: 'eq' }), at.icmp(wait, kind, { pred: 'eq' }));
  const group = at.ballot('i32', isSame);
  const others = at.xor(group, word(at, -1));
  const isComplete = isWord(at, at.and(at.and(mask, staying), others), 0);
  const complete = at.select(isComplete, at.and(mask, group), word(at, 0));
  let total = sum;
  for (const fold of used) total = foldGroup(at, { fold, kind, complete, a, total });
  at.block.end = { op: 'br', to: { block: head, args: [at.and(pending, others), at.or(met, complete), total] } };
  at.block = done;
  return { met, sum };
}

const usedFolds = (cuts: readonly Cut[]): Fold[] => folds.filter((_, i) => cuts.some(({ wait }) => wait === waits.firstFold + i));

/** Reduces the operands of a complete group if it waits for this reduction. */
function foldGroup(
  at: Builder,
  { fold, kind, complete, a, total }: { fold: Fold; kind: Value; complete: Value; a: Value; total: Value },
): Value {
  return when(at, isWord(at, kind, waits.firstFold + folds.indexOf(fold)), total, () => {
    const isMember = hasLane(at, complete);
    const reduced = at.reduce(at.select(isMember, a, word(at, neutralOf[fold])), { fold });
    return at.select(isMember, reduced, total);
  });
}

/** A value that is computed where a condition holds, which is the same for all threads of the warp. */
function when(at: Builder, cond: Value, otherwise: Value, compute: () => Value): Value {
  const join = addBlock(at.kernel);
  const value = addBlockParam(at.kernel, join, 'i32');
  const then = addBlock(at.kernel);
  at.block.end = { op: 'condbr', cond, then: { block: then, args: [] }, else: { block: join, args: [otherwise] } };
  at.block = then;
  const computed = compute();
  at.block.end = { op: 'br', to: { block: join, args: [computed] } };
  at.block = join;
  return value;
}

/** Whether all threads in the loop are at a barrier; undefined without barriers. */
function barrierOpens({ cuts, at, wait, staying }: Dispatch): Value | undefined {
  if (!cuts.some((cut) => cut.wait === waits.barrier)) return undefined;
  return at.icmp(at.ballot('i32', isWord(at, wait, waits.barrier)), staying, { pred: 'eq' });
}

/** Whether a thread continues though it waits for no group. */
function readyOtherwise({ at, wait }: Dispatch, isOpen: Value | undefined): Value {
  const isFree = isWord(at, wait, waits.free);
  return isOpen === undefined ? isFree : at.or(isFree, at.and(isWord(at, wait, waits.barrier), isOpen));
}

interface Found {
  /** Whether the group of the thread is complete. */
  readonly isMet: Value;
  /** The result of a reduction. */
  readonly sum: Value;
  readonly isOpen: Value | undefined;
}

/** Carries the collectives out; the result of each thread. */
function resultsOf({ cuts, at, place, wait, members, a, b }: Dispatch, { isMet, sum, isOpen }: Found): Value {
  const isAt = (kind: number): Value => at.and(isMet, isWord(at, wait, kind));
  const isUsed = (kind: number): boolean => cuts.some((cut) => cut.wait === kind);
  const isAny = (cond: Value): Value => isNonZero(at, at.ballot('i32', cond));
  const nothing = (effect: () => void) => (): Value => {
    effect();
    return word(at, 0);
  };
  let result = sum;
  if (isUsed(waits.shuffle)) {
    const isShuffle = isAt(waits.shuffle);
    result = when(at, isAny(isShuffle), result, () => at.select(isShuffle, at.shuffle(a, b), result));
  }
  if (isUsed(waits.ballot)) {
    const isBallot = isAt(waits.ballot);
    const votes = (): Value => at.and(at.ballot('i32', at.and(isBallot, isNonZero(at, a))), members);
    result = when(at, isAny(isBallot), result, () => at.select(isBallot, votes(), result));
  }
  if (isUsed(waits.fence))
    when(
      at,
      isAny(isAt(waits.fence)),
      word(at, 0),
      nothing(() => at.syncwarp()),
    );
  if (isOpen !== undefined)
    when(
      at,
      isOpen,
      word(at, 0),
      nothing(() => at.barrier()),
    );
  for (const [number, cut] of cuts.entries())
    if (cut.inst?.op === 'ballot') {
      const isHere = isWord(at, place, number);
      result = at.select(isHere, at.ballot('i32', isHere), result);
    }
  return result;
}

/** Ends the threads that wait, each with the fault of its place; those that have left go on. */
function fillStuck({ kernel, at, place, wait }: Dispatch, stuck: Block, out: Block, ends: readonly Place[], endStuck: EndStuck): void {
  at.block = stuck;
  branch(at, at.icmp(wait, word(at, waits.left), { pred: 'ne' }), out);
  const choices = ends.map(({ cut, place: number }): Choice => {
    const block = addBlock(kernel);
    if (cut.wait !== waits.barrier) endStuck(builder(kernel, block), cut.value!);
    return { place: number, block, args: [] };
  });
  choose(kernel, at.block, place, choices);
}
