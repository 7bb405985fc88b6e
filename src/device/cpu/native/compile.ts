/**
 * Compiles a kernel's module to native code, and places it in this process. Few launches run long enough for that, so that the compiler is
 * loaded at the first call (`scripts/lazy-modules.ts`), and this file exports nothing but functions.
 */
import { placeCode } from '../../../ffi/native/code-pages.ts';
import { processorFeatures } from '../../../ffi/native/processor.ts';
import { compileNative, contextOffsets, type NativeCode } from '../../../native/index.ts';
import type { NativeImport, NativeModule } from './module.ts';

/** The pages of each module, which live as long as it does. */
const pages = new WeakMap<NativeModule, unknown>();

/** Native code of a module of WebAssembly, or the reason why there is none. */
export function compileModule(bytes: Uint8Array): NativeModule | { readonly why: string } {
  const made = compileNative(bytes, { avx512: processorFeatures().hasAvx512 });
  if ('why' in made) return made;
  return placeModule(made) ?? { why: 'the system has no executable memory' };
}

/** Places native code in this process; undefined where the system has no executable memory. */
export function placeModule(made: NativeCode): NativeModule | undefined {
  const placed = placeCode(made.code);
  if (!placed) return undefined;
  const module = moduleOf(made, placed.address);
  pages.set(module, placed);
  return module;
}

function moduleOf({ entries, imports, globals, contextBytes }: NativeCode, address: number): NativeModule {
  const used = imports.flatMap(({ name, params, results, isUsed }, i): NativeImport[] =>
    isUsed ? [{ name, params, results, offset: contextOffsets.imports + 8 * i } as NativeImport] : [],
  );
  return {
    address,
    contextBytes,
    entries: Object.fromEntries(
      Object.entries(entries).map(([name, { offset, results }]) => [name, { offset, hasResult: results.length > 0 }]),
    ),
    imports: used,
    globals: globals as NativeModule['globals'],
  };
}
