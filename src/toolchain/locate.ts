/**
 * The npm packages that users install beside the program if they want to compile CUDA C++: clang as WebAssembly, and the libraries of host
 * code, whose package depends on clang's.
 */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Sysroot, sysrootIn } from './sysroot.ts';

export const packageName = '@yowasp/clang';
/** Its size on disk, for people who decide whether to install it. */
export const packageSize = '105 MB';

export const programPackageName = 'cumetal-cuda';
/** Its size with that of clang. */
export const programPackageSize = '117 MB';

export interface ToolchainPackage {
  /** The module that runs the compiler. */
  readonly entry: string;
  /** An archive of its headers. */
  readonly resources: string;
  readonly version: string;
}

/** The package in the folder that `CUMETAL_CLANG` names, which is then the only one, or in the first of others. */
export const findPackage = (starts: readonly string[], named: string | undefined): ToolchainPackage | undefined =>
  named === undefined ? locatePackage(starts) : packageIn(named);

/** The package in the first of these folders, or in the nearest `node_modules` above it; undefined if there is none. */
export function locatePackage(starts: readonly string[]): ToolchainPackage | undefined {
  // Package managers that do not hoist put it beside the package that depends on it.
  const dependents = foldersNamed(programPackageName, starts).map((folder) => realpathSync(folder));
  return firstOf(foldersNamed(packageName, [...starts, ...dependents]), packageIn);
}

/** The sysroot in the folder that `CUMETAL_SYSROOT` names, which is then the only one, or that of the package. */
export const findSysroot = (starts: readonly string[], named: string | undefined): Sysroot | undefined =>
  named === undefined
    ? firstOf(foldersNamed(programPackageName, starts), (folder) => sysrootIn(join(folder, 'sysroot'), versionIn(folder) ?? ''))
    : sysrootIn(named, named);

/** The folders of a package, nearest first: in the `node_modules` of these folders and of those above them. */
function foldersNamed(name: string, starts: readonly string[]): string[] {
  const found: string[] = [];
  for (const start of starts)
    for (let folder = resolve(start); ; folder = dirname(folder)) {
      const place = join(folder, 'node_modules', name);
      if (existsSync(place)) found.push(place);
      if (folder === dirname(folder)) break;
    }
  return found;
}

function firstOf<T>(folders: readonly string[], open: (folder: string) => T | undefined): T | undefined {
  for (const folder of folders) {
    const found = open(folder);
    if (found) return found;
  }
  return undefined;
}

function versionIn(folder: string): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: unknown };
    return String(version);
  } catch {
    return undefined;
  }
}

function packageIn(folder: string): ToolchainPackage | undefined {
  const entry = join(folder, 'gen/bundle.js');
  const version = existsSync(entry) ? versionIn(folder) : undefined;
  return version === undefined ? undefined : { entry, resources: join(folder, 'gen/llvm-resources.tar'), version };
}
