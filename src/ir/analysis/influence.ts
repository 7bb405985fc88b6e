/** The influence region of a divergent branch: the blocks up to its reconvergence point, and the joins inside. */
import type { Cfg } from './cfg.ts';

export interface Influence {
  /** Blocks that run between the branch and its immediate post-dominator, that one excluded. */
  readonly region: ReadonlySet<number>;
  /** Blocks, the post-dominator included, at which paths from different sides of the branch meet. */
  readonly joins: ReadonlySet<number>;
  /** Blocks on a way from the branch back to itself: threads may leave this cycle at different turns. */
  readonly cycle: ReadonlySet<number>;
}

/** The influence of the branch that ends block `branch`, `meeting` being its immediate post-dominator. */
export function influenceOf(cfg: Cfg, branch: number, meeting: number): Influence {
  const region = between(cfg.successors, cfg.successors[branch]!, meeting);
  const back = region.has(branch) ? between(cfg.predecessors, [branch], meeting) : new Set<number>();
  const cycle = new Set([...back].filter((block) => region.has(block)));
  return { region, joins: joinsOf(cfg, branch, meeting), cycle };
}

function between(edges: readonly (readonly number[])[], starts: readonly number[], stop: number): Set<number> {
  const seen = new Set<number>();
  const stack = [...starts];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (node === stop || seen.has(node)) continue;
    seen.add(node);
    for (const to of edges[node]!) stack.push(to);
  }
  return seen;
}

/**
 * Each side of the branch sends its own mark down the graph; a block that meets a second mark is a join and sends a mark of its own. A mark
 * stops at the post-dominator, and at the branch itself, where the next turn of a loop begins.
 */
function joinsOf(cfg: Cfg, branch: number, meeting: number): Set<number> {
  const joins = new Set<number>();
  // Sides are marked -1 and -2, joins with their own number.
  const marks = new Map<number, number>();
  const [blocks, sent] = [[...cfg.successors[branch]!], cfg.successors[branch]!.map((_, side) => -1 - side)];
  for (let block = blocks.pop(); block !== undefined; block = blocks.pop()) {
    let mark = sent.pop()!;
    const before = marks.get(block);
    if (before === block || before === mark) continue;
    if (before !== undefined) {
      joins.add(block);
      mark = block;
    }
    marks.set(block, mark);
    if (block === meeting || block === branch) continue;
    for (const to of cfg.successors[block]!) {
      blocks.push(to);
      sent.push(mark);
    }
  }
  return joins;
}
