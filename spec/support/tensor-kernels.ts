/** Comparisons of kernels by tensor cores with f64, over ragged sizes: a spec runs some of them, and `scripts/tensor-kernels.ts` all. */
import type { Device } from '../../src/index.ts';
import {
  attention,
  type CodesName,
  dequantize,
  formats,
  type QuantizedTile,
  quantizedTensorGemm,
  type TensorAttentionOptions,
  tensorAttention,
} from '../../src/kernels/index.ts';
import type { CausalHeads } from './attention.ts';
import { close, numbers } from './library.ts';

/** The sizes of a product. */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly transposed: boolean;
  /** Elements between rows that no row has. */
  readonly pad: number;
}
/** Rows that are aligned to 16 bytes and rows that are not, less and more than a tile. */
export const products: readonly Product[] = [
  { m: 67, n: 72, k: 72, transposed: false, pad: 0 },
  { m: 33, n: 41, k: 70, transposed: false, pad: 1 },
  { m: 72, n: 20, k: 136, transposed: true, pad: 0 },
  { m: 9, n: 70, k: 31, transposed: true, pad: 3 },
];
/** Small tiles. */
export const cores = { mma: { rows: 64, columns: 64, stages: 2, warp: [32, 32] }, wgmma: { rows: 64, columns: 64, stages: 3 } } as const;

/** A number of single precision rounded to 11 bits, ties away from zero: the definition of `cvt.rna.tf32`, of finite numbers. */
export function shortened(value: number): number {
  const words = new Uint32Array(Float32Array.of(value).buffer);
  words[0] = (words[0]! + 0x1000) & ~0x1fff;
  return new Float32Array(words.buffer)[0]!;
}

/** Compares a kernel for products with f64: bias, alpha and beta, in a matrix with more columns than the product. */
export async function assertMultiplies(
  device: Device,
  type: 'f16' | 'bf16' | 'f32' | 'f64' | 'tf32',
  routine: (options: { transposeA: boolean; transposeB: boolean }) => { name: string; launch(on: Device, given: never): unknown },
  { sizes, within }: { readonly sizes: readonly Product[]; readonly within: number },
): Promise<void> {
  for (const { m, n, k, transposed, pad } of sizes) {
    const [lda, ldb, ldc] = [(transposed ? m : k) + pad, (transposed ? k : n) + pad, n + pad];
    const element = type === 'tf32' ? 'f32' : type;
    const [a, b, c] = [numbers((transposed ? k : m) * lda, m), numbers((transposed ? n : k) * ldb, n), numbers(m * ldc, 3)].map((values) =>
      device.bufferOf(element, [...values]),
    );
    const bias = numbers(n, 5);
    const read = type === 'tf32' ? shortened : (value: number): number => value;
    const [left, right] = [Array.from(await a!.read(), read), Array.from(await b!.read(), read)];
    const before = await c!.read();
    const beta = pad === 0 ? 0 : 2;
    const made = routine({ transposeA: transposed, transposeB: transposed });
    const given = { a, b, c, bias: device.bufferOf(type === 'f64' ? 'f64' : 'f32', [...bias]), m, n, k, lda, ldb, ldc, alpha: 0.5, beta };
    made.launch(device, given as never);
    const expected = Array.from(before, (value, i) => {
      const [row, column] = [Math.floor(i / ldc), i % ldc];
      if (column >= n) return value;
      let sum = 0;
      for (let x = 0; x < k; x++)
        sum += left[transposed ? x * lda + row : row * lda + x]! * right[transposed ? column * ldb + x : x * ldb + column]!;
      return 0.5 * sum + beta * value + bias[column]!;
    });
    close(await c!.read(), expected, within, `${made.name}: ${m} x ${n} x ${k}`);
  }
}

/** Bytes of blocks whose halves are finite: the exponents of scales are set. */
function randomBlocks(format: CodesName, count: number): Uint8Array {
  const { bytes } = formats[format];
  const made = Uint8Array.from(numbers(count * bytes, 7), (value) => Math.floor((value + 1) * 127.9));
  const scales = format === 'q6_K' ? [209] : format.endsWith('_K') ? [1, 3] : [1];
  for (let i = 0; i < made.length; i += bytes) for (const at of scales) made[i + at] = 0x20 | (made[i + at]! & 3);
  return made;
}

/** Compares a product of random blocks with that of the weights as `dequantize` gives them. */
export async function assertQuantized(
  device: Device,
  format: CodesName,
  [rows, columns, batch]: readonly [number, number, number],
  { multiprocessors, ...tile }: QuantizedTile & { readonly multiprocessors: number },
): Promise<void> {
  const weights = device.bufferOf('u8', randomBlocks(format, (rows * columns) / formats[format].weights));
  const dense = device.allocate('f32', rows * columns);
  dequantize(format).launch(device, { weights, rows, columns, y: dense });
  const [values, x] = [await dense.read(), numbers(batch * columns, 3)];
  const y = device.allocate('f32', batch * rows);
  quantizedTensorGemm(format, tile, multiprocessors).launch(device, { weights, rows, columns, x: device.bufferOf('f32', x), y, batch });
  const expected = Array.from({ length: batch * rows }, (_, i) => {
    const [vector, row] = [Math.floor(i / rows), i % rows];
    let sum = 0;
    for (let c = 0; c < columns; c++) sum += values[row * columns + c]! * x[vector * columns + c]!;
    return sum;
  });
  close(await y.read(), expected, 2e-6, format, Math.max(...expected.map(Math.abs)));
}

/** Compares attention of halves by tensor cores with the kernel without them, which its own spec compares with f64. */
export async function assertAttends(
  device: Device,
  options: TensorAttentionOptions<'f16'>,
  { causal, ...counts }: CausalHeads,
): Promise<void> {
  const { batch, queries, keys, heads, keyHeads } = counts;
  const { size } = options;
  const [q, k, v] = [
    numbers(batch * queries * heads * size, 1).map((value) => 4 * value),
    numbers(batch * keys * keyHeads * size, 2).map((value) => 2 * value),
    numbers(batch * keys * keyHeads * size, 3),
  ].map((values) => device.bufferOf('f16', values));
  const shared = { q: q!, k: k!, v: v!, ...counts, causal };
  const [y, logSum] = [device.allocate('f16', batch * queries * heads * size), device.allocate('f32', batch * queries * heads)];
  const routine = tensorAttention(options);
  routine.launch(device, { ...shared, y, logSum });
  const [expected, sums] = [device.allocate('f16', y.length), device.allocate('f32', logSum.length)];
  attention({ size, type: { kind: 'scalar', name: 'f16' } }).launch(device, { ...shared, y: expected, logSum: sums });
  // The shares of keys are halves in one of them; both results are.
  close(await y.read(), await expected.read(), 2 ** -10, routine.name);
  close(await logSum.read(), await sums.read(), 4e-6, routine.name);
}
