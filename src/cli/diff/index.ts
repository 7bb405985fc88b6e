/** `cumetal diff`: runs the same launch on several devices, and compares every buffer with that of the first. */
import { Diagnostics } from '../../base/diagnostic.ts';
import type { CompileCache } from '../../cache/index.ts';
import type { Device } from '../../device/device.ts';
import { compareOutcomes, type LaunchOutcome, launch, launchWords, type Tolerance } from '../../runtime/index.ts';
import { type Command, type Context, has, lastValue, type ParsedArguments } from '../command/command.ts';
import { ownCompileCache } from '../command/compile-cache.ts';
import { usageError } from '../command/usage-error.ts';
import { type Judged, noteInvented } from '../run/default-note.ts';
import { addFaultPlace } from '../run/fault-place.ts';
import { findWriter } from '../run/last-writer.ts';
import { launchFault, loadTask } from '../run/load-task.ts';
import { conflictingOption } from '../run/options.ts';
import { readTask, type Task } from '../run/task.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import { filesIn, type Terminal } from '../terminal/index.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { type AskedDevice, readDevices, readTolerance } from './options.ts';
import { type Compared, type DiffReport, diffJson, diffText, type Ran } from './report.ts';

/** Runs the command. `run` is the command whose options the launch lines of a file use. */
export async function diff(context: Context, run: Command): Promise<ExitCode> {
  const { terminal, parsed } = context;
  const devices = readDevices(parsed);
  const tolerance = readTolerance(parsed);
  const launches = launchesOf(parsed, terminal);
  const problem = [devices, tolerance, launches].find((each) => typeof each === 'string');
  if (typeof devices === 'string' || typeof tolerance === 'string' || typeof launches === 'string')
    return usageError(problem as string, 'cumetal diff --help', terminal);
  const diagnostics = new Diagnostics();
  const opened = await openAll(devices, diagnostics);
  writeDiagnostics(diagnostics.list, terminal);
  if (!opened) return exit.noDevice;
  const isFolder = launches.length !== 1;
  const report: DiffReport = { devices: opened, launches: [], isFolder };
  let last: string | undefined;
  const announce = (judged: Omit<Judged, 'what'>): void => {
    last = noteInvented({ ...judged, what: 'results' }, terminal);
  };
  try {
    const cache = has(parsed, 'no-cache') ? undefined : ownCompileCache(terminal);
    for (const one of launches) report.launches.push(await compareLaunch(one, { context, run, tolerance, opened, cache, announce }));
  } finally {
    for (const { device } of opened) device.close();
  }
  const isSame = report.launches.every(({ code }) => code === exit.ok);
  if (has(parsed, 'json')) terminal.out(diffJson(report));
  else if (!terminal.isQuiet || !isSame) terminal.out(diffText(report));
  if (last) terminal.err(last);
  const codes = report.launches.map(({ code }) => code);
  return isFolder ? (codes.every((code) => code === exit.ok) ? exit.ok : exit.failed) : codes[0]!;
}

/** The arguments of one launch, and its file. */
interface Asked {
  readonly path: string;
  readonly parsed: ParsedArguments;
}

/** The launches of a command line: a launch file, a module with its own launch, or all of a folder; a usage error as a sentence. */
function launchesOf(parsed: ParsedArguments, terminal: Terminal): Asked[] | string {
  const given = lastValue(parsed, 'launch');
  const [path] = parsed.positionals;
  const described = conflictingOption(parsed);
  if (given !== undefined) {
    if (described) return `\`--${described}\` conflicts with \`--launch\`: the launch file specifies it`;
    const found = path === undefined ? undefined : filesIn(path);
    return found ? `\`--launch\` conflicts with the folder \`${path}\`` : [{ path: given, parsed }];
  }
  if (path === undefined) return '`cumetal diff` requires a launch: `cumetal diff --launch FILE`, or a folder of launches';
  const found = filesIn(path);
  if (!found) return [{ path, parsed }];
  if (described) return `\`--${described}\` conflicts with the folder \`${path}\`: its files specify their launches`;
  const files = found.filter((file) => isLaunchFile(file) || (isPtx(file) && hasOwnLaunch(file, terminal)));
  // A launch file next to a module is the launch of that module.
  const own = files.filter((file) => !isPtx(file) || !found.includes(file.replace(/\.ptx$/, '.launch.json')));
  if (own.length === 0)
    return `\`${path}\` contains no launches: no \`launch.json\`, no \`NAME.launch.json\`, and no PTX file with \`//! cumetal:\` lines`;
  return own.map((file) => ({ path: file, parsed: argumentsFor(file, parsed) }));
}

const isPtx = (path: string): boolean => path.endsWith('.ptx');
const isLaunchFile = (path: string): boolean => /(^|\/|\.)launch\.json$/.test(path);

