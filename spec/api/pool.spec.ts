/** Pools of the API: memory in stream order on every device, what a synchronization frees, misuse by its codes, and the sanitizer's bounds. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Buffer, Device, type MemoryPool } from '../../src/api/index.ts';
import { SourceFile } from '../../src/base/source.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { codeOf, kernels } from '../support/api-contract.ts';
import { delayed } from '../support/delayed-device.ts';
import type { Candidate } from '../support/device-contract.ts';
import { randomFractions } from '../support/lcg.ts';
import { fakeCandidates } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';
import type { Register } from '../support/need.ts';

const test = suite('api/pool');

/** A device whose launches take a few turns of the event loop, so that work is pending. */
const slow = (open: () => ReturnType<typeof openCpuDevice> = () => openCpuDevice({ threads: 1 })): Device =>
  Device.over(delayed(open(), () => 3).device);

const bump = (device: Device) => device.load(kernels.bump).kernel('bump', ['u32*']);

/** Every allocation has a word of its own number while it lives, over streams that share a pool. */
function everywhere(register: Register, { name, open, check }: Candidate): void {
  register(`${name}: random allocations over three streams keep their contents`, async () => {
    const random = randomFractions(7);
    const device = Device.over(delayed(open(), () => Math.floor(3 * random())).device);
    const kernel = bump(device);
    const pool = device.memoryPool({ releaseThreshold: 2 ** 21 });
    const streams = [device.stream({ nonBlocking: true }), device.stream({ nonBlocking: true }), device.stream()];
    const reads: Promise<boolean>[] = [];
    for (let i = 0; i < 80; i++) {
      const stream = streams[Math.floor(3 * random())]!;
      const words = pool.allocate('u32', 1 + Math.floor(2 ** (14 * random())), { stream });
      words.fill(1000 * i);
      for (let more = Math.floor(3 * random()); more >= 0; more--) {
        kernel.launch({ grid: 1, block: 1, args: [words], stream });
        words.part(0, 1).read({ stream });
      }
      const last = words.length - 1;
      reads.push(
        words.read({ stream }).then((all) => all[0]! > 1000 * i && all[0]! <= 1000 * i + 3 && (last === 0 || all[last] === 1000 * i)),
      );
      if (random() < 0.9) pool.free(words, { stream });
      else words.free();
      if (random() < 0.05) await device.synchronize();
    }
    assert.equal(new Set(await Promise.all(reads)), new Set([true]));
    await device.synchronize();
    const { used, pending, reserved, allocations, usedPeak } = pool.statistics;
    assert.equal([used, pending, allocations], [0, 0, 0]);
    assert.ok(reserved <= 2 ** 21 && usedPeak > 0, `${reserved}`);
    device.close();
    check?.();
  });
}

everywhere(test, { name: 'cpu', open: () => openCpuDevice({ threads: 1 }) });
const { test: onFake, folder } = openFake(test);
for (const candidate of folder ? fakeCandidates(folder).slice(0, 1) : []) everywhere(onFake, candidate);

test('the stream that frees uses memory again at once, another stream when the free is reached', async () => {
  const device = slow();
  const kernel = bump(device);
  const pool = device.memoryPool();
  const [a, b] = [device.stream({ nonBlocking: true }), device.stream({ nonBlocking: true })];
  const first = pool.allocate('u32', 300, { stream: a });
  const { address } = first;
  kernel.launch({ grid: 1, block: 1, args: [first], stream: a });
  pool.free(first, { stream: a });
  assert.equal([pool.statistics.used, pool.statistics.pending], [0, 1200]);
  const other = pool.allocate('u32', 300, { stream: b });
  const same = pool.allocate('u32', 290, { stream: a });
  assert.is.not(other.address, address);
  assert.is(same.address, address);
  assert.equal([pool.statistics.used, pool.statistics.pending], [2360, 2360]);
  assert.is(same.length, 290);
  const words = same.read();
  same.fill(5);
  assert.is((await words)[0]! % 2 ** 32, 1, 'the kernel has run before');
  assert.is((await same.read())[0], 5);
  pool.free(same, { stream: a });
  await device.synchronize();
  assert.is(pool.allocate('u32', 300, { stream: b }).address, address);
  device.close();
});

