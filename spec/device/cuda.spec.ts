/**
 * The CUDA device over a fake driver that runs nothing: which calls it makes in which order, how arguments are packed, and the diagnostic of
 * every failure. Results of kernels are tested on a GPU (`cuda-gpu.spec.ts`).
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { reflect } from '../../src/compile/index.ts';
import { openCudaDevice } from '../../src/device/cuda/index.ts';
import type { Device, DeviceBuffer, DeviceModule, Dim3 } from '../../src/device/index.ts';
import { openCudaAt } from '../../src/ffi/index.ts';
import { openFakeCuda } from '../support/cuda/fake.ts';
import { printCall, printingModule } from '../support/printing.ts';

const suiteOf = suite('device/cuda');
const { test, fake } = openFakeCuda(suiteOf);

const head = '.version 7.0\n.target sm_70\n.address_size 64\n';

interface Shape {
  readonly grid?: Dim3;
  readonly block?: Dim3;
  readonly shared?: number;
  readonly timeoutMs?: number;
  readonly print?: (text: Uint8Array) => void;
}

interface Rig {
  readonly device: Device;
  readonly module: DeviceModule;
  readonly diagnostics: Diagnostics;
  launch(args: readonly (DeviceBuffer | Uint8Array)[], shape?: Shape): number | undefined;
  codes(): string[];
}

const one: Dim3 = [1, 1, 1];

function openDevice(): Device {
  const device = openCudaDevice(fake.open());
  assert.ok(typeof device === 'object', String(device));
  return device;
}

function load(device: Device, text: string, diagnostics: Diagnostics): DeviceModule | undefined {
  const source = new SourceFile('k.ptx', text.startsWith('.version') ? text : head + text);
  const reflection = reflect(source, {}, diagnostics);
  assert.ok(reflection, diagnostics.list.map((d) => d.message).join());
  return device.loadPtx!({ source, kernels: reflection.kernels }, diagnostics);
}

/** A device with a module of one kernel, over a fresh driver. The test fails on leaked objects and on misuse of the driver. */
function on(what: string, text: string, body: (rig: Rig) => void, leftover = 0): void {
  test(what, () => {
    fake.reset();
    const diagnostics = new Diagnostics();
    const device = openDevice();
    const module = load(device, text, diagnostics);
    assert.ok(module, diagnostics.list.map((d) => d.message).join());
    let reported = 0;
    body({
      device,
      module,
      diagnostics,
      launch: (args, { grid = one, block = one, shared = 0, timeoutMs = 0, print } = {}) =>
        module.launch(
          {
            kernel: module.kernels[0]!.name,
            grid,
            block,
            dynamicSharedBytes: shared,
            timeoutMs,
            args: args.map((arg) => (arg instanceof Uint8Array ? { kind: 'bytes', bytes: arg } : { kind: 'buffer', buffer: arg })),
            ...(print ? { print } : {}),
          },
          diagnostics,
        )?.durationMs,
      codes() {
        const list = diagnostics.list.slice(reported).map(({ code }) => code);
        reported = diagnostics.list.length;
        return list;
      },
    });
    device.close();
    device.close();
    assert.equal({ violations: fake.violations(), live: fake.live() }, { violations: [], live: leftover });
  });
}

const plain = `.visible .entry plain(.param .u64 out)
{ .reg .b64 p; ld.param.u64 p, [out]; st.global.u32 [p], 1; ret; }`;

on('a launch is recorded between two events, and its time is theirs', plain, ({ device, diagnostics, launch }) => {
  const buffer = device.allocate(40, diagnostics)!;
  const before = fake.record().length;
  assert.is(launch([buffer], { grid: [3, 2, 1], block: [32, 4, 2] }), 1.25);
  const address = Buffer.from(BigUint64Array.of(buffer.deviceAddress()).buffer).toString('hex');
  assert.equal(fake.record().slice(before), ['record', `launch plain 3,2,1 32,4,2 0 ${address}`, 'record', 'synchronize']);
});

