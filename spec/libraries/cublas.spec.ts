/** cuBLAS's functions against JavaScript in f64: what a matrix is by its storage, and what a function makes of it. */
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KernelBuffer } from '../../src/api/index.ts';
import * as cublas from '../../src/cublas/index.ts';
import { CumetalError, Device } from '../../src/index.ts';
import { close, numbers } from '../support/library.ts';
import { prove } from '../support/prove.ts';
import { shortened } from '../support/tensor-kernels.ts';

const test = suite('libraries/cublas');
const device = Device.open('cpu', { print: false });
const handle = cublas.cublasCreate(device);
test.after(() => device.close());

type C = readonly [number, number];
type Matrix = (row: number, column: number) => C;
const times = ([a, b]: C, [c, d]: C): C => [a * c - b * d, a * d + b * c];
const plus = ([a, b]: C, [c, d]: C): C => [a + c, b + d];
const conj = ([a, b]: C): C => [a, -b];
const zero: C = [0, 0];
const sumOf = (n: number, of: (i: number) => C): C => {
  let sum = zero;
  for (let i = 0; i < n; i++) sum = plus(sum, of(i));
  return sum;
};

/** Memory of complex f64 numbers with the numbers in JavaScript. */
class Complexes {
  readonly data: Float64Array;
  readonly buffer: KernelBuffer<'f64'>;
  constructor(count: number, seed: number) {
    this.data = Float64Array.from(numbers(2 * count, seed));
    this.buffer = device.bufferOf('f64', this.data);
  }
  at(i: number): C {
    return [this.data[2 * i]!, this.data[2 * i + 1]!];
  }
  /** As a matrix in columns. */
  matrix(ld: number): Matrix {
    return (r, c) => this.at(c * ld + r);
  }
  /** The elements of a vector in their order. */
  vector(n: number, inc: number): (i: number) => C {
    return (i) => this.at(inc > 0 ? i * inc : (i - n + 1) * inc);
  }
  /** Compares memory with expected changes of some elements. */
  async expect(changed: ReadonlyMap<number, C>, what: string): Promise<void> {
    const expected = Float64Array.from(this.data);
    for (const [i, [re, im]] of changed) expected.set([re, im], 2 * i);
    close(await this.buffer.read(), expected, 1e-13, what, 8);
  }
}
const placeOf = (n: number, inc: number, i: number): number => (inc > 0 ? i * inc : (i - n + 1) * inc);
const each = (n: number, of: (i: number) => readonly [number, C]): Map<number, C> => new Map(Array.from({ length: n }, (_, i) => of(i)));
const inMatrix = (m: number, n: number, ld: number, of: Matrix, isIn: (r: number, c: number) => boolean = () => true): Map<number, C> =>
  new Map(
    Array.from({ length: m * n }, (_, i) => [i % m, Math.floor(i / m)] as const)
      .filter(([r, c]) => isIn(r, c))
      .map(([r, c]) => [c * ld + r, of(r, c)]),
  );

const transposed =
  (a: Matrix): Matrix =>
  (r, c) =>
    a(c, r);
const adjoint =
  (a: Matrix): Matrix =>
  (r, c) =>
    conj(a(c, r));
/** A triangle as a whole matrix. */
const hermitian =
  (a: Matrix, isUpper: boolean): Matrix =>
  (r, c) =>
    r === c ? [a(r, r)[0], 0] : r < c === isUpper ? a(r, c) : conj(a(c, r));
const triangular =
  (a: Matrix, isUpper: boolean, isUnit: boolean): Matrix =>
  (r, c) =>
    r === c && isUnit ? [1, 0] : r === c || r < c === isUpper ? a(r, c) : zero;