test('where nothing is left, a stream waits for the free of another one', async () => {
  const device = slow();
  const kernel = bump(device);
  const pool = device.memoryPool({ maxBytes: 2 ** 21 });
  const [a, b] = [device.stream({ nonBlocking: true }), device.stream({ nonBlocking: true })];
  const all = pool.allocate('u32', 2 ** 19, { stream: a });
  all.fill(41);
  kernel.launch({ grid: 1, block: 1, args: [all], stream: a });
  const before = all.read({ stream: a });
  assert.is(await codeOf(() => pool.allocate('u32', 1, { stream: b })), 'CM6012');
  pool.free(all, { stream: a });
  const next = pool.allocate('u32', 2 ** 19, { stream: b });
  next.fill(7);
  assert.is((await before)[0], 42);
  assert.is((await next.read())[0], 7);
  device.close();
});

test('a synchronization frees what is above the threshold, and an allocation beside the pool all of it', async () => {
  const device = Device.open('cpu', { threads: 1 });
  const pool = device.memoryPool({ releaseThreshold: Number.POSITIVE_INFINITY });
  const taken = [1, 2, 3].map((n) => pool.allocate('u8', n * 2 ** 22));
  const { reserved } = pool.statistics;
  for (const each of taken) pool.free(each);
  await device.synchronize();
  assert.is(pool.statistics.reserved, reserved);
  pool.releaseThreshold = 2 ** 23;
  await device.defaultStream.synchronize();
  assert.ok(pool.statistics.reserved > 0 && pool.statistics.reserved <= 2 ** 23, `${pool.statistics.reserved} of ${reserved}`);
  pool.trim(1);
  assert.ok(pool.statistics.reserved > 0);
  pool.trim();
  assert.equal([pool.statistics.reserved, pool.statistics.reservedPeak], [0, reserved]);
  pool.resetPeak();
  assert.equal([pool.statistics.usedPeak, pool.statistics.reservedPeak], [0, 0]);
  pool.releaseThreshold = Number.POSITIVE_INFINITY;
  // Nearly all that the device has; memory that nothing touches costs nothing.
  const most = [0, 1].map(() => pool.allocate('u8', 2 ** 31 - 2 ** 24));
  for (const each of most) pool.free(each);
  assert.is(pool.statistics.reserved, 2 ** 32 - 2 ** 25);
  assert.ok(device.allocate('u8', 2 ** 25));
  assert.is(pool.statistics.reserved, 0, 'the pool has released its memory');
  device.close();
});

test('misuse by its codes: freed twice, foreign, closed, of another device, no size', async () => {
  const device = Device.open('cpu', { threads: 1 });
  const [pool, other] = [device.memoryPool(), device.defaultPool];
  const mine = pool.allocate('f32', 10);
  assert.is(await codeOf(() => other.free(mine)), 'CM5055');
  assert.is(await codeOf(() => pool.free(device.allocate('f32', 10))), 'CM5055');
  assert.is(await codeOf(() => pool.free(3 as unknown as Buffer)), 'CM5055');
  pool.free(mine.part(5));
  assert.is(await codeOf(() => pool.free(mine)), 'CM5061');
  assert.is(await codeOf(() => mine.read), 'nothing');
  assert.is(await codeOf(() => mine.read()), 'CM5061');
  mine.free();
  assert.is(await codeOf(() => device.memoryPool({ releaseThreshold: Number.NaN })), 'CM5078');
  assert.is(await codeOf(() => device.memoryPool({ maxBytes: -1 })), 'CM5078');
  assert.is(await codeOf(() => pool.trim(-1)), 'CM5078');
  assert.is(await codeOf(() => pool.allocate('u8', -1)), 'CM6012');
  const second = Device.open('cpu', { threads: 1 });
  assert.is(await codeOf(() => pool.allocate('u8', 1, { stream: second.defaultStream })), 'CM5062');
  const last = pool.allocate('u8', 4);
  pool.close();
  assert.is(await codeOf(() => pool.allocate('u8', 1)), 'CM5061');
  await last.read();
  last.free();
  assert.is(pool.statistics.reserved, 0, 'memory of a closed pool goes with its last allocation');
  await device.reset();
  assert.is(await codeOf(() => other.allocate('u8', 1)), 'CM5061');
  assert.ok(device.defaultPool.allocate('u8', 1));
  second.close();
  device.close();
});

