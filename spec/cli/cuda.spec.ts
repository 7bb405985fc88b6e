/** `--device cuda` as a process, over a driver that runs nothing: exit codes, and which stream says what. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cliProcess, type Ran } from '../support/cli.ts';
import { openFakeCuda } from '../support/cuda/fake.ts';

const all = suite('cli/cuda');
const { test, fake } = openFakeCuda(all);

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
all.after(() => rmSync(folder, { recursive: true, force: true }));
const examples = new URL('../../examples', import.meta.url).pathname;

const cli = (words: readonly string[], driver: string): Ran => cliProcess(words, { cwd: folder, env: { CUMETAL_CUDA: driver } });

test('PTX goes to the driver, and buffers come back: as they were, since nothing runs', () => {
  const { code, out, err } = cli(
    ['run', join(examples, 'vector_add.ptx'), '--device', 'cuda', '--print', '0:3', '--print', '2:2'],
    fake.path,
  );
  assert.equal([code, err], [0, '']);
  assert.match(out, /^vector_add on Fake GPU 0\n {2}grid 4 x 1 x 1, block 256 x 1 x 1\n {2}compiled in .*, ran in 1\.250 ms\n/);
  assert.match(out, /0 vector_add_param_0: f32\[1024\]\n {2}0 \| 0 1 2\n/);
  assert.match(out, /2 vector_add_param_2: f32\[1024\]\n {2}0 \| 0 0\n/);
});

test('`devices` names it with its properties', () => {
  const { code, out } = cli(['devices'], fake.path);
  assert.is(code, 0);
  assert.match(out, /^cuda: Fake GPU 0\n {2}threads in a block +1024\n {2}shared memory +227 KiB\n/m);
  assert.match(out, /^ {2}multiProcessorCount +132$/m);
  const [, cuda] = JSON.parse(cli(['devices', '--json'], fake.path).out).devices;
  assert.equal([cuda.kind, cuda.properties.maxThreadsDim, cuda.properties.totalGlobalMem], ['cuda', [1024, 1024, 64], 2 ** 33]);
});

test('a metallib is refused with the reason, PTX that does not compile with its line', () => {
  assert.is(cli(['build', join(examples, 'saxpy.ptx'), '-o', 's.metallib'], fake.path).code, 0);
  const refused = cli(['run', 's.metallib', '--device', 'cuda'], fake.path);
  assert.equal([refused.code, refused.out], [1, '']);
  assert.match(refused.err, /error\[CM6040\]/);
  writeFileSync(join(folder, 'bad.ptx'), '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { sturdy; ret; }\n');
  const bad = cli(['run', 'bad.ptx', '--device', 'cuda'], fake.path);
  assert.is(bad.code, 3);
  assert.match(bad.err, /bad\.ptx:4:/);
});

test('devices that disagree are told so', () => {
  const { code, out } = cli(['diff', join(examples, 'vector_add.ptx'), '--devices', 'cuda,cpu'], fake.path);
  assert.is(code, 1);
  assert.match(out, /^vector_add: cuda is Fake GPU 0, cpu is CPU /);
  assert.match(out, /^0 vector_add_param_0: f32\[1024\] same$/m);
  assert.match(
    out,
    /2 .* DIFFERS in 1024 of 1024 elements, first at 0: cuda 0, cpu 0\.5, .*, written by thread \(0, 0, 0\) of block \(0, 0, 0\) at line \d+/,
  );
});

test('without a driver, exit code 4', () => {
  const { code, out, err } = cli(['run', join(examples, 'saxpy.ptx'), '--device', 'cuda'], '/nowhere/libcuda.so.1');
  assert.equal([code, out], [4, '']);
  assert.match(err, /device `cuda` is not available on this machine\n.*there is no CUDA driver here \(\/nowhere\/libcuda\.so\.1\)/);
});

all.run();
