/**
 * How things end, in Bun and in Node: failures that nobody awaits are heard, a closed device ends what runs and says so to whoever waits,
 * workers that die are replaced, closed modules give their memory back, and kernels print to standard output.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device, type DeviceOptions } from '../../src/api/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { codeOf, head, kernels } from '../support/api-contract.ts';
import { inBoth } from '../support/both-runtimes.ts';
import { withoutStart } from '../support/delayed-device.ts';
import { printCall, printingModule } from '../support/printing.ts';
import { libraryOf } from '../support/workers.ts';

const test = suite('api/ends');

const stray = `${head}.visible .entry stray() { .reg .b32 x; .reg .b64 q; mov.u64 q, 4; ld.global.u32 x, [q]; st.global.u32 [q], x; ret; }`;
const endless = `${head}.visible .entry endless(.param .u64 out)
{ .reg .b32 x; .reg .b64 p; ld.param.u64 p, [out];
again: atom.global.add.u32 x, [p], 1; bra again; }`;
const one = { grid: 1, block: 1 } as const;
const json = JSON.stringify;

/** Reads the lines of a program, each a value in JSON. */
const linesOf = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

// ── failures that nobody awaits ──

inBoth(
  test,
  'a failed launch that nobody awaits is an unhandled rejection, and names its kernel',
  `import { Device } from 'cumetal';
  const device = Device.open('cpu', { threads: 2 });
  device.load(${json(stray)}).kernel().launch({ grid: 1, block: 1, args: [] });
  process.on('exit', () => device.close());`,
  ({ status, stdout, stderr }) => {
    assert.is(stdout, '');
    assert.is.not(status, 0);
    assert.match(stderr, /`stray`.*\[CM6011\]/);
  },
);

inBoth(
  test,
  'every error has one who hears of it: the handler, the one who waits, or the next call',
  `import { Device } from 'cumetal';
  const stray = ${json(stray)};
  const idle = () => new Promise((resolve) => setTimeout(resolve, 50));
  const told: string[] = [];
  process.on('unhandledRejection', (error: { code: string }) => void told.push('unhandled ' + error.code));
  const kernelOn = (options = {}) => {
    const device = Device.open('cpu', options);
    return { device, kernel: device.load(stray).kernel() };
  };
  const launch = { grid: 1, block: 1, args: [] } as const;
  const shown = (what: string) => { console.log(JSON.stringify([what, ...told.splice(0)])); };
  {
    const { device, kernel } = kernelOn({ onError: (error: Error) => told.push('handler ' + error.message.includes('stray')) });
    kernel.launch(launch);
    for (let i = 0; i < 400 && told.length === 0; i++) await idle();
    shown('handler');
    device.close();
  }
  {
    const { device, kernel } = kernelOn();
    kernel.launch(launch);
    await device.synchronize().catch((error) => told.push(error.code));
    await idle();
    device.close();
    shown('synchronize');
  }
  {
    const { device, kernel } = kernelOn();
    await kernel.launch(launch).ended().catch((error) => told.push(error.code));
    await idle();
    device.close();
    shown('ended');
  }
  {
    const { device, kernel } = kernelOn();
    const data = device.allocate('u32', 1);
    kernel.launch(launch);
    await data.read().catch((error) => told.push(error.code));
    await idle();
    device.close();
    shown('read');
  }
  {
    const { device } = kernelOn();
    device.defaultStream.call(() => { throw new Error('of the host'); });
    for (let i = 0; i < 400 && told.length === 0; i++) await idle();
    device.close();
    shown('host function');
  }
  {
    const { device, kernel } = kernelOn();
    kernel.launch(launch);
    device.close();
    await idle();
    shown('dropped by close');
  }`,
  ({ stdout, stderr }) => {
    assert.is(stderr, '');
    assert.equal(linesOf(stdout), [
      ['handler', 'handler true'],
      ['synchronize', 'CM5072'],
      ['ended', 'CM6011'],
      ['read', 'CM5072'],
      ['host function', 'unhandled CM5073'],
      ['dropped by close'],
    ]);
  },
);

