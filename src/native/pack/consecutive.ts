/** Loads and stores at consecutive addresses. */
import type { Value } from '../ssa/types.ts';
import type { Node } from './numbering.ts';
import type { Packs } from './packs.ts';
import { distance, placeOf } from './places.ts';

/** Accesses of a block at addresses with a distance of 16 bytes, in groups. */
export function consecutive({ numbering, of, width }: Packs, block: number, op: string): Node[][] {
  const { firstInst, firstNode, insts, values, fn } = numbering;
  const byRoot = new Map<Value, Located[]>();
  for (let node = firstInst[block]!; node < firstNode[block + 1]!; node++) {
    const inst = insts[node]!;
    if (inst.op !== op || of[node]! >= 0 || fn.types[inst.args[1] ?? values[node]!] !== 'v128') continue;
    const { root, ...place } = placeOf(numbering, node);
    // Distances from a root are around 0, on both sides.
    const at = place.at | 0;
    const same = byRoot.get(root);
    if (same) same.push({ node, at });
    else byRoot.set(root, [{ node, at }]);
  }
  const groups: Node[][] = [];
  for (const accesses of byRoot.values())
    for (const run of runsOf(accesses.sort((a, b) => a.at - b.at || a.node - b.node)))
      for (let i = 0; i + width <= run.length; i += width) groups.push(run.slice(i, i + width));
  // The order of the block, so that an earlier group decides what its operands are grouped with.
  return groups.sort((a, b) => a[0]! - b[0]!);
}

/** An access, and its distance from its root. */
interface Located {
  readonly node: Node;
  readonly at: number;
}

/** Splits accesses, sorted by their distance, into runs of consecutive ones. Of several at one distance, the n-th belong to one run. */
function runsOf(sorted: readonly Located[]): Node[][] {
  const runs: Node[][] = [];
  /** By distance: the runs that end there and go on no farther yet. */
  const open = new Map<number, Node[][]>();
  for (const { node, at } of sorted) {
    const run = open.get(at - 16)?.shift() ?? [];
    if (run.length === 0) runs.push(run);
    run.push(node);
    const ending = open.get(at);
    if (ending) ending.push(run);
    else open.set(at, [run]);
  }
  return runs;
}

/** Whether nodes are loads of 128 bits, each behind the one before it. */
export function areConsecutiveLoads({ numbering }: Packs, nodes: readonly Node[]): boolean {
  if (!nodes.every((node) => numbering.insts[node]?.op === 'v128.load' && numbering.blocks[node] === numbering.blocks[nodes[0]!]))
    return false;
  const places = nodes.map((node) => placeOf(numbering, node));
  return places.every((place, i) => place.root === places[0]!.root && distance(places[0]!, place) === 16 * i);
}
