/** Transforms of a few numbers in registers. Source: C. Van Loan, "Computational Frameworks for the Fast Fourier Transform", 1992. */
import type { Value } from '../build/index.ts';

/** A real value as the body of a kernel sees it: f32 or f64. */
export type Real = Value<'f32'>;
/** A complex value. */
export interface Complex {
  readonly re: Real;
  readonly im: Real;
}

/** The sum. */
export const add = (a: Complex, b: Complex): Complex => ({ re: a.re.add(b.re), im: a.im.add(b.im) });
/** The difference. */
export const subtract = (a: Complex, b: Complex): Complex => ({ re: a.re.sub(b.re), im: a.im.sub(b.im) });
/** The product, each part rounded twice. */
export const multiply = (a: Complex, b: Complex): Complex => ({
  re: a.re.mul(b.re).sub(a.im.mul(b.im)),
  im: a.re.mul(b.im).add(a.im.mul(b.re)),
});

/** A number times exp(-2πik / n), whose parts are constants. */
function timesRoot(a: Complex, k: number, n: number): Complex {
  const eighth = (8 * (((k % n) + n) % n)) / n;
  if (eighth === 0) return a;
  if (eighth === 2) return { re: a.im, im: a.re.neg() };
  if (eighth === 4) return { re: a.re.neg(), im: a.im.neg() };
  if (eighth === 6) return { re: a.im.neg(), im: a.re };
  if (eighth % 2 === 1) {
    // An odd number of eighths has parts of the same size.
    const s = Math.SQRT1_2;
    const [sum, difference] = [a.re.add(a.im).mul(s), a.im.sub(a.re).mul(s)];
    if (eighth === 1) return { re: sum, im: difference };
    if (eighth === 3) return { re: difference, im: sum.neg() };
    if (eighth === 5) return { re: sum.neg(), im: difference.neg() };
    return { re: difference.neg(), im: sum };
  }
  const [c, s] = [Math.cos((2 * Math.PI * k) / n), -Math.sin((2 * Math.PI * k) / n)];
  return { re: a.re.mul(c).sub(a.im.mul(s)), im: a.im.mul(c).add(a.re.mul(s)) };
}

/** Sums of a prime number of values, with pairs of them that have the same roots but for a sign. */
function prime(a: readonly Complex[]): Complex[] {
  const n = a.length;
  const half = (n - 1) / 2;
  const pairs = Array.from({ length: half }, (_, t) => ({
    sum: add(a[t + 1]!, a[n - 1 - t]!),
    difference: subtract(a[t + 1]!, a[n - 1 - t]!),
  }));
  const to: Complex[] = [pairs.reduce((sum, pair) => add(sum, pair.sum), a[0]!)];
  for (let u = 1; u <= half; u++) {
    let { re, im } = a[0]!;
    let [x, y]: [Real | undefined, Real | undefined] = [undefined, undefined];
    for (const [t, { sum, difference }] of pairs.entries()) {
      const angle = (2 * Math.PI * ((u * (t + 1)) % n)) / n;
      const [c, s] = [Math.cos(angle), Math.sin(angle)];
      re = re.add(sum.re.mul(c));
      im = im.add(sum.im.mul(c));
      x = x ? x.add(difference.im.mul(s)) : difference.im.mul(s);
      y = y ? y.add(difference.re.mul(s)) : difference.re.mul(s);
    }
    to[u] = { re: re.add(x!), im: im.sub(y!) };
    to[n - u] = { re: re.sub(x!), im: im.add(y!) };
  }
  return to;
}

/** The forward transform of 2, 4, 8 or 16 numbers, or of an odd prime number of them. */
export function small(a: readonly Complex[]): Complex[] {
  const n = a.length;
  if (n % 2 === 1) return prime(a);
  if (n === 2) return [add(a[0]!, a[1]!), subtract(a[0]!, a[1]!)];
  const [even, odd] = [small(a.filter((_, i) => i % 2 === 0)), small(a.filter((_, i) => i % 2 === 1))];
  const turned = odd.map((value, k) => timesRoot(value, k, n));
  return [...even.map((value, k) => add(value, turned[k]!)), ...even.map((value, k) => subtract(value, turned[k]!))];
}
