/** The command line as a process: arguments, engine settings and the exit code. `start.ts` and `start-built.ts` load it. */
import { printable } from '../base/printable.ts';
import { mainWords } from './command/own-place.ts';
import { helperWord } from './helper/start.ts';
import { shareWord } from './jobs/protocol.ts';
import { main } from './main.ts';
import { exit } from './terminal/exit.ts';
import { isOutputFailure, processTerminal, type Terminal } from './terminal/index.ts';

/** Reports an internal error in one paragraph; `CUMETAL_TRACE=1` adds the stack. */
function ourBug(error: unknown, terminal: Terminal): number {
  const what = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  terminal.err(
    `error: internal error in cumetal: ${what}\nThis is a bug in cumetal, not a problem with your input. Please report it with the input file and the command line` +
      ` (\`${printable(process.argv.slice(2).join(' '))}\`). CUMETAL_TRACE=1 prints the stack trace.\n`,
  );
  if (terminal.env.CUMETAL_TRACE && error instanceof Error) terminal.err(`${error.stack}\n`);
  return exit.ourBug;
}

/** What an error that nothing expected comes to: a stream that takes no more, or a bug. */
async function codeOf(error: unknown, terminal: Terminal): Promise<number> {
  if (!isOutputFailure(error)) return ourBug(error, terminal);
  return (await import('./terminal/output-lost.ts')).reportOutputLost(error.message, terminal);
}

/** Input size in bytes above which JavaScriptCore's DFG compiler pays; its FTL compiler does not. */
const largeInputBytes = 512 * 1024;

/** Input size above which JavaScriptCore's first compiler pays, which the settings for short runs defer. */
const compiledInputBytes = 32 * 1024;

/** The engine settings for long runs, in place of those for short ones (`startup/engine-settings.ts`). */
const engine = {
  BUN_JSC_useDFGJIT: '1',
  BUN_JSC_useConcurrentJIT: '1',
  BUN_JSC_thresholdForJITAfterWarmUp: '500',
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_useConcurrentGC: '0',
  // Bytes that are allocated before garbage is collected: otherwise as many as are in use, which is twice the memory.
  BUN_JSC_gcMaxHeapSize: '50331648',
  // All garbage is collected as soon as what is young is less than this part: a large kernel leaves much behind.
  BUN_JSC_minEdenToOldGenerationRatio: '0.6',
  // Pages between pieces of memory in use are kept: a collection of garbage releases them, and the next kernel touches them again.
  MIMALLOC_PURGE_HOLES: '0',
  // The same of whole segments. Runs that released them at once took 1.03 to 1.08 times the processor time, and up to 1.5 on a busy machine.
  MIMALLOC_PURGE_DELAY: '10000',
};

/** Settings that not every version of Bun has, and none starts with one that it lacks. */
const engineOfKnownBun = {
  // One thread compiles JavaScript: 0.95 to 0.98 of the processor time of two, and of the time on a clock.
  BUN_JSC_maxNumberOfWorklistThreads: '1',
  BUN_JSC_minNumberOfWorklistThreads: '1',
};

/** The size of the largest file that an argument names. A pipe has no known size and a restart would lose its contents, so its presence gives 0. */
function largestFile(args: readonly string[]): number {
  const largest = Math.max(...args.map((arg) => Bun.file(arg).size));
  return Number.isFinite(largest) ? largest : 0;
}

/**
 * Where the launcher chose the settings for a short run: ends the deferral of the compiler for a run of middle length, and restarts the process with
 * those for a long one. Returns the exit code of the new process.
 */
async function restarted(args: readonly string[]): Promise<number | undefined> {
  const { env, execPath } = process;
  if (env.BUN_JSC_useDFGJIT !== '0' || typeof Bun === 'undefined') return undefined;
  const size = largestFile(args);
  if (size > compiledInputBytes) Bun.unsafe.setJITPolicy?.(1);
  if (size <= largeInputBytes) return undefined;
  const { spawnSync } = await import('node:child_process');
  // The launcher gives this one to the Bun that has made the bytecode alone.
  const { BUN_JSC_startupJITDeferralScale: deferral, ...others } = env;
  // The helper was asked before, and this process counts the command for it.
  const settings = { ...others, ...engine, ...(deferral === undefined ? {} : engineOfKnownBun), CUMETAL_HELPER: '0' };
  return spawnSync(execPath, [...mainWords(), ...args], { env: settings, stdio: 'inherit' }).status ?? exit.ourBug;
}

/** What processes do that this program starts for itself; undefined for a command line. */
async function asPart([word, ...rest]: readonly string[]): Promise<number | undefined> {
  if (word === shareWord) return (await import('./jobs/serve.ts')).serveShare();
  return word === helperWord ? (await import('./helper/serve.ts')).serveHelper(rest) : undefined;
}

/** Runs the command line of this process. */
export async function run(): Promise<void> {
  const terminal = processTerminal();
  try {
    const args = process.argv.slice(2);
    process.exitCode = (await asPart(args)) ?? (await restarted(args)) ?? (await main(args, terminal));
    await terminal.settled?.();
  } catch (error) {
    process.exitCode = await codeOf(error, terminal);
  }
}
