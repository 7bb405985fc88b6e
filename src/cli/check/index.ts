/**
 * `cumetal check`: reports every error of every file in the chosen format, once or after every change. Without a target the errors
 * are those of the PTX itself; with a target they include those of compiling for it.
 */
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import { printableJson } from '../../base/printable.ts';
import { SourceFile } from '../../base/source.ts';
import { checkSource } from '../../compile/check-source.ts';
import type { CompileOptions } from '../../compile/options.ts';
import { type Context, has, lastValue, type ParsedArguments } from '../command/command.ts';
import { compileOptions } from '../command/compile-options.ts';
import { usageError } from '../command/usage-error.ts';
import { version } from '../command/version.ts';
import { type Input, readInput } from '../input/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { diagnosticJson, githubLine, sarif } from '../terminal/formats.ts';
import type { Terminal } from '../terminal/index.ts';
import { jsonText } from '../terminal/json.ts';
import { countSummary, writeDiagnostics } from '../terminal/render.ts';

/** The maximum number of diagnostics printed as text; the rest are counted. */
const maxShown = 50;

/** Runs the command. The exit code is the highest of all files; with `--watch` it is 0 after an interrupt. */
export async function check({ parsed, terminal }: Context): Promise<ExitCode> {
  const problem = optionProblem(parsed);
  if (problem !== undefined) return usageError(problem, 'cumetal check --help', terminal);
  if (!has(parsed, 'watch')) return checkOnce(parsed, terminal);
  const { watchFiles } = await import('../terminal/watch.ts');
  const recheck = async (): Promise<void> => {
    // Clears the screen and its scrollback, on a terminal.
    if (terminal.color.out) terminal.outBytes(new TextEncoder().encode('\u001b[2J\u001b[3J\u001b[H'));
    await checkOnce(parsed, terminal);
  };
  return watchFiles(parsed.positionals, recheck);
}

function optionProblem(parsed: ParsedArguments): string | undefined {
  const reads = parsed.positionals.includes('-');
  if (has(parsed, 'watch') && reads) return '`--watch` requires files; `-` is standard input';
  if (has(parsed, 'stdin-filename') && !reads) return '`--stdin-filename` requires `-` (standard input) as a file';
  return undefined;
}

/** Checks every file once and writes the diagnostics. */
async function checkOnce(parsed: ParsedArguments, terminal: Terminal): Promise<ExitCode> {
  const options: CompileOptions = { ...compileOptions(parsed), lints: true };
  const all = new Diagnostics();
  let worst: ExitCode = exit.ok;
  for (const path of parsed.positionals) worst = Math.max(worst, await checkFile(path, parsed, options, terminal, all)) as ExitCode;
  const format = has(parsed, 'json') ? 'json' : (lastValue(parsed, 'format') ?? 'text');
  if (format === 'text') writeText(all.list, parsed.positionals.length, terminal);
  else terminal.out(written(format, all.list));
  return worst;
}

async function checkFile(
  path: string,
  parsed: ParsedArguments,
  options: CompileOptions,
  terminal: Terminal,
  all: Diagnostics,
): Promise<ExitCode> {
  const input = await readInput(path, terminal, all, lastValue(parsed, 'image'));
  return typeof input === 'number' ? input : checkInput(named(input, lastValue(parsed, 'stdin-filename')), options, all);
}

/** The input, under the name of `--stdin-filename` if it is standard input. */
const named = (input: Input, name: string | undefined): Input =>
  input.kind === 'ptx' && input.path === '-' && name !== undefined ? { ...input, source: new SourceFile(name, input.source.text) } : input;

async function checkInput(input: Input, options: CompileOptions, all: Diagnostics): Promise<ExitCode> {
  if (input.kind === 'metallib') {
    const { validateBytes } = await import('../validate.ts');
    return validateBytes(input.bytes, all) ? exit.ok : exit.failed;
  }
  const own = new Diagnostics(input.source);
  const isGood =
    options.target || options.fp64 ? await compiles(input.source, options, own) : checkSource(input.source, options, own) !== undefined;
  all.addAll(own.sorted());
  return isGood ? exit.ok : exit.doesNotCompile;
}

/** Whether the module compiles for the target; this takes a whole compilation. */
async function compiles(source: SourceFile, options: CompileOptions, own: Diagnostics): Promise<boolean> {
  const { verifies } = await import('./target.ts');
  return verifies(source, options, own);
}

function writeText(list: readonly Diagnostic[], files: number, terminal: Terminal): void {
  if (list.length > 0) writeDiagnostics(list, terminal, maxShown);
  const what = `${files} file${files === 1 ? '' : 's'} checked`;
  terminal.out(`${what}: ${countSummary(list) || 'no problems'}\n`);
}

function written(format: string, list: readonly Diagnostic[]): string {
  if (format === 'sarif') return `${printableJson(JSON.stringify(sarif(list, version), undefined, 2))}\n`;
  if (format === 'github') return list.map((d) => `${githubLine(d)}\n`).join('');
  return `${jsonText({ diagnostics: list.map(diagnosticJson) })}\n`;
}
