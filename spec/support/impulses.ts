/** The transform of a few impulses, which has a closed form for every length. */
import { numbers } from './library.ts';

/** The product of some lengths. */
export const product = (n: readonly number[]): number => n.reduce((all, each) => all * each, 1);

/** Impulses: places along each dimension, and weights. The places are where a wrong order of passes shows. */
export interface Impulse {
  readonly at: readonly number[];
  readonly weight: readonly [number, number];
}

/** Five impulses that are the same in every run. */
export function impulsesOf(n: readonly number[], seed: number): Impulse[] {
  const random = numbers(5 * (n.length + 2), seed);
  return Array.from({ length: 5 }, (_, m) => ({
    at: n.map((length, d) => Math.floor(((random[m * (n.length + 2) + d]! + 1) / 2) * length) % length),
    weight: [random[m * (n.length + 2) + n.length]!, random[m * (n.length + 2) + n.length + 1]!],
  }));
}

/** The index of a place in rows that follow each other. */
export const indexOf = (n: readonly number[], at: readonly number[]): number => at.reduce((index, place, d) => index * n[d]! + place, 0);

/** The sum of impulses at an index of the transform. */
export function sumAt(n: readonly number[], impulses: readonly Impulse[], k: number, direction: 1 | -1): [number, number] {
  let [re, im] = [0, 0];
  for (const { at, weight } of impulses) {
    let [turn, rest] = [0, k];
    for (let d = n.length - 1; d >= 0; d--) {
      turn += ((at[d]! * (rest % n[d]!)) % n[d]!) / n[d]!;
      rest = Math.floor(rest / n[d]!);
    }
    const [c, s] = [Math.cos(2 * Math.PI * turn), direction * Math.sin(2 * Math.PI * turn)];
    re += weight[0] * c - weight[1] * s;
    im += weight[0] * s + weight[1] * c;
  }
  return [re, im];
}
