/** Where the threads of generators begin: states of sequences far from each other, computed on the host. */

/** Arithmetic of 32 bits without a sign. */
const word = (x: number): number => x >>> 0;
const halves = (seed: bigint): readonly [low: number, high: number] => [Number(seed & 0xffffffffn), Number((seed >> 32n) & 0xffffffffn)];

/** Threads with a place in the output each: how many numbers of a thread are gone. */
export interface Start {
  readonly threads: number;
  readonly seed: bigint;
  /** The numbers that thread t has behind it. */
  gone(thread: number): bigint;
}

type Polynomial = Uint32Array<ArrayBuffer>;
/** The characteristic polynomial of xorshift with 160 bits, below x^160. Source: G. Marsaglia, "Xorshift RNGs", 2003. */
const characteristic = Uint32Array.of(0x00060001, 0x08610030, 0x00062121, 0x0f3c0035, 0x00000f0e);

/** The product of two polynomials over two elements, by the characteristic one. */
function multiply(a: Polynomial, b: Polynomial): Polynomial {
  const [power, sum] = [Uint32Array.from(a), new Uint32Array(5)];
  for (let bit = 0; bit < 160; bit++) {
    const take = -((b[bit >> 5]! >>> (bit & 31)) & 1);
    const carry = -(power[4]! >>> 31);
    for (let i = 4; i >= 0; i--) {
      sum[i] = sum[i]! ^ (power[i]! & take);
      power[i] = ((power[i]! << 1) | (i > 0 ? power[i - 1]! >>> 31 : 0)) ^ (carry & characteristic[i]!);
    }
  }
  return sum;
}

