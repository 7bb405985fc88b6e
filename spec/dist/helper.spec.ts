/** The helper with the installed package: the files and messages are those without it, and a broken helper is not noticed. */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exampleNames, examplesFolder } from '../support/examples.ts';
import { programOf, singleFileProgram } from '../support/installed.ts';
import { need } from '../support/need.ts';

const test = suite('dist/helper');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
const program = await programOf('bun');
const cache = join(folder, 'cache');
mkdirSync(cache, { mode: 0o700 });

/** Nothing but what follows: a service of continuous integration, which may run this, has no helper. */
const own = { HOME: folder, CUMETAL_CACHE_PATH: cache, CUMETAL_CACHE_DISABLE: '1' };

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  readonly bytes: string | undefined;
}

function ran(words: readonly string[], env: Readonly<Record<string, string>> = {}, to?: string): Ran {
  const [file, ...first] = program;
  const options = { cwd: folder, encoding: 'utf8', env: { ...own, ...env }, timeout: 60_000 } as const;
  const { status, stdout, stderr } = spawnSync(file!, [...first, ...words], options);
  return { status, out: stdout, err: stderr, bytes: to && readFileSync(join(folder, to), 'base64') };
}

const helped = { CUMETAL_HELPER: '1' };
const never = { CUMETAL_HELPER: '0' };
const status = (): string => ran(['helper', 'status']).out;
const served = (): number => Number(/, (\d+) commands?,/.exec(status())?.[1] ?? -1);
const vectorAdd = ['build', join(examplesFolder, 'vector_add.ptx'), '-o', 'out'];

