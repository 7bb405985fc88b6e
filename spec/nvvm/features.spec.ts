/**
 * Each kernel of `fixtures/nvvm/features.cu`, as clang 22 compiles it at -O0 and -O2, against what an NVIDIA H200 gave for nvcc's code of
 * the same source. `scripts/record/nvvm.py` recorded it, and ran the PTX of this room there as well.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device, type Module } from '../../src/api/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { ptxOfBitcode } from '../../src/nvvm/index.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('nvvm/features');
const folder = join(import.meta.dirname, '../../fixtures/nvvm');
const recorded = JSON.parse(readFileSync(join(folder, 'features.json'), 'utf8')) as {
  readonly in: readonly number[];
  readonly out: Readonly<Record<string, readonly number[]>>;
};
const threads = 64;
const perThread = 8;

function translated(level: string): string {
  const diagnostics = new Diagnostics();
  const ptx = ptxOfBitcode(new Uint8Array(gunzipSync(readFileSync(join(folder, `features-${level}.bc.gz`)))), diagnostics);
  assert.equal(diagnostics.list, []);
  return ptx!;
}

/** The structs of the kernel `parameters`, as the recording passes them. */
const small = new Uint8Array(new Uint32Array([0x1234, 77]).buffer);
const large = new Uint8Array(56);
new Uint32Array(large.buffer).set([100, 101, 102, 103, 104, 105, 106, 107, 108, 5, 6]);
new Float64Array(large.buffer)[6] = 9.75;

async function outputOf(device: Device, module: Module, name: string): Promise<readonly number[]> {
  const from = device.allocate('u32', recorded.in.length);
  from.write(Uint32Array.from(recorded.in));
  const to = device.allocate('u32', threads * perThread);
  to.write(new Uint32Array(threads * perThread));
  const values = [200, -300, 1n << 40n, 1.5, 0.1, small, large, from, to, 1, new Uint8Array([0x01, 0x3c]), new Uint32Array([7, 9])];
  const args = name === 'parameters' ? values : [from, to];
  await module.kernel(name).launch({ grid: 2, block: threads / 2, args: args as never });
  const found = [...(await to.read())];
  from.free();
  to.free();
  return found;
}

for (const level of ['O0', 'O2']) {
  const ptx = translated(level);

  test(`${level}: every kernel gives what the H200 gave`, async () => {
    const device = await Device.open('cpu');
    try {
      const module = await device.load(ptx);
      for (const [name, expected] of Object.entries(recorded.out)) {
        const found = await outputOf(device, module, name);
        const first = expected.findIndex((word, i) => word !== found[i]);
        assert.is(
          first,
          -1,
          `${name}: thread ${Math.floor(first / perThread)}, word ${first % perThread}: ${found[first]}, not ${expected[first]}`,
        );
      }
    } finally {
      await device.close();
    }
  });

  test(`${level}: each block of code names its line`, () => {
    assert.match(ptx, /\n\.file \d+ ".*features\.cu"/);
    assert.ok(ptx.split('\n\t.loc ').length > 300);
  });

  need(test, ['ptxas'], `${level}: ptxas takes the PTX`, async () => assert.equal(await ptxasTakes([ptx], 'sm_80'), [true]));
}

const largePtx = (): string => {
  const diagnostics = new Diagnostics();
  const ptx = ptxOfBitcode(new Uint8Array(readFileSync(join(folder, 'large.bc'))), diagnostics);
  assert.equal(diagnostics.list, []);
  return ptx!;
};

test('a parameter of 20000 bytes that a kernel only reads is read where it is, at any index', async () => {
  const ptx = largePtx();
  assert.not.match(ptx, /\.local/);
  const device = await Device.open('cpu');
  try {
    const to = device.allocate('i32', 1);
    const values = Int32Array.from({ length: 5000 }, (_, i) => ((i * 7919) % 1009) - 500);
    const module = await device.load(ptx);
    await module.kernel('sum').launch({ grid: 1, block: 1, args: [new Uint8Array(values.buffer), to] });
    assert.is(
      (await to.read())[0],
      values.reduce((sum, value, i) => sum + value * (i + 1), 0),
    );
  } finally {
    await device.close();
  }
});

need(test, ['ptxas'], 'ptxas takes a parameter of 20000 bytes', async () => assert.equal(await ptxasTakes([largePtx()], 'sm_80'), [true]));

test.run();
