/**
 * Compiles a kernel's module to native code, and places it in this process. Few launches run long enough for that, so that the compiler is
 * loaded at the first call (`scripts/lazy-modules.ts`), and this file exports nothing but functions.
 */
import { placeCode } from '../../../ffi/native/code-pages.ts';
import { processorFeatures } from '../../../ffi/native/processor.ts';
import type { NativeImport, NativeModule } from './module.ts';

// biome-ignore-start lint: until src/native/index.ts is there
type NativeCode = any;
const compileNative: any = () => ({ why: 'not yet' });
// biome-ignore-end lint: -

/** Constants that a launch places in memory behind the address in a global, and that the code may contain as well. */
export interface KnownPool {
  /** The exported global. */
  readonly global: string;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** The pages of each module, which live as long as it does. */
const pages = new WeakMap<NativeModule, unknown>();

/** Native code of a module of WebAssembly, or the reason why there is none. */
export function compileModule(bytes: Uint8Array, pool?: KnownPool): NativeModule | { readonly why: string } {
  const made = compileNative(bytes, { avx512: processorFeatures().hasAvx512 }, pool ? { pool } : {});
  if ('why' in made) return made;
  const placed = placeCode(made.code);
  if (!placed) return { why: 'the system has no executable memory' };
  const module = moduleOf(made, placed.address);
  pages.set(module, placed);
  return module;
}

/** Where the address of the first imported function is in the context, and the bytes of each. */
const [firstImportAt, importBytes] = [64, 8];

function moduleOf({ entries, imports, globals, contextBytes }: NativeCode, address: number): NativeModule {
  const used = imports.flatMap(({ name, params, results, isUsed = true }, i): NativeImport[] =>
    isUsed ? [{ name, params, results, offset: firstImportAt + importBytes * i } as NativeImport] : [],
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
