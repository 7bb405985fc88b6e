/**
 * The command line: arguments in, an exit code out. The room owns the terminal, files and exit codes. `commands.ts` lists the
 * commands; each is a folder or file of its own that is loaded on demand. Results go to standard output, everything else to
 * standard error. Start at `commands.ts`.
 */
import { closest } from '../base/closest.ts';
import { has, parseArguments, positionalCountProblem } from './command/command.ts';
import { usageError } from './command/usage-error.ts';
import { commands } from './commands.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import type { Terminal } from './terminal/index.ts';

/** Runs one command line. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return help(rest[0], name === undefined, terminal);
  if (name === '--version' || name === '-V') {
    terminal.out(`${(await import('./command/version.ts')).version}\n`);
    return exit.ok;
  }
  const command = commands.find((c) => c.name === name);
  if (!command) return unknownCommand(name, terminal);
  const parsed = parseArguments(command, rest);
  if (typeof parsed !== 'string' && has(parsed, 'help')) {
    terminal.out((await import('./help.ts')).commandHelp(command));
    return exit.ok;
  }
  const problem = typeof parsed === 'string' ? parsed : positionalCountProblem(command, parsed);
  if (problem !== undefined) return usageError(problem, `cumetal ${command.name} --help`, terminal);
  return command.run({
    command,
    parsed: typeof parsed === 'string' ? { positionals: [], options: new Map() } : parsed,
    terminal: typeof parsed !== 'string' && has(parsed, 'quiet') ? quiet(terminal) : terminal,
  });
}

/** A terminal without notes and without the progress of a launch. */
function quiet({ status: _, ...terminal }: Terminal): Terminal {
  const withoutNotes = (text: string): string => text.replace(/^note: .*\n/gm, '');
  return { ...terminal, isQuiet: true, err: (text) => terminal.err(withoutNotes(text)) };
}

async function help(topic: string | undefined, isUnasked: boolean, terminal: Terminal): Promise<ExitCode> {
  const { commandHelp, generalHelp } = await import('./help.ts');
  const command = commands.find((c) => c.name === topic);
  if (isUnasked) terminal.err(generalHelp());
  else terminal.out(command ? commandHelp(command) : generalHelp());
  return isUnasked ? exit.usage : exit.ok;
}

function unknownCommand(name: string, terminal: Terminal): ExitCode {
  if (name.startsWith('-')) return usageError(`unexpected option \`${name}\` for \`cumetal\``, 'cumetal --help', terminal);
  const near = closest(
    name,
    commands.map((c) => c.name),
  );
  const file = /\.(ptx|metallib|cu)$/.test(name) ? `; did you mean \`cumetal run ${name}\`?` : '';
  return usageError(`unknown command \`${name}\`${near ? `; did you mean \`${near}\`?` : file}`, 'cumetal --help', terminal);
}
