/** Programs as single files for Node, which runs no TypeScript: the sources of the package and the program of the worker are inside. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BunPlugin } from 'bun';
import { packageEntries } from './entries.ts';
import { embeddedWorker } from './worker.ts';

const root = join(import.meta.dirname, '..');

/** Resolves `cumetal` and its entries to their sources, wherever the program is. */
const entriesOfPackage: BunPlugin = {
  name: 'entries-of-package',
  setup(build) {
    const entries = packageEntries();
    build.onResolve({ filter: /^cumetal(\/|$)/ }, ({ path }) => {
      const entry = entries.find(({ name }) => name === path.replace('cumetal', '.'));
      return entry && { path: join(root, entry.source) };
    });
    build.onResolve({ filter: /^(ohm-js|@noble\/hashes)/ }, ({ path }) => ({ path: Bun.resolveSync(path, root) }));
  },
};

/**
 * Puts the package into a `node_modules` folder, with every entry of its `exports` as modules for Node, so that programs beside it import
 * `cumetal` as an application does.
 */
export async function packageForNode(folder: string): Promise<void> {
  const entries = packageEntries();
  const home = join(folder, 'node_modules/cumetal');
  await Bun.build({
    entrypoints: entries.map(({ source }) => join(root, source)),
    root: join(root, 'src'),
    outdir: home,
    target: 'node',
    format: 'esm',
    splitting: true,
    plugins: [entriesOfPackage, await embeddedWorker()],
  });
  const built = entries.map(({ name, source }) => [name, source.replace('src/', './').replace(/\.ts$/, '.js')]);
  const manifest = { name: 'cumetal', type: 'module', exports: Object.fromEntries(built) };
  writeFileSync(join(home, 'package.json'), JSON.stringify(manifest));
}

/** A program that imports the package, as JavaScript for the oldest supported Node: without types, and with newer syntax replaced. */
export async function scriptForNode(entry: string): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'node', format: 'esm', external: ['cumetal', 'cumetal/*'] });
  return outputs[0]!.text();
}

/** The text of a program with all that it imports; Bun runs it as well. Throws if it does not build. */
export async function programForNode(entry: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'node',
    format: 'esm',
    plugins: [entriesOfPackage, await embeddedWorker()],
  });
  return outputs[0]!.text();
}
