/** Launches that fail: timeouts, invalid addresses, shapes, arguments, memory; and the device as its users see it, from the bytes of a metallib. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { writeModule } from '../../src/bitcode/index.ts';
import { type Device, type DeviceModule, devices, type LaunchArgument, openDevice } from '../../src/device/index.ts';
import { addBlock, builder, emptyKernel, type Kernel, type Value } from '../../src/ir/index.ts';
import { writeMetallib } from '../../src/metallib/index.ts';
import { type Shape, tryOnCpu, words, wordsOf } from '../support/cpu.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { kernelOf } from '../support/ir-text.ts';
import { plain, sharedVariable, type Writer, writeKernel } from '../support/kernel-writer.ts';
import { oneBlock, pointerParam, valueParam, vectorAdd } from '../support/kernels.ts';

const test = suite('device/faults');
const out = pointerParam('out', 0, 'i32', 'read_write');
const codesOf = (diagnostics: Diagnostics): string[] => diagnostics.list.map((d) => d.code);

// ── timeouts ──

const simple = (write: (w: Writer) => void): Kernel => writeKernel('k', [out], [], write);
const endlessLoop = (w: Writer, body: (i: Value) => void): void => {
  const [n] = w.repeat(
    [w.i32(0)],
    (i) => w.is(i!, 'ne', w.i32(-1)),
    (i) => {
      body(i!);
      return [w.b.and(w.b.add(i!, w.i32(1)), w.i32(0xffff))];
    },
  );
  w.put(w.param(0), w.i32(0), n!);
};
const one: readonly [number, number, number] = [1, 1, 1];

const endless: Record<string, { kernel: Kernel; shape?: Shape }> = {
  'an endless loop': { kernel: simple((w) => endlessLoop(w, () => {})) },
  'an endless loop of an empty block': {
    kernel: kernelOf('kernel "k" {\n  param "out" pointer global size 4 align 4 slot 0\nb0:\n  br b1\nb1:\n  br b1\n}\n'),
  },
  'an endless irreducible loop': {
    kernel: kernelOf(`kernel "k" {
  param "out" pointer global size 4 align 4 slot 0
b0:
  %0 = sreg i32 {name: tid.x}
  %1 = const i32 1
  %2 = icmp i1 %0, %1 {pred: eq}
  condbr %2, b1, b2
b1:
  br b2
b2:
  br b1
}
`),
  },
  'an endless loop over a barrier by all threads': {
    kernel: simple((w) => endlessLoop(w, () => void w.b.barrier())),
    shape: { block: [64, 1, 1] },
  },
  'an endless loop over a barrier by half of the threads': {
    kernel: simple((w) => {
      w.when(w.is(w.sreg('tid.x'), 'ult', w.i32(8)), () => endlessLoop(w, () => void w.b.barrier()));
      w.b.barrier();
    }),
    shape: { block: [16, 1, 1] },
  },
  'a thread that spins on a word that a later thread writes': {
    kernel: simple((w) => {
      w.repeat(
        [w.i32(0)],
        () => w.is(w.b.load('i32', w.param(0), { align: 4, volatile: true }), 'eq', w.i32(0)),
        () => [w.i32(0)],
      );
    }),
  },
  'a grid of 2^62 blocks': {
    kernel: simple((w) => w.put(w.param(0), w.i32(0), w.sreg('ctaid.x'))),
    shape: { grid: [2 ** 31 - 1, 2 ** 31 - 1, 1], block: one },
  },
  'a large grid of empty blocks': {
    kernel: simple(() => {}),
    shape: { grid: [2 ** 31 - 1, 2 ** 31 - 1, 2 ** 31 - 1], block: [1024, 1, 1] },
  },
  'short loops of slow ops in many threads': {
    kernel: writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
      const x = w.b.load('f64', w.param(0), plain);
      const [sum] = w.repeat(
        [x, w.i32(0)],
        (_, i) => w.is(i!, 'ult', w.i32(1000)),
        (sum, i) => {
          let next = sum!;
          for (let k = 0; k < 40; k++) next = w.b.fma(next, x, next);
          return [next, w.b.add(i!, w.i32(1))];
        },
      );
      w.b.store(w.param(0), sum!, plain);
    }),
    shape: { grid: [1 << 20, 1, 1], block: [1024, 1, 1] },
  },
};

for (const [name, { kernel, shape }] of Object.entries(endless))
  test(`timeout of ${name}`, () => {
    const start = performance.now();
    // A kernel that did not look at the time often would compute on.
    const { diagnostics, ended } = withinCpuSeconds(0.6, () => tryOnCpu(kernel, [new Uint8Array(8)], { ...shape, timeoutMs: 60 }));
    const took = performance.now() - start;
    assert.equal(codesOf(diagnostics), ['CM6010']);
    assert.not(ended);
    assert.match(
      diagnostics.list[0]!.message,
      /^kernel `k` was stopped after 0\.06 s, in block \(\d+, \d+, \d+\) at thread \(\d+, 0, 0\)$/,
    );
    assert.ok(took > 50, `stopped after ${took} ms`);
  });

test('a timeout between blocks reports a block of the grid', () => {
  const kernel = simple((w) => w.put(w.param(0), w.i32(0), w.sreg('ctaid.x')));
  const grid = [3, 5, 50_000_000] as const;
  const { diagnostics, ended } = tryOnCpu(kernel, [new Uint8Array(4)], { grid, timeoutMs: 30 });
  assert.not(ended);
  assert.equal(codesOf(diagnostics), ['CM6010']);
  const block = /in block \((\d+), (\d+), (\d+)\)/.exec(diagnostics.list[0]!.message)!.slice(1).map(Number);
  // Some hundred blocks have run, so the block is not in the first row.
  assert.ok(block[2]! > 0, `${block}`);
  assert.ok(
    block.every((at, i) => at < grid[i]!),
    `${block}`,
  );
});

test('without a timeout a kernel runs to its end', () => {
  const kernel = simple((w) => {
    const [n] = w.repeat(
      [w.i32(0)],
      (i) => w.is(i!, 'ult', w.i32(30_000_000)),
      (i) => [w.b.add(i!, w.i32(1))],
    );
    w.put(w.param(0), w.i32(0), n!);
  });
  const { buffers, ended } = tryOnCpu(kernel, [new Uint8Array(4)], { timeoutMs: 0 });
  assert.ok(ended);
  assert.equal(wordsOf(buffers[0]!), [30_000_000]);
});

// ── addresses ──

const atAddress = (address: bigint, access: (w: Writer, pointer: Value) => void): Kernel =>
  simple((w) => access(w, w.b.inttoptr('ptr.global', w.b.const('i64', address))));

const invalidAddresses = [
  0n,
  4n,
  65532n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 32n - 2n,
  2n ** 32n,
  2n ** 32n + 65536n,
  2n ** 40n + 65536n,
  2n ** 63n,
  2n ** 64n - 4n,
];
const accesses: Record<string, (w: Writer, pointer: Value) => void> = {
  'a read': (w, pointer) => w.put(w.param(0), w.i32(0), w.b.load('i32', pointer, plain)),
  'a write': (w, pointer) => void w.b.store(pointer, w.i32(1), plain),
  'a load of a byte': (w, pointer) => w.put(w.param(0), w.i32(0), w.b.zext('i32', w.b.load('i8', pointer, { align: 1, volatile: false }))),
  'a load of a vector': (w, pointer) => w.put(w.param(0), w.i32(0), w.b.extract('i32', w.b.load('v4.i32', pointer, plain), { lane: 3 })),
  'a store of a vector': (w, pointer) => void w.b.store(pointer, w.b.vec2('v2.i64', w.b.const('i64', 1), w.b.const('i64', 2)), plain),
};

for (const [name, access] of Object.entries(accesses))
  test(`${name} at an invalid address is caught`, () => {
    for (const address of invalidAddresses) {
      const { diagnostics, ended } = tryOnCpu(atAddress(address, access), [words([77])]);
      // Whether an address is aligned is known before it is translated.
      const isAligned = name === 'a load of a byte' || address % 4n === 0n;
      assert.equal(codesOf(diagnostics), [isAligned ? 'CM6011' : 'CM6019'], `0x${address.toString(16)}`);
      assert.not(ended);
    }
  });

test('an address that a launch puts beyond 4 GiB faults, before and after launches that do not', () => {
  const kernel = writeKernel('k', [out, valueParam('n', 1, 'i32')], [], (w) => {
    const n = w.b.load('i32', w.b.param('ptr.param', { index: 1 }), plain);
    w.put(w.param(0), w.b.add(w.b.mul(n, w.i32(4)), w.sreg('tid.x')), w.sreg('tid.x'));
    w.put(w.b.ptradd(w.param(0), w.b.mul(w.b.zext('i64', n), w.b.const('i64', 4))), w.sreg('tid.x'), w.i32(7));
  });
  const { device, module } = opened(kernel);
  const buffer = device.allocate(4096, new Diagnostics())!;
  for (const n of [2 ** 30, 0, 1, 2 ** 30, 64]) {
    const diagnostics = new Diagnostics();
    const args: LaunchArgument[] = [
      { kind: 'buffer', buffer },
      { kind: 'bytes', bytes: new Uint8Array(Uint32Array.of(n).buffer) },
    ];
    module.launch({ kernel: 'k', grid: one, block: [64, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 0 }, diagnostics);
    assert.equal(codesOf(diagnostics), n < 2 ** 30 ? [] : ['CM6011'], `${n}`);
  }
});

test('a fault names the block and the thread; earlier accesses took place, later ones did not', () => {
  const kernel = simple((w) => {
    const isLast = w.b.and(
      w.b.zext('i32', w.is(w.sreg('ctaid.y'), 'eq', w.i32(1))),
      w.b.zext('i32', w.is(w.sreg('tid.linear'), 'eq', w.i32(13))),
    );
    const far = w.b.select(w.is(isLast, 'eq', w.i32(1)), w.b.const('i64', 1n << 35n), w.b.const('i64', 0));
    const number = w.b.add(w.b.mul(w.sreg('ctaid.y'), w.i32(24)), w.sreg('tid.linear'));
    w.b.store(w.b.ptradd(w.at(w.param(0), number), far), w.i32(1), plain);
  });
  const { diagnostics, buffers } = tryOnCpu(kernel, [new Uint8Array(4 * 72)], { grid: [1, 3, 1], block: [4, 3, 2] });
  assert.is(
    diagnostics.list[0]!.message,
    'kernel `k` accessed an address outside of device memory, in block (0, 1, 0) at thread (1, 0, 1)',
  );
  assert.equal(
    wordsOf(buffers[0]!),
    Array.from({ length: 72 }, (_, i) => (i < 24 + 13 ? 1 : 0)),
  );
});

test('a fault after a barrier names the thread', () => {
  for (const isDivergent of [false, true]) {
    const kernel = simple((w) => {
      const tid = w.sreg('tid.x');
      if (isDivergent) w.when(w.is(tid, 'ugt', w.i32(1)), () => void w.b.barrier());
      w.b.barrier();
      w.when(w.is(tid, 'eq', w.i32(2)), () => w.put(w.b.inttoptr('ptr.global', w.b.const('i64', 8)), w.i32(0), tid));
    });
    const { diagnostics } = tryOnCpu(kernel, [words([0])], { block: [5, 1, 1], grid: [2, 1, 1] });
    assert.match(diagnostics.list[0]!.message, /in block \(0, 0, 0\) at thread \(2, 0, 0\)$/);
  }
});

// ── memory for a launch ──

test('the local memory of all threads may exceed the limit', () => {
  const variable = { ...sharedVariable('l', 2 ** 26), space: 'local' as const };
  const kernel = (): Kernel =>
    writeKernel('k', [out], [variable], (w) => w.put(w.b.variable('ptr.local', { name: 'l' }), w.sreg('tid.x'), w.i32(1)));
  const { diagnostics, ended } = tryOnCpu(kernel(), [words([0])], { block: [1024, 1, 1] });
  assert.equal(codesOf(diagnostics), ['CM6012']);
  assert.not(ended);
  assert.match(diagnostics.list[0]!.message, /^the device cannot allocate 687\d{8} bytes for a launch of `k`$/);
});

/** A kernel with a given number of values that are live across blocks. */
function wide(values: number): Kernel {
  const kernel = emptyKernel('wide');
  kernel.params.push(out);
  const b = builder(kernel, addBlock(kernel));
  const next = addBlock(kernel);
  const pointer = b.param('ptr.global', { index: 0 });
  const loaded = Array.from({ length: values }, () => b.load('i32', pointer, { align: 4, volatile: true }));
  b.block.end = { op: 'br', to: { block: next, args: [] } };
  b.block = next;
  b.store(
    pointer,
    loaded.reduce((a, x) => b.add(a, x)),
    plain,
  );
  return kernel;
}

