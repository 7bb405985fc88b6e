/**
 * Writes the type declarations of the package's entries: `bun scripts/declarations.ts FOLDER`. Declarations that no entry reaches are left
 * out.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { packageEntries } from './entries.ts';

const root = join(import.meta.dirname, '..');

/** Relative modules that a declaration file names. */
const named = /(?:\bfrom|\bimport)\s*\(?\s*['"](\.{1,2}\/[^'"]+)\.[jt]s['"]/g;

/** Modules of inferred types, which the compiler names as of a package where the checkout itself is in a folder of packages. */
const asPackage = /\bimport\("(?!\.{1,2}\/)[^"]*\/src\/([^"]+)"\)/g;

/** Names such modules from the file that uses them. */
function nameRelatively(folder: string): void {
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.d.ts')) continue;
    const text = readFileSync(join(folder, file), 'utf8');
    const named = text.replace(asPackage, (_, path: string) => {
      const from = relative(dirname(file), path);
      return `import("${from.startsWith('.') ? from : `./${from}`}")`;
    });
    if (named !== text) writeFileSync(join(folder, file), named);
  }
}

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
  nameRelatively(all);
  const starts = packageEntries().map(({ types }) => types.replace('./dist/types/', ''));
  rmSync(folder, { recursive: true, force: true });
  for (const file of reached(all, starts)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), readFileSync(join(all, file)));
  }
} finally {
  rmSync(all, { recursive: true, force: true });
}
