/** The launch: from the command line, the launch lines of the file, a launch file, or the launch file next to the module. */
import type { Diagnostics } from '../../base/diagnostic.ts';
import { type LaunchPlan, type Reach, readLaunchFile } from '../../runtime/index.ts';
import { type Context, has, lastValue, type ParsedArguments } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { type Input, readInput, readInputs } from '../input/index.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { exists } from '../terminal/index.ts';
import { conflictingOption, type RunRequest, readRequest } from './options.ts';
import { mergeLaunches, type OwnLaunch, readOwnLaunch } from './own-launch.ts';
import type { Report } from './report.ts';
import { tritonLaunch } from './triton.ts';

/** A launch without its device: the module, the plan and the request. */
export interface Task {
  readonly input: Input;
  readonly request: RunRequest;
  readonly plan: LaunchPlan;
}

/** The task of a command line, or the exit code after reporting an error. */
export async function readTask({ terminal, parsed, command }: Context, report: Report): Promise<Task | ExitCode> {
  const launchPath = lastValue(parsed, 'launch');
  if (launchPath !== undefined) return taskOfFile(launchPath, parsed, terminal, report);
  const { diagnostics } = report;
  const input = await readInputs(parsed.positionals, terminal, diagnostics, parsed);
  if (typeof input === 'number') return input;
  if (has(parsed, 'arg')) return taskOfArguments(input, parsed, terminal, report);
  const own = input.kind === 'ptx' ? readOwnLaunch(input.source, command, reachOf(parsed, terminal), diagnostics) : undefined;
  if (diagnostics.hasErrors) return exit.usage;
  if (own) {
    report.notes.push(`launch from the comment lines of ${input.path}`);
    return taskOfArguments(input, parsed, terminal, report, own);
  }
  const beside = input.path.replace(/\.(ptx|metallib|cu|fatbin|cubin|o)$/, '.launch.json');
  if (beside !== input.path && exists(beside) && !conflictingOption(parsed)) return taskOfFile(beside, parsed, terminal, report, input);
  return taskOfArguments(input, parsed, terminal, report);
}

const reachOf = (parsed: ParsedArguments, io: Context['terminal']): Omit<Reach, 'folder'> => ({
  io,
  allowsOutside: has(parsed, 'allow-outside'),
});

/** The task of the options. `own` is the launch of the file, which they override or, for lists, extend. */
function taskOfArguments(
  input: Input,
  parsed: ParsedArguments,
  terminal: Context['terminal'],
  { diagnostics }: Report,
  own?: OwnLaunch,
): Task | ExitCode {
  const request = readRequest(parsed, diagnostics);
  if (typeof request === 'string') return usageError(request, 'cumetal run --help', terminal);
  const whole = own ? { ...request, ...mergeLaunches(own, request) } : request;
  const metadata = lastValue(parsed, 'triton');
  const plan = metadata === undefined ? whole.plan : tritonPlan(metadata, input, whole.plan, terminal, diagnostics);
  return diagnostics.hasErrors || !plan ? exit.usage : { input, request: whole, plan };
}

/** The plan with what Triton's metadata says of the launch; undefined after reporting CM5030 or CM5048. */
function tritonPlan(
  path: string,
  input: Input,
  plan: LaunchPlan,
  terminal: Context['terminal'],
  diagnostics: Diagnostics,
): LaunchPlan | undefined {
  const bytes = terminal.readFile(path);
  const source = input.kind === 'ptx' ? input.source : undefined;
  if (bytes instanceof Uint8Array) return tritonLaunch(path, new TextDecoder().decode(bytes), source, plan, diagnostics);
  diagnostics.report('CM5030', { path, why: bytes.why });
  return undefined;
}

/** The task of a launch file. A FILE on the command line, or the module next to the launch file, overrides its `module`. */
async function taskOfFile(
  path: string,
  parsed: ParsedArguments,
  terminal: Context['terminal'],
  report: Report,
  beside?: Input,
): Promise<Task | ExitCode> {
  const { diagnostics } = report;
  const request = readRequest(parsed, diagnostics);
  if (typeof request === 'string') return usageError(request, 'cumetal run --help', terminal);
  const bytes = terminal.readFile(path);
  if (!(bytes instanceof Uint8Array)) {
    diagnostics.report('CM5030', { path, why: bytes.why });
    return exit.usage;
  }
  const options = { ...reachOf(parsed, terminal), isRecording: request.isRecording };
  const file = readLaunchFile(path, new TextDecoder().decode(bytes), diagnostics, options);
  if (!file) return exit.failed;
  const given = parsed.positionals[0];
  const input = beside ?? (await readInput(given ?? file.module, terminal, diagnostics, parsed, given !== undefined));
  if (typeof input === 'number') return given === undefined && input === exit.usage ? exit.failed : input;
  report.notes.push(`launch from ${path}`);
  return { input, request, plan: file };
}
