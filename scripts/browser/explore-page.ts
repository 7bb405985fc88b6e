/**
 * Makes the page of kernels, PTX and what becomes of it, as files that any server can give: `bun scripts/browser/explore-page.ts FOLDER [--programs URL]`.
 * `--programs` names the page of whole programs, whose compiler takes CUDA C++ here too.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { views } from '../../src/explore/views.ts';
import { embeddedWorker } from '../worker.ts';
import { type Built, withoutLibraries } from './build.ts';

const root = join(import.meta.dirname, '../..');
const source = join(root, 'src/explore');

/** The table of options says how the command runs, which the page does itself. */
const withoutCommand: Bun.BunPlugin = {
  name: 'without-command',
  setup(build) {
    build.onResolve({ filter: /^\.\/index\.ts$/ }, ({ importer }) =>
      importer.endsWith('/cli/run/command.ts') ? { path: 'run', namespace: 'none' } : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'none' }, () => ({ contents: 'export const run = undefined;', loader: 'js' }));
  },
};

async function script(entry: string, name: string, plugins: Bun.BunPlugin[]): Promise<Built> {
  const { outputs } = await Bun.build({ entrypoints: [join(source, entry)], target: 'browser', format: 'esm', minify: true, plugins });
  return { path: name, bytes: new Uint8Array(await outputs[0]!.arrayBuffer()) };
}

/** The texts of a folder in a language, by name. */
function textsOf(folder: string, extension: string): { name: string; text: string }[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(extension))
    .sort();
  return names.map((name) => ({ name: name.slice(0, -extension.length), text: readFileSync(join(folder, name), 'utf8') }));
}

/** The choices of the page: the names of the views, the examples, and where the compiler of CUDA C++ is. */
function start(compiler: string | undefined): Built {
  const examples = { ptx: textsOf(join(root, 'examples'), '.ptx'), cuda: textsOf(join(source, 'kernels'), '.cu') };
  const titles = views.map(({ name, title }) => ({ name, title }));
  return { path: 'start.json', bytes: new TextEncoder().encode(JSON.stringify({ views: titles, examples, compiler })) };
}

/** Every file of the page. `compiler` is the folder of the page of programs (`program-page.ts`), as a URL from this page; without it, the page takes PTX alone. */
export async function explorePage(compiler?: string): Promise<Built[]> {
  const page = { path: 'index.html', bytes: new Uint8Array(readFileSync(join(source, 'index.html'))) };
  const plugins = [withoutLibraries, withoutCommand, await embeddedWorker([withoutLibraries])];
  return [page, start(compiler), await script('index.ts', 'explore.js', []), await script('worker.ts', 'explore-worker.js', plugins)];
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({ options: { programs: { type: 'string' } }, allowPositionals: true });
  const [folder] = positionals;
  if (folder === undefined) throw new Error('usage: bun scripts/browser/explore-page.ts FOLDER [--programs URL]');
  for (const { path, bytes } of await explorePage(values.programs?.replace(/\/?$/, '/'))) {
    await Bun.write(join(folder, path), bytes);
    const sent = Bun.gzipSync(bytes as Uint8Array<ArrayBuffer>).length;
    console.log(`${path.padEnd(24)} ${(sent / 1024).toFixed(0).padStart(6)} KiB compressed`);
  }
}
