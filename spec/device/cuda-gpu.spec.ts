/**
 * The list that every device is put through, on an NVIDIA GPU where one is. A launch that fails there stays with the process, so
 * what devices have to survive is run in processes of their own.
 */
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { systemCuda } from '../../src/device/cuda/index.ts';
import { openDevice } from '../../src/device/index.ts';
import { type Candidate, contract } from '../support/device-contract.ts';

const test = suite('device/cuda-gpu');

const candidate: Candidate = {
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

/** Tests that leave a context behind which takes nothing more. */
const fatal = ['a kernel that stops itself', 'a kernel that never ends', 'a kernel that reads where nothing is'];

const only = process.env.CUMETAL_ONLY_TEST;
if (systemCuda().info) {
  const register = (name: string, run: () => void | Promise<void>): void => {
    const found = fatal.find((words) => name.includes(words));
    if (only === undefined ? found === undefined : found === only) test(name, run);
  };
  contract(register, candidate);
  if (only === undefined) {
    for (const words of fatal) {
      test(`${words}, in a process of its own`, () => {
        const env = { ...process.env, CUMETAL_ONLY_TEST: words };
        const { status, stdout, stderr, signal } = spawnSync(process.execPath, [import.meta.filename], {
          env,
          encoding: 'utf8',
          timeout: 60_000,
        });
        assert.is(status, 0, `${signal ?? ''}${stdout}${stderr}`);
        assert.match(stdout, /Passed:\s+1/);
      });
    }
  }
} else {
  const name = 'the device contract on an NVIDIA GPU';
  console.log(`skipped: ${name} (needs one)`);
  test.skip(name, () => {});
  test('without a GPU there is no device, and it says so', () => {
    const diagnostics = new Diagnostics();
    assert.is(openDevice('cuda', diagnostics), undefined);
    assert.equal(
      diagnostics.list.map(({ code }) => code),
      ['CM6001'],
    );
  });
}

test.run();
