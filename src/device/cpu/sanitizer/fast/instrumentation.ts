/** The checks of a kernel as the SIMD compiler calls them. */
import type { SimdPlan } from '../../../../engine/simd/analysis/plan.ts';
import type { CheckInstrumentation } from '../../../../engine/simd/lanes/hooks.ts';
import type { Value } from '../../../../ir/index.ts';
import { checkEmitters } from './emit-checks.ts';
import type { Guards } from './insert-checks.ts';
import { declareQuick, writeLater, writeQuickBlock } from './shadow-state.ts';

/** The instrumentation of a kernel that has these checks. */
export const checkInstrumentation = (guards: Guards): CheckInstrumentation => ({
  whyNot: (plan) => whyNot(plan, guards),
  declare(module) {
    const state = declareQuick(module, guards);
    return {
      blockStart: (code) => writeQuickBlock(state, code),
      barrier: (code) => writeLater(state, code),
      emitters: (packs) => checkEmitters(module, guards, state, packs),
    };
  },
});

/** Why guards would not see what they are to see. */
function whyNot(plan: SimdPlan, { local, list }: Guards): string | undefined {
  // Barriers are counted for the block as a whole.
  if (plan.shapes.barrierDivergence) return 'a barrier that not all threads may come to';
  if (plan.windows.local !== local && list.some(({ space }) => space === 'local')) return 'local variables that are elsewhere';
  const isLong = ({ op, a }: { op: string; a?: Value }): boolean => op === 'guard' && plan.wide[a!] === 1;
  const { blocks, insts } = plan.kernel;
  return blocks.some(({ body }) => body.some((value) => isLong(insts[value] as never))) ? 'addresses of 64 bits' : undefined;
}
