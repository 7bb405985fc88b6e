/** The PTX of a kernel after the passes of the compiler, for those who assemble it themselves. */
import { errorOf } from '../api/failures.ts';
import { Diagnostics } from '../base/diagnostic.ts';
import { toPtxIr } from '../compile/index.ts';
import { ptxFile } from '../text/index.ts';
import type { TypedKernel } from './kernel.ts';
import type { Target } from './targets.ts';

/**
 * The PTX of a kernel after simplification, common subexpressions and the other passes, for an architecture: that of the kernel by default.
 * Throws CM2090 for what the printer does not have.
 */
export function optimizedPtx(kernel: TypedKernel, target: Exclude<Target, 'sm_90a'> = kernel.target as 'sm_80'): string {
  const diagnostics = new Diagnostics(kernel.source);
  const made = toPtxIr(kernel.source, target, {}, diagnostics);
  const { ir, ...others } = made ?? {};
  const text = ir && ptxFile(ir.kernels, diagnostics, { architecture: target, source: kernel.source, ...others });
  if (text === undefined || diagnostics.hasErrors) throw errorOf(diagnostics);
  return text;
}
