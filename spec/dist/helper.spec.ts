/** `CUMETAL_HELPER=1` with the installed package: the files and messages are those without it, and a broken helper is not noticed. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exampleNames, examplesFolder } from '../support/examples.ts';
import { programOf } from '../support/installed.ts';

const test = suite('dist/helper');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
const program = await programOf('bun');
const cache = join(folder, 'cache');
mkdirSync(cache, { mode: 0o700 });

interface Ran {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
  readonly bytes: string | undefined;
}

function ran(words: readonly string[], env: Readonly<Record<string, string>> = {}, to?: string): Ran {
  const [file, ...first] = program;
  const all = { HOME: folder, CUMETAL_CACHE_PATH: cache, CUMETAL_CACHE_DISABLE: '1', ...env };
  const { status, stdout, stderr } = spawnSync(file!, [...first, ...words], { cwd: folder, encoding: 'utf8', env: all, timeout: 60_000 });
  return { status, out: stdout, err: stderr, bytes: to && readFileSync(join(folder, to), 'base64') };
}

const helped = { CUMETAL_HELPER: '1' };
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

test.run();