prove(test, 'level 1 of complex numbers, by steps of either sign', async () => {
  const n = 301;
  const [x, y] = [new Complexes(2 * n, 1), new Complexes(3 * n, 2)];
  const [xs, ys] = [x.vector(n, -2), y.vector(n, 3)];
  const alpha: C = [0.5, -2];
  const product = sumOf(n, (i) => times(conj(xs(i)), ys(i)));
  close(await cublas.cublasZdotc(handle, n, x.buffer, -2, y.buffer, 3), product, 1e-13, 'dotc', 100);
  const sizes = Array.from({ length: n }, (_, i) => Math.abs(x.at(2 * i)[0]) + Math.abs(x.at(2 * i)[1]));
  close([await cublas.cublasDzasum(handle, n, x.buffer, 2)], [sizes.reduce((a, b) => a + b)], 1e-13);
  assert.is(await cublas.cublasIzamax(handle, n, x.buffer, 2), sizes.indexOf(Math.max(...sizes)) + 1);
  assert.is(await cublas.cublasIzamin(handle, n, x.buffer, 2), sizes.indexOf(Math.min(...sizes)) + 1);
  close(
    [await cublas.cublasDznrm2(handle, n, x.buffer, 2)],
    [Math.hypot(...Array.from({ length: n }, (_, i) => x.at(2 * i)).flat())],
    1e-13,
  );
  cublas.cublasZaxpy(handle, n, alpha, x.buffer, -2, y.buffer, 3);
  const moved = each(n, (i) => [3 * i, plus(times(alpha, xs(i)), ys(i))]);
  await y.expect(moved, 'axpy');
  const [p, q] = [new Complexes(n, 3), new Complexes(n, 4)];
  const [c, s]: [number, C] = [0.6, [0.1, -0.79]];
  cublas.cublasZrot(handle, n, p.buffer, 1, q.buffer, -1, c, s);
  const qs = q.vector(n, -1);
  await p.expect(
    each(n, (i) => [i, plus(times([c, 0], p.at(i)), times(s, qs(i)))]),
    'rot x',
  );
  const back = each(n, (i) => [placeOf(n, -1, i), plus(times([c, 0], qs(i)), times([-s[0], s[1]], p.at(i)))]);
  await q.expect(back, 'rot y');
});

test('reductions of many lengths: exact sums, and the first of equal places', async () => {
  // Of one thread, of blocks that are not full, of all blocks twice.
  for (const n of [1, 33, 255, 769, 2049, 5000, 70_001, 2_100_003]) {
    const given = Float32Array.from({ length: n }, (_, i) => ((i * 7919) % 7) - 3);
    const x = device.bufferOf('f32', given);
    const squares = given.reduce((sum, value) => sum + value * value, 0);
    assert.is(await cublas.cublasSdot(handle, n, x, 1, x, 1), squares, `${n}`);
    assert.is(
      await cublas.cublasSasum(handle, n, x, 1),
      given.reduce((sum, value) => sum + Math.abs(value), 0),
      `${n}`,
    );
    const most = given.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
    assert.is(await cublas.cublasIsamax(handle, n, x, 1), given.findIndex((value) => Math.abs(value) === most) + 1, `${n}`);
    x.free();
  }
});

test('level 1 of real numbers: results in memory, no elements, large numbers, rotations', async () => {
  const [x, y] = [device.bufferOf('f32', [3e30, -4e30, 0, 1e30]), device.bufferOf('f32', [1, 2, 3, 4])];
  close([await cublas.cublasSnrm2(handle, 2, x, 1)], [5e30], 1e-6, 'nrm2', 1e30);
  const to = device.allocate('f32', 1);
  cublas.cublasSdot(handle, 4, y, 1, y, -1, to);
  assert.equal([...(await to.read())], [20]);
  assert.is(await cublas.cublasSdot(handle, 0, y, 1, y, 1), 0);
  assert.is(await cublas.cublasIsamax(handle, 0, y, 1), 0);
  assert.is(await cublas.cublasIsamax(handle, 4, x, 1), 2);
  cublas.cublasSscal(handle, 2, 10, y.part(1), 2);
  assert.equal([...(await y.read())], [1, 20, 3, 40]);
  cublas.cublasSswap(handle, 2, y, 1, y.part(2), 1);
  assert.equal([...(await y.read())], [3, 40, 1, 20]);
  cublas.cublasSrotm(handle, 2, y, 1, y.part(2), 1, [-1, 1, 2, 3, 4]);
  assert.equal([...(await y.read())], [6, 100, 10, 160]);
  close(cublas.cublasDrotg(handle, 3, 4), [5, 1 / 0.6, 0.6, 0.8], 1e-15);
});

