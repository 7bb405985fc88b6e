/**
 * The WebGPU device: the device contract with an installed package and a driver, where there are both; and by a GPU that answers as it is told:
 * the arena, grids in parts, larger blocks, and failures.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import type { Device, Fp } from '../../src/device/device.ts';
import type { Connection } from '../../src/device/webgpu/connection.ts';
import { deviceOf, openWebgpuDevice, working } from '../../src/device/webgpu/index.ts';
import { dispatchesOf } from '../../src/device/webgpu/worker/dispatches.ts';
import type { Answer, Ask } from '../../src/device/webgpu/worker/messages.ts';
import { runUnequal, unequalExpected } from '../support/clusters.ts';
import { contract, libraryOf } from '../support/device-contract.ts';

const test = suite('device/webgpu');

const opened = openWebgpuDevice();

if (typeof opened !== 'string') {
  opened.close();
  const open = (): Device => {
    const device = openWebgpuDevice();
    if (typeof device === 'string') throw new Error(device);
    return device;
  };
  contract(test, { name: 'webgpu', open, launches: 100 });

  const run = (body: string, words: number, grid: number, block: number): { codes: string[]; out: BigUint64Array } => {
    const device = open();
    const diagnostics = new Diagnostics();
    const module = device.load(libraryOf(`.visible .entry k(.param .u64 to) { ${registers} ${body} ret; }`), diagnostics)!;
    const buffer = device.allocate(8 * words, diagnostics)!;
    buffer.write(new Uint8Array(8 * words));
    const shape = { grid: [grid, 1, 1], block: [block, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
    module.launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
    const out = new BigUint64Array(buffer.read().slice().buffer);
    device.close();
    return { codes: diagnostics.list.map(({ code }) => code), out };
  };
  const registers = `.reg .b64 p, q, v, w, a; .reg .b32 t, b, n, i; .reg .pred c; .reg .f64 d;
    ld.param.u64 p, [to]; mov.u32 t, %tid.x; mov.u32 b, %ctaid.x; mov.u32 n, %ntid.x; mad.lo.u32 i, b, n, t;
    mul.wide.u32 a, i, 8; add.u64 a, a, p;`;

  test('an exchange of 64 bits gives every value to one other thread, whole', () => {
    const [blocks, threads] = [3, 70];
    const count = blocks * threads;
    // The first word is the place; a thread brings its number in both halves, and keeps what it finds behind it.
    const body = `cvt.u64.u32 v, i; add.u64 v, v, 1; mul.lo.u64 v, v, 0x0101010101010101; atom.global.exch.b64 w, [p], v; st.global.u64 [a+8], w;`;
    const { codes, out } = run(body, count + 1, blocks, threads);
    assert.equal(codes, []);
    const expected = Array.from({ length: count + 1 }, (_, i) => BigInt(i) * 0x0101_0101_0101_0101n).map((n) => BigInt.asUintN(64, n));
    const inOrder = (list: Iterable<bigint>): bigint[] => [...list].sort((a, b) => (a < b ? -1 : 1));
    assert.equal(inOrder(out), inOrder(expected));
  });

  test('blocks of a cluster wait for each other, and for themselves alone, in one workgroup', () => {
    const device = open();
    assert.equal(runUnequal(device, { target: 'cpu', isForText: true }), { words: unequalExpected(8, 4, 40), codes: [] });
    device.close();
  });

  test('sums of doubles by threads in divergent code are whole', () => {
    // Odd threads add 2^-20 and even ones of the second half nothing: every sum is exact.
    const body = `and.b32 t, i, 1; setp.eq.u32 c, t, 1; @!c bra DONE; mov.f64 d, 0d3EB0000000000000; atom.global.add.f64 d, [p], d; DONE:`;
    const { codes, out } = run(body, 1, 2, 96);
    assert.equal(codes, []);
    assert.is(new Float64Array(out.buffer)[0], 96 * 2 ** -20);
  });

  test('a block may wait for the blocks before it, and is stopped when it waits for one behind it', () => {
    // Each block waits for the word in front of its own, which the one before it sets, and sets its own to one more.
    const wait = (first: string, address: string): string => `mul.wide.u32 a, b, 8; add.u64 a, a, p; ${first}
      W: ld.volatile.global.u32 n, [${address}]; setp.eq.u32 c, n, 0; @c bra W;
      membar.gl; add.u32 n, n, 1; st.volatile.global.u32 [a], n; membar.gl;`;
    const before = run(wait('setp.eq.u32 c, b, 0; @c st.global.u32 [a], 7; @c bra E;', 'a-8').replace(/$/, ' E:'), 40, 40, 1);
    assert.equal(before.codes, []);
    assert.equal(
      [...before.out].map((word) => Number(word & 0xffff_ffffn)),
      Array.from({ length: 40 }, (_, i) => 7 + i),
    );
    assert.equal(run(wait('setp.eq.u32 c, b, 1; @c st.global.u32 [a], 7; @c bra E;', 'a+8').replace(/$/, ' E:'), 3, 2, 1).codes, [
      'CM6035',
    ]);
  });
} else {
  test.skip(`the contract on a GPU: ${opened}`);
  test('without a package the message says how to install one', () => {
    if (process.env.CUMETAL_WEBGPU) return;
    assert.match(opened, /npm install webgpu|no adapter/);
  });
}

// ── a GPU that answers as it is told ──

const limits = {
  maxBufferSize: 2 ** 30,
  maxStorageBufferBindingSize: 2 ** 24,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupSizeX: 256,
  maxComputeWorkgroupSizeY: 256,
  maxComputeWorkgroupSizeZ: 64,
  maxComputeWorkgroupStorageSize: 16_384,
  maxComputeWorkgroupsPerDimension: 100,
};

function told(answers: Partial<Record<Ask['ask'], Answer>>): { device: Device; asked: Ask[]; connection: Connection } {
  const asked: Ask[] = [];
  const connection: Connection = {
    opened: { name: 'a GPU', limits },
    send: (ask) => void asked.push(ask),
    ask(ask) {
      asked.push(ask);
      return ask.ask in answers ? answers[ask.ask] : { isGood: true };
    },
    close: () => undefined,
  };
  return { device: deviceOf(connection), asked, connection };
}

const kernel = '.visible .entry k(.param .u64 to) { .reg .b64 p; ld.param.u64 p, [to]; st.global.u64 [p], p; ret; }';

function launch(
  device: Device,
  grid: readonly [number, number, number],
  block: readonly [number, number, number],
  text = kernel,
): string[] {
  const diagnostics = new Diagnostics();
  const module = device.load(libraryOf(text), diagnostics)!;
  const buffer = device.allocate(64, diagnostics)!;
  const shape = { grid, block, dynamicSharedBytes: 0, timeoutMs: 1000 } as const;
  module.launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
  return diagnostics.list.map(({ code }) => code);
}

const of = <K extends Ask['ask']>(asked: readonly Ask[], kind: K): Extract<Ask, { ask: K }>[] =>
  asked.filter((ask): ask is Extract<Ask, { ask: K }> => ask.ask === kind);

test('addresses are places in the arena, which grows, and no address is null', () => {
  const { device, asked } = told({});
  const diagnostics = new Diagnostics();
  const list = Array.from({ length: 5 }, () => device.allocate(400_000, diagnostics)!);
  const places = list.map((buffer) => Number(buffer.deviceAddress()));
  assert.ok(places.every((place, i) => place > 0 && place % 256 === 0 && (i === 0 || place >= places[i - 1]! + 400_000)));
  const sizes = of(asked, 'arena').map(({ bytes }) => bytes);
  assert.ok(sizes.length > 1 && sizes.every((size, i) => i === 0 || size > sizes[i - 1]!));
  assert.ok(places.at(-1)! + 400_000 <= sizes.at(-1)!);
  // What is freed is used again, also by a larger buffer over two of them.
  list[1]!.free();
  list[2]!.free();
  assert.is(Number(device.allocate(700_000, diagnostics)!.deviceAddress()), places[1]);
  assert.is(device.allocate(2 ** 24, diagnostics), undefined);
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM6012'],
  );
});

test('floats are measured before the first kernel, or taken as the GPU has them', () => {
  const adding =
    '.visible .entry k(.param .u64 to) { .reg .b64 p; .reg .f32 a; ld.param.u64 p, [to]; ld.global.f32 a, [p]; add.f32 a, a, a; st.global.f32 [p], a; ret; }';
  const textsOf = (fp: Fp): string[] => {
    const { asked, connection } = told({});
    launch(deviceOf(connection, fp), [1, 1, 1], [32, 1, 1], adding);
    return of(asked, 'program').map(({ entry, code }) => `${entry}${/\badd_f32\(/.test(code) ? ' by a helper' : ''}`);
  };
  // This GPU gives no results, so that it is exact in nothing.
  assert.equal(textsOf('exact'), ['measure', 'k by a helper']);
  assert.equal(textsOf('fast'), ['k']);
});

test('a grid that is too large for a dispatch is launched in parts, each with its place', () => {
  const { device, asked } = told({});
  assert.equal(launch(device, [250, 1, 101], [32, 1, 1]), []);
  const parts = [...dispatchesOf(of(asked, 'launch').at(-1)!)].map(({ groups, words }) => [
    ...groups,
    ...new Uint32Array(words.buffer, 0, 6),
  ]);
  assert.equal(parts, [
    [100, 1, 100, 250, 1, 101, 0, 0, 0],
    [100, 1, 100, 250, 1, 101, 100, 0, 0],
    [50, 1, 100, 250, 1, 101, 200, 0, 0],
    [100, 1, 1, 250, 1, 101, 0, 0, 100],
    [100, 1, 1, 250, 1, 101, 100, 0, 100],
    [50, 1, 1, 250, 1, 101, 200, 0, 100],
  ]);
});

test('a block that is larger than a workgroup has several threads in an invocation', () => {
  const { device, asked } = told({});
  assert.equal(launch(device, [1, 1, 1], [1000, 1, 1]), []);
  const { constants, code } = of(asked, 'program').at(-1)!;
  assert.equal(constants, { block_x: 1000, block_y: 1, block_z: 1, group_threads: 250 });
  assert.match(code, /min\(block_threads, 4u \* group_threads\)/);
});

test('failures are diagnostics: of the compiler, of a launch, and of one that does not end', () => {
  const no = (why: string): Answer => ({ isGood: false, why, notes: ['line 3: what is this'] });
  assert.equal(launch(told({ program: no('no such type') }).device, [1, 1, 1], [1, 1, 1]), ['CM6052']);
  const { device } = told({ launch: { isGood: false, why: 'the GPU is gone', isLost: true } });
  assert.equal(launch(device, [1, 1, 1], [1, 1, 1]), ['CM6053']);
  const late = told({ launch: undefined as unknown as Answer });
  assert.equal(launch(late.device, [1, 1, 1], [1, 1, 1]), ['CM6020']);
  // Nothing can be had of it any more.
  const diagnostics = new Diagnostics();
  assert.is(late.device.allocate(4, diagnostics), undefined);
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM6012'],
  );
});

test('an adapter that takes every command and does nothing is no device', () => {
  let isClosed = false;
  const memory = new Uint8Array(2 ** 21);
  const connection = (isKept: boolean): Connection => ({
    opened: { name: 'null-backend', limits },
    send(ask) {
      if (isKept && ask.ask === 'write') memory.set(ask.bytes, ask.offset);
    },
    ask(ask) {
      if (ask.ask === 'read') new Uint8Array(ask.into).set(memory.subarray(ask.offset, ask.offset + ask.into.byteLength));
      return { isGood: true };
    },
    close() {
      isClosed = true;
    },
  });
  assert.match(working(connection(false)) as string, /^`null-backend` does not keep what is written/);
  assert.ok(isClosed);
  assert.is((working(connection(true)) as Device).info.name, 'null-backend (WebGPU)');
});

test.run();
