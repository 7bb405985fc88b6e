/** What came of the mutants, for people and for programs. */
import { type Equivalent, equivalents } from './equivalent.ts';
import type { Mutant } from './sample.ts';

export interface Outcome {
  readonly mutant: Mutant;
  readonly state: 'killed' | 'survived' | 'unreached';
  /** The spec that found it and how, where one did. */
  readonly by?: string;
  /** Specs that let it pass, and that would have been too long. */
  readonly passed: readonly string[];
  readonly left: readonly string[];
}

/** Why a mutant cannot be found, where that is known. */
export const reasonOf = ({ file, line, mutated }: Mutant, list: readonly Equivalent[] = equivalents): string | undefined =>
  list.find((each) => each.file === file && each.line === line && each.mutated === mutated)?.why;

/** Explanations of mutants that there are no more, of files that were mutated. */
export const staleOf = (all: readonly Mutant[], list: readonly Equivalent[] = equivalents): Equivalent[] => {
  const files = new Set(all.map(({ file }) => file));
  return list.filter((each) => files.has(each.file) && !all.some((mutant) => reasonOf(mutant, [each]) !== undefined));
};

export const isUnexplained = ({ state, mutant }: Outcome): boolean => state !== 'killed' && reasonOf(mutant) === undefined;

/** One mutant, as a change of its line. */
export const changeOf = ({ id, file, lineNumber, line, mutated, mutation }: Mutant): string =>
  `${file}:${lineNumber} ${id} (${mutation.mutator})\n  - ${line}\n  + ${mutated}`;

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

function triedLine({ state, passed, left }: Outcome): string {
  if (state === 'unreached') return '  no spec runs it';
  return `  ${plural(passed.length, 'spec')} passed${left.length > 0 ? `, ${left.length} too long: ${left.join(' ')}` : ''}`;
}

/** Survivors, those that are explained, and a line for each room. */
export function reportOf(outcomes: readonly Outcome[], rejected: number, stale: readonly Equivalent[]): string {
  const ordered = [...outcomes].sort((a, b) => (a.mutant.file < b.mutant.file ? -1 : 1));
  const open = ordered.filter(isUnexplained);
  const explained = ordered.filter((outcome) => outcome.state !== 'killed' && !isUnexplained(outcome));
  const roomNames = [...new Set(outcomes.map(({ mutant }) => mutant.room))];
  return [
    ...open.map((outcome) => `${changeOf(outcome.mutant)}\n${triedLine(outcome)}\n`),
    ...explained.map(({ mutant }) => `${changeOf(mutant)}\n  explained: ${reasonOf(mutant)}\n`),
    ...stale.map(({ file, line, mutated }) => `explained, but no mutant: ${file}\n  - ${line}\n  + ${mutated}\n`),
    ...roomNames.map((room) => {
      const own = outcomes.filter(({ mutant }) => mutant.room === room);
      const count = (pick: (outcome: Outcome) => boolean): number => own.filter(pick).length;
      const survivors = count(isUnexplained);
      const killed = count(({ state }) => state === 'killed');
      return `${room}: ${plural(own.length, 'mutant')}, ${killed} killed, ${own.length - killed - survivors} explained, ${survivors} survived`;
    }),
    `${plural(rejected, 'mutant')} drawn that the type checker refuses`,
  ].join('\n');
}

/** The same for programs. */
export const jsonOf = (outcomes: readonly Outcome[], rejected: number): string =>
  JSON.stringify(
    {
      rejected,
      mutants: outcomes.map(({ mutant: { mutation, ...mutant }, ...rest }) => ({ ...mutant, mutator: mutation.mutator, ...rest })),
    },
    undefined,
    2,
  );
