/**
 * The device contract (spec/support/device-contract.ts) on every device: the CPU device, and Metal over the fake Metal, with the
 * shim as a library and compiled by Bun; on a Mac the real Metal, through every binding. `emulated.spec.ts` covers arm64.
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
// On a Mac, the real GPU.
if (process.platform === 'darwin') for (const candidate of macCandidates()) contract(test, candidate);
onFake('the contract runs on the fake Metal', () => assert.ok(folder));

test.run();