on(
  'with a timeout the end is polled, and there is a delay only where progress is reported',
  plain,
  ({ device, diagnostics, launch, codes }) => {
    const buffer = device.allocate(4, diagnostics)!;
    const before = fake.record().length;
    assert.is(launch([buffer], { timeoutMs: 1000 }), 1.25);
    assert.equal(
      fake
        .record()
        .slice(before)
        .map((line) => line.split(' ')[0]),
      ['record', 'launch', 'record'],
    );
    fake.set('query', 701);
    assert.is(launch([buffer], { timeoutMs: 1000 }), undefined);
    assert.is(fake.record().at(-1), 'synchronize');
    assert.equal(codes(), ['CM6043']);
  },
);

const values = `.visible .entry values(.param .u8 a, .param .u64 out, .param .u16 b, .param .u32 c, .param .f64 d, .param .align 4 .b8 e[12])
{ .reg .b32 x; .reg .b64 p; ld.param.u64 p, [out]; ld.param.u32 x, [c]; st.global.u32 [p], x; ret; }`;

on('arguments are packed one by one, each with the bytes of its parameter', values, ({ device, diagnostics, launch }) => {
  const buffer = device.allocate(4, diagnostics)!;
  const bytes = (...list: number[]): Uint8Array => Uint8Array.from(list);
  const struct = bytes(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
  assert.ok(launch([bytes(0xfe), buffer, bytes(0x34, 0x12), bytes(1, 0, 0, 0x80), bytes(0, 0, 0, 0, 0, 0, 0xf0, 0x3f), struct]));
  const address = Buffer.from(BigUint64Array.of(buffer.deviceAddress()).buffer).toString('hex');
  const packed = `fe ${address} 3412 01000080 000000000000f03f 0102030405060708090a0b0c`;
  assert.ok(fake.record().includes(`launch values 1,1,1 1,1,1 0 ${packed}`), fake.record().join('\n'));
});

on('memory holds zeros, keeps what is written, and is freed once', plain, ({ device, diagnostics, codes }) => {
  const buffer = device.allocate(6, diagnostics)!;
  assert.equal([...buffer.read()], [0, 0, 0, 0, 0, 0]);
  buffer.write(Uint8Array.of(7, 8), 4);
  assert.equal([...buffer.read()], [0, 0, 0, 0, 7, 8]);
  assert.throws(() => buffer.write(Uint8Array.of(1), 6), RangeError);
  buffer.free();
  buffer.free();
  assert.is(buffer.read().length, 0);
  assert.is(device.allocate(2 ** 20 + 1, diagnostics), undefined);
  assert.is(device.allocate(1.5, diagnostics), undefined);
  assert.equal(codes(), ['CM6012', 'CM6012']);
});

on('host-visible memory is accessed in place until it is freed', plain, ({ device, diagnostics }) => {
  const buffer = device.allocate(6, diagnostics, true)!;
  assert.ok(fake.record().includes('managed 16'));
  const view = buffer.view!();
  assert.equal([...view], [0, 0, 0, 0, 0, 0]);
  view[2] = 5;
  buffer.write(Uint8Array.of(9), 5);
  assert.equal(
    [[...buffer.read()], [...view]],
    [
      [0, 0, 5, 0, 0, 9],
      [0, 0, 5, 0, 0, 9],
    ],
  );
  buffer.free();
  assert.is(buffer.view!().length, 0);
  assert.is(device.allocate(6, diagnostics)!.view, undefined);
});

on('closing the device frees what is left', plain, ({ device, diagnostics }) => {
  device.allocate(4, diagnostics);
  device.allocate(4, diagnostics);
});

const shared = `.extern .shared .align 4 .b8 more[];
.visible .entry shared(.param .u64 out)
{ .reg .b32 x; .reg .b64 p; ld.param.u64 p, [out]; ld.shared.u32 x, [more]; st.global.u32 [p], x; ret; }`;

on('dynamic shared memory above 48 KB is enabled once', shared, ({ device, diagnostics, launch, codes }) => {
  const buffer = device.allocate(4, diagnostics)!;
  const asked = (): string[] => fake.record().filter((line) => line.startsWith('attribute'));
  assert.ok(launch([buffer], { shared: 49152 - 128 }));
  assert.equal(asked(), []);
  assert.ok(launch([buffer], { shared: 100_000 }) && launch([buffer], { shared: 100_000 }) && launch([buffer], { shared: 60_000 }));
  assert.equal(asked(), ['attribute 8 = 100000']);
  fake.set('attribute', 1);
  assert.is(launch([buffer], { shared: 120_000 }), undefined);
  assert.is(launch([buffer], { shared: 232_449 }), undefined);
  assert.equal(codes(), ['CM6043', 'CM5022']);
  assert.match(diagnostics.list[0]!.message, /120000 bytes .*`cuFuncSetAttribute`: invalid argument \(CUDA_ERROR_INVALID_VALUE\)/);
});

on('limits of the kernel and the device are checked before the driver is called', plain, ({ device, diagnostics, launch, codes }) => {
  const buffer = device.allocate(4, diagnostics)!;
  const before = fake.record().length;
  assert.is(launch([buffer], { grid: [1, 65536, 1] }), undefined);
  assert.is(launch([buffer], { block: [2, 2, 65] }), undefined);
  assert.is(launch([buffer], { block: [1025, 1, 1] }), undefined);
  assert.equal(codes(), ['CM5024', 'CM5024', 'CM5021']);
  assert.is(fake.record().length, before);
});

test('the number of registers limits the block size', () => {
  fake.reset();
  fake.set('maxThreads', 256);
  const diagnostics = new Diagnostics();
  const device = openDevice();
  const module = load(device, plain, diagnostics)!;
  const args = [{ kind: 'buffer', buffer: device.allocate(4, diagnostics)! }] as const;
  const request = { kernel: 'plain', grid: [1, 1, 1], block: [257, 1, 1], dynamicSharedBytes: 0, timeoutMs: 0, args } as const;
  assert.is(module.launch(request, diagnostics), undefined);
  assert.match(diagnostics.list[0]!.message, /257 threads exceeds 256, the limit of `plain` on Fake GPU 0/);
  device.close();
});

const symbols = `.global .u32 count;
.global .align 4 .u32 table[3] = {7, 8, 9};
.visible .entry bump(.param .u64 out)
{ .reg .b32 x; .reg .b64 p; ld.param.u64 p, [out]; atom.global.add.u32 x, [count], 1; ld.global.u32 x, [table]; st.global.u32 [p], x; ret; }`;

on('the symbols of a module are the variables that its kernels reference', symbols, ({ module }) => {
  assert.equal(
    module.symbols.map(({ name, size }) => [name, size]),
    [
      ['count', 4],
      ['table', 12],
    ],
  );
  const table = module.symbols[1]!;
  table.write(Uint8Array.of(5, 0, 0, 0), 8);
  assert.equal([...new Uint32Array(table.read().buffer)], [0, 0, 5]);
  assert.throws(() => table.write(Uint8Array.of(1), 12), RangeError);
});

test("a rejection by the driver's compiler is reported at its line", () => {
  fake.reset();
  fake.say(
    'refusal',
    "ptxas application ptx input, line 5; error   : Unexpected instruction types specified for 'add'\nptxas fatal   : Ptx assembly aborted due to errors\n",
  );
  const source = new SourceFile('k.ptx', head + plain);
  const diagnostics = new Diagnostics(source);
  const device = openDevice();
  assert.is(device.loadPtx!({ source, kernels: [] }, diagnostics), undefined);
  const [diagnostic] = diagnostics.list;
  assert.is(diagnostic!.code, 'CM6041');
  assert.match(diagnostic!.message, /a PTX JIT compilation failed \(CUDA_ERROR_INVALID_PTX\)/);
  assert.is(source.position(diagnostic!.labels[0]!.span.start).line, 5);
  assert.is(diagnostic!.notes.length, 2);
  device.close();
  assert.is(fake.live(), 0);
});

test('a closed module is unloaded, once, and refuses launches', () => {
  fake.reset();
  const device = openDevice();
  const before = fake.live();
  for (let i = 0; i < 100; i++) {
    const diagnostics = new Diagnostics();
    const module = load(device, symbols, diagnostics)!;
    assert.is(fake.live(), before + 1);
    module.close();
    module.close();
    assert.is(fake.live(), before);
    const request = { kernel: 'k', grid: one, block: one, dynamicSharedBytes: 0, args: [], timeoutMs: 0 };
    assert.is(module.launch(request, diagnostics), undefined);
    assert.is(diagnostics.list.at(-1)?.code, 'CM5061');
  }
  device.close();
  assert.equal({ violations: fake.violations(), live: fake.live() }, { violations: [], live: 0 });
});

test("remarks of the driver's compiler on accepted PTX are warnings", () => {
  fake.reset();
  fake.say('remark', 'ptxas warning : something about the stack\n');
  const diagnostics = new Diagnostics();
  const device = openDevice();
  assert.ok(load(device, plain, diagnostics));
  assert.equal(
    diagnostics.list.map(({ code, severity, message }) => [code, severity, message]),
    [['CM6044', 'warning', 'the CUDA driver reports for this PTX: ptxas warning : something about the stack']],
  );
  device.close();
});

test('a metallib is refused', () => {
  fake.reset();
  const diagnostics = new Diagnostics();
  const device = openDevice();
  assert.is(device.load(Uint8Array.of(0x4d, 0x54, 0x4c, 0x42), diagnostics), undefined);
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM6040'],
  );
  device.close();
});

