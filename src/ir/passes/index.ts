/**
 * Passes: functions that change a kernel in place and return whether they did. Each keeps the promises of `verify` and the results of the
 * kernel, bit for bit. A value that a pass removes from its block stays in `Kernel.insts`, dead, so that the numbers of all others hold.
 */
import type { Kernel } from '../kernel.ts';
import type { AfterPass, Pass } from '../pass.ts';
import { cleanupCfg } from './cleanup-cfg.ts';
import { cse } from './cse.ts';
import { dce } from './dce.ts';
import { dropFlushes } from './drop-flushes.ts';
import { flattenBranches } from './flatten.ts';
import { hoistInvariants } from './hoist.ts';
import { typeLoads } from './load-types.ts';
import { mergeLoads } from './merge-loads.ts';
import { typeParams } from './param-types.ts';
import { simplify } from './simplify.ts';
import { threadBranches } from './thread-branches.ts';

export { carryShuffles } from './carry-shuffles.ts';
export { cleanupCfg } from './cleanup-cfg.ts';
export { cse } from './cse.ts';
export { dce } from './dce.ts';
export { flattenBranches } from './flatten.ts';
export { hoistInvariants } from './hoist.ts';
export { mergeCollectives } from './merge-collectives.ts';
export { recoverPointers } from './recover-pointers.ts';
export type { EndStuck } from './rendezvous-dispatch.ts';
export { rendezvousLoop } from './rendezvous-loop.ts';
export { divergentMasks, hasMasks, isMasked, type MaskedInst, type MaskOptions, replaceAllMasks, replaceMasks } from './replace-masks.ts';
export { simplify } from './simplify.ts';
export { answerForZero } from './simplify-arithmetic.ts';
export { dropParams, replaceAll, type Substitution, substitute, substitution } from './substitution.ts';
export { invertComparison } from './symmetry.ts';

const cleanup: Pass = { name: 'cleanup-cfg', run: cleanupCfg };

/** Passes over instructions. They leave the blocks as they are, some of which no way leads to when a condition has become known. */
export const instructionPasses: readonly Pass[] = [
  { name: 'simplify', run: simplify },
  { name: 'cse', run: cse },
  { name: 'dce', run: dce },
];

/** The passes that every kernel goes through. */
export const standardPasses: readonly Pass[] = [cleanup, { name: 'drop-flushes', run: dropFlushes }, ...instructionPasses, cleanup];

/** Passes that move instructions to where they cost less. They run once, for kernels on their way to AIR: kernels read from AIR went through them. */
export const costPasses: readonly Pass[] = [
  { name: 'thread-branches', run: threadBranches },
  { name: 'merge-loads', run: mergeLoads },
  { name: 'param-types', run: typeParams },
  { name: 'load-types', run: typeLoads },
  { name: 'flatten', run: flattenBranches },
  cleanup,
  { name: 'hoist', run: hoistInvariants },
];

/** Rounds after which the remaining gain is not worth the time. */
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
 * Optimizes a kernel on its way to AIR: the standard passes, the cost passes, and the standard passes again for what those expose. A kernel
 * that is to be instrumented keeps its branches and loops as in the source, so only the standard passes run.
 */
export function optimize(kernel: Kernel, isInstrumented = false, afterPass?: AfterPass): void {
  runPasses(kernel, standardPasses, afterPass);
  if (isInstrumented) return;
  let changed = false;
  for (const pass of costPasses) changed = runPass(kernel, pass, afterPass) || changed;
  if (changed) runPasses(kernel, standardPasses, afterPass);
}
