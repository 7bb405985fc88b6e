import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import {
  type ArgumentSpec,
  checkOutput,
  decodeElements,
  type Io,
  type Kernel,
  type LaunchPlan,
  launch,
  parseArgument,
  writeContents,
  writeNpy,
} from '../../src/runtime/index.ts';
import { type FakeKernel, fakeDevice, kernel, memoryOf, pointer, scalar } from '../support/fake-device.ts';

const test = suite('runtime/launch');

const files = (contents: Record<string, Uint8Array>): Io & { written: Record<string, Uint8Array> } => {
  const written: Record<string, Uint8Array> = {};
  return {
    written,
    readFile: (path) => contents[path] ?? { why: 'no such file' },
    writeFile: (path, bytes) => {
      written[path] = bytes;
      return undefined;
    },
  };
};

const scale = kernel('scale', [pointer('x', 'f32', 'read'), pointer('y', 'f32', 'write'), scalar('n', 4, 'i32'), scalar('a', 4, 'f32')]);

/** y[i] = a * x[i] for i < n. */
const runScale: FakeKernel = (request) => {
  const [x, y] = [memoryOf(request, 0), memoryOf(request, 1)].map((m) => new Float32Array(m.buffer));
  const n = new DataView(memoryOf(request, 2).buffer).getInt32(0, true);
  const a = new DataView(memoryOf(request, 3).buffer).getFloat32(0, true);
  for (let i = 0; i < n && i < y!.length; i++) y![i] = a * x![i]!;
  return true;
};

const args = (...specs: string[]): ArgumentSpec[] => specs.map((spec) => parseArgument(spec, new Diagnostics())!);

function run(
  plan: Partial<LaunchPlan>,
  {
    kernels = [scale],
    io = files({}),
    repeat = 1,
    body = runScale,
  }: { kernels?: Kernel[]; io?: Io; repeat?: number; body?: FakeKernel } = {},
) {
  const { device, module, requests } = fakeDevice(kernels, body);
  const diagnostics = new Diagnostics();
  const outcome = launch(device, module, { sharedBytes: 0, constants: [], ...plan }, { repeat, timeoutMs: 0 }, { io, diagnostics });
  return { outcome, requests, messages: diagnostics.list.map((d) => `${d.code} ${d.message}`) };
}

test('arguments reach the kernel and the buffers come back', () => {
  const { outcome, requests, messages } = run({ args: args('f32:4=iota', 'f32:4', 'i32=3', 'f32=2.5'), grid: [2, 1, 1], block: [2, 1, 1] });
  assert.equal(messages, []);
  assert.equal(requests[0]!.grid, [2, 1, 1]);
  assert.equal(
    outcome?.outputs.map((o) => [o.index, o.name, o.isWritten]),
    [
      [0, 'x', false],
      [1, 'y', true],
    ],
  );
  assert.equal(decodeElements('f32', outcome!.outputs[1]!.bytes), [0, 2.5, 5, 0]);
});

test('each repetition starts from the same buffers', () => {
  const increment: FakeKernel = (request) => {
    memoryOf(request, 0)[0]! += 1;
    return true;
  };
  const { outcome } = run({ args: args('u8:1') }, { kernels: [kernel('k', [pointer('p', 'u8')])], repeat: 3, body: increment });
  assert.is(outcome!.outputs[0]!.bytes[0], 1);
  assert.is(outcome!.durationsMs.length, 3);
});

test('a launch without arguments has defaults and lists them', () => {
  const { outcome, requests } = run({});
  assert.equal(outcome!.plan.defaults, [
    'x: f32:1024=iota',
    'y: f32:1024',
    'n: i32=1024',
    'a: f32=1',
    'grid and block: to cover 1024 elements',
  ]);
  assert.equal(
    [requests[0]!.grid, requests[0]!.block],
    [
      [4, 1, 1],
      [256, 1, 1],
    ],
  );
  assert.is(decodeElements('f32', outcome!.outputs[1]!.bytes)[1023], 1023);
});

