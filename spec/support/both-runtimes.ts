/** Programs that Bun and Node run alike: each is built into one file with the sources of the package. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'uvu';
import { programForNode } from '../../scripts/node-program.ts';
import { root } from './examples.ts';
import { has, need } from './need.ts';

/** How a program has ended. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Runtime = 'bun' | 'node';

const major = has('node') ? Number(/^v(\d+)/.exec(spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout)?.[1]) : 0;
/** What a test in Node needs. */
export const nodeNeed = major >= 20 ? 'node' : 'node of version 20 or later';

/** Registers a test of a program for both runtimes. The text is TypeScript that imports `cumetal`; it runs in the root of the repository. */
export function inBoth<T>(test: Test<T>, name: string, text: string, check: (ended: Ended, runtime: Runtime) => void): void {
  let built: Promise<string> | undefined;
  const register = (runtime: Runtime, needs: readonly string[]): void =>
    need(test, needs, `${name} (${runtime})`, async () => {
      const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
      try {
        built ??= build(text, folder);
        const path = join(folder, 'program.mjs');
        writeFileSync(path, await built);
        check(run(runtime, [path]), runtime);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  register('bun', []);
  register('node', [nodeNeed]);
}

async function build(text: string, folder: string): Promise<string> {
  const entry = join(folder, 'program.ts');
  writeFileSync(entry, text);
  return programForNode(entry);
}

/** Runs a program file to its end, from the root of the repository. */
export function run(runtime: Runtime, words: readonly string[], cwd = root): Ended {
  const program = runtime === 'bun' ? process.execPath : 'node';
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', cwd, timeout: 120_000 });
  return { status, stdout, stderr };
}
