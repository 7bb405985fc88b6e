/** Epilogues of cuBLASLt's products that keep or read memory of their own, against JavaScript in f64. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KernelBuffer } from '../../src/api/index.ts';
import * as cublas from '../../src/cublas/index.ts';
import { Device } from '../../src/index.ts';
import { close, numbers } from '../support/library.ts';

const test = suite('libraries/cublaslt');
const device = Device.open('cpu', { print: false });
const handle = cublas.cublasCreate(device);
test.after(() => device.close());

const sumOfReals = (n: number, of: (i: number) => number): number => Array.from({ length: n }, (_, i) => of(i)).reduce((x, y) => x + y, 0);

const gelu = (x: number): number => 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
/** The derivative by a difference of fourth order, whose error is below 1e-11 here. */
const geluSlope = (x: number): number => (8 * (gelu(x + 1e-3) - gelu(x - 1e-3)) - (gelu(x + 2e-3) - gelu(x - 2e-3))) / 12e-3;

test('cublasLtMatmul: functions that keep their argument, their backward passes, and gradients of a bias', async () => {
  // More than a word of a mask, and no multiple of one; matrices of a batch apart from each other.
  const [m, n, k, batch, ldd] = [37, 5, 9, 2, 40];
  const strideD = ldd * n + 3;
  const [av, bv, biasV] = [numbers(batch * m * k, 60), numbers(batch * k * n, 61), numbers(m, 62)];
  const sumAt = (z: number, row: number, column: number): number => {
    let sum = 0;
    for (let q = 0; q < k; q++) sum += av[z * m * k + q * m + row]! * bv[z * k * n + column * k + q]!;
    return 2 * sum;
  };
  const [a, b] = [device.bufferOf('f32', av), device.bufferOf('f32', bv)] as unknown as KernelBuffer[];
  const of = (rows: number, cols: number, ld: number, stride: number) =>
    cublas.cublasLtMatrixLayoutCreate('f32', rows, cols, ld, { batchCount: batch, stridedBatchOffset: stride });
  const run = (epilogue: cublas.Epilogue, more: object, count = batch): KernelBuffer<'f32'> => {
    const d = device.bufferOf('f32', new Float32Array(batch * strideD).fill(7));
    const desc = cublas.cublasLtMatmulDescCreate('32F', { epilogue, ...more });
    const D = { ...of(m, n, ldd, strideD), batchCount: count };
    cublas.cublasLtMatmul(handle, desc, 2, a!, of(m, k, m, m * k), b!, of(k, n, k, k * n), 0, d as never, D, d as never, D);
    return d;
  };
  /** Compares all of D, whose gaps stay as they were. */
  const expect = async (d: KernelBuffer<'f32'>, what: string, value: (z: number, row: number, column: number) => number): Promise<void> => {
    const expected = new Float64Array(batch * strideD).fill(7);
    for (let z = 0; z < batch; z++)
      for (let i = 0; i < m * n; i++) expected[z * strideD + Math.floor(i / m) * ldd + (i % m)] = value(z, i % m, Math.floor(i / m));
    close(await d.read(), expected, 3e-6, what, 4);
  };
  const bias = device.bufferOf('f32', biasV) as unknown as KernelBuffer;
  const maskStride = 128 * n + 128;
  const mask = device.bufferOf('u8', new Uint8Array((batch * maskStride) / 8).fill(0xff)) as unknown as KernelBuffer;
  const ofMask = { aux: mask, auxLd: 128, auxBatchStride: maskStride };
  await expect(run('RELU_AUX_BIAS', { bias, ...ofMask }), 'RELU_AUX_BIAS', (z, r, c) => Math.max(0, sumAt(z, r, c) + biasV[r]!));
  const bits = (await mask.read()) as unknown as Uint8Array;
  const isSet = (z: number, r: number, c: number): boolean => {
    const at = z * maskStride + c * 128 + r;
    return ((bits[at >> 3]! >> (at & 7)) & 1) === 1;
  };
  for (let z = 0; z < batch; z++)
    for (let c = 0; c < n; c++)
      for (let r = 0; r < 64; r++) assert.is(isSet(z, r, c), r < m && sumAt(z, r, c) + biasV[r]! > 0, `bit ${r} of column ${c} of ${z}`);
  await expect(run('DRELU', ofMask), 'DRELU', (z, r, c) => (isSet(z, r, c) ? sumAt(z, r, c) : 0));
  const arguments_ = device.bufferOf('f32', new Float32Array(batch * (40 * n + 8))) as unknown as KernelBuffer;
  const ofArguments = { aux: arguments_, auxLd: 40, auxBatchStride: 40 * n + 8 };
  await expect(run('GELU_AUX_BIAS', { bias, ...ofArguments }), 'GELU_AUX_BIAS', (z, r, c) => gelu(sumAt(z, r, c) + biasV[r]!));
  const found = (await arguments_.read()) as unknown as Float32Array;
  close(
    Array.from({ length: m }, (_, r) => found[40 * n + 8 + 2 * 40 + r]!),
    Array.from({ length: m }, (_, r) => sumAt(1, r, 2) + biasV[r]!),
    3e-6,
    'arguments',
    4,
  );
  await expect(run('DGELU', ofArguments), 'DGELU', (z, r, c) => sumAt(z, r, c) * geluSlope(sumAt(z, r, c) + biasV[r]!));
  // Gradients of the bias: of the rows of D, of A and of the columns of B, of the first matrices.
  for (const [epilogue, more, length, value] of [
    ['DRELU_BGRAD', ofMask, m, (r: number) => sumOfReals(n, (c) => (isSet(0, r, c) ? sumAt(0, r, c) : 0))],
    ['DGELU_BGRAD', ofArguments, m, (r: number) => sumOfReals(n, (c) => sumAt(0, r, c) * geluSlope(sumAt(0, r, c) + biasV[r]!))],
    ['BGRADA', {}, m, (r: number) => sumOfReals(k, (q) => av[q * m + r]!)],
    ['BGRADB', {}, n, (c: number) => sumOfReals(k, (q) => bv[c * k + q]!)],
  ] as const) {
    const gradient = device.allocate('f32', length);
    run(epilogue, { ...more, bias: gradient }, 1);
    close(
      await gradient.read(),
      Array.from({ length }, (_, i) => value(i)),
      1e-5,
      epilogue,
      4,
    );
  }
});

