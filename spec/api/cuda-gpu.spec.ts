/** The lists of tests of the API, and the order of work in streams, on an NVIDIA GPU where one is. */
import { suite } from 'uvu';
import { apiContract } from '../support/api-contract.ts';
import { gpu, onGpu } from '../support/cuda/gpu.ts';
import { delayed, randomFrom } from '../support/delayed-device.ts';
import type { Candidate } from '../support/device-contract.ts';

const test = suite('api/cuda-gpu');

const random = randomFrom(3);
const slow: Candidate = {
  ...gpu,
  name: 'cuda, launches taking a while',
  open: () => delayed(gpu.open(), () => (random(8) === 0 ? random(3) : 0)).device,
};

onGpu(test, import.meta.filename, ['cuda: the error of a kernel is sticky', 'a while: the error of a kernel is sticky'], (register) => {
  for (const candidate of [gpu, slow]) apiContract(register, candidate);
});

test.run();
