/**
 * Expands atomics that Apple GPUs lack into compare-and-swap loops: wrapping counters (`inc`, `dec`) and float sums in threadgroup memory.
 * A loop loads, computes and tries to swap, and repeats with the value found. A thread leaves its loop as soon as it succeeds, so lanes do
 * not wait for each other.
 */
import {
  addBlock,
  addBlockParam,
  type Block,
  type Builder,
  builder,
  type InstOf,
  type Kernel,
  renumber,
  splitBlock,
  type Value,
} from '../../ir/index.ts';

/** Expands in place; returns whether there was any. `wide-atomics.ts` has expanded those of 64 bits before. */
export function expandAtomics(kernel: Kernel): boolean {
  const count = kernel.blocks.length;
  for (let at = 0; at < kernel.blocks.length; at++) expandFirst(kernel, kernel.blocks[at]!);
  if (kernel.blocks.length > count) renumber(kernel);
  return kernel.blocks.length > count;
}

const needsLoop = (kernel: Kernel, inst: InstOf<'atomic'>): boolean =>
  inst.rmw === 'inc' || inst.rmw === 'dec' || (inst.rmw === 'fadd' && inst.type === 'f32' && kernel.insts[inst.a]!.type === 'ptr.shared');

/** Expands the first atomic of a block. The rest of the block moves to a new block, which is visited later. */
function expandFirst(kernel: Kernel, block: Block): void {
  const at = block.body.findIndex((value) => {
    const inst = kernel.insts[value]!;
    return inst.op === 'atomic' && needsLoop(kernel, inst);
  });
  if (at < 0) return;
  const value = block.body[at]!;
  const inst = kernel.insts[value] as InstOf<'atomic'>;
  const loop = addBlock(kernel);
  const rest = splitBlock(kernel, block, at + 1);
  block.body.pop();
  const b = builder(kernel, block);
  b.loc = kernel.locs[value];
  const first = b.load('i32', inst.a, { align: 4, volatile: true });
  block.end = { op: 'br', to: { block: loop, args: [first] } };
  const expected = addBlockParam(kernel, loop, 'i32');
  b.block = loop;
  const found = b.cas(inst.a, expected, replacement(b, inst, expected));
  const isDone = b.icmp(found, expected, { pred: 'eq' });
  loop.end = { op: 'condbr', cond: isDone, then: { block: rest, args: [] }, else: { block: loop, args: [found] } };
  // The old value keeps the number of the atomic, so that its uses stay unchanged.
  kernel.insts[value] = { op: 'bitcast', type: inst.type, a: expected };
  rest.body.unshift(value);
}

/** The new value for the bits found in memory. */
function replacement(b: Builder, { rmw, b: operand }: InstOf<'atomic'>, old: Value): Value {
  const [zero, one] = [b.const('i32', 0), b.const('i32', 1)];
  if (rmw === 'inc') return b.select(b.icmp(old, operand, { pred: 'uge' }), zero, b.add(old, one));
  if (rmw === 'dec') {
    const wraps = b.or(b.icmp(old, zero, { pred: 'eq' }), b.icmp(old, operand, { pred: 'ugt' }));
    return b.select(wraps, operand, b.sub(old, one));
  }
  return b.bitcast('i32', b.fadd(b.bitcast('f32', old), operand));
}