function hasOwnLaunch(path: string, terminal: Terminal): boolean {
  const bytes = terminal.readFile(path);
  return bytes instanceof Uint8Array && launchWords(new TextDecoder().decode(bytes), new Diagnostics()) !== undefined;
}

const argumentsFor = (file: string, { options }: ParsedArguments): ParsedArguments =>
  isPtx(file) ? { positionals: [file], options } : { positionals: [], options: new Map([...options, ['launch', [file]]]) };

/** An open device that can be reopened after a failed launch. */
export interface Opened extends AskedDevice {
  device: Device;
  reopen(diagnostics: Diagnostics): void;
}

async function openAll(asked: readonly AskedDevice[], diagnostics: Diagnostics): Promise<Opened[] | undefined> {
  const { openDevice } = await import('../../device/index.ts');
  const opened = asked.flatMap((one): Opened[] => {
    const device = openDevice(one.kind, diagnostics, one.engine);
    if (!device) return [];
    const made: Opened = {
      ...one,
      device,
      reopen(to) {
        made.device.close();
        made.device = openDevice(one.kind, to, one.engine) ?? made.device;
      },
    };
    return [made];
  });
  if (opened.length === asked.length) return opened;
  for (const { device } of opened) device.close();
  return undefined;
}

interface Setting {
  readonly context: Context;
  readonly run: Command;
  readonly tolerance: Tolerance | undefined;
  readonly opened: readonly Opened[];
  readonly cache: CompileCache | undefined;
  /** Says of an invented launch that it is one, before it runs. */
  readonly announce: (judged: Omit<Judged, 'what'>) => void;
}

/** Runs one launch on every device. Diagnostics go to standard error immediately. */
async function compareLaunch({ path, parsed }: Asked, setting: Setting): Promise<Compared> {
  const { context, run, opened, cache } = setting;
  const { terminal } = context;
  const reported: Diagnostics[] = [];
  const notes: string[] = [];
  const task = await readTask({ command: run, parsed, terminal }, { diagnostics: newList(reported), notes, printed: [] });
  const ran: Ran[] = [];
  let code: ExitCode = typeof task === 'number' ? task : exit.ok;
  for (const one of typeof task === 'number' ? [] : opened) {
    const diagnostics = newList(reported);
    const announce = one === opened[0] ? (judged: Omit<Judged, 'what'>) => setting.announce(judged) : undefined;
    const result = await runOn(one, task as Task, { terminal, diagnostics, notes, cache, announce });
    if (typeof result === 'number') {
      code = result;
      one.reopen(diagnostics);
    } else ran.push(result);
  }
  // What is wrong with the launch is found on every device.
  const once = new Diagnostics();
  for (const { list } of reported) once.addNew(list);
  const diagnostics = once.list;
  writeDiagnostics(diagnostics, terminal);
  const common = { path, diagnostics, notes: [...new Set(notes)] };
  if (typeof task === 'number' || ran.length < opened.length)
    return { ...common, code: code === exit.ok ? exit.failed : code, ran, pairs: [] };
  const [reference, ...others] = ran as [Ran, ...Ran[]];
  const pairs = others.map((other) => ({ other, differences: compareOutcomes(reference.outcome, other.outcome, setting.tolerance) }));
  const first = pairs.flatMap(({ differences }) => differences).find(({ mismatch }) => mismatch);
  if (!first?.mismatch) return { ...common, code: exit.ok, ran, pairs };
  const place = { argument: first.index, at: first.mismatch.at, element: first.element };
  return { ...common, code: exit.failed, ran, pairs, writer: await findWriter(task, place, terminal) };
}

function newList(reported: Diagnostics[]): Diagnostics {
  const made = new Diagnostics();
  reported.push(made);
  return made;
}

interface Surroundings {
  readonly terminal: Terminal;
  readonly diagnostics: Diagnostics;
  readonly notes: string[];
  readonly cache: CompileCache | undefined;
  /** Called before the launch on the reference device. */
  readonly announce: ((judged: Omit<Judged, 'what'>) => void) | undefined;
}

async function runOn({ spec, device }: Opened, task: Task, around: Surroundings): Promise<Ran | ExitCode> {
  const { terminal, diagnostics, notes, cache, announce } = around;
  const module = await loadTask(device, task, { diagnostics, notes }, cache);
  if (typeof module === 'number') return module;
  announce?.({ plan: task.plan, module, device });
  const { repeat, timeoutMs } = task.request;
  const outcome: LaunchOutcome | undefined = launch(device, module, task.plan, { repeat, timeoutMs }, { io: terminal, diagnostics });
  if (!outcome) {
    await addFaultPlace(task, diagnostics, terminal);
    return launchFault(diagnostics);
  }
  return { spec, info: device.info, outcome };
}
