/** `cumetal run`: compile if needed, launch one kernel, show, save and check its buffers. */
import { targets } from '../air/targets.ts';
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import type { SourceFile } from '../base/source.ts';
import type { Compiled, CompileOptions } from '../compile/index.ts';
import type { Device, DeviceModule } from '../device/device.ts';
import type { Profile } from '../device/profile.ts';
import type { Trace } from '../device/trace.ts';
import { type LaunchPlan, launch, launchWords, readLaunchFile, writeBytes } from '../runtime/index.ts';
import { type Context, has, lastValue, sortWords, type Words } from './command.ts';
import { type ExitCode, exit } from './exit.ts';
import { hostHash } from './host-hash.ts';
import { type Input, readInput } from './input.ts';
import { jsonText } from './json.ts';
import { renderAll } from './render.ts';
import { finishLaunch, type Report, reportHuman, reportJson } from './run-report.ts';
import { clashing, joinWords, type RunRequest, readRequest } from './run-words.ts';
import { exists } from './terminal.ts';
import { wrongWords } from './wrong-words.ts';

/** Runs the command. */
export async function run(context: Context): Promise<ExitCode> {
  const { terminal, words } = context;
  const problem = problemOf(words);
  if (problem) return wrongWords(problem, 'cumetal run --help', terminal);
  const diagnostics = new Diagnostics();
  const report: Report = { diagnostics, notes: [], printed: [] };
  const seen: Seen = {};
  const code = await attempt(context, report, seen);
  if (seen.trace) await showTrace(seen.trace, context, report);
  const table = seen.profile && (await showProfile(seen.profile, context, report));
  terminal.err(renderAll(diagnostics.list, terminal.colour.err));
  if (has(words, 'json')) terminal.out(`${reportJson(report)}\n`);
  else if (report.launched) terminal.out(reportHuman(report.launched, report.notes));
  if (table) terminal.out(`\n${table}`);
  return code;
}

/** Words that only the CPU device understands, so that on a Mac as well it is the one that is meant. */
const watchWords = ['sanitize', 'schedule', 'trace-thread', 'profile', 'denormals'] as const;

/** What a launch was watched for. */
interface Seen {
  trace?: Trace;
  profile?: Profiled;
}

interface Profiled {
  readonly profile: Profile;
  readonly source: SourceFile | undefined;
  readonly wanted: NonNullable<RunRequest['profile']>;
}

function takeProfile(seen: Seen, profiled: Profiled): void {
  seen.profile = profiled;
}

function takeTrace(seen: Seen, trace: Trace): void {
  seen.trace = trace;
}

/** A profile goes to a file, into the object of `--json`, or is given back as a table. */
async function showProfile(
  { profile, source, wanted }: Profiled,
  { terminal, words }: Context,
  report: Report,
): Promise<string | undefined> {
  const [{ placeOn, roofs }, { profileJson, profileText }] = await Promise.all([import('./roofline.ts'), import('./profile-text.ts')]);
  const on = placeOn(roofs[wanted.roofline]!, profile);
  const { path } = wanted;
  if (path !== undefined) {
    const isPage = path.endsWith('.html');
    const text = isPage ? (await import('./profile-html.ts')).profileHtml(profile, source, on) : `${jsonText(profileJson(profile, on))}\n`;
    if (writeBytes(terminal, path, new TextEncoder().encode(text), report.diagnostics)) report.notes.push(`profile written to ${path}`);
  } else if (has(words, 'json')) report.watched = { ...report.watched, profile: profileJson(profile, on) };
  else return profileText(profile, source, on);
  return undefined;
}

/** A trace goes to a file, into the object of `--json`, or beside the diagnostics. */
async function showTrace(trace: Trace, { terminal, words }: Context, report: Report): Promise<void> {
  const { traceJson, traceText } = await import('./trace-text.ts');
  const path = lastValue(words, 'trace-out');
  if (path !== undefined) {
    const text = path.endsWith('.json') ? `${jsonText(traceJson(trace))}\n` : traceText(trace);
    writeBytes(terminal, path, new TextEncoder().encode(text), report.diagnostics);
  } else if (has(words, 'json')) report.watched = { ...report.watched, trace: traceJson(trace) };
  else terminal.err(traceText(trace));
}

function problemOf(words: Words): string | undefined {
  const device = lastValue(words, 'device') ?? 'cpu';
  const watching = device === 'cpu' || device === 'auto' ? undefined : watchWords.find((name) => has(words, name));
  if (watching) return `\`--${watching}\` is for the CPU device, and not for \`${device}\``;
  const clash = has(words, 'launch') ? clashing(words) : undefined;
  if (clash) return `\`--${clash}\` does not go with \`--launch\`: the launch file says it`;
  if (!has(words, 'launch') && words.positionals.length === 0) return '`cumetal run` needs a file: `cumetal run FILE`';
  return undefined;
}

/** A launch that is known but for the device: the module and what to do with it. */
interface Task {
  readonly input: Input;
  readonly request: RunRequest;
  readonly plan: LaunchPlan;
}

