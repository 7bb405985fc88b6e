/**
 * Programs with NVIDIA's runtime inside, and programs on a driver: with stand-ins for both, which say when they are called. The driver has one
 * kernel, in C; its launch runs again on the CPU device by the PTX of the same kernel.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { Images } from '../../src/exec/fatbinary.ts';
import { programFacts } from '../../src/exec/program-file.ts';
import { fileOf } from '../../src/exec/session.ts';
import { nativeFunctions } from '../../src/exec/shim/functions.ts';
import type { HostMemory } from '../../src/program/index.ts';
import { commandLine } from '../support/command-line.ts';
import { fatbinaryOf } from '../support/hostile/container.ts';
import { makeRuntimeNames, workshop } from '../support/native-program.ts';
import { needing } from '../support/need.ts';

const test = suite('exec/driver');
const native = needing(test, ['linux-cc']);
const shop = workshop('cuda.h', 'inside.c', 'program.c', 'fake-driver.c', 'driver-program.c');
const { folder, cc } = shop;
test.after(() => shop.remove());

native('a program with a runtime inside is served by its symbols, and refused without them', () => {
  cc('-O1', '-o', 'inside', 'inside.c');
  const { status, stdout, stderr } = shop.run(['exec', './inside']);
  assert.equal(stdout.split('\n'), ['count 0 1', 'malloc 0 1', 'external 801', 'own 3', '']);
  assert.is(stderr, 'cumetal exec: cudaImportExternalMemory is not supported\n');
  assert.is(status, 4);
  const facts = programFacts(new Uint8Array(readFileSync(join(folder, 'inside'))));
  assert.equal({ ...facts }, { kind: 'elf', machine: 62, isDynamic: true, wanted: [], hasDeviceCode: false, hasRuntime: true });
});

native('the sanitizer makes a program fail that ends well', () => {
  makeRuntimeNames(shop);
  cc('-O1', '-pthread', '-o', 'program', 'program.c', 'lib/libcudart.so.12');
  const { status, stderr } = shop.run(['exec', '--sanitize=memory', '--threads=1', './program', 'outside']);
  // The eleventh number of ten is read and written, by the eleventh thread.
  assert.equal(
    [...stderr.matchAll(/CM6101\]: kernel `scale` (\w+) 4 bytes|by thread \((\d+), 0, 0\)/g)].map(([, how, thread]) => how ?? thread),
    ['reads', '10', 'writes', '10'],
  );
  assert.is(status, 1);
});

native('launches in front of a driver are recorded, and run again', async () => {
  mkdirSync(join(folder, 'driver'));
  cc('-shared', '-fPIC', '-o', 'driver/libcuda.so.1', 'fake-driver.c', '-Wl,-soname,libcuda.so.1', '-ldl');
  cc('-O1', '-o', 'driver-program', 'driver-program.c', '-ldl');
  const launches = join(folder, 'gpu');
  const { status, stdout, stderr } = shop.run(['record', '--device=cuda', '-o', 'gpu', './driver-program'], {
    LD_LIBRARY_PATH: join(folder, 'driver'),
  });
  // The launch is in a stream that captures the second time, and both ran.
  assert.equal([status, stdout, stderr], [6, '9 90 60\n', `note: 1 launch recorded in ${launches}\n`]);
  const file = join(launches, '000000-scale.launch.json');
  const { args, constants } = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(args[0], { name: 'p', within: 2, offset: 40 });
  assert.equal(Object.keys(constants), ['factor']);
  assert.is(args[2].expect.recordedOn, 'a fake GPU 0');
  const { code, out } = await commandLine(['run', '--launch', file]);
  assert.is(code, 0, out);
  assert.match(out, /check 2 memory0: pass, 100 elements/);
});

test('calls have room for the arguments of every function', () => {
  const room = /#define CM_MAX_ARGS (\d+)/.exec(readFileSync(join(import.meta.dirname, '../../src/exec/shim/shim.c'), 'utf8'));
  const most = Math.max(...Object.values(nativeFunctions).map(({ args }) => args.length));
  assert.ok(most <= Number(room![1]), `${most} arguments`);
});

test('the driver reads files of modules from the folder of the program', () => {
  const own = readFileSync(join(import.meta.dirname, 'kernels.ptx'));
  assert.equal(fileOf(process.pid, relative(process.cwd(), join(import.meta.dirname, 'kernels.ptx'))), own);
  assert.is(fileOf(process.pid, 'no such file'), undefined);
});

test('what is wrong with a fat binary is said when its code is used', () => {
  const sass = fatbinaryOf(new Uint8Array(64), { flags: 0x11, size: 0 });
  new DataView(sass.buffer).setUint16(16, 2, true);
  const damaged = fatbinaryOf(new Uint8Array(64), { flags: 0x8011, size: 100 });
  const images = new Images();
  const memoryOf = (bytes: Uint8Array) =>
    ({ slice: (_: bigint, count: number) => (count <= bytes.length ? bytes.slice(0, count) : undefined) }) as unknown as HostMemory;
  const codes = [sass, damaged].map((bytes) => {
    const text = images.read(memoryOf(bytes), 0n)!;
    const diagnostics = new Diagnostics();
    assert.is(images.check(text, diagnostics), undefined);
    return diagnostics.list.map(({ code }) => code).join();
  });
  assert.equal(codes, ['CM4061', 'CM4060']);
  assert.is(images.check('.version 7.0', new Diagnostics()), true);
  // One that claims more than the program has is no fat binary of it.
  new DataView(sass.buffer).setUint32(8, 10_000, true);
  assert.is(images.read(memoryOf(sass), 0n), undefined);
});

test.run();
