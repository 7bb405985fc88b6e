/** The npm package of clang as WebAssembly, which users install beside the program if they want to compile CUDA C++. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export const packageName = '@yowasp/clang';
/** Its size on disk, for people who decide whether to install it. */
export const packageSize = '105 MB';

export interface ToolchainPackage {
  /** The module that runs the compiler. */
  readonly entry: string;
  readonly version: string;
}

/** The package in the folder that `CUMETAL_CLANG` names, which is then the only one, or in the first of others. */
export const findPackage = (starts: readonly string[], named: string | undefined): ToolchainPackage | undefined =>
  named === undefined ? locatePackage(starts) : packageIn(named);

/** The package in the first of these folders, or in the nearest `node_modules` above it; undefined if there is none. */
export function locatePackage(starts: readonly string[]): ToolchainPackage | undefined {
  for (const start of starts)
    for (let folder = resolve(start); ; folder = dirname(folder)) {
      const found = packageIn(join(folder, 'node_modules', packageName));
      if (found) return found;
      if (folder === dirname(folder)) break;
    }
  return undefined;
}

function packageIn(folder: string): ToolchainPackage | undefined {
  const entry = join(folder, 'gen/bundle.js');
  if (!existsSync(entry)) return undefined;
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: unknown };
    return { entry, version: String(version) };
  } catch {
    return undefined;
  }
}
