/**
 * Plain reads of words that the same thread may change atomically afterwards: the first read of a loop around a compare-and-swap, or a test
 * that avoids an atomic. These do not count as races with atomics of others.
 */
import { addTo } from '../../../../base/group.ts';
import { syncPointOf } from '../../../../engine/codegen/split-at-sync-points.ts';
import { edgesOf, type Kernel, type Value } from '../../../../ir/index.ts';

/** The loads of a kernel, split at its sync points, behind which an atomic has the same address before the next barrier. */
export function readsBeforeAtomics(kernel: Kernel): ReadonlySet<Value> {
  const atomics = new Map<Value, { readonly block: number; readonly at: number }[]>();
  for (const block of kernel.blocks)
    for (const [at, value] of block.body.entries()) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'atomic' || inst.op === 'cas') addTo(atomics, inst.a, { block: block.id, at });
    }
  const found = new Set<Value>();
  if (atomics.size === 0) return found;
  for (const block of kernel.blocks)
    for (const [at, value] of block.body.entries()) {
      const inst = kernel.insts[value]!;
      const places = inst.op === 'load' ? atomics.get(inst.addr) : undefined;
      if (!places) continue;
      const behind = blocksBehind(kernel, block.id);
      if (places.some((place) => behind.has(place.block) || (place.block === block.id && place.at > at))) found.add(value);
    }
  return found;
}

/** The blocks that a thread can reach from the end of a block without a barrier. */
function blocksBehind(kernel: Kernel, from: number): Set<number> {
  const seen = new Set<number>();
  const work = [from];
  for (let id = work.pop(); id !== undefined; id = work.pop()) {
    const block = kernel.blocks[id]!;
    const stop = syncPointOf(kernel, block);
    if (stop !== undefined && kernel.insts[stop]!.op === 'barrier') continue;
    for (const { block: to } of edgesOf(block.end)) {
      if (!seen.has(to.id)) work.push(to.id);
      seen.add(to.id);
    }
  }
  return seen;
}
