/** The WebAssembly modules of a metallib's kernels, to be printed. They are the modules that a launch without instruments runs. */
import { Diagnostics } from '../../../base/diagnostic.ts';
import { compileKernel } from '../../../engine/index.ts';
import { standardPasses } from '../../../ir/index.ts';
import { readMetallib } from '../../../metallib/index.ts';
import type { Dim3 } from '../../device.ts';
import { prepareKernel, raiseFunction, simdModule } from './make-kernel.ts';

export interface ModuleBytes {
  /** The kernel. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/**
 * One module per kernel, for a memory that workers share: of the SIMD compiler for blocks of a shape, or of the scalar compiler without
 * `block`. Undefined after reporting a kernel that cannot be raised or that the SIMD compiler declines (CM5091).
 */
export function moduleBytes(metallib: Uint8Array, diagnostics: Diagnostics, block?: Dim3): ModuleBytes[] | undefined {
  const functions = readMetallib(metallib, diagnostics)?.functions.filter(({ type }) => type === 'kernel') ?? [];
  const modules = functions.flatMap((fn): ModuleBytes[] => {
    const own = new Diagnostics();
    const kernel = raiseFunction(fn, own)?.kernel;
    diagnostics.addAll(own.list);
    if (!kernel) return [];
    prepareKernel(kernel, standardPasses);
    const { name } = fn;
    if (!block) return [{ name, bytes: compileKernel(kernel, undefined, true).bytes }];
    const made = simdModule(kernel, block, { isShared: true });
    if (!('why' in made)) return [{ name, bytes: made.bytes }];
    diagnostics.report('CM5091', { kernel: name, block: block.join(' x '), why: made.why });
    return [];
  });
  return diagnostics.hasErrors ? undefined : modules;
}
