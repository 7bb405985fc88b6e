/** Mutants by the lines that they change: names, and an order that a seed gives. Neither depends on where the file is. */
import type { Mutable, Mutation } from './mutators.ts';

export interface Mutant {
  /** Eight hexadecimal digits of the lines; mutants of lines that are the same in two files share them. */
  readonly id: string;
  readonly room: string;
  readonly file: string;
  /** Counted from 1. */
  readonly lineNumber: number;
  /** The line without and with the fault, without the spaces at its ends. */
  readonly line: string;
  readonly mutated: string;
  readonly mutation: Mutation;
}

/** What a file is with a fault in it. */
export const mutatedText = (text: string, { start, end, text: put }: Mutation): string => text.slice(0, start) + put + text.slice(end);

/** The mutants of a file, none of which makes the same line as another one. */
export function mutantsOf(room: string, file: string, text: string, { mutations }: Mutable): Mutant[] {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  const mutants: Mutant[] = [];
  for (const mutation of mutations) {
    const from = text.lastIndexOf('\n', mutation.start - 1) + 1;
    const to = text.indexOf('\n', mutation.start) < 0 ? text.length : text.indexOf('\n', mutation.start);
    const line = text.slice(from, to);
    const mutated = mutatedText(line, { ...mutation, start: mutation.start - from, end: mutation.end - from });
    const lineNumber = text.slice(0, from).split('\n').length;
    if (seen.has(`${lineNumber}:${mutated}`)) continue;
    seen.add(`${lineNumber}:${mutated}`);
    const pair = `${line.trim()}\n${mutated.trim()}`;
    const ordinal = counts.get(pair) ?? 0;
    counts.set(pair, ordinal + 1);
    const id = hash(`${pair}\n${ordinal}`, 0).slice(0, 8);
    mutants.push({ id, room, file, lineNumber, line: line.trim(), mutated: mutated.trim(), mutation });
  }
  return mutants;
}

const hash = (text: string, seed: number): string => Bun.hash.wyhash(text, BigInt(seed)).toString(16).padStart(16, '0');

/** All mutants, in the order in which a seed draws them. A line that changes leaves the order of all others as it is. */
export const drawn = (mutants: readonly Mutant[], seed: number): Mutant[] =>
  mutants
    .map((mutant) => ({ mutant, key: `${hash(mutant.id, seed + 1)} ${mutant.file} ${mutant.mutation.start}` }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ mutant }) => mutant);
