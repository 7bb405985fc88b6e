/** A large file with the installed package: its process has the engine settings of a long run, and those that a version of Bun may lack only where it has them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { examplesFolder } from '../support/examples.ts';
import { programOf } from '../support/installed.ts';

const test = suite('dist/large-input');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
const launcher = await programOf('bun');
test.after(() => rmSync(folder, { recursive: true, force: true }));

const text = readFileSync(join(examplesFolder, 'vector_add.ptx'), 'utf8');
const small = text;
const large = `//${'x'.repeat(600_000)}\n${text}`;

/** What JavaScriptCore says of its settings at each start of a process, and the metallib. */
function built(source: string, [file, ...words] = launcher, more: Readonly<Record<string, string>> = {}) {
  writeFileSync(join(folder, 'k.ptx'), source);
  const env = { HOME: folder, CUMETAL_HELPER: '0', CUMETAL_CACHE_DISABLE: '1', BUN_JSC_dumpOptions: '1', ...more };
  const { status, stderr } = spawnSync(file!, [...words, 'build', 'k.ptx', '-q', '-o', 'out'], { cwd: folder, encoding: 'utf8', env });
  assert.is(status, 0, stderr);
  return { starts: stderr.split('Modified JSC options:').slice(1), bytes: readFileSync(join(folder, 'out')) };
}

test('a small file is compiled by one process, without compilers of JavaScript', () => {
  const { starts } = built(small);
  assert.is(starts.length, 1);
  assert.match(starts[0]!, /useDFGJIT=false/);
});

test('a large one by a second process, which compiles JavaScript, to the same file', () => {
  const { starts, bytes } = built(large);
  assert.is(starts.length, 2);
  for (const option of ['useDFGJIT=true', 'useFTLJIT=false', 'gcMaxHeapSize=50331648']) assert.ok(starts[1]!.includes(option), option);
  assert.equal(bytes, built(small).bytes);
});

test('one thread compiles JavaScript where the launcher knows the version of Bun, and no setting is new to another one', () => {
  const [, , command] = launcher;
  const main = join(dirname(realpathSync(command!)), '../dist/cli/start-built.js');
  const known = { BUN_JSC_useDFGJIT: '0', BUN_JSC_startupJITDeferralScale: '1000000' };
  const [, second] = built(large, [process.execPath, main], known).starts;
  assert.match(second!, /maxNumberOfWorklistThreads=1/);
  assert.not.match(second!, /startupJITDeferralScale/);
  // The package in the specs runs with a Bun on the PATH, which it does not know.
  assert.not.match(built(large).starts.join(''), /WorklistThreads|startupJITDeferralScale/);
});

test.run();
