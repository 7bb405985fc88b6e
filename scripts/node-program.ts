/** Programs as single files for Node, which runs no TypeScript: the sources of the package and the program of the worker are inside. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BunPlugin } from 'bun';
import { embeddedWorker } from './worker.ts';

const root = join(import.meta.dirname, '..');

/** Resolves `cumetal` and its entries to their sources, wherever the program is. */
const entriesOfPackage: BunPlugin = {
  name: 'entries-of-package',
  setup(build) {
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, { bun: string }> };
    build.onResolve({ filter: /^cumetal(\/|$)/ }, ({ path }) => {
      const entry = exports[path.replace('cumetal', '.')];
      return entry && { path: join(root, entry.bun) };
    });
    build.onResolve({ filter: /^(ohm-js|@noble\/hashes)/ }, ({ path }) => ({ path: Bun.resolveSync(path, root) }));
  },
};

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
