/**
 * Launches that the CUDA device queues, over a fake driver that runs nothing: none waits for the one before, what has failed is named by the launch that did,
 * and what prints, or a driver without marks, is waited for as before.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CumetalError, Device } from '../../src/api/index.ts';
import { openCudaDevice } from '../../src/device/cuda/index.ts';
import { openFakeCuda } from '../support/cuda/fake.ts';
import { printCall, printingModule } from '../support/printing.ts';

const suiteOf = suite('device/cuda-queue');
const { test, fake } = openFakeCuda(suiteOf);

const entry = (name: string): string =>
  `.visible .entry ${name}(.param .u64 out)\n{ .reg .b64 p; ld.param.u64 p, [out]; st.global.u32 [p], 1; ret; }\n`;
const text = `.version 7.0\n.target sm_70\n.address_size 64\n${['one', 'two', 'three'].map(entry).join('')}`;

function openDevice(): Device {
  const low = openCudaDevice(fake.open());
  assert.ok(typeof low === 'object', String(low));
  return Device.over(low);
}

interface Rig {
  readonly device: Device;
  readonly launch: (name: 'one' | 'two' | 'three', more?: object) => Promise<string>;
  /** The calls since the rig was made. */
  readonly calls: () => string[];
}
const codeOf = (error: unknown): string => `${(error as CumetalError).code}: ${(error as CumetalError).message.split('\n')[0]}`;

/** A device with three kernels; what a launch ends with is a time or an error. */
function on(what: string, body: (rig: Rig) => Promise<void>, { marks = 1, leftover = 0 } = {}): void {
  test(what, async () => {
    fake.reset();
    fake.set('marks', marks);
    const device = openDevice();
    const module = device.load(text);
    const out = device.allocate('u32', 4);
    const start = fake.record().length;
    const launch: Rig['launch'] = (name, more = {}) =>
      module
        .kernel(name)
        .launch({ grid: 1, block: 1, args: [out], ...more })
        .ended()
        .then(({ durationMs }) => `${durationMs} ms`, codeOf);
    await body({
      device,
      launch,
      calls: () =>
        fake
          .record()
          .slice(start)
          .map((line) => line.split(' ').slice(0, 2).join(' ')),
    });
    device.close();
    assert.equal({ violations: fake.violations(), live: fake.live() }, { violations: [], live: leftover });
  });
}

on('each launch is between two events, with a mark behind them, and each has its time', async ({ launch, calls }) => {
  assert.equal(await Promise.all([launch('one'), launch('two')]), ['1.25 ms', '1.25 ms']);
  assert.equal(calls(), ['record', 'launch one', 'record', 'mark 2', 'record', 'launch two', 'record', 'mark 3']);
});

on(
  'a fault is of the launch that failed: those before it have ended, those behind it were queued and are dropped',
  async ({ device, launch, calls }) => {
    fake.set('failsAt', 2);
    const found = await Promise.all([launch('one'), launch('two'), launch('three'), launch('one')]);
    assert.is(found[0], '0 ms');
    assert.match(found[1]!, /^CM6021: .*`two`/);
    for (const each of found.slice(2)) assert.match(each, /^CM5072: .*`two`/);
    assert.equal(
      calls().filter((call) => call.startsWith('launch')),
      ['launch one', 'launch two', 'launch three', 'launch one'],
    );
    const reason = await device.synchronize().catch(codeOf);
    assert.match(String(reason), /^CM5072: .*`two`/);
  },
);

on(
  'without marks each launch is waited for, and none follows one that failed',
  async ({ launch, calls }) => {
    fake.set('failsAt', 2);
    const found = await Promise.all([launch('one'), launch('two'), launch('three')]);
    assert.is(found[0], '1.25 ms');
    assert.match(found[1]!, /^CM6021: .*`two`/);
    assert.match(found[2]!, /^CM5072/);
    assert.equal(
      calls().filter((call) => /^(launch|mark)/.test(call)),
      ['launch one', 'launch two'],
    );
  },
  { marks: 0 },
);

