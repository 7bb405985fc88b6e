/** The printers of the targets beside the CPU device, and why one refuses a kernel. */
import { Diagnostics } from '../../src/base/diagnostic.ts';
import type { SourceFile } from '../../src/base/source.ts';
import { compile, toIr, toLegalIr, toPtxIr } from '../../src/compile/index.ts';
import { mslKernel, openclKernel, ptxFile, wgslKernel } from '../../src/text/index.ts';

/** Runs a printer; the first error, if there is one. */
export function refusal(print: (diagnostics: Diagnostics) => void): string | undefined {
  const diagnostics = new Diagnostics();
  print(diagnostics);
  const error = diagnostics.list.find(({ severity }) => severity === 'error');
  return error && `${error.code} ${error.message}`;
}

/** What each target prints of one entry. */
export const printers: Readonly<Record<string, (source: SourceFile, entry: string, diagnostics: Diagnostics) => void>> = {
  metallib: (source, entry, diagnostics) => void compile(source, { target: 'macos15', entries: [entry] }, diagnostics),
  msl: (source, entry, diagnostics) => {
    const module = toLegalIr(source, { target: 'macos15', entries: [entry] }, diagnostics);
    for (const kernel of module?.kernels ?? []) mslKernel(kernel, diagnostics, { source, target: 'macos15' });
  },
  opencl: (source, entry, diagnostics) => {
    const module = toIr(source, { target: 'cpu', isForText: true, entries: [entry] }, diagnostics);
    for (const kernel of module?.kernels ?? []) openclKernel(kernel, diagnostics, { source });
  },
  wgsl: (source, entry, diagnostics) => {
    const module = toIr(source, { target: 'cpu', isForText: true, entries: [entry] }, diagnostics);
    for (const kernel of module?.kernels ?? []) wgslKernel(kernel, diagnostics, { source });
  },
  ptx: (source, entry, diagnostics) => {
    const sm = Math.min(90, Math.max(80, Number(/^\s*\.target\s+sm_(\d+)/m.exec(source.text)?.[1] ?? 80)));
    const module = toPtxIr(source, `sm_${sm}`, { entries: [entry] }, diagnostics);
    if (!module) return;
    const { ir, ...others } = module;
    ptxFile(ir.kernels, diagnostics, { architecture: `sm_${sm}`, source, ...others });
  },
};
