/** What `cumetal doctor` says of the GPU: shown by a kernel on it where there is one, with the reason where there is none. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cudaFinding, metalFinding } from '../../src/cli/doctor.ts';
import type { Terminal } from '../../src/cli/terminal/index.ts';
import { openCudaDevice } from '../../src/device/cuda/index.ts';
import type { Device } from '../../src/device/index.ts';
import { openMetalDevice } from '../../src/device/metal/index.ts';
import { openFakeCuda } from '../support/cuda/fake.ts';
import { checkFake } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';

const all = suite('cli/doctor');
const { test, fake, binding } = openFake(all);
// No file is read for a kernel that brings its own numbers.
const terminal = {} as Terminal;
const state = { name: 'Fake M1', way: 'the shim', failures: [] };
const open = (): Device => openMetalDevice(binding) as Device;

test('a GPU that gives the right numbers works', async () => {
  fake.reset();
  assert.equal(await metalFinding(state, terminal, open), {
    what: 'Metal device',
    state: 'works',
    detail: 'a kernel computes the right results on Fake M1, by the shim',
  });
  checkFake(fake);
  const second = await metalFinding({ ...state, way: 'Objective-C, without the shim', failures: ['the shim: not signed'] }, terminal, open);
  assert.match(second.detail, /, by Objective-C, without the shim \(the shim: not signed\)$/);
});

test('one that does not is broken, with what Metal said', async () => {
  fake.reset();
  fake.set('no pipeline', 1);
  const { state: is, detail, next } = await metalFinding(state, terminal, open);
  assert.is(is, 'broken');
  assert.match(detail, /^Fake M1, by the shim: Metal cannot create a pipeline for kernel `doctor`: Compiler encountered an internal error/);
  assert.match(next!, /report it/);
  checkFake(fake);
});

test('a Mac without a device says why, another machine needs none', async () => {
  const none = { name: undefined, way: undefined, failures: ['the system has no Metal device'] };
  const unused = (): never => assert.unreachable() as never;
  assert.equal(await metalFinding(none, terminal, unused), {
    what: 'Metal device',
    state: 'absent',
    detail: 'the system has no Metal device',
    next: 'use the CPU device, which runs the same metallib',
  });
  assert.is((await metalFinding({ ...none, failures: [] }, terminal, unused)).detail, 'requires a Mac');
});

const { test: onCuda, fake: cuda } = openFakeCuda(all);

onCuda('an NVIDIA GPU is judged by its numbers, and this one computes none', async () => {
  cuda.reset();
  const found = await cudaFinding({ name: 'Fake GPU 0', failures: [] }, terminal, () => openCudaDevice(cuda.open()) as Device);
  assert.is(found.state, 'broken');
  assert.is(found.detail, 'Fake GPU 0: a kernel computed 0 1 2 3, expected 1 3 5 7');
  assert.equal([cuda.violations(), cuda.live()], [[], 0]);
});

test('a machine without an NVIDIA GPU says why, and works without', async () => {
  const unused = (): never => assert.unreachable() as never;
  const found = await cudaFinding({ name: undefined, failures: ['there is no CUDA driver here (libcuda.so.1)'] }, terminal, unused);
  assert.equal([found.state, found.detail], ['absent', 'there is no CUDA driver here (libcuda.so.1)']);
});

all.run();
