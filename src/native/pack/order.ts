/** The order that instructions of a block have to keep: definitions before uses, and accesses to memory that may be to one address. */
import { partsOfType, type Value } from '../ssa/types.ts';
import type { Node, Numbering } from './numbering.ts';
import { accessOf } from './ops.ts';

/** Accesses that an access is compared with; where there are more, it becomes a barrier, so that a block takes linear time. */
const maxCompared = 256;

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

interface Range {
  readonly node: Node;
  readonly base: Value;
  readonly start: number;
  readonly end: number;
}

/** Accesses with one base are apart if their ranges are: the sum of address and offset does not wrap around. Different bases may be anywhere. */
const mayAlias = (a: Range, b: Range): boolean => a.base !== b.base || (a.start < b.end && b.start < a.end);

function newMemory({ insts, fn }: Numbering): { before(node: Node): Node[] } {
  let barrier: Node | undefined;
  let reads: Range[] = [];
  let writes: Range[] = [];
  let traps: Node[] = [];
  const rangeOf = (node: Node, bytes: number): Range => {
    const { args, offset = 0, result } = insts[node]!;
    const type = fn.types[result ?? args.at(-1)!]!;
    return { node, base: args[0]!, start: offset, end: offset + bytes * partsOfType(type) };
  };
  const setBarrier = (node: Node): Node[] => {
    const all = [...reads, ...writes].map((range) => range.node).concat(traps, barrier ?? []);
    barrier = node;
    [reads, writes, traps] = [[], [], []];
    return all;
  };
  return {
    before(node) {
      const { kind, bytes } = accessOf(insts[node]!.op);
      if (kind === 'none') return [];
      if (kind === 'barrier' || reads.length + writes.length + traps.length >= maxCompared) return setBarrier(node);
      const all: Node[] = barrier === undefined ? [] : [barrier];
      if (kind === 'trap') {
        traps.push(node);
        return all;
      }
      const range = rangeOf(node, bytes);
      for (const earlier of kind === 'read' ? [writes] : [reads, writes])
        for (const other of earlier) if (mayAlias(range, other)) all.push(other.node);
      (kind === 'read' ? reads : writes).push(range);
      return all;
    },
  };
}
