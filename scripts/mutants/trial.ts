/** The specs without a fault, on sources with probes: which pass, what they take, and what each of them reaches. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mutable } from './mutators.ts';
import { probed, reachedVariable } from './reach.ts';
import { type Limits, runSpec } from './run-spec.ts';
import type { Mutant } from './sample.ts';

export interface Source {
  readonly room: string;
  readonly file: string;
  readonly text: string;
  readonly mutable: Mutable;
}

export interface Trial {
  readonly spec: string;
  readonly passes: boolean;
  readonly seconds: number;
  /** Whether it runs what a mutant changes; of what runs when a module is loaded, whether it runs any of the module's functions. */
  reaches(mutant: Mutant): boolean;
}

interface Probes {
  readonly count: number;
  /** The number of a mutant's probe, or of its file's. */
  numberOf(mutant: Mutant): number;
}

/** Puts probes into a copy's sources. */
function plantProbes(copy: string, sources: readonly Source[], mutants: readonly Mutant[]): Probes {
  const numbers = new Map<Mutant | string, number>();
  for (const { file, text, mutable } of sources) {
    const own = mutants.filter((mutant) => mutant.file === file);
    if (own.length === 0) continue;
    for (const key of [file, ...own]) numbers.set(key, numbers.size);
    const inner = own.filter(({ mutation }) => !mutation.isOuter);
    const planted = inner.map((mutant) => ({ mutation: mutant.mutation, probe: numbers.get(mutant)! }));
    writeFileSync(join(copy, file), probed(text, mutable, planted, numbers.get(file)!));
  }
  return { count: numbers.size, numberOf: (mutant) => numbers.get(mutant.mutation.isOuter ? mutant.file : mutant)! };
}

/** What a run of specs on a copy starts with; `each` is told when one of them has ended. */
export interface TrialOptions {
  readonly copy: string;
  readonly home: string;
  readonly limits: Limits;
}

/** Gets a copy's sources ready, and gives what tries a spec on it. */
export function openTrials({ copy, home, limits }: TrialOptions, sources: readonly Source[], mutants: readonly Mutant[]) {
  const { count, numberOf } = plantProbes(copy, sources, mutants);
  return {
    async run(spec: string): Promise<Trial> {
      const reachedAt = join(home, spec.replaceAll('/', '-'));
      writeFileSync(reachedAt, new Uint8Array(count));
      const { verdict, seconds } = await runSpec(copy, spec, limits, { [reachedVariable]: reachedAt });
      const reached = readFileSync(reachedAt);
      return { spec, passes: verdict === 'passed', seconds, reaches: (mutant) => reached[numberOf(mutant)] === 1 };
    },
    /** Takes the probes out again. */
    close(): void {
      for (const { file, text } of sources) writeFileSync(join(copy, file), text);
    },
  };
}
