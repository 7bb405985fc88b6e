/** Control flow: predecessors, dominators, loops, and the order of blocks. Loops have one entry each, because WebAssembly is structured. */
import { bug } from '../../base/bug.ts';
import { type Block, edgeAt, edgeCount, edgesOf, type SsaFunction } from './types.ts';

/** The blocks that can be reached, each behind all from which it can be reached without the edges that close loops. */
export function reversePostorder(blocks: readonly Block[]): number[] {
  const order: number[] = [];
  const state = new Uint8Array(blocks.length);
  const next = new Uint32Array(blocks.length);
  const path = [0];
  state[0] = 1;
  while (path.length > 0) {
    const block = path.at(-1)!;
    const { end } = blocks[block]!;
    const count = edgeCount(end);
    if (next[block]! < count) {
      // The last edge first, so that the first one's blocks come first in the order.
      const to = edgeAt(end, count - 1 - next[block]!++).block;
      if (state[to] === 0) {
        state[to] = 1;
        path.push(to);
      }
    } else {
      order.push(block);
      path.pop();
    }
  }
  return order.reverse();
}

/** The blocks before each block, once for each edge. */
export function predecessors(blocks: readonly Block[]): number[][] {
  const before: number[][] = blocks.map(() => []);
  for (let i = 0; i < blocks.length; i++) {
    const { end } = blocks[i]!;
    for (let at = 0, count = edgeCount(end); at < count; at++) before[edgeAt(end, at).block]!.push(i);
  }
  return before;
}

export interface Dominators {
  /** The immediate dominator of each block: the entry has itself, a block that cannot be reached has -1. */
  readonly immediate: Int32Array;
  /** Whether each way to `block` goes through `above`, which may be the block itself. */
  dominates(above: number, block: number): boolean;
}

/** Source: Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001. */
export function dominatorsOf(blocks: readonly Block[], order = reversePostorder(blocks), before = predecessors(blocks)): Dominators {
  const rank = new Int32Array(blocks.length).fill(-1);
  for (const [i, block] of order.entries()) rank[block] = i;
  const immediate = new Int32Array(blocks.length).fill(-1);
  immediate[0] = 0;
  const common = (a: number, b: number): number => {
    while (a !== b) {
      while (rank[a]! > rank[b]!) a = immediate[a]!;
      while (rank[b]! > rank[a]!) b = immediate[b]!;
    }
    return a;
  };
  for (let isStable = false; !isStable; ) {
    isStable = true;
    for (const block of order) {
      if (block === 0) continue;
      let above = -1;
      for (const each of before[block]!) if (immediate[each]! >= 0) above = above < 0 ? each : common(above, each);
      if (immediate[block] !== above) {
        immediate[block] = above;
        isStable = false;
      }
    }
  }
  const { first, last } = treeNumbers(immediate, order);
  return { immediate, dominates: (above, block) => first[above]! <= first[block]! && last[block]! <= last[above]! };
}

/** Numbers of a walk through the dominator tree: the blocks below one have numbers between its two. */
function treeNumbers(immediate: Int32Array, order: readonly number[]): { first: Int32Array; last: Int32Array } {
  const size = new Int32Array(immediate.length).fill(1);
  for (const block of [...order].reverse()) if (block !== 0) size[immediate[block]!]! += size[block]!;
  const first = new Int32Array(immediate.length).fill(-1);
  const last = new Int32Array(immediate.length).fill(-1);
  const free = new Int32Array(immediate.length);
  for (const block of order) {
    const above = immediate[block]!;
    first[block] = block === 0 ? 0 : free[above]!;
    if (block !== 0) free[above]! += size[block]!;
    last[block] = first[block]! + size[block]! - 1;
    free[block] = first[block]! + 1;
  }
  return { first, last };
}

/** A loop: the blocks from which its header is reached again without leaving the blocks that the header dominates. */
export interface Loop {
  readonly header: number;
  /** The number of the loop around it; -1 for none. */
  parent: number;
  depth: number;
  /** All its blocks, those of loops inside it, too. */
  readonly blocks: Set<number>;
}

export interface Loops {
  /** Outer loops before inner ones. */
  readonly loops: readonly Loop[];
  /** The number of the innermost loop of each block; -1 for none. */
  readonly innermost: Int32Array;
}

