/**
 * Dominators and post-dominators.
 * Source: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001).
 */
import { type Cfg, positionsIn, reversed, reversePostorder } from './cfg.ts';

export interface DominatorTree {
  /** The immediate dominator of each node; -1 for the root and for nodes out of its reach. */
  readonly parent: Int32Array;
  /** Children of each node. */
  readonly children: readonly (readonly number[])[];
  readonly root: number;
  /** Whether a is on every path from the root to b; every node dominates itself. */
  dominates(a: number, b: number): boolean;
}

/** The dominator tree of a kernel's blocks. Its root is the entry, or the block from which `cfg.order` starts. */
export const dominatorsOf = (cfg: Cfg, root = 0): DominatorTree => treeOf(cfg.order, cfg.predecessors, root);

/**
 * The post-dominator tree over the reachable blocks. The root is a virtual exit whose number is the number of blocks; `ret` leads to it, and
 * so does one block of each endless loop, so that every reachable block has a post-dominator.
 */
export function postDominatorsOf(cfg: Cfg): DominatorTree {
  const exit = cfg.successors.length;
  const forward = withExit(cfg, exit);
  return treeOf(reversePostorder(reversed(forward), exit), forward, exit);
}

function withExit(cfg: Cfg, exit: number): number[][] {
  const reachable = (id: number): boolean => cfg.position[id]! >= 0;
  const forward = cfg.successors.map((targets, id) => (!reachable(id) ? [] : targets.length === 0 ? [exit] : [...targets]));
  forward.push([]);
  const backward = reversed(forward);
  const ends = new Uint8Array(exit + 1);
  markFrom(backward, exit, ends);
  // The last block in order of an endless loop is a latch of it: the least surprising place to leave from.
  for (const id of [...cfg.order].reverse()) {
    if (ends[id]) continue;
    forward[id]!.push(exit);
    markFrom(backward, id, ends);
  }
  return forward;
}

function markFrom(edges: readonly (readonly number[])[], start: number, seen: Uint8Array): void {
  const stack = [start];
  seen[start] = 1;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const to of edges[node]!) {
      if (seen[to]) continue;
      seen[to] = 1;
      stack.push(to);
    }
  }
}

function treeOf(order: readonly number[], predecessors: readonly (readonly number[])[], root: number): DominatorTree {
  const position = positionsIn(order, predecessors.length);
  const parent = new Int32Array(predecessors.length).fill(-1);
  if (order.length > 0) parent[root] = root;
  for (let changed = true; changed; ) {
    changed = false;
    for (const node of order) {
      if (node === root) continue;
      const found = nearestCommon(predecessors[node]!, parent, position);
      if (found === parent[node]) continue;
      parent[node] = found;
      changed = true;
    }
  }
  parent[root] = -1;
  return numbered(order, parent, root);
}

function nearestCommon(predecessors: readonly number[], parent: Int32Array, position: Int32Array): number {
  let found = -1;
  for (const from of predecessors) {
    if (position[from]! < 0 || parent[from]! < 0) continue;
    found = found < 0 ? from : meet(found, from, parent, position);
  }
  return found;
}

function meet(a: number, b: number, parent: Int32Array, position: Int32Array): number {
  while (a !== b) {
    while (position[a]! > position[b]!) a = parent[a]!;
    while (position[b]! > position[a]!) b = parent[b]!;
  }
  return a;
}

/** Numbers the tree on the way in and out, so that dominance is two comparisons. */
function numbered(order: readonly number[], parent: Int32Array, root: number): DominatorTree {
  const children: number[][] = Array.from(parent, () => []);
  for (const node of order) if (parent[node]! >= 0) children[parent[node]!]!.push(node);
  const first = new Int32Array(parent.length).fill(-1);
  const last = new Int32Array(parent.length).fill(-1);
  const inside = reversePostorder(children, root);
  inside.forEach((node, at) => {
    first[node] = at;
    last[node] = at;
  });
  for (const node of [...inside].reverse()) if (parent[node]! >= 0) last[parent[node]!] = Math.max(last[parent[node]!]!, last[node]!);
  const dominates = (a: number, b: number): boolean => first[b]! >= 0 && first[a]! >= 0 && first[a]! <= first[b]! && first[b]! <= last[a]!;
  return { parent, children, root, dominates };
}
