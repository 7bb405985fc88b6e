/**
 * Rules of BLAS at the edges: what is not read where a factor is 0, no elements, negative steps, and random shapes against the definitions in f64.
 * Source: the reference BLAS of Netlib, whose comments say what "need not be set on input".
 */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f64 } from '../../src/build/index.ts';
import * as cublas from '../../src/cublas/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { gemm } from '../../src/kernels/index.ts';
import { close } from '../support/library.ts';

const test = suite('libraries/cublas-rules');
const device = Device.open('cpu', { print: false });
const handle = cublas.cublasCreate(device);
test.after(() => device.close());

const of = (values: ArrayLike<number>) => device.bufferOf('f64', Float64Array.from(values));
const nans = (count: number) => of(new Float64Array(count).fill(Number.NaN));
const ones = (count: number) => of(new Float64Array(count).fill(1));

type Fill = 'U' | 'L';
/** Products of a matrix of 3 by 3 in each storage with a vector. */
const vectorProducts = {
  gemv: (alpha, a, x, beta, y) => cublas.cublasDgemv(handle, 'T', 3, 3, alpha, a, 3, x, -1, beta, y, 1),
  gbmv: (alpha, a, x, beta, y) => cublas.cublasDgbmv(handle, 'N', 3, 3, 1, 1, alpha, a, 3, x, 2, beta, y, 1),
  symv: (alpha, a, x, beta, y) => cublas.cublasDsymv(handle, 'U', 3, alpha, a, 3, x, 1, beta, y, 1),
  sbmv: (alpha, a, x, beta, y) => cublas.cublasDsbmv(handle, 'L', 3, 1, alpha, a, 3, x, 1, beta, y, 1),
  spmv: (alpha, a, x, beta, y) => cublas.cublasDspmv(handle, 'U', 3, alpha, a, x, 1, beta, y, 1),
} satisfies Record<string, (alpha: number, a: Memory, x: Memory, beta: number, y: Memory) => void>;
type Memory = ReturnType<typeof of>;

for (const [name, run] of Object.entries(vectorProducts))
  test(`${name}: a factor of 0 leaves its operands unread`, async () => {
    const y = of([1, 2, 3]);
    run(0, nans(9), nans(6), 2, y);
    assert.equal([...(await y.read())], [2, 4, 6]);
    const unset = nans(3);
    run(0, nans(9), nans(6), 0, unset);
    assert.equal([...(await unset.read())], [0, 0, 0]);
    const result = nans(3);
    run(1, ones(9), ones(6), 0, result);
    assert.ok((await result.read()).every((value) => value === 2 || value === 3));
  });

test('products and solutions of matrices: a factor of 0 leaves its operands unread', async () => {
  const runs: ((c: Memory) => void)[] = [
    (c) => cublas.cublasDgemm(handle, 'N', 'T', 2, 2, 2, 0, nans(4), 2, nans(4), 2, 0, c, 2),
    (c) => cublas.cublasDsymm(handle, 'L', 'U', 2, 2, 0, nans(4), 2, nans(4), 2, 0, c, 2),
    (c) => cublas.cublasDtrsm(handle, 'R', 'L', 'N', 'N', 2, 2, 0, nans(4), 2, c, 2),
    (c) => cublas.cublasDtrmm(handle, 'L', 'L', 'T', 'N', 2, 2, 0, nans(4), 2, c, 2, c, 2),
    (c) => cublas.cublasDgeam(handle, 'N', 'T', 2, 2, 0, nans(4), 2, 0, nans(4), 2, c, 2),
  ];
  for (const [i, run] of runs.entries()) {
    const c = i === 3 ? ones(4) : nans(4);
    run(c);
    assert.equal([...(await c.read())], [0, 0, 0, 0], `function ${i}`);
  }
  const c = nans(4);
  for (const uplo of ['U', 'L'] as Fill[]) cublas.cublasDsyrk(handle, uplo, 'N', 2, 2, 0, nans(4), 2, 0, c, 2);
  assert.equal([...(await c.read())], [0, 0, 0, 0]);
  const y = of([1, 2, 3]);
  cublas.cublasDaxpy(handle, 3, 0, nans(3), 1, y, 1);
  assert.equal([...(await y.read())], [1, 2, 3]);
});

const small = fc.integer({ min: 0, max: 20 });
const step = fc.constantFrom(1, 2, 3, -1, -2);
const operation = fc.constantFrom('N' as const, 'T' as const);
const factor = fc.constantFrom(0, 1, -0.5);
/** Numbers whose products and sums are exact. */
const numbers = (count: number, seed: number): Float64Array =>
  Float64Array.from({ length: Math.max(1, count) }, (_, i) => ((Math.imul(i + 1, 40503 + 2 * seed) >>> 7) % 33) - 16);
const at = (n: number, inc: number, i: number): number => (inc > 0 ? i * inc : (i - n + 1) * inc);

