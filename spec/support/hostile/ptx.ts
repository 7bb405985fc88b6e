/** Damage to PTX: words that people get wrong, and characters, lines and pieces that are out of place. */
import { changes, mutate } from '../mutate.ts';

export type Random = () => number;
export const below = (next: Random, bound: number): number => Math.floor(next() * bound);
export const pick = <T>(next: Random, list: readonly T[]): T => list[below(next, list.length)]!;

/** Characters and words with a meaning, at positions where they have none. */
const pieces = [
  ...'{}()[]<>;:,.@!%$_"#/*+-?|&=\\\n\t\0\u00a7\ud83d',
  '/*',
  '*/',
  '//',
  '"',
  '.reg',
  '.entry',
  '.func',
  '{',
  '}',
  '@%p1',
  '0x',
  '1e9',
];

const damages: readonly ((text: string, next: Random) => string)[] = [
  (text, next) => {
    const at = below(next, text.length);
    return text.slice(0, at) + pick(next, pieces) + text.slice(at);
  },
  (text, next) => {
    const at = below(next, text.length);
    return text.slice(0, at) + text.slice(at + 1 + below(next, 30));
  },
  (text, next) => {
    const [from, to] = [below(next, text.length), below(next, text.length)];
    return text.slice(0, to) + text.slice(from, from + below(next, 300)) + text.slice(to);
  },
  (text, next) => text.slice(0, below(next, text.length)),
  (text, next) => {
    const rows = text.split('\n');
    const [a, b] = [below(next, rows.length), below(next, rows.length)];
    [rows[a], rows[b]] = [rows[b]!, rows[a]!];
    return rows.join('\n');
  },
  (text, next) => mutate(text, pick(next, Object.keys(changes)), below(next, 2 ** 31))?.text ?? text,
];

/** A text with one damage. */
export const damagePtx = (text: string, next: Random): string => pick(next, damages)(text, next);

/** A text with one to four damages. */
export function damagedText(text: string, next: Random): string {
  let damaged = text;
  for (let times = 1 + below(next, 4); times > 0 && damaged !== ''; times--) damaged = damagePtx(damaged, next);
  return damaged;
}
