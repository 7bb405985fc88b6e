/**
 * The installed package where it was not installed: moved or copied with its bytecode, as `mv`, `cp -a node_modules` and the layers of an image
 * do. It finds its launcher and the packages beside it where it is now.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { packageName, programPackageName } from '../../src/toolchain/index.ts';
import { installedApp, singleFileProgram } from '../support/installed.ts';

const test = suite('dist/moved');
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
const app = await installedApp();
const built = 'node_modules/cumetal/dist';

/** A folder without packages, and one with nothing but what the launcher needs. */
const elsewhere = join(folder, 'elsewhere');
const bin = join(folder, 'bin');
mkdirSync(elsewhere);
mkdirSync(bin);
symlinkSync(process.execPath, join(bin, 'bun'));
for (const name of ['sh', 'readlink']) symlinkSync(realpathSync(Bun.which(name)!), join(bin, name));
const env = { PATH: bin, HOME: folder, CUMETAL_CACHE_PATH: join(folder, 'cache'), SHELL: '/bin/sh' };
mkdirSync(env.CUMETAL_CACHE_PATH, { mode: 0o700 });

const program = (project: string): string => join(project, 'node_modules/cumetal/bin/cumetal');

function ran(command: string, words: readonly string[], more: Readonly<Record<string, string>> = {}): string {
  const { status, stdout, stderr } = spawnSync(command, words, { cwd: elsewhere, encoding: 'utf8', env: { ...env, ...more } });
  assert.is(status, 0, `${command} ${words.join(' ')}: ${stderr}${stdout}`);
  return stdout;
}

test.after(() => {
  spawnSync(join(app, 'node_modules/.bin/cumetal'), ['helper', 'stop'], { env });
  rmSync(folder, { recursive: true, force: true });
});

/** A package of the compiler that has a version and is not started, and libraries for it, in a project. */
function addCompiler(project: string, version: string): void {
  const [clang, libraries] = [packageName, programPackageName].map((name) => join(project, 'node_modules', name));
  mkdirSync(join(clang!, 'gen'), { recursive: true });
  writeFileSync(join(clang!, 'package.json'), JSON.stringify({ name: packageName, version }));
  writeFileSync(join(clang!, 'gen/bundle.js'), '');
  mkdirSync(join(libraries!, 'sysroot/lib'), { recursive: true });
  writeFileSync(join(libraries!, 'package.json'), JSON.stringify({ name: programPackageName, version }));
  writeFileSync(join(libraries!, 'sysroot/lib/libc.a'), '');
}

/** A project with the package, whose bytecode was made there. */
function project(name: string): string {
  const path = join(folder, name);
  cpSync(join(app, 'node_modules'), join(path, 'node_modules'), { recursive: true, verbatimSymlinks: true });
  rmSync(join(path, built, 'bytecode'), { recursive: true });
  makeBytecode(path);
  addCompiler(path, `of-${name}`);
  return path;
}

function makeBytecode(project: string): void {
  ran(process.execPath, [join(project, built, 'cli/startup/make-bytecode.js'), join(project, built)]);
}

const bytecodeIn = (path: string): string[] =>
  readdirSync(join(path, built, 'bytecode'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.jsc?$/.test(name));

/** The version of the compiler that a program finds, and whether it finds libraries. */
function found(command: string): object {
  const report = ran(command, ['doctor']);
  return {
    clang: /clang (\S+) as WebAssembly/.exec(report)?.[1],
    libraries: report.includes(`\`${programPackageName}\` compiles host code`),
  };
}

/** The launcher that a folder of `cumetal toolkit` starts. */
function launcherOf(command: string): string | undefined {
  const to = mkdtempSync(join(folder, 'toolkit-'));
  ran(command, ['toolkit', to]);
  return /^c='([^']*)'/m.exec(readFileSync(join(to, 'bin/nvcc'), 'utf8'))?.[1];
}

test('no file of the bytecode names the place where it was made', () => {
  const path = project('a-name-that-is-nowhere-else');
  const names = bytecodeIn(path);
  assert.ok(names.filter((name) => name.endsWith('.jsc')).length > 20);
  const place = 'a-name-that-is-nowhere-else';
  const wide = Buffer.from(place, 'utf16le');
  const naming = names.filter((name) => {
    const bytes = readFileSync(join(path, built, 'bytecode', name));
    return bytes.includes(place) || bytes.includes(wide);
  });
  assert.equal(naming, []);
});

