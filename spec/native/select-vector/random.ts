/** Random numbers that are the same in every run, and the values that lanes of operands have. */

export interface Random {
  /** 32 bits. */
  bits(): number;
  below(limit: number): number;
  of<T>(items: readonly T[]): T;
}

/** A generator after George Marsaglia, "Xorshift RNGs" (2003). */
export function newRandom(seed: number): Random {
  let state = (seed * 2654435761) >>> 0 || 1;
  const bits = (): number => {
    state ^= state << 13;
    state >>>= 0;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state;
  };
  const below = (limit: number): number => Math.floor((bits() / 2 ** 32) * limit);
  return { bits, below, of: (items) => items[below(items.length)]! };
}

const f32 = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  3.25,
  1e-40,
  -1e-45,
  1.17549435e-38,
  3.4028235e38,
  -3.4028235e38,
  Infinity,
  -Infinity,
  NaN,
  2147483520,
  2147483648,
  -2147483648,
  -2147483904,
  4294967040,
  4294967296,
  8388607.5,
  8388609,
  -0.99999994,
  65535.5,
  16777216,
];
const f64 = [
  0,
  -0,
  1,
  -1,
  0.5,
  -0.5,
  1.5,
  2.5,
  -2.5,
  Math.PI,
  5e-324,
  -2.2250738585072014e-308,
  1.7976931348623157e308,
  Infinity,
  -Infinity,
  NaN,
  2147483646.5,
  2147483647,
  2147483647.5,
  2147483648,
  -2147483648,
  -2147483648.5,
  -2147483649,
  4294967294.5,
  4294967295,
  4294967295.5,
  4294967296,
  -0.999999,
  4503599627370495.5,
  4503599627370497,
  1e-46,
  3.4028235677973366e38,
  1.1754943508222874e-38,
];
/** Bits of NaNs: signaling ones, with a sign, with a payload. */
const nans32 = [0x7f800001, 0xffa00000, 0x7fffffff, 0xffc00000];
const nans64 = [0x7ff0000000000001n, 0xfff4000000000000n, 0x7fffffffffffffffn];
const i64 = [0n, 1n, -1n, 1n << 63n, (1n << 63n) - 1n, 0xffffffffn, 1n << 32n, 0x80000000n, -(1n << 31n), 0x7fffffffn];
const i32 = [0, 1, -1, 0x80000000, 0x7fffffff, 0x8000, 0x7fff, 0xffff8000, 0x10000, 0xffff];
const i16 = [0, 1, 0xffff, 0x8000, 0x7fff, 0x80, 0x7f, 0xff7f, 0xff80, 0x100, 0xff];
const i8 = [0, 1, 0xff, 0x80, 0x7f, 0xfe, 0x40, 15, 16, 31, 0x8f];

export type LaneKind = 'i8' | 'i16' | 'i32' | 'i64' | 'f32' | 'f64';

/** Fills bytes with lanes of a kind, every other one an edge case. */
export function fill(view: DataView, offset: number, bytes: number, kind: LaneKind, random: Random): void {
  for (let i = 0; i < bytes; i += 4) view.setUint32(offset + i, random.bits(), true);
  const size = Number(kind.slice(1)) / 8;
  for (let at = offset; at < offset + bytes; at += size) {
    if (random.below(4) === 0) continue;
    if (kind === 'i8') view.setUint8(at, random.of(i8));
    else if (kind === 'i16') view.setUint16(at, random.of(i16), true);
    else if (kind === 'i32') view.setUint32(at, random.of(i32), true);
    else if (kind === 'i64') view.setBigInt64(at, BigInt.asIntN(64, random.of(i64)), true);
    else if (random.below(8) === 0) {
      if (kind === 'f32') view.setUint32(at, random.of(nans32), true);
      else view.setBigUint64(at, random.of(nans64), true);
    } else if (kind === 'f32') view.setFloat32(at, random.of(f32) * random.of([1, 1, 1, -1]), true);
    else view.setFloat64(at, random.of(f64) * random.of([1, 1, 1, -1]), true);
  }
}
