/** What a launch is, read from words, from comment lines of the file, from a launch file, or from one that lies beside. */
import { type LaunchPlan, launchWords, readLaunchFile } from '../../runtime/index.ts';
import { type Context, has, lastValue, sortWords, type Words } from '../command/command.ts';
import { wrongWords } from '../command/usage-error.ts';
import { type Input, readInput } from '../input/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { exists } from '../terminal/index.ts';
import { clashing, joinWords, type RunRequest, readRequest } from './options.ts';
import type { Report } from './report.ts';

/** A launch that is known but for the device: the module and what to do with it. */
export interface Task {
  readonly input: Input;
  readonly request: RunRequest;
  readonly plan: LaunchPlan;
}

/** The task that words ask for, or the exit code after what is wrong was reported. */
export async function readTask({ terminal, words, command }: Context, report: Report): Promise<Task | ExitCode> {
  const launchPath = lastValue(words, 'launch');
  if (launchPath !== undefined) return taskOfFile(launchPath, words, terminal, report);
  const { diagnostics } = report;
  const input = await readInput(words.positionals[0]!, terminal, diagnostics, lastValue(words, 'image'));
  if (typeof input === 'number') return input;
  if (has(words, 'arg')) return taskOfWords(input, words, terminal, report);
  const lines = input.kind === 'ptx' ? launchWords(input.source.text, diagnostics) : undefined;
  if (diagnostics.hasErrors) return exit.usage;
  if (lines) {
    const own = sortWords(command, lines);
    const problem = typeof own === 'string' ? own : own.positionals.length > 0 ? `\`${own.positionals[0]}\` is not an option` : undefined;
    if (typeof own === 'string' || problem)
      return wrongWords(`in the launch lines of ${input.path}: ${problem}`, 'cumetal run --help', terminal);
    report.notes.push(`launched as the comment lines of ${input.path} say`);
    return taskOfWords(input, joinWords(own, words), terminal, report);
  }
  const beside = input.path.replace(/\.(ptx|metallib|cu|fatbin|cubin|o)$/, '.launch.json');
  if (beside !== input.path && exists(beside) && !clashing(words)) return taskOfFile(beside, words, terminal, report, input);
  return taskOfWords(input, words, terminal, report);
}

function taskOfWords(input: Input, words: Words, terminal: Context['terminal'], { diagnostics }: Report): Task | ExitCode {
  const request = readRequest(words, diagnostics);
  if (typeof request === 'string') return wrongWords(request, 'cumetal run --help', terminal);
  return diagnostics.hasErrors ? exit.usage : { input, request, plan: request.plan };
}

/** The task of a launch file. A FILE on the command line, or the file it was found beside, replaces the module it names. */
async function taskOfFile(
  path: string,
  words: Words,
  terminal: Context['terminal'],
  report: Report,
  beside?: Input,
): Promise<Task | ExitCode> {
  const { diagnostics } = report;
  const request = readRequest(words, diagnostics);
  if (typeof request === 'string') return wrongWords(request, 'cumetal run --help', terminal);
  const bytes = terminal.readFile(path);
  if (!(bytes instanceof Uint8Array)) {
    diagnostics.report('CM5030', { path, why: bytes.why });
    return exit.usage;
  }
  const file = readLaunchFile(path, new TextDecoder().decode(bytes), diagnostics);
  if (!file) return exit.failed;
  const given = words.positionals[0];
  const input = beside ?? (await readInput(given ?? file.module, terminal, diagnostics, lastValue(words, 'image')));
  if (typeof input === 'number') return given === undefined && input === exit.usage ? exit.failed : input;
  report.notes.push(`launched as ${path} says`);
  return { input, request, plan: file };
}
