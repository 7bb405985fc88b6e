/** Copies of kernels, for transforms that keep the original. */
import type { Block, Edge, Kernel } from './kernel.ts';
import { stackBytes } from './services.ts';

/** A copy that shares nothing with the kernel that passes change. */
export function copyOf(kernel: Kernel): Kernel {
  const blocks = kernel.blocks.map((block): Block => ({ ...block, params: [...block.params], body: [...block.body] }));
  const edge = (to: Edge): Edge => ({ block: blocks[to.block.id]!, args: [...to.args] });
  for (const block of blocks) {
    const { end } = block;
    if (end.op === 'br') block.end = { op: 'br', to: edge(end.to) };
    else if (end.op === 'condbr') block.end = { op: 'condbr', cond: end.cond, then: edge(end.then), else: edge(end.else) };
  }
  return { ...kernel, blocks, insts: kernel.insts.map((inst) => ({ ...inst })), locs: [...kernel.locs] };
}

/** A copy of a kernel of a metallib with a stack of so many bytes; the kernel itself if it has none. Its local memory is one variable there. */
export function withStack(kernel: Kernel, bytes: number): Kernel {
  if (!kernel.params.some(({ service }) => service === 'stack')) return kernel;
  const more = bytes - stackBytes;
  const variables = kernel.variables.map((each) => (each.space === 'local' ? { ...each, size: each.size + more } : each));
  return { ...copyOf(kernel), variables };
}
