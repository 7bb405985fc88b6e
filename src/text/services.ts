/** Services of devices that kernels reach through hidden parameters (`src/ir/services.ts`), and those that a text has no use for. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Kernel, Service } from '../ir/index.ts';

/** What kernels want of each service, and why a GPU does not have it; undefined for what the launch supplies there too. */
const services: Readonly<Record<Service, readonly [what: string, why: string] | undefined>> = {
  grid: [
    'a barrier of the whole grid (`grid.sync()`, `%envreg1`, `%envreg2`)',
    'it is not promised that all blocks of a grid run at the same time',
  ],
  alone: ['an access of 128 bits that is atomic', 'there is none'],
  cluster: [
    'a cluster of blocks (`%cluster_ctarank`, `mapa`, `barrier.cluster`)',
    'it is compiled for the CPU device, which runs the blocks of a cluster by turns',
  ],
  group: undefined,
  heap: undefined,
  stack: undefined,
  launches: undefined,
};

/** What a text is for, and whether blocks that wait for others leave the kernel and go on later. */
interface Wanted {
  readonly target: string;
  readonly hasGrid: boolean;
}

/** Reports CM2090 where a kernel first uses a service that the launch of a text does not supply. */
export function refuseServices({ params, blocks, insts, locs }: Kernel, { target, hasGrid }: Wanted, diagnostics: Diagnostics): void {
  const said = new Set<Service>(hasGrid ? ['grid'] : []);
  for (const { body } of blocks)
    for (const value of body) {
      const inst = insts[value]!;
      const service = inst.op === 'param' ? params[inst.index]!.service : undefined;
      const texts = service && services[service];
      if (!texts || said.has(service)) continue;
      said.add(service);
      const span = locs[value];
      diagnostics.report('CM2090', { what: texts[0], target, why: texts[1] }, span ? { span } : {});
    }
}
