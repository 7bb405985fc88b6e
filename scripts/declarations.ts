/**
 * Writes the type declarations of the package's entries: `bun scripts/declarations.ts FOLDER`. Declarations that no entry reaches are left
 * out.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { packageEntries } from './entries.ts';

const root = join(import.meta.dirname, '..');

/** Relative modules that a declaration file names. */
const named = /(?:\bfrom|\bimport)\s*\(?\s*'(\.{1,2}\/[^']+)\.[jt]s'/g;

/** All declaration files that some reach, as paths in the folder. */
function reached(folder: string, starts: readonly string[]): string[] {
  const files = new Set(starts);
  // The set grows while it is walked.
  for (const file of files)
    for (const [, path] of readFileSync(join(folder, file), 'utf8').matchAll(named)) files.add(`${join(dirname(file), path!)}.d.ts`);
  return [...files];
}

const folder = process.argv[2]!;
const all = mkdtempSync(join(tmpdir(), 'cumetal-types-'));
try {
  const words = ['-p', 'tsconfig.build.json', '--emitDeclarationOnly', '--outDir', all];
  const { status, stdout } = spawnSync(join(root, 'node_modules/.bin/tsc'), words, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(stdout);
  const starts = packageEntries().map(({ types }) => types.replace('./dist/types/', ''));
  rmSync(folder, { recursive: true, force: true });
  for (const file of reached(all, starts)) cpSync(join(all, file), join(folder, file));
} finally {
  rmSync(all, { recursive: true, force: true });
}
