/**
 * Offsets that AIR counts in elements: `(x >> 2) * 4`. Where x is known to be a multiple of 4 that is x, else x without its last bits; either way
 * lanes that lie side by side are seen to.
 */
import {
  addInst,
  bitsOf,
  constantOf,
  type Inst,
  type Kernel,
  replaceAll,
  substitution,
  trailingZeros,
  type Value,
} from '../../../ir/index.ts';

/** Rewrites such products in place; returns whether there were any. */
export function foldByteOffsets(kernel: Kernel): boolean {
  const zeros = trailingZeros(kernel);
  const replaced = substitution();
  let changed = false;
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const found = restored(kernel, kernel.insts[value]!);
      if (!found) continue;
      changed = true;
      if (zeros[found.from]! >= found.count) replaced.replace(value, found.from);
      else cutBits(kernel, value, found);
    }
  replaceAll(kernel, replaced);
  return changed;
}

interface Restored {
  readonly from: Value;
  /** Bits that are cut off and zeros that come in their places. */
  readonly count: number;
  /** The operand that says by how much is multiplied or shifted: it becomes the mask. */
  readonly by: Value;
}

/** The value that is shifted to the right and back again. */
function restored(kernel: Kernel, inst: Inst): Restored | undefined {
  if (inst.op !== 'mul' && inst.op !== 'shl') return undefined;
  const by = constantOf(kernel, inst.b);
  const shifted = kernel.insts[inst.a]!;
  if (by === undefined || (shifted.op !== 'lshr' && shifted.op !== 'ashr')) return undefined;
  const count = constantOf(kernel, shifted.b);
  if (count === undefined || count >= BigInt(bitsOf(inst.type)) || by !== (inst.op === 'mul' ? 1n << count : count)) return undefined;
  return { from: shifted.a, count: Number(count), by: inst.b };
}

/** The mask is a constant of its own, which stands before. */
function cutBits(kernel: Kernel, value: Value, { from, count }: Restored): void {
  const { type } = kernel.insts[value]!;
  const bits = BigInt.asUintN(bitsOf(type), -1n << BigInt(count));
  const mask = addInst(kernel, { op: 'const', type, bits });
  kernel.insts[value] = { op: 'and', type, a: from, b: mask } as Inst;
  for (const block of kernel.blocks) {
    const at = block.body.indexOf(value);
    if (at < 0) continue;
    block.body.splice(at, 0, mask);
    return;
  }
}
