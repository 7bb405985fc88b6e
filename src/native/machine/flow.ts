/** The control flow of a function before allocation: critical edges are split, predecessors, dominators and loops are known. */
import type { MachineBlock, MachineEdge, MachineEnd, MachineFunction } from './types.ts';

/** An edge by the block it leaves and its number there. */
export interface Incoming {
  readonly block: number;
  readonly edge: number;
}

/** A loop: the contiguous blocks from its header to the last one that jumps back. */
export interface Loop {
  readonly header: number;
  readonly last: number;
  /** The number of the loop around it, or -1. */
  readonly outer: number;
}

export interface Flow {
  readonly blocks: readonly MachineBlock[];
  readonly incoming: readonly (readonly Incoming[])[];
  readonly isReachable: Uint8Array;
  readonly dominators: Dominators;
  readonly loops: readonly Loop[];
  /** The number of the innermost loop of each block, or -1. */
  readonly loopOf: Int32Array;
  readonly hasBackEdges: boolean;
}

/** The tree of dominators, with pointers that jump over many levels. */
export interface Dominators {
  readonly parent: Int32Array;
  readonly depth: Int32Array;
  readonly jump: Int32Array;
}

export function flowOf(fn: MachineFunction): Flow {
  const blocks = splitCriticalEdges(fn.blocks);
  const order = reversePostorder(blocks);
  const isReachable = new Uint8Array(blocks.length);
  for (const block of order) isReachable[block] = 1;
  const incoming: Incoming[][] = blocks.map(() => []);
  let hasBackEdges = false;
  blocks.forEach(({ edges }, block) => {
    if (!isReachable[block]) return;
    edges.forEach((to, edge) => {
      incoming[to.block]!.push({ block, edge });
      hasBackEdges ||= to.block <= block;
    });
  });
  const dominators = dominatorsOf(order, incoming);
  const loops = loopsOf(incoming, dominators);
  return { blocks, incoming, isReachable, dominators, loops, loopOf: innermost(loops, blocks.length), hasBackEdges };
}

/** The end of a block that goes on in another. */
const plainJump: MachineEnd = {
  uses: [],
  emit(out, _places, labels, next) {
    if (next === undefined) out.jump(labels[0]!);
  },
};

/** Whether moves cannot be at the end of a block, behind or before which it reads registers. */
export const isBusyEnd = ({ edges, end }: MachineBlock): boolean =>
  edges.length > 1 || end.uses.length > 0 || (end.temps !== undefined && end.temps.length > 0);

/**
 * Puts a block on each edge from a block with several to a block with several. It is before its target, or behind its source if the edge goes back, so
 * that loops stay contiguous.
 */
function splitCriticalEdges(blocks: readonly MachineBlock[]): readonly MachineBlock[] {
  const count = new Int32Array(blocks.length);
  for (const { edges } of blocks) for (const { block } of edges) count[block]!++;
  const isCritical = (source: MachineBlock, edge: MachineEdge): boolean => count[edge.block]! > 1 && isBusyEnd(source);
  if (!blocks.some((source) => source.edges.some((edge) => isCritical(source, edge)))) return blocks;
  /** Edges to split by their source and number, in the order of the blocks that split them. */
  const before: Incoming[][] = blocks.map(() => []);
  const behind: Incoming[][] = blocks.map(() => []);
  blocks.forEach((source, block) => {
    source.edges.forEach((to, edge) => {
      if (isCritical(source, to)) (to.block <= block ? behind[block]! : before[to.block]!).push({ block, edge });
    });
  });
  const numbers = new Int32Array(blocks.length);
  const splits: number[][] = blocks.map(() => []);
  let next = 0;
  const place = ({ block, edge }: Incoming): void => {
    splits[block]![edge] = next++;
  };
  blocks.forEach((_, number) => {
    before[number]!.forEach(place);
    numbers[number] = next++;
    behind[number]!.forEach(place);
  });
  const result: MachineBlock[] = new Array(next);
  blocks.forEach((source, number) => {
    const edges = source.edges.map((edge, index): MachineEdge => {
      const moved = { block: numbers[edge.block]!, args: edge.args };
      const split = splits[number]![index];
      if (split === undefined) return moved;
      const target = blocks[edge.block]!;
      const loopDepth = Math.min(source.loopDepth, target.loopDepth);
      result[split] = { params: [], insts: [], end: plainJump, edges: [moved], loopDepth, isRare: source.isRare || target.isRare };
      return { block: split, args: [] };
    });
    result[numbers[number]!] = { ...source, edges };
  });
  return result;
}

