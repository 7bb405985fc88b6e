/**
 * Bounds on the difference between sums of products that are rounded in different ways: each way has an error of some single-precision
 * units in the last place per term. Fragment layouts are computed from the manual's text (PTX ISA 9.0, 9.7.14.5).
 */

export interface Distance {
  readonly tolerance: number;
  /** Whether the terms reach the end of the range, or include infinities or NaNs. */
  readonly mayOverflow: boolean;
}

interface Format {
  readonly bits: number;
  readonly exponentBits: number;
  readonly fractionBits: number;
}

const formats: Readonly<Record<string, Format>> = {
  f16: { bits: 16, exponentBits: 5, fractionBits: 10 },
  bf16: { bits: 16, exponentBits: 8, fractionBits: 7 },
  tf32: { bits: 32, exponentBits: 8, fractionBits: 23 },
  f32: { bits: 32, exponentBits: 8, fractionBits: 23 },
  e4m3: { bits: 8, exponentBits: 4, fractionBits: 3 },
  e5m2: { bits: 8, exponentBits: 5, fractionBits: 2 },
};
const most = { f16: 65504, f32: 3.4028234663852886e38 } as const;

/** The least normal number. */
const leastOf = ({ exponentBits }: Format): number => 2 ** (2 - 2 ** (exponentBits - 1));

/** The bits of a tf32 value that are read; the lower ones are ignored. */
const tf32Bits = 0xffffe000;

/** A value from its bits. */
function numberOf(type: string, given: number): number {
  const bits = type === 'tf32' ? given & tf32Bits : given;
  const { exponentBits, fractionBits } = formats[type]!;
  const bias = 2 ** (exponentBits - 1) - 1;
  const sign = (bits >>> (exponentBits + fractionBits)) & 1 ? -1 : 1;
  const exponent = (bits >>> fractionBits) & (2 ** exponentBits - 1);
  const fraction = (bits & (2 ** fractionBits - 1)) >>> 0;
  const isTop = exponent === 2 ** exponentBits - 1;
  if (type === 'e4m3' ? isTop && fraction === 7 : isTop && fraction !== 0) return Number.NaN;
  if (isTop && type !== 'e4m3') return sign * Number.POSITIVE_INFINITY;
  return exponent === 0
    ? sign * fraction * 2 ** (1 - bias - fractionBits)
    : sign * (1 + fraction / 2 ** fractionBits) * 2 ** (exponent - bias);
}

/** The numbers in words of 32 bits. */
export function numbersOf(type: 'f16' | 'f32', bytes: Uint8Array): number[] {
  const words = [...new Uint32Array(bytes.slice().buffer)];
  return type === 'f32'
    ? words.map((word) => numberOf('f32', word))
    : words.flatMap((word) => [0, 16].map((at) => numberOf('f16', (word >>> at) & 0xffff)));
}

/** Eight registers of each of 32 threads. */
const wordAt = (pool: Uint32Array, trial: number, lane: number, register: number): number => pool[(trial * 32 + lane) * 8 + register]!;

/** An element of some bits within a word. */
const partOf = (word: number, part: number, bits: number): number => (word >>> (part * bits)) & (bits === 32 ? -1 : 2 ** bits - 1);

/** `m16n8`: groups of four threads have rows of a and columns of b, eight apart in further registers. */
const elementsOf = {
  a(pool: Uint32Array, type: string, trial: number, row: number, k: number): number {
    const { bits } = formats[type]!;
    const count = 32 / bits;
    const block = Math.floor(k / count);
    const word = wordAt(pool, trial, (row % 8) * 4 + (block % 4), Math.floor(row / 8) + 2 * Math.floor(block / 4));
    return numberOf(type, partOf(word, k % count, bits));
  },
  b(pool: Uint32Array, type: string, trial: number, k: number, column: number): number {
    const { bits } = formats[type]!;
    const count = 32 / bits;
    const block = Math.floor(k / count);
    return numberOf(type, partOf(wordAt(pool, trial, column * 4 + (block % 4), Math.floor(block / 4)), k % count, bits));
  },
};

/** The terms of one element of d. */
interface Addends {
  readonly left: string;
  readonly right: string;
  readonly factors: readonly (readonly [x: number, y: number])[];
  readonly c: number;
}

