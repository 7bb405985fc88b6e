/** The words of the command line. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type Room, rooms } from './rooms.ts';

export const usage = `usage: npm run mutants -- [OPTION]…

Plants faults in the sources, one at a time, in a copy of the tree, and runs the specs that reach them.
Prints the mutants that all of these specs let pass, and exits 1 where one of them is not explained in scripts/mutants/equivalent.ts.

  --seed N          which mutants are drawn (default 1)
  --count N         how many (default 300)
  --rooms A,B       of which rooms (default all: ${Object.keys(rooms).join(', ')})
  --sources GLOB    of which files, in place of those of the rooms (may be repeated)
  --specs GLOB      which specs look for them, in place of those of the rooms (may be repeated)
  --file PATH       only mutants of this file (may be repeated)
  --only ID         only mutants of this name (may be repeated)
  --budget SECONDS  how much of a processor's time the specs of one mutant may take (default 120)
  --jobs N          how many at once (default: one for each core)
  --json            the result as JSON, for programs
  --list            prints the mutants and runs nothing`;

export interface Words {
  readonly seed: number;
  readonly count: number;
  readonly rooms: Readonly<Record<string, Room>>;
  readonly files: readonly string[];
  readonly ids: readonly string[];
  readonly budget: number;
  readonly jobs: number;
  readonly json: boolean;
  readonly list: boolean;
}

const options = {
  seed: { type: 'string', default: '1' },
  count: { type: 'string', default: '300' },
  rooms: { type: 'string', default: Object.keys(rooms).join(',') },
  sources: { type: 'string', multiple: true },
  specs: { type: 'string', multiple: true },
  file: { type: 'string', multiple: true },
  only: { type: 'string', multiple: true },
  budget: { type: 'string', default: '120' },
  jobs: { type: 'string', default: String(availableParallelism()) },
  json: { type: 'boolean', default: false },
  list: { type: 'boolean', default: false },
} as const;

/** What is asked for, or why that is nothing. */
export function readWords(args: readonly string[]): Words | string {
  try {
    const { values } = parseArgs({ args: [...args], options, strict: true });
    const numbers = Object.fromEntries((['seed', 'count', 'budget', 'jobs'] as const).map((name) => [name, Number(values[name])]));
    const wrong = Object.entries(numbers).find(([name, value]) => !Number.isInteger(value) || value < (name === 'seed' ? 0 : 1));
    if (wrong) return `--${wrong[0]} takes a whole number`;
    const names = values.rooms.split(',');
    const unknown = names.find((name) => !Object.hasOwn(rooms, name));
    if (unknown !== undefined) return `no room is called ${unknown}`;
    const chosen = names.map((name): [string, Room] => {
      const { sources, specs } = rooms[name]!;
      return [name, { sources: values.sources ?? sources, specs: values.specs ?? specs }];
    });
    const { seed, count, budget, jobs } = numbers as Record<'seed' | 'count' | 'budget' | 'jobs', number>;
    // With sources of one's own, every room would have the same mutants.
    const kept = values.sources ? chosen.slice(0, 1) : chosen;
    const { file: files = [], only: ids = [], json, list } = values;
    return { seed, count, budget, jobs, rooms: Object.fromEntries(kept), files, ids, json, list };
  } catch (error) {
    return (error as Error).message;
  }
}