/** Reachable blocks, each before those that it dominates. */
function reversePostorder(blocks: readonly MachineBlock[]): number[] {
  const order: number[] = [];
  const seen = new Uint8Array(blocks.length);
  const stack = [0];
  const nextEdge = new Int32Array(blocks.length);
  seen[0] = 1;
  while (stack.length > 0) {
    const block = stack[stack.length - 1]!;
    const edge = blocks[block]!.edges[nextEdge[block]!++];
    if (edge === undefined) {
      order.push(block);
      stack.pop();
    } else if (!seen[edge.block]) {
      seen[edge.block] = 1;
      stack.push(edge.block);
    }
  }
  return order.reverse();
}

/** Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm"; the jumps are those of skew-binary numbers (Myers). */
function dominatorsOf(order: readonly number[], incoming: readonly (readonly Incoming[])[]): Dominators {
  const rank = new Int32Array(incoming.length).fill(-1);
  order.forEach((block, index) => {
    rank[block] = index;
  });
  const parent = parentsOf(order, incoming, rank);
  const depth = new Int32Array(incoming.length);
  const jump = new Int32Array(incoming.length);
  for (let i = 1; i < order.length; i++) {
    const block = order[i]!;
    const up = parent[block]!;
    const over = jump[up]!;
    depth[block] = depth[up]! + 1;
    jump[block] = depth[up]! - depth[over]! === depth[over]! - depth[jump[over]!]! ? jump[over]! : up;
  }
  return { parent, depth, jump };
}

/** The immediate dominator of each block. */
function parentsOf(order: readonly number[], incoming: readonly (readonly Incoming[])[], rank: Int32Array): Int32Array {
  const parent = new Int32Array(incoming.length).fill(-1);
  parent[0] = 0;
  const common = (a: number, b: number): number => {
    while (a !== b) {
      if (rank[a]! > rank[b]!) a = parent[a]!;
      else b = parent[b]!;
    }
    return a;
  };
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (let i = 1; i < order.length; i++) {
      const block = order[i]!;
      let found = -1;
      for (const { block: from } of incoming[block]!) {
        if (parent[from]! >= 0) found = found < 0 ? from : common(found, from);
      }
      if (parent[block] === found) continue;
      parent[block] = found;
      isChanged = true;
    }
  }
  return parent;
}

/** The nearest block that dominates both. */
export function commonDominator({ parent, depth, jump }: Dominators, a: number, b: number): number {
  while (depth[a]! !== depth[b]!) {
    if (depth[a]! < depth[b]!) [a, b] = [b, a];
    a = depth[jump[a]!]! >= depth[b]! ? jump[a]! : parent[a]!;
  }
  while (a !== b) {
    const canJump = jump[a] !== jump[b];
    a = canJump ? jump[a]! : parent[a]!;
    b = canJump ? jump[b]! : parent[b]!;
  }
  return a;
}

function loopsOf(incoming: readonly (readonly Incoming[])[], dominators: Dominators): Loop[] {
  const loops: { header: number; last: number; outer: number }[] = [];
  const open: number[] = [];
  incoming.forEach((edges, header) => {
    let last = -1;
    for (const { block } of edges) {
      if (block >= header && commonDominator(dominators, header, block) === header) last = Math.max(last, block);
    }
    if (last < 0) return;
    while (open.length > 0 && loops[open[open.length - 1]!]!.last < header) open.pop();
    for (const around of open) loops[around]!.last = Math.max(loops[around]!.last, last);
    loops.push({ header, last, outer: open[open.length - 1] ?? -1 });
    open.push(loops.length - 1);
  });
  return loops;
}

function innermost(loops: readonly Loop[], blockCount: number): Int32Array {
  const loopOf = new Int32Array(blockCount).fill(-1);
  // Inner loops are behind the loops around them.
  for (const [number, { header, last }] of loops.entries()) loopOf.fill(number, header, last + 1);
  return loopOf;
}
