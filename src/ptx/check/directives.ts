/**
 * Directives of an entry that change the computation and have no equivalent in Metal. The other directives between head and body set bounds
 * or tune. Source: PTX ISA 9.0, 11.4 and 11.7.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { PtxFunction } from '../syntax/ast.ts';

interface RefusedDirective {
  readonly why: string;
  readonly instead: string;
  /** Whether these operands change the computation. Default: always. */
  readonly applies?: (values: readonly number[]) => boolean;
}

const withoutCluster = 'write the kernel without `__cluster_dims__`, and launch it without a cluster dimension';

const refused: ReadonlyMap<string, RefusedDirective> = new Map<string, RefusedDirective>([
  [
    'blocksareclusters',
    {
      why: 'the grid of a launch counts blocks, and not clusters',
      instead: 'write the kernel without it, and launch as many blocks as the clusters have',
    },
  ],
]);

const noClusters = 'Metal has no clusters of threadgroups; the CPU device has them (`--target cpu`)';
const ofClusters: ReadonlyMap<string, RefusedDirective> = new Map<string, RefusedDirective>([
  ['explicitcluster', { why: `the launch gives the kernel clusters, and ${noClusters}`, instead: withoutCluster }],
  [
    'reqnctapercluster',
    {
      why: noClusters,
      instead: `${withoutCluster}; a cluster of one block is fine`,
      applies: (values) => values.some((each) => each !== 1),
    },
  ],
]);

/** Reports CM2055 for each unsupported directive of an entry. */
export const refuseDirectives = (fn: PtxFunction, diagnostics: Diagnostics): void => refuseAny(fn, refused, diagnostics);

/** Reports CM2055 for each directive that needs clusters, for targets that have none. */
export const refuseClusters = (fn: PtxFunction, diagnostics: Diagnostics): void => refuseAny(fn, ofClusters, diagnostics);

function refuseAny({ directives }: PtxFunction, which: typeof refused, diagnostics: Diagnostics): void {
  for (const { name, values, span } of directives) {
    const found = which.get(name);
    if (!found || found.applies?.(values.map(Number)) === false) continue;
    diagnostics.report('CM2055', { name, why: found.why }, { span, help: found.instead });
  }
}
