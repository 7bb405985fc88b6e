/**
 * Bundles the command line into one file with bytecode, which `bin/cumetal` starts instead of the sources while it is newer
 * than all of them: most of a short run is reading code. `npm install` runs this.
 */
import { rmSync } from 'node:fs';
import type { BunPlugin } from 'bun';

/** Where the bundle lies; a cache, safe to delete. */
const folder = 'node_modules/.cache/cumetal';

/**
 * Ohm is only wanted for lines of a shape that nobody has seen, so it is loaded at the first such line. A bundle does that for
 * `require`, which the sources, being plain ES modules, do not have.
 */
const lazyOhm: BunPlugin = {
  name: 'lazy-ohm',
  setup(build) {
    build.onResolve({ filter: /^ohm-js$/ }, ({ importer }) =>
      /grammar\.ts$/.test(importer) ? { path: 'ohm', namespace: 'lazy' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'lazy' }, () => ({
      contents: `export const makeRecipe = (recipe) => require('ohm-js').makeRecipe(recipe);`,
      loader: 'js',
      resolveDir: process.cwd(),
    }));
  },
};

rmSync(folder, { recursive: true, force: true });
const result = await Bun.build({
  entrypoints: ['src/cli/main.ts'],
  outdir: folder,
  target: 'bun',
  minify: true,
  bytecode: true,
  plugins: [lazyOhm],
});
if (!result.success) {
  for (const log of result.logs) console.error(String(log));
  process.exit(1);
}
