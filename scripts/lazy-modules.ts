/**
 * Ohm and the grammar, which a bundle runs on first use: only lines of a shape that the parser has not seen need them. They import nothing of
 * the other modules, which the bundler would then make lazy too.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { BunPlugin } from 'bun';
import { withDirectImports } from './direct-imports.ts';

/**
 * What a launch loads later: with code that is stored it needs neither the compiler of kernels nor observers, which are most of the text of the CPU
 * device, and a short one no native code.
 */
export const launchFunctions = [
  'src/device/cpu/launch/make-kernel.ts',
  'src/device/cpu/launch/observers.ts',
  'src/device/cpu/native/compile.ts',
] as const;

/** What a compilation loads later: chapters of the instruction table that few kernels use, and the grammar. */
const compileFunctions = [
  'src/ptx/syntax/grammar.ts',
  'src/ptx/table/async/chapters.ts',
  'src/ptx/table/matrix/chapters.ts',
  'src/ptx/table/tensor-memory/chapters.ts',
  'src/ptx/table/texture/chapters.ts',
  'src/ptx/table/video-chapters.ts',
] as const;

/** Modules that export nothing but functions, and that the bytecode of the program loads when one of these is called. */
export const lazyFunctions = [...launchFunctions, ...compileFunctions] as const;

const transpiler = new Bun.Transpiler({ loader: 'ts' });

/** Sources that one loads at once, itself included. */
function loadedWith(start: string, later: ReadonlySet<string>): Set<string> {
  const all = new Set([start]);
  // The set grows while it is walked.
  for (const file of all) {
    if (!file.endsWith('.ts')) continue;
    const imports = transpiler.scanImports(withDirectImports(readFileSync(file, 'utf8'), file));
    for (const { path, kind } of imports) {
      const to = resolve(dirname(file), path);
      if (kind === 'import-statement' && /^[./]/.test(path) && !later.has(to)) all.add(to);
    }
  }
  return all;
}

/**
 * A module that names something of each file that both a launch and modules that are loaded later need. The bundler divides modules into parts
 * by the entries that need them: with this one, what both need is apart from what only the latter need.
 */
export function neededByLaunches(): string {
  const root = join(import.meta.dirname, '..');
  const later = new Set(launchFunctions.map((file) => join(root, file)));
  const atOnce = loadedWith(join(root, 'src/device/cpu/index.ts'), later);
  const both = new Set([...later].flatMap((file) => [...loadedWith(file, new Set())]).filter((file) => atOnce.has(file)));
  const lines = [...both].sort().map((file, i) => {
    const [name] = file.endsWith('.ts') ? transpiler.scan(readFileSync(file, 'utf8')).exports : [];
    return name === undefined ? '' : `export { ${name} as name${i} } from ${JSON.stringify(file)};\n`;
  });
  return lines.join('');
}

/** Throws if a module of that list exports anything else: importers of the bytecode see a function in place of each name. */
export async function checkLazyFunctions(): Promise<void> {
  for (const file of lazyFunctions)
    for (const [name, value] of Object.entries(await import(join(import.meta.dirname, '..', file))))
      if (typeof value !== 'function' || /^class\b/.test(String(value))) throw new Error(`${file}: \`${name}\` is not a function`);
}

const namespace = 'lazy';

/** The file of each function that is loaded with its module. */
const files: Readonly<Record<string, string>> = {
  makeRecipe: Bun.resolveSync('ohm-js', import.meta.dir),
  recipe: join(import.meta.dirname, '../src/ptx/syntax/grammar.generated.ts'),
};

export const lazyModules: BunPlugin = {
  name: 'lazy-modules',
  setup(build) {
    build.onResolve({ filter: /^ohm-js$|\/grammar\.generated\.ts$/ }, ({ path, importer }) =>
      /grammar\.ts$/.test(importer) ? { path: path === 'ohm-js' ? 'makeRecipe' : 'recipe', namespace } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace }, ({ path }) => ({
      contents: `export const ${path} = (...args) => require(${JSON.stringify(files[path])}).${path}(...args);`,
      loader: 'js',
    }));
  },
};