test('many live values are kept, and too many are refused with a diagnostic', () => {
  const { buffers } = tryOnCpu(wide(49_000), [words([3])]);
  assert.equal(wordsOf(buffers[0]!), [3 * 49_000]);
  const { diagnostics, ended } = tryOnCpu(wide(50_001), [words([3])]);
  assert.equal(codesOf(diagnostics), ['CM6013']);
  assert.not(ended);
});

test('a function that is too large for the engine is refused with a diagnostic', () => {
  const kernel = simple((w) => {
    for (let i = 0; i < 400_000; i++) w.b.store(w.param(0), w.b.const('i64', (1n << 62n) + BigInt(i)), plain);
  });
  const { diagnostics } = tryOnCpu(kernel, [new Uint8Array(8)]);
  assert.equal(codesOf(diagnostics), ['CM6013']);
});

// ── the device as its users see it ──

const compiled = (kernel: Kernel): Uint8Array => {
  const diagnostics = new Diagnostics();
  const module = emitKernel(kernel, targets.macos14, diagnostics);
  assert.equal(codesOf(diagnostics), []);
  return writeModule(module);
};

const metallib = (bitcodes: readonly (readonly [string, Uint8Array])[]): Uint8Array =>
  writeMetallib({
    version: { major: 1, minor: 2, patch: 7 },
    platform: 'macos',
    os: { major: 14, minor: 0, patch: 0 },
    functions: bitcodes.map(([name, bitcode]) => ({ name, type: 'kernel', airVersion: [2, 6], metalVersion: [3, 1], bitcode })),
  });