prove(test, 'level 2: general, banded, Hermitian and triangular matrices', async () => {
  const [m, n, lda] = [37, 70, 41];
  const a = new Complexes(lda * n, 5);
  const [x, y] = [new Complexes(2 * n, 6), new Complexes(2 * n, 7)];
  const [alpha, beta]: [C, C] = [
    [1.5, 0.5],
    [-1, 0.25],
  ];
  cublas.cublasZgemv(handle, 'C', m, n, alpha, a.buffer, lda, x.buffer, -1, beta, y.buffer, 2);
  const rows = adjoint(a.matrix(lda));
  const [xs, ys] = [x.vector(m, -1), y.vector(n, 2)];
  const sums = each(n, (r) => [
    2 * r,
    plus(
      times(
        alpha,
        sumOf(m, (c) => times(rows(r, c), xs(c))),
      ),
      times(beta, ys(r)),
    ),
  ]);
  await y.expect(sums, 'gemv');
  const order = 37;
  const h = new Complexes(order, 8);
  cublas.cublasZhemv(handle, 'L', order, alpha, a.buffer, lda, x.buffer, 1, 0, h.buffer, 1);
  const whole = hermitian(a.matrix(lda), false);
  const product = each(order, (r) => [
    r,
    times(
      alpha,
      sumOf(order, (c) => times(whole(r, c), x.at(c))),
    ),
  ]);
  await h.expect(product, 'hemv');
  // Rows that the warps of a block share.
  const [tall, wide] = [70, 101];
  const [many, long, short] = [new Complexes(tall * wide, 20), new Complexes(wide, 21), new Complexes(tall, 22)];
  cublas.cublasZgemv(handle, 'N', tall, wide, alpha, many.buffer, tall, long.buffer, 1, 0, short.buffer, 1);
  const shared = each(tall, (r) => [
    r,
    times(
      alpha,
      sumOf(wide, (c) => times(many.matrix(tall)(r, c), long.at(c))),
    ),
  ]);
  await short.expect(shared, 'gemv of many columns');
  // Bands and packed triangles of real numbers.
  const band = numbers(6 * 9, 9);
  const b = device.bufferOf('f32', band);
  const [v, w] = [device.bufferOf('f32', numbers(9, 10)), device.allocate('f32', 8)];
  cublas.cublasSgbmv(handle, 'N', 8, 9, 2, 1, 2, b, 6, v, 1, 0, w, 1);
  const vs = numbers(9, 10);
  const inBand = (r: number, c: number): number => (r - c > 2 || c - r > 1 ? 0 : band[c * 6 + 1 + r - c]!);
  close(
    await w.read(),
    Array.from({ length: 8 }, (_, r) => 2 * vs.reduce((sum, value, c) => sum + inBand(r, c) * value, 0)),
    1e-6,
    'gbmv',
  );
  const t = triangular(a.matrix(lda), true, false);
  const solved = new Complexes(order, 11);
  cublas.cublasZtrmv(handle, 'U', 'T', 'N', order, a.buffer, lda, solved.buffer, 1);
  const through = each(order, (r) => [r, sumOf(order, (c) => times(transposed(t)(r, c), solved.at(c)))]);
  await solved.expect(through, 'trmv');
  const packed = numbers(15, 12).map((value, i) => (value + 4) * (i + 1));
  const ap = device.bufferOf('f32', packed);
  const right = device.bufferOf('f32', [1, 2, 3, 4, 5]);
  cublas.cublasStpsv(handle, 'L', 'N', 'N', 5, ap, right, 1);
  const lower = (r: number, c: number): number => (c > r ? 0 : packed[r + ((9 - c) * c) / 2]!);
  const found = await right.read();
  close(
    Array.from({ length: 5 }, (_, r) => found.reduce((sum, value, c) => sum + lower(r, c) * value, 0)),
    [1, 2, 3, 4, 5],
    1e-5,
    'tpsv',
  );
});

