/**
 * Kernels of machine-learning libraries (MLX, llama.cpp) compiled by Apple's compiler, on the CPU device against their formulas in
 * double precision. Registered for the files in the folder that CUMETAL_REAL_METALLIBS names.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { f16Bits, f16Value } from '../../src/base/float.ts';
import { readMetallib } from '../../src/metallib/index.ts';
import { type Launched, launchMetallib } from '../support/launch.ts';
import { randomWords } from '../support/lcg.ts';
import { needRealFiles, realFiles } from '../support/real.ts';

const test = suite('real kernels of models');
const files = realFiles().map((file) => ({
  ...file,
  kernels: new Set(readMetallib(file.bytes, new Diagnostics())?.functions.map((fn) => fn.name) ?? []),
}));

type Args = Launched['args'];
const bytes = ({ buffer }: { buffer: ArrayBufferLike }): { bytes: Uint8Array } => ({ bytes: new Uint8Array(buffer as ArrayBuffer) });
const f32 = (x: number): Args[number] => bytes(Float32Array.of(x));
const long = (x: number): Args[number] => bytes(BigInt64Array.of(BigInt(x)));

/** Reproducible values from -1 to 1. */
function numbers(count: number, seed: number, scale = 1): Float32Array {
  const next = randomWords(seed);
  return Float32Array.from({ length: count }, () => (next() / 2 ** 31 - 1) * scale);
}

/** Launches a kernel of each file that has it; `check` gets the content of buffer `out` afterwards. */
function overKernel(kernel: string, launch: Omit<Launched, 'kernel'>, out: number, check: (found: Uint8Array) => void): void {
  for (const file of files)
    if (file.kernels.has(kernel))
      test(`${file.name}: ${kernel}`, () => check(launchMetallib(file.bytes, { kernel, ...launch })[out]!.slice()));
}

const near =
  (expected: readonly number[], tolerance = 1e-5) =>
  (found: Uint8Array): void => {
    const floats = new Float32Array(found.buffer);
    expected.forEach((value, i) => {
      assert.ok(Math.abs(floats[i]! - value) <= tolerance * Math.max(1, Math.abs(value)), `element ${i} is ${floats[i]}, not ${value}`);
    });
  };

const sum = (values: Iterable<number>): number => [...values].reduce((a, b) => a + b, 0);
const softmax = (scores: readonly number[]): number[] => {
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  return powers.map((power) => power / sum(powers));
};

needRealFiles(test, 'kernels of machine-learning libraries from other compilers');

const [width, rows] = [1000, 3];
const [x, w, shift] = [numbers(width * rows, 1), numbers(width, 2), numbers(width, 3)];
const row = (r: number): number[] => [...x.subarray(r * width, (r + 1) * width)];
const eachRow = (of: (values: number[]) => number[]): number[] => Array.from({ length: rows }, (_, r) => of(row(r))).flat();

overKernel(
  'rmsfloat32',
  {
    blocks: rows,
    threads: 256,
    args: [x, w, new Float32Array(width * rows), f32(1e-5), width, 1],
    constants: [{ constant: 20, value: true }],
  },
  2,
  near(eachRow((values) => values.map((v, i) => (v * w[i]!) / Math.sqrt(sum(values.map((u) => u * u)) / width + 1e-5)))),
);

overKernel(
  'layer_normfloat32',
  { blocks: rows, threads: 128, args: [x, w, shift, new Float32Array(width * rows), f32(1e-5), width, 1, 1] },
  3,
  near(
    eachRow((values) => {
      const mean = sum(values) / width;
      const spread = Math.sqrt(sum(values.map((v) => (v - mean) ** 2)) / width + 1e-5);
      return values.map((v, i) => ((v - mean) / spread) * w[i]! + shift[i]!);
    }),
  ),
);

overKernel(
  'argmax_float32',
  {
    blocks: 1,
    threads: 256,
    args: [x, new Uint32Array(1), Int32Array.of(1), BigInt64Array.of(0n), BigInt64Array.of(0n), 0n, 1n, BigInt(width)],
  },
  1,
  (found) => assert.is(new Uint32Array(found.buffer)[0], row(0).indexOf(Math.max(...row(0)))),
);

