/** `cumetal build --emit opencl` and `msl`: the kernels as source text. Loaded on demand, with the printers. */
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { type CompileOptions, targetNameOf, toIr, toLegalIr } from '../compile/index.ts';
import { mslFile, mslKernel, openclFile, openclKernel, type TextTarget } from '../text/index.ts';

/** The text of all kernels; undefined after reporting errors. */
export function textOf(source: SourceFile, target: TextTarget, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  return target === 'opencl' ? opencl(source, options, diagnostics) : msl(source, options, diagnostics);
}

function opencl(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const module = toIr(source, { ...options, target: 'cpu', expandsMma: true }, diagnostics);
  const kernels = module?.kernels.map((kernel) => openclKernel(kernel, diagnostics, { source }));
  return kernels && !diagnostics.hasErrors ? openclFile(kernels) : undefined;
}

function msl(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const module = toLegalIr(source, options, diagnostics);
  const target = targetNameOf(options);
  const kernels = module?.kernels.map((kernel) => mslKernel(kernel, diagnostics, { source, target }));
  return kernels && !diagnostics.hasErrors ? mslFile(kernels) : undefined;
}
