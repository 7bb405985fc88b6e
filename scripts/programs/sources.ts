/** The sources of a program as files in memory, with those that it includes from beside it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const isSource = /\.(cu|cuh|h|hpp|hh|hxx|c|cc|cpp|cxx|inc|inl|ipp|tpp|def|cl|txt|dat|tab|C|H)$/;
/** Data in the form of a header may be large; larger ones are not for a compiler. */
const largest = 16 << 20;

function addFolder(files: Map<string, Uint8Array>, folder: string, isDeep: boolean): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (files.has(path)) continue;
    if (entry.isDirectory()) {
      if (isDeep) addFolder(files, path, true);
    } else if ((isSource.test(entry.name) || !entry.name.includes('.')) && existsSync(path) && statSync(path).size <= largest)
      files.set(path, readFileSync(path));
  }
}

/** Folders outside of `known` that sources name in quotes. */
function foldersNamed(files: ReadonlyMap<string, Uint8Array>): Set<string> {
  const named = new Set<string>();
  for (const [path, bytes] of files)
    for (const [, name] of new TextDecoder().decode(bytes).matchAll(/^\s*#\s*include\s*"(\.\.\/[^"]*)"/gm))
      named.add(dirname(resolve(dirname(path), name!)));
  return named;
}

/** Every source below a program's folder, in the folders of its `-I` and in those that it includes by `../`. */
export function sourcesOf(folder: string, includes: readonly string[]): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  addFolder(files, folder, true);
  for (const each of includes) if (!folder.startsWith(each)) addFolder(files, each, true);
  for (const each of foldersNamed(files)) addFolder(files, each, false);
  for (const each of foldersNamed(files)) addFolder(files, each, false);
  return files;
}