test('a free while another stream uses the memory is reported, and the memory is not given to others before', async () => {
  const device = slow();
  const kernel = bump(device);
  const pool = device.memoryPool();
  const [a, b] = [device.stream({ nonBlocking: true }), device.stream({ nonBlocking: true })];
  const word = pool.allocate('u32', 1, { stream: a });
  kernel.launch({ grid: 1, block: 1, args: [word], stream: b });
  pool.free(word, { stream: a });
  assert.is(await codeOf(() => a.synchronize()), 'CM5056');
  await device.synchronize();
  assert.equal([pool.statistics.used, pool.statistics.pending], [0, 0]);
  // With an event it is in order.
  const next = pool.allocate('u32', 1, { stream: a });
  kernel.launch({ grid: 1, block: 1, args: [next], stream: b });
  const event = device.event();
  b.record(event);
  a.wait(event);
  pool.free(next, { stream: a });
  await device.synchronize();
  device.close();
});

test('poison: what a kernel writes behind the end of its memory is found by the next allocation there', async () => {
  const device = Device.open('cpu', { threads: 1 });
  const kernel = device.load(kernels.saxpy).kernel('saxpy', ['f32', 'f32*', 'f32*', 'u32']);
  const pool = device.memoryPool({ poison: true, releaseThreshold: Number.POSITIVE_INFINITY });
  const x = device.bufferOf('f32', new Float32Array(64).fill(1));
  const y = pool.allocate('f32', 10);
  assert.ok((await y.as('u32').read()).every((word) => word === 0xa5a5_a5a5));
  const run = (count: number) => kernel.launch({ grid: 1, block: 32, args: [1, x, y, count] }).ended();
  y.write(new Float32Array(10).fill(1));
  await run(10);
  pool.free(y);
  const next = pool.allocate('f32', 10);
  assert.is(next.address, device.at(next.address).address);
  assert.ok(
    (await next.as('u32').read()).every((word) => word === 0xa5a5_a5a5),
    'memory is filled when it is freed',
  );
  next.write(new Float32Array(10).fill(1));
  await kernel.launch({ grid: 1, block: 32, args: [1, x, next, 11] }).ended();
  pool.free(next);
  assert.is(await codeOf(() => pool.allocate('u8', 1)), 'CM5057');
  assert.is(pool.statistics.used, 0);
  assert.ok(pool.allocate('u8', 1), 'it is reported once');
  device.close();
});

test('the sanitizer knows the bounds of each allocation of a pool, what was freed, and what was not written', async () => {
  const device = Device.open('cpu', { threads: 1 });
  const source = new SourceFile('saxpy.ptx', kernels.saxpy);
  const kernel = device
    .load(source, { compile: { target: 'cpu', marks: true, sanitize: true } })
    .kernel('saxpy', ['f32', 'f32*', 'f32*', 'u32']);
  const pool: MemoryPool = device.memoryPool();
  const codes = async (x: Buffer<'f32', 'device'> | bigint, y: Buffer<'f32', 'device'>, count: number): Promise<string[]> => {
    const sanitize = { kinds: new Set(['memory', 'init'] as const), source };
    const { warnings } = await kernel
      .launch({ grid: 1, block: 32, args: [1, x as Buffer<'f32', 'device'>, y, count], watch: { sanitize } })
      .ended();
    return [...new Set(warnings.map(({ code }) => code))];
  };
  // Slots of 256 bytes, of which 40 are an allocation.
  const [x, y] = [pool.allocate('f32', 10), pool.allocate('f32', 10)];
  for (const each of [x, y]) each.write(new Float32Array(10));
  assert.equal(await codes(x, y, 10), []);
  assert.equal(await codes(x, y, 11), ['CM6101'], 'one element behind both');
  pool.free(x);
  const fresh = pool.allocate('f32', 10);
  assert.ok((await codes(fresh, y, 10)).length === 1, 'not written since it was allocated');
  fresh.write(new Float32Array(10));
  assert.equal(await codes(fresh, y, 10), []);
  pool.free(fresh);
  const shorter = pool.allocate('f32', 5);
  shorter.write(new Float32Array(5));
  assert.is(shorter.length, 5);
  assert.equal(await codes(shorter, y, 6), ['CM6101'], 'behind its end, where freed memory was that is used anew');
  device.close();
});

test.run();