async function attempt(context: Context, report: Report, seen: Seen): Promise<ExitCode> {
  const task = await readTask(context, report);
  if (typeof task === 'number') return task;
  const { openDevice } = await import('../device/index.ts');
  const { device: asked, engine } = task.request;
  const isWatched = watchWords.some((name) => has(context.words, name));
  const device = openDevice(asked === 'auto' && isWatched ? 'cpu' : asked, report.diagnostics, engine);
  if (!device) return exit.noDevice;
  try {
    return await launchOn(device, task, context, { report, seen });
  } finally {
    device.close();
  }
}

interface Results {
  readonly report: Report;
  readonly seen: Seen;
}

async function launchOn(device: Device, { input, request, plan }: Task, { terminal, words }: Context, to: Results): Promise<ExitCode> {
  const { report, seen } = to;
  const { diagnostics } = report;
  report.device = device.info;
  const start = performance.now();
  const bytes =
    input.kind === 'metallib' ? input.bytes : await compileFor(device, input, withEntry(request.compile, plan), { report, plan });
  // A kernel that is not there is a launch that fails, in a PTX file as in a metallib.
  if (!bytes) return diagnostics.list.some((d) => d.code === 'CM1120') ? exit.failed : exit.doesNotCompile;
  const module: DeviceModule | undefined = device.load(bytes, diagnostics, {
    constants: request.constants,
    ...(plan.kernel === undefined ? {} : { kernels: [plan.kernel] }),
  });
  report.compileMs = performance.now() - start;
  if (!module) return exit.failed;
  const isJson = has(words, 'json');
  const source: { readonly source?: SourceFile } = input.kind === 'ptx' ? { source: input.source } : {};
  const wanted = request.profile;
  const watch = {
    ...(request.sanitize ? { sanitize: { ...request.sanitize, ...source } } : {}),
    ...(request.trace ? { trace: { ...request.trace, ...source, take: (trace: Trace) => takeTrace(seen, trace) } } : {}),
    ...(wanted
      ? { profile: { ...source, take: (profile: Profile) => takeProfile(seen, { profile, source: source.source, wanted }) } }
      : {}),
  };
  const options = {
    repeat: request.repeat,
    timeoutMs: request.timeoutMs,
    watch,
    ...(request.schedule ? { schedule: request.schedule } : {}),
    print: (text: Uint8Array) => void (isJson ? report.printed.push(text) : terminal.outBytes(text)),
  };
  const outcome = launch(device, module, plan, options, { io: terminal, diagnostics });
  if (!outcome) return diagnostics.list.some((d) => d.code === 'CM5002') ? exit.usage : exit.failed;
  report.launched = finishLaunch(outcome, request, { device: device.info, compileMs: report.compileMs, io: terminal, diagnostics });
  return diagnostics.hasErrors || report.launched.checks.some((c) => !c.pass) ? exit.failed : exit.ok;
}

/** A chosen kernel is the only one that needs to compile. */
const withEntry = (options: CompileOptions, { kernel }: LaunchPlan): CompileOptions =>
  kernel === undefined ? options : { ...options, entries: [kernel] };

/** The metallib of a PTX file. On the CPU, what no Apple target can say is tried once more for `cpu`, and said. */
async function compileFor(
  device: Device,
  input: Input & { kind: 'ptx' },
  options: CompileOptions,
  { report, plan }: { readonly report: Report; readonly plan: LaunchPlan },
): Promise<Uint8Array | undefined> {
  const { compile } = await import('../compile/index.ts');
  const first = new Diagnostics(input.source);
  const compiled = compile(input.source, { ...hostHash, ...options }, first);
  const why = device.info.kind === 'cpu' && options.target === undefined ? beyondApple(compiled, first, plan) : undefined;
  if (why !== undefined) {
    const second = new Diagnostics(input.source);
    const forCpu = compile(input.source, { ...options, target: 'cpu' }, second);
    if (forCpu) {
      report.notes.push(`compiled for \`--target cpu\`, because ${why}`);
      report.diagnostics.addAll(second.sorted());
      return forCpu.metallib;
    }
  }
  report.diagnostics.addAll(first.sorted());
  return compiled?.metallib;
}

/** What no Apple GPU can do of a kernel or its launch; nothing where it is all for them, or at fault otherwise. */
function beyondApple(compiled: Compiled | undefined, said: Diagnostics, { kernel, sharedBytes }: LaunchPlan): string | undefined {
  if (!compiled) {
    const errors = said.list.filter((d) => d.severity === 'error');
    return errors.every(isAboutTarget) ? errors[0]?.message : undefined;
  }
  const chosen = compiled.reflection.kernels.find(({ name }) => kernel === undefined || name === kernel);
  const bytes = (chosen?.staticSharedBytes ?? 0) + sharedBytes;
  const { total } = targets.macos14.shared;
  return bytes > total ? `the launch takes ${bytes} bytes of shared memory, and Apple GPUs have ${total}` : undefined;
}

/** Errors that say what Apple targets cannot do. */
const isAboutTarget = (d: Diagnostic): boolean => d.code.startsWith('CM209');

async function readTask({ terminal, words, command }: Context, report: Report): Promise<Task | ExitCode> {
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
