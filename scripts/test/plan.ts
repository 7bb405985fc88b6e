/** Which spec files run, and in which order. */
import type { Durations } from './durations.ts';

/**
 * CPU seconds that the quick selection may take in all: less than a minute on two cores, with a margin for a machine that is
 * slower or busy.
 */
export const quickSeconds = 80;

/** The files whose path has one of the words; every file where there is no word. */
export const withWords = (files: readonly string[], words: readonly string[]): string[] =>
  files.filter((file) => words.length === 0 || words.some((word) => file.includes(word)));

/** Longest first, so that no long file runs alone at the end. A file that was never measured may be long and comes before all. */
export const longestFirst = (files: readonly string[], durations: Durations): string[] =>
  [...files].sort((a, b) => secondsOf(b, durations) - secondsOf(a, durations) || (a < b ? -1 : 1));

const secondsOf = (file: string, durations: Durations): number => durations.get(file) ?? Number.POSITIVE_INFINITY;

/** The folder below `spec/` that a file is in. */
export const roomOf = (file: string): string => file.split('/')[1] ?? '';

/**
 * As many short files as fit into so many CPU seconds: the shortest of each room, then the shortest of all. A file that was
 * never measured is left out, and so is one that takes a tenth of the time alone, as those that build the package do.
 */
export function quickSelection(files: readonly string[], durations: Durations, budget = quickSeconds): string[] {
  const shortest = longestFirst(
    files.filter((file) => secondsOf(file, durations) <= budget / 10),
    durations,
  ).reverse();
  const rooms = new Set<string>();
  const firsts = shortest.filter((file) => rooms.size < rooms.add(roomOf(file)).size);
  return within(budget, [...firsts, ...shortest.filter((file) => !firsts.includes(file))], durations);
}

/** The files of a list, from its start, that fit into so many CPU seconds together; one that does not fit is left out. */
export function within(budget: number, files: readonly string[], durations: Durations): string[] {
  let left = budget;
  return files.filter((file) => {
    const seconds = secondsOf(file, durations);
    if (seconds > left) return false;
    left -= seconds;
    return true;
  });
}
