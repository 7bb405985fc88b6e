/**
 * Kernels with simdgroup matrices compiled by Apple's compiler, on the CPU device against their formulas: from MLX, which assembles
 * matrices from the elements of each lane, and from llama.cpp, which loads and stores them. Registered for the files in the folder
 * that CUMETAL_REAL_METALLIBS names.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { randomFractions } from '../support/lcg.ts';
import { needRealFiles, realFiles } from '../support/real.ts';

const test = suite('real kernels with matrices');
const files = realFiles().map((file) => ({
  ...file,
  kernels: new Set(readMetallib(file.bytes, new Diagnostics())?.functions.map((fn) => fn.name) ?? []),
}));

/** Reproducible integers from -9 to 9. */
function numbers(count: number, seed: number): number[] {
  const next = randomFractions(seed);
  return Array.from({ length: count }, () => Math.floor(next() * 19) - 9);
}

const sum = (count: number, term: (i: number) => number): number =>
  Array.from({ length: count }, (_, i) => term(i)).reduce((all, each) => all + each, 0);

interface Launch {
  readonly kernel: string;
  readonly grid: readonly [number, number, number];
  readonly threads: number;
  readonly shared: number;
  readonly args: readonly (Float32Array | BigInt64Array | Int32Array)[];
  /** Indices of the buffers; the other arguments are values. */
  readonly buffers: number;
}

function run(file: Uint8Array, { kernel, grid, threads, shared, args, buffers }: Launch): Float32Array[] {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice();
  const module = device.load(file, diagnostics);
  const bytes = args.map(({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength));
  const given = bytes.map((each, i) => {
    if (i >= buffers) return { kind: 'bytes', bytes: each } as const;
    const buffer = device.allocate(each.length, diagnostics)!;
    buffer.write(each);
    return { kind: 'buffer', buffer } as const;
  });
  const shape = { grid, block: [threads, 1, 1], dynamicSharedBytes: shared } as const;
  const done = module?.launch({ kernel, ...shape, args: given, timeoutMs: 60_000 }, diagnostics);
  assert.ok(done, diagnostics.list.find((d) => d.message.includes(kernel) || d.severity === 'error')?.message);
  const after = given.flatMap((arg) => (arg.kind === 'buffer' ? [new Float32Array(arg.buffer.read().slice().buffer)] : []));
  device.close();
  return after;
}

function overKernel(kernel: string, check: (file: Uint8Array) => void): void {
  for (const file of files) if (file.kernels.has(kernel)) test(`${file.name}: ${kernel}`, () => check(file.bytes));
}

needRealFiles(test, 'kernels with matrices from other compilers');

/** The transform of Winograd's F(6 x 6, 3 x 3). */
const transform: readonly (readonly number[])[] = [
  [1, 0, 0],
  [-2 / 9, -2 / 9, -2 / 9],
  [-2 / 9, 2 / 9, -2 / 9],
  [1 / 90, 1 / 45, 2 / 45],
  [1 / 90, -1 / 45, 2 / 45],
  [32 / 45, 16 / 45, 8 / 45],
  [32 / 45, -16 / 45, 8 / 45],
  [0, 0, 1],
];

overKernel('winograd_conv_2d_weight_transform_float32_bc32', (file) => {
  const [channels, filters] = [64, 8];
  const weights = numbers(filters * 9 * channels, 1);
  const args = [Float32Array.from(weights), new Float32Array(64 * channels * filters), Int32Array.of(channels), Int32Array.of(filters)];
  const launch = {
    kernel: 'winograd_conv_2d_weight_transform_float32_bc32',
    grid: [filters / 4, 1, 1],
    threads: 128,
    shared: 0,
    args,
    buffers: 2,
  } as const;
  const [, found] = run(file, launch);
  for (const [i, x] of found!.entries()) {
    const [filter, channel, at] = [i % filters, Math.floor(i / filters) % channels, Math.floor(i / filters / channels)];
    const [row, column] = [Math.floor(at / 8), at % 8];
    const weight = (h: number, w: number): number => weights[((filter * 3 + h) * 3 + w) * channels + channel]!;
    const expected = sum(
      9,
      (hw) => transform[row]![Math.floor(hw / 3)]! * weight(Math.floor(hw / 3), hw % 3) * transform[column]![hw % 3]!,
    );
    assert.ok(Math.abs(x - expected) < 1e-4, `element ${i} is ${x}, not ${expected}`);
  }
});

overKernel('kernel_mul_mm_f32_f32', (file) => {
  const [k, rows, columns] = [96, 128, 64];
  const [a, b] = [numbers(rows * k, 2), numbers(columns * k, 3)];
  const long = (x: number): BigInt64Array => BigInt64Array.of(BigInt(x));
  const buffers = [Float32Array.from(a), Float32Array.from(b), new Float32Array(rows * columns)];
  const values = [k, 1, 4 * k, 4 * k * rows, 1, 4, 4 * k, 4 * k * columns, rows, columns].map(long);
  const launch = {
    kernel: 'kernel_mul_mm_f32_f32',
    grid: [columns / 32, rows / 64, 1],
    threads: 128,
    shared: 8192,
    args: [...buffers, ...values, Int32Array.of(1), Int32Array.of(1)],
    buffers: 3,
  } as const;
  const found = run(file, launch)[2]!;
  const expected = Array.from({ length: rows * columns }, (_, at) => {
    const [row, column] = [at % rows, Math.floor(at / rows)];
    return sum(k, (i) => a[row * k + i]! * b[column * k + i]!);
  });
  assert.equal([...found], expected);
});

test.run();
