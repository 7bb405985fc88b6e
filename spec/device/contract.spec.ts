/**
 * The same list of tests (spec/support/device-contract.ts) on every device: the CPU device, and Metal against the fake one, by the
 * shim as a library and as Bun compiles it; on a Mac its own Metal, by every way to it. `emulated.spec.ts` has it for arm64, which Macs are.
 */

import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openCpuDevice } from '../../src/device/index.ts';
import { contract } from '../support/device-contract.ts';
import { fakeCandidates, macCandidates } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';

const test = suite('device/contract');

contract(test, { name: 'cpu', open: openCpuDevice, overdue: 'CM6010', outside: 'CM6011' });

const { test: onFake, folder } = openFake(test);
for (const candidate of folder ? fakeCandidates(folder) : []) contract(onFake, candidate);
// On a Mac, the GPU itself.
if (process.platform === 'darwin') for (const candidate of macCandidates()) contract(test, candidate);
onFake('the fake Metal is one of the devices', () => assert.ok(folder));

test.run();
