/**
 * The OpenCL device: the device contract on a driver of this machine, where there is one; warps whose threads stand apart; and failures of a driver,
 * by one that refuses.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { Device } from '../../src/device/index.ts';
import { openOpenclDevice, systemOpencl } from '../../src/device/opencl/index.ts';
import type { ClHandle, OpenclBinding } from '../../src/ffi/index.ts';
import { ptx } from '../support/async.ts';
import { handed, handedExpected, ring, ringExpected, single, singleExpected } from '../support/barrier-kernels.ts';
import { runUnequal, unequalExpected } from '../support/clusters.ts';
import { contract, libraryOf } from '../support/device-contract.ts';
import { arms, armsExpected, ops, opsExpected, stuck } from '../support/warp-ops.ts';

const test = suite('device/opencl');

const { binding, failures } = systemOpencl();

function open(): Device {
  const device = openOpenclDevice(binding!);
  if (typeof device === 'string') throw new Error(device);
  return device;
}

/** Words that a kernel of one warp stores, compiled for `cpu`, and the codes that are reported. */
function warp(ptx: string, words: number): { words: number[]; codes: string[] } {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx));
  const compiled = compile(diagnostics.file!, { target: 'cpu' }, diagnostics)!;
  const device = open();
  const module = device.load(compiled.metallib, diagnostics)!;
  const buffer = device.allocate(4 * words, diagnostics)!;
  const shape = { grid: [1, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
  module.launch({ kernel: module.kernels[0]!.name, ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
  const found = [...new Uint32Array(buffer.read().buffer)];
  device.close();
  return { words: found, codes: diagnostics.list.map(({ code }) => code) };
}

if (binding) {
  contract(test, { name: 'opencl', open, launches: 200 });

  test('shifts, quotients and warp operations', () => {
    const expected = opsExpected();
    assert.equal(warp(ops, expected.length), { words: expected, codes: [] });
  });

  test('blocks of a cluster wait for each other, and for themselves alone, in one work-group', () => {
    const device = open();
    assert.equal(runUnequal(device, { target: 'cpu', isForText: true }), { words: unequalExpected(8, 4, 40), codes: [] });
    device.close();
  });

  test('threads of a warp meet by masks in both arms of a branch', () => {
    const expected = armsExpected();
    assert.equal(warp(arms, expected.length), { words: expected, codes: [] });
  });

  test('shuffles, votes and sums in the arms of a branch that whole warps take', () => {
    const sums = [1, 2, 4, 8, 16].map((n) => `shfl.sync.bfly.b32 y, x, ${n}, 31, -1; add.u32 x, x, y;`).join('\n');
    const text = `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)
{
  .reg .b32 t, x, y; .reg .b64 p, q; .reg .pred c, d;
  ld.param.u64 p, [out]; mov.u32 t, %tid.x; mov.u32 x, t; setp.lt.u32 c, t, 32; @c bra LOW;
  ${sums} redux.sync.max.u32 y, t, -1; mad.lo.u32 x, y, 10000, x; bra DONE;
  LOW: and.b32 y, t, 1; setp.eq.u32 d, y, 1; vote.sync.ballot.b32 x, d, -1; redux.sync.min.u32 y, x, -1; xor.b32 x, x, y; add.u32 x, x, t;
  DONE: mul.wide.u32 q, t, 4; add.u64 q, q, p; st.global.u32 [q], x; ret;
}`;
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
    const device = open();
    const module = device.load(compile(diagnostics.file!, { target: 'cpu' }, diagnostics)!.metallib, diagnostics)!;
    const buffer = device.allocate(4 * 96, diagnostics)!;
    const shape = { grid: [1, 1, 1], block: [96, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
    module.launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
    const found = [...new Uint32Array(buffer.read().buffer)];
    device.close();
    assert.equal(diagnostics.list, []);
    // The sum of a warp is that of its 32 numbers, and its largest the last.
    const high = (first: number): number => (first + 31) * 10_000 + 32 * first + 496;
    const expected = Array.from({ length: 96 }, (_, t) => (t < 32 ? t : high(t & ~31)));
    assert.equal(found, expected);
  });

  test('warps that wait for each other at barriers in memory and for some of the threads, and clusters of one block', () => {
    const cases = [
      { body: ring, threads: 96, expected: ringExpected },
      { body: handed, threads: 128, expected: handedExpected },
      { body: single, threads: 64, expected: singleExpected },
    ];
    const device = open();
    for (const { body, threads, expected } of cases) {
      const diagnostics = new Diagnostics(new SourceFile('k.ptx', ptx(body, { shared: 512 })));
      const compiled = compile(diagnostics.file!, { target: 'cpu', isForText: true }, diagnostics)!;
      const module = device.load(compiled.metallib, diagnostics)!;
      const buffer = device.allocate(4 * expected.length, diagnostics)!;
      const shape = { block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000 } as const;
      const grid = [expected === singleExpected ? 2 : 1, 1, 1] as const;
      module.launch({ kernel: 'k', ...shape, grid, args: [{ kind: 'buffer', buffer }] }, diagnostics);
      assert.equal(diagnostics.list, []);
      assert.equal([...new Int32Array(buffer.read().slice().buffer)], expected);
    }
    device.close();
  });

  test('threads that wait for others that never come are CM6031', () => assert.equal(warp(stuck, 1).codes, ['CM6031']));
} else test.skip(`the contract on a driver: ${failures.join('; ') || 'no OpenCL on this platform'}`);

// ── a driver that refuses ──

const handle = 1 as ClHandle;

/** A driver without memory or compiler of its own. */
const refusing = (own: Partial<OpenclBinding>): OpenclBinding =>
  ({
    lastFault: () => ({ call: 'clBuildProgram', name: 'CL_BUILD_PROGRAM_FAILURE' }),
    deviceText: () => 'a device',
    deviceNumber: () => 2 ** 20,
    deviceSizes: () => [1024, 1024, 1024],
    context: () => handle,
    queue: () => handle,
    allocate: () => 4096,
    fill: () => true,
    write: () => true,
    free: () => undefined,
    releaseContext: () => undefined,
    releaseQueue: () => undefined,
    releaseKernel: () => undefined,
    releaseProgram: () => undefined,
    ...own,
  }) as OpenclBinding;

const kernel = '.visible .entry k(.param .u32 n) { ret; }';

function launchOn(own: Partial<OpenclBinding>): Diagnostics {
  const device = openOpenclDevice(refusing(own), handle) as Device;
  const diagnostics = new Diagnostics();
  const module = device.load(libraryOf(kernel), diagnostics)!;
  const args = [{ kind: 'bytes', bytes: new Uint8Array(4) }] as const;
  module.launch({ kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, timeoutMs: 0, args }, diagnostics);
  device.close();
  return diagnostics;
}

test('a program that the driver does not compile is CM6050, with the log', () => {
  const { list } = launchOn({ program: () => ({ log: 'error: no such type\n\nin line 3\n' }) });
  assert.equal(
    list.map(({ code }) => code),
    ['CM6050'],
  );
  assert.match(list[0]!.message, 'CL_BUILD_PROGRAM_FAILURE');
  assert.equal(list[0]!.notes, ['error: no such type', 'in line 3']);
});

test('a launch that the driver refuses is CM6051', () => {
  const { list } = launchOn({
    program: () => handle,
    kernel: () => handle,
    kernelThreads: () => 1024,
    launch: () => undefined,
    lastFault: () => ({ call: 'clEnqueueNDRangeKernel', name: 'CL_OUT_OF_RESOURCES' }),
  });
  assert.equal(
    list.map(({ code }) => code),
    ['CM6051'],
  );
  assert.match(list[0]!.message, /`k` in `clEnqueueNDRangeKernel`: CL_OUT_OF_RESOURCES/);
});

test('a block of more threads than the driver allows for a kernel is CM5021', () => {
  const { list } = launchOn({ program: () => handle, kernel: () => handle, kernelThreads: () => 0.5 });
  assert.equal(
    list.map(({ code }) => code),
    ['CM5021'],
  );
});

test.run();
