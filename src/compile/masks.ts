/**
 * Member masks of collectives. In convergent code a mask only selects among the lanes that are together, on every target; collectives in both arms
 * of a divergent branch are merged into convergent code where that settles all masks. For other divergent code the CPU device has collectives
 * by mask. In kernels for Apple GPUs threads meet in a loop, or masks are checked when they run.
 */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import {
  type AfterPass,
  type Convergences,
  convergencesOf,
  divergentMasks,
  hasMasks,
  hasSpinLoop,
  type Kernel,
  mergeCollectives,
  type Pass,
  rendezvousLoop,
  replaceAllMasks,
  replaceMasks,
  runPass,
  runPasses,
  standardPasses,
} from '../ir/index.ts';
import { checkMasks, collectiveAt, endStuckAt } from '../lower/index.ts';

export interface MaskChoices {
  /** `keep` for the sanitizer, `keep-divergent` for the CPU device, `check` for Apple GPUs. */
  readonly masks: 'keep' | 'keep-divergent' | 'check';
  readonly file: SourceFile;
  /** The name of the target. */
  readonly target: string;
  readonly afterPass?: AfterPass | undefined;
}

/** What a kernel does about masks at run time, as in the reflection; absent where that is nothing. */
export type CheckedMasks = 'loop' | 'shape' | 'divergent' | undefined;

const replacing = (areRowsAligned: boolean, convergences?: Convergences): Pass => ({
  name: 'replace-masks',
  run: (kernel) => replaceMasks(kernel, { areRowsAligned, ...(convergences ? { convergences } : {}) }),
});

const merging = (convergences: Convergences): Pass => ({
  name: 'merge-collectives',
  run: (kernel) => mergeCollectives(kernel, { areRowsAligned: true, convergences }),
});

const meeting = (areRowsAligned: boolean, file: SourceFile, convergences: Convergences): Pass => ({
  name: 'rendezvous-loop',
  run: (kernel) => rendezvousLoop(kernel, { areRowsAligned, endStuck: endStuckAt(file), convergences }),
});

/** The passes that settle masks, for the list of pass names. */
export const maskPasses: readonly { readonly name: string }[] = [
  { name: 'replace-masks' },
  { name: 'merge-collectives' },
  { name: 'rendezvous-loop' },
  { name: 'check-masks' },
];

/** Whether the source requires blocks in which consecutive lanes have consecutive `tid.x`. */
const hasAlignedRows = ({ requiredThreads: shape }: Kernel): boolean =>
  shape !== undefined && (shape[0] % 32 === 0 || shape[1] * shape[2] === 1);

/** Settles the masks of a kernel, in place. Reports CM2099 for a mask that is checked because of divergent code. */
export function settleMasks(kernel: Kernel, choices: MaskChoices, diagnostics: Diagnostics): CheckedMasks {
  const { masks, afterPass } = choices;
  if (masks === 'keep' || !hasMasks(kernel)) return undefined;
  // A thread that waits in a loop is late for a collective, so masks count even in convergent code.
  const mayBeLate = hasSpinLoop(kernel);
  if (mayBeLate && masks === 'keep-divergent') return undefined;
  const areAligned = hasAlignedRows(kernel);
  if (!runPass(kernel, replacing(areAligned), afterPass)) {
    runPasses(kernel, standardPasses, afterPass);
    // Each pass that changes nothing leaves what is known of the kernel.
    const known = convergencesOf(kernel);
    if (!runPass(kernel, replacing(areAligned, known), afterPass)) {
      const isMerged = runPass(kernel, merging(known), afterPass);
      if (!isMerged || !replacesMerged(kernel, areAligned, afterPass))
        return masks === 'check' ? settleDivergent(kernel, choices, isMerged ? convergencesOf(kernel) : known, diagnostics) : undefined;
    }
  }
  return mayBeLate ? 'divergent' : undefined;
}

/** After the collectives of divergent arms were merged: returns whether all collectives are replaced. */
function replacesMerged(kernel: Kernel, areAligned: boolean, afterPass: AfterPass | undefined): boolean {
  runPasses(kernel, standardPasses, afterPass);
  return runPass(kernel, replacing(areAligned), afterPass);
}

/** Makes threads meet in a loop, or checks that they are together. */
function settleDivergent(kernel: Kernel, choices: MaskChoices, known: Convergences, diagnostics: Diagnostics): CheckedMasks {
  const { afterPass, file } = choices;
  const isShapeAlone = divergentMasks(kernel, known(true)).length === 0;
  if (isShapeAlone || !runPass(kernel, meeting(hasAlignedRows(kernel), file, known), afterPass))
    return checkAll(kernel, choices, known, diagnostics);
  runPasses(kernel, standardPasses, afterPass);
  return runPass(kernel, replacing(hasAlignedRows(kernel)), afterPass) || !hasMasks(kernel)
    ? 'loop'
    : checkAll(kernel, choices, convergencesOf(kernel), diagnostics);
}

function checkAll(kernel: Kernel, { file, target, afterPass }: MaskChoices, known: Convergences, diagnostics: Diagnostics): CheckedMasks {
  const convergence = known(hasAlignedRows(kernel));
  const divergent = divergentMasks(kernel, known(true));
  const seen = new Set<number>();
  for (const value of divergent) {
    const span = kernel.locs[value];
    if (!span || seen.has(span.start)) continue;
    seen.add(span.start);
    diagnostics.report('CM2099', { what: collectiveAt(file, span), target }, { span });
  }
  checkMasks(kernel, divergentMasks(kernel, convergence), file);
  replaceAllMasks(kernel, convergence.variance);
  afterPass?.('check-masks', kernel);
  return divergent.length > 0 ? 'divergent' : 'shape';
}