test('the default launch obeys the block that the kernel demands', () => {
  const strict = kernel('k', [scalar('s', 12, undefined), scalar('b', 1, 'u8')], { requiredThreads: [32, 4, 1] });
  const { requests, outcome } = run({}, { kernels: [strict], body: () => true });
  assert.equal(
    [requests[0]!.grid, requests[0]!.block],
    [
      [8, 1, 1],
      [32, 4, 1],
    ],
  );
  assert.equal(memoryOf(requests[0]!, 0), new Uint8Array(12));
  assert.equal(memoryOf(requests[0]!, 1), Uint8Array.from([255]));
  assert.equal(outcome!.plan.defaults.slice(0, 2), ['s: 12 zero bytes', 'b: u8=255']);
});

const four = ['f32:4', 'f32:4', 'i32=4', 'f32=1'];
const replaced = (index: number, spec: string) => ({ args: args(...four.map((s, i) => (i === index ? spec : s))) });
test('a kernel with dynamic shared memory needs a size, if it is 0', () => {
  const kernels = [{ ...scale, usesDynamicShared: true }];
  const given = args('f32:4=iota', 'f32:4', 'i32=3', 'f32=2.5');
  const of = (plan: LaunchPlan): string[] => {
    const { device, module } = fakeDevice(kernels, runScale);
    const diagnostics = new Diagnostics();
    const outcome = launch(device, module, { ...plan, args: given }, { repeat: 1, timeoutMs: 0 }, { io: files({}), diagnostics });
    return [...diagnostics.list.map(({ code }) => code), ...(outcome ? ['done'] : [])];
  };
  assert.equal(of({ constants: [] }), ['CM5034']);
  assert.equal(of({ constants: [], sharedBytes: 0 }), ['done']);
  assert.equal(of({ constants: [], sharedBytes: 64 }), ['done']);
  // The schema of launch files gives `sharedBytes` the default 0.
  assert.equal(of({ constants: [], sharedBytes: 0, isSharedDefault: true }), ['CM5036', 'done']);
});

const bad: [why: string, plan: Partial<LaunchPlan>, message: RegExp][] = [
  [
    'too few arguments',
    { args: args('f32:4') },
    /^CM5011 kernel `scale` takes 4 arguments \(`x`, `y`, `n`, `a`\), and 1 argument is given$/,
  ],
  [
    'a scalar for a pointer',
    replaced(0, 'u64=4096'),
    /^CM5012 parameter 0 `x` of `scale` is a pointer to f32, but argument `u64=4096` is 8 bytes by value$/,
  ],
  [
    'a buffer for a scalar',
    replaced(2, 'f32:4'),
    /^CM5012 parameter 2 `n` of `scale` is 4 bytes by value \(i32\), but argument `f32:4` is a buffer$/,
  ],
  ['a scalar of the wrong size', replaced(2, 'u64=4'), /^CM5013 parameter 2 `n` of `scale` has 4 bytes, but argument `u64=4` has 8$/],
  ['a float for an integer', replaced(2, 'f32=1000'), /^CM5016 parameter 2 `n` of `scale` is i32, but argument `f32=1000` is f32$/],
  ['a file that is not there', replaced(0, 'f32@x.npy'), /^CM5030 cannot read `x.npy`: no such file$/],
  ['an unknown kernel', { kernel: 'scala' }, /^CM5001 no kernel named `scala`$/],
  ['too many threads', { block: [1024, 2, 1] }, /^CM5021 a block of 2048 threads exceeds 1024, the limit of fake$/],
  ['too much shared memory', { sharedBytes: 40000 }, /^CM5022 40000 bytes/],
  ['an unknown symbol', { constants: [{ name: 'table', path: 't.npy' }] }, /^CM5023 the module has no writable symbol `table`$/],
];
for (const [why, plan, message] of bad) {
  test(`refused: ${why}`, () => {
    const { outcome, messages, requests } = run(plan);
    assert.is(outcome, undefined);
    assert.match(messages[0]!, message);
    assert.is(requests.length, 0);
  });
}

test('one of several kernels must be chosen', () => {
  const two = [kernel('a', []), kernel('b', [])];
  assert.match(run({}, { kernels: two }).messages[0]!, /^CM5002 the module contains 2 kernels: `a`, `b`$/);
  assert.is(run({ kernel: 'b' }, { kernels: two, body: () => true }).outcome?.plan.kernel, 'b');
});

