/** Level 1: vectors. Source: cuBLAS Library, "cuBLAS Level-1 Function Reference"; C. Lawson and others, "Basic Linear Algebra Subprograms for Fortran Usage". */
import type { KernelBuffer } from '../api/index.ts';
import { blockIndex, gridSize, loop, ptr, s64, threadIndex, type Value } from '../build/index.ts';
import {
  assertHolds,
  assertSteps,
  type Complex,
  type CublasHandle,
  extentOfVector,
  type Inside,
  isZero,
  kernelName,
  kernelOf,
  launch,
  type Memory,
  type Scalar,
  scalarParts,
  startOf,
} from './handle.ts';
import {
  add,
  conjugate,
  isComplex,
  type Letter,
  load,
  multiply,
  multiplyAdd,
  type Number as Num,
  type Real,
  realType,
  size1,
  store,
} from './number.ts';
import { placeType, reduceVector, type Tuple } from './reduction.ts';

const threads = 256;
const blocksFor = (n: number): number => Math.min(1024, Math.ceil(n / threads));
/** The type of a letter's real part. */
export type RealLetter<L extends Letter> = L extends 'S' | 'C' ? 'S' : 'D';

/** Names of functions by the letter: the functions of complex numbers with real results have two. */
const named = (letter: Letter, name: string): string => `cublas${letter}${name}`;

const number = (letter: Letter, re: Real, im: Real): Num => (isComplex(letter) ? { re, im } : { re });

type Places = Inside<'x' | 'y', 'n' | 'x0' | 'incx' | 'y0' | 'incy', 'alpha' | 'alphaIm' | 'c' | 's' | 'sIm' | 'h0' | 'h1' | 'h2' | 'h3'>;
const scalars = ['alpha', 'alphaIm', 'c', 's', 'sIm', 'h0', 'h1', 'h2', 'h3'];

/** A kernel over the elements of one or two vectors. */
function vectorKernel(letter: Letter, name: string, used: readonly string[], body: (p: Places, x: Value<'s64'>, y: Value<'s64'>) => void) {
  const type = realType(letter);
  const parameters = {
    ...{ x: ptr(type), y: ptr(type), n: s64, x0: s64, incx: s64, y0: s64, incy: s64 },
    ...Object.fromEntries(used.map((word) => [word, type])),
  };
  return kernelOf(
    kernelName(letter, name),
    parameters,
    (p: Places) =>
      loop(blockIndex().mad(threads, threadIndex()).to(s64), p.n, gridSize().mul(threads).to(s64), (i) =>
        body(p, p.x0.add(i.mul(p.incx)), p.y0.add(i.mul(p.incy))),
      ),
    threads,
  );
}

interface Vectors {
  readonly n: number;
  readonly x: unknown;
  readonly incx: number;
  readonly y?: unknown;
  readonly incy?: number;
}

/** Checks vectors and gives their parameters; nothing if there are no elements. */
function placesOf(letter: Letter, name: string, { n, x, incx, y = null, incy = 1 }: Vectors): Record<string, unknown> | undefined {
  if (!(n > 0)) return undefined;
  assertSteps(name, { n, incx, incy });
  assertHolds(name, letter, 'x', x, extentOfVector(n, incx));
  assertHolds(name, letter, 'y', y, extentOfVector(n, incy));
  return { n, x, incx, x0: startOf(n, incx), y, incy, y0: startOf(n, incy) };
}

function run(
  handle: CublasHandle,
  letter: Letter,
  name: string,
  vectors: Vectors,
  values: Record<string, number>,
  body: Parameters<typeof vectorKernel>[3],
): void {
  const places = placesOf(letter, named(letter, name), vectors);
  if (!places) return;
  const made = vectorKernel(
    letter,
    name,
    scalars.filter((word) => word in values),
    body,
  );
  launch(handle, made, blocksFor(vectors.n), threads, { ...places, ...values });
}

/** `y = x` */
export const copy =
  <L extends Letter>(letter: L) =>
  (handle: CublasHandle, n: number, x: Memory<L>, incx: number, y: Memory<L>, incy: number): void =>
    run(handle, letter, 'copy', { n, x, incx, y, incy }, {}, (p, i, j) => store(letter, p.y, j, load(letter, p.x, i)));

/** Exchanges x and y. */
export const swap =
  <L extends Letter>(letter: L) =>
  (handle: CublasHandle, n: number, x: Memory<L>, incx: number, y: Memory<L>, incy: number): void =>
    run(handle, letter, 'swap', { n, x, incx, y, incy }, {}, (p, i, j) => {
      const [a, b] = [load(letter, p.x, i), load(letter, p.y, j)];
      store(letter, p.x, i, b);
      store(letter, p.y, j, a);
    });

