/**
 * Several devices of one process: two CUDA devices over the fake driver, which minds the context of each call, and two CPU devices. Copies go
 * between devices in stream order, and events order their streams.
 */
import { spawnSync } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CumetalError, Device } from '../../src/api/index.ts';
import { openCudaDevice } from '../../src/device/cuda/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { codeOf, kernels } from '../support/api-contract.ts';
import { openFakeCuda } from '../support/cuda/fake.ts';
import { delayed } from '../support/delayed-device.ts';
import { root } from '../support/examples.ts';

const test = suite('api/many-devices');

const slow = (): Device => Device.over(delayed(openCpuDevice({ threads: 1 }), () => 3).device);
test('two CPU devices: a copy between them waits for an event of the other one, and keeps its memory', async () => {
  const [a, b] = [slow(), slow()];
  const bump = a.load(kernels.bump).kernel('bump', ['u32*']);
  const [from, to] = [a.bufferOf('u32', [41, 7, 8]), b.bufferOf('u32', [1, 2, 3, 4])];
  const [first, second, reached] = [a.stream({ nonBlocking: true }), b.stream({ nonBlocking: true }), a.event()];
  bump.launch({ grid: 1, block: 1, args: [from], stream: first });
  first.record(reached);
  second.wait(reached);
  const copied = second.copy(to, from);
  from.free();
  await copied.ended();
  assert.equal([...(await to.read())], [42, 7, 8, 4]);
  // The stream of the source pushes, from a part and from memory of the host.
  const more = a.bufferOf('u32', [5, 6, 7]);
  await first.copy(to.part(2), more.part(1)).ended();
  assert.equal([...(await to.read())], [42, 7, 6, 7]);
  const host = a.allocate('u32', 2, 'host');
  host.view.set([9, 9]);
  const pushed = second.copy(to, host);
  host.view.set([0, 0]);
  await pushed.ended();
  assert.equal([...(await to.read())], [9, 9, 6, 7]);
  assert.is(await codeOf(() => Device.open('cpu', { threads: 1 }).stream().copy(to, more)), 'CM5062');
  assert.is(await codeOf(() => second.copy(to.part(0, 2), more)), 'CM5063');
  await a.synchronize();
  a.close();
  assert.is(await codeOf(() => second.copy(to, more)), 'CM5061');
  b.close();
});

test('a device that is closed before the turn of a copy fails the copy and nothing else', async () => {
  const [a, b] = [slow(), slow()];
  const bump = b.load(kernels.bump).kernel('bump', ['u32*']);
  const [from, to] = [a.bufferOf('u32', [5]), b.bufferOf('u32', [1])];
  bump.launch({ grid: 1, block: 1, args: [to] });
  const copied = b.defaultStream.copy(to, from);
  a.close();
  const error = await copied.ended().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.is((error as CumetalError).code, 'CM5075');
  assert.equal([...(await to.read())], [2]);
  b.close();
});

const { test: onFake, fake } = openFakeCuda(test);

function openBoth(): readonly [Device, Device] {
  fake.reset();
  fake.set('devices', 2);
  const driver = fake.open();
  const [a, b] = [0, 1].map((ordinal) => {
    const low = openCudaDevice(driver, ordinal);
    assert.ok(typeof low === 'object', String(low));
    return Device.over(low);
  });
  return [a!, b!];
}

