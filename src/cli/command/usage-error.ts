/** The report of an invalid command line. */
import { printable } from '../../base/printable.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';

/** Prints the problem and the help command to read. Returns the exit code for invalid usage. */
export function usageError(problem: string, helpCommand: string, terminal: Terminal): ExitCode {
  terminal.err(`error: ${printable(problem)}\n  = help: for usage, run \`${helpCommand}\`\n`);
  return exit.usage;
}