/** `y = alpha * x + y` */
export const axpy =
  <L extends Letter>(letter: L) =>
  (handle: CublasHandle, n: number, alpha: Scalar<L>, x: Memory<L>, incx: number, y: Memory<L>, incy: number): void => {
    const [re, im] = scalarParts(alpha);
    // Nothing is added where the factor is 0, NaN neither.
    if (isZero(alpha)) return;
    run(handle, letter, 'axpy', { n, x, incx, y, incy }, { alpha: re, alphaIm: im }, (p, i, j) =>
      store(letter, p.y, j, multiplyAdd(number(letter, p.alpha, p.alphaIm), load(letter, p.x, i), load(letter, p.y, j))),
    );
  };

/** `x = alpha * x` */
export const scal =
  <L extends Letter>(letter: L) =>
  (handle: CublasHandle, n: number, alpha: Scalar<L>, x: Memory<L>, incx: number): void => {
    if (incx <= 0) return;
    const [re, im] = scalarParts(alpha);
    run(handle, letter, 'scal', { n, x, incx }, { alpha: re, alphaIm: im }, (p, i) =>
      store(letter, p.x, i, multiply(number(letter, p.alpha, p.alphaIm), load(letter, p.x, i))),
    );
  };

/** A rotation: `x = c * x + s * y` and `y = c * y - conj(s) * x`. The cosine is real. */
export const rot =
  <L extends Letter>(letter: L) =>
  (handle: CublasHandle, n: number, x: Memory<L>, incx: number, y: Memory<L>, incy: number, c: number, s: Scalar<L>): void => {
    const [re, im] = scalarParts(s);
    run(handle, letter, 'rot', { n, x, incx, y, incy }, { c, s: re, sIm: im }, (p, i, j) => {
      const [a, b, sine] = [load(letter, p.x, i), load(letter, p.y, j), number(letter, p.s, p.sIm)];
      const scaled = (value: Num): Num => ({ re: value.re.mul(p.c), ...(value.im ? { im: value.im.mul(p.c) } : {}) });
      const back = conjugate(sine);
      const minus: Num = { re: back.re.neg(), ...(back.im ? { im: back.im.neg() } : {}) };
      store(letter, p.x, i, multiplyAdd(sine, b, scaled(a)));
      store(letter, p.y, j, multiplyAdd(minus, a, scaled(b)));
    });
  };

/** A modified rotation by `[flag, h11, h21, h12, h22]`, as `rotmg` gives it. */
export const rotm =
  <L extends 'S' | 'D'>(letter: L) =>
  (handle: CublasHandle, n: number, x: Memory<L>, incx: number, y: Memory<L>, incy: number, param: readonly number[]): void => {
    const [flag, h11, h21, h12, h22] = param as [number, number, number, number, number];
    if (flag === -2) return;
    const values = {
      h0: flag === 0 ? 1 : h11,
      h1: flag === 1 ? -1 : h21,
      h2: flag === 1 ? 1 : h12,
      h3: flag === 0 ? 1 : h22,
    };
    run(handle, letter, 'rotm', { n, x, incx, y, incy }, values, (p, i, j) => {
      const [a, b] = [p.x.at(i).get(), p.y.at(j).get()];
      p.x.at(i).set(p.h0.fma(a, p.h2.mul(b)));
      p.y.at(j).set(p.h1.fma(a, p.h3.mul(b)));
    });
  };

/** Reads results of a function into the program, or leaves them in the memory that it was given. */
async function delivered<T>(handle: CublasHandle, buffer: KernelBuffer, read: (values: ArrayLike<number>) => T): Promise<T> {
  const values = await buffer.read(handle.stream ? { stream: handle.stream } : {});
  buffer.free();
  return read(values as ArrayLike<number>);
}

interface Wanted {
  readonly handle: CublasHandle;
  /** The memory of the result that the caller has. */
  readonly result: unknown;
  readonly type: 'f32' | 'f64' | 'i32';
  readonly count: number;
}

/** Runs a reduction whose result goes where the caller wants it. */
function into<T>(
  { handle, result, type, count }: Wanted,
  reduce: ((to: KernelBuffer) => void) | undefined,
  read: (values: ArrayLike<number>) => T,
) {
  const to = (result ?? handle.device.allocate(type, count)) as KernelBuffer;
  // New memory is zeros, and so is the result of no elements.
  if (reduce) reduce(to);
  else if (result) to.fill(0 as never, handle.stream ? { stream: handle.stream } : {});
  return result ? undefined : delivered(handle, to, read);
}

