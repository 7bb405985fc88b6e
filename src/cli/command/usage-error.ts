/** The answer to words that make no sense. */
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';

/** Says what is wrong with the words and where to read on. */
export function wrongWords(problem: string, readOn: string, terminal: Terminal): ExitCode {
  terminal.err(`error: ${problem}\n  = help: \`${readOn}\` shows the words\n`);
  return exit.usage;
}
