/**
 * Requirements of the Metal device alone, against the fake Metal: every fault that Metal reports by name, limits of pipelines,
 * timeouts, lost devices, and thousands of launches without a leak.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { Device, DeviceBuffer, DeviceModule, LaunchRequest } from '../../src/device/index.ts';
import { commandErrorOf, commandErrors } from '../../src/device/metal/faults.ts';
import { openMetalDevice } from '../../src/device/metal/index.ts';
import { launch } from '../../src/runtime/index.ts';
import { airLibrary, airModule, buffer } from '../support/air-text.ts';
import { libraryOf } from '../support/device-contract.ts';
import { assertQuiet, compileExample, diskIo, exampleNames, launchOnCpu, poisoned, recordedLaunch } from '../support/examples.ts';
import { checkFake } from '../support/metal/candidates.ts';
import { openFake } from '../support/metal/open.ts';
import { need } from '../support/need.ts';

const all = suite('device/metal');
const { test, fake, binding } = openFake(all);

const add = `.visible .entry add(.param .u64 out, .param .u32 n)
{ .reg .b32 x, y; .reg .b64 p; ld.param.u64 p, [out]; ld.param.u32 x, [n]; ld.global.u32 y, [p]; add.u32 x, x, y; st.global.u32 [p], x; ret; }`;
const stops = `.visible .entry stops(.param .u64 out)
{ .reg .pred p; .reg .b32 x; .reg .b64 o; ld.param.u64 o, [out]; ld.global.u32 x, [o]; setp.eq.u32 p, x, 0; @p trap; ret; }`;

interface Rig {
  readonly device: Device;
  readonly module: DeviceModule;
  readonly buffer: DeviceBuffer;
  /** Launches `add` with 1; code and message of the diagnostics. */
  run(more?: Partial<LaunchRequest>): string[];
}

/** A device with a module; the test fails on leaked objects. */
function on(body: (rig: Rig) => void, text = add): void {
  fake.reset();
  const device = openMetalDevice(binding);
  assert.type(device, 'object');
  if (typeof device === 'string') return;
  const diagnostics = new Diagnostics();
  const module = device.load(libraryOf(text), diagnostics)!;
  const buffer = device.allocate(4, diagnostics)!;
  const name = module.kernels[0]!.name;
  const value = { kind: 'bytes', bytes: Uint8Array.of(1, 0, 0, 0) } as const;
  body({
    device,
    module,
    buffer,
    run(more = {}) {
      const to = new Diagnostics();
      const given = { kind: 'buffer', buffer } as const;
      const args = name === 'add' ? [given, value] : [given];
      const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 5000 } as const;
      const result = module.launch({ kernel: name, ...shape, args, ...more }, to);
      assert.is(result === undefined, to.hasErrors);
      return to.list.map(({ code, message }) => `${code} ${message}`);
    },
  });
  device.close();
  checkFake(fake);
}

const valueIn = (buffer: DeviceBuffer): number => new DataView(buffer.read().buffer).getUint32(0, true);

test('every error of a command buffer is reported by name, and the next launch works unless the device is lost', () => {
  for (const [number, { name, code, isLost }] of Object.entries(commandErrors))
    on(({ run }) => {
      fake.set('fail', Number(number));
      const [said, ...more] = run();
      assert.equal(more, []);
      assert.match(said!, new RegExp(`^${code} .*\\(MTLCommandBufferErrorDomain ${number}\\)$`));
      if (!['CM6021', 'CM6023'].includes(code)) assert.match(said!, `(${name})`);
      const next = run().map((text) => text.slice(0, 6));
      assert.equal(next, isLost ? ['CM6029'] : []);
    });
});

test('faults have the codes of their kinds', () => {
  const codes = Object.fromEntries(Object.entries(commandErrors).map(([number, { code }]) => [number, code]));
  assert.equal(codes, {
    1: 'CM6025',
    2: 'CM6022',
    3: 'CM6021',
    4: 'CM6024',
    7: 'CM6024',
    8: 'CM6023',
    9: 'CM6025',
    10: 'CM6025',
    11: 'CM6024',
    12: 'CM6025',
    14: 'CM6022',
  });
});

test('unknown errors are reported verbatim, and ignored submissions as such', () => {
  on(({ run }) => {
    fake.set('fail', 99);
    assert.match(run()[0]!, /^CM6025 kernel `add` failed on the GPU \(unknown\): .* \(MTLCommandBufferErrorDomain 99\)$/);
  });
  const ignored = {
    domain: 'MTLCommandBufferErrorDomain',
    code: 4,
    text: 'Ignored (for causing prior/excessive GPU errors) (00000004:kIOGPUCommandBufferCallbackErrorSubmissionsIgnored)',
  };
  assert.equal(commandErrorOf(ignored), { name: 'SubmissionsIgnored', code: 'CM6024', isLost: true });
  assert.is(commandErrorOf({ domain: 'Other', code: 2, text: '' }).code, 'CM6025');
});