const elementName = (letter: Letter): 'f32' | 'f64' => (letter === 'S' || letter === 'C' ? 'f32' : 'f64');
/** What a function with a result gives: a promise of it, or nothing where it goes to memory. */
export interface WithResult<A extends readonly unknown[], T, M> {
  (handle: CublasHandle, ...args: A): Promise<T>;
  (handle: CublasHandle, ...args: [...A, result: M]): void;
}

type Dot<L extends Letter> = WithResult<
  [n: number, x: Memory<L>, incx: number, y: Memory<L>, incy: number],
  L extends 'C' | 'Z' ? Complex : number,
  Memory<L>
>;

/** `Σ x[i] * y[i]`, of conjugates of x with `isConjugated`. */
export const dot = <L extends Letter>(letter: L, isConjugated = false): Dot<L> =>
  ((handle: CublasHandle, n: number, x: unknown, incx: number, y: unknown, incy: number, result?: unknown) => {
    const name = isComplex(letter) ? (isConjugated ? 'dotc' : 'dotu') : 'dot';
    const places = placesOf(letter, named(letter, name), { n, x, incx, y, incy });
    const type = realType(letter);
    const numberIn = (t: Tuple): Num => (isComplex(letter) ? { re: t[0]!, im: t[1]! } : { re: t[0]! });
    const tuple = (v: Num): Tuple => (v.im ? [v.re, v.im] : [v.re]);
    const types = isComplex(letter) ? [type, type] : [type];
    const reduction = {
      ...{ name: kernelName(letter, name), types, results: types, identity: [0, 0] },
      parameters: { x: ptr(type), y: ptr(type), x0: s64, incx: s64, y0: s64, incy: s64 },
      element: (p: Places, i: Value<'s64'>): Tuple => {
        const a = load(letter, p.x, p.x0.add(i.mul(p.incx)));
        return tuple(multiply(isConjugated ? conjugate(a) : a, load(letter, p.y, p.y0.add(i.mul(p.incy)))));
      },
      join: (a: Tuple, b: Tuple): Tuple => tuple(add(numberIn(a), numberIn(b))),
      finish: (whole: Tuple): Tuple => whole,
    };
    const count = types.length;
    const { n: _n, ...rest } = places ?? {};
    const to = (buffer: KernelBuffer): void =>
      reduceVector(handle, reduction, n, rest, count === 2 ? [buffer.part(0, 1), buffer.part(1, 1)] : [buffer]);
    return into({ handle, result, type: elementName(letter), count }, places ? to : undefined, (v) => (count === 2 ? [v[0], v[1]] : v[0]));
  }) as Dot<L>;

type Norm<L extends Letter> = WithResult<[n: number, x: Memory<L>, incx: number], number, Memory<L>>;
type One = Inside<'x' | 'scale', 'x0' | 'incx'>;
const oneVector = (letter: Letter) => ({ x: ptr(realType(letter)), x0: s64, incx: s64 });
const oneOf = (places: Record<string, unknown>): Record<string, unknown> => ({ x: places.x, x0: places.x0, incx: places.incx });
const elementIn = (letter: Letter, p: One, i: Value<'s64'>): Num => load(letter, p.x, p.x0.add(i.mul(p.incx)));

/** `Σ |re x[i]| + |im x[i]|` */
export const asum = <L extends Letter>(letter: L): Norm<L> =>
  ((handle: CublasHandle, n: number, x: unknown, incx: number, result?: unknown) => {
    const places = incx > 0 ? placesOf(letter, named(letter, 'asum'), { n, x, incx }) : undefined;
    const type = realType(letter);
    const reduction = {
      ...{ name: kernelName(letter, 'asum'), parameters: oneVector(letter), types: [type], results: [type], identity: [0] },
      element: (p: One, i: Value<'s64'>): Tuple => [size1(elementIn(letter, p, i))],
      join: ([a]: Tuple, [b]: Tuple): Tuple => [a!.add(b!)],
      finish: (whole: Tuple): Tuple => whole,
    };
    const to = (buffer: KernelBuffer): void => reduceVector(handle, reduction, n, oneOf(places!), [buffer]);
    return into({ handle, result, type: elementName(letter), count: 1 }, places ? to : undefined, (v) => v[0]);
  }) as Norm<L>;