prove(test, 'updates of level 2', async () => {
  const [n, lda] = [21, 23];
  const [x, y] = [new Complexes(n, 13), new Complexes(n, 14)];
  const a = new Complexes(lda * n, 15);
  const old = a.matrix(lda);
  const alpha: C = [0.5, 2];
  cublas.cublasZher2(handle, 'U', n, alpha, x.buffer, 1, y.buffer, -1, a.buffer, lda);
  const ys = y.vector(n, -1);
  const next: Matrix = (r, c) => {
    const sum = plus(old(r, c), plus(times(alpha, times(x.at(r), conj(ys(c)))), times(conj(alpha), times(ys(r), conj(x.at(c))))));
    return r === c ? [sum[0], 0] : sum;
  };
  await a.expect(
    inMatrix(n, n, lda, next, (r, c) => r <= c),
    'her2',
  );
  const g = new Complexes(lda * 5, 16);
  const before = g.matrix(lda);
  cublas.cublasZgerc(handle, n, 5, alpha, x.buffer, 1, y.buffer, 1, g.buffer, lda);
  await g.expect(
    inMatrix(n, 5, lda, (r, c) => plus(before(r, c), times(alpha, times(x.at(r), conj(y.at(c)))))),
    'gerc',
  );
});

prove(test, 'level 3: products of each kind of matrix', async () => {
  const [m, n, k] = [35, 18, 40];
  const [a, b, c] = [new Complexes(45 * 45, 20), new Complexes(45 * 45, 21), new Complexes(45 * 45, 22)];
  const [A, B, old] = [a.matrix(45), b.matrix(45), c.matrix(45)];
  const [alpha, beta]: [C, C] = [
    [1, -0.5],
    [0.25, 1],
  ];
  const product =
    (left: Matrix, right: Matrix, depth: number): Matrix =>
    (r, s) =>
      sumOf(depth, (q) => times(left(r, q), right(q, s)));
  const withOld =
    (of: Matrix): Matrix =>
    (r, s) =>
      plus(times(alpha, of(r, s)), times(beta, old(r, s)));
  const fresh = (): Promise<unknown> => c.buffer.write(c.data).ended();
  cublas.cublasZgemm(handle, 'C', 'T', m, n, k, alpha, a.buffer, 45, b.buffer, 45, beta, c.buffer, 45);
  await c.expect(inMatrix(m, n, 45, withOld(product(adjoint(A), transposed(B), k))), 'gemm');
  await fresh();
  cublas.cublasZhemm(handle, 'R', 'U', m, n, alpha, a.buffer, 45, b.buffer, 45, beta, c.buffer, 45);
  await c.expect(inMatrix(m, n, 45, withOld(product(B, hermitian(A, true), n))), 'hemm');
  await fresh();
  cublas.cublasZher2k(handle, 'L', 'C', n, k, alpha, a.buffer, 45, b.buffer, 45, 0.5, c.buffer, 45);
  const [ab, ba] = [product(adjoint(A), B, k), product(adjoint(B), A, k)];
  const rank: Matrix = (r, s) => {
    const sum = plus(plus(times(alpha, ab(r, s)), times(conj(alpha), ba(r, s))), times([0.5, 0], old(r, s)));
    return r === s ? [times(alpha, ab(r, s))[0] + times(conj(alpha), ba(r, s))[0] + 0.5 * old(r, s)[0], 0] : sum;
  };
  await c.expect(
    inMatrix(n, n, 45, rank, (r, s) => r >= s),
    'her2k',
  );
  await fresh();
  cublas.cublasZtrmm(handle, 'L', 'U', 'C', 'U', m, n, alpha, a.buffer, 45, c.buffer, 45, c.buffer, 45);
  const unit = adjoint(triangular(A, true, true));
  await c.expect(
    inMatrix(m, n, 45, (r, s) => times(alpha, product(unit, old, m)(r, s))),
    'trmm',
  );
  await fresh();
  cublas.cublasZgeam(handle, 'C', 'N', n, n, alpha, a.buffer, 45, beta, b.buffer, 45, c.buffer, 45);
  await c.expect(
    inMatrix(n, n, 45, (r, s) => plus(times(alpha, adjoint(A)(r, s)), times(beta, B(r, s)))),
    'geam',
  );
});

