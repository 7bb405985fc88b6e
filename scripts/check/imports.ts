/** Which files each file of a tree imports, read off the texts. */
import { posix } from 'node:path';

/** For each file the relative imports, as paths from the root of the project. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Imports of texts by their paths. */
export const importsOf = (texts: ReadonlyMap<string, string>): Imports =>
  new Map([...texts].map(([file, text]) => [file, targetsOf(file, text)]));

const targetsOf = (file: string, text: string): string[] =>
  [...text.matchAll(/\b(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map(([, path]) => posix.join(posix.dirname(file), path!));

/** What files of `spec/` import, directly or through other files of `spec/`. */
export function reachedBy(spec: string, imports: Imports): ReadonlySet<string> {
  const reached = new Set([spec]);
  for (const file of reached) if (file.startsWith('spec/')) for (const target of imports.get(file) ?? []) reached.add(target);
  return reached;
}
