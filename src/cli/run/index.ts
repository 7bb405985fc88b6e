/** `cumetal run`: compiles if needed, launches one kernel, and prints, saves and checks its buffers. */
import { existsSync } from 'node:fs';
import { readableName } from '../../base/demangle/index.ts';
import { type Diagnostic, Diagnostics } from '../../base/diagnostic.ts';
import type { SourceFile } from '../../base/source.ts';
import type { Device } from '../../device/device.ts';
import { areOpenOptions } from '../../device/open-options.ts';
import type { Profile } from '../../device/profile.ts';
import type { Trace } from '../../device/trace.ts';
import { areWritable, launch, writeBytes } from '../../runtime/index.ts';
import { type Context, has, lastValue, type ParsedArguments } from '../command/command.ts';
import { ownCodeStore, ownCompileCache } from '../command/compile-cache.ts';
import { usageError } from '../command/usage-error.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { jsonDocument } from '../terminal/json.ts';
import { progressBar } from '../terminal/progress-bar.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { inventedFault, inventedParts, noteInvented } from './default-note.ts';
import { launchFault, loadTask } from './load-task.ts';
import { conflictingOption, type RunRequest } from './options.ts';
import { finishLaunch, type Report, reportHuman, reportJson } from './report.ts';
import { readTask, type Task } from './task.ts';
import { wholeProgram } from './whole.ts';

/** Runs the command. */
export async function run(context: Context): Promise<number> {
  const { terminal, parsed } = context;
  const whole = wholeProgram(context);
  if (whole) return (await import('./program.ts')).runWhole(context, whole.files, whole.module);
  const problem = problemOf(parsed);
  if (problem) return usageError(problem, 'cumetal run --help', terminal);
  const diagnostics = new Diagnostics();
  const report: Report = { diagnostics, notes: [], printed: [] };
  const observed: Observations = {};
  let code = await attempt(context, report, observed);
  if (observed.trace) await showTrace(observed.trace, context, report);
  const table = observed.profile && (await showProfile(observed.profile, context, report));
  // A file of the instruments may not be written.
  if (code === exit.ok && diagnostics.hasErrors) code = exit.failed;
  writeDiagnostics(diagnostics.list, terminal);
  if (has(parsed, 'json')) terminal.out(reportJson(report, lastValue(parsed, 'json') === 'full'));
  else if (report.launched) terminal.out(reportHuman(report.launched, report.notes, terminal.isQuiet));
  if (table) terminal.out(`\n${table}`);
  if (report.lastNote) terminal.err(report.lastNote);
  return code;
}

/** The results of the instruments of a launch. */
interface Observations {
  trace?: Trace;
  profile?: Profiled;
}

interface Profiled {
  readonly profile: Profile;
  readonly source: SourceFile | undefined;
  readonly wanted: NonNullable<RunRequest['profile']>;
}

function takeProfile(observed: Observations, profiled: Profiled): void {
  observed.profile = profiled;
}

function takeTrace(observed: Observations, trace: Trace): void {
  observed.trace = trace;
}

/** Writes a profile to its file or into the object of `--json`; otherwise returns it as a table. */
async function showProfile(
  { profile, source, wanted }: Profiled,
  { terminal, parsed }: Context,
  report: Report,
): Promise<string | undefined> {
  const [{ placeOn, roofs }, { profileJson, profileText }] = await Promise.all([import('./roofline.ts'), import('./profile-text.ts')]);
  const on = placeOn(roofs[wanted.roofline]!, profile);
  const { path } = wanted;
  if (path !== undefined) {
    const isPage = path.endsWith('.html');
    const text = isPage
      ? (await import('./profile-html.ts')).profileHtml(profile, source, on, report.lastNote?.trim())
      : jsonDocument(profileJson(profile, on));
    if (writeBytes(terminal, path, new TextEncoder().encode(text), report.diagnostics)) report.notes.push(`profile written to ${path}`);
  } else if (has(parsed, 'json')) report.observed = { ...report.observed, profile: profileJson(profile, on) };
  else return profileText(profile, source, on);
  return undefined;
}

/** Writes a trace to its file, into the object of `--json`, or to standard error. */
async function showTrace(trace: Trace, { terminal, parsed }: Context, report: Report): Promise<void> {
  const { traceJson, traceText } = await import('./trace-text.ts');
  const path = lastValue(parsed, 'trace-out');
  if (path !== undefined) {
    const text = path.endsWith('.json') ? jsonDocument(traceJson(trace)) : traceText(trace);
    writeBytes(terminal, path, new TextEncoder().encode(text), report.diagnostics);
  } else if (has(parsed, 'json')) report.observed = { ...report.observed, trace: traceJson(trace) };
  else terminal.err(traceText(trace));
}

/** Adds the place of a fault to its report. Loads the second run only after a failed launch. */
async function explainFault(task: Task, diagnostics: Diagnostics, terminal: Context['terminal']): Promise<void> {
  const { addFaultPlace } = await import('./fault-place.ts');
  await addFaultPlace(task, diagnostics, terminal);
}

/** Whether the device stopped the launch, and not what the launch lacks. */
const isDeviceFault = ({ code, severity }: Diagnostic): boolean => severity === 'error' && code.startsWith('CM60');

