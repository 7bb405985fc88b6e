/**
 * How far sums of products may lie apart that are rounded in different ways, from the numbers that are added: each way is off by so
 * many last places of a single for each term. Layouts of fragments are worked out here from the manual's text (PTX ISA 9.0, 9.7.14.5).
 */

export interface Distance {
  readonly apart: number;
  /** Whether what is added comes to the end of the range, or holds what is no number. */
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

/** A number by its bits. */
function numberOf(type: string, bits: number): number {
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

/** The part of a word that an element of so many bits is. */
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

/** Of `mma.sync.aligned.m16n8…`: what two ways to round may differ by, for each number of d. */
export function distances(form: string, type: 'f16' | 'f32', count: number, trials: number, pools: readonly Uint32Array[]): Distance[] {
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
    const terms = Array.from({ length: k }, (_, i) => {
      const [x, y] = [elementsOf.a(pools[0]!, left!, trial, row, i), elementsOf.b(pools[1]!, right!, trial, i, column)];
      return size(left!, x) * size(right!, y);
    });
    return distance(
      type,
      k,
      terms.reduce((sum, term) => sum + term, Math.abs(c)),
    );
  });
}

/** Subnormal numbers count as the least normal one: by its exponent tensor cores align what they add. */
const size = (type: string, x: number): number => (x === 0 ? 0 : Math.max(Math.abs(x), leastOf(formats[type]!)));

function distance(type: 'f16' | 'f32', k: number, sum: number): Distance {
  const apart = (k + 1) * 2 ** -23 * sum + k * 2 ** -149;
  return {
    apart: type === 'f16' ? apart + Math.max(2 ** -10 * Math.min(sum, most.f16), 2 ** -24) : apart,
    mayOverflow: Number.isFinite(sum) && sum > most[type] / 2,
  };
}

/** Of other products: for trials of numbers below 8 and of whole ones; nothing for those of wide numbers and of edges. */
export function mixedDistance(form: string, count: number, perTrial: number): (Distance | undefined)[] {
  const k = Number(/m\d+n\d+k(\d+)/.exec(form)![1]);
  const type = /(\.f16\.f16|\.f16\.f32)$/.test(form) && form.startsWith('wmma') ? 'f16' : 'f32';
  const near = distance(type, k, 64 * k + 8);
  return Array.from({ length: count }, (_, i) => ([0, 3].includes(Math.floor(i / perTrial)) ? near : undefined));
}
