/** Services of the CPU device that WebGPU does not have: kernels reach them through hidden parameters. */
import type { Service, Value } from '../../ir/index.ts';
import type { Expression } from '../expression.ts';
import type { Printer } from '../language.ts';

const services: Readonly<Record<Service, readonly [string, string]>> = {
  grid: [
    'a barrier of the whole grid (`grid.sync()`, `%envreg1`, `%envreg2`)',
    'WebGPU does not promise that all workgroups run at the same time',
  ],
  alone: ['an access of 128 bits that is atomic', 'WGSL has none'],
  heap: ['the heap of kernels (`malloc`, `free`, `%envreg30`)', 'WGSL has none'],
  cluster: ['a cluster of blocks (`%cluster_ctarank`, `mapa`, `barrier.cluster`)', 'WebGPU has no clusters of blocks'],
  stack: ['a stack (recursive functions, `alloca`)', 'WGSL has none'],
  launches: ['launches by kernels (dynamic parallelism)', 'WGSL has none'],
};

/** Reports that a value is, or is reached through, the parameter of a service; undefined for other parameters. */
export function refusedParam(p: Printer, index: number, value: Value): Expression | undefined {
  const { service } = p.kernel.params[index]!;
  return service && p.refuse(value, ...services[service]);
}
