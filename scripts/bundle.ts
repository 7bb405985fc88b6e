/**
 * Bundles the command line with bytecode, which `bin/cumetal` starts instead of the sources while it is newer than all of them:
 * most of a short run is reading code. Each command is a file of its own, and so is what a command only sometimes needs, for
 * what is not read costs nothing. `npm install` runs this.
 */
import { readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { BunPlugin } from 'bun';

/** Where the bundle lies; a cache, safe to delete. */
const folder = 'node_modules/.cache/cumetal';
/** Where it is made, so that there is a whole one or none. */
const made = `${folder}.new`;
const room = 'src/cli';

/** Files of the command line that are bundled, by name; each dynamic import between them adds one. */
const parts = ['main'];

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
    build.onResolve({ filter: /^\.\/[\w-]+\.ts$/ }, ({ path, importer, kind }) => {
      if (kind !== 'dynamic-import' || !dirname(importer).endsWith(room)) return undefined;
      const name = basename(path, '.ts');
      if (!parts.includes(name)) parts.push(name);
      return { path: name, namespace: 'part' };
    });
    build.onLoad({ filter: /.*/, namespace: 'part' }, ({ path }) => ({
      contents: `module.exports = require('bundled:${path}');`,
      loader: 'js',
    }));
  },
};

/** Ohm is only wanted for lines of a shape that nobody has seen, so it is read at the first such line. */
const lazyOhm: BunPlugin = {
  name: 'lazy-ohm',
  setup(build) {
    build.onResolve({ filter: /^ohm-js$/ }, ({ importer }) =>
      /grammar\.ts$/.test(importer) ? { path: 'ohm', namespace: 'lazy' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'lazy' }, () => ({
      contents: `export const makeRecipe = (recipe) => require('bundled:ohm').makeRecipe(recipe);`,
      loader: 'js',
    }));
  },
};

/** Rows that the table makes when one of them is asked for: their files are left alone until then as well. */
const lateRows: BunPlugin = {
  name: 'late-rows',
  setup(build) {
    const exported = (file: string): string[] =>
      [...readFileSync(file, 'utf8').matchAll(/^export const (\w+Rows) = \(\)/gm)].map(([, name]) => name!);
    build.onResolve({ filter: /^\.\/.*\.ts$/ }, ({ path, importer }) => {
      if (!importer.endsWith('ptx/table/index.ts')) return undefined;
      const file = join(dirname(importer), path);
      return exported(file).length > 0 ? { path: relative(process.cwd(), file), namespace: 'late' } : undefined;
    });
    build.onLoad({ filter: /.*/, namespace: 'late' }, ({ path }) => {
      const file = join(process.cwd(), path);
      const contents = exported(file).map((name) => `export const ${name} = () => require('${file}').${name}();`);
      return { contents: contents.join('\n'), loader: 'js' };
    });
  },
};

async function bundle(name: string, entry: string): Promise<void> {
  const result = await Bun.build({
    entrypoints: [entry],
    outdir: made,
    naming: `${name}.js`,
    target: 'bun',
    minify: true,
    bytecode: true,
    plugins: [bundled, parted, lazyOhm, lateRows],
  });
  if (result.success) return;
  for (const log of result.logs) console.error(String(log));
  process.exit(1);
}

rmSync(made, { recursive: true, force: true });
await bundle('ohm', Bun.resolveSync('ohm-js', import.meta.dir));
// The list grows while it is walked.
for (const name of parts) await bundle(name, `${room}/${name}.ts`);
rmSync(folder, { recursive: true, force: true });
renameSync(made, folder);
