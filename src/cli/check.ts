/** `cumetal check`: every fault of every file, in the form asked for. */
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { type CompileOptions, compile } from '../compile/index.ts';
import { type Context, has, lastValue } from './command.ts';
import { type ExitCode, exit } from './exit.ts';
import { diagnosticJson, githubLine, sarif } from './formats.ts';
import { readInput } from './input.ts';
import { jsonText } from './json.ts';
import { countWords, renderAll } from './render.ts';
import { compileOptions } from './run-words.ts';
import type { Terminal } from './terminal.ts';
import { version } from './version.ts';

/** Runs the command. The exit code is that of the worst file. */
export async function check({ words, terminal }: Context): Promise<ExitCode> {
  const options = compileOptions(words);
  const all = new Diagnostics();
  let worst: ExitCode = exit.ok;
  for (const path of words.positionals) worst = Math.max(worst, await checkFile(path, options, terminal, all)) as ExitCode;
  const format = has(words, 'json') ? 'json' : (lastValue(words, 'format') ?? 'text');
  if (format === 'text') writeText(all.list, words.positionals.length, terminal);
  else terminal.out(written(format, all.list));
  return worst;
}

async function checkFile(path: string, options: CompileOptions, terminal: Terminal, all: Diagnostics): Promise<ExitCode> {
  const input = await readInput(path, terminal, all);
  if (typeof input === 'number') return input;
  if (input.kind === 'metallib') {
    const { validateBytes } = await import('./validate.ts');
    return validateBytes(input.bytes, all) ? exit.ok : exit.failed;
  }
  const own = new Diagnostics(input.source);
  compile(input.source, options, own);
  all.addAll(own.sorted());
  return own.hasErrors ? exit.doesNotCompile : exit.ok;
}

function writeText(list: readonly Diagnostic[], files: number, terminal: Terminal): void {
  terminal.err(renderAll(list, terminal.colour.err));
  const what = `${files} file${files === 1 ? '' : 's'} checked`;
  terminal.out(`${what}: ${countWords(list) || 'no faults'}\n`);
}

function written(format: string, list: readonly Diagnostic[]): string {
  if (format === 'sarif') return `${JSON.stringify(sarif(list, version), undefined, 2)}\n`;
  if (format === 'github') return list.map((d) => `${githubLine(d)}\n`).join('');
  return `${jsonText({ diagnostics: list.map(diagnosticJson) })}\n`;
}
