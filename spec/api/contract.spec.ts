/**
 * The list of tests for the API (spec/support/api-contract.ts) on every device: the CPU device and Metal over the fake one, each with
 * launches that are waited for, that are under way for a while and that are queued; on a Mac its own Metal.
 */
import { suite } from 'uvu';
import { openCpuDevice } from '../../src/device/index.ts';
import { apiContract } from '../support/api-contract.ts';
import { delayed, queueing, randomFrom, withoutStart } from '../support/delayed-device.ts';
import type { Candidate } from '../support/device-contract.ts';
import { fakeCandidates, macCandidates } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';

const test = suite('api/contract');

const slow = (candidate: Candidate): Candidate => {
  const random = randomFrom(3);
  const turns = (): number => (random(8) === 0 ? random(3) : 0);
  return {
    ...candidate,
    launches: 1000,
    name: `${candidate.name}, launches taking a while`,
    open: () => delayed(candidate.open(), turns).device,
  };
};

const cpu: Candidate = { name: 'cpu', open: openCpuDevice };
/** The CPU device without launches by its workers, which take long on a busy machine. */
const plain: Candidate = { name: 'cpu, launches waited for', open: () => withoutStart(openCpuDevice()) };
/** As late as a GPU may run them. */
const queued: Candidate = { name: 'cpu, launches queued', open: () => queueing(openCpuDevice()).device };
for (const candidate of [{ ...cpu, launches: 500 }, plain, slow(cpu), queued]) apiContract(test, candidate);

const { test: onFake, folder } = openFake(test);
for (const candidate of folder ? fakeCandidates(folder) : []) for (const each of [candidate, slow(candidate)]) apiContract(onFake, each);
if (process.platform === 'darwin') for (const candidate of macCandidates()) apiContract(test, candidate);

test.run();