test('gemv and gemm of random shapes, steps and pitches: exact', async () => {
  const shape = fc.record({
    m: small,
    n: small,
    k: small,
    ta: operation,
    tb: operation,
    incx: step,
    incy: step,
    pad: fc.integer({ min: 0, max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(shape, factor, factor, async ({ m, n, k, ta, tb, incx, incy, pad }, alpha, beta) => {
      const elementOf = (a: Float64Array, ld: number, t: 'N' | 'T') => (r: number, c: number) =>
        t === 'N' ? a[c * ld + r]! : a[r * ld + c]!;
      const [lda, ldb, ldc] = [Math.max(1, ta === 'N' ? m : k) + pad, Math.max(1, tb === 'N' ? k : n) + pad, Math.max(1, m) + pad];
      const [a, b] = [numbers(lda * (ta === 'N' ? k : m), 1), numbers(ldb * (tb === 'N' ? n : k), 2)];
      const c = numbers(ldc * n, 3);
      // What is between columns stays, and where beta is 0 nothing is read.
      for (let i = 0; i < c.length; i++) if (beta === 0 && i % ldc < m && i < ldc * n) c[i] = Number.NaN;
      const cs = of(c);
      cublas.cublasDgemm(handle, ta, tb, m, n, k, alpha, of(a), lda, of(b), ldb, beta, cs, ldc);
      const [left, right] = [elementOf(a, lda, ta), elementOf(b, ldb, tb)];
      for (let i = 0; i < m; i++)
        for (let j = 0; j < n; j++) {
          let sum = 0;
          for (let l = 0; l < k; l++) sum += left(i, l) * right(l, j);
          const place = j * ldc + i;
          c[place] = alpha * sum + (beta === 0 ? 0 : beta * c[place]!);
        }
      close(await cs.read(), c, 0, 'gemm');
      const [lx, ly] = ta === 'N' ? [k, m] : [m, k];
      const [rows, columns] = [m, k];
      const ld = Math.max(1, rows) + pad;
      const matrix = numbers(ld * columns, 4);
      const [x, y] = [numbers((lx - 1) * Math.abs(incx) + 1, 5), numbers((ly - 1) * Math.abs(incy) + 1, 6)];
      const ys = of(y);
      cublas.cublasDgemv(handle, ta, rows, columns, alpha, of(matrix), ld, of(x), incx, beta, ys, incy);
      if (rows > 0 && columns > 0)
        for (let i = 0; i < ly; i++) {
          let sum = 0;
          for (let l = 0; l < lx; l++) sum += (ta === 'N' ? matrix[l * ld + i]! : matrix[i * ld + l]!) * x[at(lx, incx, l)]!;
          const place = at(ly, incy, i);
          y[place] = alpha * sum + beta * y[place]!;
        }
      close(await ys.read(), y, 0, 'gemv');
    }),
    { numRuns: 60, seed: 26 },
  );
});

test('batches of none and of one matrix for all', async () => {
  const c = of([7, 7, 7, 7]);
  cublas.cublasDgemmStridedBatched(handle, 'N', 'N', 1, 1, 1, 1, ones(1), 1, 0, ones(1), 1, 0, 0, c, 1, 1, 0);
  assert.equal([...(await c.read())], [7, 7, 7, 7]);
  cublas.cublasDgemmStridedBatched(handle, 'N', 'N', 1, 1, 2, 3, of([1, 2]), 1, 0, of([1, 10, 100]), 2, 1, 0, c, 1, 2, 2);
  assert.equal([...(await c.read())], [63, 7, 630, 7]);
});

test('CM5093: strides that lead back, and vectors of a batch that are too short', async () => {
  const refused = (run: () => void, why: RegExp): void =>
    assert.throws(run, (error: unknown) => error instanceof CumetalError && error.code === 'CM5093' && why.test(error.message));
  const c = of([9, 9]);
  for (const [a, b, to] of [
    [-1, 0, 1],
    [1, -1, 1],
    [1, 0, -1],
    [0.5, 0, 1],
  ] as const)
    refused(() => cublas.cublasDgemmStridedBatched(handle, 'N', 'N', 1, 1, 1, 1, c, 1, a, c, 1, b, 0, c, 1, to, 2), /stride[ABC]` is/);
  refused(() => cublas.cublasDgemvStridedBatched(handle, 'N', 1, 1, 1, c, 1, 1, c, 1, 5, 0, c, 1, 1, 2), /`x` has 2 elements, and 6/);
  refused(() => cublas.cublasDgemvStridedBatched(handle, 'N', 1, 1, 1, c, 1, -1, c, 1, 1, 0, c, 1, 1, 2), /`strideA` is -1/);
  refused(() => void gemm({ type: f64 }).launch(device, { a: c, b: c, c, m: 1, n: 1, k: 1, batch: 2, strideC: -1 }), /`strideC` is -1/);
  assert.equal([...(await c.read())], [9, 9]);
});

test.run();