for (const [result, code] of [
  [700, 'CM6021'],
  [710, 'CM6014'],
  [719, 'CM6042'],
] as const) {
  on(
    `a sticky error (${result}) ends the device, and a new device starts in a new context`,
    plain,
    ({ device, diagnostics, launch, codes, module }) => {
      const buffer = device.allocate(4, diagnostics)!;
      fake.set('run', result);
      assert.is(launch([buffer]), undefined);
      assert.is(launch([buffer]), undefined);
      assert.equal(codes(), [code, 'CM6029']);
      assert.throws(() => buffer.read(), /the CUDA device is lost/);
      assert.throws(() => buffer.write(Uint8Array.of(1)), /the CUDA device is lost/);
      assert.is(device.allocate(4, diagnostics), undefined);
      assert.ok(module);
      device.close();
      assert.is(fake.record().at(-1), 'reset 0');
      const again = openDevice();
      assert.equal([...again.allocate(4, diagnostics)!.read()], [0, 0, 0, 0]);
      again.close();
    },
  );
}

test('where the driver rejects the process after a fault, the device does not open', () => {
  fake.reset();
  fake.set('stays', 1);
  const diagnostics = new Diagnostics();
  const device = openDevice();
  const module = load(device, plain, diagnostics)!;
  fake.set('run', 719);
  const args = [{ kind: 'buffer', buffer: device.allocate(4, diagnostics)! }] as const;
  const request = { kernel: 'plain', grid: one, block: one, dynamicSharedBytes: 0, timeoutMs: 0, args };
  assert.is(module.launch(request, diagnostics), undefined);
  const after = new Diagnostics();
  assert.is(load(device, plain, after), undefined);
  assert.equal(
    [...diagnostics.list, ...after.list].map(({ code }) => code),
    ['CM6042', 'CM6029'],
  );
  device.close();
  const why = openCudaDevice(fake.open());
  assert.is(
    why,
    'the CUDA driver serves this process no more, since a kernel has failed: unspecified launch failure (CUDA_ERROR_LAUNCH_FAILED)',
  );
});