test('a package that was moved runs from its bytecode, and finds what is beside it', () => {
  const old = project('old');
  const [moved, link] = [join(folder, 'moved'), join(folder, 'link')];
  renameSync(old, moved);
  addCompiler(moved, 'of-moved');
  symlinkSync(moved, link);
  const before = bytecodeIn(moved);
  for (const command of [program(moved), join(moved, 'node_modules/.bin/cumetal'), program(link)]) {
    const { stderr } = spawnSync('/bin/sh', ['-x', command, '--version'], { encoding: 'utf8', env });
    assert.match(stderr, /exec .*bytecode\/[^/]+\/cli\/start-fast\.js --version/);
    assert.equal(found(command), { clang: 'of-moved', libraries: true });
    assert.is(realpathSync(launcherOf(command)!), program(moved));
  }
  // The built files start the program with bytecode too, as for a launcher of another package manager.
  assert.equal(ran(process.execPath, [join(moved, built, 'cli/start-built.js'), '--version']), ran(program(moved), ['--version']));
  assert.not.ok(existsSync(old), 'the old place has appeared');
  assert.equal(bytecodeIn(moved), before);
  // Another package in the old place is not that of the program.
  addCompiler(old, 'of-another');
  assert.equal(found(program(moved)), { clang: 'of-moved', libraries: true });
});

test('a package and its copy run at once, each with what is beside it', async () => {
  const [one, other] = [project('one'), join(folder, 'other')];
  cpSync(one, other, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
  addCompiler(other, 'of-other');
  const doctor = (path: string): Promise<string> =>
    new Promise((resolve) => {
      const child = spawn(program(path), ['doctor'], { cwd: elsewhere, env, stdio: ['ignore', 'pipe', 'ignore'] });
      let text = '';
      child.stdout.on('data', (more) => {
        text += more;
      });
      child.on('close', () => resolve(/clang (\S+) as WebAssembly/.exec(text)?.[1] ?? text));
    });
  assert.equal(await Promise.all([one, other, one, other].map(doctor)), ['of-one', 'of-other', 'of-one', 'of-other']);
  // Where nobody can write; a user that may write anywhere writes nothing all the same.
  spawnSync('chmod', ['-R', 'a-w', other]);
  try {
    const before = bytecodeIn(other);
    assert.equal(found(program(other)), { clang: 'of-other', libraries: true });
    assert.equal(bytecodeIn(other), before);
  } finally {
    spawnSync('chmod', ['-R', 'u+w', other]);
  }
});

test('what an ended process or a copy has left of making it does not keep bytecode from being made; what a running one has does', () => {
  const path = project('left');
  const [name] = readFileSync(join(path, built, 'bytecode/current'), 'utf8').split('\n');
  const making = join(path, built, 'bytecode', `${name}.new`);
  const reset = (ageMs: number): void => {
    rmSync(join(path, built, 'bytecode'), { recursive: true });
    mkdirSync(making, { recursive: true });
    writeFileSync(join(making, 'part.js'), '');
    const then = new Date(Date.now() - ageMs);
    utimesSync(making, then, then);
  };
  reset(5000);
  makeBytecode(path);
  assert.equal(readdirSync(join(path, built, 'bytecode')), [`${name}.new`]);
  reset(3_600_000);
  makeBytecode(path);
  assert.equal(readdirSync(join(path, built, 'bytecode')).sort(), [name!, 'current'].sort());
  assert.not.ok(existsSync(join(path, built, 'bytecode', name!, 'part.js')));
  assert.equal(found(program(path)), { clang: 'of-left', libraries: true });
});

test('a helper that was started before the package was moved fails no command', () => {
  const old = project('helped');
  const helped = { CUMETAL_HELPER: '1', CUMETAL_CACHE_DISABLE: '1' };
  const example = (path: string, name: string): string => join(path, `node_modules/cumetal/examples/${name}.ptx`);
  const status = (path: string): string => ran(program(path), ['helper', 'status']);
  ran(program(old), ['check', example(old, 'saxpy')], helped);
  for (let tries = 0; tries < 100 && status(old).startsWith('no helper'); tries++) spawnSync('sleep', ['0.1']);
  assert.not.match(status(old), /^no helper/);
  const moved = join(folder, 'helped-moved');
  renameSync(old, moved);
  const to = join(elsewhere, 'out');
  for (const name of ['vector_add', 'reduce', 'mandelbrot']) {
    ran(program(moved), ['build', example(moved, name), '-o', to], helped);
    const bytes = readFileSync(to);
    ran(program(moved), ['build', example(moved, name), '-o', to], { CUMETAL_CACHE_DISABLE: '1' });
    assert.ok(bytes.equals(readFileSync(to)), name);
  }
});

test('the single-file program finds what is beside it, and names no source of the machine that built it', async () => {
  const path = join(folder, 'single');
  addCompiler(path, 'of-single');
  const own = join(path, 'cumetal');
  copyFileSync(await singleFileProgram(), own);
  chmodSync(own, 0o755);
  assert.equal(found(own), { clang: 'of-single', libraries: true });
  assert.is(launcherOf(own), own);
  assert.not.ok(readFileSync(own).includes(`file://${join(import.meta.dir, '../../src')}`));
});

test.run();
