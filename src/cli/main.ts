/**
 * The command line: arguments in, an exit code out. The room owns the terminal, files and exit codes. `commands.ts` lists the
 * commands; each is a folder or file of its own that is loaded on demand. Results go to standard output, everything else to
 * standard error. Start at `commands.ts`.
 */
import { InternalError } from '../base/bug.ts';
import { closest } from '../base/closest.ts';
import { printable } from '../base/printable.ts';
import { has, parseArguments, positionalCountProblem } from './command/command.ts';
import { usageError } from './command/usage-error.ts';
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
  const parsed = parseArguments(command, rest);
  if (typeof parsed !== 'string' && has(parsed, 'help')) {
    terminal.out((await import('./help.ts')).commandHelp(command));
    return exit.ok;
  }
  const problem = typeof parsed === 'string' ? parsed : positionalCountProblem(command, parsed);
  if (problem !== undefined) return usageError(problem, `cumetal ${command.name} --help`, terminal);
  return command.run({ command, parsed: typeof parsed === 'string' ? { positionals: [], options: new Map() } : parsed, terminal });
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

/** Reports an internal error in one paragraph; `CUMETAL_TRACE=1` adds the stack. */
function ourBug(error: unknown, terminal: Terminal): ExitCode {
  const what = error instanceof InternalError || error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  terminal.err(
    `error: internal error in cumetal: ${what}\nThis is a bug in cumetal, not a problem with your input. Please report it with the input file and the command line` +
      ` (\`${printable(process.argv.slice(2).join(' '))}\`). CUMETAL_TRACE=1 prints the stack trace.\n`,
  );
  if (terminal.env.CUMETAL_TRACE && error instanceof Error) terminal.err(`${error.stack}\n`);
  return exit.ourBug;
}

/** Input size in bytes above which JavaScriptCore's DFG compiler pays; its FTL compiler does not. */
const largeInputBytes = 512 * 1024;

/** The engine settings for long runs, in place of those that `bin/cumetal` sets for short ones. */
const engine = {
  BUN_JSC_useDFGJIT: '1',
  BUN_JSC_useConcurrentJIT: '1',
  BUN_JSC_thresholdForJITAfterWarmUp: '500',
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
};

/** Whether an argument names a large file. A pipe has no known size and a restart would lose its contents, so its presence gives false. */
function hasLargeFile(args: readonly string[]): boolean {
  const largest = Math.max(...args.map((arg) => Bun.file(arg).size));
  return largest > largeInputBytes && Number.isFinite(largest);
}

/** Restarts the process with settings for a long run where the launcher chose those for a short one. Returns the exit code of the new process. */
async function restarted(args: readonly string[]): Promise<number | undefined> {
  const { env, execPath, argv } = process;
  if (env.BUN_JSC_useDFGJIT !== '0' || typeof Bun === 'undefined' || !hasLargeFile(args)) return undefined;
  const { spawnSync } = await import('node:child_process');
  return spawnSync(execPath, [argv[1]!, ...args], { env: { ...env, ...engine }, stdio: 'inherit' }).status ?? exit.ourBug;
}

/** Runs the command line of this process. There is no top-level await, because a bundle with bytecode cannot have one. */
async function start(): Promise<void> {
  const terminal = processTerminal();
  try {
    const args = process.argv.slice(2);
    process.exitCode = (await restarted(args)) ?? (await main(args, terminal));
    await terminal.settled?.();
  } catch (error) {
    process.exitCode = ourBug(error, terminal);
  }
}

if (import.meta.main ?? process.argv[1]?.endsWith('main.js')) void start();
