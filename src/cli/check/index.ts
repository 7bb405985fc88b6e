/**
 * `cumetal check`: reports every error of every file in the chosen format, once or after every change. Without a target the errors
 * are those of the PTX itself; with a target they include those of compiling for it.
 */
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import { printableJson } from '../../base/printable.ts';
import { SourceFile } from '../../base/source.ts';
import { checkSource } from '../../compile/check-source.ts';
import type { CompileOptions } from '../../compile/options.ts';
import { allValues, type Context, has, lastValue, type ParsedArguments } from '../command/command.ts';
import { compileOptions } from '../command/compile-options.ts';
import { usageError } from '../command/usage-error.ts';
import { version } from '../command/version.ts';
import { type Input, readInput } from '../input/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { diagnosticJson, githubLine, sarif } from '../terminal/formats.ts';
import type { Terminal } from '../terminal/index.ts';
import { jsonDocument } from '../terminal/json.ts';
import { countSummary, writeDiagnostics } from '../terminal/render.ts';
import { suppress } from './allow.ts';
import { namedFiles } from './files.ts';
import { type Levels, readLevels, withLevels } from './levels.ts';

/** The maximum number of diagnostics printed as text; the rest are counted. */
const maxShown = 50;

/** The files to check, and the levels of warnings. */
interface Asked {
  readonly files: readonly string[];
  readonly levels: Levels;
}

/** Runs the command. The exit code is the highest of all files; with `--watch` it is 0 after an interrupt. */
export async function check({ parsed, terminal }: Context): Promise<ExitCode> {
  const asked = readAsked(parsed, terminal);
  if (typeof asked === 'string') return usageError(asked, 'cumetal check --help', terminal);
  if (!has(parsed, 'watch')) return checkOnce(asked, parsed, terminal);
  const { watchFiles } = await import('../terminal/watch.ts');
  const recheck = async (): Promise<void> => {
    // Clears the screen and its scrollback, on a terminal.
    if (terminal.color.out) terminal.outBytes(new TextEncoder().encode('\u001b[2J\u001b[3J\u001b[H'));
    const now = readAsked(parsed, terminal);
    await checkOnce(typeof now === 'string' ? asked : now, parsed, terminal);
  };
  return watchFiles(asked.files, recheck);
}

function readAsked(parsed: ParsedArguments, terminal: Terminal): Asked | string {
  const reads = parsed.positionals.includes('-');
  if (has(parsed, 'watch') && reads) return '`--watch` requires files; `-` is standard input';
  if (has(parsed, 'stdin-filename') && !reads) return '`--stdin-filename` requires `-` (standard input) as a file';
  const levels = readLevels(allValues(parsed, 'warnings'));
  if (typeof levels === 'string') return levels;
  const files = namedFiles(parsed.positionals, terminal.isFile);
  return typeof files === 'string' ? files : { files, levels };
}

/** What was found in all files. */
interface Found {
  readonly list: Diagnostic[];
  readonly suppressed: Diagnostic[];
}

/** For machines, a diagnostic without a place is about its file. For people, the message names it. */
const withFile = (diagnostic: Diagnostic, path: string): Diagnostic =>
  diagnostic.file ? diagnostic : { ...diagnostic, file: new SourceFile(path, '') };

/** Checks every file once and writes the diagnostics. */
async function checkOnce({ files, levels }: Asked, parsed: ParsedArguments, terminal: Terminal): Promise<ExitCode> {
  const options: CompileOptions = { ...compileOptions(parsed), lints: true };
  const format = has(parsed, 'json') ? 'json' : (lastValue(parsed, 'format') ?? 'text');
  const found: Found = { list: [], suppressed: [] };
  let worst: ExitCode = exit.ok;
  for (const path of files) {
    const own = new Diagnostics();
    const { code, suppressed } = await checkFile(path, parsed, options, terminal, own);
    const list = withLevels(own.list, levels);
    // Warnings that are errors fail the check of a file that compiles.
    const isRaised = code === exit.ok && list.some(({ severity }) => severity === 'error');
    worst = Math.max(worst, isRaised ? exit.failed : code) as ExitCode;
    found.list.push(...(format === 'text' ? list : list.map((each) => withFile(each, path))));
    found.suppressed.push(...suppressed);
  }
  if (format === 'text') writeText(found.list, files.length, terminal);
  else terminal.out(written(format, found));
  return worst;
}

interface CheckedFile {
  readonly code: ExitCode;
  readonly suppressed: readonly Diagnostic[];
}

async function checkFile(
  path: string,
  parsed: ParsedArguments,
  options: CompileOptions,
  terminal: Terminal,
  all: Diagnostics,
): Promise<CheckedFile> {
  const input = await readInput(path, terminal, all, parsed);
  if (typeof input === 'number') return { code: input, suppressed: [] };
  return checkInput(
    named(input, lastValue(parsed, 'stdin-filename')),
    options,
    all,
    has(parsed, 'advise') ? { parsed, terminal } : undefined,
  );
}

/** The input, under the name of `--stdin-filename` if it is standard input. */
const named = (input: Input, name: string | undefined): Input =>
  input.kind === 'ptx' && input.path === '-' && name !== undefined ? { ...input, source: new SourceFile(name, input.source.text) } : input;

async function checkInput(
  input: Input,
  options: CompileOptions,
  all: Diagnostics,
  advised: { readonly parsed: ParsedArguments; readonly terminal: Terminal } | undefined,
): Promise<CheckedFile> {
  if (input.kind === 'metallib') {
    const { validateBytes } = await import('../validate.ts');
    return { code: validateBytes(input.bytes, all, input.path) ? exit.ok : exit.failed, suppressed: [] };
  }
  const own = new Diagnostics(input.source);
  const isGood =
    options.target || options.fp64 ? await compiles(input.source, options, own) : checkSource(input.source, options, own) !== undefined;
  if (isGood && advised) (await import('./advice.ts')).addAdvice(input, advised.parsed, advised.terminal, own);
  const { list, suppressed } = suppress(own.sorted(), input.source, advised !== undefined);
  all.addAll(list);
  return { code: isGood ? exit.ok : exit.doesNotCompile, suppressed };
}

/** Whether the module compiles for the target; this takes a whole compilation. */
async function compiles(source: SourceFile, options: CompileOptions, own: Diagnostics): Promise<boolean> {
  const { verifies } = await import('./target.ts');
  return verifies(source, options, own);
}

function writeText(list: readonly Diagnostic[], files: number, terminal: Terminal): void {
  if (list.length > 0) writeDiagnostics(list, terminal, maxShown);
  if (terminal.isQuiet) return;
  const what = `${files} file${files === 1 ? '' : 's'} checked`;
  terminal.out(`${what}: ${countSummary(list) || 'no problems'}\n`);
}

function written(format: string, { list, suppressed }: Found): string {
  if (format === 'sarif') return `${printableJson(JSON.stringify(sarif(list, { version, suppressed }), undefined, 2))}\n`;
  if (format === 'github') return list.map((d) => `${githubLine(d)}\n`).join('');
  return jsonDocument({ diagnostics: list.map(diagnosticJson) });
}
