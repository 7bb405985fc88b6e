/**
 * `cumetal check`: every fault of every file, in the form asked for, once or again whenever a file changes. Faults are those of
 * the PTX, whatever it is compiled for; with a target also those that only compiling for it finds.
 */
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';
import { judge } from '../../compile/judge.ts';
import type { CompileOptions } from '../../compile/options.ts';
import { type Context, has, lastValue, type Words } from '../command/command.ts';
import { compileOptions } from '../command/compile-options.ts';
import { wrongWords } from '../command/usage-error.ts';
import { version } from '../command/version.ts';
import { type Input, readInput } from '../input/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { diagnosticJson, githubLine, sarif } from '../terminal/formats.ts';
import type { Terminal } from '../terminal/index.ts';
import { jsonText } from '../terminal/json.ts';
import { countWords, renderAll } from '../terminal/render.ts';

/** Most diagnostics that are printed as text; the rest are counted. */
const mostShown = 50;

/** Runs the command. The exit code is that of the worst file; with `--watch` it is 0 when the user interrupts it. */
export async function check({ words, terminal }: Context): Promise<ExitCode> {
  const problem = badWords(words);
  if (problem !== undefined) return wrongWords(problem, 'cumetal check --help', terminal);
  if (!has(words, 'watch')) return checkOnce(words, terminal);
  const { watchFiles } = await import('../terminal/watch.ts');
  const recheck = async (): Promise<void> => {
    // Clears the screen and what scrolled off it, where there is one.
    if (terminal.colour.out) terminal.out('\u001b[2J\u001b[3J\u001b[H');
    await checkOnce(words, terminal);
  };
  return watchFiles(words.positionals, recheck);
}

function badWords(words: Words): string | undefined {
  const reads = words.positionals.includes('-');
  if (has(words, 'watch') && reads) return '`--watch` needs files, and `-` is standard input';
  if (has(words, 'stdin-filename') && !reads) return '`--stdin-filename` names standard input: give `-` as a file';
  return undefined;
}

/** Checks every file once and writes what was found. */
async function checkOnce(words: Words, terminal: Terminal): Promise<ExitCode> {
  const options: CompileOptions = { ...compileOptions(words), lints: true };
  const all = new Diagnostics();
  let worst: ExitCode = exit.ok;
  for (const path of words.positionals) worst = Math.max(worst, await checkFile(path, words, options, terminal, all)) as ExitCode;
  const format = has(words, 'json') ? 'json' : (lastValue(words, 'format') ?? 'text');
  if (format === 'text') writeText(all.list, words.positionals.length, terminal);
  else terminal.out(written(format, all.list));
  return worst;
}

async function checkFile(path: string, words: Words, options: CompileOptions, terminal: Terminal, all: Diagnostics): Promise<ExitCode> {
  const input = await readInput(path, terminal, all, lastValue(words, 'image'));
  return typeof input === 'number' ? input : checkInput(named(input, lastValue(words, 'stdin-filename')), options, all);
}

/** Text from standard input under the name that it was given. */
const named = (input: Input, name: string | undefined): Input =>
  input.kind === 'ptx' && input.path === '-' && name !== undefined ? { ...input, source: new SourceFile(name, input.source.text) } : input;

async function checkInput(input: Input, options: CompileOptions, all: Diagnostics): Promise<ExitCode> {
  if (input.kind === 'metallib') {
    const { validateBytes } = await import('../validate.ts');
    return validateBytes(input.bytes, all) ? exit.ok : exit.failed;
  }
  const own = new Diagnostics(input.source);
  const isGood =
    options.target || options.fp64 ? await compiles(input.source, options, own) : judge(input.source, options, own) !== undefined;
  all.addAll(own.sorted());
  return isGood ? exit.ok : exit.doesNotCompile;
}

/** Whether it compiles for the target, which only a whole compilation tells. */
async function compiles(source: SourceFile, options: CompileOptions, own: Diagnostics): Promise<boolean> {
  const { verifies } = await import('./target.ts');
  return verifies(source, options, own);
}

function writeText(list: readonly Diagnostic[], files: number, terminal: Terminal): void {
  if (list.length > 0) terminal.err(renderAll(list, terminal.colour.err, mostShown));
  const what = `${files} file${files === 1 ? '' : 's'} checked`;
  terminal.out(`${what}: ${countWords(list) || 'no faults'}\n`);
}

function written(format: string, list: readonly Diagnostic[]): string {
  if (format === 'sarif') return `${JSON.stringify(sarif(list, version), undefined, 2)}\n`;
  if (format === 'github') return list.map((d) => `${githubLine(d)}\n`).join('');
  return `${jsonText({ diagnostics: list.map(diagnosticJson) })}\n`;
}
