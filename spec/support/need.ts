/**
 * Tests that need something which the product does not: a tool that checks it. Where that is absent the test is a skip that is
 * counted and named; in CI, where `.ci/run` installs the tools, it fails instead.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'uvu';

/** What a test needs: a program on the PATH, or `oracle`, the folder with the independent AIR oracle. */
export type Need = string;

/** Not to be had on a CI machine: NVIDIA's tools. */
const optional = new Set(['nvcc', 'ptxas']);

/** The folder of the AIR oracle; `CUMETAL_ORACLE` names another. */
export const oracleFolder = process.env.CUMETAL_ORACLE || join(import.meta.dirname, '../oracle/air');

/** Whether a need is met on this machine. */
export const has = (need: Need): boolean => (need === 'oracle' ? existsSync(join(oracleFolder, 'air_cpu.py')) : Bun.which(need) !== null);

/** Registers a test that needs tools: as it is where all are there, as a named skip where one is not, as a failure in CI. */
export function need<T>(test: Test<T>, needs: readonly Need[], name: string, run: () => void | Promise<void>): void {
  const missing = needs.filter((one) => !has(one));
  if (missing.length === 0) return test(name, run);
  if (process.env.CI && missing.some((one) => !optional.has(one)))
    return test(name, () => {
      throw new Error(`CI must have ${missing.join(', ')}`);
    });
  console.log(`skipped: ${name} (needs ${missing.join(', ')})`);
  test.skip(name, run);
}
