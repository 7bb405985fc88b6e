/**
 * Makes the bytecode of the built program for the running Bun, which has the bundler that does it. Reading and compiling the text of the
 * program takes half of a short run, and bytecode depends on the exact version of Bun, so that a package cannot bring it.
 * `start-built.ts` starts this file as a process after the first run; `scripts/bundle.ts` calls it in a checkout.
 * The parts of the program stay separate files: Bun makes bytecode of CommonJS modules, so that each ES module becomes one.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { bytecodeName } from './bytecode-name.ts';
import { bytecodeFolder, currentFile, programFiles } from './bytecode-place.ts';

/** Relative imports in a part, static and dynamic. */
const importedPart = /(?:\bfrom|\bimport)\s*\(?\s*["'](\.{1,2}\/[^"']+\.js)["']/g;

/** The program's parts, as paths in the folder of the built files. */
function partsOf(dist: string): string[] {
  const parts = new Set<string>(programFiles);
  // The set grows while it is walked.
  for (const part of parts)
    for (const [, path] of readFileSync(join(dist, part), 'utf8').matchAll(importedPart)) parts.add(join(dirname(part), path!));
  return [...parts];
}

/**
 * The text with `require` for imports of parts: Bun reads no bytecode for `import()`, and what it makes of an import is a call of a getter at
 * every use.
 */
const withRequire = (text: string): string =>
  text
    .replaceAll(/\bimport\((["']\.{1,2}\/[^"']+["'])\)/g, 'Promise.resolve().then(() => require($1))')
    .replaceAll(/\bimport\{([^{}]*)\}from(["']\.{1,2}\/[^"']+["']);/g, (_, names: string, path: string) => {
      const taken = names.replaceAll(/\bas\b/g, ':');
      return `const {${taken}} = require(${path});`;
    });

/**
 * Makes the bytecode beside the built files; they appear all at once or not at all. Does nothing where another process makes it. Throws what
 * the bundler or the file system says.
 */
export async function makeBytecode(dist: string): Promise<void> {
  const folder = bytecodeFolder(dist);
  const made = `${folder}.new`;
  mkdirSync(dirname(folder), { recursive: true });
  try {
    mkdirSync(made);
  } catch {
    return;
  }
  const parts = { name: 'parts', setup: (build: Bun.PluginBuilder) => onParts(build) };
  await Bun.build({
    entrypoints: partsOf(dist).map((part) => join(dist, part)),
    root: dist,
    outdir: made,
    target: 'bun',
    format: 'cjs',
    bytecode: true,
    minify: { whitespace: true, identifiers: true },
    plugins: [parts],
  });
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
  writeFileSync(`${made}-name`, `${bytecodeName()}\n`);
  renameSync(`${made}-name`, currentFile(dist));
}

function onParts(build: Bun.PluginBuilder): void {
  build.onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) => (kind.startsWith('entry-point') ? undefined : { path, external: true }));
  build.onLoad({ filter: /\.js$/ }, ({ path }) => ({ contents: withRequire(readFileSync(path, 'utf8')), loader: 'js' }));
}

if (import.meta.main) {
  setPriority(10);
  await makeBytecode(process.argv[2]!);
}