test('solutions of triangular systems, on either side', async () => {
  const [m, n] = [19, 7];
  const values = Float64Array.from(numbers(m * m, 30), (value, i) => (i % (m + 1) === 0 ? value + 3 : value / 4));
  const a = device.bufferOf('f64', values);
  const lower = (r: number, c: number): number => (c > r ? 0 : values[c * m + r]!);
  const sides = Float64Array.from(numbers(m * n, 31));
  for (const side of ['L', 'R'] as const) {
    const b = device.bufferOf('f64', sides);
    const [rows, columns] = side === 'L' ? [m, n] : [n, m];
    cublas.cublasDtrsm(handle, side, 'L', side === 'L' ? 'N' : 'T', 'N', rows, columns, 2, a, m, b, rows);
    const x = await b.read();
    const back = Array.from({ length: m * n }, (_, i) => {
      const [r, c] = [i % rows, Math.floor(i / rows)];
      let sum = 0;
      // X Aᵀ has the rows of A as its columns.
      for (let q = 0; q < m; q++) sum += side === 'L' ? lower(r, q) * x[c * rows + q]! : x[q * rows + r]! * lower(c, q);
      return sum / 2;
    });
    close(back, sides, 1e-12, side);
  }
});

test('general products of f32 and of other types, in batches, and with epilogues', async () => {
  const [m, n, k] = [33, 20, 17];
  const [av, bv] = [numbers(2 * m * k, 40), numbers(2 * n * k, 41)];
  const [a, b] = [device.bufferOf('f32', av), device.bufferOf('f32', bv)];
  const c = device.bufferOf('f32', new Float32Array(2 * m * n).fill(1));
  cublas.cublasSgemmStridedBatched(handle, 'N', 'T', m, n, k, 2, a, m, m * k, b, n, n * k, 0.5, c, m, m * n, 2);
  const expected = Array.from({ length: 2 * m * n }, (_, i) => {
    const [batch, column, row] = [Math.floor(i / (m * n)), Math.floor(i / m) % n, i % m];
    let sum = 0;
    for (let q = 0; q < k; q++) sum += av[batch * m * k + q * m + row]! * bv[batch * n * k + q * n + column]!;
    return 2 * sum + 0.5;
  });
  close(await c.read(), expected, 2e-6, 'gemmStridedBatched', 4);
  const bias = numbers(m, 42);
  const desc = cublas.cublasLtMatmulDescCreate('32F', { transB: 'T', epilogue: 'RELU_BIAS', bias: device.bufferOf('f32', bias) as never });
  const of = (rows: number, columns: number) => cublas.cublasLtMatrixLayoutCreate('f32', rows, columns, rows);
  const [A, B, D] = [a as KernelBuffer, b as KernelBuffer, device.allocate('f32', m * n) as unknown as KernelBuffer];
  cublas.cublasLtMatmul(handle, desc, 2, A, of(m, k), B, of(n, k), 0, D, of(m, n), D, of(m, n));
  const activated = expected.slice(0, m * n).map((value, i) => Math.max(0, value - 0.5 + bias[i % m]!));
  close((await D.read()) as Float32Array, activated, 2e-6, 'LtMatmul', 4);
  const [left, right] = [Int8Array.from(av, (x) => x * 127), Int8Array.from(bv, (x) => x * 127)];
  const [p, q, r] = [device.bufferOf('i8', left), device.bufferOf('i8', right), device.allocate('i32', m * n)];
  const call = [m, n, k, 1, p as KernelBuffer, 'i8', m, q as KernelBuffer, 'i8', n, 0, r as KernelBuffer, 'i32', m, '32I'] as const;
  cublas.cublasGemmEx(handle, 'N', 'T', ...call);
  const exact = Array.from({ length: m * n }, (_, i) => {
    let sum = 0;
    for (let s = 0; s < k; s++) sum += left[s * m + (i % m)]! * right[s * n + Math.floor(i / m)]!;
    return sum;
  });
  assert.equal([...(await r.read())], exact);
});

