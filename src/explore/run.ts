/** A launch in the page: as the comment lines of the text say, on the CPU device, once with the sanitizer and once with the profiler. */
import { type Diagnostic, Diagnostics } from '../base/diagnostic.ts';
import { SourceFile } from '../base/source.ts';
import { run as runCommand } from '../cli/run/command.ts';
import { type OwnLaunch, readOwnLaunch } from '../cli/run/own-launch.ts';
import { finishLaunch, reportHuman } from '../cli/run/report.ts';
import { compile } from '../compile/index.ts';
import { sanitizeKinds } from '../device/device.ts';
import { type Device, openDevice, type Profile, prepareWebgpu } from '../device/index.ts';
import { compareOutcomes, type Io, type LaunchOptions, type LaunchOutcome, launch } from '../runtime/index.ts';

/** What a launch printed and showed, what was found, and the counts of its lines. */
export interface RanKernel {
  readonly output: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly profile: Profile | undefined;
}

const io: Io = {
  readFile: () => ({ why: 'a page reads no files' }),
  writeFile: () => ({ why: 'a page writes no files' }),
  whyNotWritable: () => ({ why: 'a page writes no files' }),
};

const timeoutMs = 20_000;

/** Launches the kernel of a text, and observes it. */
export function runText(path: string, text: string): RanKernel {
  const source = new SourceFile(path, text);
  const diagnostics = new Diagnostics(source);
  const own = readOwnLaunch(source, runCommand, { io, allowsOutside: false }, diagnostics);
  const device = diagnostics.hasErrors ? undefined : openDevice('cpu', diagnostics, { threads: 1 });
  try {
    const ran = device && launched(device, source, own, diagnostics);
    return { output: ran?.output ?? '', diagnostics: diagnostics.list, profile: ran?.profile };
  } finally {
    device?.close();
  }
}

function launched(
  device: Device,
  source: SourceFile,
  own: OwnLaunch | undefined,
  diagnostics: Diagnostics,
): Pick<RanKernel, 'output' | 'profile'> | undefined {
  const started = performance.now();
  const entries = own?.plan.kernel === undefined ? {} : { entries: [own.plan.kernel] };
  const compiled = compile(source, { target: 'cpu', sanitize: true, marks: true, ...entries }, diagnostics);
  const module = compiled && device.load(compiled.metallib, diagnostics);
  if (!module) return undefined;
  const compileMs = performance.now() - started;
  const printed: Uint8Array[] = [];
  const once = (observe: LaunchOptions['observe'] & object, print: (bytes: Uint8Array) => void): LaunchOutcome | undefined =>
    launch(device, module, own?.plan ?? { constants: [] }, { repeat: 1, timeoutMs, observe, print }, { io, diagnostics });
  const outcome = once({ sanitize: { kinds: new Set(sanitizeKinds), source } }, (bytes) => void printed.push(bytes.slice()));
  let profile: Profile | undefined;
  const take = (found: Profile): void => {
    profile = found;
  };
  // What writes outside of its buffers would write into the counts.
  if (outcome && !diagnostics.hasErrors) once({ profile: { source, take } }, () => undefined);
  const decoder = new TextDecoder();
  const text = printed.map((bytes) => decoder.decode(bytes, { stream: true })).join('');
  return { output: outcome ? text + reportOf(outcome, own, { device, compileMs, diagnostics }) : text, profile };
}

/** Runs of a comparison, of which the fastest counts: the first one compiles. */
const repeat = 3;

/** Launches the kernel of a text on the GPU of the page and on the CPU device, and compares every buffer. */
export async function compareWithGpu(path: string, text: string): Promise<RanKernel> {
  const source = new SourceFile(path, text);
  const diagnostics = new Diagnostics(source);
  const done = (output: string): RanKernel => ({ output, diagnostics: diagnostics.list, profile: undefined });
  const own = readOwnLaunch(source, runCommand, { io, allowsOutside: false }, diagnostics);
  const compiled = diagnostics.hasErrors ? undefined : compile(source, { target: 'cpu', isForText: true }, diagnostics);
  const why = compiled && (await prepareWebgpu());
  if (!compiled || why !== undefined) return done(why === undefined ? '' : `This page has no GPU: ${why}\n`);
  const outcomes = (['cpu', 'webgpu'] as const).map((kind) => {
    const device = openDevice(kind, diagnostics, kind === 'cpu' ? { threads: 1 } : {});
    const module = device?.load(compiled.metallib, diagnostics);
    const options = { repeat, timeoutMs, print: () => undefined };
    const outcome = device && module && launch(device, module, own?.plan ?? { constants: [] }, options, { io, diagnostics });
    device?.close();
    return outcome && { name: device!.info.name, outcome };
  });
  const [cpu, gpu] = outcomes;
  if (!cpu || !gpu) return done('');
  const times = [cpu, gpu].map(
    ({ name, outcome }) =>
      `${Math.min(...outcome.durationsMs)
        .toFixed(3)
        .padStart(10)} ms  ${name}\n`,
  );
  const buffers = compareOutcomes(cpu.outcome, gpu.outcome).map(({ index, name, element, mismatch }) => {
    const where = mismatch && `differs first at ${mismatch.at}: ${mismatch.other} instead of ${mismatch.reference}`;
    return `${index} ${name}: ${element}, ${where ?? 'the same on both'}\n`;
  });
  return done([...times, '\n', ...buffers].join(''));
}

interface Setting {
  readonly device: Device;
  readonly compileMs: number;
  readonly diagnostics: Diagnostics;
}

/** The buffers and checks of a launch, as `cumetal run` prints them. */
function reportOf(outcome: LaunchOutcome, own: OwnLaunch | undefined, { device, compileMs, diagnostics }: Setting): string {
  const request = { prints: own?.prints ?? [], checks: own?.checks ?? [], outs: [], isRecording: false };
  const done = finishLaunch(outcome, request, { device: device.info, compileMs, io, diagnostics });
  return reportHuman(done, []);
}