test('the block that .reqntid demands and the threads that .maxntid allows', () => {
  assert.match(run({ block: [64, 1, 1] }, { kernels: [kernel('k', [], { requiredThreads: [32, 1, 1] })] }).messages[0]!, /^CM5020/);
  assert.match(run({ block: [64, 1, 1] }, { kernels: [kernel('k', [], { maxThreads: 32 })] }).messages[0]!, /^CM5021/);
});

test('an integer for a float parameter is passed as its bits, with a warning', () => {
  const { outcome, messages } = run(replaced(3, 'i32=1'));
  assert.match(messages[0]!, /^CM5014 parameter 3 `a` of `scale` is f32, but argument `i32=1` is i32/);
  assert.ok(outcome);
});

test('files give buffers their shape', () => {
  const data = Uint8Array.from([0, 0, 128, 63, 0, 0, 0, 64]);
  const io = files({ 'x.npy': writeNpy({ descr: '<f4', shape: [2, 1], data }), 'x.bin': data });
  assert.equal(run(replaced(0, 'f32@x.npy'), { io }).outcome!.outputs[0]!.shape, [2, 1]);
  assert.equal(run(replaced(0, 'f32@x.bin'), { io }).outcome!.outputs[0]!.shape, [2]);
  assert.match(
    run(replaced(0, 'i32@x.npy'), { io }).messages[0]!,
    /^CM5033 `x.npy` holds numpy's <f4 of shape \(2, 1\), but <i4 for i32 was expected$/,
  );
  assert.match(
    run(replaced(0, 'f32@x.npz'), { io: files({ 'x.npz': data }) }).messages[0]!,
    /^CM5032 `x.npz` cannot be read as .npy: it is a .npz archive of several arrays/,
  );
  assert.match(
    run(replaced(0, 'f32@y.bin'), { io: files({ 'y.bin': new Uint8Array(6) }) }).messages[0]!,
    /^CM5033 `y.bin` holds 6 bytes, but a positive multiple of 4 bytes/,
  );
});

const output = (element: 'f32' | 'u8' | 'i32', shape: number[], bytes: Uint8Array) => ({
  index: 1,
  name: 'y',
  isWritten: true,
  element,
  shape,
  bytes,
  expect: undefined,
});

test('a check reads its file as the type of the buffer', () => {
  const io = files({ 'want.npy': writeNpy({ descr: '|u1', shape: [3], data: Uint8Array.from([1, 2, 4]) }) });
  const tolerance = { rtol: 0, atol: 0, ulp: 0 };
  const check = checkOutput(output('u8', [3], Uint8Array.from([1, 2, 3])), { path: 'want.npy', ...tolerance }, io, new Diagnostics());
  assert.equal([check!.pass, check!.firstMismatch, check!.maxAbs], [false, 2, 1]);
  const diagnostics = new Diagnostics();
  assert.is(checkOutput(output('u8', [4], new Uint8Array(4)), { path: 'want.npy', ...tolerance }, io, diagnostics), undefined);
  assert.is(diagnostics.list[0]!.code, 'CM5033');
});

test('pictures are P5, scaled unless they are bytes', () => {
  const io = files({});
  const grey = output('u8', [2, 3], Uint8Array.from([0, 1, 2, 3, 4, 255]));
  writeContents(io, 'a.pgm', 1, grey, new Diagnostics());
  assert.equal(io.written['a.pgm'], Uint8Array.from([...'P5\n3 2\n255\n'].map((c) => c.charCodeAt(0)).concat([0, 1, 2, 3, 4, 255])));
  const signed = output('i32', [1, 3], new Uint8Array(Int32Array.from([-10, 0, 10]).buffer));
  writeContents(io, 'b.pgm', 1, signed, new Diagnostics());
  assert.equal([...io.written['b.pgm']!.slice(-3)], [0, 128, 255]);
  const diagnostics = new Diagnostics();
  writeContents(io, 'c.pgm', 1, output('u8', [6], new Uint8Array(6)), diagnostics);
  assert.is(diagnostics.list[0]!.code, 'CM5035');
});

test('other files hold the raw bytes', () => {
  const io = files({});
  writeContents(io, 'a.bin', 1, output('u8', [2], Uint8Array.from([5, 6])), new Diagnostics());
  assert.equal(io.written['a.bin'], Uint8Array.from([5, 6]));
});

test.run();