/** The loops of a function. */
export function loopsOf(
  blocks: readonly Block[],
  order = reversePostorder(blocks),
  before = predecessors(blocks),
  dominators = dominatorsOf(blocks, order, before),
): Loops {
  const innermost = new Int32Array(blocks.length).fill(-1);
  const loops: Loop[] = [];
  for (const header of order) {
    const latches = before[header]!.filter((each) => dominators.immediate[each]! >= 0 && dominators.dominates(header, each));
    if (latches.length === 0) continue;
    const inside = new Set([header]);
    const left = [...latches];
    while (left.length > 0) {
      const block = left.pop()!;
      if (inside.has(block)) continue;
      inside.add(block);
      for (const each of before[block]!) if (dominators.immediate[each]! >= 0) left.push(each);
    }
    const parent = innermost[header]!;
    loops.push({ header, parent, depth: parent < 0 ? 1 : loops[parent]!.depth + 1, blocks: inside });
    for (const block of inside) innermost[block] = loops.length - 1;
  }
  return { loops, innermost };
}

/**
 * Puts the blocks that can be reached into an order in which each follows its immediate dominator and loops are contiguous, as near as possible to
 * the order that they had, and notes the depth of loops and the rare blocks.
 */
export function orderBlocks(fn: SsaFunction): void {
  const { blocks } = fn;
  const order = reversePostorder(blocks);
  const before = predecessors(blocks);
  const dominators = dominatorsOf(blocks, order, before);
  const { loops, innermost } = loopsOf(blocks, order, before, dominators);
  const placed = schedule(blocks, order, before, { loops, innermost }, dominators);
  const place = new Int32Array(blocks.length).fill(-1);
  for (const [i, block] of placed.entries()) place[block] = i;
  for (const block of order) {
    const depth = innermost[block]! < 0 ? 0 : loops[innermost[block]!]!.depth;
    blocks[block]!.loopDepth = depth;
    moveEdges(blocks[block]!, place);
  }
  fn.blocks = placed.map((block) => blocks[block]!);
  markRare(fn.blocks);
}

/** Has the edges of a block lead to the new places of blocks. */
export function moveEdges({ end }: Block, place: Int32Array): void {
  for (let at = 0, count = edgeCount(end); at < count; at++) {
    const edge = edgeAt(end, at);
    edge.block = place[edge.block]!;
  }
}

/** Chooses a block whose predecessors are placed, in the innermost loop that is not finished; of several the one that came first. */
function schedule(
  blocks: readonly Block[],
  order: readonly number[],
  before: readonly (readonly number[])[],
  { loops, innermost }: Loops,
  { dominates, immediate }: Dominators,
): number[] {
  const waits = new Int32Array(blocks.length);
  for (const block of order) for (const each of before[block]!) if (immediate[each]! >= 0 && !dominates(block, each)) waits[block]!++;
  /** Of a loop the blocks that are left, and those of them that are ready; the last one stands for the function. */
  const areas = [...loops.map(({ blocks: inside }) => inside.size), order.length].map((left) => ({ left, ready: [] as number[] }));
  const whole = loops.length;
  const around = (area: number): number => (loops[area]!.parent < 0 ? whole : loops[area]!.parent);
  const areaOf = (block: number): number => (innermost[block]! < 0 ? whole : innermost[block]!);
  const isHeader = (block: number): boolean => loops[innermost[block]!]?.header === block;
  /** A header is ready in the loop around its own. */
  const homeOf = (block: number): number => (isHeader(block) ? around(innermost[block]!) : areaOf(block));
  const placed: number[] = [];
  let current = whole;
  areas[whole]!.ready.push(0);
  while (placed.length < order.length) {
    while (areas[current]!.left === 0) current = around(current);
    const block = takeFirst(areas[current]!.ready);
    placed.push(block);
    if (isHeader(block)) current = innermost[block]!;
    for (let area = current; area !== whole; area = around(area)) areas[area]!.left--;
    areas[whole]!.left--;
    for (const { block: to } of edgesOf(blocks[block]!.end))
      if (!dominates(to, block) && --waits[to]! === 0) areas[homeOf(to)]!.ready.push(to);
  }
  return placed;
}

/** Takes the least number out of a list. */
function takeFirst(list: number[]): number {
  let best = 0;
  for (let i = 1; i < list.length; i++) if (list[i]! < list[best]!) best = i;
  return list.splice(best, 1)[0] ?? bug('a loop with several entries');
}

/** A block is rare that is reached from rare blocks and by rare branches only, without the edges that close loops. */
function markRare(blocks: readonly Block[]): void {
  const isReached = new Uint8Array(blocks.length);
  isReached[0] = 1;
  blocks.forEach((block, i) => {
    const isRare = isReached[i] === 0;
    if (isRare) block.isRare = true;
    else delete block.isRare;
    if (isRare) return;
    const { end } = block;
    for (const edge of edgesOf(end)) if (!(end.op === 'branch' && end.isRare && edge === end.then)) isReached[edge.block] = 1;
  });
}
