/** The result of `npm pack`, installed in an empty folder, and the single-file program: both as a user gets them. */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { installedApp, singleFileProgram } from '../support/installed.ts';

const test = suite('dist/package');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const empty = (name: string): string => {
  mkdirSync(join(folder, name), { recursive: true });
  return join(folder, name);
};

const app = await installedApp();
const cacheFolder = empty('cache');
const command = join(app, 'node_modules/.bin/cumetal');
const kernel = join(app, 'node_modules/cumetal/examples/vector_add.ptx');
/** The user's Bun and the system's programs, but nothing else of this checkout. */
const bun = empty('bun');
for (const name of ['bun', 'bunx']) symlinkSync(process.execPath, join(bun, name));
const paths = `${bun}:/usr/local/bin:/usr/bin:/bin`;

function ran(command: string, words: readonly string[], cwd = app, env: Record<string, string> = {}): string {
  const all = { PATH: paths, HOME: folder, CUMETAL_CACHE_PATH: cacheFolder, ...env };
  const { status, stdout, stderr, error } = spawnSync(command, words, { encoding: 'utf8', cwd, env: all, timeout: 120_000 });
  assert.is(status, 0, `${command} ${words.join(' ')}: ${error ?? ''}${stderr}${stdout}`);
  return stdout;
}

const sum = /0\.5 1\.5 2\.5 3\.5 4\.5/;

test('a bundler for browsers uses the browser build, without imports of Node or Bun', async () => {
  const entry = join(empty('page'), 'page.js');
  symlinkSync(join(app, 'node_modules'), join(folder, 'page/node_modules'));
  writeFileSync(entry, `import { Device } from 'cumetal';\nimport { parse } from 'cumetal/ptx';\nglobalThis.all = [Device, parse];\n`);
  const inputs: string[] = [];
  const noted = {
    name: 'noted',
    setup: (build: Bun.PluginBuilder) => void build.onLoad({ filter: /.*/ }, ({ path }) => void inputs.push(path)),
  };
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'browser', plugins: [noted] });
  assert.equal(new Bun.Transpiler({ loader: 'js' }).scanImports(await outputs[0]!.text()), []);
  const others = inputs.filter((path) => path !== entry && !path.startsWith(join(app, 'node_modules/cumetal/dist/browser/')));
  assert.equal(others, []);
  assert.ok(inputs.length > 3);
});

test('the installed command runs the built files', () => {
  const { stderr } = spawnSync('sh', ['-x', command, '--version'], { encoding: 'utf8', env: { PATH: paths } });
  assert.match(stderr, /exec bun .*dist\/bytecode\/[^/]+\/cli\/start-fast\.js --version/);
  assert.match(ran(command, ['run', kernel]), sum);
});

/** A copy of the package, without bytecode. */
function copyOfPackage(): { readonly command: string; readonly bytecode: string } {
  const copy = join(empty('copy'), 'node_modules/cumetal');
  cpSync(join(app, 'node_modules'), join(folder, 'copy/node_modules'), { recursive: true });
  const bytecode = join(copy, 'dist/bytecode');
  rmSync(bytecode, { recursive: true });
  return { command: join(copy, 'bin/cumetal'), bytecode };
}

test('the first run has bytecode made, which later runs load; without it the result is the same', async () => {
  const { command, bytecode } = copyOfPackage();
  const first = ran(command, ['build', kernel, '-o', '-', '--emit', 'air-ll'], app, { CUMETAL_BYTECODE: '0' });
  assert.not.ok(existsSync(bytecode), 'bytecode, though it is off');
  assert.is(ran(command, ['build', kernel, '-o', '-', '--emit', 'air-ll']), first);
  const current = join(bytecode, 'current');
  for (let tries = 0; tries < 600 && !existsSync(current); tries++) await new Promise((resolve) => setTimeout(resolve, 100));
  const version = readFileSync(current, 'utf8').split('\n')[0]!;
  assert.is(ran(command, ['build', kernel, '-o', '-', '--emit', 'air-ll']), first);
  writeFileSync(join(bytecode, version, 'cli/start-fast.js'), 'console.log("bytecode");');
  assert.is(ran(command, ['--version']), 'bytecode\n');
  // As if another version of Bun had made it.
  const other = '1.0.0-000000000-linux-x64';
  cpSync(join(app, 'node_modules/cumetal/dist/bytecode', version), join(bytecode, other), { recursive: true });
  writeFileSync(current, `${other}\n`);
  assert.match(ran(command, ['--version'], app, {}), /^\d+\.\d+\.\d+\n$/);
});

