/** The words of `scripts/fuzz.ts`, and its processes: the one with the mutants waits for the one that reads its messages. */
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';

const test = suite('hostile/fuzz-words');

const script = join(root, 'scripts/fuzz.ts');
const fuzz = (...words: readonly string[]) => spawnSync(process.execPath, [script, ...words], { encoding: 'utf8' });

test('`--help` and wrong words print the usage, and no stack trace', () => {
  const help = fuzz('--help');
  assert.is(help.status, 0);
  assert.match(help.stdout, /^usage: bun scripts\/fuzz\.ts \[ptx\|/);
  for (const words of [
    ['--count', 'x'],
    ['show', 'x'],
  ]) {
    const { status, stderr } = fuzz(...words);
    assert.is(status, 2, words.join(' '));
    assert.match(stderr, /\nusage: /);
    assert.not.match(stderr, / at .*\.ts:\d/);
  }
});

test('messages are waited for where the reader is busy, and none is lost', async () => {
  const count = 10_000;
  const child = spawn(process.execPath, [script, 'npy', '--here', '--seed', '1', '--count', `${count}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.on('data', (bytes: Buffer) => {
    text += bytes;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  });
  assert.is(await new Promise((ended) => child.on('close', ended)), 0);
  const messages = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.is(messages.length, count + 1);
  assert.is(messages.at(-1).done, count);
});

test.run();
