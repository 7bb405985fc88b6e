/**
 * The WebGPU device: the device contract with an installed package and a driver, where there are both; and by a GPU that answers as it is told:
 * the arena, grids in parts, larger blocks, and failures.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import type { Device } from '../../src/device/index.ts';
import type { Connection } from '../../src/device/webgpu/connection.ts';
import { deviceOf, openWebgpuDevice, working } from '../../src/device/webgpu/index.ts';
import type { Answer, Ask } from '../../src/device/webgpu/worker/messages.ts';
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
  contract(test, { name: 'webgpu', open, launches: 100, lacksWideAtomics: true });
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

function told(answers: Partial<Record<Ask['ask'], Answer>>): { device: Device; asked: Ask[] } {
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
  return { device: deviceOf(connection), asked };
}

const kernel = '.visible .entry k(.param .u64 to) { .reg .b64 p; ld.param.u64 p, [to]; st.global.u64 [p], p; ret; }';

function launch(device: Device, grid: readonly [number, number, number], block: readonly [number, number, number]): string[] {
  const diagnostics = new Diagnostics();
  const module = device.load(libraryOf(kernel), diagnostics)!;
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

test('a grid that is too large for a dispatch is launched in parts, each with its place', () => {
  const { device, asked } = told({});
  assert.equal(launch(device, [250, 1, 101], [32, 1, 1]), []);
  const { dispatches } = of(asked, 'launch').at(-1)!;
  const parts = dispatches.map(({ groups, words }) => [...groups, ...new Uint32Array(words.buffer, 0, 6)]);
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
