/**
 * The first look at a Mac, in three steps; `docs/mac-checklist.md` says what to make of it:
 *
 *   bun scripts/mac/check.ts write FOLDER TARGET…   every example as a job for each target, any machine
 *   swiftc scripts/mac/run.swift -o run && ./run FOLDER      the jobs on Metal; no part of ours is needed there
 *   bun scripts/mac/check.ts judge FOLDER           what was computed against what an NVIDIA H200 computed, any machine
 *
 * `judge` prints a table, writes it to FOLDER/report.md, and ends with 1 where a job was not run or is not right.
 * `bun scripts/mac/check.ts play FOLDER` runs the jobs on the CPU device in place of the second step.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { exampleNames, exampleText, launchPath } from '../../spec/support/examples.ts';
import { targets } from '../../src/air/targets.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import type { Device, LaunchArgument } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { checkOutput, type Io, type LaunchOutcome, launch, readLaunchFile } from '../../src/runtime/index.ts';
import { jobFolders, readingDevice, readJob, readLibrary, readResult, writeResult, writingDevice } from './jobs.ts';

const [command, root = '', ...words] = process.argv.slice(2);

const io: Io = { readFile: (path) => new Uint8Array(readFileSync(path)), writeFile: () => ({ why: 'nothing is written here' }) };

/** Ends with what was reported. */
function fail(diagnostics: Diagnostics): never {
  throw new Error(diagnostics.list.map(({ code, message }) => `${code}: ${message}`).join('; '));
}

/** The recorded launch of an example on a device. */
function launched(example: string, device: Device, metallib: Uint8Array): LaunchOutcome {
  const diagnostics = new Diagnostics();
  const plan = readLaunchFile(launchPath(example), readFileSync(launchPath(example), 'utf8'), diagnostics);
  const module = plan && device.load(metallib, diagnostics);
  const outcome = module && launch(device, module, plan, { repeat: 1, timeoutMs: 0 }, { io, diagnostics });
  device.close();
  return outcome ?? fail(diagnostics);
}

function write(): number {
  for (const target of words) {
    if (!(target in targets)) throw new Error(`no target is called ${target}`);
    for (const example of exampleNames) {
      const source = new SourceFile(`${example}.ptx`, exampleText(example));
      const diagnostics = new Diagnostics(source);
      const compiled = compile(source, { target: target as NonNullable<CompileOptions['target']> }, diagnostics);
      if (!compiled) fail(diagnostics);
      launched(example, writingDevice(join(root, target, example), compiled.metallib), compiled.metallib);
    }
  }
  console.log(`${jobFolders(root).length} jobs in ${root}`);
  return 0;
}

function play(): number {
  for (const folder of jobFolders(root)) {
    const job = readJob(folder);
    const device = openCpuDevice();
    const diagnostics = new Diagnostics();
    const module = device.load(readLibrary(folder), diagnostics) ?? fail(diagnostics);
    const contents = (file: string): Uint8Array => new Uint8Array(readFileSync(join(folder, file)));
    const buffers = job.buffers.map(({ slot, file }) => {
      const bytes = contents(file);
      const buffer = device.allocate(bytes.length, diagnostics) ?? fail(diagnostics);
      buffer.write(bytes);
      return { slot, file, buffer };
    });
    const kernel = module.kernels.find(({ name }) => name === job.kernel)!;
    const args = kernel.params.map(({ slot }): LaunchArgument => {
      const found = buffers.find((each) => each.slot === slot);
      return found
        ? { kind: 'buffer', buffer: found.buffer }
        : { kind: 'bytes', bytes: contents(job.values.find((v) => v.slot === slot)!.file) };
    });
    const request = {
      kernel: job.kernel,
      grid: job.grid,
      block: job.block,
      dynamicSharedBytes: job.dynamicShared,
      args,
      timeoutMs: 60_000,
    };
    const done = module.launch(request, diagnostics) ?? fail(diagnostics);
    for (const { file, buffer } of buffers) writeFileSync(join(folder, `${file}.out`), buffer.read());
    writeResult(folder, { good: true, message: '', width: 32, maxThreads: 1024, milliseconds: done.durationMs });
    device.close();
  }
  return 0;
}

interface Row {
  readonly right: boolean;
  readonly cells: readonly string[];
}

function judgeJob(folder: string): Row {
  const [target = '', example = ''] = relative(root, folder).split(/[\\/]/);
  const result = readResult(folder);
  const row = (right: boolean, ...cells: string[]): Row => ({ right, cells: [target, example, ...cells] });
  if (!result) return row(false, 'not run', '', '', '');
  if (!result.good) return row(false, `BAD: ${result.message.replaceAll(/[|\s]+/g, ' ')}`, '', '', '');
  const outcome = launched(example, readingDevice(folder), readLibrary(folder));
  const diagnostics = new Diagnostics();
  const checks = outcome.outputs.flatMap((output) =>
    output.expect ? (checkOutput(output, output.expect, io, diagnostics) ?? fail(diagnostics)) : [],
  );
  const wrong = checks.filter((check) => !check.pass);
  const words = wrong.map(
    ({ name, mismatches, count, firstMismatch }) => `${mismatches} of ${count} elements of ${name}, the first at ${firstMismatch}`,
  );
  const computed = wrong.length === 0 ? 'right' : `WRONG: ${words.join('; ')}`;
  return row(wrong.length === 0, 'good', computed, `${result.width}, ${result.maxThreads}`, result.milliseconds.toFixed(3));
}

function judge(): number {
  const rows = jobFolders(root).map(judgeJob);
  const about = join(root, 'device.json');
  const head = ['target', 'example', 'pipeline', 'result', 'simdgroup, most threads', 'ms'];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const right = rows.filter((each) => each.right).length;
  const text = [
    existsSync(about) ? readFileSync(about, 'utf8').trim() : 'no device',
    '',
    ...[head, head.map(() => '---'), ...rows.map(({ cells }) => cells)].map(line),
    '',
    `${right} of ${rows.length} right`,
    '',
  ].join('\n');
  writeFileSync(join(root, 'report.md'), text);
  console.log(text);
  return right === rows.length && rows.length > 0 ? 0 : 1;
}

const commands: Readonly<Record<string, () => number>> = { write, play, judge };
const run = commands[command ?? ''];
if (!run || !root) {
  console.error('bun scripts/mac/check.ts write FOLDER TARGET… | play FOLDER | judge FOLDER');
  process.exit(2);
}
process.exit(run());
