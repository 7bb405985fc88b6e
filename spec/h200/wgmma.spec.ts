/**
 * `wgmma` against an NVIDIA H200: descriptors, swizzles, base offsets, sparse matrices and sums (`scripts/record/wgmma`). The GPU's sums of eighths
 * keep 13 bits behind the greatest term.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import { type Element, imageBytes, randomBytes, type Trial } from '../support/wgmma.ts';
import { check, compare } from '../support/wgmma-trials.ts';

const test = suite('h200/wgmma');

interface Recorded {
  readonly trial: Trial;
  readonly image: Element;
  /** Which of the eight words of a thread the instruction reads. */
  readonly used: readonly number[];
  readonly words: string;
  readonly before: string;
  readonly after: string;
}
const path = join(import.meta.dirname, '../../fixtures/h200/wgmma/trials.json.gz');
const { trials } = JSON.parse(gunzipSync(readFileSync(path)).toString()) as { trials: (Omit<Recorded, 'trial'> & { trial: Trial })[] };
const wordsOf = (text: string): Uint32Array => new Uint32Array(Uint8Array.from(Buffer.from(text, 'base64')).buffer);
/** The seed of the bytes of shared memory. */
const seed = 77;
/** The same seed gives the same bytes, which trials of a type have in common. */
const images = new Map<Element, Uint8Array>();
const imageOf = (element: Element): Uint8Array => {
  const made = images.get(element) ?? randomBytes(element, imageBytes, seed);
  images.set(element, made);
  return made;
};

for (const { trial, image, used, words, before, after } of trials) {
  const given = wordsOf(words);
  const all = new Uint32Array(128 * 8);
  for (const [at, value] of given.entries()) all[8 * Math.floor(at / used.length) + used[at % used.length]!] = value;
  const operands = { image: imageOf(image), words: all, before: wordsOf(before) };
  // JSON has no `undefined`.
  const made: Trial = { ...trial, left: trial.left ?? undefined };
  test(`${made.a} ${made.d} n${made.n}${made.isSparse ? ' sparse' : ''}${made.left ? '' : ' in registers'}`, () => {
    compare(made, operands, wordsOf(after), 'H200', { kept: made.a === 'e4m3' || made.a === 'e5m2' ? 13 : 23 });
    check(made, operands);
  });
}

test.run();
