/** Updates of level 2: a matrix and the product of two vectors. Source: cuBLAS Library, "cuBLAS Level-2 Function Reference". */
import { blockIndex, gridSize, loop, s64, threadIndex, type Value, when } from '../build/index.ts';
import {
  assertHolds,
  assertWhole,
  assertWords,
  type CublasHandle,
  extentOfMatrix,
  type FillMode,
  kernelName,
  kernelOf,
  launch,
  type Memory,
  type Scalar,
  scalarParts,
  startOf,
} from './handle.ts';
import {
  assign,
  changing,
  conjugate,
  type Letter,
  load,
  multiply,
  multiplyAdd,
  type Number as Num,
  now,
  realPart,
  store,
} from './number.ts';

import { assertLd, assertVectors, number, type Places, parametersOf, threads } from './vector-product.ts';

interface Update {
  readonly isPacked?: boolean;
  /** The triangle of A that is written, or all of it. */
  readonly part?: FillMode;
  readonly isHermitian?: boolean;
  readonly isConjugated?: boolean;
  /** Whether the product with x and y exchanged is added, too. */
  readonly isDouble?: boolean;
}

/** A += alpha x yᵀ: a thread for each element. */
function updateKernel(letter: Letter, how: Update) {
  const { isPacked = false, part, isHermitian = false, isConjugated = false, isDouble = false } = how;
  const flags: (string | false)[] = [
    isPacked ? 'packed' : false,
    part?.toLowerCase() ?? false,
    isHermitian ? 'hermitian' : false,
    isConjugated ? 'conjugated' : false,
    isDouble ? 'double' : false,
  ];
  return kernelOf(
    kernelName(letter, 'update', ...flags),
    parametersOf(letter),
    (p: Places) => {
      const step = gridSize().mul(threads).to(s64);
      loop(blockIndex().mad(threads, threadIndex()).to(s64), p.rows.mul(p.columns), step, (i) => {
        const column = i.div(p.rows);
        const row = i.sub(column.mul(p.rows));
        const isIn = part === undefined ? row.eq(row) : part === 'U' ? row.le(column) : row.ge(column);
        when(isIn, () => {
          const packed =
            part === 'U' ? row.add(column.mul(column.add(1)).shr(1)) : row.add(p.columns.mul(2).sub(column).sub(1).mul(column).shr(1));
          const place = isPacked ? packed : column.mul(p.ld).add(row);
          const at = (from: Places['a'], start: Value<'s64'>, inc: Value<'s64'>, k: Value<'s64'>): Num =>
            load(letter, from, start.add(k.mul(inc)));
          const second = (value: Num): Num => (isConjugated ? conjugate(value) : value);
          const alpha = number(letter, p.alpha, p.alphaIm);
          let value = multiplyAdd(
            multiply(alpha, at(p.x, p.x0, p.incx, row)),
            second(at(p.y, p.y0, p.incy, column)),
            load(letter, p.a, place),
          );
          if (isDouble) {
            const back = isHermitian ? conjugate(alpha) : alpha;
            value = multiplyAdd(multiply(back, at(p.y, p.y0, p.incy, row)), second(at(p.x, p.x0, p.incx, column)), value);
          }
          if (!isHermitian) return store(letter, p.a, place, value);
          const result = changing(letter, value);
          when(row.eq(column), () => assign(result, realPart(value)));
          store(letter, p.a, place, now(result));
        });
      });
    },
    threads,
  );
}

interface UpdateArguments {
  readonly m: number;
  readonly n: number;
  readonly alpha: Scalar<'C'>;
  readonly x: unknown;
  readonly incx: number;
  readonly y: unknown;
  readonly incy: number;
  readonly a: unknown;
  readonly ld?: number;
}