/** For `mma.sync.aligned.m16n8…`: the terms of each element of d. */
function addends(form: string, type: 'f16' | 'f32', count: number, trials: number, pools: readonly Uint32Array[]): Addends[] {
  const [, depth, left, right] = /m16n8k(\d+)\.row\.col\.\w+\.(\w+)\.(\w+)\.\w+$/.exec(form)!;
  const k = Number(depth);
  const perRegister = type === 'f16' ? 2 : 1;
  return Array.from({ length: trials * 32 * count * perRegister }, (_, at) => {
    const [register, lane] = [Math.floor(at / perRegister) % count, Math.floor(at / perRegister / count) % 32];
    const trial = Math.floor(at / perRegister / count / 32);
    const [group, thread] = [Math.floor(lane / 4), lane % 4];
    const isHalf = type === 'f16';
    const row = group + 8 * (isHalf ? register : Math.floor(register / 2));
    const column = thread * 2 + (isHalf ? at % 2 : register % 2);
    const word = wordAt(pools[2]!, trial, lane, register);
    const c = numberOf(type, isHalf ? (word >>> (16 * (at % 2))) & 0xffff : word);
    const factors = Array.from({ length: k }, (_, i) => {
      const [x, y] = [elementsOf.a(pools[0]!, left!, trial, row, i), elementsOf.b(pools[1]!, right!, trial, i, column)];
      return [x, y] as const;
    });
    return { left: left!, right: right!, factors, c };
  });
}

/** For `mma.sync.aligned.m16n8…`: the tolerance between two ways of rounding, for each element of d. */
export function distances(form: string, type: 'f16' | 'f32', count: number, trials: number, pools: readonly Uint32Array[]): Distance[] {
  return addends(form, type, count, trials, pools).map(({ left, right, factors, c }) => {
    const sum = factors.reduce((all, [x, y]) => all + size(left, x) * size(right, y), Math.abs(c));
    return distance(type, factors.length, sum);
  });
}

/** A finite value as an integer in units of 2^-1074. */
function unitsOf(x: number): bigint {
  const bits = new BigUint64Array(Float64Array.of(x).buffer)[0]!;
  const [exponent, fraction] = [(bits >> 52n) & 0x7ffn, bits & ((1n << 52n) - 1n)];
  const magnitude = exponent === 0n ? fraction : (fraction | (1n << 52n)) << (exponent - 1n);
  return x < 0 ? -magnitude : magnitude;
}

const magnitude = (x: bigint): bigint => (x < 0n ? -x : x);

/** Whether a sum is within the row's bound of the exact one; undefined where a term or the result is not finite. */
export function keepsBound(type: 'f16' | 'f32', { factors, c }: Addends, found: number): boolean | undefined {
  if (![c, found, ...factors.flat()].every(Number.isFinite)) return undefined;
  // In units of 2^-2148, the product of two units.
  const terms = [...factors.map(([x, y]) => unitsOf(x) * unitsOf(y)), unitsOf(c) << 1074n];
  const exact = terms.reduce((sum, term) => sum + term);
  const sizes = terms.reduce((sum, term) => sum + magnitude(term), 0n);
  const near = (BigInt(factors.length + 1) * sizes) / 2n ** 23n + (BigInt(factors.length) << (2148n - 149n));
  // The single-precision sum is rounded once more: by half a unit of 11 bits, or half of the smallest f16 value.
  const [relative, least] = [(magnitude(exact) + near) / 2n ** 11n, 1n << (2148n - 25n)];
  const rounded = type === 'f32' ? 0n : relative > least ? relative : least;
  return magnitude((unitsOf(found) << 1074n) - exact) <= near + rounded;
}

/** For `mma.sync.aligned.m16n8…`: how many elements of d are within the bound, outside, and without one. */
export function judgedExactly(
  form: string,
  type: 'f16' | 'f32',
  count: number,
  trials: number,
  pools: readonly Uint32Array[],
  found: readonly number[],
): { kept: number; broken: number; open: number } {
  const all = { kept: 0, broken: 0, open: 0 };
  for (const [i, each] of addends(form, type, count, trials, pools).entries()) {
    const keeps = keepsBound(type, each, found[i]!);
    all[keeps === undefined ? 'open' : keeps ? 'kept' : 'broken']++;
  }
  return all;
}

/** Subnormal values count as the smallest normal one, because tensor cores align terms by its exponent. */
const size = (type: string, x: number): number => (x === 0 ? 0 : Math.max(Math.abs(x), leastOf(formats[type]!)));

function distance(type: 'f16' | 'f32', k: number, sum: number): Distance {
  const tolerance = (k + 1) * 2 ** -23 * sum + k * 2 ** -149;
  return {
    tolerance: type === 'f16' ? tolerance + Math.max(2 ** -10 * Math.min(sum, most.f16), 2 ** -24) : tolerance,
    mayOverflow: Number.isFinite(sum) && sum > most[type] / 2,
  };
}

/** For other products: for trials of values below 8 and of integers; undefined for wide ranges and edges. */
export function mixedDistance(form: string, count: number, perTrial: number): (Distance | undefined)[] {
  const k = Number(/m\d+n\d+k(\d+)/.exec(form)![1]);
  const type = /(\.f16\.f16|\.f16\.f32)$/.test(form) && form.startsWith('wmma') ? 'f16' : 'f32';
  const near = distance(type, k, 64 * k + 8);
  return Array.from({ length: count }, (_, i) => ([0, 3].includes(Math.floor(i / perTrial)) ? near : undefined));
}
