/**
 * Textures, surfaces, cooperative launches and clusters of programs on the CUDA device, over the fake driver: what it is asked for. What kernels
 * read and write is tested on a GPU.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadSource } from '../../src/api/load.ts';
import { openCudaDevice } from '../../src/device/cuda/index.ts';
import type { Device } from '../../src/device/index.ts';
import { openFakeCuda } from '../support/cuda/fake.ts';
import { at, type Cuda, cuda } from '../support/program-runtime.ts';
import { floats, kinds, modes, ramp, Textures } from '../support/textures.ts';

const suiteOf = suite('program/cuda-images');
const { test, fake } = openFakeCuda(suiteOf);

/** A device, and the options of a program on it. */
function opened(): { readonly device: Device; readonly options: NonNullable<ConstructorParameters<typeof Textures>[0]> } {
  const device = openCudaDevice(fake.open());
  assert.ok(typeof device === 'object', String(device));
  return { device, options: { device, load: (text, diagnostics) => loadSource(device, text, {}, diagnostics) } };
}

/** A program on a fresh driver, which must have nothing left in the end. */
function on(what: string, body: (textures: Textures) => void): void {
  test(what, () => {
    fake.reset();
    const { device, options } = opened();
    body(new Textures(options));
    device.close();
    assert.equal({ violations: fake.violations(), live: fake.live() }, { violations: [], live: 0 });
  });
}

const calls = (pattern: RegExp): string[] => fake.record().filter((line) => pattern.test(line));
const image = /^(array|levels|texture|surface|copy)/;
const add = 'add.u32 %r0, %c0, 1;';
const some = new Uint32Array(4);

on('an array becomes one of the driver when a texture shows it, and has its texels at each launch', (textures) => {
  const shape = { format: floats, extent: [5, 3, 0] } as const;
  const array = textures.array(shape, ramp(15));
  assert.equal(calls(image), []);
  const sampler = { address: [modes.wrap, modes.border, modes.clamp], isLinear: true, isNormalized: true, border: [7, 0, 0, 0] };
  const texture = textures.texture(textures.resource(array), sampler);
  assert.equal(calls(image), ['array 5x3x0 format 32 x 1 flags 0', 'texture of 0 modes 0,3,1 filter 1 flags 2 levels 0..0 border 7']);
  assert.is(textures.run(add, texture, some).error, 0);
  textures.fill(array, shape, ramp(15, 2));
  assert.is(textures.run(add, texture, some).error, 0);
  assert.equal(calls(/^copy/), ['copy to array', 'copy to array']);
  const handle = Buffer.from(BigUint64Array.of(texture).buffer).toString('hex');
  assert.ok(calls(/^launch k/)[0]!.includes(` ${handle} `));
  // A kernel that reads the texture has a pointer there, as our front end sees it.
  const fetch = 'tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%f0, %f1}]; mov.b32 %r0, %f0;';
  assert.is(textures.run(fetch, texture, some).error, 0);
  assert.ok(calls(/^launch k/)[2]!.includes(` ${handle} `));
  // The driver judges a handle that is none, as it does an address outside of every allocation.
  const other = Buffer.from(BigUint64Array.of(texture + 64n).buffer).toString('hex');
  assert.is(textures.run(fetch, texture + 64n, some).error, 0);
  assert.ok(calls(/^launch k/)[3]!.includes(` ${other} `));
  assert.is(textures.one.call.cudaDestroyTextureObject!(texture), 0);
  assert.is(textures.run(add, texture, some).error, 0);
  assert.is(calls(/^copy/).length, 4, 'nothing shows the array');
  assert.is(textures.one.call.cudaFreeArray!(array), 0);
});

on('what a kernel writes to a surface is in the array', (textures) => {
  const shape = { format: [8, 4, kinds.unsigned], extent: [3, 2, 0], flags: 2 } as const;
  const texels = Uint8Array.from({ length: 24 }, (_, i) => 3 * i);
  const array = textures.array(shape, texels);
  const surface = textures.surface(array);
  assert.is(textures.run(add, surface, some).error, 0);
  assert.is(textures.run(add, surface, some).error, 0);
  assert.equal(
    [...textures.read(array, shape)],
    [...texels].map((n) => n + 2),
  );
  assert.equal(calls(image), [
    'array 3x2x0 format 1 x 4 flags 2',
    'surface',
    'copy to array',
    'copy from array',
    'copy to array',
    'copy from array',
  ]);
});

on('integers are read as they are unless they become floats; layers are the depth', (textures) => {
  const shape = { format: [16, 2, kinds.signed], extent: [4, 4, 3], flags: 1 } as const;
  const array = textures.array(shape, new Uint8Array(4 * 4 * 4 * 3));
  textures.texture(textures.resource(array));
  textures.texture(textures.resource(array), { isNormalizedFloat: true });
  const flagsOf = (line: string): string | undefined => /flags (\d+) levels/.exec(line)?.[1];
  assert.equal(calls(/^array/), ['array 4x4x3 format 9 x 2 flags 1']);
  assert.equal(calls(/^texture/).map(flagsOf), ['1', '0']);
});

