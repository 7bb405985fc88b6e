/** The order that instructions of a block have to keep: definitions before uses, and accesses to memory that may be to one address. */
import type { Value } from '../ssa/types.ts';
import type { Node, Numbering } from './numbering.ts';
import { accessOf } from './ops.ts';
import { mayAlias, type Place, placeOf } from './places.ts';

/**
 * Comparisons for each access of a block, on the average beyond the first ones. Where there are more, an access becomes a barrier, so that a block takes
 * linear time; if possible one with another base than the access before, which does not split a group.
 */
const comparisonsEach = 64;
const freeComparisons = 8192;

/** For the instructions of a block, from its first one on: the instructions that have to be before each. */
export function predecessorsOf(numbering: Numbering, block: number): Node[][] {
  const { firstInst, firstNode, insts, nodeOf } = numbering;
  const first = firstInst[block]!;
  const memory = newMemory(numbering);
  const before: Node[][] = [];
  for (let node = first; node < firstNode[block + 1]!; node++) {
    const all = memory.before(node);
    for (const arg of insts[node]!.args) if (nodeOf[arg]! >= first && nodeOf[arg]! < node) all.push(nodeOf[arg]!);
    before.push(all);
  }
  return before;
}

interface Range extends Place {
  readonly node: Node;
}

function newMemory(numbering: Numbering): { before(node: Node): Node[] } {
  let barrier: Node | undefined;
  let reads: Range[] = [];
  let writes: Range[] = [];
  let traps: Node[] = [];
  let comparisons = 0;
  let accesses = 0;
  let root: Value | undefined;
  const isTooMuch = (next: Value): boolean => comparisons > (next === root ? 2 : 1) * (freeComparisons + comparisonsEach * accesses);
  const setBarrier = (node: Node): Node[] => {
    const all = [...reads, ...writes].map((range) => range.node).concat(traps, barrier ?? []);
    barrier = node;
    [reads, writes, traps] = [[], [], []];
    [comparisons, accesses] = [0, 0];
    return all;
  };
  /** The accesses before that an access may be to one address with. */
  const aliases = (range: Range, kind: 'read' | 'write'): Node[] | undefined => {
    comparisons += writes.length + (kind === 'write' ? reads.length : 0);
    accesses++;
    if (isTooMuch(range.root)) return undefined;
    root = range.root;
    const others = kind === 'read' ? writes : [...reads, ...writes];
    return others.filter((other) => mayAlias(range, other)).map(({ node }) => node);
  };
  return {
    before(node) {
      const { kind } = accessOf(numbering.insts[node]!.op);
      if (kind === 'none') return [];
      if (kind === 'barrier') return setBarrier(node);
      const all: Node[] = barrier === undefined ? [] : [barrier];
      if (kind === 'trap') {
        traps.push(node);
        return all;
      }
      const range: Range = { ...placeOf(numbering, node), node };
      const earlier = aliases(range, kind);
      if (!earlier) return setBarrier(node);
      (kind === 'read' ? reads : writes).push(range);
      return all.concat(earlier);
    },
  };
}
