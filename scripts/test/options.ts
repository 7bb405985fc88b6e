/** The command line of `scripts/test.ts`. */
import { availableParallelism } from 'node:os';

export interface Options {
  /** Parts of paths: a file runs where its path has one of them. Empty: every file. */
  readonly words: readonly string[];
  readonly isQuick: boolean;
  /** Files that run side by side. */
  readonly jobs: number;
  /** Whether the durations of the files that ran are written to the table. */
  readonly records: boolean;
  /** Whether only the names of the files are printed. */
  readonly lists: boolean;
}

export const help = `npm test [-- [quick] [WORD…] [--jobs N] [--list] [--record]]

Runs spec files, each in a process of its own, the longest first, and ends with \`N passed, N failed, N skipped\`.

  WORD        run the files with WORD in their path (\`ptx/rows\`, \`h200\`); several words: files with any of them
  quick       run a selection of short files from every room, in less than a minute on two cores
  --jobs N    run N files side by side (default: one for each core)
  --list      print the files in the order in which they would start, and run none
  --record    write the CPU time of the files that ran to spec/durations.json
  --help      print this text
`;

/** Options of the words of a command line, or a message about the first word that is none. */
export function parseOptions(args: readonly string[], cores = availableParallelism()): Options | 'help' | { readonly fault: string } {
  const words: string[] = [];
  const flags = { isQuick: false, records: false, lists: false, jobs: cores };
  const rest = [...args];
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [name, value] = word.startsWith('--') ? split(word) : [word, undefined];
    if (name === '--help' || name === '-h') return 'help';
    if (name === '--jobs' || name === '-j') {
      const text = value ?? rest.shift() ?? '';
      if (!/^[1-9]\d*$/.test(text)) return { fault: `--jobs takes a positive number, not \`${text}\`` };
      flags.jobs = Number(text);
    } else if (name === '--record') flags.records = true;
    else if (name === '--list') flags.lists = true;
    else if (name.startsWith('-')) return { fault: `unknown option \`${name}\`` };
    else if (name === 'quick') flags.isQuick = true;
    else words.push(name);
  }
  return { words, ...flags };
}

/** `--jobs=4` in two parts. */
function split(word: string): [string, string | undefined] {
  const at = word.indexOf('=');
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
