/** CUDA's libraries beside the sysroot, which programs link by name. */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cudaLibraries } from './cuda-library-names.ts';
import type { Sysroot } from './sysroot.ts';

export interface CudaLibrary {
  /** The name that it was asked for by, which may be that of the static library of NVIDIA. */
  readonly name: string;
  readonly library: string;
  readonly path: string;
}

const archiveOf = ({ folder }: Sysroot, library: string): string => join(dirname(folder), 'libraries', `lib${library}.a`);

/** The libraries that have been built. */
export const cudaLibraryNames = (sysroot: Sysroot): string[] =>
  Object.keys(cudaLibraries).filter((library) => existsSync(archiveOf(sysroot, library)));

/** The archives of the libraries that a program names, and of those that they need. */
export function cudaLibrariesOf(names: readonly string[], sysroot: Sysroot): CudaLibrary[] {
  const found = new Map<string, CudaLibrary>();
  const add = (name: string, library: string): void => {
    const path = archiveOf(sysroot, library);
    if (existsSync(path) && !found.has(library)) found.set(library, { name, library, path });
  };
  const libraryOf = (name: string): string => name.replace(/_static(_nocallback)?$/, '');
  const named = names.filter((name) => Object.hasOwn(cudaLibraries, libraryOf(name)));
  // A library that is named and needed counts as named, in whichever order.
  for (const name of named) add(name, libraryOf(name));
  for (const name of named) for (const needed of cudaLibraries[libraryOf(name)]!.needs ?? []) add(name, needed);
  return [...found.values()];
}