onFake('two CUDA devices: every call is made in the context of its device', async () => {
  const [a, b] = openBoth();
  assert.equal(
    [a, b].map(({ info }) => [info.name, info.ordinal]),
    [
      ['Fake GPU 0', undefined],
      ['Fake GPU 1', 1],
    ],
  );
  const modules = [a, b].map((device) => device.load(kernels.bump));
  const words = [a, b].map((device, i) => device.bufferOf('u32', [10 + i, 20 + i]));
  // In turns, so that each call has to change the context.
  for (const [i, module] of modules.entries()) module.kernel('bump', ['u32*']).launch({ grid: 1, block: 1, args: [words[i]!] });
  for (const device of [b, a]) await device.synchronize();
  assert.equal(await Promise.all(words.map(async (each) => [...(await each.read())])), [
    [10, 20],
    [11, 21],
  ]);
  const pool = b.memoryPool();
  const pooled = pool.allocate('u32', 2);
  await b.defaultStream.copy(pooled, words[0]!).ended();
  assert.equal([...(await pooled.read())], [10, 20]);
  await a.defaultStream.copy(words[0]!.part(1), pooled.part(0, 1)).ended();
  assert.equal([...(await words[0]!.read())], [10, 10]);
  // Within a device, and within a buffer, where the driver's copy would not do.
  await b.defaultStream.copy(words[1]!, pooled).ended();
  assert.equal([...(await words[1]!.read())], [10, 20]);
  const three = a.bufferOf('u32', [1, 2, 3]);
  await a.defaultStream.copy(three.part(1), three.part(0, 2)).ended();
  assert.equal([...(await three.read())], [1, 1, 2]);
  assert.equal(
    fake.record().filter((line) => line.startsWith('peer')),
    ['peer 0 to 1: 8', 'peer 1 to 0: 4'],
  );
  a.close();
  assert.equal([...(await words[1]!.read())], [10, 20], 'closing one leaves the other');
  b.close();
  assert.equal([fake.violations(), fake.live()], [[], 0]);
});

onFake('kinds of devices by number, and numbers without a device', () => {
  const run = (devices: string): string[] => {
    const text = `
      const { dlopen } = await import('bun:ffi');
      dlopen(process.env.CUMETAL_CUDA, { fake_set: { args: ['ptr', 'i64'], returns: 'void' } }).symbols.fake_set(Buffer.from('devices\\0'), ${devices});
      const { Device, devices } = await import('${root}/src/api/index.ts');
      console.log(devices().filter(({ kind }) => kind === 'cuda').map(({ name }) => name).join());
      const cuda = await import('${root}/src/cudart/index.ts');
      for (const kind of ['cuda', 'cuda:0', 'cuda:1', 'cuda:2', 'cuda:', 'cuda:x', 'cpu:1'])
        try { const device = Device.open(kind); console.log(device.info.name); device.close(); } catch (error) { console.log(error.code, error.message.split('\\n')[1] ?? ''); }
      const count = cuda.ref();
      cuda.cudaGetDeviceCount(count);
      const found = [cuda.ref(), cuda.ref()];
      const first = devices().findIndex(({ kind }) => kind === 'cuda');
      const made = found.map((pointer, i) => [cuda.cudaSetDevice(first + i), cuda.cudaMalloc(pointer, 8)].join());
      const bytes = new Uint8Array(8);
      cuda.cudaSetDevice(first);
      await cuda.cudaMemcpy(found[0].value, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 8, 1);
      const answers = [await cuda.cudaMemcpyPeer(found[1].value, first + 1, found[0].value, first, 8)];
      cuda.cudaSetDevice(first + 1);
      answers.push(await cuda.cudaMemcpy(bytes, found[1].value, 8, 2), cuda.cudaDeviceCanAccessPeer(count, first, first + 1), count.value, cuda.cudaDeviceEnablePeerAccess(first), cuda.cudaDeviceEnablePeerAccess(9));
      console.log(made.join(' '), answers.join(), bytes.join(''));
      process.exit(0);`;
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', text], {
      encoding: 'utf8',
      env: { ...process.env, CUMETAL_CUDA: fake.path },
    });
    assert.is(stderr, '');
    return stdout.trim().split('\n');
  };
  assert.equal(run('2'), [
    'Fake GPU 0,Fake GPU 1',
    'Fake GPU 0',
    'Fake GPU 0',
    'Fake GPU 1',
    'CM6001 note: the CUDA driver has 2 devices, and no `cuda:2`',
    'CM6001 help: `cumetal devices` lists the available devices',
    'CM6001 help: `cumetal devices` lists the available devices',
    'CM6001 help: `cumetal devices` lists the available devices',
    '0,0 0,0 0,0,0,0,217,101 12345678',
  ]);
});

test.run();
