/** The passes between lowering and AIR, chosen by the options, and the names of all passes, for `--print-after`. */
import { useGridPositions } from '../air/emit/grid-positions.ts';
import { expandWideAtomics, keepExactDoubles, legalPasses, type Target, targets } from '../air/index.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import {
  type AfterPass,
  carryShuffles,
  costPasses,
  dce,
  type Kernel,
  optimize,
  type Pass,
  runPass,
  runPasses,
  standardPasses,
} from '../ir/index.ts';
import { lowerPasses, promoteLocals } from '../lower/index.ts';
import { formGroups } from './cluster-groups.ts';
import { countClocks, noteClocks } from './count-clocks.ts';
import { type CheckedMasks, type MaskChoices, maskPasses, settleMasks } from './masks.ts';
import { isExactDouble } from './warn-doubles.ts';

export interface PassChoices extends MaskChoices {
  readonly emulatesDoubles: boolean;
  readonly isMmaFast: boolean;
  /** Whether clocks count their readings. */
  readonly countsClocks: boolean;
  /** Whether instruments need the branches and loops of the source. */
  readonly isInstrumented: boolean;
}

const clocks: Pass = { name: 'count-clocks', run: countClocks };
const groups: Pass = { name: 'cluster-groups', run: formGroups };
const locals: Pass = { name: 'promote-locals', run: promoteLocals };
const shuffles: Pass = { name: 'carry-shuffles', run: carryShuffles };
const positions: Pass = { name: 'grid-positions', run: (kernel) => useGridPositions(kernel) && dce(kernel) };
const exactDoubles = (text: string): Pass => ({
  name: 'keep-exact-doubles',
  run: (kernel) => keepExactDoubles(kernel, (span) => isExactDouble(text, span)),
});

/** Runs the passes between lowering and AIR on a kernel, in place; how its masks are checked at run time. Reports CM2099. */
export function optimizeLowered(kernel: Kernel, choices: PassChoices, diagnostics: Diagnostics): CheckedMasks {
  const { afterPass, isInstrumented } = choices;
  runPass(kernel, groups, afterPass);
  if (choices.countsClocks) {
    noteClocks(kernel, diagnostics);
    runPass(kernel, clocks, afterPass);
  }
  runPass(kernel, locals, afterPass);
  const checked = settleMasks(kernel, choices, diagnostics);
  if (choices.emulatesDoubles) runPass(kernel, exactDoubles(choices.file.text), afterPass);
  if (choices.isMmaFast) {
    runPasses(kernel, standardPasses, afterPass);
    runPass(kernel, shuffles, afterPass);
  }
  optimize(kernel, isInstrumented, afterPass);
  runPass(kernel, positions, afterPass);
  return checked;
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
      groups,
      clocks,
      locals,
      ...maskPasses,
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