function problemOf(parsed: ParsedArguments): string | undefined {
  if (has(parsed, 'record') && lastValue(parsed, 'device') === undefined)
    return '`--record` requires `--device`, the device whose results become the expected ones';
  const conflict = has(parsed, 'launch') ? conflictingOption(parsed) : undefined;
  if (conflict) return `\`--${conflict}\` conflicts with \`--launch\`: the launch file specifies it`;
  if (!has(parsed, 'launch') && parsed.positionals.length === 0) return '`cumetal run` requires a file: `cumetal run FILE`';
  if (has(parsed, 'launch') && parsed.positionals.length > 1) return `unexpected argument \`${parsed.positionals[1]}\` for \`cumetal run\``;
  const ofPrograms = ['library', 'library-folder', 'rdc', 'optimize', 'trace-launch'].find((name) => has(parsed, name));
  if (ofPrograms) return `\`--${ofPrograms}\` is for a whole program, and \`${parsed.positionals[0]}\` is a module of kernels`;
  // A file that is not there is no module of kernels either, and is reported where it is read.
  if (parsed.rest && parsed.positionals.every((path) => existsSync(path)))
    return `words after \`--\` are arguments of a whole program, and \`${parsed.positionals[0]}\` is a module of kernels`;
  return undefined;
}

async function attempt(context: Context, report: Report, observed: Observations): Promise<ExitCode> {
  const task = await readTask(context, report);
  if (typeof task === 'number') return task;
  if (task.request.isRecording && !task.plan.args?.some(({ expect }) => expect)) {
    report.diagnostics.report('CM5051', {});
    return exit.usage;
  }
  if (!areWritable(context.terminal, writtenPaths(task, context.parsed), report.diagnostics)) return exit.failed;
  const device = await opened(task, report.diagnostics);
  if (!device) return exit.noDevice;
  try {
    return await launchOn(device, task, context, { report, observed });
  } finally {
    device.close();
  }
}

/** The device of a task. The CPU device is loaded alone where it is clear that no other one is opened. */
async function opened({ request: { device, engine } }: Task, diagnostics: Diagnostics): Promise<Device | undefined> {
  const isCpu = device === 'cpu' || (device === 'auto' && process.platform !== 'darwin');
  if (isCpu && areOpenOptions(engine, diagnostics)) return (await import('../../device/cpu/index.ts')).openCpuDevice(engine);
  return isCpu ? undefined : (await import('../../device/index.ts')).openDevice(device, diagnostics, engine);
}

/** The files that the command will write after the launch. */
function writtenPaths({ request, plan }: Task, parsed: ParsedArguments): string[] {
  const recorded = request.isRecording ? (plan.args ?? []).flatMap(({ expect }) => expect?.path ?? []) : [];
  const observed = [request.profile?.path, request.trace && lastValue(parsed, 'trace-out')].flatMap((path) => path ?? []);
  return [...request.outs.map(({ path }) => path), ...recorded, ...observed];
}

interface Results {
  readonly report: Report;
  readonly observed: Observations;
}

async function launchOn(device: Device, { input, request, plan }: Task, { terminal, parsed }: Context, to: Results): Promise<ExitCode> {
  const { report, observed } = to;
  const { diagnostics } = report;
  report.device = device.info;
  const start = performance.now();
  const cache = has(parsed, 'no-cache') ? undefined : ownCompileCache(terminal);
  const codes = cache && device.info.kind === 'cpu' ? ownCodeStore(terminal) : undefined;
  const module = await loadTask(device, { input, request, plan }, report, cache, codes);
  report.compileMs = performance.now() - start;
  if (typeof module === 'number') return module;
  const isJson = has(parsed, 'json');
  const source: { readonly source?: SourceFile } = input.kind === 'ptx' ? { source: input.source } : {};
  const wanted = request.profile;
  const observe = {
    ...(request.sanitize ? { sanitize: { ...request.sanitize, ...source } } : {}),
    ...(request.trace ? { trace: { ...request.trace, ...source, take: (trace: Trace) => takeTrace(observed, trace) } } : {}),
    ...(wanted
      ? { profile: { ...source, take: (profile: Profile) => takeProfile(observed, { profile, source: source.source, wanted }) } }
      : {}),
  };
  const what = request.sanitize ? 'findings' : wanted ? 'figures' : undefined;
  if (what) report.lastNote = noteInvented({ plan, module, device, what }, terminal);
  const bar = isJson ? undefined : progressBar(readableName(plan.kernel ?? module.kernels[0]?.name ?? ''), terminal);
  const options = {
    repeat: request.repeat,
    timeoutMs: request.timeoutMs,
    observe,
    ...(request.schedule ? { schedule: request.schedule } : {}),
    ...(bar ? { progress: bar.update } : {}),
    print(text: Uint8Array) {
      bar?.clear();
      if (isJson) report.printed.push(text);
      else terminal.outBytes(text);
    },
  };
  const outcome = launch(device, module, plan, options, { io: terminal, diagnostics });
  bar?.clear();
  if (!outcome) {
    await explainFault({ input, request, plan }, diagnostics, terminal);
    if (diagnostics.list.some(isDeviceFault)) {
      report.defaults = inventedParts({ plan, module, device });
      report.lastNote ??= inventedFault(report.defaults);
    }
    return launchFault(diagnostics);
  }
  report.launched = finishLaunch(outcome, request, { device: device.info, compileMs: report.compileMs, io: terminal, diagnostics });
  return diagnostics.hasErrors || report.launched.checks.some((c) => !c.pass) ? exit.failed : exit.ok;
}
