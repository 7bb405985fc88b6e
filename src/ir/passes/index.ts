/**
 * Passes: functions that change a kernel in place and say whether they did. Each keeps what `verify` promises and what the kernel computes,
 * bit for bit. A value that a pass takes out of its block stays in `Kernel.insts`, dead, so that numbers and locations of all others hold.
 */
import type { Kernel } from '../kernel.ts';
import type { AfterPass, Pass } from '../pass.ts';
import { carryShuffles } from './carry-shuffles.ts';
import { cleanupCfg } from './cleanup-cfg.ts';
import { cse } from './cse.ts';
import { dce } from './dce.ts';
import { dropMembers } from './drop-members.ts';
import { flattenBranches } from './flatten.ts';
import { hoistInvariants } from './hoist.ts';
import { recoverPointers } from './recover-pointers.ts';
import { simplify } from './simplify.ts';
import { denied } from './symmetry.ts';

export { dropParams, replaceAll, type Substitution, substitute, substitution } from './substitution.ts';
export { carryShuffles, cleanupCfg, cse, dce, denied, dropMembers, flattenBranches, hoistInvariants, recoverPointers, simplify };

const cleanup: Pass = { name: 'cleanup-cfg', run: cleanupCfg };

/** What every kernel goes through. */
export const standardPasses: readonly Pass[] = [
  cleanup,
  { name: 'simplify', run: simplify },
  { name: 'cse', run: cse },
  { name: 'dce', run: dce },
  cleanup,
];

/** What moves instructions to where they cost less; for kernels on their way to AIR, once, since what is read from AIR has been through it. */
export const costPasses: readonly Pass[] = [{ name: 'flatten', run: flattenBranches }, cleanup, { name: 'hoist', run: hoistInvariants }];

/** Rounds after which what is left to gain is not worth the time. */
const maxRounds = 8;

/**
 * Runs the passes in order, and again while the last of them changed something. That is no fixpoint over all passes on purpose: the last pass
 * cleans the control flow, a change of which lets the others find more, while what a pass leaves to an earlier one otherwise is rare. Over the
 * fixtures a full fixpoint changes 2 of 156 metallibs, and takes a round more for every kernel.
 */
export function runPasses(kernel: Kernel, passes: readonly Pass[], afterPass?: AfterPass): void {
  for (let round = 0; round < maxRounds; round++) {
    let changed = false;
    for (const pass of passes) changed = runPass(kernel, pass, afterPass);
    if (!changed) return;
  }
}

/** Runs one pass; returns whether the kernel changed. */
export function runPass(kernel: Kernel, { name, run }: Pass, afterPass?: AfterPass): boolean {
  const changed = run(kernel);
  afterPass?.(name, kernel);
  return changed;
}

/**
 * What a kernel on its way to AIR goes through. All of the above: the standard passes, those that weigh costs, and the standard ones again for
 * what they made plain. Who watches a kernel wants its branches and loops as they are written, so then it is the standard passes alone.
 */
export function optimize(kernel: Kernel, isWatched = false, afterPass?: AfterPass): void {
  runPasses(kernel, standardPasses, afterPass);
  if (isWatched) return;
  let changed = false;
  for (const pass of costPasses) changed = runPass(kernel, pass, afterPass) || changed;
  if (changed) runPasses(kernel, standardPasses, afterPass);
}
