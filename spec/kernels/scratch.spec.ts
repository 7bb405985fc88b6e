/** Memory between launches of procedures on a CUDA device, over a fake driver: who has it again, and when it is freed. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { openCudaDevice } from '../../src/device/cuda/index.ts';
import { giveScratch, takeScratch } from '../../src/kernels/scratch.ts';
import { openFakeCuda } from '../support/cuda/fake.ts';

const suiteOf = suite('kernels/scratch');
const { test, fake } = openFakeCuda(suiteOf);

const text =
  '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry one(.param .u64 out)\n{ .reg .b64 p; ld.param.u64 p, [out]; st.global.u32 [p], 1; ret; }';

async function on(body: (device: Device, allocations: () => number) => Promise<void>): Promise<void> {
  fake.reset();
  const low = openCudaDevice(fake.open());
  assert.ok(typeof low === 'object');
  const device = Device.over(low);
  const start = fake.record().filter((line) => line.startsWith('alloc')).length;
  await body(device, () => fake.record().filter((line) => line.startsWith('alloc')).length - start);
  device.close();
  assert.equal({ violations: fake.violations(), live: fake.live() }, { violations: [], live: 0 });
}

test('a stream has its memory again at once, for sizes down to a half; another stream when the work has ended', () =>
  on(async (device, allocations) => {
    const kernel = device.load(text).kernel('one', ['u32*']);
    const [a, b] = [device.stream({ nonBlocking: true }), device.stream({ nonBlocking: true })];
    const use = (stream: typeof a, length: number): bigint => {
      const memory = takeScratch(device, stream, 'u32', length);
      assert.is(memory.length, length);
      const { address } = memory;
      kernel.launch({ grid: 1, block: 1, args: [memory], stream });
      giveScratch(device, stream, memory as never);
      return address;
    };
    const first = use(a, 100_000);
    assert.is(use(a, 90_000), first);
    assert.is.not(use(b, 100_000), first);
    assert.is(allocations(), 2);
    await device.synchronize();
    use(device.stream({ nonBlocking: true }), 100_000);
    assert.is(allocations(), 2);
    // A fourth of it is not worth its memory.
    use(a, 10_000);
    assert.is(allocations(), 3);
    await device.synchronize();
  }));

test('two uses at a time are of different memory', () =>
  on(async (device) => {
    const [x, y] = [takeScratch(device, undefined, 'f64', 5), takeScratch(device, undefined, 'f64', 5)];
    assert.is.not(x.address, y.address);
    for (const each of [x, y]) giveScratch(device, undefined, each as never);
    const again = [takeScratch(device, undefined, 'u8', 5), takeScratch(device, undefined, 'u8', 5)].map(({ address }) => address);
    assert.equal(new Set(again), new Set([x.address, y.address]));
  }));

test('memory that is kept is freed where an allocation needs it', () =>
  on(async (device) => {
    giveScratch(device, undefined, takeScratch(device, undefined, 'u8', 1000) as never);
    const before = fake.live();
    fake.set('memory', 10);
    assert.throws(() => device.allocate('u8', 100), /CM6012|not enough|memory/);
    assert.is(fake.live(), before - 1);
    fake.set('memory', 2 ** 20);
  }));

suiteOf.run();
