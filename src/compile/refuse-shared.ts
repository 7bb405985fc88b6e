/** Refuses kernels with more static shared memory than GPUs have. */
import { type KernelReflection, type Target, targets } from '../air/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { Span } from '../base/source.ts';

/** What an entry declares, and where it is. */
interface DeclaredShared {
  readonly target: Target;
  readonly declared: number;
  readonly span: Span | undefined;
}

/** Reports CM2093 for more than NVIDIA GPUs take, used or not, and for more than the target has. */
export function refuseTooMuchShared(
  { name, staticSharedBytes: used }: KernelReflection,
  { target, declared, span }: DeclaredShared,
  diagnostics: Diagnostics,
): void {
  const { declared: maxBytes } = targets.cpu.shared;
  const { declared: limit } = target.shared;
  const where = span ? { span } : {};
  if (declared > maxBytes) diagnostics.report('CM2093', { kernel: name, bytes: declared, who: 'NVIDIA GPUs', limit: maxBytes }, where);
  else if (used > limit) {
    const help = used <= maxBytes ? { help: '`--target cpu` compiles it for the CPU device alone' } : {};
    diagnostics.report(
      'CM2093',
      { kernel: name, bytes: used, who: limit === maxBytes ? 'NVIDIA GPUs' : 'Apple GPUs', limit },
      { ...where, ...help },
    );
  }
}
