/**
 * Byte offsets: AIR counts offsets in elements, so that `(x >> 2) * 4` is common. Where x is known to be a multiple of 4 it is x, else x without
 * its last bits; either way affine addresses stay affine.
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
  /** The number of low bits that are cleared. */
  readonly count: number;
}

/** The value that is shifted to the right and back again. */
function restored(kernel: Kernel, inst: Inst): Restored | undefined {
  if (inst.op !== 'mul' && inst.op !== 'shl') return undefined;
  const by = constantOf(kernel, inst.b);
  const shifted = kernel.insts[inst.a]!;
  if (by === undefined || (shifted.op !== 'lshr' && shifted.op !== 'ashr')) return undefined;
  const count = constantOf(kernel, shifted.b);
  if (count === undefined || count >= BigInt(bitsOf(inst.type)) || by !== (inst.op === 'mul' ? 1n << count : count)) return undefined;
  return { from: shifted.a, count: Number(count) };
}

/** Replaces a product by a mask, a constant that is placed before it. */
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
