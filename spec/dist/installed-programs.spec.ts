/** Whole programs with the installed package, under Bun and Node, and with the single-file program: the packages are in a `node_modules` near. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { locatePackage, packageName, programPackageName } from '../../src/toolchain/index.ts';
import { root } from '../support/examples.ts';
import { programOf, type Way } from '../support/installed.ts';
import { need, sysroot } from '../support/need.ts';

const test = suite('dist/installed-programs');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** A project that has the packages installed, as npm puts them. */
function project(name: string): string {
  const path = join(folder, name);
  const modules = join(path, 'node_modules');
  mkdirSync(join(modules, dirname(packageName)), { recursive: true });
  mkdirSync(join(modules, programPackageName));
  symlinkSync(dirname(dirname(locatePackage([root])!.entry)), join(modules, packageName));
  cpSync(join(root, 'packages', programPackageName, 'package.json'), join(modules, programPackageName, 'package.json'));
  symlinkSync(sysroot, join(modules, programPackageName, 'sysroot'));
  return path;
}

for (const way of ['bun', 'node', 'single-file'] as const satisfies readonly Way[])
  need(test, [...(way === 'node' ? ['node'] : []), 'sysroot', 'wasm-clang'], `${way}: a program is compiled, linked and run`, async () => {
    const path = project(way);
    const [command, ...words] = await programOf(way);
    // In a folder of its own, above which there are no packages.
    const own = join(folder, 'bin');
    if (way === 'single-file') {
      mkdirSync(own);
      copyFileSync(command!, join(own, 'cumetal'));
      chmodSync(join(own, 'cumetal'), 0o755);
    }
    const run = (cwd: string, given: readonly string[]) => {
      // Nothing of this process that names a package.
      const env = { HOME: path, PATH: '/usr/bin:/bin', CUMETAL_CACHE_PATH: join(path, 'cache') };
      const { status, stdout, stderr } = spawnSync(way === 'single-file' ? join(own, 'cumetal') : command!, [...words, ...given], {
        cwd,
        encoding: 'utf8',
        env,
      });
      return { status, stdout, stderr };
    };
    const source = join(root, 'examples/programs/vector_add.cu');
    const said = (count: number): object => ({
      status: 0,
      stdout: `${count} elements, 0 wrong; the last is ${1.5 * (count - 1)}\n`,
      stderr: '',
    });
    assert.equal(run(path, ['run', source, '--', '5000']), said(5000));
    assert.equal(run(path, ['run', source, '--', '77']), said(77), 'from the cache');
    assert.equal(run(path, ['cc', source, '-o', 'add']), { status: 0, stdout: '', stderr: '' });
    const start = readFileSync(join(path, 'add'), 'latin1').split('\n')[2]!;
    assert.not(start.includes(join(root, 'bin')), `a program is started by what compiled it: ${start}`);
    const itself = spawnSync(join(path, 'add'), ['9'], { cwd: path, encoding: 'utf8', env: { HOME: path, PATH: '/usr/bin:/bin' } });
    assert.equal([itself.stdout, itself.stderr], ['9 elements, 0 wrong; the last is 12\n', '']);
    if (way !== 'single-file') return;
    // Beside the packages of no project, it says what to install.
    writeFileSync(join(folder, 'alone.cu'), 'int main() {}\n');
    const alone = run(folder, ['run', 'alone.cu']);
    assert.is(alone.status, 2);
    assert.match(
      alone.stderr,
      /the package `cumetal-cuda`, which compiles host code, is not installed\n {2}= help: `npm install cumetal-cuda`/,
    );
  });

test.run();
