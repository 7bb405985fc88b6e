/** Loads clang as WebAssembly from its package on the disk. */
import { pathToFileURL } from 'node:url';
import { type Clang, type ClangModule, clangOf } from './clang-module.ts';
import type { ToolchainPackage } from './locate.ts';

/** Loads the package's module. */
export async function loadClang({ entry }: ToolchainPackage): Promise<Clang> {
  const clang = clangOf((await import(pathToFileURL(entry).href)) as ClangModule);
  return async (args, files) => {
    // Neither reading the package nor compiling its modules keeps Bun's event loop alive.
    const alive = setInterval(() => {}, 1000);
    try {
      return await clang(args, files);
    } finally {
      clearInterval(alive);
    }
  };
}