test('an error whose message does not name the kernel does so in a note', async () => {
  const low = openCpuDevice();
  const failing = {
    ...low,
    load: (...given: Parameters<typeof low.load>) => {
      const module = low.load(...given)!;
      const launch = (_: unknown, to: Diagnostics): undefined => to.report('CM5022', { given: 9, limit: 8 }) as undefined;
      return { kernels: module.kernels, symbols: [], launch, close: () => module.close() };
    },
  };
  const device = Device.over(failing);
  const work = device
    .load(stray)
    .kernel()
    .launch({ ...one, args: [] });
  const error = await work.ended().catch((thrown: unknown) => thrown);
  assert.match(String(error), /\[CM5022\]\nnote: in a launch of kernel `stray`/);
  device.close();
});

// ── what kernels print ──

inBoth(
  test,
  'kernels print to standard output, in order with the console, unless an option says otherwise',
  `import { Device } from 'cumetal';
  const text = ${json(printingModule({ format: 'thread %d\n' }, `  st.local.u32 [depot], t;\n${printCall('format', 'list')}`))};
  const run = async (options = {}, launch = {}) => {
    const device = Device.open('cpu', options);
    await device.load(text).kernel().launch({ grid: 1, block: 2, args: [device.allocate('u32', 2)], ...launch }).ended();
    device.close();
  };
  console.log('before');
  await run();
  console.log('between');
  await run({ print: false });
  await run({}, { print: false });
  const pieces: string[] = [];
  await run({ print: (bytes: Uint8Array) => pieces.push(new TextDecoder().decode(bytes)) });
  console.log('after', JSON.stringify(pieces.join('')));`,
  ({ stdout, stderr }) => {
    assert.is(stderr, '');
    assert.is(stdout, 'before\nthread 0\nthread 1\nbetween\nafter "thread 0\\nthread 1\\n"\n');
  },
);

// ── closing ──

for (const threads of [1, 2])
  test(`closing ends a launch that never does, with ${threads} threads, and whoever waits for it hears of that`, async () => {
    const device = Device.open('cpu', { threads, timeoutMs: 20_000 });
    const work = device
      .load(endless)
      .kernel()
      .launch({ ...one, args: [device.allocate('u32', 1)] });
    const event = device.event();
    device.defaultStream.record(event);
    const waits = [device.synchronize(), device.defaultStream.synchronize(), event.synchronize(), device.stream().synchronize()];
    setTimeout(() => device.close(), 50);
    const said = await Promise.all([work.ended(), ...waits].map((wait) => codeOf(() => wait)));
    // The time limit would be CM6010. The other stream has no work that closing could cut off.
    assert.equal(said, ['CM6016', 'CM5076', 'CM5076', 'CM5076', 'nothing']);
  });

test('a reset cuts off work as closing does; what had finished before is fine', async () => {
  const device = Device.over(withoutStart(openCpuDevice()), { reopen: () => openCpuDevice() });
  const [kernel, word] = [device.load(kernels.bump).kernel(), device.allocate('u32', 1)];
  kernel.launch({ ...one, args: [word] });
  await device.synchronize();
  kernel.launch({ ...one, args: [word] });
  const cutOff = device.synchronize();
  const [said] = await Promise.all([codeOf(() => cutOff), device.reset()]);
  assert.is(said, 'CM5076');
  await device.synchronize();
  device.close();
});

// ── time limits ──

for (const wrong of [Number.NaN, -1, Number.POSITIVE_INFINITY])
  test(`${wrong} is no time limit, of a device or of a launch`, async () => {
    assert.is(await codeOf(() => Device.open('cpu', { timeoutMs: wrong })), 'CM5077');
    assert.is(await codeOf(() => Device.over(openCpuDevice(), { timeoutMs: wrong })), 'CM5077');
    const device = Device.open('cpu');
    const kernel = device.load(kernels.bump).kernel();
    const args = [device.allocate('u32', 1)];
    assert.is(await codeOf(() => kernel.launch({ ...one, args, timeoutMs: wrong })), 'CM5077');
    await kernel.launch({ ...one, args, timeoutMs: 0 }).ended();
    device.close();
  });