on('an error of the launch alone does not end the device', plain, ({ device, diagnostics, launch, codes }) => {
  const buffer = device.allocate(4, diagnostics)!;
  fake.set('launch', 701);
  assert.is(launch([buffer]), undefined);
  assert.equal(codes(), ['CM6043']);
  assert.match(diagnostics.list[0]!.message, /`cuLaunchKernel`: too many resources requested for launch/);
  fake.set('launch', 0);
  assert.ok(launch([buffer]));
});

// The context, its stream, events, word and module, and the buffer are not freed until the process ends.
on(
  'a kernel that does not end is abandoned, and nothing waits for it afterwards',
  plain,
  ({ device, diagnostics, launch, codes }) => {
    const buffer = device.allocate(4, diagnostics)!;
    fake.set('hangs', 1);
    assert.is(launch([buffer], { timeoutMs: 30 }), undefined);
    assert.is(launch([buffer]), undefined);
    assert.equal(codes(), ['CM6020', 'CM6029']);
    const calls = fake.record().length;
    buffer.free();
    device.close();
    assert.is(fake.record().length, calls);
  },
  7,
);

const prints = printingModule({ greeting: 'hi\n' }, printCall('greeting'));

on('printed text is passed to the caller and not to the standard output', prints, ({ device, diagnostics, launch }) => {
  const out = device.allocate(4, diagnostics)!;
  let text = '';
  const print = (bytes: Uint8Array): void => {
    text += new TextDecoder().decode(bytes);
  };
  fake.say('out', 'hi\nthere\n');
  assert.ok(launch([out], { print }));
  assert.is(text, 'hi\nthere\n');
  assert.ok(launch([out], { print }));
  assert.is(text, 'hi\nthere\n');
});

