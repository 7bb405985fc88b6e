/** AIR modules back to a metallib: what `cumetal build --emit air` and `air-ll` write. */
import { readKernels, type Target, targetOfModule } from '../air/index.ts';
import type { Diagnostics } from '../base/diagnostic.ts';
import { type Module, readModule, writeModule } from '../bitcode/index.ts';
import { type KernelBitcode, libraryOf } from './library.ts';
import type { CompileOptions } from './options.ts';

type Hash = Pick<CompileOptions, 'sha256'>;

/** The metallib of one bitcode module; undefined after reporting CM4002, CM4052, CM4070 or CM4071. The bitcode stays as it is. */
export function metallibOfBitcode(bytes: Uint8Array, options: Hash, diagnostics: Diagnostics): Uint8Array | undefined {
  const module = readModule(bytes, diagnostics);
  const target = module && airTargetOf(module, diagnostics);
  const name = target && kernelOf(module, diagnostics);
  return name === undefined ? undefined : libraryOf([{ name, bitcode: unwrapped(bytes) }], target!, options);
}

/** The metallib of modules that were read from text, all for one target; undefined after reporting CM4052, CM4070 or CM4071. */
export function metallibOfModules(modules: readonly Module[], options: Hash, diagnostics: Diagnostics): Uint8Array | undefined {
  const targets = modules.map((module) => airTargetOf(module, diagnostics));
  const [target] = targets;
  if (!target || targets.includes(undefined)) return undefined;
  const other = targets.find((each) => each !== target);
  if (other) {
    diagnostics.report('CM4071', { why: `it has modules for \`${target.name}\` and for \`${other.name}\`` });
    return undefined;
  }
  const kernels = modules.map((module): KernelBitcode | undefined => {
    const name = kernelOf(module, diagnostics);
    return name === undefined ? undefined : { name, bitcode: writeModule(module, target.dialect) };
  });
  return kernels.every((kernel) => kernel !== undefined) ? libraryOf(kernels, target, options) : undefined;
}

/** The target of an AIR module; undefined after reporting CM4071. */
function airTargetOf(module: Module, diagnostics: Diagnostics): Target | undefined {
  const target = targetOfModule(module);
  if (!target) diagnostics.report('CM4071', { why: `it is for \`${module.triple || 'no triple'}\`, which is no target of this compiler` });
  return target;
}

/** The only kernel of a module; undefined after reporting CM4052 or CM4071. */
function kernelOf(module: Module, diagnostics: Diagnostics): string | undefined {
  const before = diagnostics.list.length;
  const names = readKernels(module, diagnostics).map(({ fn }) => fn.name);
  if (names.length === 1) return names[0];
  if (diagnostics.list.length === before)
    diagnostics.report('CM4071', {
      why:
        names.length === 0 ? 'it has no kernel in `!air.kernel`' : `it has ${names.length} kernels, and a metallib has one module for each`,
    });
  return undefined;
}

/** Bitcode without LLVM's wrapper, which the container adds; the reader has checked its range. */
function unwrapped(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== 0x0b17c0de) return bytes;
  const offset = view.getUint32(8, true);
  return bytes.subarray(offset, offset + view.getUint32(12, true));
}
