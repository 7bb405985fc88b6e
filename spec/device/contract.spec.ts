/**
 * The same list of tests (spec/support/device-contract.ts) on every device: the CPU device, and Metal against the fake one, by the
 * shim as a library and as Bun compiles it; under an emulated arm64 Bun, as Macs have it, without the shim as well.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openCpuDevice } from '../../src/device/index.ts';
import { contract } from '../support/device-contract.ts';
import { buildFake } from '../support/metal/build.ts';
import { fakeCandidates } from '../support/metal/candidates.ts';
import { arm64Bun, need } from '../support/need.ts';

const test = suite('device/contract');

contract(test, { name: 'cpu', open: openCpuDevice, overdue: 'CM6010', outside: 'CM6011' });

const built = buildFake();
for (const candidate of fakeCandidates(dirname(built.fake))) contract(test, candidate);

need(test, ['qemu-aarch64-static', 'aarch64-linux-gnu-gcc', 'arm64-bun'], 'emulated arm64: the list, by the three ways to Metal', () => {
  const emulated = buildFake('aarch64-linux-gnu-gcc');
  const script = join(import.meta.dirname, '../support/metal/emulated.ts');
  const words = ['-L', '/usr/aarch64-linux-gnu', arm64Bun()!, script, dirname(emulated.fake)];
  const { stdout, stderr } = spawnSync('qemu-aarch64-static', words, { encoding: 'utf8', timeout: 170_000 });
  emulated.remove();
  const count = (word: string): number => Number(new RegExp(`^\\s*${word}:\\s+(\\d+)`, 'm').exec(stdout)?.[1] ?? -1);
  assert.is(count('Passed'), count('Total'), stdout + stderr);
  // As many for each way as here for the CPU device.
  assert.is(count('Total') % 3, 0);
  assert.ok(count('Total') >= 60, stdout + stderr);
});

test.after(() => built.remove());
test.run();