const [size, keys, heads] = [64, 37, 2];
const [query, key, value] = [numbers(heads * size, 4), numbers(heads * keys * size, 5), numbers(heads * keys * size, 6)];
overKernel(
  'sdpa_vector_float_64_64',
  {
    blocks: heads,
    threads: 1024,
    constants: ['has_mask', 'query_transposed', 'do_causal', 'bool_mask', 'float_mask', 'has_sinks'].map((constant) => ({
      constant,
      value: false,
    })),
    args: [query, key, value, new Float32Array(heads * size), 1, keys, ...[keys * size, size, keys * size, size].map(long), f32(0.125)],
  },
  3,
  near(
    Array.from({ length: heads }, (_, h) => {
      const at = (of: Float32Array, j: number, i: number): number => of[(h * keys + j) * size + i]!;
      const all = Array.from({ length: size }, (_, i) => i);
      const weights = softmax(Array.from({ length: keys }, (_, j) => 0.125 * sum(all.map((i) => query[h * size + i]! * at(key, j, i)))));
      return all.map((i) => sum(weights.map((weight, j) => weight * at(value, j, i))));
    }).flat(),
  ),
);

const scores = numbers(333, 7, 5);
const mask = numbers(333, 8);
overKernel(
  'kernel_soft_max_f32',
  {
    blocks: 1,
    threads: 96,
    shared: 128,
    args: [scores, mask, new Float32Array(333), 333n, 1n, 1n, f32(0.5), f32(0), f32(1), f32(1), 0],
  },
  2,
  near(softmax([...scores].map((v, i) => v * 0.5 + mask[i]!))),
);

overKernel(
  'kernel_rms_norm',
  { blocks: 1, threads: 64, shared: 128, args: [scores, new Float32Array(320), 320n, 1280n, f32(1e-6)] },
  1,
  near([...scores.subarray(0, 320)].map((v) => v / Math.sqrt(sum([...scores.subarray(0, 320)].map((u) => u * u)) / 320 + 1e-6))),
);

overKernel(
  'kernel_gelu',
  { blocks: 333, threads: 1, args: [scores, new Float32Array(333)] },
  1,
  near([...scores].map((v) => 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * v * (1 + 0.044715 * v * v))))),
);

overKernel(
  'kernel_argsort_f32_i32_asc',
  { blocks: 1, threads: 64, shared: 256, args: [scores, new Int32Array(64), 64n, 64n] },
  1,
  (found) =>
    assert.equal(
      [...new Int32Array(found.buffer)],
      [...scores.subarray(0, 64).keys()].sort((a, b) => scores[a]! - scores[b]!),
    ),
);

/** Rows of blocks of 32 4-bit values with one f16 scale: the first 16 in the low halves of bytes. */
function quantized(count: number, columns: number): { data: Uint8Array; values: number[] } {
  const random = numbers(count * columns * 2, 9);
  const data = new Uint8Array((count * columns * 18) / 32);
  const values: number[] = [];
  for (let block = 0; block < (count * columns) / 32; block++) {
    const scale = f16Bits(random[block]! * 0.1);
    new DataView(data.buffer).setUint16(block * 18, scale, true);
    const digits = Array.from({ length: 32 }, (_, i) => Math.floor((random[count * columns + block * 32 + i]! + 1) * 8) & 15);
    for (let i = 0; i < 16; i++) data[block * 18 + 2 + i] = digits[i]! | (digits[i + 16]! << 4);
    values.push(...digits.map((digit) => (digit - 8) * f16Value(scale)));
  }
  return { data, values };
}

const matrix = quantized(8, 256);
const vector = numbers(256, 10);
overKernel(
  'kernel_mul_mv_q4_0_f32',
  {
    blocks: 1,
    threads: 64,
    args: [matrix.data, vector, new Float32Array(8), ...[256, 8, 1, 18, 144, 1152, 256, 1, 1, 4, 1024, 1024, 8, 1].map(long), 1, 1],
  },
  2,
  near(
    Array.from({ length: 8 }, (_, r) => sum(vector.map((v, i) => v * matrix.values[r * 256 + i]!))),
    1e-4,
  ),
);

test.run();
