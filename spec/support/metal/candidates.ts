/** The Metal device over the fake, once for each way to Metal, as candidates of the device contract. */
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { openMetalDevice } from '../../../src/device/metal/index.ts';
import type { MetalBinding } from '../../../src/ffi/index.ts';
import { macWays } from '../../../src/ffi/metal/open.ts';
import { compileShim, openShim } from '../../../src/ffi/metal/shim.ts';
import type { SystemLibraries } from '../../../src/ffi/metal/system.ts';
import { openMessages } from '../../../src/ffi/metal/without-shim.ts';
import type { Candidate } from '../device-contract.ts';
import { type Fake, loadFake } from './harness.ts';

/** The libraries of the system, with the fake in the place of those that Linux has not. */
export const fakeLibraries = (fake: string): SystemLibraries => ({
  objc: fake,
  metal: fake,
  dispatch: fake,
  system: 'libc.so.6',
  // As macOS has some; any other library will do.
  dependencies: ['libm.so.6'],
});

/** Fails if the fake recorded a violation, or an object is unreleased. */
export function checkFake(fake: Fake): void {
  fake.endAll();
  const found = { violations: fake.violations(), live: fake.live(), pools: fake.openPools() };
  const record = fake.record().slice(-5);
  fake.reset();
  assert.equal(found, { violations: [], live: 0, pools: 0 }, record.join('\n'));
}

/** The ways that work on this machine; messages without the shim need arm64. */
export function waysTo(folder: string): MetalBinding[] {
  const [fake, shim] = [join(folder, 'libfakemetal.so'), join(folder, 'libcumetal.so')];
  const ways = [openShim(shim), compileShim(fakeLibraries(fake))];
  return process.arch === 'arm64' ? [...ways, openMessages(fakeLibraries(fake))] : ways;
}

/** The Metal device of this Mac, once for each way to Metal. */
export const macCandidates = (): Candidate[] =>
  macWays.map(({ name, open }) => ({
    name: `metal of this Mac, by ${name}`,
    open() {
      const device = openMetalDevice(open());
      if (typeof device === 'string') throw new Error(device);
      return device;
    },
  }));

/** Candidates over the fake that was built into a folder. */
export function fakeCandidates(folder: string): Candidate[] {
  const fake = loadFake(join(folder, 'libfakemetal.so'));
  return waysTo(folder).map((binding) => ({
    name: `metal, by ${binding.way}`,
    open() {
      fake.reset();
      fake.limitMs = 60_000;
      const device = openMetalDevice(binding);
      if (typeof device === 'string') throw new Error(device);
      return device;
    },
    // A GPU with a disabled watchdog, so that the deadline of a launch ends it.
    willHang() {
      fake.limitMs = 100;
      fake.whenOver = 'never ends';
    },
    check: () => checkFake(fake),
    forget() {
      assert.equal(fake.violations(), []);
      fake.reset();
    },
    overdue: 'CM6020',
    outside: 'CM6021',
  }));
}
