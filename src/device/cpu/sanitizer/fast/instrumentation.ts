/** The interface through which the SIMD compiler emits the checks of a kernel. */
import type { SimdPlan } from '../../../../engine/simd/analysis/plan.ts';
import type { CheckInstrumentation } from '../../../../engine/simd/lanes/hooks.ts';
import type { Value } from '../../../../ir/index.ts';
import { checkEmitters } from './emit-checks.ts';
import type { AccessChecks } from './insert-checks.ts';
import { declareChecks, writeBlockStart, writeTimeStep } from './shadow-state.ts';

/** The instrumentation of a kernel with these checks. */
export const checkInstrumentation = (checks: AccessChecks): CheckInstrumentation => ({
  whyNot: (plan) => unsupported(plan, checks),
  declare(module) {
    const state = declareChecks(module, checks);
    return {
      blockStart: (code) => writeBlockStart(state, code),
      barrier: (code) => writeTimeStep(state, code),
      emitters: (packs) => checkEmitters(module, checks, state, packs),
    };
  },
});

/** Why the checks would miss faults in a kernel with this plan. */
function unsupported(plan: SimdPlan, { local, list }: AccessChecks): string | undefined {
  // Barriers are counted for the block as a whole.
  if (plan.shapes.barrierDivergence) return 'barrier divergence';
  if (plan.windows.local !== local && list.some(({ space }) => space === 'local')) return 'a changed layout of local memory';
  const isLong = ({ op, a }: { op: string; a?: Value }): boolean => op === 'guard' && plan.wide[a!] === 1;
  const { blocks, insts } = plan.kernel;
  return blocks.some(({ body }) => body.some((value) => isLong(insts[value] as never))) ? 'addresses of 64 bits' : undefined;
}
