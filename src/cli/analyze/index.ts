/** `cumetal analyze`: advice on kernels before they run, for the launch of a file, of the command line, or for none. */
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import { printableJson } from '../../base/printable.ts';
import { adviceOn } from '../check/advice.ts';
import { suppress } from '../check/allow.ts';
import { namedFiles } from '../check/files.ts';
import { type Levels, readLevels, withLevels } from '../check/levels.ts';
import { allValues, type Command, type Context, has, lastValue, type ParsedArguments } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { version } from '../command/version.ts';
import { conflictingOption } from '../run/options.ts';
import type { Report } from '../run/report.ts';
import { readTask } from '../run/task.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { sarif } from '../terminal/formats.ts';
import type { Terminal } from '../terminal/index.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { adviceJson, adviceText, type FileAdvice } from './report.ts';

/** The most diagnostics that are printed as text; the rest are counted. */
const maxShown = 100;

/** What was found in all files. */
interface Found {
  readonly files: FileAdvice[];
  readonly list: Diagnostic[];
  readonly suppressed: Diagnostic[];
}

/** Runs the command. `run` is the command whose options the launch lines of a file use. */
export async function analyze(context: Context, run: Command): Promise<ExitCode> {
  const { parsed, terminal } = context;
  const levels = readLevels(allValues(parsed, 'warnings'));
  const asked = filesOf(parsed);
  if (typeof asked === 'string' || typeof levels === 'string')
    return usageError(typeof asked === 'string' ? asked : (levels as string), 'cumetal analyze --help', terminal);
  const found: Found = { files: [], list: [], suppressed: [] };
  let worst: ExitCode = exit.ok;
  for (const path of asked) worst = Math.max(worst, await analyzeFile(path, { ...context, command: run }, levels, found)) as ExitCode;
  if (has(parsed, 'json')) terminal.out(adviceJson(found.files, found.list));
  else if (has(parsed, 'sarif'))
    terminal.out(`${printableJson(JSON.stringify(sarif(found.list, { version, suppressed: found.suppressed }), undefined, 2))}\n`);
  else writeText(found, terminal);
  return worst;
}

/** The files of a command line, or undefined for the module that a launch file names; a usage error as a sentence. */
function filesOf(parsed: ParsedArguments): readonly (string | undefined)[] | string {
  const given = lastValue(parsed, 'launch');
  const described = conflictingOption(parsed);
  if (has(parsed, 'json') && has(parsed, 'sarif')) return '`--json` conflicts with `--sarif`';
  if (given !== undefined && described) return `\`--${described}\` conflicts with \`--launch\`: the launch file specifies it`;
  if (parsed.positionals.length === 0)
    return given === undefined ? '`cumetal analyze` requires a file: `cumetal analyze FILE`' : [undefined];
  const files = namedFiles(parsed.positionals);
  if (typeof files !== 'string' && files.length > 1 && given !== undefined) return '`--launch` is the launch of one file';
  return files;
}

async function analyzeFile(path: string | undefined, context: Context, levels: Levels, found: Found): Promise<ExitCode> {
  const { parsed } = context;
  const report: Report = { diagnostics: new Diagnostics(), notes: [], printed: [] };
  const task = await readTask({ ...context, parsed: { ...parsed, positionals: path === undefined ? [] : [path] } }, report);
  found.list.push(...report.diagnostics.list);
  if (typeof task === 'number') return task;
  if (task.input.kind !== 'ptx')
    return usageError(`\`${task.input.path}\` is a metallib; advice is on PTX and CUDA C++`, 'cumetal analyze --help', context.terminal);
  const own = new Diagnostics(task.input.source);
  const kernels = adviceOn(task.input, task.plan, parsed, own);
  const { list, suppressed } = suppress(own.sorted(), task.input.source, true);
  const leveled = withLevels(list, levels);
  found.list.push(...leveled);
  found.suppressed.push(...suppressed);
  found.files.push({ path: task.input.path, notes: report.notes, kernels: kernels ?? [] });
  if (!kernels) return exit.doesNotCompile;
  return leveled.some(({ severity }) => severity === 'error') ? exit.failed : exit.ok;
}

function writeText({ files, list }: Found, terminal: Terminal): void {
  if (!terminal.isQuiet) terminal.out(files.map(adviceText).join('\n'));
  if (list.length > 0) writeDiagnostics(list, terminal, maxShown);
}
