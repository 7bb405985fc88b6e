/** The device contract on an NVIDIA GPU, where there is one. */
import { suite } from 'uvu';
import { gpu, onGpu } from '../support/cuda/gpu.ts';
import { contract } from '../support/device-contract.ts';

const test = suite('device/cuda-gpu');

const fatal = ['a kernel that stops itself', 'a kernel that never ends', 'a kernel that reads at an invalid address'];
onGpu(test, import.meta.filename, fatal, (register) => contract(register, gpu));

test.run();
