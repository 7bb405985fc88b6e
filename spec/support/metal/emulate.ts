/** Runs lists of tests under an emulated arm64 Bun, whose calls pass structs and doubles like those of Macs. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { packLibraries } from '../device-contract.ts';
import { arm64Bun, need } from '../need.ts';
import { buildFake } from './build.ts';

/** Which list: that for devices, for bindings, or for the API, which is run by one way. */
type Word = 'device' | 'binding' | 'api';

/** Registers a test that runs a list by the three ways to Metal; it has at least so many tests. */
export function emulated<T>(suite: Test<T>, word: Word, least: number): void {
  const needs = ['qemu-aarch64-static', 'aarch64-linux-gnu-gcc', 'arm64-bun'];
  need(suite, needs, `arm64: the list for ${word === 'api' ? 'the API, by one way' : `a ${word}, by the three ways`} to Metal`, () => {
    const { total, passed, output } = emulate(word);
    assert.is(passed, total, output);
    assert.ok(total >= least && (word === 'api' || total % 3 === 0), output);
  });
}

/** Runs `emulated.ts` with an argument; returns the counts. */
function emulate(word: Word): { readonly total: number; readonly passed: number; readonly output: string } {
  const built = buildFake('aarch64-linux-gnu-gcc');
  const folder = dirname(built.fake);
  writeFileSync(join(folder, 'libraries.json'), packLibraries());
  const script = join(import.meta.dirname, 'emulated.ts');
  const words = ['-L', '/usr/aarch64-linux-gnu', arm64Bun()!, script, folder, word];
  // The output of an optimizing compiler is translated again under emulation, which never pays off here.
  const env = { ...process.env, BUN_JSC_useDFGJIT: '0', BUN_JSC_useConcurrentGC: '0' };
  const { stdout, stderr } = spawnSync('qemu-aarch64-static', words, { encoding: 'utf8', timeout: 160_000, env });
  built.remove();
  const count = (what: string): number => Number(new RegExp(`^\\s*${what}:\\s+(\\d+)`, 'm').exec(stdout)?.[1] ?? -1);
  return { total: count('Total'), passed: count('Passed'), output: stdout + stderr };
}
