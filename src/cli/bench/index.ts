/**
 * `cumetal bench`: how long compiling, loading and launching take on a device, of a file with its launch, or of kernels that show what the
 * device can do. Times are of this machine at this moment; only those of one run compare.
 */
import { bug } from '../../base/bug.ts';
import { Diagnostics } from '../../base/diagnostic.ts';
import { SourceFile } from '../../base/source.ts';
import type { Device, DeviceModule } from '../../device/device.ts';
import { openDevice } from '../../device/index.ts';
import { launch } from '../../runtime/index.ts';
import { type Command, type Context, has, sortWords, type Words } from '../command/command.ts';
import { wrongWords } from '../command/usage-error.ts';
import { launchFault, loadTask } from '../run/load-task.ts';
import { type RunRequest, readRequest } from '../run/options.ts';
import type { Report } from '../run/report.ts';
import { readTask, type Task } from '../run/task.ts';
import { type ExitCode, exit } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/index.ts';
import { jsonText } from '../terminal/json.ts';
import { median } from '../terminal/numbers.ts';
import { renderAll } from '../terminal/render.ts';
import { type BenchKernel, benchKernels, benchPtx } from './kernels.ts';

/** A line of the report. Of times the median of so many; of rates that of the median time. */
interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly times: number;
}

/** Runs of what compiles and loads, and of launches where the words say no number. */
const [preparations, launches] = [5, 20];

/** Runs the command. `run` is the command whose words describe a launch. */
export async function bench(context: Context, run: Command): Promise<ExitCode> {
  const { terminal, words } = context;
  const asked = readRequest(words, new Diagnostics());
  if (typeof asked === 'string') return wrongWords(asked, 'cumetal bench --help', terminal);
  const report: Report = { diagnostics: new Diagnostics(), notes: [], printed: [] };
  const code = await attempt(context, run, asked, report);
  terminal.err(renderAll(report.diagnostics.list, terminal.colour.err));
  return code;
}

const rowText = ({ name, value, unit, times }: Row): string =>
  `  ${name.padEnd(58)} ${value.toPrecision(4).padStart(10)} ${unit}${times > 1 ? `, median of ${times}` : ''}\n`;

async function attempt(context: Context, run: Command, asked: RunRequest, report: Report): Promise<ExitCode> {
  const { terminal, words } = context;
  const isOfFile = words.positionals.length > 0 || has(words, 'launch');
  const task = isOfFile ? await readTask({ ...context, command: run }, report) : undefined;
  if (typeof task === 'number') return task;
  const { device: kind, engine } = task?.request ?? asked;
  const device = openDevice(kind, report.diagnostics, engine);
  if (!device) return exit.noDevice;
  const measured = task ? await rowsOfTask(device, task, terminal, report) : await rowsOfOwn(device, context, run, report);
  device.close();
  if (typeof measured === 'number') return measured;
  const { info } = device;
  if (has(words, 'json')) terminal.out(`${jsonText({ device: info.kind, device_name: info.name, rows: measured })}\n`);
  else terminal.out(`${info.name}\n${measured.map(rowText).join('')}`);
  return exit.ok;
}

/** Measures what a device can do, or gives the exit code after a fault was reported. */
export async function rowsOfOwn(device: Device, { words, terminal }: Context, run: Command, report: Report): Promise<Row[] | ExitCode> {
  const rows: Row[] = [];
  for (const kernel of benchKernels) {
    const found = await rowsOfTask(device, taskOf(kernel, words, run), terminal, report, kernel);
    if (typeof found === 'number') return found;
    rows.push(...found);
  }
  return rows;
}

/** The task of one of our own kernels, with the words that were given. */
function taskOf({ name, words: own }: BenchKernel, given: Words, run: Command): Task {
  const words = sortWords(run, ['--kernel', name, ...own]) as Words;
  const request = readRequest({ positionals: [], options: new Map([...given.options, ...words.options]) }, new Diagnostics());
  if (typeof request === 'string') bug(request);
  return { input: { kind: 'ptx', path: 'bench.ptx', source: new SourceFile('bench.ptx', benchPtx) }, request, plan: request.plan };
}

async function rowsOfTask(device: Device, task: Task, io: Terminal, report: Report, own?: BenchKernel): Promise<Row[] | ExitCode> {
  const prepared = await prepare(device, task, report);
  if (typeof prepared === 'number') return prepared;
  const { module, times } = prepared;
  const { plan, request } = task;
  const repeat = request.repeat > 1 ? request.repeat : launches;
  const { diagnostics } = report;
  // The first launch makes the kernel ready, and is none of those that count.
  const options = { repeat: repeat + 1, timeoutMs: request.timeoutMs };
  const outcome = launch(device, module, plan, options, { io, diagnostics });
  if (!outcome) return launchFault(diagnostics);
  const kernelMs = median(outcome.durationsMs.slice(1));
  if (!own)
    return [
      { name: 'compile and load, the first time', value: times[0]!, unit: 'ms', times: 1 },
      { name: 'compile and load, once more', value: median(times.slice(1)), unit: 'ms', times: times.length - 1 },
      { name: 'first launch', value: outcome.durationsMs[0]!, unit: 'ms', times: 1 },
      { name: 'launch', value: kernelMs, unit: 'ms', times: repeat },
    ];
  if (own.work > 0) return [{ name: own.what, value: own.work / (kernelMs / 1000), unit: own.unit, times: repeat }];
  const callMs = callTime(module, own, diagnostics);
  return callMs === undefined ? launchFault(diagnostics) : [{ name: own.what, value: 1000 * callMs, unit: own.unit, times: calls }];
}

/** Calls of a kernel without arguments, whose median is what a launch takes. */
const calls = 200;

/** Milliseconds; nothing after a call that failed and was reported. */
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

/** Compiles and loads some times; milliseconds of each. */
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
