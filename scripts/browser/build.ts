/**
 * Builds the package for pages: every entry of its `exports` as modules that a browser loads as they stand, without what only system
 * libraries are for. `bun scripts/browser/build.ts [FOLDER]`, `dist/browser` where none is named, which `package.json` names.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BunPlugin } from 'bun';
import { packageEntries } from '../entries.ts';
import { embeddedWorker } from '../worker.ts';

const root = join(import.meta.dirname, '../..');

/** `gpus.page.ts` in the place of `gpus.ts`, and the same for native code: what they import is then not reached. */
export const withoutLibraries: BunPlugin = {
  name: 'without-libraries',
  setup(build) {
    build.onResolve({ filter: /\/gpus\.ts$/ }, () => ({ path: join(root, 'src/device/gpus.page.ts') }));
    build.onResolve({ filter: /\/native\/compile\.ts$/ }, () => ({ path: join(root, 'src/device/cpu/native/compile.page.ts') }));
    build.onResolve({ filter: /^\.\/system\.ts$/ }, ({ path, importer }) =>
      /ffi.native.[\w-]+\.ts$/.test(importer)
        ? { path: join(root, 'src/ffi/native/system.page.ts') }
        : { path: join(importer, '..', path) },
    );
  },
};

/** A file that was built: its path in the folder, and its bytes. */
export interface Built {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Builds every entry and the parts that entries share; throws what is wrong with the sources. */
export async function buildForPages(): Promise<Built[]> {
  const { outputs } = await Bun.build({
    entrypoints: packageEntries().map(({ source }) => join(root, source)),
    root: join(root, 'src'),
    target: 'browser',
    format: 'esm',
    splitting: true,
    minify: true,
    naming: { entry: '[dir]/[name].js', chunk: 'part-[hash].js' },
    plugins: [withoutLibraries, await embeddedWorker([withoutLibraries])],
  });
  return Promise.all(
    outputs.map(async (output) => ({ path: output.path.replace(/^\.\//, ''), bytes: new Uint8Array(await output.arrayBuffer()) })),
  );
}

/** Paths of a file and of all that it imports, in the folder. */
export function filesOf(built: readonly Built[], path: string, known = new Set<string>()): Set<string> {
  const { bytes } = built.find((file) => file.path === path)!;
  known.add(path);
  const imports = new Bun.Transpiler({ loader: 'js' }).scanImports(bytes).map((each) => join(path, '..', each.path));
  for (const next of imports) if (!known.has(next)) filesOf(built, next, known);
  return known;
}

/** How long an entry is with all that it imports: as it stands, and as servers send it. */
export function sizeOf(built: readonly Built[], path: string): { readonly bytes: number; readonly zipped: number } {
  const files = [...filesOf(built, path)].map((each) => built.find((file) => file.path === each)!);
  const sum = (length: (bytes: Uint8Array) => number): number => files.reduce((total, { bytes }) => total + length(bytes), 0);
  return { bytes: sum((bytes) => bytes.length), zipped: sum((bytes) => Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>).length) };
}

async function main(folder = join(root, 'dist/browser')): Promise<void> {
  const built = await buildForPages();
  rmSync(folder, { recursive: true, force: true });
  for (const { path, bytes } of built) await Bun.write(join(folder, path), bytes);
  for (const { name, browser } of packageEntries()) {
    const { bytes, zipped } = sizeOf(built, browser.replace('./dist/browser/', ''));
    console.log(
      `cumetal${name.slice(1).padEnd(10)} ${(bytes / 1024).toFixed(0).padStart(5)} KiB, ${(zipped / 1024).toFixed(0)} KiB with gzip`,
    );
  }
}

if (import.meta.main) await main(process.argv[2]);