test('a launch that never ends is abandoned with its device, and its objects are released when the device is closed', () => {
  on(({ run, device, buffer }) => {
    assert.equal(run(), []);
    fake.set('hang', 1);
    const start = performance.now();
    assert.match(run({ timeoutMs: 50 })[0]!, /^CM6020 kernel `add` has not finished after 0.05 s/);
    const took = performance.now() - start;
    assert.ok(took >= 50, `given up after ${took} ms`);
    assert.match(run()[0]!, /^CM6029 kernel `add` was not launched, .*: `add` has not ended after 0.05 s$/);
    buffer.free();
    assert.is(device.info.name, 'Fake M1');
  });
});

test('commands that take a while are waited for, by completion handler or by status', () => {
  for (const silent of [0, 1])
    on(({ run, buffer }) => {
      fake.set('no handlers', silent);
      fake.set('polls', 20);
      assert.equal(run(), []);
      assert.is(valueIn(buffer), 1);
    });
});

test('the duration of a launch is the time on the GPU', () => {
  on(({ module, buffer }) => {
    fake.set('nanoseconds', 2_500_000);
    const value = { kind: 'bytes', bytes: new Uint8Array(4) } as const;
    const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 0 } as const;
    const result = module.launch({ kernel: 'add', ...shape, args: [{ kind: 'buffer', buffer }, value] }, new Diagnostics());
    // Seconds since boot have a resolution of microseconds here.
    assert.ok(Math.abs(result!.durationMs - 2.5) < 0.001, `${result!.durationMs}`);
  });
});

test('objects of a launch are released whether it succeeds or fails', () => {
  on(({ run, buffer }) => {
    assert.is(run().length, 1);
    const before = fake.live();
    assert.is(run().length, 1);
    buffer.write(Uint8Array.of(1));
    assert.is(run().length, 0);
    fake.set('fail', 3);
    assert.is(run().length, 1);
    assert.is(fake.live(), before);
  }, stops);
});

test('a device without timestamps is timed on the host', () => {
  on(({ module, buffer }) => {
    fake.set('no times', 1);
    fake.set('polls', 10);
    const value = { kind: 'bytes', bytes: new Uint8Array(4) } as const;
    const shape = { grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 0 } as const;
    const result = module.launch({ kernel: 'add', ...shape, args: [{ kind: 'buffer', buffer }, value] }, new Diagnostics());
    assert.ok(result!.durationMs > 0);
  });
});

test('a block that exceeds the limit of the pipeline is refused before anything runs', () => {
  on(({ run, buffer }) => {
    fake.set('pipeline threads', 512);
    assert.equal(run({ block: [513, 1, 1] }), ['CM5021 a block of 513 threads exceeds 512, the limit of `add` on Fake M1']);
    assert.is(valueIn(buffer), 0);
    assert.equal(run({ block: [512, 1, 1] }), []);
  });
});

test('a grid of more threads than 32 bits is refused', () => {
  on(({ run }) => {
    assert.match(run({ grid: [2 ** 30, 1, 1], block: [4, 1, 1] })[0]!, /^CM5024 .*above 2\^32/);
  });
});

test('simdgroups of another width are refused', () => {
  on(({ run }) => {
    fake.set('width', 64);
    assert.equal(run(), ['CM6028 kernel `add` has simdgroups of 64 threads on Fake M1, and warps have 32']);
  });
});

