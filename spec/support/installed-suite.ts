/** Runs the specs of the command line on the installed program: each is a process whose commands are the program's. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from './examples.ts';
import { programOf, type Way } from './installed.ts';

/** Specs that start the program by `spec/support/cli.ts`. */
export const commandSpecs = [
  'cli/build-wat',
  'cli/check',
  'cli/contained',
  'cli/cuda',
  'cli/diff',
  'cli/instruments',
  'cli/lsp',
  'cli/print-after',
  'cli/printed',
  'cli/process',
  'examples/process',
];

/** Registers a test for each spec, except those that need what the way does not have. */
export function installedSuite(way: Way, without: readonly string[] = []): void {
  const test = suite(`dist/installed-${way}`);
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of commandSpecs.filter((spec) => !without.includes(spec)))
    test(`spec/${name}.spec.ts`, async () => {
      const env = { ...process.env, CUMETAL_SPEC_PROGRAM: JSON.stringify(await programOf(way)), CUMETAL_CACHE_PATH: join(folder, 'cache') };
      const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, `spec/${name}.spec.ts`)], {
        cwd: root,
        encoding: 'utf8',
        env,
      });
      assert.is(status, 0, `${stdout}${stderr}`);
      assert.ok(Number(/Passed: +(\d+)/.exec(stdout)?.[1]) > 0, stdout);
    });
  test.run();
}