on('levels of a mipmapped array are those of the driver', (textures) => {
  const { call, memory } = textures.one;
  const made = call.cudaMallocMipmappedArray!(textures.at200, textures.format(floats), textures.longs(1200, [8, 8, 0]), 3, 2);
  assert.is(made, 0);
  const mipmap = memory.u64(textures.at200)!;
  textures.texture(textures.resource(mipmap, 1), { isMipLinear: true, levels: [0, 2] });
  const level = textures.call(() => call.cudaGetMipmappedArrayLevel!(textures.at200, mipmap, 1));
  textures.surface(level);
  assert.is(textures.run(add, 0n, some).error, 0);
  assert.equal(calls(image).slice(0, 3), ['levels 3', 'texture of 1 modes 1,1,1 filter 0 flags 2 levels 0..2 border 0', 'surface']);
  assert.equal(calls(/^copy/), [...Array(3).fill('copy to array'), ...Array(3).fill('copy from array')]);
});

on('textures of memory need no copies', (textures) => {
  const { memory } = textures.one;
  const pointer = textures.bytes(new Uint8Array(64 * 8));
  const resource = textures.resource(pointer, 2);
  memory.put(resource + 16n, new Uint8Array(Int32Array.of(32, 0, 0, 0, 2).buffer));
  memory.putU64(resource + 40n, 256n);
  textures.texture(resource);
  const pitched = textures.resource(pointer, 3);
  memory.put(pitched + 16n, new Uint8Array(Int32Array.of(32, 32, 0, 0, 1).buffer));
  [8n, 4n, 64n].forEach((n, i) => void memory.putU64(pitched + 40n + 8n * BigInt(i), n));
  textures.texture(pitched, { isNormalized: true });
  assert.equal(
    calls(/^texture/).map((line) => line.replace(/ modes.*flags/, ' flags').replace(/ levels.*/, '')),
    ['texture of 2 format 32 x 1, 256,0,0 flags 0', 'texture of 3 format 3 x 2, 8,4,64 flags 3'],
  );
});

const program = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 n) { ret; }
`;

/** The kernel of `program` on the fake driver, with memory for a `cudaLaunchConfig_t`. */
function kernelOn(): { readonly one: Cuda; readonly device: Device; readonly stub: bigint } {
  fake.reset();
  const { device, options } = opened();
  const one = cuda(options);
  one.memory.put(at(100_000), new TextEncoder().encode(`${program}\0`));
  one.memory.putU64(at(8), at(100_000));
  const image_ = one.call.__cudaRegisterFatBinary!(at(0)) as unknown as bigint;
  one.memory.put(at(64), new TextEncoder().encode('k\0'));
  one.call.__cudaRegisterFunction!(image_, at(30), at(64), at(64), -1, 0n, 0n, 0n, 0n, 0n);
  one.memory.putU32(at(408), 9);
  one.memory.putU64(at(424), at(408));
  return { one, device, stub: at(30) };
}

test('a cooperative launch is one of the driver, and is as large as the driver says', () => {
  const { one, device, stub } = kernelOn();
  const dims = (index: number, x: number): bigint => {
    [x, 1, 1].forEach((value, i) => void one.memory.putU32(at(index + 4 * i), value));
    return at(index);
  };
  const launch = (blocks: number): number =>
    one.call.cudaLaunchCooperativeKernel!(stub, dims(300, blocks), dims(320, 256), at(424), 0n, 0n);
  // The fake driver runs four blocks of 256 threads on each of 132 multiprocessors.
  assert.is(one.call.cudaOccupancyMaxActiveBlocksPerMultiprocessor!(at(200), stub, 256, 0n), 0);
  assert.is(one.memory.u32(at(200)), 4);
  assert.is(launch(528), 0);
  assert.is(launch(529), 720);
  assert.equal(calls(/^(launch|together)/), ['together k 528,1,1 256,1,1 0 09000000']);
  device.close();
});

test('clusters are an attribute of the launch, and more than eight blocks are allowed first', () => {
  const { one, device, stub } = kernelOn();
  const launch = (x: number, isTogether: boolean): number => {
    const { memory } = one;
    [32, 1, 1, 64, 1, 1].forEach((value, i) => void memory.putU32(at(600 + 4 * i), value));
    [0n, 0n, at(700)].forEach((value, i) => void memory.putU64(at(624 + 8 * i), value));
    memory.putU32(at(648), isTogether ? 2 : 1);
    memory.put(at(700), new Uint8Array(144));
    [4, 0, x, 1, 1].forEach((value, i) => void memory.putU32(at(700 + 4 * i), value));
    [2, 0, 1].forEach((value, i) => void memory.putU32(at(772 + 4 * i), value));
    return one.call.cudaLaunchKernelExC!(at(600), stub, at(424));
  };
  assert.is(launch(2, false), 0);
  assert.is(launch(4, true), 0);
  assert.is(launch(16, false), 912, 'the kernel does not allow it');
  assert.is(one.call.cudaFuncSetAttribute!(stub, 14, 1), 0);
  assert.is(launch(16, false), 0);
  assert.is(launch(16, false), 0);
  const started = 'launch k 32,1,1 64,1,1 0 09000000';
  assert.equal(calls(/^(launch|with|attribute)/), [
    ...['with 4 = 2,1,1', started, 'with 4 = 4,1,1', 'with 2 = 1,0,0', started],
    ...['attribute 14 = 1', 'with 4 = 16,1,1', started, 'with 4 = 16,1,1', started],
  ]);
  device.close();
});

suiteOf.run();