test.after(() => {
  ran(['helper', 'stop']);
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a helper and waits until it answers. */
function start(): void {
  assert.is(ran(vectorAdd, helped).status, 0);
  for (let i = 0; i < 100 && served() < 0; i++) spawnSync('sleep', ['0.1']);
  assert.ok(served() >= 0, 'a helper runs');
}

test('every example is the same file with the same messages', () => {
  assert.is(status(), 'no helper runs\n');
  start();
  const before = served();
  for (const name of exampleNames) {
    const words = [join(examplesFolder, `${name}.ptx`)];
    assert.equal(ran(['build', ...words, '-o', 'out'], helped, 'out'), ran(['build', ...words, '-o', 'out'], {}, 'out'), name);
    assert.equal(ran(['check', ...words], helped), ran(['check', ...words]), name);
  }
  // A busy machine may have begun some too late.
  assert.ok(served() - before > exampleNames.length, `${served() - before} of ${2 * exampleNames.length} were asked for`);
});

test('one that runs is asked without a word of the user, and not by services or against his will', () => {
  const expected = ran(vectorAdd, never, 'out');
  for (const [env, isAsked] of [
    [{}, true],
    [{ CI: 'true' }, false],
    [never, false],
    [{ CUMETAL_TRACE: '1' }, false],
  ] as const) {
    const before = served();
    assert.equal(ran(vectorAdd, env, 'out'), expected);
    // A busy machine may begin too late, but has counted.
    assert.is(served() - before, isAsked ? 1 : 0, JSON.stringify(env));
  }
});

test('a file that cannot be written is said by the process itself', () => {
  const words = ['build', join(examplesFolder, 'vector_add.ptx'), '-o', 'absent/out'];
  const alone = ran(words);
  assert.is(alone.status, 1);
  assert.equal(ran(words, helped), alone);
});

test('a helper that was killed is replaced, and no command fails', () => {
  const pid = Number(/process (\d+)/.exec(status())![1]);
  process.kill(pid, 'SIGKILL');
  const alone = ran(vectorAdd, {}, 'out');
  assert.equal(ran(vectorAdd, helped, 'out'), alone);
  start();
  assert.ok(!status().includes(`process ${pid},`));
  assert.match(ran(['helper', 'stop']).out, /^the helper has ended, process \d+\n$/);
});

/** The names in the helper's folder. */
const inFolder = (): string[] => readdirSync(join(cache, 'helper')).sort();
const sockets = (): string[] => inFolder().filter((name) => !name.endsWith('.pipes'));

test('without one, the user is not given one unasked, and a socket that a killed one left goes away', () => {
  assert.equal(inFolder(), []);
  const expected = ran(vectorAdd, never, 'out');
  for (let i = 0; i < 6; i++) assert.equal(ran(vectorAdd, {}, 'out'), expected);
  assert.equal(inFolder(), []);
  start();
  process.kill(Number(/process (\d+)/.exec(status())![1]), 'SIGKILL');
  assert.is(sockets().length, 1);
  assert.equal(ran(vectorAdd, {}, 'out'), expected);
  assert.equal(inFolder(), []);
  assert.is(status(), 'no helper runs\n');
});

test('several commands at once start one', async () => {
  const expected = readFileSync(join(folder, 'out'));
  const [file, ...first] = program;
  const commands = [0, 1, 2, 3, 4].map((i) => {
    const words = ['build', join(examplesFolder, 'vector_add.ptx'), '-o', `out${i}`];
    const child = spawn(file!, [...first, ...words], { cwd: folder, env: { ...own, ...helped }, stdio: 'ignore' });
    return new Promise((resolve) => child.on('exit', resolve));
  });
  assert.equal(await Promise.all(commands), [0, 0, 0, 0, 0]);
  for (const i of [0, 1, 2, 3, 4]) assert.equal(readFileSync(join(folder, `out${i}`)), expected);
  for (let i = 0; i < 100 && (served() < 0 || sockets().length > 1); i++) spawnSync('sleep', ['0.1']);
  assert.is(sockets().length, 1);
  const ours = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line.includes(join(cache, 'helper')));
  assert.is(ours.length, 1, ours.join('\n'));
});

/** The pipes by which a shell asks. */
const pipes = (): string => join(cache, 'helper', inFolder().find((name) => name.endsWith('.pipes'))!);

/** The program does not ask where there is a variable that it does not know; the shell knows those that the program heeds. */
const byShell = { CUMETAL_OF_NOBODY: '1' };

function servedTo(use: () => void): number {
  const before = served();
  use();
  return served() - before;
}

test('a shell asks by itself: the same files, permissions, messages and codes', () => {
  const text = readFileSync(join(examplesFolder, 'vector_add.ptx'), 'utf8');
  const texts = { 'a b.ptx': text, 'bad.ptx': text.replace('add.f32', 'add.f99'), 'warned.ptx': text.replace('ret;', 'ret; ret; ret;') };
  for (const [name, each] of Object.entries(texts)) writeFileSync(join(folder, name), each);
  mkdirSync(join(folder, 'sub'));
  const lines: [words: string[], env?: Readonly<Record<string, string>>][] = [
    [['build', 'a b.ptx', '-o', 'out']],
    [['build', 'a b.ptx', '-o', 'sub/out 2', '--target', 'cpu']],
    [['build', join(folder, 'a b.ptx'), '--output', join(folder, 'out'), '-q']],
    [['build', 'a b.ptx', '-o', 'out', '--emit', 'air-ll']],
    [['build', 'bad.ptx', '-o', 'none']],
    [['build', 'bad.ptx', '-o', 'none'], { FORCE_COLOR: '1' }],
    [['build', 'bad.ptx', '-o', 'none'], { FORCE_COLOR: '1', NO_COLOR: '1' }],
    [['check', 'warned.ptx', '--warnings', 'all']],
    [['check', 'bad.ptx'], { FORCE_COLOR: '1' }],
    [['check', 'bad.ptx', '--json']],
    [['check', 'a b.ptx', '--no-such-option']],
    [['build', 'a b.ptx']],
  ];
  const outputs = ['out', 'sub/out 2', 'none'];
  /** All that can be seen of a command, with outputs that are new and such that replace others. */
  const seen = ([words, env]: (typeof lines)[number], mode: string): unknown =>
    [undefined, 0o640].map((old) => {
      for (const each of outputs) rmSync(join(folder, each), { force: true });
      if (old !== undefined) for (const each of outputs) writeFileSync(join(folder, each), 'old', { mode: old });
      const [file, ...first] = program;
      const line = ['-c', 'umask 027 && exec "$@"', 'sh', file!, ...first, ...words];
      const { status, stdout, stderr } = spawnSync('sh', line, {
        cwd: folder,
        encoding: 'utf8',
        env: { ...own, ...byShell, ...env, CUMETAL_HELPER: mode },
      });
      const files = outputs.map((each) => {
        const stats = statSync(join(folder, each), { throwIfNoEntry: false });
        return stats && [stats.mode, readFileSync(join(folder, each), 'base64')];
      });
      return { status, stdout: stdout.replace(/"compile_ms": ?[\d.]+/, ''), stderr, files, left: readdirSync(folder).sort() };
    });
  const expected = lines.map((line) => seen(line, '0'));
  const count = servedTo(() => {
    for (const [i, line] of lines.entries()) assert.equal(seen(line, ''), expected[i], line.join(' '));
  });
  assert.is(count, 2 * lines.length);
});

need(test, ['full-device'], 'a shell whose output takes no more leaves the report of that to the program', () => {
  const text = join(examplesFolder, 'vector_add.ptx');
  const line = ['-c', '"$@" >/dev/full', 'sh', ...program, 'check', text];
  const count = servedTo(() => {
    const { status, stderr } = spawnSync('sh', line, { cwd: folder, encoding: 'utf8', env: { ...own, ...byShell, CUMETAL_HELPER: '' } });
    assert.is(stderr, 'error[CM5031]: cannot write `standard output`: the disk is full\n');
    assert.is(status, 1);
  });
  assert.ok(count >= 1);
});

test('a shell leaves to the program what is unusual', () => {
  const text = join(examplesFolder, 'vector_add.ptx');
  rmSync(join(folder, 'out'), { force: true });
  writeFileSync(join(folder, 'elsewhere'), '');
  symlinkSync('elsewhere', join(folder, 'out'));
  const cases: [words: string[], env?: Readonly<Record<string, string>>][] = [
    [['build', text, '-o', 'out']],
    [['build', text, '-o', '-']],
    [['build', text, '-o', folder]],
    [['build', 'absent.ptx', '-o', 'new']],
    [['build', text, '-o', 'absent/new']],
    [['build', text, '-o', 'two\nlines']],
    [['check', text], { CUMETAL_TRACE: '1' }],
    [['check', text], { CUMETAL_HELPER: 'no' }],
    [['check', text], { BUILD_NUMBER: '7' }],
  ];
  const count = servedTo(() => {
    for (const [words, env] of cases) assert.equal(ran(words, { ...byShell, ...env }), ran(words, { ...env, ...never }), words.join(' '));
  });
  assert.is(count, 0);
  assert.ok(lstatSync(join(folder, 'out')).isSymbolicLink());
  assert.ok(readFileSync(join(folder, 'elsewhere')).length > 1000);
  rmSync(join(folder, 'out'));
});

test('pipes that are taken, of another user, or without an end that answers have no effect', async () => {
  const expected = ran(vectorAdd, never, 'out');
  const before = readdirSync(folder).sort();
  const number = (): string => readFileSync(join(pipes(), 'next'), 'utf8').trim();
  const taken = join(pipes(), `${number()}.taken`);
  writeFileSync(taken, '');
  assert.is(
    servedTo(() => assert.equal(ran(vectorAdd, byShell, 'out'), expected)),
    0,
  );
  rmSync(taken);
  if (process.getuid?.() === 0) {
    const ask = join(pipes(), `${number()}.ask`);
    for (const each of [ask, pipes()]) {
      chownSync(each, 12_345, 12_345);
      assert.is(
        servedTo(() => assert.equal(ran(vectorAdd, byShell, 'out'), expected)),
        0,
      );
      chownSync(each, 0, 0);
    }
  }
  assert.is(
    servedTo(() => assert.equal(ran(vectorAdd, byShell, 'out'), expected)),
    1,
  );
  // A helper that ends while a shell waits for its answer: this one reads, and says a part at most.
  process.kill(Number(/process (\d+)/.exec(status())![1]), 'SIGKILL');
  const at = pipes();
  for (const part of ['', 'enote: a part\n']) {
    rmSync(at, { recursive: true });
    mkdirSync(at, { mode: 0o700 });
    writeFileSync(join(at, 'next'), '0\n');
    const [ask, answer] = ['ask', 'answer'].map((what) => join(at, `0.${what}`));
    spawnSync('mkfifo', ['-m', '600', ask!, answer!]);
    // It says when it reads, as a shell that asks does not wait for it; its own end for writing keeps the pipe open until then.
    const isThere = join(at, 'reads');
    const line = `exec 5<>"$1" 7<>"$0" 6<"$0"; : >"$3"; read -r line <&6; exec 7>&-; cat <&6 >/dev/null; printf '%s' "$2" >&5`;
    const other = spawn('sh', ['-c', line, ask!, answer!, part, isThere], { stdio: 'ignore' });
    const ended = new Promise((resolve) => other.on('exit', resolve));
    for (let i = 0; i < 100 && !existsSync(isThere); i++) spawnSync('sleep', ['0.1']);
    assert.equal(ran(vectorAdd, byShell, 'out'), expected);
    assert.is(await ended, 0);
  }
  // And one that has ended.
  rmSync(join(at, '0.taken'));
  assert.equal(ran(vectorAdd, byShell, 'out'), expected);
  assert.equal(readdirSync(folder).sort(), before);
  assert.equal(ran(vectorAdd, {}, 'out'), expected);
  assert.equal(inFolder(), []);
  start();
});

test('what takes its place and fails, or is of another user or open to others, has no effect', async () => {
  const [name] = sockets();
  const socket = join(cache, 'helper', name!);
  ran(['helper', 'stop']);
  for (let i = 0; i < 100 && existsSync(socket); i++) spawnSync('sleep', ['0.1']);
  const expected = ran(vectorAdd, never, 'out');
  // It says that it has begun, and then nothing that is an answer.
  const server = join(folder, 'server.ts');
  writeFileSync(
    server,
    `process.umask(0o077); let n = 0;
Bun.listen({ unix: process.argv[2], socket: { open() { require('node:fs').writeFileSync(process.argv[2] + '.n', String(++n)); },
  data(s) { s.write(Uint8Array.of(6)); s.write(process.argv[3]); s.flush(); s.end(); } } });`,
  );
  const cases: [answer: string, env: Readonly<Record<string, string>>, change: () => void, asked: number][] = [
    ['', helped, () => undefined, 1],
    ['no message at all', helped, () => undefined, 1],
    ['{"done":{}}', {}, () => undefined, 1],
    ['', {}, () => chmodSync(socket, 0o666), 0],
  ];
  if (process.getuid?.() === 0) cases.push(['', {}, () => chownSync(socket, 12_345, 12_345), 0]);
  for (const [answer, env, change, asked] of cases) {
    const child = spawn(process.execPath, [server, socket, answer], { stdio: 'ignore' });
    for (let i = 0; i < 100 && !existsSync(socket); i++) spawnSync('sleep', ['0.1']);
    change();
    assert.equal(ran(vectorAdd, env, 'out'), expected, answer);
    assert.is(Number(existsSync(`${socket}.n`) && readFileSync(`${socket}.n`, 'utf8')), asked);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));
    rmSync(join(cache, 'helper'), { recursive: true, force: true });
    mkdirSync(join(cache, 'helper'), { mode: 0o700 });
  }
});

