/** The control-flow graph of a kernel as side arrays by block id. */
import type { Kernel } from '../kernel.ts';

export interface Cfg {
  /** Successors of each block in edge order; a block twice where both edges of a branch go there. */
  readonly successors: readonly (readonly number[])[];
  /** Predecessors of each block, one per edge, unreachable ones included. */
  readonly predecessors: readonly (readonly number[])[];
  /** Blocks reachable from the entry in reverse postorder. */
  readonly order: readonly number[];
  /** Place of each block in `order`; -1 where it cannot be reached. */
  readonly position: Int32Array;
}

/** The graph of a kernel whose block ids are positions. */
export function cfgOf(kernel: Kernel): Cfg {
  const successors = kernel.blocks.map(({ end }) =>
    end.op === 'br' ? [end.to.block.id] : end.op === 'condbr' ? [end.then.block.id, end.else.block.id] : [],
  );
  const order = reversePostorder(successors, 0);
  return { successors, predecessors: reversed(successors), order, position: positionsIn(order, successors.length) };
}

/** The same graph with its edges turned round. */
export function reversed(successors: readonly (readonly number[])[]): number[][] {
  const result: number[][] = successors.map(() => []);
  for (let from = 0; from < successors.length; from++) for (const to of successors[from]!) result[to]!.push(from);
  return result;
}

/** Nodes reachable from a root, each before its successors except along back edges. Iterative: kernels nest deeply. */
export function reversePostorder(successors: readonly (readonly number[])[], root: number): number[] {
  if (root >= successors.length) return [];
  const seen = new Uint8Array(successors.length);
  const next = new Int32Array(successors.length);
  const stack = [root];
  const postorder: number[] = [];
  seen[root] = 1;
  while (stack.length > 0) {
    const node = stack[stack.length - 1]!;
    const to = successors[node]![next[node]!++];
    if (to === undefined) postorder.push(stack.pop()!);
    else if (!seen[to]) {
      seen[to] = 1;
      stack.push(to);
    }
  }
  return postorder.reverse();
}

/** Place of each node in an order; -1 where it is not in it. */
export function positionsIn(order: readonly number[], count: number): Int32Array {
  const position = new Int32Array(count).fill(-1);
  order.forEach((node, at) => {
    position[node] = at;
  });
  return position;
}
