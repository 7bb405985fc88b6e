/** Small kernels built op by op, for specs of the rooms below PTX. */
import { addBlock, type Builder, builder, emptyKernel, type Kernel, type KernelParam } from '../../src/ir/index.ts';

export const pointerParam = (name: string, slot: number, element: KernelParam['element'], access: KernelParam['access']): KernelParam => ({
  name,
  kind: 'pointer',
  space: 'global',
  size: 4,
  align: 4,
  slot,
  element,
  signed: false,
  access,
});

export const valueParam = (name: string, slot: number, element: KernelParam['element'], size = 4, align = 4): KernelParam => ({
  name,
  kind: 'value',
  space: 'param',
  size,
  align,
  slot,
  element,
  signed: false,
  access: 'read',
});

/** A kernel of one block, ended by `ret`. */
export function oneBlock(name: string, params: KernelParam[], body: (b: Builder) => void): Kernel {
  const kernel = emptyKernel(name);
  kernel.params.push(...params);
  body(builder(kernel, addBlock(kernel)));
  return kernel;
}

const plain = { align: 4, volatile: false };

/** `if (i < n) c[i] = a[i] + b[i]` with i the position in the grid, addresses as sums of integers as PTX has them. */
export function vectorAdd(): Kernel {
  const kernel = emptyKernel('vector_add');
  kernel.params.push(
    pointerParam('a', 0, 'f32', 'read'),
    pointerParam('b', 1, 'f32', 'read'),
    pointerParam('c', 2, 'f32', 'write'),
    valueParam('n', 3, 'i32'),
  );
  const [entry, body, exit] = [addBlock(kernel), addBlock(kernel), addBlock(kernel)];
  const b = builder(kernel, entry!);
  const n = b.load('i32', b.param('ptr.param', { index: 3 }), plain);
  const i = b.sreg('i32', { name: 'gid.x' });
  entry!.end = { op: 'condbr', cond: b.icmp(i, n, { pred: 'ult' }), then: { block: body!, args: [] }, else: { block: exit!, args: [] } };
  b.block = body!;
  const offset = b.mul(b.zext('i64', i), b.const('i64', 4));
  const at = (index: number) => b.ptradd(b.param('ptr.global', { index }), offset);
  b.store(at(2), b.fadd(b.load('f32', at(0), plain), b.load('f32', at(1), plain)), plain);
  body!.end = { op: 'br', to: { block: exit!, args: [] } };
  return kernel;
}