function update(handle: CublasHandle, letter: Letter, base: string, how: Update, given: UpdateArguments): void {
  const { m, n, x, incx, y, incy, a, ld = 0 } = given;
  const name = `cublas${letter}${base}`;
  assertWhole(name, { m, n });
  if (how.part !== undefined) assertWords(name, { uplo: [how.part, 'UL'] });
  if (!how.isPacked) assertLd(name, ld, m);
  assertVectors(name, letter, { n: m, x, incx, m: n, y, incy });
  assertHolds(name, letter, 'a', a, how.isPacked ? (n * (n + 1)) / 2 : extentOfMatrix(m, n, ld));
  const [alpha, alphaIm] = scalarParts(given.alpha);
  if (m === 0 || n === 0 || (alpha === 0 && alphaIm === 0)) return;
  const none = { stored: 0, below: 0, above: 0, strideA: 0, strideX: 0, strideY: 0, beta: 0, betaIm: 0 };
  const args = { ...none, a, x, y, rows: m, columns: n, ld, x0: startOf(m, incx), incx, y0: startOf(n, incy), incy, alpha, alphaIm };
  launch(handle, updateKernel(letter, how), Math.min(1024, Math.ceil((m * n) / threads)), threads, args);
}

/** `A = alpha * x * yᵀ + A`, with the conjugate of y for `gerc`. */
export const ger =
  <L extends Letter>(letter: L, name: 'ger' | 'geru' | 'gerc') =>
  (
    handle: CublasHandle,
    m: number,
    n: number,
    alpha: Scalar<L>,
    x: Memory<L>,
    incx: number,
    y: Memory<L>,
    incy: number,
    a: Memory<L>,
    lda: number,
  ): void =>
    update(handle, letter, name, { isConjugated: name === 'gerc' }, { m, n, alpha, x, incx, y, incy, a, ld: lda });

const isHermitianName = (name: string): boolean => name.startsWith('h');

/** `A = alpha * x * xᵀ + A` of a triangle, with the conjugate of x for `her`, whose scalar is real. */
export const syr =
  <L extends Letter, N extends 'syr' | 'her'>(letter: L, name: N) =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    n: number,
    alpha: N extends 'her' ? number : Scalar<L>,
    x: Memory<L>,
    incx: number,
    a: Memory<L>,
    lda: number,
  ): void => {
    const isHermitian = isHermitianName(name);
    update(
      handle,
      letter,
      name,
      { part: uplo, isHermitian, isConjugated: isHermitian },
      { m: n, n, alpha, x, incx, y: x, incy: incx, a, ld: lda },
    );
  };
/** The same of a packed triangle. */
export const spr =
  <L extends Letter, N extends 'spr' | 'hpr'>(letter: L, name: N) =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    n: number,
    alpha: N extends 'hpr' ? number : Scalar<L>,
    x: Memory<L>,
    incx: number,
    ap: Memory<L>,
  ): void => {
    const isHermitian = isHermitianName(name);
    const how = { part: uplo, isPacked: true, isHermitian, isConjugated: isHermitian };
    update(handle, letter, name, how, { m: n, n, alpha, x, incx, y: x, incy: incx, a: ap });
  };
/** `A = alpha * x * yᵀ + alpha * y * xᵀ + A` of a triangle, with conjugates for `her2`. */
export const syr2 =
  <L extends Letter>(letter: L, name: 'syr2' | 'her2') =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    n: number,
    alpha: Scalar<L>,
    x: Memory<L>,
    incx: number,
    y: Memory<L>,
    incy: number,
    a: Memory<L>,
    lda: number,
  ): void => {
    const isHermitian = isHermitianName(name);
    const how = { part: uplo, isDouble: true, isHermitian, isConjugated: isHermitian };
    update(handle, letter, name, how, { m: n, n, alpha, x, incx, y, incy, a, ld: lda });
  };
/** The same of a packed triangle. */
export const spr2 =
  <L extends Letter>(letter: L, name: 'spr2' | 'hpr2') =>
  (
    handle: CublasHandle,
    uplo: FillMode,
    n: number,
    alpha: Scalar<L>,
    x: Memory<L>,
    incx: number,
    y: Memory<L>,
    incy: number,
    ap: Memory<L>,
  ): void => {
    const isHermitian = isHermitianName(name);
    const how = { part: uplo, isPacked: true, isDouble: true, isHermitian, isConjugated: isHermitian };
    update(handle, letter, name, how, { m: n, n, alpha, x, incx, y, incy, a: ap });
  };
