/**
 * The command line: words in, an exit code out. The room knows the terminal, files and exit codes; what the words mean is in
 * `commands.ts`, and every command is a file of its own that is loaded only when it is asked for. Results go to standard
 * output, all else to standard error. Start at `commands.ts`.
 */
import { InternalError } from '../base/bug.ts';
import { closest } from '../base/closest.ts';
import { badCount, has, sortWords } from './command/command.ts';
import { wrongWords } from './command/usage-error.ts';
import { commands } from './commands.ts';
import { type ExitCode, exit } from './terminal/exit.ts';
import { processTerminal, type Terminal } from './terminal/index.ts';

/** Runs one command line. */
export async function main(argv: readonly string[], terminal: Terminal): Promise<ExitCode> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') return help(rest[0], name === undefined, terminal);
  if (name === '--version' || name === '-V') {
    terminal.out(`${(await import('./command/version.ts')).version}\n`);
    return exit.ok;
  }
  const command = commands.find((c) => c.name === name);
  if (!command) return unknownCommand(name, terminal);
  const words = sortWords(command, rest);
  if (typeof words !== 'string' && has(words, 'help')) {
    terminal.out((await import('./help.ts')).commandHelp(command));
    return exit.ok;
  }
  const problem = typeof words === 'string' ? words : badCount(command, words);
  if (problem !== undefined) return wrongWords(problem, `cumetal ${command.name} --help`, terminal);
  return command.run({ command, words: typeof words === 'string' ? { positionals: [], options: new Map() } : words, terminal });
}

async function help(topic: string | undefined, isUnasked: boolean, terminal: Terminal): Promise<ExitCode> {
  const { commandHelp, generalHelp } = await import('./help.ts');
  const command = commands.find((c) => c.name === topic);
  if (isUnasked) terminal.err(generalHelp());
  else terminal.out(command ? commandHelp(command) : generalHelp());
  return isUnasked ? exit.usage : exit.ok;
}

function unknownCommand(name: string, terminal: Terminal): ExitCode {
  if (name.startsWith('-')) return wrongWords(`\`${name}\` is not an option of \`cumetal\``, 'cumetal --help', terminal);
  const near = closest(
    name,
    commands.map((c) => c.name),
  );
  const file = /\.(ptx|metallib|cu)$/.test(name) ? `, did you mean \`cumetal run ${name}\`?` : '';
  return wrongWords(`\`${name}\` is not a command${near ? `, did you mean \`${near}\`?` : file}`, 'cumetal --help', terminal);
}

/** A fault of our own: one paragraph, and a stack only for those who asked for it. */
function ourBug(error: unknown, terminal: Terminal): ExitCode {
  const what = error instanceof InternalError || error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  terminal.err(
    `error: cumetal itself went wrong: ${what}\nThis is a fault of the program, not of your input. Please report it with the input file and the command line` +
      ` (\`${process.argv.slice(2).join(' ')}\`); CUMETAL_TRACE=1 adds where it happened.\n`,
  );
  if (terminal.env.CUMETAL_TRACE && error instanceof Error) terminal.err(`${error.stack}\n`);
  return exit.ourBug;
}

/** Above this many bytes of input an optimising compiler pays, though not the last of them. */
const large = 512 * 1024;

/** What `bin/cumetal` sets for short runs, with what is better for long ones. */
const engine = {
  BUN_JSC_useDFGJIT: '1',
  BUN_JSC_useConcurrentJIT: '1',
  BUN_JSC_thresholdForJITAfterWarmUp: '500',
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
};

/** Whether a word names a large file, and none a pipe, whose size nobody knows: starting again would lose it. */
function hasLargeFile(words: readonly string[]): boolean {
  const most = Math.max(...words.map((word) => Bun.file(word).size));
  return most > large && Number.isFinite(most);
}

/** Starts again for a long run where the launcher thought it would be a short one; gives the exit code. */
async function restarted(words: readonly string[]): Promise<number | undefined> {
  const { env, execPath, argv } = process;
  if (env.BUN_JSC_useDFGJIT !== '0' || typeof Bun === 'undefined' || !hasLargeFile(words)) return undefined;
  const { spawnSync } = await import('node:child_process');
  return spawnSync(execPath, [argv[1]!, ...words], { env: { ...env, ...engine }, stdio: 'inherit' }).status ?? exit.ourBug;
}

/** Runs the process's own command line. No await at the top level: a bundle with bytecode cannot have one. */
async function start(): Promise<void> {
  const terminal = processTerminal();
  try {
    const words = process.argv.slice(2);
    process.exitCode = (await restarted(words)) ?? (await main(words, terminal));
    await terminal.settled?.();
  } catch (error) {
    process.exitCode = ourBug(error, terminal);
  }
}

if (import.meta.main ?? process.argv[1]?.endsWith('main.js')) void start();
