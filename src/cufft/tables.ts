/** Tables of a transform of one length: roots of unity, and the chirp of lengths with large primes; and how a length is taken apart. */

/** The largest prime of a pass. */
const largestRadix = 13;

/** The radices of the passes of a length, powers of two first; nothing if a prime is too large. */
export function radicesOf(length: number): number[] | undefined {
  let [rest, bits] = [length, 0];
  while (rest % 2 === 0) {
    rest /= 2;
    bits++;
  }
  const radices: number[] = Array<number>(Math.floor(bits / 4)).fill(16);
  const left = bits % 4;
  // 32 is 8 by 4, so that no pass has a radix of 2 beside one of 16.
  if (left === 1 && radices.length > 0) radices.splice(-1, 1, 8, 4);
  else if (left > 0) radices.push(2 ** left);
  for (let prime = 3; prime <= largestRadix; prime += 2)
    while (rest % prime === 0 && [3, 5, 7, 11, 13].includes(prime)) {
      radices.push(prime);
      rest /= prime;
    }
  return rest === 1 ? radices : undefined;
}

/** The most bits of a pass over blocks, of a whole transform and of columns, and the least. */
const blockBits = { whole: 12, columns: 10, least: 5 } as const;

/**
 * The radices of the passes of a length where the threads of a block share a sequence: few and large powers of two, and then the odd ones. `inner`: numbers
 * between neighbors. Nothing where the power of two is too small for that, or a prime too large.
 */
export function blocksOf(length: number, inner: number): number[] | undefined {
  const odd = radicesOf(length)?.filter((radix) => radix % 2 === 1);
  if (!odd) return undefined;
  const bits = Math.log2(odd.reduce((rest, radix) => rest / radix, length));
  if (bits < blockBits.least) return undefined;
  if (odd.length === 0 && inner === 1 && bits <= blockBits.whole) return [length];
  const passes = Math.ceil(bits / blockBits.columns);
  return [...Array.from({ length: passes }, (_, i) => 2 ** Math.floor((bits + i) / passes)).reverse(), ...odd];
}

/** The length of a convolution for a length with a large prime: a power of two. */
export const paddedLength = (length: number): number => 2 ** Math.ceil(Math.log2(2 * length - 1));

/** Real and imaginary parts. */
export interface Parts {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** exp(-πi k / n), with k reduced to a whole turn and to an eighth of it, so that roots which are alike are equal. */
function turn(k: number, n: number): [re: number, im: number] {
  const turns = k % (2 * n);
  const eighths = Math.floor((4 * turns) / n);
  const inside = (angle: number): [number, number] => [Math.cos(angle), Math.sin(angle)];
  const step = Math.PI / n;
  const [c, s] =
    eighths % 2 === 0
      ? inside(step * (turns - (eighths * n) / 4))
      : (([a, b]): [number, number] => [b, a])(inside(step * (((eighths + 1) * n) / 4 - turns)));
  const quarter = eighths >> 1;
  const [re, im] = quarter === 0 ? [c, s] : quarter === 1 ? [-s, c] : quarter === 2 ? [-c, -s] : [s, -c];
  return [re, -im];
}

/** exp(-2πi k / n) for all k. */
export function rootsOfUnity(n: number): Parts {
  const to = { re: new Float64Array(n), im: new Float64Array(n) };
  for (let k = 0; k < n; k++) [to.re[k], to.im[k]] = turn(2 * k, n) as [number, number];
  return to;
}

/** exp(-πi k² / n), and the forward transform of its conjugate, which is continued to both sides. */
export function chirpOf(n: number, padded: number): { readonly chirp: Parts; readonly filter: Parts } {
  const chirp = { re: new Float64Array(n), im: new Float64Array(n) };
  const filter = { re: new Float64Array(padded), im: new Float64Array(padded) };
  for (let k = 0; k < n; k++) {
    // The square, by twice the length, without more bits than a number has.
    const square = Number((BigInt(k) * BigInt(k)) % BigInt(2 * n));
    const [re, im] = turn(square, n);
    [chirp.re[k], chirp.im[k]] = [re, im];
    for (const at of k === 0 ? [0] : [k, padded - k]) [filter.re[at], filter.im[at]] = [re, -im];
  }
  transform(filter);
  return { chirp, filter };
}

/** A forward transform of a power of two, on the host. */
function transform({ re, im }: Parts): void {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) {
      [re[i], re[j]] = [re[j]!, re[i]!];
      [im[i], im[j]] = [im[j]!, im[i]!];
    }
  }
  for (let half = 1; half < n; half *= 2)
    for (let k = 0; k < half; k++) {
      const [c, s] = turn(k, half);
      for (let i = k; i < n; i += 2 * half) {
        const j = i + half;
        const [x, y] = [re[j]! * c - im[j]! * s, re[j]! * s + im[j]! * c];
        [re[j], im[j]] = [re[i]! - x, im[i]! - y];
        [re[i], im[i]] = [re[i]! + x, im[i]! + y];
      }
    }
}