const stops = `.visible .entry stops(.param .u64 out)
{ .reg .pred q; .reg .b32 t; .reg .b64 p; ld.param.u64 p, [out]; mov.u32 t, %tid.x; setp.eq.u32 q, t, 5; @q trap; st.global.u32 [p], 1; ret; }`;

on('the assertion that a failed kernel prints is part of the error', stops, ({ device, diagnostics, launch }) => {
  fake.set('run', 710);
  fake.say('err', 'k.cu:3: void stops(): block: [0,0,0], thread: [0,0,0] Assertion `x` failed.\n');
  assert.is(launch([device.allocate(4, diagnostics)!]), undefined);
  const [diagnostic] = diagnostics.list;
  assert.equal([diagnostic!.code, diagnostic!.message], ['CM6014', 'kernel `stops` stopped itself: assertion `x` failed (k.cu:3)']);
  assert.equal(diagnostic!.notes, ['k.cu:3: void stops(): block: [0,0,0], thread: [0,0,0] Assertion `x` failed.']);
});

on('a launch failure that may be due to `trap` has a note', stops, ({ device, diagnostics, launch }) => {
  fake.set('run', 719);
  assert.is(launch([device.allocate(4, diagnostics)!]), undefined);
  assert.equal(diagnostics.list[0]!.notes, ['a kernel that stops itself ends so: perhaps `trap` was executed']);
});

test('no driver, a driver that does not initialize, a driver without devices', () => {
  fake.reset();
  assert.equal(openCudaAt('/nowhere/libcuda.so.1').failures, ['there is no CUDA driver here (/nowhere/libcuda.so.1)']);
  assert.match(openCudaAt('libm.so.6').failures[0]!, /^libm\.so\.6: .*cu/);
  fake.set('init', 100);
  assert.equal(openCudaAt(fake.path).failures, ['cuInit: no CUDA-capable device is detected (CUDA_ERROR_NO_DEVICE)']);
  fake.set('init', 0);
  fake.set('devices', 0);
  assert.is(openCudaDevice(fake.open()), 'the CUDA driver is here, and no device of it');
});

on('name, limits and properties come from the driver', plain, ({ device }) => {
  const { kind, name, limits, properties } = device.info;
  assert.equal([kind, name], ['cuda', 'Fake GPU 0']);
  assert.equal(limits, { maxThreadsPerThreadgroup: 1024, maxThreadgroupBytes: 232448, maxBufferBytes: 2 ** 32, simdWidth: 32 });
  assert.equal(properties!.maxGridSize, [2147483647, 65535, 65535]);
  assert.equal([properties!.multiProcessorCount, properties!.major, properties!.driverVersion], [132, 9, '13.2']);
});

suiteOf.run();