test('options of a device are checked when it is opened', async () => {
  const wrong = [
    { threads: Number.NaN },
    { threads: 0 },
    { threads: 1.5 },
    { lanes: 5 },
    { engine: 'gpu' },
    { fma: true },
    { denormals: '' },
    { via: 'text' },
    { fp: true },
  ];
  for (const options of wrong)
    assert.is(await codeOf(() => Device.open('cpu', options as DeviceOptions)), 'CM5078', JSON.stringify(options));
  for (const kind of [{ kind: 'cpu' }, null, 1]) assert.is(await codeOf(() => Device.open(kind as unknown as string)), 'CM5078');
  assert.is(await codeOf(() => Device.open('toString')), 'CM6001');
  Device.open('cpu', { threads: 1, lanes: 8, engine: 'simd', fma: 'fast', denormals: 'keep' }).close();
});

// ── workers that die ──

const workerPrograms = (catchWorkers: string, kill: string): string => `${catchWorkers}
  const { Device } = await import('cumetal');
  const device = Device.open('cpu', { threads: 2, timeoutMs: 0 } satisfies ${'{ threads: number; timeoutMs: number }'});
  const kernel = device.load(${json(endless)}).kernel();
  const bump = device.load(${json(kernels.bump)}).kernel('bump', ['u32*']);
  const word = device.allocate('u32', 1);
  for (let round = 0; round < 5; round++) {
    const count = device.allocate('u32', 1, 'unified');
    // The memory is shared, so that the kernel's additions show that it runs.
    const seen = count.view;
    const work = kernel.launch({ grid: 1, block: 1, args: [count] });
    const timer = setInterval(() => { if (seen[0]! > 0) { ${kill} } }, 20);
    console.log(JSON.stringify(await work.ended().then(() => 'fine', (error) => [error.code, error.message.includes('a worker of the device has ended')])));
    clearInterval(timer);
    await device.synchronize();
    await bump.launch({ grid: 1, block: 1, args: [word] }).ended();
  }
  console.log(JSON.stringify([[...(await word.read())], device.failure === undefined]));
  device.close();`;

inBoth(
  test,
  'a worker that dies fails its launch with a diagnostic, and another one takes its place',
  workerPrograms(
    `import { createRequire } from 'node:module';
  const made: { terminate(): unknown }[] = [];
  const watch = (Worker: any) => class extends Worker { constructor(...given: any[]) { super(...given); made.push(this as any); } };
  const scope = globalThis as any;
  if (scope.Worker) scope.Worker = watch(scope.Worker);
  else {
    const threads = process.getBuiltinModule('node:worker_threads') as any;
    const real = process.getBuiltinModule;
    (process as any).getBuiltinModule = (name: string) => (name === 'node:worker_threads' ? { ...threads, Worker: watch(threads.Worker) } : real(name));
  }`,
    'for (const worker of made.splice(0)) worker.terminate();',
  ),
  ({ stdout, stderr }) => {
    assert.is(stderr, '');
    assert.equal(linesOf(stdout), [...Array.from({ length: 5 }, () => ['CM6017', true]), [[5], true]]);
  },
);

// ── modules ──

/** A variable of 64 MiB, of which a device of 4 GiB holds 63. */
const large =
  '.global .align 4 .b8 large[67108864];\n.visible .entry k() { .reg .b32 x; ld.global.u32 x, [large]; st.global.u32 [large+4], x; ret; }';

test('closed modules give the memory of their variables back', async () => {
  const device = Device.open('cpu', { threads: 1 } satisfies DeviceOptions);
  const library = libraryOf(large);
  for (let i = 0; i < 100; i++) {
    const module = device.load(library);
    const work = module.kernel().launch({ ...one, args: [] });
    // The launch still runs: the memory is its own until it has ended.
    module.close();
    module.close();
    assert.is(await codeOf(() => module.kernel()), 'CM5061');
    await work.ended();
  }
  device.close();
});

test('a closed module of the device interface refuses launches', () => {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ threads: 1 });
  for (let i = 0; i < 100; i++) {
    const module = device.load(libraryOf(large), diagnostics);
    assert.ok(module, diagnostics.list.map(({ message }) => message).join());
    module.close();
    const request = { kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, args: [], timeoutMs: 0 } as const;
    assert.is(module.launch(request, diagnostics), undefined);
    assert.is(diagnostics.list.pop()?.code, 'CM5061');
  }
  device.close();
});

test.run();
