/**
 * Atomics that Apple GPUs lack and a compare-and-swap of 32 bits can make: counters that wrap (`inc`, `dec`), float sums in
 * threadgroup memory. Each becomes a loop: read, compute, try to put it in place, again with what was found there. A thread
 * leaves the loop as soon as it succeeds, so lanes do not wait for one another.
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

/** Expands in place; returns whether there were any. Refused ones (64 bits) are left to the rules. */
export function expandAtomics(kernel: Kernel): boolean {
  const count = kernel.blocks.length;
  for (let at = 0; at < kernel.blocks.length; at++) expandFirst(kernel, kernel.blocks[at]!);
  if (kernel.blocks.length > count) renumber(kernel);
  return kernel.blocks.length > count;
}

const needsLoop = (kernel: Kernel, inst: InstOf<'atomic'>): boolean =>
  inst.rmw === 'inc' || inst.rmw === 'dec' || (inst.rmw === 'fadd' && inst.type === 'f32' && kernel.insts[inst.a]!.type === 'ptr.shared');

/** The first of a block; the rest of the block goes to a new one, which is visited later. */
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
  const seen = addBlockParam(kernel, loop, 'i32');
  b.block = loop;
  const found = b.cas(inst.a, seen, replacement(b, inst, seen));
  const isDone = b.icmp(found, seen, { pred: 'eq' });
  loop.end = { op: 'condbr', cond: isDone, then: { block: rest, args: [] }, else: { block: loop, args: [found] } };
  // The value before is what stands under the atomic's own number, so that nothing else has to change.
  kernel.insts[value] = { op: 'bitcast', type: inst.type, a: seen };
  rest.body.unshift(value);
}

/** What is to be put in place of the bits that were seen. */
function replacement(b: Builder, { rmw, b: operand }: InstOf<'atomic'>, seen: Value): Value {
  const [zero, one] = [b.const('i32', 0), b.const('i32', 1)];
  if (rmw === 'inc') return b.select(b.icmp(seen, operand, { pred: 'uge' }), zero, b.add(seen, one));
  if (rmw === 'dec') {
    const wraps = b.or(b.icmp(seen, zero, { pred: 'eq' }), b.icmp(seen, operand, { pred: 'ugt' }));
    return b.select(wraps, operand, b.sub(seen, one));
  }
  return b.bitcast('i32', b.fadd(b.bitcast('f32', seen), operand));
}
