/**
 * Recursion, the heap, launches by kernels and barriers of the grid on other devices than the CPU device: what they leave is what it leaves. The text for Metal runs as
 * threads of a C++ program.
 */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, toLegalIr } from '../../src/compile/index.ts';
import { type Device, type LaunchArgument, openCpuDevice } from '../../src/device/index.ts';
import { openOpenclDevice, systemOpencl } from '../../src/device/opencl/index.ts';
import { suppliedFor } from '../../src/device/supplied.ts';
import { stackBytes } from '../../src/ir/index.ts';
import { mslFile, mslKernel } from '../../src/text/index.ts';
import { buildStandIn, compiler } from '../support/msl/run.ts';

const test = suite('device/services');
const fileOf = (name: string): SourceFile =>
  new SourceFile(name, readFileSync(new URL(`../../fixtures/linking/${name}`, import.meta.url), 'utf8'));

interface Case {
  readonly file: string;
  readonly kernel: string;
  readonly threads: number;
  /** Words of each buffer, and the values behind them. */
  readonly words: number;
  readonly buffers?: number;
  readonly values?: readonly number[];
  /** Blocks of a cooperative launch. */
  readonly blocks?: number;
}

const shapeOf = ({ threads, blocks = 1 }: Case) =>
  ({ grid: [blocks, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000, heapBytes: 1 << 16 }) as const;
const valuesOf = ({ values = [] }: Case) => values.map((value) => new Uint8Array(Int32Array.of(value).buffer));

/** The words that a kernel leaves on a device, and what is reported. */
function run(device: Device, target: 'cpu' | 'macos15', one: Case): { words: number[]; said: string[] } {
  const diagnostics = new Diagnostics(fileOf(one.file));
  const entries = one.file === 'cdp.ptx' ? undefined : [one.kernel];
  const compiled = compile(diagnostics.file!, { target, ...(entries ? { entries } : {}) }, diagnostics);
  const module = compiled && device.load(compiled.metallib, diagnostics, { kernels: [one.kernel] });
  const buffers = Array.from({ length: one.buffers ?? 1 }, () => device.allocate(4 * one.words, diagnostics)!);
  if (buffers.length > 1) buffers[0]!.write(new Uint8Array(Int32Array.from({ length: one.words }, (_, i) => i * 77 + 5).buffer));
  const args: LaunchArgument[] = buffers.map((buffer) => ({ kind: 'buffer', buffer }));
  args.push(...valuesOf(one).map((bytes) => ({ kind: 'bytes', bytes }) as const));
  module?.launch({ kernel: one.kernel, ...shapeOf(one), cooperative: one.blocks !== undefined, args }, diagnostics);
  const words = buffers.flatMap((buffer) => [...new Int32Array(buffer.read().slice().buffer)]);
  device.close();
  return { words, said: diagnostics.list.map(({ code, message }) => `${code} ${message}`) };
}

const onCpu = (one: Case): { words: number[]; said: string[] } => run(openCpuDevice({ threads: 1 }), 'cpu', one);

const fib: Case = { file: 'recursion.ptx', kernel: '_Z4fibsPi', threads: 12, words: 16 };
const levels: Case = { file: 'recursion.ptx', kernel: '_Z6levelsPi', threads: 64, words: 64 };
const arrays: Case = { file: 'heap.ptx', kernel: '_Z6arraysPfi', threads: 16, words: 16, values: [10] };
const stack: Case = { file: 'heap.ptx', kernel: '_Z5stackPj', threads: 16, words: 16 };
const launching: Case = { file: 'cdp.ptx', kernel: '_Z9recursivePii', threads: 1, words: 1, values: [5] };

const rounds: Case = { file: 'grid.ptx', kernel: '_Z6roundsPjS_ii', threads: 33, blocks: 3, buffers: 2, words: 98, values: [98, 5] };

for (const one of [fib, levels, arrays, stack, rounds])
  test(`a library for Apple GPUs: ${one.kernel}`, () => {
    const expected = onCpu(one);
    assert.equal(expected.said, []);
    assert.ok(expected.words.some((word) => word !== 0));
    assert.equal(run(openCpuDevice({ threads: 1 }), 'macos15', one), expected);
  });

/** The words that the text for Metal leaves. */
function runText(one: Case): number[] {
  const diagnostics = new Diagnostics(fileOf(one.file));
  const source = diagnostics.file!;
  const [kernel] = toLegalIr(source, { target: 'macos15', entries: [one.kernel] }, diagnostics)!.kernels;
  const text = mslKernel(kernel!, diagnostics, { source, target: 'macos15' });
  assert.equal(diagnostics.list, []);
  const built = buildStandIn(mslFile([text]), text);
  if (typeof built === 'string') throw new Error(built);
  const values = valuesOf(one);
  const request = { kernel: one.kernel, ...shapeOf(one), args: [] };
  const bytes = text.arguments.flatMap((argument) => {
    if (!('param' in argument)) return [];
    const supplied = suppliedFor(kernel!.params[argument.param]!, { request, kernels: [], stackBytes });
    if (!supplied) return [argument.kind === 'buffer' ? new Uint8Array(4 * one.words) : values.shift()!];
    const memory = new Uint8Array(supplied.bytes);
    memory.set(supplied.start);
    return [memory];
  });
  try {
    return [...new Int32Array(built.run({ ...shapeOf(one), bytes })[0]!.slice().buffer)];
  } finally {
    built.remove();
  }
}

if (compiler) for (const one of [fib, arrays]) test(`text for Metal: ${one.kernel}`, () => assert.equal(runText(one), onCpu(one).words));
else test.skip('text for Metal: there is no C++ compiler');

const { binding, failures } = systemOpencl();
if (binding) {
  for (const one of [fib, launching, rounds])
    test(`on an OpenCL device: ${one.kernel}`, () => {
      assert.equal(run(openOpenclDevice(binding) as Device, 'cpu', one), onCpu(one));
    });

  test('CM6032: blocks that wait for what none of them writes', () => {
    const wait = `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 to) { .reg .b64 %d<5>; .reg .b32 %r<5>; .reg .pred %p;
      mov.b32 %r1, %envreg2; mov.b32 %r2, %envreg1; mov.b64 %d1, {%r1, %r2}; ld.param.u64 %d2, [to]; mov.u32 %r3, %ctaid.x; setp.eq.u32 %p, %r3, 0; @%p ret;
      L: ld.volatile.u32 %r4, [%d1+8]; setp.eq.u32 %p, %r4, 0; @%p bra L; st.global.u32 [%d2], %r4; ret; }`;
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', wait));
    const device = openOpenclDevice(binding) as Device;
    const module = device.load(compile(diagnostics.file!, { target: 'cpu' }, diagnostics)!.metallib, diagnostics)!;
    const buffer = device.allocate(4, diagnostics)!;
    const shape = { grid: [3, 1, 1], block: [2, 1, 1], dynamicSharedBytes: 0, timeoutMs: 60_000, cooperative: true } as const;
    module.launch({ kernel: 'k', ...shape, args: [{ kind: 'buffer', buffer }] }, diagnostics);
    device.close();
    assert.match(
      diagnostics.list.map(({ code, message }) => `${code} ${message}`).join(),
      /^CM6032 .*block \(1, 0, 0\) at thread \(0, 0, 0\)/,
    );
  });
} else test.skip(`on an OpenCL device: ${failures.join('; ') || 'no OpenCL on this platform'}`);

test.run();
