/**
 * Metal under an emulated arm64 Bun, whose calls pass structs and doubles as those of Macs do: the list of tests for devices and that
 * for ways to Metal, by all three ways: the shim as a library, as Bun compiles it, and without any C.
 */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { packLibraries } from '../support/device-contract.ts';
import { buildFake } from '../support/metal/build.ts';
import { arm64Bun, need } from '../support/need.ts';

const test = suite('device/emulated');

/** Runs `emulated.ts` with a word; what it counts. */
function emulate(word: 'device' | 'binding'): { readonly total: number; readonly passed: number; readonly output: string } {
  const built = buildFake('aarch64-linux-gnu-gcc');
  const folder = dirname(built.fake);
  writeFileSync(join(folder, 'libraries.json'), packLibraries());
  const script = join(import.meta.dirname, '../support/metal/emulated.ts');
  const words = ['-L', '/usr/aarch64-linux-gnu', arm64Bun()!, script, folder, word];
  // What an optimising compiler makes has to be translated once more, which never pays here.
  const env = { ...process.env, BUN_JSC_useDFGJIT: '0', BUN_JSC_useConcurrentGC: '0' };
  const { stdout, stderr } = spawnSync('qemu-aarch64-static', words, { encoding: 'utf8', timeout: 160_000, env });
  built.remove();
  const count = (what: string): number => Number(new RegExp(`^\\s*${what}:\\s+(\\d+)`, 'm').exec(stdout)?.[1] ?? -1);
  return { total: count('Total'), passed: count('Passed'), output: stdout + stderr };
}

const needs = ['qemu-aarch64-static', 'aarch64-linux-gnu-gcc', 'arm64-bun'];

for (const [word, least] of [
  ['device', 60],
  ['binding', 36],
] as const)
  need(test, needs, `arm64: the list for a ${word}, by the three ways to Metal`, () => {
    const { total, passed, output } = emulate(word);
    assert.is(passed, total, output);
    assert.ok(total >= least && total % 3 === 0, output);
  });

test.run();