test('a library that the driver refuses is compiled from source, which is said once', () => {
  fake.reset();
  const texts: string[] = [];
  fake.libraryOfSource = (text) => {
    texts.push(text);
    return libraryOf(add);
  };
  const device = openMetalDevice(binding);
  if (typeof device === 'string') return assert.unreachable(device);
  const to = new Diagnostics();
  for (let i = 0; i < 2; i++) {
    fake.set('no library', 1);
    const module = device.load(libraryOf(add), to)!;
    const buffer = device.allocate(4, to)!;
    const value = { kind: 'bytes', bytes: Uint8Array.of(41, 0, 0, 0) } as const;
    const shape = { kernel: 'add', grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 5000 } as const;
    buffer.write(Uint8Array.of(1, 0, 0, 0));
    module.launch({ ...shape, args: [{ kind: 'buffer', buffer }, value] }, to);
    assert.is(valueIn(buffer), 42);
  }
  device.close();
  const [said, ...more] = to.list.map(({ code, severity, message }) => `${code} ${severity} ${message}`);
  assert.match(said!, /^CM6033 warning .*Invalid library file/);
  assert.equal(more, []);
  assert.match(texts[0]!, /^kernel void add\(device uint_m \*out \[\[buffer\(0\)\]\], constant uint &n \[\[buffer\(1\)\]\]/m);
  checkFake(fake);
});

test('the ways to a library: only source, only the metallib, and neither', () => {
  const loaded = (via: 'metallib' | 'source' | 'auto', settings: readonly string[]): string[] => {
    fake.reset();
    fake.libraryOfSource = () => libraryOf(add);
    for (const setting of settings) fake.set(setting, 1);
    const device = openMetalDevice(binding, via);
    const to = new Diagnostics();
    if (typeof device !== 'string') {
      device.load(libraryOf(add), to);
      device.close();
    }
    const sources = fake.record().filter((line) => line.includes('source'));
    checkFake(fake);
    return [...sources, ...to.list.flatMap(({ code, notes }) => [code, ...notes])];
  };
  assert.equal(loaded('auto', []), []);
  assert.equal(loaded('source', []), ['compiled source']);
  assert.equal(loaded('metallib', ['no library']), ['CM6026']);
  const [code, note] = loaded('auto', ['no library', 'no source']);
  assert.is(code, 'CM6026');
  assert.match(note!, /^of the source: program_source:1:1: error/);
});

test('failures to create a library, a pipeline, commands, an encoder, memory', () => {
  on(({ device, run }) => {
    const to = new Diagnostics();
    fake.set('no library', 1);
    assert.is(device.load(libraryOf(add), to), undefined);
    fake.set('no memory', 1);
    assert.is(device.allocate(4, to), undefined);
    assert.equal(
      to.list.map(({ code, message }) => `${code} ${message}`),
      [
        'CM6026 Metal rejects this library: Invalid library file (MTLLibraryErrorDomain 1)',
        'CM6012 the device cannot allocate 4 bytes for a buffer',
      ],
    );
    fake.set('no pipeline', 1);
    assert.equal(run(), [
      'CM6027 Metal cannot create a pipeline for kernel `add`: Compiler encountered an internal error (AGXMetal13_3 3)',
    ]);
    fake.set('no commands', 1);
    assert.match(run()[0]!, /^CM6030 .*the queue gives no command buffer$/);
    fake.set('no encoder', 1);
    assert.match(run()[0]!, /^CM6030 .*the command buffer gives no encoder$/);
    assert.equal(run(), []);
  });
  on(({ run }) => {
    fake.set('no memory', 1);
    assert.equal(run(), ['CM6012 the device cannot allocate 4 bytes for a launch of `stops`']);
    assert.match(run()[0]!, /^CM6014/);
  }, stops);
});

test('no device and no command queue are reported', () => {
  fake.reset();
  fake.set('no default device', 1);
  fake.set('no device', 1);
  assert.is(openMetalDevice(binding), 'the system has no Metal device');
  checkFake(fake);
  fake.set('no queue', 1);
  assert.is(openMetalDevice(binding), 'the device gives no command queue');
  checkFake(fake);
});

test('freed memory reads as empty instead of ending the process', () => {
  const text = `.global .u32 count;\n${add.replaceAll('add(', 'k(').replace('add.u32 x, x, y', 'atom.global.add.u32 y, [count], x')}`;
  let [unfreed, symbol]: [DeviceBuffer?, DeviceModule['symbols'][number]?] = [];
  on(({ buffer, device, module }) => {
    [unfreed, symbol] = [device.allocate(4, new Diagnostics()), module.symbols[0]];
    assert.is(symbol!.read().length, 4);
    buffer.free();
    assert.equal([buffer.read().length, buffer.view!().length], [0, 0]);
    assert.throws(() => buffer.write(Uint8Array.of(1)));
    assert.is(unfreed!.read().length, 4);
  }, text);
  assert.equal([unfreed!.read().length, symbol!.read().length], [0, 0]);
  assert.throws(() => symbol!.write(Uint8Array.of(1)));
});

test('code for the CPU device is refused', () => {
  fake.reset();
  const source = new SourceFile('k.ptx', `.version 9.0\n.target sm_90\n.address_size 64\n${add}`);
  const { metallib } = compile(source, { target: 'cpu' }, new Diagnostics(source))!;
  const device = openMetalDevice(binding) as Device;
  const to = new Diagnostics();
  assert.is(device.load(metallib, to), undefined);
  assert.equal(
    to.list.map(({ code, message }) => `${code} ${message}`),
    ['CM4053 kernel `add` cannot run on this device: code for the CPU device (`--target cpu`) is not supported'],
  );
  device.close();
  checkFake(fake);
});

need(all, ['llvm-as-14', 'fake-metal'], 'kernels with function constants are refused where one has or needs a value', () => {
  const text = (required: boolean): string => `${airModule(
    [buffer],
    '  %n = load i32, i32 addrspace(2)* @n.MTL_FC_INIT_0_i\n  store i32 %n, i32 addrspace(1)* %p0, align 4',
    '@n.MTL_FC_INIT_0_i = internal unnamed_addr addrspace(2) externally_initialized constant i32 undef, section "air.fc_initializer", align 4',
  )}
!air.function_constants = !{!50}
!50 = !{i32 addrspace(2)* @n.MTL_FC_INIT_0_i, !"int", !"n", i32 0, i1 ${required}}
`;
  const said = (required: boolean, constants: readonly { constant: string; value: number }[]): string[] => {
    fake.reset();
    const library = airLibrary(text(required));
    const device = openMetalDevice(binding) as Device;
    const to = new Diagnostics();
    device.load(library, to, { constants });
    device.close();
    checkFake(fake);
    return to.list.map(({ code, message }) => `${code} ${message}`);
  };
  const refusal = ['CM4053 kernel `k` cannot run on this device: a value for a function constant on a Metal device is not supported'];
  assert.equal(said(true, []), refusal);
  assert.equal(said(true, [{ constant: 'n', value: 5 }]), refusal);
  assert.equal(said(false, [{ constant: 'n', value: 5 }]), refusal);
  assert.equal(said(false, []), []);
});

test('commands are labeled with the name of the kernel', () => {
  on(({ run }) => {
    assert.equal(run(), []);
    const labels = fake.record().filter((line) => line.includes('is called'));
    assert.equal(labels, ['MTLCommandQueue is called cumetal', 'MTLCommandBuffer is called add']);
  });
});

test('10 000 launches and 1 000 allocations leak nothing', () => {
  on(({ device, run, buffer }) => {
    for (let i = 0; i < 10_000; i++) {
      if (run().length > 0) assert.unreachable('a launch failed');
      // The record of the calls is not needed here.
      if (i % 500 === 499) {
        assert.equal(fake.violations(), []);
        fake.reset();
      }
    }
    assert.is(valueIn(buffer), 10_000);
    const before = fake.live();
    for (let i = 0; i < 1000; i++) device.allocate(64, new Diagnostics())!.free();
    assert.is(fake.live(), before);
  });
});

test('a closed module gives its library, its pipelines and its variables back, and refuses launches', () => {
  const counting = `.global .u32 count;
.visible .entry k() { .reg .b32 x; atom.global.add.u32 x, [count], 1; ret; }`;
  on(({ device }) => {
    const before = fake.live();
    for (let i = 0; i < 100; i++) {
      const diagnostics = new Diagnostics();
      const module = device.load(libraryOf(counting), diagnostics)!;
      const request = { kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, args: [], timeoutMs: 5000 } as const;
      assert.ok(module.launch(request, diagnostics), diagnostics.list.map(({ message }) => message).join());
      assert.ok(fake.live() >= before + 3);
      module.close();
      module.close();
      assert.is(fake.live(), before);
      assert.is(module.launch(request, diagnostics), undefined);
      assert.is(diagnostics.list.at(-1)?.code, 'CM5061');
    }
  });
});

// ── the examples: results recorded on an NVIDIA H200, from the bytes that a Mac would load ──

for (const name of exampleNames)
  test(`example ${name} has the bits of the CPU device`, () => {
    fake.reset();
    fake.limitMs = 60_000;
    const { metallib } = compileExample(name);
    const plan = poisoned(recordedLaunch(name), 77);
    const device = openMetalDevice(binding) as Device;
    const diagnostics = new Diagnostics();
    const module = device.load(metallib, diagnostics)!;
    const outcome = launch(device, module, plan, { repeat: 1, timeoutMs: 60_000 }, { io: diskIo, diagnostics });
    assertQuiet(diagnostics);
    device.close();
    const expected = launchOnCpu(metallib, plan).outputs;
    assert.is(outcome!.outputs.length, expected.length);
    for (const [i, output] of outcome!.outputs.entries()) assert.ok(Buffer.compare(output.bytes, expected[i]!.bytes) === 0, output.name);
    checkFake(fake);
  });

all.run();
