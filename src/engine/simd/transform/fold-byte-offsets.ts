/**
 * Offsets that AIR counts in elements: `(x >> 2) * 4`. Where x is known to be a multiple of 4 that is x, else x without its last bits; either way
 * lanes that lie side by side are seen to.
 */
import { bitsOf, edgesOf, type Inst, type Kernel, mapBlock, type Value } from '../../../ir/index.ts';

/** Rewrites such products in place; returns whether there were any. */
export function foldByteOffsets(kernel: Kernel): boolean {
  const zeros = trailingZeros(kernel);
  const same = new Map<Value, Value>();
  let changed = false;
  for (const { body } of kernel.blocks)
    for (const value of body) {
      const found = restored(kernel, kernel.insts[value]!);
      if (!found) continue;
      changed = true;
      if (zeros[found.from]! >= found.count) same.set(value, found.from);
      else cutBits(kernel, value, found);
    }
  if (same.size === 0) return changed;
  const seen = (value: Value): Value => {
    let at = value;
    for (let next = same.get(at); next !== undefined; next = same.get(at)) at = next;
    return at;
  };
  for (const block of kernel.blocks) {
    block.body = block.body.filter((value) => !same.has(value));
    mapBlock(kernel.insts, block, seen);
  }
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

const constantOf = (kernel: Kernel, value: Value): bigint | undefined => {
  const inst = kernel.insts[value]!;
  return inst.op === 'const' ? inst.bits : undefined;
};

/** The mask is a constant of its own, which stands before. */
function cutBits(kernel: Kernel, value: Value, { from, count }: Restored): void {
  const { type } = kernel.insts[value]!;
  const bits = BigInt.asUintN(bitsOf(type), -1n << BigInt(count));
  const mask = (kernel.insts.push({ op: 'const', type, bits }) - 1) as Value;
  kernel.locs.push(undefined);
  kernel.insts[value] = { op: 'and', type, a: from, b: mask } as Inst;
  for (const block of kernel.blocks) {
    const at = block.body.indexOf(value);
    if (at < 0) continue;
    block.body.splice(at, 0, mask);
    return;
  }
}

/** By value: how many of its last bits are 0 for certain, taken as many at first as there could be. */
function trailingZeros(kernel: Kernel): Uint8Array {
  const most = 64;
  const zeros = new Uint8Array(kernel.insts.length).fill(most);
  for (let changed = true; changed; ) {
    changed = false;
    const lower = (value: Value, count: number): void => {
      if (count >= zeros[value]!) return;
      zeros[value] = count;
      changed = true;
    };
    for (const { body, end } of kernel.blocks) {
      for (const value of body) lower(value, zerosOf(kernel, kernel.insts[value]!, zeros));
      for (const { block, args } of edgesOf(end)) args.forEach((arg, i) => void lower(block.params[i]!, zeros[arg]!));
    }
  }
  return zeros;
}

function zerosOf(kernel: Kernel, inst: Inst, zeros: Uint8Array): number {
  switch (inst.op) {
    case 'const':
      return inst.bits === 0n ? 64 : (inst.bits & -inst.bits).toString(2).length - 1;
    case 'add':
    case 'sub':
    case 'or':
    case 'xor':
    case 'select':
      return Math.min(zeros[inst.a]!, zeros[inst.b]!);
    case 'and':
      return Math.max(zeros[inst.a]!, zeros[inst.b]!);
    case 'mul':
      return Math.min(64, zeros[inst.a]! + zeros[inst.b]!);
    case 'shl':
      return Math.min(64, zeros[inst.a]! + Number(constantOf(kernel, inst.b) ?? 0n));
    case 'zext':
    case 'sext':
    case 'trunc':
      return zeros[inst.a]!;
    default:
      return 0;
  }
}