on('fills of equal bytes are queued between launches; other bytes are written when they have ended', async ({ device, launch, calls }) => {
  const buffer = device.allocate('u32', 8);
  const start = calls().length;
  fake.set('failsAt', 1);
  const first = launch('one');
  buffer.part(2, 3).fill(0x07070707);
  const second = launch('two');
  buffer.fill(5);
  assert.match(await first, /^CM6021/);
  assert.match(await second, /^CM5072/);
  assert.equal(
    calls()
      .slice(start)
      .filter((call) => /^(launch|set)/.test(call)),
    ['launch one', 'set 07', 'launch two'],
  );
});

on('a fill is there when the work behind it reads', async ({ device }) => {
  const buffer = device.bufferOf('u32', [1, 2, 3, 4, 5]);
  buffer.part(1, 2).fill(0);
  buffer.part(4).fill(-1 >>> 0);
  assert.equal([...(await buffer.read())], [1, 0, 0, 4, 0xffffffff]);
});

on('a launch that the driver refuses is an error in its turn, and others go on', async ({ launch }) => {
  fake.set('launch', 701);
  const refused = launch('one');
  assert.match(await refused, /^CM6043: .*`one`/);
  fake.set('launch', 0);
  assert.equal(await Promise.all([launch('two'), launch('three')]), ['1.25 ms', '1.25 ms']);
});

on(
  'a kernel that does not end is named, and launches behind it are dropped',
  async ({ launch }) => {
    fake.set('hangs', 1);
    const found = await Promise.all([launch('two', { timeoutMs: 20 }), launch('three')]);
    assert.match(found[0]!, /^CM6020: .*`two`/);
    assert.match(found[1]!, /^CM5072/);
  },
  { leftover: 11 },
);

on('a thousand launches are queued, some at a time, and end in their order', async ({ launch }) => {
  const order: number[] = [];
  const all = Array.from({ length: 1000 }, (_, i) => launch('one').then((found) => order.push(found === '1.25 ms' ? i : -1)));
  await Promise.all(all);
  assert.equal(order, [...order.keys()]);
});

on('closing the device waits for what is queued, and drops the rest', async ({ device, launch }) => {
  // More than a turn of the event loop queues.
  const all = Array.from({ length: 300 }, () => launch('one'));
  await Promise.resolve();
  device.close();
  for (const each of await Promise.all(all)) assert.match(each, /^(1\.25 ms|CM5061|CM5076)/);
});

const prints = printingModule({ greeting: 'hi\n' }, printCall('greeting'));

test('what prints is launched when those before it have ended, and meets a fault of them as their own', async () => {
  fake.reset();
  const device = openDevice();
  const [module, printing] = [device.load(text), device.load(prints)];
  const out = device.allocate('u32', 4);
  const given = { grid: 1, block: 1, args: [out] };
  const [a, b] = [device.stream({ nonBlocking: true }), device.stream({ nonBlocking: true })];
  const print = (): void => undefined;
  const start = fake.record().length;
  const works = [module.kernel('one').launch(given), printing.kernel().launch({ ...given, print }), module.kernel('two').launch(given)];
  await Promise.all(works.map((work) => work.ended()));
  assert.equal(
    fake
      .record()
      .slice(start)
      .map((line) => line.split(' ')[0]),
    ['record', 'launch', 'record', 'mark', 'record', 'launch', 'record', 'synchronize', 'record', 'launch', 'record', 'mark'],
  );
  // In streams of their own nothing waits, so that the one that prints finds the fault first.
  fake.set('failsAt', 1);
  const first = module
    .kernel('one')
    .launch({ ...given, stream: a })
    .ended();
  const second = printing
    .kernel()
    .launch({ ...given, stream: b, print })
    .ended();
  const found = await Promise.allSettled([first, second]);
  const codes = found.map((each) => (each.status === 'rejected' ? codeOf(each.reason) : 'ended'));
  for (const code of codes) assert.match(code, /`one` has failed: an illegal memory access/);
  device.close();
  assert.equal(fake.violations(), []);
});

suiteOf.run();
