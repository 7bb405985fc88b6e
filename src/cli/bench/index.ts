/**
 * `cumetal bench`: measures compile, load and launch times on a device, of a file with its launch or of built-in kernels that reach the
 * limits of the device. Only times of the same run are comparable.
 */
import { bug } from '../../base/bug.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';
import type { Device, DeviceModule } from '../../device/device.ts';
import { openDevice } from '../../device/index.ts';
import { launch } from '../../runtime/index.ts';
import { type Command, type Context, has, type ParsedArguments, parseArguments } from '../command/command.ts';
import { usageError } from '../command/usage-error.ts';
import { noteInvented } from '../run/default-note.ts';
import { launchFault, loadTask } from '../run/load-task.ts';
import { type RunRequest, readRequest } from '../run/options.ts';
import type { Report } from '../run/report.ts';
import { readTask, type Task } from '../run/task.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';
import { jsonDocument } from '../terminal/json.ts';
import { median } from '../terminal/numbers.ts';
import { writeDiagnostics } from '../terminal/render.ts';
import { type BenchKernel, benchKernels, benchPtx } from './kernels.ts';

/** One line of the report: the median of `times` measurements, or the rate of the median time. */
interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly times: number;
}

/** The number of repeated compilations and, without `--repeat`, of launches. */
const [preparations, launches] = [5, 20];

/** Runs the command. `run` is the command whose options describe a launch. */
export async function bench(context: Context, run: Command): Promise<ExitCode> {
  const { terminal, parsed } = context;
  const asked = readRequest(parsed, new Diagnostics());
  if (typeof asked === 'string') return usageError(asked, 'cumetal bench --help', terminal);
  const report: Report = { diagnostics: new Diagnostics(), notes: [], printed: [] };
  const code = await attempt(context, run, asked, report);
  writeDiagnostics(report.diagnostics.list, terminal);
  return code;
}

const rowText = ({ name, value, unit, times }: Row): string =>
  `  ${name.padEnd(58)} ${value.toPrecision(4).padStart(10)} ${unit}${times > 1 ? `, median of ${times}` : ''}\n`;

async function attempt(context: Context, run: Command, asked: RunRequest, report: Report): Promise<ExitCode> {
  const { terminal, parsed } = context;
  const isOfFile = parsed.positionals.length > 0 || has(parsed, 'launch');
  const task = isOfFile ? await readTask({ ...context, command: run }, report) : undefined;
  if (typeof task === 'number') return task;
  const { device: kind, engine } = task?.request ?? asked;
  const device = openDevice(kind, report.diagnostics, engine);
  if (!device) return exit.noDevice;
  const measured = task ? await rowsOfTask(device, task, terminal, report) : await rowsOfBuiltIn(device, context, run, report);
  device.close();
  if (typeof measured === 'number') return measured;
  const { info } = device;
  if (has(parsed, 'json'))
    terminal.out(jsonDocument({ device: info.kind, device_name: info.name, rows: measured, is_invented: report.lastNote !== undefined }));
  else terminal.out(`${info.name}\n${measured.map(rowText).join('')}`);
  if (report.lastNote) terminal.err(report.lastNote);
  return exit.ok;
}

/** Measures the built-in kernels on a device, or returns the exit code after reporting an error. */
export async function rowsOfBuiltIn(
  device: Device,
  { parsed, terminal }: Context,
  run: Command,
  report: Report,
): Promise<Row[] | ExitCode> {
  const rows: Row[] = [];
  for (const kernel of benchKernels) {
    const found = await rowsOfTask(device, taskOf(kernel, parsed, run), terminal, report, kernel);
    if (typeof found === 'number') return found;
    rows.push(...found);
  }
  return rows;
}

/** The task of a built-in kernel, with the options of the command line. */
function taskOf({ name, args }: BenchKernel, given: ParsedArguments, run: Command): Task {
  const parsed = parseArguments(run, ['--kernel', name, ...args]) as ParsedArguments;
  const request = readRequest({ positionals: [], options: new Map([...given.options, ...parsed.options]) }, new Diagnostics());
  if (typeof request === 'string') bug(request);
  return { input: { kind: 'ptx', path: 'bench.ptx', source: new SourceFile('bench.ptx', benchPtx) }, request, plan: request.plan };
}

async function rowsOfTask(device: Device, task: Task, io: Terminal, report: Report, own?: BenchKernel): Promise<Row[] | ExitCode> {
  const prepared = await prepare(device, task, report);
  if (typeof prepared === 'number') return prepared;
  const { module, times } = prepared;
  const { plan, request } = task;
  if (!own) report.lastNote = noteInvented({ plan, module, device, what: 'times' }, io);
  const repeat = request.repeat > 1 ? request.repeat : launches;
  const { diagnostics } = report;
  // The first launch prepares the kernel, and is not counted.
  const options = { repeat: repeat + 1, timeoutMs: request.timeoutMs };
  const outcome = launch(device, module, plan, options, { io, diagnostics });
  if (!outcome) return launchFault(diagnostics);
  const kernelMs = median(outcome.durationsMs.slice(1));
  if (!own)
    return [
      { name: 'compile and load, first time', value: times[0]!, unit: 'ms', times: 1 },
      { name: 'compile and load, repeated', value: median(times.slice(1)), unit: 'ms', times: times.length - 1 },
      { name: 'first launch', value: outcome.durationsMs[0]!, unit: 'ms', times: 1 },
      { name: 'launch', value: kernelMs, unit: 'ms', times: repeat },
    ];
  if (own.work > 0) return [{ name: own.what, value: own.work / (kernelMs / 1000), unit: own.unit, times: repeat }];
  const callMs = callTime(module, own, diagnostics);
  return callMs === undefined ? launchFault(diagnostics) : [{ name: own.what, value: 1000 * callMs, unit: own.unit, times: calls }];
}

/** The number of calls of the empty kernel, whose median is the launch latency. */
const calls = 200;

/** The launch latency in milliseconds; undefined after a failed call was reported. */
function callTime(module: DeviceModule, { name }: BenchKernel, diagnostics: Diagnostics): number | undefined {
  const request = { kernel: name, grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, args: [], timeoutMs: 0 } as const;
  const times: number[] = [];
  while (times.length < calls) {
    const start = performance.now();
    if (!module.launch(request, diagnostics)) return undefined;
    times.push(performance.now() - start);
  }
  return median(times);
}

/** Compiles and loads repeatedly; returns the times in milliseconds. */
async function prepare(
  device: Device,
  task: Task,
  report: Report,
): Promise<{ readonly module: DeviceModule; readonly times: readonly number[] } | ExitCode> {
  const times: number[] = [];
  for (;;) {
    const start = performance.now();
    const module = await loadTask(device, task, report);
    if (typeof module === 'number') return module;
    times.push(performance.now() - start);
    if (times.length > preparations) return { module, times };
  }
}
