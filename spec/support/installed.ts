/**
 * The package as users get it: packed by npm, installed in an empty folder, and the single-file program. Both are made once for the sources
 * as they are, and kept in a cache folder, because several specs use them.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { hashOf } from '../../scripts/sources.ts';
import { root } from './examples.ts';

const cache = join(root, 'node_modules/.cache/cumetal-installed');

/** What the package is made from. */
const inputs = [
  'package.json',
  'tsconfig.json',
  'tsconfig.build.json',
  'README.md',
  'LICENSE',
  'bin',
  'src',
  'scripts',
  'docs',
  'man',
  'schemas',
  'cuda',
  'examples',
];

function filesOf(path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return [...new Glob('**/*').scanSync({ cwd: join(root, path), dot: true })].map((file) => `${path}/${file}`);
}

/** Runs a program; throws what it said if it fails. */
function ran(words: readonly string[], cwd: string): string {
  const [file, ...rest] = words;
  const { status, stdout, stderr, error } = spawnSync(file!, rest, { cwd, encoding: 'utf8', env: { ...process.env, CI: '1' } });
  if (status !== 0) throw new Error(`${words.join(' ')}: ${error ?? ''}${stderr}${stdout}`);
  return stdout;
}

/** Packs a copy of the checkout, since packing writes into it, and installs the package in an empty folder. */
function install(folder: string): void {
  const copy = join(folder, 'checkout');
  for (const path of inputs) cpSync(join(root, path), join(copy, path), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  ran(['npm', 'pack', '--silent', '--pack-destination', folder], copy);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!;
  const app = join(folder, 'app');
  mkdirSync(app);
  writeFileSync(join(app, 'package.json'), '{"name":"app","private":true}');
  // From the user's npm cache, which has the dependencies since the checkout was set up.
  ran(['npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts', join(folder, tarball)], app);
  const dist = join(app, 'node_modules/cumetal/dist');
  // As the first run does in the background.
  ran([process.execPath, join(dist, 'cli/startup/make-bytecode.js'), dist], app);
  rmSync(copy, { recursive: true });
}

/** The path of something that is made from the sources, by one process; the others wait for it. Older versions are removed. */
async function made(name: string, make: (folder: string) => void): Promise<string> {
  const folder = join(cache, `${name}-${hashOf(inputs.flatMap(filesOf).map((file) => join(root, file)))}`);
  const working = `${folder}.new`;
  mkdirSync(cache, { recursive: true });
  while (!existsSync(folder)) {
    try {
      mkdirSync(working);
    } catch {
      // A process that died leaves its folder.
      if (Date.now() - (statSync(working, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > 600_000)
        rmSync(working, { recursive: true });
      await new Promise((resolve) => setTimeout(resolve, 200));
      continue;
    }
    try {
      make(working);
      for (const old of readdirSync(cache).filter(
        (other) => other.startsWith(`${name}-`) && !other.startsWith(`${name}-${folder.split('-').at(-1)}`),
      ))
        rmSync(join(cache, old), { recursive: true, force: true });
      renameSync(working, folder);
    } finally {
      rmSync(working, { recursive: true, force: true });
    }
  }
  return folder;
}

/** The folder of an application that has the package installed. */
export const installedApp = async (): Promise<string> => realpathSync(join(await made('package', install), 'app'));

/** The single-file program of this system. */
export async function singleFileProgram(): Promise<string> {
  const system = `${process.platform}-${process.arch}`;
  const folder = await made(
    'program',
    (working) => void ran([process.execPath, join(root, 'scripts/ship.ts'), system, '-o', working], root),
  );
  return join(folder, `cumetal-${system}`);
}

/** How a user runs the program. */
export type Way = 'bun' | 'node' | 'single-file';

/** The words that start the program, with nothing of this checkout on the PATH. */
export async function programOf(way: Way): Promise<readonly string[]> {
  if (way === 'single-file') return [await singleFileProgram()];
  const app = await installedApp();
  const folder = join(app, `path-${way}`);
  mkdirSync(folder, { recursive: true });
  const runtime = way === 'bun' ? process.execPath : Bun.which('node')!;
  if (!existsSync(join(folder, way))) symlinkSync(runtime, join(folder, way));
  return ['/usr/bin/env', `PATH=${folder}:/usr/bin:/bin`, join(app, 'node_modules/.bin/cumetal')];
}