const libraryOf = (...kernels: Kernel[]): Uint8Array => metallib(kernels.map((kernel) => [kernel.name, compiled(kernel)]));

interface Opened {
  readonly device: Device;
  readonly module: DeviceModule;
}

function opened(...kernels: Kernel[]): Opened {
  const diagnostics = new Diagnostics();
  const device = openDevice('auto', diagnostics)!;
  const module = device.load(libraryOf(...kernels), diagnostics);
  assert.equal(codesOf(diagnostics), []);
  return { device, module: module! };
}

function bufferOf(device: Device, bytes: Uint8Array): LaunchArgument & { kind: 'buffer' } {
  const buffer = device.allocate(bytes.length, new Diagnostics())!;
  buffer.write(bytes);
  return { kind: 'buffer', buffer };
}

const floats = (values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
const bytes = (values: readonly number[]): LaunchArgument => ({ kind: 'bytes', bytes: words(values) });
const normal = { kernel: 'vector_add', grid: [2, 1, 1], block: [64, 1, 1], dynamicSharedBytes: 0, timeoutMs: 5000 } as const;
const numbers = Array.from({ length: 100 }, (_, i) => i / 4);

/** The arguments of `vectorAdd`. */
const addArgs = (device: Device): LaunchArgument[] => [
  bufferOf(device, floats(numbers)),
  bufferOf(device, floats(numbers.map((x) => 1000 - 2 * x))),
  bufferOf(device, floats(numbers.map(() => -1))),
  bytes([100]),
];

test('the CPU device is available on every machine, by two names', () => {
  // An OpenCL driver may be installed anywhere.
  const kinds = devices().map(({ kind }) => kind);
  assert.equal(
    kinds.filter((kind) => kind !== 'opencl'),
    ['cpu'],
  );
  for (const name of ['auto', 'cpu']) assert.is(openDevice(name, new Diagnostics())?.info.kind, 'cpu');
  for (const name of ['metal', 'toString', '__proto__']) {
    const diagnostics = new Diagnostics();
    assert.is(openDevice(name, diagnostics), undefined);
    assert.equal(codesOf(diagnostics), ['CM6001'], name);
  }
});

test("from a metallib's bytes to a vector sum", () => {
  const { device, module } = opened(vectorAdd());
  assert.equal(
    module.kernels.map(({ name, params }) => [name, params.map((param) => param.kind)]),
    [['vector_add', ['buffer', 'buffer', 'buffer', 'bytes']]],
  );
  const args = addArgs(device);
  const diagnostics = new Diagnostics();
  const result = module.launch({ ...normal, args }, diagnostics);
  assert.equal(codesOf(diagnostics), []);
  assert.ok(result!.durationMs >= 0);
  const c = (args[2] as { buffer: { read(): Uint8Array } }).buffer.read();
  assert.equal(
    [...new Float32Array(c.slice().buffer)],
    numbers.map((x) => 1000 - x),
  );
});

test('a kernel is launched again with other sizes, and after a fault', () => {
  const { device, module } = opened(vectorAdd());
  const [a, b, c] = addArgs(device) as [LaunchArgument, LaunchArgument, LaunchArgument & { kind: 'buffer' }];
  for (const n of [1, 99, 0x7fffffff, 50]) {
    c.buffer.write(floats(numbers.map(() => -1)));
    const diagnostics = new Diagnostics();
    const grid = n > 100 ? ([1 << 24, 1, 1] as const) : normal.grid;
    module.launch({ ...normal, grid, args: [a, b, c, bytes([n])] }, diagnostics);
    // There is no memory far beyond the buffers.
    assert.equal(codesOf(diagnostics), n > 100 ? ['CM6011'] : []);
    const expected = numbers.map((x, i) => (i < n ? 1000 - x : -1));
    if (n <= 100) assert.equal([...new Float32Array(c.buffer.read().slice().buffer)], expected);
  }
});

/** Each thread stores the block's sum, computed in static and dynamic shared memory. */
function blockSum(): Kernel {
  return writeKernel('block_sum', [pointerParam('out', 0, 'i32', 'read_write')], [sharedVariable('s', 4 * 32)], (w) => {
    const tid = w.sreg('tid.x');
    const s = w.shared('s');
    w.put(s, tid, w.get(w.param(0), tid));
    w.b.barrier();
    const [sum] = w.repeat(
      [w.i32(0), w.i32(0)],
      (_, i) => w.is(i!, 'ult', w.i32(32)),
      (sum, i) => [w.b.add(sum!, w.get(s, i!)), w.b.add(i!, w.i32(1))],
    );
    w.put(w.param(0), tid, sum!);
  });
}

test('a library of two kernels, one with barriers', () => {
  const { device, module } = opened(vectorAdd(), blockSum());
  const io = bufferOf(device, words(Array.from({ length: 32 }, (_, i) => i)));
  const diagnostics = new Diagnostics();
  module.launch({ ...normal, kernel: 'block_sum', grid: [1, 1, 1], block: [32, 1, 1], args: [io] }, diagnostics);
  assert.equal(codesOf(diagnostics), []);
  assert.equal(wordsOf(io.buffer.read()), Array(32).fill(496));
});

test('an empty grid or block runs nothing', () => {
  const { device, module } = opened(vectorAdd());
  for (const shape of [{ grid: [0, 1, 1] }, { block: [1, 0, 1] }] as const) {
    const args = addArgs(device);
    const diagnostics = new Diagnostics();
    assert.ok(module.launch({ ...normal, ...shape, args }, diagnostics));
    assert.equal((args[2] as { buffer: { read(): Uint8Array } }).buffer.read(), floats(numbers.map(() => -1)));
  }
});

test('a launch that does not match the kernel or the device is refused', () => {
  const limited = (): Kernel => ({ ...vectorAdd(), name: 'limited', maxThreads: 96 });
  const { device, module } = opened(vectorAdd(), limited(), blockSum());
  const [a, b, c, n] = addArgs(device) as [LaunchArgument, LaunchArgument, LaunchArgument, LaunchArgument];
  const args = [a, b, c, n];
  const elsewhere = bufferOf(openDevice('cpu', new Diagnostics())!, floats(numbers));
  const freed = bufferOf(device, floats(numbers));
  freed.buffer.free();
  const cases: [string, string, object][] = [
    ['no such kernel', 'CM5001', { kernel: 'missing' }],
    ['no arguments', 'CM5011', { args: [] }],
    ['one argument too few', 'CM5011', { args: [a, b, c] }],
    ['one argument too many', 'CM5011', { args: [...args, n] }],
    ['bytes instead of a buffer', 'CM5012', { args: [a, n, c, n] }],
    ['a buffer instead of bytes', 'CM5012', { args: [a, b, c, a] }],
    ['a buffer of another device', 'CM5012', { args: [elsewhere, b, c, n] }],
    ['a freed buffer', 'CM5012', { args: [freed, b, c, n] }],
    ['too few bytes', 'CM5013', { args: [a, b, c, { kind: 'bytes', bytes: new Uint8Array(3) }] }],
    ['too many bytes', 'CM5013', { args: [a, b, c, bytes([1, 2])] }],
    ['too many threads', 'CM5021', { block: [1025, 1, 1] }],
    ['too many threads in three dimensions', 'CM5021', { block: [32, 32, 2] }],
    ['more threads than the kernel allows', 'CM5021', { kernel: 'limited', block: [97, 1, 1] }],
    ['too much shared memory', 'CM5022', { dynamicSharedBytes: 32769 }],
    ['too much together with static shared memory', 'CM5022', { kernel: 'block_sum', args: [a], dynamicSharedBytes: 32768 - 127 }],
    ['half a block', 'CM5024', { grid: [1.5, 1, 1] }],
    ['a negative block size', 'CM5024', { block: [-1, 1, 1] }],
    ['not a number', 'CM5024', { grid: [Number.NaN, 1, 1] }],
    ['too large a grid', 'CM5024', { grid: [2 ** 31, 1, 1] }],
    ['negative shared memory', 'CM5024', { dynamicSharedBytes: -4 }],
  ];
  for (const [name, code, change] of cases) {
    const diagnostics = new Diagnostics();
    assert.is(module.launch({ ...normal, args, ...change }, diagnostics), undefined, name);
    assert.equal(codesOf(diagnostics), [code], name);
  }
  for (const allowed of [{ block: [1024, 1, 1] }, { kernel: 'limited', block: [96, 1, 1] }, { dynamicSharedBytes: 32768 }]) {
    const diagnostics = new Diagnostics();
    assert.ok(module.launch({ ...normal, args, ...allowed } as never, diagnostics));
    assert.equal(codesOf(diagnostics), []);
  }
});

test('diagnostics of refused arguments name the argument and the expected form', () => {
  const { device, module } = opened(vectorAdd());
  const args = addArgs(device);
  const messageFor = (given: LaunchArgument[]): string => {
    const diagnostics = new Diagnostics();
    module.launch({ ...normal, args: given }, diagnostics);
    return diagnostics.list[0]!.message;
  };
  assert.is(messageFor(args.slice(0, 1)), 'kernel `vector_add` takes 4 arguments (`a`, `b`, `c`, `n`), and 1 argument is given');
  assert.is(
    messageFor([args[3]!, ...args.slice(1)]),
    'parameter 0 `a` of `vector_add` is a pointer to f32, but the argument is 4 bytes by value',
  );
  assert.is(
    messageFor([{ ...args[3]!, label: 'u32=5' }, ...args.slice(1)]),
    'parameter 0 `a` of `vector_add` is a pointer to f32, but argument `u32=5` is 4 bytes by value',
  );
  assert.is(messageFor([...args.slice(0, 3), bytes([1, 2])]), 'parameter 3 `n` of `vector_add` has 4 bytes, but the argument has 8');
});

test('buffers: zero at first, partial writes, limited size, idempotent free', () => {
  const device = openDevice('cpu', new Diagnostics())!;
  const first = bufferOf(device, Uint8Array.of(9, 9, 9, 9));
  first.buffer.free();
  const second = bufferOf(device, new Uint8Array(0));
  first.buffer.free();
  const diagnostics = new Diagnostics();
  const buffer = device.allocate(6, diagnostics)!;
  assert.equal([...buffer.read()], [0, 0, 0, 0, 0, 0]);
  buffer.write(Uint8Array.of(1, 2), 3);
  second.buffer.write(new Uint8Array(0));
  assert.equal([...buffer.read()], [0, 0, 0, 1, 2, 0]);
  assert.equal(second.buffer.size, 0);
  for (const size of [2 ** 31 + 1, 2 ** 40, -1, 1.5, Number.NaN]) {
    const found = new Diagnostics();
    assert.is(device.allocate(size, found), undefined);
    assert.equal(codesOf(found), ['CM6012'], String(size));
  }
});

test('an endless kernel of a metallib is stopped', () => {
  const { device, module } = opened({ ...simple((w) => endlessLoop(w, (i) => w.put(w.param(0), w.i32(0), i))), name: 'endless' });
  const diagnostics = new Diagnostics();
  module.launch({ ...normal, kernel: 'endless', timeoutMs: 30, args: [bufferOf(device, words([0]))] }, diagnostics);
  assert.equal(codesOf(diagnostics), ['CM6010']);
});

// ── invalid bytes ──

test('bytes that are no metallib are refused', () => {
  const device = openDevice('cpu', new Diagnostics())!;
  for (const given of [new Uint8Array(0), Uint8Array.of(1, 2, 3), new TextEncoder().encode('MTLB'), libraryOf(vectorAdd()).slice(0, 300)]) {
    const diagnostics = new Diagnostics();
    assert.is(device.load(given, diagnostics), undefined);
    assert.ok(diagnostics.hasErrors);
  }
});

test('damaged bitcode is refused or runs to an end, without an exception or a hang', () => {
  const bitcode = compiled(blockSum());
  let refused = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(bitcode.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 }), (changes) => {
      const damaged = bitcode.slice();
      for (const [at, value] of changes) damaged[at] = value;
      const device = openDevice('cpu', new Diagnostics())!;
      const diagnostics = new Diagnostics();
      const module = device.load(metallib([['block_sum', damaged]]), diagnostics);
      if (!module) {
        refused++;
        return assert.ok(diagnostics.list.length > 0);
      }
      const args = module.kernels[0]?.params.map((param) =>
        param.kind === 'buffer' ? bufferOf(device, words(Array(32).fill(1))) : bytes([1]),
      );
      if (args) module.launch({ ...normal, kernel: module.kernels[0]!.name, block: [32, 1, 1], timeoutMs: 20, args }, diagnostics);
    }),
    { numRuns: 250, seed: 9 },
  );
  assert.ok(refused > 20 && refused < 245, `${refused} of 250 refused`);
});

