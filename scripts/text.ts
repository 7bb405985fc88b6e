/**
 * Judges the text back ends: prints kernels, runs them, and compares the bits with those that an NVIDIA H200 recorded.
 *
 *   bun scripts/text.ts opencl examples          each example on the OpenCL device, compiled for `cpu` and for `macos15`
 *   bun scripts/text.ts opencl sweep [STEP [N]]  forms N, N + STEP, … of the sweep
 *   bun scripts/text.ts wgsl examples           the same on the WebGPU device, also `sweep`
 *   bun scripts/text.ts msl examples             each example over the stand-in of Metal's library, from PTX and from its metallib
 *   bun scripts/text.ts msl sweep [STEP [N]]
 *
 * A line for each kernel that is not the same; the last line counts.
 */
import { createHash } from 'node:crypto';
import { diskIo, exampleNames, exampleText, poisoned, recordedLaunch } from '../spec/support/examples.ts';
import { boundArguments, differences, mslOf, mslOfExample, mslOfLibrary } from '../spec/support/msl/examples.ts';
import { buildStandIn } from '../spec/support/msl/run.ts';
import { type SweepForm, sweepForms } from '../spec/support/sweep/forms.ts';
import { bytesOfThread } from '../spec/support/sweep/kernel.ts';
import { readSweep, sweepResult } from '../spec/support/sweep/run.ts';
import { parameterBytes, sweepInput, threads } from '../spec/support/sweep/values.ts';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { type Device, openDevice } from '../src/device/index.ts';
import { lockTableBytes } from '../src/ir/index.ts';
import { checkOutput, launch } from '../src/runtime/index.ts';

const [language, list, step = '40', first = '0'] = process.argv.slice(2);
const timeoutMs = 100_000;

/** The result of a form, or why there is none. */
type Result = Uint8Array | string;

const messages = ({ list }: Diagnostics): string => list.map(({ code, message }) => `${code} ${message}`).join('; ');

let opened: Device | undefined;
function textDevice(): Device {
  const diagnostics = new Diagnostics();
  opened ??= openDevice(language === 'wgsl' ? 'webgpu' : 'opencl', diagnostics);
  if (!opened) throw new Error(diagnostics.list.flatMap(({ message, notes }) => [message, ...notes]).join('; '));
  return opened;
}

function deviceExample(name: string, target: 'cpu' | 'macos15'): string {
  const source = new SourceFile(`${name}.ptx`, exampleText(name));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target, isForText: true }, diagnostics);
  const module = compiled && textDevice().load(compiled.metallib, diagnostics);
  if (!module) return `refused: ${messages(diagnostics)}`;
  const plan = poisoned(recordedLaunch(name), 93);
  const outcome = launch(textDevice(), module, plan, { repeat: 1, timeoutMs }, { io: diskIo, diagnostics });
  module.close();
  if (!outcome) return `refused: ${messages(diagnostics)}`;
  const wrong = outcome.outputs.filter((output) => output.expect && !checkOutput(output, output.expect, diskIo, diagnostics)!.pass);
  return wrong.length === 0 ? 'same' : `differs: ${wrong.map((output) => output.name).join(', ')}`;
}

const poison = (): Uint8Array => new Uint8Array(threads * bytesOfThread).fill(0xa5);

function deviceForm({ name, ptx }: SweepForm): Result {
  const source = new SourceFile(`${name}.ptx`, ptx);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu', isForText: true }, diagnostics);
  const device = textDevice();
  const module = compiled && device.load(compiled.metallib, diagnostics);
  if (!module) return messages(diagnostics);
  const buffers = [sweepInput(), poison()].map((bytes) => {
    const buffer = device.allocate(bytes.length, diagnostics)!;
    buffer.write(bytes);
    return buffer;
  });
  const args = [...buffers.map((buffer) => ({ kind: 'buffer', buffer }) as const), { kind: 'bytes', bytes: parameterBytes() } as const];
  const shape = { grid: [1, 1, 1], block: [threads, 1, 1], dynamicSharedBytes: 0, timeoutMs } as const;
  const result = module.launch({ kernel: 'form', ...shape, args }, diagnostics) ? buffers[1]!.read() : messages(diagnostics);
  for (const buffer of buffers) buffer.free();
  module.close();
  return result;
}

function mslForm({ name, ptx }: SweepForm): Result {
  const printed = mslOf(name, ptx);
  if (typeof printed === 'string') return printed;
  const built = buildStandIn(printed.text, printed.kernel);
  if (typeof built === 'string') return built;
  const given: Readonly<Record<string, () => Uint8Array>> = { pin: sweepInput, pout: poison, pbytes: parameterBytes };
  const bound = boundArguments(printed).map(({ param }) => printed.ir.params[param]!);
  const bytes = bound.map(
    (param) => given[param.name]?.() ?? new Uint8Array(param.locks ? lockTableBytes : Math.max(4, param.memory?.size ?? 0)),
  );
  try {
    const after = built.run({ grid: [1, 1, 1], block: [threads, 1, 1], bytes });
    return after[bound.findIndex((param) => param.name === 'pout')]!;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    built.remove();
  }
}

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 8);

/** The verdict on a form: as recorded, or as the CPU device where a row promises no bits. */
function judged(form: SweepForm, result: Result, recorded: ReadonlyMap<string, string>, target: 'cpu' | 'macos15'): string {
  if (typeof result === 'string') return `refused: ${result.slice(0, 200)}`;
  if (digest(result) === recorded.get(form.name)) return 'same';
  const own = sweepResult(form, target);
  return typeof own !== 'string' && Buffer.compare(own, result) === 0 ? 'same as the CPU device' : 'differs';
}

const counts = new Map<string, number>();
function report(name: string, verdict: string, isSilent = false): void {
  const word = verdict.split(':')[0]!;
  counts.set(word, (counts.get(word) ?? 0) + 1);
  if (!isSilent || word !== 'same') console.log(`${name}: ${verdict}`);
}

const isDevice = language !== 'msl';
if (list === 'examples')
  for (const name of exampleNames) {
    if (isDevice) for (const target of ['cpu', 'macos15'] as const) report(`${name} (${target})`, deviceExample(name, target));
    else
      for (const [title, printed] of [
        [name, mslOfExample(name)],
        [`${name} (metallib)`, mslOfLibrary(name)],
      ] as const) {
        const wrong = differences(name, printed);
        report(title, wrong.length === 0 ? 'same' : `differs: ${wrong.join(', ')}`);
      }
  }
else {
  const [forms, recorded] = [sweepForms(), readSweep()];
  for (let i = Number(first); i < forms.length; i += Number(step)) {
    const form = forms[i]!;
    report(form.name, judged(form, isDevice ? deviceForm(form) : mslForm(form), recorded, isDevice ? 'cpu' : 'macos15'), true);
  }
}
console.log([...counts].map(([word, count]) => `${count} ${word}`).join(', '));
opened?.close();
process.exit([...counts.keys()].some((word) => !word.startsWith('same')) ? 1 : 0);