test('who compiles often at a terminal is given one', () => {
  if (process.platform !== 'linux' || !Bun.which('script')) return;
  // A small file may take less than the time that counts, on a fast machine.
  const kernels = readFileSync(join(examplesFolder, 'vector_add.ptx'), 'utf8');
  const [head, kernel] = [kernels.slice(0, kernels.indexOf('.visible')), kernels.slice(kernels.indexOf('.visible'))];
  const copies = Array.from({ length: 200 }, (_, i) => kernel.replace('vector_add', `vector_add_${i}`));
  writeFileSync(join(folder, 'long.ptx'), [head, ...copies].join(''));
  const line = [...program, 'build', 'long.ptx', '-o', 'out'].map((word) => `'${word}'`).join(' ');
  const atTerminal = (env: Readonly<Record<string, string>>): void => {
    const { status } = spawnSync('script', ['-qec', line, '/dev/null'], { cwd: folder, env: { PATH: process.env.PATH, ...own, ...env } });
    assert.is(status, 0);
  };
  for (let i = 0; i < 6; i++) atTerminal(never);
  for (let i = 0; i < 3; i++) atTerminal({});
  spawnSync('sleep', ['0.5']);
  assert.is(status(), 'no helper runs\n');
  atTerminal({});
  for (let i = 0; i < 100 && served() < 0; i++) spawnSync('sleep', ['0.1']);
  assert.is(served(), 0);
  atTerminal({});
  assert.is(served(), 1);
});