test('values of every width are passed by value', () => {
  const params = [
    pointerParam('out', 0, undefined, 'write'),
    valueParam('d', 1, 'f64', 8, 8),
    valueParam('h', 2, 'i16', 2, 2),
    valueParam('q', 3, 'i64', 8, 8),
  ];
  const kernel = oneBlock('k', params, (b) => {
    const load = (index: number, type: 'f64' | 'i16' | 'i64', align: number): Value =>
      b.load(type, b.param('ptr.param', { index }), { align, volatile: false });
    const to = (offset: number): Value => b.ptradd(b.param('ptr.global', { index: 0 }), b.const('i64', offset));
    b.store(to(0), b.fadd(load(1, 'f64', 8), b.const('f64', 0x3ff0000000000000n)), plain);
    b.store(to(8), load(3, 'i64', 8), plain);
    b.store(to(16), load(2, 'i16', 2), { align: 2, volatile: false });
  });
  const given = [
    new Uint8Array(18),
    new Uint8Array(Float64Array.of(2.5).buffer),
    Uint8Array.of(0x34, 0x12),
    new Uint8Array(BigInt64Array.of(-2n).buffer),
  ];
  const { buffers, diagnostics } = tryOnCpu(kernel, given);
  assert.equal(codesOf(diagnostics), []);
  const view = new DataView(buffers[0]!.buffer);
  assert.equal([view.getFloat64(0, true), view.getBigInt64(8, true), view.getUint16(16, true)], [3.5, -2n, 0x1234]);
});

test('a kernel whose module is too large for the engine is refused, as on the main thread of a page', () => {
  const { Module } = WebAssembly;
  WebAssembly.Module = class extends Module {
    constructor(bytes: BufferSource) {
      if (bytes.byteLength > 200) throw new RangeError('8 MB at most');
      super(bytes);
    }
  };
  try {
    const { ended, diagnostics } = tryOnCpu(
      simple((w) => w.put(w.param(0), w.i32(0), w.i32(1))),
      [new Uint8Array(4)],
      { block: [32, 1, 1] },
    );
    assert.is(ended, false);
    assert.equal(
      diagnostics.list.map(({ code, message }) => `${code}: ${message}`),
      ['CM6013: kernel `k` is too large for the CPU device: 8 MB at most'],
    );
  } finally {
    WebAssembly.Module = Module;
  }
});

test.run();
