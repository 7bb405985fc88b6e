/**
 * Ohm and the grammar, which a bundle runs on first use: only lines of a shape that the parser has not seen need them. They import nothing of
 * the other modules, which the bundler would then make lazy too.
 */
import { join } from 'node:path';
import type { BunPlugin } from 'bun';

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
