/** Natural loops and reducibility. */
import { addTo } from '../../base/group.ts';
import { type Cfg, reversePostorder } from './cfg.ts';
import { type DominatorTree, dominatorsOf } from './dominators.ts';

export interface Loop {
  /** The one block through which the loop is entered. */
  readonly header: number;
  /** Blocks that jump back to the header. */
  readonly latches: readonly number[];
  /** All blocks of the loop, inner loops included, header first, in reverse postorder. */
  readonly blocks: readonly number[];
  /** Index of the innermost loop around this one; -1 for none. */
  readonly parent: number;
  /** 1 for an outermost loop. */
  readonly depth: number;
}

export interface Loops {
  /** Outer loops before the loops inside them. */
  readonly loops: readonly Loop[];
  /** Index of the innermost loop of each block; -1 for none. */
  readonly innermost: Int32Array;
  /** Whether every cycle has one entry; where not, some cycles are in no loop here. */
  readonly isReducible: boolean;
}

/** The natural loops of a kernel, one per header. */
export function loopsOf(cfg: Cfg, dominators: DominatorTree): Loops {
  const latches = new Map<number, number[]>();
  let isReducible = true;
  for (const from of cfg.order)
    for (const to of cfg.successors[from]!) {
      if (cfg.position[to]! > cfg.position[from]!) continue;
      if (!dominators.dominates(to, from)) isReducible = false;
      else addTo(latches, to, from);
    }
  const innermost = new Int32Array(cfg.successors.length).fill(-1);
  const loops: Loop[] = [];
  // An outer header precedes an inner one in reverse postorder, so inner loops overwrite `innermost`.
  for (const [header, from] of [...latches].sort(([a], [b]) => cfg.position[a]! - cfg.position[b]!)) {
    const parent = innermost[header]!;
    const blocks = bodyOf(cfg, header, from);
    loops.push({ header, latches: [...new Set(from)], blocks, parent, depth: parent < 0 ? 1 : loops[parent]!.depth + 1 });
    for (const block of blocks) innermost[block] = loops.length - 1;
  }
  return { loops, innermost, isReducible };
}

function bodyOf(cfg: Cfg, header: number, latches: readonly number[]): number[] {
  const inside = new Set([header]);
  const stack = [...latches];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (inside.has(node) || cfg.position[node]! < 0) continue;
    inside.add(node);
    stack.push(...cfg.predecessors[node]!);
  }
  return [...inside].sort((a, b) => cfg.position[a]! - cfg.position[b]!);
}

/**
 * Blocks in an order in which threads that split can wait for each other: if of all blocks where threads of a warp stand the
 * first is let on, those that are ahead wait for those behind. That is a reverse postorder in which what follows a loop comes
 * after all of the loop.
 * Source: Diamos et al., "SIMD Re-Convergence at Thread Frontiers" (MICRO 2011).
 */
export function convergenceOrder(cfg: Cfg, entry = 0): number[] {
  const { loops, innermost, isReducible } = loopsOf(cfg, dominatorsOf(cfg, entry));
  const left = (from: number, to: number): number => {
    let count = 0;
    for (let loop = innermost[from]!; loop >= 0 && !loops[loop]!.blocks.includes(to); loop = loops[loop]!.parent) count++;
    return count;
  };
  // The node that a search visits first is last.
  const outwards = cfg.successors.map((targets, from) => [...targets].sort((a, b) => left(from, b) - left(from, a)));
  const order = reversePostorder(outwards, entry);
  return isReducible ? contiguous(order, loops, innermost) : order;
}

/**
 * An order of blocks with every loop in one piece, at the place of its header: what a way out of several loops leads to may stand between the
 * blocks of an outer one.
 */
function contiguous(order: readonly number[], loops: readonly Loop[], innermost: Int32Array): number[] {
  const found: number[] = [];
  const seen = new Set<number>();
  /** The loop that a block is in directly inside another one, or inside none. */
  const below = (id: number, outer: number): number => {
    let loop = innermost[id]!;
    while (loop >= 0 && loop !== outer && loops[loop]!.parent !== outer) loop = loops[loop]!.parent;
    return loop === outer ? -1 : loop;
  };
  const visit = (blocks: readonly number[], outer: number): void => {
    for (const id of blocks) {
      const loop = below(id, outer);
      if (loop < 0) found.push(id);
      else if (!seen.has(loop)) {
        seen.add(loop);
        const inside = new Set(loops[loop]!.blocks);
        visit(
          order.filter((each) => inside.has(each)),
          loop,
        );
      }
    }
  };
  visit(order, -1);
  return found;
}