/** x to a power, by the characteristic polynomial. */
function powerOf(n: bigint): Polynomial {
  let [result, base] = [Uint32Array.of(1, 0, 0, 0, 0), Uint32Array.of(2, 0, 0, 0, 0)];
  for (let rest = n; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

/** The state that many steps on: a polynomial of the step, applied to the state. */
function apply(state: Uint32Array, polynomial: Polynomial): void {
  const sum = new Uint32Array(5);
  for (let bit = 0; bit < 160; bit++) {
    if ((polynomial[bit >> 5]! >>> (bit & 31)) & 1) for (let i = 0; i < 5; i++) sum[i] = sum[i]! ^ state[i]!;
    const t = state[0]! ^ (state[0]! >>> 2);
    state.copyWithin(0, 1);
    state[4] = state[4]! ^ (state[4]! << 4) ^ (t ^ (t << 1));
  }
  state.set(sum);
}

/** The numbers from one sequence of XORWOW to the next are 2^67. */
const sequencePower = (): Polynomial => powerOf(1n << 67n);

/** The six words of XORWOW of each thread, word by word: the Weyl sequence first. Source: cuRAND Library, "Bit Generation with XORWOW". */
export function xorwowStates({ threads, seed, gone }: Start): Uint32Array {
  const [low, high] = halves(seed);
  const t0 = word(Math.imul(1099087573, low ^ 0xaad26b49));
  const t1 = word(Math.imul(2591861531, high ^ 0xf7dcefdd));
  const first = Uint32Array.of(123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0);
  const all = new Uint32Array(6 * threads);
  const step = sequencePower();
  const skips = new Map<bigint, Polynomial>();
  const current = Uint32Array.from(first);
  for (let t = 0; t < threads; t++) {
    const behind = gone(t);
    const own = Uint32Array.from(current);
    if (behind > 0n) {
      const skip = skips.get(behind) ?? powerOf(behind);
      skips.set(behind, skip);
      apply(own, skip);
    }
    all[t] = 6615241 + t1 + t0 + Math.imul(362437, Number(behind & 0xffffffffn));
    for (let i = 0; i < 5; i++) all[(i + 1) * threads + t] = own[i]!;
    apply(current, step);
  }
  return all;
}

/** The moduli of MRG32k3a. Source: P. L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators", 1999. */
const moduli = [4294967087, 4294944443] as const;
type Matrix = readonly number[];
const recurrences: readonly [Matrix, Matrix] = [
  [0, 1, 0, 0, 0, 1, 4294967087 - 810728, 1403580, 0],
  [0, 1, 0, 0, 0, 1, 4294944443 - 1370589, 0, 527612],
];

/** A product of two numbers of 32 bits, by a modulus: in halves, so that every number is exact. */
const times = (a: number, b: number, m: number): number => (((a * (b >>> 16)) % m) * 65536 + a * (b & 0xffff)) % m;
const product = (a: Matrix, b: Matrix, m: number): Matrix =>
  a.map((_, i) => {
    let sum = 0;
    for (let k = 0; k < 3; k++) sum = (sum + times(a[i - (i % 3) + k]!, b[k * 3 + (i % 3)]!, m)) % m;
    return sum;
  });
function matrixPower(matrix: Matrix, n: bigint, m: number): Matrix {
  let [result, base]: [Matrix, Matrix] = [[1, 0, 0, 0, 1, 0, 0, 0, 1], matrix];
  for (let rest = n; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = product(result, base, m);
    base = product(base, base, m);
  }
  return result;
}
const applied = (matrix: Matrix, s: readonly number[], m: number): number[] =>
  [0, 1, 2].map((i) => (times(matrix[3 * i]!, s[0]!, m) + times(matrix[3 * i + 1]!, s[1]!, m) + times(matrix[3 * i + 2]!, s[2]!, m)) % m);

/** The six words of MRG32k3a of each thread, word by word. Sequences are 2^76 numbers from each other. */
export function mrgStates({ threads, seed, gone }: Start): Uint32Array {
  const [low, high] = halves(seed);
  const [a, b] = [word(low ^ 0x55555555), word(high ^ 0xaaaaaaaa)];
  const all = new Uint32Array(6 * threads);
  for (const part of [0, 1] as const) {
    const m = moduli[part];
    // The halves of the seed are multiplied into the state alternately.
    let state = [0, 1, 2].map((i) => (seed === 0n ? 12345 : times((i & 1) !== part ? b : a, 12345, m)));
    const step = matrixPower(recurrences[part], 1n << 76n, m);
    const skips = new Map<bigint, Matrix>();
    for (let t = 0; t < threads; t++) {
      const behind = gone(t);
      let own = state;
      if (behind > 0n) {
        const skip = skips.get(behind) ?? matrixPower(recurrences[part], behind, m);
        skips.set(behind, skip);
        own = applied(skip, state, m);
      }
      for (let i = 0; i < 3; i++) all[(3 * part + i) * threads + t] = own[i]!;
      state = applied(step, state, m);
    }
  }
  return all;
}

/** The number of each thread of Philox that comes next, as two words. */
export function philoxStates({ threads, gone }: Start): Uint32Array {
  const all = new Uint32Array(2 * threads);
  for (let t = 0; t < threads; t++) {
    const behind = gone(t);
    all[t] = Number(behind & 0xffffffffn);
    all[threads + t] = Number((behind >> 32n) & 0xffffffffn);
  }
  return all;
}

/** The degree of a primitive polynomial, its inner coefficients, and the first numbers. Source: S. Joe, F. Kuo, table new-joe-kuo-6, 2008. */
const sobolTable: readonly (readonly [degree: number, coefficients: number, first: readonly number[]])[] = [
  [1, 0, [1]],
  [2, 1, [1, 3]],
  [3, 1, [1, 3, 1]],
  [3, 2, [1, 1, 1]],
  [4, 1, [1, 1, 3, 3]],
  [4, 4, [1, 3, 5, 13]],
  [5, 2, [1, 1, 5, 5, 17]],
  [5, 4, [1, 1, 5, 5, 5]],
  [5, 7, [1, 1, 7, 11, 19]],
  [5, 11, [1, 1, 5, 1, 1]],
  [5, 13, [1, 1, 1, 3, 11]],
  [5, 14, [1, 3, 5, 5, 31]],
  [6, 1, [1, 3, 3, 9, 7, 49]],
  [6, 13, [1, 1, 1, 15, 21, 21]],
  [6, 16, [1, 3, 1, 13, 27, 49]],
  [6, 19, [1, 1, 1, 15, 7, 5]],
  [6, 22, [1, 3, 1, 15, 13, 25]],
  [6, 25, [1, 1, 5, 5, 19, 61]],
  [7, 1, [1, 3, 7, 11, 23, 15, 103]],
];
/** The dimensions of Sobol's points. */
export const maxDimensions = sobolTable.length + 1;

/** The 64 directions of a dimension, from 0 on, their first bits at the top. */
export function sobolDirections(dimension: number): BigUint64Array {
  const to = new BigUint64Array(64);
  const [degree, coefficients, first] = dimension === 0 ? [64, 0, Array<number>(64).fill(1)] : sobolTable[dimension - 1]!;
  for (let i = 0; i < 64; i++) {
    if (i < degree) {
      to[i] = BigInt(first[i]!) << BigInt(63 - i);
      continue;
    }
    let v = to[i - degree]! ^ (to[i - degree]! >> BigInt(degree));
    for (let k = 1; k < degree; k++) if ((coefficients >> (degree - 1 - k)) & 1) v ^= to[i - k]!;
    to[i] = v;
  }
  return to;
}
