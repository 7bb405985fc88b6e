/**
 * Bundles the command line with bytecode, which `bin/cumetal` starts instead of the sources while it is newer than all of them:
 * most of a short run is reading code. Each command is a file of its own, and so is what a command only sometimes needs, for
 * what is not read costs nothing. `npm install` runs this: `bun scripts/bundle.ts [FOLDER]`.
 */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { BunPlugin } from 'bun';
import { lazyFiles } from '../src/ptx/table/lazy-rows.ts';
import { hashOf, sourcesOf } from './sources.ts';
import { embeddedWorker } from './worker.ts';

/** Where the bundle goes: the place that is named, as a package has it, else a cache, safe to delete. */
const folder = process.argv[2] ?? 'node_modules/.cache/cumetal';
/** Where it is made, so that there is a whole one or none. */
const made = `${folder}.new`;
const room = 'src/cli';

/** All that the program is made from. */
const sources = ['package.json', ...sourcesOf(`${room}/main.ts`), ...sourcesOf('src/device/cpu/workers/worker.ts')];
/** Tells what it compiles from what other builds did (`src/cli/command/build-id.ts`). */
const build = hashOf(sources);

/** Files of the command line that are bundled, by name; each dynamic import between them adds one. */
const parts = new Map([['main', `${room}/main.ts`]]);

/** `run` of `run/index.ts`, `check-target` of `check/target.ts`. */
const partName = (file: string): string =>
  relative(room, file)
    .replace(/(\/index)?\.ts$/, '')
    .replaceAll('/', '-');

/** Leaves `bundled:x` to the file `x.js` beside the one that is made, which is read when it is needed. */
const bundled: BunPlugin = {
  name: 'bundled',
  setup: (build) =>
    void build.onResolve({ filter: /^bundled:/ }, ({ path }) => ({ path: path.replace('bundled:', './').concat('.js'), external: true })),
};

/** Makes a bundle of its own of every file of the room that is imported dynamically. */
const parted: BunPlugin = {
  name: 'parted',
  setup(build) {
    build.onResolve({ filter: /^\.{1,2}\/[\w/-]+\.ts$/ }, ({ path, importer, kind }) => {
      const file = relative(process.cwd(), join(dirname(importer), path));
      if (kind !== 'dynamic-import' || !file.startsWith(`${room}/`)) return undefined;
      const name = partName(file);
      parts.set(name, file);
      return { path: name, namespace: 'part' };
    });
    build.onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => ({
      contents: `module.exports = require('bundled:${path}');`,
      loader: 'js',
    }));
  },
};

/** Ohm and the grammar are only wanted for lines of a shape that nobody has seen, so they are read at the first such line. */
const lazyOhm: BunPlugin = {
  name: 'lazy-ohm',
  setup(build) {
    build.onResolve({ filter: /^ohm-js$|\/grammar\.generated\.ts$/ }, ({ path, importer }) =>
      /grammar\.ts$/.test(importer) ? { path: path === 'ohm-js' ? 'makeRecipe' : 'recipe', namespace: 'lazy' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ path }) => ({
      contents: `export const ${path} = (...args) => require('bundled:ohm').${path}(...args);`,
      loader: 'js',
    }));
  },
};

const tableFolder = join(process.cwd(), 'src/ptx/table');

/** Bundles each file of `lazyFiles` separately; the bundle of the table loads it on first use. */
const lazyTable: BunPlugin = {
  name: 'lazy-table',
  setup(build) {
    build.onResolve({ filter: /^\.\/.*\.ts$/ }, async ({ path, importer }) => {
      if (importer !== join(tableFolder, 'index.ts')) return undefined;
      const file = relative(tableFolder, join(dirname(importer), path));
      await checkRowFile(file);
      return file in lazyFiles ? { path: file, namespace: 'lazy-rows' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'lazy-rows' }, ({ path }) => ({
      contents: `export const ${lazyFiles[path]} = () => require('bundled:${lazyName(path)}').${lazyFiles[path]}();`,
      loader: 'js',
    }));
  },
};

/** Whether the form of a file's rows is the declared one: a single function if the file is lazy, constants if not. */
async function checkRowFile(file: string): Promise<void> {
  const exports: Record<string, unknown> = await import(join(tableFolder, file));
  const functions = Object.keys(exports).filter((name) => name.endsWith('Rows') && typeof exports[name] === 'function');
  const declared = file in lazyFiles ? [lazyFiles[file]!] : [];
  if (functions.join() === declared.join()) return;
  throw new Error(
    `src/ptx/table/${file} exports ${functions.join(', ') || 'no rows'} as a function, but lazy-rows.ts has ${declared.join() || 'none'}`,
  );
}

/** `rows-refused-index` of `refused/index.ts`. */
const lazyName = (file: string): string => `rows-${file.replace('/', '-').replace('.ts', '')}`;

const ohmText = (): string =>
  `export { makeRecipe } from '${Bun.resolveSync('ohm-js', import.meta.dir)}';\nexport { recipe } from '${join(import.meta.dir, '../src/ptx/syntax/grammar.generated.ts')}';\n`;

/** Makes a bundle that no source is the start of. */
async function bundleText(name: string, text: string): Promise<void> {
  const entry = `${made}/${name}.ts`;
  writeFileSync(entry, text);
  await bundle(name, entry);
  rmSync(entry);
}

const worker = await embeddedWorker();

async function bundle(name: string, entry: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir: made,
    naming: `${name}.js`,
    target: 'bun',
    minify: true,
    bytecode: true,
    define: { CUMETAL_BUILD: JSON.stringify(build) },
    plugins: [bundled, parted, lazyOhm, lazyTable, worker],
  });
  if (result.success) return;
  for (const log of result.logs) console.error(String(log));
  process.exit(1);
}

/**
 * For `bin/cumetal`, in shell: whether any source is newer than the bundle. A list takes half of the time that looking for the
 * sources takes.
 */
function writeNewer(): void {
  const tests = sources.map((file) => `[ "$root/${file}" -nt "$bundle" ] && return 0\n`);
  writeFileSync(`${made}/newer.sh`, `${tests.join('')}return 1\n`);
}

rmSync(made, { recursive: true, force: true });
mkdirSync(made, { recursive: true });
await bundleText('ohm', ohmText());
// The list grows while it is walked.
for (const [name, file] of parts) await bundle(name, file);
for (const file of Object.keys(lazyFiles)) await bundle(lazyName(file), join(tableFolder, file));
writeNewer();
rmSync(folder, { recursive: true, force: true });
renameSync(made, folder);
