/** Which sources a source may load, at once or later. */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const transpiler = new Bun.Transpiler({ loader: 'ts' });

/** Sources that a source names; those of types alone are none. */
function importsOf(source: string): string[] {
  if (!source.endsWith('.ts')) return [];
  const paths = transpiler.scanImports(readFileSync(source, 'utf8')).map(({ path }) => path);
  return paths.filter((path) => /^\..*\.(ts|c)$/.test(path)).map((path) => join(dirname(source), path));
}

/** All sources that one may load, itself included, as paths from where its own starts. */
export function sourcesOf(start: string): Set<string> {
  const all = new Set([start]);
  // The set grows while it is walked.
  for (const source of all) for (const next of importsOf(source)) all.add(next);
  return all;
}

/** The SHA-256 of files, their names among it, in hexadecimal: 16 digits of it. */
export function hashOf(files: Iterable<string>): string {
  const hasher = new Bun.CryptoHasher('sha256');
  for (const file of [...files].sort()) hasher.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hasher.digest('hex').slice(0, 16);
}
