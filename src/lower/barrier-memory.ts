/**
 * Memory of barriers that lowering makes of words and loops. On the CPU device it is zero when a block starts, and accesses are in order. On Apple
 * GPUs threadgroup memory has any content, relaxed atomics are what simdgroups see of each other, and fences order the rest.
 */
import { addBlock, builder, type Kernel, splitBlock, type Value } from '../ir/index.ts';
import type { Context } from './context.ts';
import { barrierVariables } from './passes/hidden-variables.ts';

/** A word that another thread changes while this one waits. What is sanitized runs on the CPU device, and the sanitizer follows loads. */
export const peekWord = ({ ir, isForCpu, isSanitized }: Context, address: Value): Value =>
  isForCpu || isSanitized ? ir.load('i32', address, { align: 4, volatile: true }) : ir.atomic(address, ir.const('i32', 0), { rmw: 'or' });

/** Orders the memory of the block around a barrier of words. */
export function blockFence({ ir, isForCpu }: Context): void {
  if (!isForCpu) ir.fence({ scope: 'block' });
}

/** Sets the words of barriers to 0 where a kernel starts, before any of its threads goes on. */
export function clearBarriers(kernel: Kernel): void {
  const variables = barrierVariables(kernel);
  const [entry] = kernel.blocks;
  if (variables.length === 0 || !entry) return;
  const rest = splitBlock(kernel, entry, 0);
  const [clearing, together] = [addBlock(kernel), addBlock(kernel)];
  const b = builder(kernel, entry);
  const isFirst = b.icmp(b.sreg('i32', { name: 'tid.linear' }), b.const('i32', 0), { pred: 'eq' });
  entry.end = { op: 'condbr', cond: isFirst, then: { block: clearing, args: [] }, else: { block: together, args: [] } };
  b.block = clearing;
  const zero = b.const('i32', 0);
  const zeros = b.vec4('v4.i32', zero, zero, zero, zero);
  for (const { name, size } of variables)
    for (let at = 0; at < size; at += 16) {
      const place = b.ptradd(b.variable('ptr.shared', { name }), b.const('i64', at));
      b.store(place, zeros, { align: 16, volatile: false });
    }
  clearing.end = { op: 'br', to: { block: together, args: [] } };
  b.block = together;
  b.barrier();
  together.end = { op: 'br', to: { block: rest, args: [] } };
}