test('a package that the user cannot write into, and one whose bytecode is not whole, run all the same', () => {
  const { command, bytecode } = copyOfPackage();
  writeFileSync(bytecode, 'a file in the place of the folder');
  assert.match(ran(command, ['run', kernel]), sum);
});

test('each class of the library is in one built file, since one that existed twice would not be an instance of itself', () => {
  const dist = join(app, 'node_modules/cumetal/dist');
  const paths = ['index.js', 'cli/program.js', ...readdirSync(join(dist, 'parts')).map((name) => `parts/${name}`)];
  const texts = paths.map((path) => readFileSync(join(dist, path), 'utf8'));
  for (const name of ['CumetalError', 'Diagnostics', 'Kernel', 'Module', 'OutOfBytes', 'SourceFile', 'Stream'])
    assert.is(texts.filter((text) => new RegExp(`class ${name}\\d*\\b`).test(text)).length, 1, name);
});

test('bunx runs it', () => {
  assert.match(ran('bunx', ['cumetal', 'run', kernel]), sum);
});

test('without Bun it runs under Node', () => {
  const node = empty('node');
  for (const name of ['node', 'sh', 'readlink']) {
    const found = Bun.which(name);
    if (found) writeFileSync(join(node, name), `#!/bin/sh\nexec ${found} "$@"\n`, { mode: 0o755 });
  }
  assert.match(ran(command, ['run', kernel], app, { PATH: node }), sum);
});

const contentOf = (key: string): string => readFileSync(join(cacheFolder, key[0]!, key), 'latin1').slice(32);

/** Writes an entry as the cache has it. */
function writeEntry(key: string, content: string): void {
  const bytes = Buffer.from(content, 'latin1');
  writeFileSync(join(cacheFolder, key[0]!, key), Buffer.concat([createHash('sha256').update(bytes).digest(), bytes]));
}

test('code of kernels outlives the process, and has the results of code that was just compiled', () => {
  const entries = (): { key: string }[] => JSON.parse(ran(command, ['cache', 'list', '--json'])).entries;
  const outputs = (name: string, ...words: string[]): unknown =>
    JSON.parse(ran(command, ['run', join(app, `node_modules/cumetal/examples/${name}.ptx`), '--json', ...words])).outputs;
  for (const [name, ...words] of [['reduce'], ['mandelbrot'], ['vector_add', '--engine', 'lane'], ['vector_add']] as [
    string,
    ...string[],
  ][]) {
    ran(command, ['cache', 'clear']);
    const first = outputs(name, ...words, '--no-cache');
    assert.equal(outputs(name, ...words), first, name);
    const { length } = entries();
    assert.equal(outputs(name, ...words), first, name);
    assert.is(entries().length, length, name);
  }
  // Nobody asks the kernel itself for its parameters.
  const { key } = entries().find((entry) => contentOf(entry.key).includes('"reflection"'))!;
  writeEntry(key, contentOf(key).replaceAll('vector_add_param_2', 'vector_add_param_X'));
  assert.match(ran(command, ['run', kernel, '--print', '2']), /vector_add_param_X/);
  // What is no code is compiled again.
  for (const entry of entries())
    if (contentOf(entry.key).includes('\0asm')) writeEntry(entry.key, contentOf(entry.key).replace('\0asm', '\0bsm'));
  assert.match(ran(command, ['run', kernel]), sum);
});

