/** An NVIDIA GPU as a candidate of the contracts, and tests that need a process of their own. */
import { spawnSync } from 'node:child_process';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { systemCuda } from '../../../src/device/cuda/index.ts';
import { openDevice } from '../../../src/device/index.ts';
import type { Candidate } from '../device-contract.ts';
import type { Register } from '../need.ts';

export const gpu: Candidate = {
  name: 'cuda',
  open() {
    const diagnostics = new Diagnostics();
    const device = openDevice('cuda', diagnostics);
    if (!device) throw new Error(diagnostics.list.map(({ message, notes }) => [message, ...notes].join('; ')).join());
    return device;
  },
  overdue: 'CM6020',
  outside: 'CM6021',
  stopped: 'CM6042',
};

/**
 * Registers the tests of a contract where there is an NVIDIA GPU. After a test whose name contains one of `fatal` the driver rejects the
 * process, so each of these runs in a process of its own.
 */
export function onGpu<T>(test: Test<T>, file: string, fatal: readonly string[], list: (register: Register) => void): void {
  const only = process.env.CUMETAL_ONLY_TEST;
  if (!systemCuda().info) {
    const name = 'a contract on an NVIDIA GPU';
    console.log(`skipped: ${name} (needs one)`);
    return test.skip(name, () => {});
  }
  list((name, run) => {
    const found = fatal.find((part) => name.includes(part));
    if (only === undefined ? found === undefined : found === only) test(name, run);
  });
  for (const part of only === undefined ? fatal : []) {
    test(`${part}, in a process of its own`, () => {
      const env = { ...process.env, CUMETAL_ONLY_TEST: part };
      const { status, stdout, stderr, signal } = spawnSync(process.execPath, [file], { env, encoding: 'utf8', timeout: 60_000 });
      assert.is(status, 0, `${signal ?? ''}${stdout}${stderr}`);
      assert.match(stdout, /Passed:\s+1/);
    });
  }
}
