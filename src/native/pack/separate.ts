/**
 * Loads that two groups need in different places are loaded twice: rows of a stencil overlap, and an unaligned load is cheaper than a permutation of two
 * groups.
 */
import type { Inst, Value } from '../ssa/types.ts';
import type { Discovery } from './discover.ts';

/** Gives operands that are consecutive loads loads of their own. The function has to be numbered anew. */
export function separateLoads({ packs, overlaps }: Discovery): void {
  const { fn, insts, nodeOf, blocks } = packs.numbering;
  /** New loads by what they load anew, and for each block the ones behind its instructions. */
  const copies = new Map<string, Value[]>();
  const behind = new Map<Inst, Inst[]>();
  const changed = new Set<number>();
  const copyOf = (value: Value): Value => {
    const inst = insts[nodeOf[value]!]!;
    const result = fn.types.push('v128') - 1;
    const others = behind.get(inst);
    if (others) others.push({ ...inst, args: [...inst.args], result });
    else behind.set(inst, [{ ...inst, args: [...inst.args], result }]);
    changed.add(blocks[nodeOf[value]!]!);
    return result;
  };
  for (const { pack, values } of overlaps) {
    const name = values.join();
    const news = copies.get(name) ?? values.map(copyOf);
    copies.set(name, news);
    for (const [i, member] of pack.members.entries()) {
      const { args } = insts[member]!;
      // All uses by the member that the operand stands for.
      for (const [at, arg] of args.entries()) if (arg === values[i]) args[at] = news[i]!;
    }
  }
  for (const block of changed) fn.blocks[block]!.insts = fn.blocks[block]!.insts.flatMap((inst) => [inst, ...(behind.get(inst) ?? [])]);
}
