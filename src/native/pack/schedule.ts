/**
 * The order of a block's instructions once groups are one instruction each. A group is at the place of its last member, if nothing delays it.
 * Groups that depend on themselves are dissolved.
 */
import type { Node } from './numbering.ts';
import { predecessorsOf } from './order.ts';
import { dissolve, type Packs } from './packs.ts';

/** Instructions in a new order, each group by its last member. */
export type Schedule = readonly Node[];

export interface Schedules {
  readonly blocks: readonly Schedule[];
  /** By block: how many groups had been dissolved. */
  readonly dissolved: Int32Array;
}

/** Schedules a block. */
function schedule(packs: Packs, block: number): Schedule {
  const { numbering } = packs;
  const [first, end] = [numbering.firstInst[block]!, numbering.firstNode[block + 1]!];
  if (packs.of.subarray(first, end).every((pack) => pack < 0)) return Array.from({ length: end - first }, (_, i) => first + i);
  const before = predecessorsOf(numbering, block);
  const after: Node[][] = before.map(() => []);
  const waiting = new Int32Array(before.length);
  for (const [i, nodes] of before.entries()) {
    waiting[i] = nodes.length;
    for (const node of nodes) after[node - first]!.push(first + i);
  }
  const membersOf = (node: Node): readonly Node[] => (packs.of[node]! < 0 ? [node] : packs.list[packs.of[node]!]!.members);
  const isReady = (node: Node): boolean => membersOf(node).every((member) => waiting[member - first] === 0);
  const ready = newQueue();
  const isDone = new Uint8Array(before.length);
  const order: Node[] = [];
  const offer = (node: Node): void => {
    if (isReady(node)) ready.add(lastOf(membersOf(node)));
  };
  const take = (node: Node): void => {
    order.push(node);
    const members = membersOf(node);
    for (const member of members) isDone[member - first] = 1;
    for (const member of members)
      for (const next of after[member - first]!) if (--waiting[next - first]! === 0 && !isDone[next - first]) offer(next);
  };
  for (let node = first; node < end; node++) if (lastOf(membersOf(node)) === node) offer(node);
  for (let earliest = first; ; ) {
    for (let node = ready.take(); node !== undefined; node = ready.take()) if (!isDone[node - first]) take(node);
    while (earliest < end && isDone[earliest - first]) earliest++;
    if (earliest === end) return order;
    // Everything before the earliest instruction left is done, so that nothing but its group delays it.
    const members = membersOf(earliest);
    dissolve(packs, packs.list[packs.of[earliest]!]!);
    members.forEach(offer);
  }
}

const lastOf = (nodes: readonly Node[]): Node => nodes.reduce((a, b) => Math.max(a, b));

/** Schedules every block, but for those of which no group was dissolved since they were scheduled last. */
export function scheduleAll(packs: Packs, last?: Schedules): Schedules {
  const { firstInst } = packs.numbering;
  const blocks = Array.from({ length: firstInst.length }, (_, block) =>
    last && last.dissolved[block] === packs.dissolved[block] ? last.blocks[block]! : schedule(packs, block),
  );
  return { blocks, dissolved: packs.dissolved.slice() };
}

/** A priority queue of numbers, the smallest first (a binary heap). */
function newQueue(): { add(value: number): void; take(): number | undefined } {
  const heap: number[] = [];
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b]!, heap[a]!];
  };
  return {
    add(value) {
      heap.push(value);
      for (let at = heap.length - 1; at > 0 && heap[(at - 1) >> 1]! > heap[at]!; at = (at - 1) >> 1) swap(at, (at - 1) >> 1);
    },
    take() {
      if (heap.length === 0) return undefined;
      swap(0, heap.length - 1);
      const least = heap.pop();
      for (let at = 0; ; ) {
        const [left, right] = [2 * at + 1, 2 * at + 2];
        let next = at;
        if (left < heap.length && heap[left]! < heap[next]!) next = left;
        if (right < heap.length && heap[right]! < heap[next]!) next = right;
        if (next === at) return least;
        swap(at, next);
        at = next;
      }
    },
  };
}
