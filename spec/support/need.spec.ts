/** The rule for tests that need a tool: run, skip by name, or fail in CI. Each case is a spec of its own in another process. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('support/need');

function outcome(tool: string, ci: string): { code: number | null; out: string } {
  const program = `
    import { suite } from 'uvu';
    import { need } from '${join(import.meta.dirname, 'need.ts')}';
    const test = suite('inner');
    need(test, ['${tool}'], 'the case', () => {});
    test.run();`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8', env: { ...process.env, CI: ci } });
  return { code: status, out: stdout + stderr };
}

test('a tool that is there: the test runs', () => {
  const { code, out } = outcome('sh', '1');
  assert.is(code, 0);
  assert.match(out, /Passed:\s+1/);
  assert.match(out, /Skipped:\s+0/);
});

test('a tool that is not there: a named skip', () => {
  const { code, out } = outcome('no-such-tool', '');
  assert.is(code, 0);
  assert.match(out, /^skipped: the case \(needs no-such-tool\)$/m);
  assert.match(out, /Skipped:\s+1/);
});

test('a tool that is not there, in CI: a failure', () => {
  const { code, out } = outcome('no-such-tool', '1');
  assert.is(code, 1);
  assert.match(out, /CI must have no-such-tool/);
});

test.run();
