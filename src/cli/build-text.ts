/** `cumetal build --emit opencl`, `msl`, `wgsl` and `ptx`: the kernels as source text. Loaded on demand, with the printers. */
import { raiseModule } from '../air/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import { readModule } from '../bitcode/index.ts';
import { type CompileOptions, targetNameOf, toIr, toLegalIr, toPtxIr } from '../compile/index.ts';
import { type Kernel, runPasses, standardPasses } from '../ir/index.ts';
import { readMetallib } from '../metallib/index.ts';
import { fast, mslFile, mslKernel, openclFile, openclKernel, portable, ptxFile, wgslFile, wgslKernel } from '../text/index.ts';

/** The text of all kernels; undefined after reporting errors. */
export function textOf(
  source: SourceFile,
  target: 'opencl' | 'msl' | 'wgsl',
  options: CompileOptions,
  diagnostics: Diagnostics,
  isFast = false,
): string | undefined {
  return { opencl, msl, wgsl }[target](source, options, diagnostics, isFast);
}

function opencl(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const module = toIr(source, { ...options, target: 'cpu', isForText: true }, diagnostics);
  const kernels = module?.kernels.map((kernel) => openclKernel(kernel, diagnostics, { source }));
  return kernels && !diagnostics.hasErrors ? openclFile(kernels) : undefined;
}

function msl(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const module = toLegalIr(source, options, diagnostics);
  const target = targetNameOf(options);
  const kernels = module?.kernels.map((kernel) => mslKernel(kernel, diagnostics, { source, target }));
  return kernels && !diagnostics.hasErrors ? mslFile(kernels) : undefined;
}

function wgsl(source: SourceFile, options: CompileOptions, diagnostics: Diagnostics, isFast: boolean): string | undefined {
  const module = toIr(source, { ...options, target: 'cpu', isForText: true }, diagnostics);
  const kernels = module?.kernels.map((kernel) => wgslKernel(kernel, diagnostics, { source, exact: isFast ? fast : portable }));
  return kernels && !diagnostics.hasErrors ? wgslFile(kernels) : undefined;
}

/** PTX as PTX for an architecture, from the IR; undefined after reporting errors. */
export function ptxOf(source: SourceFile, architecture: string, options: CompileOptions, diagnostics: Diagnostics): string | undefined {
  const module = toPtxIr(source, architecture, options, diagnostics);
  if (!module) return undefined;
  const { ir, ...others } = module;
  const text = ptxFile(ir.kernels, diagnostics, { architecture, source, ...others });
  return diagnostics.hasErrors ? undefined : text;
}

/** The architecture of PTX that a metallib becomes, if none is named. */
const usualArchitecture = 'sm_75';

/** The kernels of a metallib as PTX; undefined after reporting errors. */
export function ptxOfMetallib(bytes: Uint8Array, architecture: string | undefined, diagnostics: Diagnostics): string | undefined {
  const library = readMetallib(bytes, diagnostics);
  if (!library) return undefined;
  const kernels = library.functions.flatMap(({ bitcode, type }): Kernel[] => {
    const module = type === 'kernel' ? readModule(bitcode, diagnostics) : undefined;
    const raised = module ? raiseModule(module, diagnostics) : [];
    return raised.map(({ kernel, reflection }) => {
      // What a parameter by value is, is in the metadata alone.
      for (const { slot, element, kind } of reflection.params) {
        const param = kernel.params.find((each) => each.slot === slot && each.kind === 'value');
        if (kind === 'bytes' && param && element && !param.packed)
          Object.assign(param, { element: scalarOf(element), signed: element.startsWith('i') });
      }
      runPasses(kernel, standardPasses);
      return kernel;
    });
  });
  if (kernels.length === 0 && !diagnostics.hasErrors) diagnostics.report('CM5092', {});
  const text = diagnostics.hasErrors ? undefined : ptxFile(kernels, diagnostics, { architecture: architecture ?? usualArchitecture });
  return diagnostics.hasErrors ? undefined : text;
}

/** The IR has integers without a sign. */
const scalarOf = (element: string): string => (element.startsWith('u') ? `i${element.slice(1)}` : element);
