/** Legalization: the passes that give a kernel a form which Apple GPUs have, before it is emitted. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { type AfterPass, type Kernel, optimize, type Pass, runPass, standardPasses } from '../../ir/index.ts';
import { orderForConvergence } from '../legalize/convergence-order.ts';
import { emulateF64 } from '../legalize/emulate-f64.ts';
import { separateZeros } from '../legalize/signed-zeros.ts';
import { legalizeF64 } from '../legalize/soft-f64.ts';
import { splitVolatileVectors } from '../legalize/volatile-vectors.ts';
import type { Target } from '../targets.ts';
import { expandAtomics } from './expand-atomics.ts';

interface LegalPass {
  readonly name: string;
  isFor(target: Target): boolean;
  run(kernel: Kernel, target: Target, diagnostics: Diagnostics): boolean;
  /** Whether its result is worth the passes of `optimize`. */
  readonly isLong?: true;
  /** The passes that its result is worth otherwise, once: a condition may be known then, and a block without a way to it. */
  readonly leaves?: readonly Pass[];
}

/** In the order in which they run. */
export const legalPasses: readonly LegalPass[] = [
  {
    name: 'emulate-f64',
    isFor: ({ emulatesDoubles }) => emulatesDoubles === true,
    run: (kernel, { name }, diagnostics) => emulateF64(kernel, name, diagnostics),
    isLong: true,
  },
  {
    name: 'soft-f64',
    isFor: ({ emulatesDoubles }) => !emulatesDoubles,
    run: (kernel, { name }, diagnostics) => legalizeF64(kernel, name, diagnostics),
    isLong: true,
  },
  { name: 'expand-atomics', isFor: () => true, run: expandAtomics },
  { name: 'volatile-vectors', isFor: () => true, run: splitVolatileVectors, leaves: standardPasses },
  { name: 'signed-zeros', isFor: () => true, run: separateZeros, leaves: standardPasses },
  { name: 'convergence-order', isFor: () => true, run: orderForConvergence },
];

export interface LegalizeOptions {
  /** Whether instruments need branches and loops as they are in the source. */
  readonly isInstrumented: boolean;
  readonly afterPass?: AfterPass | undefined;
}

/** Legalizes in place. What has no form is reported (CM2091), and the kernel is then not to be emitted. */
export function legalize(kernel: Kernel, target: Target, diagnostics: Diagnostics, { isInstrumented, afterPass }: LegalizeOptions): void {
  if (target.allowsCpuOnly) return;
  // A kernel that was refused in part breaks promises.
  const observe: AfterPass = (pass, seen) => (diagnostics.hasErrors ? undefined : afterPass?.(pass, seen));
  for (const { name, isFor, run, isLong, leaves } of legalPasses) {
    if (!isFor(target)) continue;
    const changed = runPass(kernel, { name, run: () => run(kernel, target, diagnostics) }, observe);
    if (changed && isLong) optimize(kernel, isInstrumented, observe);
    if (changed) for (const pass of leaves ?? []) runPass(kernel, pass, observe);
  }
}
