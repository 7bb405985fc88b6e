/**
 * Compiles a kernel's module to native code, and places it in this process. Few launches run long enough for that, so that the compiler is
 * loaded at the first call (`scripts/lazy-modules.ts`), and this file exports nothing but functions.
 */
import { compileNative, contextOffsets, type NativeCode } from '../../../native/index.ts';
import { nativeFeatures } from './mode.ts';
import type { NativeImport, NativeModule, NativeParts } from './module.ts';
import { placeCodeOf } from './place.ts';

/** Native code in this process, and its bytes, which run at any address. */
export interface CompiledModule {
  readonly module: NativeModule;
  readonly code: Uint8Array;
}

/** Native code of a module of WebAssembly, or the reason why there is none. */
export function compileModule(bytes: Uint8Array): CompiledModule | { readonly why: string } {
  const made = compileNative(bytes, nativeFeatures());
  if ('why' in made) return made;
  const module = placeModule(made);
  return module ? { module, code: made.code } : { why: 'the system has no executable memory' };
}

/** Places native code in this process; undefined where the system has no executable memory. */
export const placeModule = (made: NativeCode): NativeModule | undefined => placeCodeOf(partsOf(made), made.code);

function partsOf({ entries, imports, globals, contextBytes }: NativeCode): NativeParts {
  const used = imports.flatMap(({ name, params, results, isUsed }, i): NativeImport[] =>
    isUsed ? [{ name, params, results, offset: contextOffsets.imports + 8 * i } as NativeImport] : [],
  );
  return {
    contextBytes,
    entries: Object.fromEntries(
      Object.entries(entries).map(([name, { offset, results }]) => [name, { offset, hasResult: results.length > 0 }]),
    ),
    imports: used,
    globals: globals as NativeModule['globals'],
  };
}
