/**
 * Passes: functions that change a kernel in place and say whether they did. Each keeps what `verify` promises and what the kernel computes,
 * bit for bit. A value that a pass takes out of its block stays in `Kernel.insts`, dead, so that numbers and locations of all others hold.
 */
import type { Kernel } from '../kernel.ts';
import { cleanupCfg } from './cleanup-cfg.ts';
import { cse } from './cse.ts';
import { dce } from './dce.ts';
import { recoverPointers } from './recover-pointers.ts';
import { simplify } from './simplify.ts';

export { cleanupCfg, cse, dce, recoverPointers, simplify };

export interface Pass {
  readonly name: string;
  /** True where the kernel changed. */
  run(kernel: Kernel): boolean;
}

/** What every kernel goes through. */
export const standardPasses: readonly Pass[] = [
  { name: 'cleanup-cfg', run: cleanupCfg },
  { name: 'simplify', run: simplify },
  { name: 'cse', run: cse },
  { name: 'dce', run: dce },
];

/** Rounds after which what is left to gain is not worth the time. */
const mostRounds = 8;

/** Repeats the passes in order until each has found nothing to do since the last change. */
export function runPasses(kernel: Kernel, passes: readonly Pass[]): void {
  let idle = 0;
  for (let turn = 0; turn < mostRounds * passes.length && idle < passes.length; turn++)
    idle = passes[turn % passes.length]!.run(kernel) ? 0 : idle + 1;
}