test('the second run uses the cache entry of the first', () => {
  const cumetal = (...words: string[]): string => ran(command, words);
  cumetal('cache', 'clear');
  const list = (): { entries: { key: string }[] } => JSON.parse(cumetal('cache', 'list', '--json'));
  cumetal('run', kernel, '--no-cache');
  assert.is(list().entries.length, 0);
  const outputs = (): unknown => JSON.parse(cumetal('run', kernel, '--print', '2', '--json')).outputs;
  const first = outputs();
  // The metallib, what is known of the kernel, its code, and which code the launch has.
  assert.is(list().entries.length, 4);
  assert.equal(outputs(), first);
  // Replacing the entry changes the result of the next run, so the entry is used.
  const { key } = list().entries.find(({ key }) => contentOf(key).includes('MTLB'))!;
  const about = '{"kernels":[]}';
  const other = Buffer.concat([Buffer.from([about.length, 0, 0, 0]), Buffer.from(`${about}no metallib`)]);
  writeFileSync(join(cacheFolder, key[0]!, key), Buffer.concat([createHash('sha256').update(other).digest(), other]));
  const { status, stderr } = spawnSync(command, ['run', kernel], {
    encoding: 'utf8',
    cwd: app,
    env: { PATH: paths, CUMETAL_CACHE_PATH: cacheFolder },
  });
  assert.is(status, 1);
  assert.match(stderr, /CM40\d\d/);
  assert.is(cumetal('cache', 'path').trim(), cacheFolder);
});

test('a text that was built before is not compiled again, unless its options or its findings ask for it', () => {
  ran(command, ['cache', 'clear']);
  const entries = (): { key: string }[] => JSON.parse(ran(command, ['cache', 'list', '--json'])).entries;
  const built = (...words: string[]): string => {
    ran(command, ['build', kernel, '-o', join(folder, 'built.metallib'), ...words]);
    return readFileSync(join(folder, 'built.metallib'), 'latin1');
  };
  const first = built('--no-cache');
  built('--print-after', 'all');
  ran(command, ['build', kernel, '-o', '-', '--emit', 'ir']);
  assert.is(entries().length, 0);
  assert.is(built(), first);
  const [{ key } = { key: '' }, ...others] = entries();
  assert.is(others.length, 0);
  assert.is(built(), first);
  assert.not.ok(built('--target', 'macos13') === first);
  assert.is(entries().length, 2);
  // What the entry has is what is written.
  const about = Buffer.from('{"kernels":[]}');
  const other = Buffer.concat([Buffer.from([about.length, 0, 0, 0]), about, Buffer.from('of the cache')]);
  writeFileSync(join(cacheFolder, key[0]!, key), Buffer.concat([createHash('sha256').update(other).digest(), other]));
  assert.is(built(), 'of the cache');
  assert.is(built('--no-cache'), first);
});

test('eight concurrent compilations of one file have equal results and one cache entry', async () => {
  ran(command, ['cache', 'clear']);
  const env = { PATH: paths, CUMETAL_CACHE_PATH: cacheFolder };
  const words = ['run', kernel, '--print', '2', '--json'];
  const one = (): Promise<{ code: number | null; text: string }> =>
    new Promise((done) => {
      const child = spawn(command, words, { cwd: app, env });
      let text = '';
      child.stdout.on('data', (more) => {
        text += more;
      });
      child.on('close', (code) => done({ code, text }));
    });
  const all = await Promise.all(Array.from({ length: 8 }, one));
  assert.equal(
    all.map(({ code }) => code),
    Array(8).fill(0),
  );
  const outputs = all.map(({ text }) => JSON.stringify(JSON.parse(text).outputs));
  assert.is(new Set(outputs).size, 1);
  assert.match(outputs[0]!, /"data":\[0\.5,1\.5,2\.5/);
  const shards = readdirSync(cacheFolder).flatMap((shard) => readdirSync(join(cacheFolder, shard)));
  assert.is(shards.length, 4);
});

test('the single-file program needs no other file', async () => {
  const standalone = empty('standalone');
  const program = join(standalone, 'cumetal');
  copyFileSync(await singleFileProgram(), program);
  copyFileSync(kernel, join(standalone, 'vector_add.ptx'));
  assert.match(ran(program, ['run', 'vector_add.ptx'], standalone, { PATH: '/nowhere' }), sum);
  assert.match(ran(program, ['inspect', '--help'], standalone, { PATH: '/nowhere' }), /cumetal inspect/);
  ran(program, ['build', 'vector_add.ptx', '-o', 'v.metallib'], standalone, { PATH: '/nowhere' });
  assert.is(readFileSync(join(standalone, 'v.metallib')).subarray(0, 4).toString(), 'MTLB');
});

test.run();