test('cublasLtMatmul: transposed factors and other types of epilogues with memory', async () => {
  const [m, n, k] = [6, 4, 5];
  const [av, bv] = [numbers(m * k, 63), numbers(k * n, 64)];
  for (const type of ['f32', 'f64', 'f16', 'bf16'] as const) {
    const [a, b, d] = [device.bufferOf(type, [...av]), device.bufferOf(type, [...bv]), device.allocate(type, m * n)];
    const [left, right] = [await a.read(), await b.read()];
    const of = (rows: number, cols: number) => cublas.cublasLtMatrixLayoutCreate(type, rows, cols, rows);
    const sums = type === 'f64' ? 'f64' : 'f32';
    for (const [epilogue, count] of [
      ['BGRADA', m],
      ['BGRADB', n],
    ] as const) {
      const bias = device.allocate(sums, count);
      const desc = cublas.cublasLtMatmulDescCreate(type === 'f64' ? '64F' : '32F', {
        transA: 'T',
        transB: 'T',
        epilogue,
        bias: bias as never,
      });
      cublas.cublasLtMatmul(handle, desc, 1, a as never, of(k, m), b as never, of(n, k), 0, d as never, of(m, n), d as never, of(m, n));
      const expected = Array.from({ length: count }, (_, i) =>
        sumOfReals(k, (q) => (epilogue === 'BGRADA' ? left[i * k + q]! : right[q * n + i]!)),
      );
      close(await bias.read(), expected, 1e-6, `${epilogue} ${type}`, 4);
    }
    const mask = device.allocate('u32', 4 * n) as unknown as KernelBuffer;
    const desc = cublas.cublasLtMatmulDescCreate(type === 'f64' ? '64F' : '32F', {
      transA: 'T',
      transB: 'T',
      epilogue: 'RELU_AUX',
      aux: mask,
      auxLd: 128,
    });
    cublas.cublasLtMatmul(handle, desc, 1, a as never, of(k, m), b as never, of(n, k), 0, d as never, of(m, n), d as never, of(m, n));
    const product = Array.from({ length: m * n }, (_, i) =>
      sumOfReals(k, (q) => left[(i % m) * k + q]! * right[q * n + Math.floor(i / m)]!),
    );
    close(
      (await d.read()) as never,
      product.map((x) => Math.max(0, x)),
      type === 'bf16' ? 2 ** -8 : type === 'f16' ? 2 ** -11 : 2e-6,
      `RELU_AUX ${type}`,
      4,
    );
  }
});

test('cublasLtMatmul: what does not fit an epilogue is refused', () => {
  const [x, z] = [device.allocate('f32', 64), device.allocate('f64', 64)] as unknown as KernelBuffer[];
  const call =
    (desc: object, type: 'f32' | 'f64' = 'f32', batchCount = 1) =>
    () => {
      const layout = cublas.cublasLtMatrixLayoutCreate(type, 4, 4, 4, { batchCount, stridedBatchOffset: 16 });
      const [of, computeType] = type === 'f32' ? [x!, '32F' as const] : [z!, '64F' as const];
      cublas.cublasLtMatmul(handle, { computeType, ...desc }, 1, of, layout, of, layout, 0, of, layout, of, layout);
    };
  const aux = device.allocate('f32', 8) as unknown as KernelBuffer;
  assert.throws(call({ epilogue: 'RELU_AUX' }), /RELU_AUX needs `aux`/);
  assert.throws(call({ epilogue: 'RELU', aux, auxLd: 128 }), /RELU has no `aux`/);
  assert.throws(call({ epilogue: 'RELU_AUX', aux, auxLd: 64 }), /no multiples of 128/);
  assert.throws(call({ epilogue: 'GELU_AUX', aux, auxLd: 4 }), /no multiples of 8/);
  assert.throws(call({ epilogue: 'RELU_AUX', aux, auxLd: 128 }), /`aux` has 32 bytes, and 52 are needed/);
  assert.throws(call({ epilogue: 'GELU_AUX', aux, auxLd: 8 }), /`aux` has 32 bytes, and 28 elements are needed/);
  assert.throws(call({ epilogue: 'DGELU', aux: z, auxLd: 8 }, 'f64'), /DGELU is not there for f64/);
  assert.throws(call({ epilogue: 'BGRADB' }), /BGRADB needs a bias/);
  assert.throws(call({ epilogue: 'BGRADB', bias: device.allocate('f32', 3) }), /`bias` has 3 elements, and 4 are needed/);
  assert.throws(call({ epilogue: 'BGRADA', bias: x }, 'f32', 2), /of single matrices/);
});

test.run();