test('a folder that others may enter has none', () => {
  const open = join(folder, 'open');
  mkdirSync(open);
  writeFileSync(join(open, 'note'), '');
  chmodSync(open, 0o755);
  const env = { ...helped, CUMETAL_CACHE_PATH: open };
  assert.equal(ran(vectorAdd, env, 'out'), ran(vectorAdd, {}, 'out'));
  assert.equal(readdirSync(open), ['note']);
  assert.match(ran(['helper', 'status'], env).err, /^error: there is no helper: the folder .* is not trusted/);
});

test('the single-file program has one of its own', async () => {
  const file = await singleFileProgram();
  const once = (env: Readonly<Record<string, string>>): Ran => {
    const { status, stdout, stderr } = spawnSync(file, vectorAdd, {
      cwd: folder,
      encoding: 'utf8',
      env: { ...own, ...env },
      timeout: 60_000,
    });
    return { status, out: stdout, err: stderr, bytes: readFileSync(join(folder, 'out'), 'base64') };
  };
  const state = (word: string): string => spawnSync(file, ['helper', word], { env: own, encoding: 'utf8' }).stdout;
  const expected = once(never);
  assert.is(expected.status, 0);
  assert.equal(once(helped), expected);
  for (let i = 0; i < 100 && state('status') === 'no helper runs\n'; i++) spawnSync('sleep', ['0.1']);
  try {
    assert.equal(once({}), expected);
    assert.match(state('status'), /, 1 command,/);
  } finally {
    state('stop');
  }
});

test.run();