test('products in tf32: by the type of sums, and by the mode of a handle', async () => {
  const [m, n, k] = [5, 3, 7];
  const [av, bv] = [numbers(m * k, 50), numbers(k * n, 51)];
  const [a, b] = [device.bufferOf('f32', av), device.bufferOf('f32', bv)];
  const sums = (of: (x: number) => number): number[] =>
    Array.from({ length: m * n }, (_, i) => {
      let sum = 0;
      for (let q = 0; q < k; q++) sum += of(av[q * m + (i % m)]!) * of(bv[Math.floor(i / m) * k + q]!);
      return sum;
    });
  const [rounded, whole] = [sums(shortened), sums((x) => x)];
  const own = cublas.cublasCreate(device);
  assert.is(cublas.cublasGetMathMode(own), cublas.CUBLAS_DEFAULT_MATH);
  const of = (rows: number, columns: number) => cublas.cublasLtMatrixLayoutCreate('f32', rows, columns, rows);
  const runs: Record<string, (c: KernelBuffer<'f32'>) => void> = {
    sgemm: (c) => cublas.cublasSgemm(own, 'N', 'N', m, n, k, 1, a, m, b, k, 0, c, m),
    gemmEx: (c) =>
      cublas.cublasGemmEx(own, 'N', 'N', m, n, k, 1, a as never, 'f32', m, b as never, 'f32', k, 0, c as never, 'f32', m, '32F'),
    fast: (c) =>
      cublas.cublasGemmEx(own, 'N', 'N', m, n, k, 1, a as never, 'f32', m, b as never, 'f32', k, 0, c as never, 'f32', m, '32F_FAST_TF32'),
    lt: (c) =>
      cublas.cublasLtMatmul(
        own,
        { computeType: '32F' },
        1,
        a as never,
        of(m, k),
        b as never,
        of(k, n),
        0,
        c as never,
        of(m, n),
        c as never,
        of(m, n),
      ),
  };
  for (const mode of ['DEFAULT', 'TF32_TENSOR_OP'] as const) {
    cublas.cublasSetMathMode(own, mode);
    for (const [name, run] of Object.entries(runs)) {
      const c = device.allocate('f32', m * n);
      run(c);
      const isShort = name === 'fast' || (mode === 'TF32_TENSOR_OP' && name !== 'lt');
      close(await c.read(), isShort ? rounded : whole, 1e-6, `${name} ${mode}`);
    }
  }
  // The two are apart by more than the bound, so that each is told from the other.
  assert.ok(rounded.some((value, i) => Math.abs(value - whole[i]!) > 1e-4));
  assert.throws(() => cublas.cublasSetMathMode(own, 'TENSOR_OP' as 'DEFAULT'), /the mode TENSOR_OP is not there/);
});

test('what is refused before a launch', () => {
  const x = device.allocate('f32', 10);
  const is = (error: unknown): boolean => error instanceof CumetalError && error.code === 'CM5093';
  assert.throws(() => cublas.cublasSaxpy(handle, 6, 1, x, 2, x, 1), is);
  assert.throws(() => cublas.cublasScopy(handle, 3, x, 0, x, 1), is);
  assert.throws(() => cublas.cublasSgemm(handle, 'N', 'N', 4, 4, 4, 1, x, 4, x, 4, 0, x, 4), is);
  assert.throws(() => cublas.cublasSgemm(handle, 'X' as 'N', 'N', 1, 1, 1, 1, x, 1, x, 1, 0, x, 1), is);
  assert.throws(() => cublas.cublasCaxpy(handle, 6, 1, x, 1, x, 1), is);
  const buffer = x as KernelBuffer;
  const mixed = [1, 1, 1, 1, buffer, 'f32', 1, buffer, 'f16', 1, 0, buffer, 'f32', 1, '32F'] as const;
  assert.throws(() => cublas.cublasGemmEx(handle, 'N', 'N', ...mixed), is);
});

test('the page names every function', () => {
  const page = readFileSync(new URL('../../docs/cublas.md', import.meta.url), 'utf8');
  const missing = Object.keys(cublas).filter((name) => /^cublas/.test(name) && !page.includes(`\`${name}\``));
  assert.equal(missing, []);
});

test.run();
