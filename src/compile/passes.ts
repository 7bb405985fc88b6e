/** The passes between lowering and AIR, chosen by the options, and the names of all passes, for `--print-after`. */
import { useGridPositions } from '../air/emit/grid-positions.ts';
import { expandWideAtomics, keepExactDoubles, legalPasses, type Target, targets } from '../air/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import {
  type AfterPass,
  carryShuffles,
  costPasses,
  dce,
  dropMembers,
  type Kernel,
  optimize,
  type Pass,
  runPass,
  runPasses,
  standardPasses,
} from '../ir/index.ts';
import { lowerPasses, promoteLocals } from '../lower/index.ts';
import { isExactDouble } from './warn-doubles.ts';

export interface PassChoices {
  readonly text: string;
  /** Whether the kernel keeps the member masks of collectives. */
  readonly keepsMembers: boolean;
  readonly emulatesDoubles: boolean;
  readonly isMmaFast: boolean;
  /** Whether instruments need the branches and loops of the source. */
  readonly isInstrumented: boolean;
  readonly afterPass?: AfterPass | undefined;
}

const locals: Pass = { name: 'promote-locals', run: promoteLocals };
const members: Pass = { name: 'drop-members', run: dropMembers };
const shuffles: Pass = { name: 'carry-shuffles', run: carryShuffles };
const positions: Pass = { name: 'grid-positions', run: (kernel) => useGridPositions(kernel) && dce(kernel) };
const exactDoubles = (text: string): Pass => ({
  name: 'keep-exact-doubles',
  run: (kernel) => keepExactDoubles(kernel, (span) => isExactDouble(text, span)),
});

/** Runs the target-independent passes on a lowered kernel, in place. */
export function optimizeLowered(kernel: Kernel, choices: PassChoices): void {
  const { afterPass, isInstrumented } = choices;
  runPass(kernel, locals, afterPass);
  if (!choices.keepsMembers) runPass(kernel, members, afterPass);
  if (choices.emulatesDoubles) runPass(kernel, exactDoubles(choices.text), afterPass);
  if (choices.isMmaFast) {
    runPasses(kernel, standardPasses, afterPass);
    runPass(kernel, shuffles, afterPass);
  }
  optimize(kernel, isInstrumented, afterPass);
  runPass(kernel, positions, afterPass);
}

/** Expands the 64-bit atomics of a kernel for Apple GPUs; reports CM2090. This may add a parameter. */
export function expandAtomics(kernel: Kernel, target: Target, diagnostics: Diagnostics, afterPass: AfterPass | undefined): void {
  runPass(kernel, wideAtomics(target, diagnostics), afterPass);
}

const wideAtomics = (target: Target, diagnostics: Diagnostics): Pass => ({
  name: 'wide-atomics',
  run: (kernel) => expandWideAtomics(kernel, target, diagnostics),
});

/** The names of all passes from PTX to AIR, in the order of their first run. */
export const passNames: readonly string[] = [
  ...new Set(
    [
      ...lowerPasses,
      locals,
      members,
      exactDoubles(''),
      shuffles,
      ...standardPasses,
      ...costPasses,
      positions,
      wideAtomics(targets.cpu, new Diagnostics()),
      ...legalPasses,
    ].map(({ name }) => name),
  ),
];
