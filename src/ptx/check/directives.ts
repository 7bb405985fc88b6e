/**
 * Directives of an entry that change the computation and have no equivalent on any device. The other directives between head and body set bounds
 * or tune. Source: PTX ISA 9.0, 11.4 and 11.7.
 */
import type { Diagnostics } from '../../base/diagnostic.ts';
import type { PtxFunction } from '../syntax/ast.ts';

interface RefusedDirective {
  readonly why: string;
  readonly instead: string;
}

const refused: ReadonlyMap<string, RefusedDirective> = new Map<string, RefusedDirective>([
  [
    'blocksareclusters',
    {
      why: 'the grid of a launch counts blocks, and not clusters',
      instead: 'write the kernel without it, and launch as many blocks as the clusters have',
    },
  ],
]);

/** Reports CM2055 for each unsupported directive of an entry. */
export function refuseDirectives({ directives }: PtxFunction, diagnostics: Diagnostics): void {
  for (const { name, span } of directives) {
    const found = refused.get(name);
    if (found) diagnostics.report('CM2055', { name, why: found.why }, { span, help: found.instead });
  }
}
