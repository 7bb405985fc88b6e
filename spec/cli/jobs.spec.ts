/** `cumetal build --jobs`: several processes make the bytes that one makes, and say what one says. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { defaultJobs } from '../../src/cli/jobs/index.ts';

const test = suite('cli/jobs');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const start = join(import.meta.dirname, '../../src/cli/start.ts');
const entry = (name: string, body: string): string =>
  `.visible .entry ${name}(.param .u64 p) {\n.reg .b64 %rd<2>; .reg .b32 %r<2>;\nld.param.u64 %rd1, [p];\n${body}\nst.global.u32 [%rd1], %r1;\nret;\n}\n`;
const text = `.version 7.0\n.target sm_70\n.address_size 64\n${[1, 2, 3].map((i) => entry(`k${i}`, `mov.u32 %r1, ${i};`)).join('')}`;

function built(text: string, ...words: string[]): { status: number | null; stderr: string; bytes?: Buffer } {
  const [from, to] = [join(folder, 'k.ptx'), join(folder, 'k.metallib')];
  writeFileSync(from, text);
  rmSync(to, { force: true });
  const { status, stderr } = spawnSync(process.execPath, [start, 'build', from, '-o', to, ...words], { encoding: 'utf8' });
  return { status, stderr, ...(status === 0 ? { bytes: readFileSync(to) } : {}) };
}

test('the bytes and the messages do not depend on the number of processes', () => {
  const one = built(text, '-j', '1');
  assert.is(one.status, 0);
  assert.equal(built(text, '--jobs', '3'), one);
});

test('findings are those of one process, in their order', () => {
  const much = '.shared .b8 much[300000]; mov.u32 %r1, much;';
  const faulty = text + entry('k4', much) + entry('k5', 'mov.u32 %r1, 5;') + entry('k6', much);
  const one = built(faulty, '-j', '1');
  assert.is(one.status, 3);
  assert.is(one.stderr.match(/CM2093/g)?.length, 2);
  assert.equal(built(faulty, '-j', '2'), one);
});

test('findings of the check, in the shares of several processes, are said once and in order', () => {
  const newer = 'bmsk.wrap.b32 %r1, %r1, %r1;';
  const wide = (name: string): string => entry(name, `${newer} mov.u32 %r1, 1;\nszext.wrap.u32 %r1, %r1, %r1;`);
  const warned = entry('k0', newer) + text.slice(text.indexOf('.visible')) + wide('k4') + wide('k5');
  const head = text.slice(0, text.indexOf('.visible'));
  const one = built(head + warned, '-j', '1');
  assert.is(one.status, 0);
  assert.is(one.stderr.match(/warning\[CM2110\]/g)?.length, 2);
  for (const jobs of ['2', '4', '9']) assert.equal(built(head + warned, '-j', jobs), one);
  const wrong = head + warned + entry('k6', 'mov.f32 %r1, 1;') + entry('k7', 'add.u32 %r1, %r1, %r9;');
  const none = built(wrong, '-j', '1');
  assert.is(none.status, 3);
  assert.equal(built(wrong, '-j', '3'), none);
});

test('without a count, two cores and the memory that they need are for one process', () => {
  const gigabyte = 2 ** 30;
  assert.equal(
    [1, 2, 4, 64].map((cores) => defaultJobs(cores, 64 * gigabyte)),
    [1, 1, 2, 4],
  );
  assert.is(defaultJobs(64, gigabyte), 1);
  assert.is(defaultJobs(64, 0), 1);
});

test('a count is at least 1', () => {
  const { status, stderr } = built(text, '-j', '0');
  assert.is(status, 2);
  assert.match(stderr, /invalid value `0` for `--jobs`/);
});

test.run();
