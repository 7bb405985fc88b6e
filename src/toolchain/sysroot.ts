/** The libraries of host code: headers and archives of libc, libc++ and libc++abi for 64-bit pointers, in a package of their own. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Tree } from './tree.ts';

export interface Sysroot {
  /** The folder with `include` and `lib`. */
  readonly folder: string;
  /** Differs for different sysroots. */
  readonly version: string;
  /** Its files, read once. */
  tree(): Tree;
}

/** The sysroot in a folder; undefined if it is none. */
export function sysrootIn(folder: string, version: string): Sysroot | undefined {
  const library = join(folder, 'lib/libc.a');
  if (!existsSync(library)) return undefined;
  let known: Tree | undefined;
  // One that was built again has the same version.
  const { size, mtimeMs } = statSync(library);
  return {
    folder,
    version: `${version} ${size} ${mtimeMs}`,
    tree() {
      known ??= treeOf(folder);
      return known;
    },
  };
}

/** A folder of the machine as files in memory. */
export const treeOf = (folder: string): Tree =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() || entry.isFile())
      .map((entry) => {
        const path = join(folder, entry.name);
        return [entry.name, entry.isDirectory() ? treeOf(path) : new Uint8Array(readFileSync(path))];
      }),
  );