/** The Euclidean norm. Numbers are divided by the largest one first, so that squares neither overflow nor vanish. */
export const nrm2 = <L extends Letter>(letter: L): Norm<L> =>
  ((handle: CublasHandle, n: number, x: unknown, incx: number, result?: unknown) => {
    const places = incx > 0 ? placesOf(letter, named(letter, 'nrm2'), { n, x, incx }) : undefined;
    const type = realType(letter);
    const parts = ({ re, im }: Num): Real[] => (im ? [re, im] : [re]);
    const largest = {
      ...{ name: kernelName(letter, 'nrm2_scale'), parameters: oneVector(letter), types: [type], results: [type], identity: [0] },
      element: (p: One, i: Value<'s64'>): Tuple => [
        parts(elementIn(letter, p, i))
          .reduce((most, each) => most.abs().max(each.abs()))
          .abs(),
      ],
      join: ([a]: Tuple, [b]: Tuple): Tuple => [a!.max(b!)],
      finish: (whole: Tuple): Tuple => whole,
    };
    const squares = {
      ...{ name: kernelName(letter, 'nrm2'), types: [type], results: [type], identity: [0] },
      parameters: { ...oneVector(letter), scale: ptr(type) },
      element: (p: One, i: Value<'s64'>): Tuple => {
        const scale = p.scale.at(0).get();
        const divisor = isPlain(scale).select(scale, 1);
        return [
          parts(elementIn(letter, p, i))
            .map((each) => each.div(divisor))
            .map((each) => each.mul(each))
            .reduce((a, b) => a.add(b)),
        ];
      },
      join: ([a]: Tuple, [b]: Tuple): Tuple => [a!.add(b!)],
      finish: ([sum]: Tuple, p: One): Tuple => {
        const scale = p.scale.at(0).get();
        return [isPlain(scale).select(scale.mul(sum!.sqrt()), sum!.sqrt())];
      },
    };
    const to = (buffer: KernelBuffer): void => {
      const scale = handle.device.allocate(elementName(letter), 1);
      reduceVector(handle, largest, n, oneOf(places!), [scale]);
      reduceVector(handle, squares, n, { ...oneOf(places!), scale }, [buffer]);
      scale.free();
    };
    return into({ handle, result, type: elementName(letter), count: 1 }, places ? to : undefined, (v) => v[0]);
  }) as Norm<L>;
/** Whether numbers can be divided by it. */
const isPlain = (scale: Real): Value<'pred'> => scale.gt(0).and(scale.lt(Number.POSITIVE_INFINITY));

type Extreme<L extends Letter> = WithResult<[n: number, x: Memory<L>, incx: number], number, KernelBuffer<'i32'>>;

/** Where `|re| + |im|` is largest or smallest: the first place, counted from 1; 0 for no elements. */
export const extreme = <L extends Letter>(letter: L, how: 'amax' | 'amin'): Extreme<L> =>
  ((handle: CublasHandle, n: number, x: unknown, incx: number, result?: unknown) => {
    const places = incx > 0 ? placesOf(letter, `cublasI${letter.toLowerCase()}${how}`, { n, x, incx }) : undefined;
    const type = realType(letter);
    const reduction = {
      ...{ name: kernelName(letter, how), parameters: oneVector(letter), identity: [0, 0] },
      ...{ types: [type, placeType], results: [placeType] },
      element: (p: One, i: Value<'s64'>): Tuple => [size1(elementIn(letter, p, i)), i.add(1).to(placeType as never) as unknown as Real],
      // A place of 0 is that of no element.
      join: ([a, i]: Tuple, [b, j]: Tuple): Tuple => {
        const isBetter = how === 'amax' ? b!.gt(a!) : b!.lt(a!);
        const isFirst = b!.eq(a!).and(j!.lt(i!));
        const isB = i!.eq(0).or(j!.ne(0).and(isBetter.or(isFirst)));
        return [isB.select(b!, a!), isB.select(j!, i!)];
      },
      finish: ([, place]: Tuple): Tuple => [place!],
    };
    const to = (buffer: KernelBuffer): void => reduceVector(handle, reduction, n, oneOf(places!), [buffer]);
    return into({ handle, result, type: 'i32', count: 1 }, places ? to : undefined, (v) => v[0]);
  }) as Extreme<L>;

const signOf = (x: number): number => (x < 0 ? -1 : 1);

/** The rotation that makes b zero: `[r, z, c, s]`, as BLAS's SROTG. Computed on the host. */
export const rotg =
  (letter: 'S' | 'D') =>
  (_handle: CublasHandle, a: number, b: number): [r: number, z: number, c: number, s: number] => {
    const round = letter === 'S' ? Math.fround : (x: number): number => x;
    const scale = Math.abs(a) + Math.abs(b);
    if (scale === 0) return [0, 0, 1, 0];
    const isA = Math.abs(a) > Math.abs(b);
    const r = signOf(isA ? a : b) * scale * Math.hypot(a / scale, b / scale);
    const [c, s] = [a / r, b / r];
    const z = isA ? s : c !== 0 ? 1 / c : 1;
    return [round(r), round(z), round(c), round(s)];
  };
