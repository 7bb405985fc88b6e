/** CUDA's libraries beside the sysroot, which programs link by name: which archive a name means, and which one has a function. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sysroot } from './sysroot.ts';

/** The names of libraries by the prefixes of their functions, and the libraries that they need. */
const libraries: Readonly<Record<string, { readonly prefix: RegExp; readonly needs?: readonly string[] }>> = {
  cublasLt: { prefix: /^cublasLt/, needs: ['cublas'] },
  cublas: { prefix: /^cublas/ },
  curand: { prefix: /^curand/ },
  cufft: { prefix: /^cufft/ },
  cusparse: { prefix: /^cusparse/ },
  cusolver: { prefix: /^cusolver/ },
};

/** The folder of the archives. */
const folderOf = ({ folder }: Sysroot): string => join(dirname(folder), 'libraries');

/** The archive of a library that a program names, also as it is named where it is static; its name is that of the command line. */
export function cudaLibrariesOf(names: readonly string[], sysroot: Sysroot): { readonly name: string; readonly path: string }[] {
  const found = new Map<string, { readonly name: string; readonly path: string }>();
  for (const name of names) {
    const plain = name.replace(/_static(_nocallback)?$/, '');
    for (const each of plain in libraries ? [plain, ...(libraries[plain]!.needs ?? [])] : []) {
      const path = join(folderOf(sysroot), `lib${each}.a`);
      if (existsSync(path) && !found.has(path)) found.set(path, { name, path });
    }
  }
  return [...found.values()];
}

/** The library that has functions with the prefix of this one. */
export const libraryOfSymbol = (symbol: string): string | undefined =>
  Object.entries(libraries).find(([, { prefix }]) => prefix.test(symbol))?.[0];
