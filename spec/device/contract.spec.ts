/**
 * The same list of tests (spec/support/device-contract.ts) on every device: the CPU device, and Metal against the fake one, by the
 * shim as a library and as Bun compiles it. `emulated.spec.ts` has it for arm64, which Macs are.
 */
import { dirname } from 'node:path';
import { suite } from 'uvu';
import { openCpuDevice } from '../../src/device/index.ts';
import { contract } from '../support/device-contract.ts';
import { buildFake } from '../support/metal/build.ts';
import { fakeCandidates } from '../support/metal/candidates.ts';

const test = suite('device/contract');

contract(test, { name: 'cpu', open: openCpuDevice, overdue: 'CM6010', outside: 'CM6011' });

const built = buildFake();
for (const candidate of fakeCandidates(dirname(built.fake))) contract(test, candidate);

test.after(() => built.remove());
test.run();
