/** The names of `<cuda/ptx>` in a kernel that clang compiled with our headers (`fixtures/cuda/copies.cu`). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device, tensorMap } from '../../src/api/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';
import { root } from '../support/examples.ts';

const test = suite('cuda/copies');

test('a box of a tensor and a line of numbers, by bulk copies', async () => {
  const bitcode = gunzipSync(readFileSync(join(root, 'fixtures/cuda/copies.bc.gz')));
  const diagnostics = new Diagnostics();
  const ptx = ptxOfBitcode(new Uint8Array(bitcode), diagnostics)!;
  assert.equal(diagnostics.list, []);
  using device = Device.open('cpu');
  const kernel = device.load(ptx, { compile: { target: 'cpu' } }).kernel('sums');
  const from = device.bufferOf(
    'i32',
    Int32Array.from({ length: 32 * 8 }, (_, i) => i),
  );
  const more = device.bufferOf(
    'i32',
    Int32Array.from({ length: 64 }, (_, i) => 1000 * i),
  );
  const to = device.bufferOf('i32', new Int32Array(64));
  const shape = { type: 's32', box: [16, 4] } as const;
  const maps = [
    tensorMap({ ...shape, address: from, dims: [32, 8], strides: [128] }),
    tensorMap({ ...shape, address: to, dims: [16, 4], strides: [64] }),
  ];
  kernel.launch({ grid: 1, block: 32, args: [...maps, more] });
  assert.equal(
    [...(await to.read())],
    Array.from({ length: 64 }, (_, i) => 32 * (1 + Math.floor(i / 16)) + 4 + (i % 16) + 1000 * i),
  );
});

test.run();
