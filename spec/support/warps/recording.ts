/** The recorded programs of `random-warps.ts`: what an NVIDIA H200 gave, and what the CPU device gives. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { compile } from '../../../src/compile/index.ts';
import { type Device, type EngineOptions, type LaunchRequest, openCpuDevice } from '../../../src/device/index.ts';
import { outputWords, randomWarps, type WarpProgram, warpInput } from '../random-warps.ts';
import { poison } from './model.ts';

const folder = join(import.meta.dirname, '../../../fixtures/h200/warps');

/** A program of the recording. */
export interface RecordedProgram {
  /** The start of the SHA-256 of its text: it tells whether the generator still writes the program that was recorded. */
  readonly text: string;
  /** The start of the SHA-256 of its output; undefined where the GPU's compiler gives no single result. */
  readonly output: string | undefined;
}

/** The recorded programs by number. */
export function recordedWarps(): Map<number, RecordedProgram> {
  const { from, programs } = JSON.parse(readFileSync(join(folder, 'digests.json'), 'utf8')) as { from: number; programs: string[] };
  return new Map(
    programs.map((line, i) => {
      // Where runs do not agree, the line has a result of each.
      const [text = '', output = '', ...more] = line.split(' ');
      return [from + i, { text, output: more.length === 0 ? output : undefined }];
    }),
  );
}

/** The recorded words of some programs. */
export function recordedOutputs(): Map<number, Uint32Array> {
  const outputs = JSON.parse(readFileSync(join(folder, 'outputs.json'), 'utf8')) as Record<string, string>;
  return new Map(
    Object.entries(outputs).map(([number, text]) => [Number(number), new Uint32Array(Uint8Array.from(Buffer.from(text, 'hex')).buffer)]),
  );
}

export const textDigest = (ptx: string): string => createHash('sha256').update(ptx).digest('hex').slice(0, 8);
export const outputDigest = (output: Uint32Array): string => createHash('sha256').update(output).digest('hex').slice(0, 16);

/** The words of a program's output. */
export const wordsOf = ({ blocks, block }: WarpProgram): number => blocks * block[0] * block[1] * outputWords;

export interface HowToRun extends EngineOptions {
  /** `cpu` by default. */
  readonly target?: 'cpu' | 'macos15';
  readonly timeoutMs?: number;
  readonly schedule?: LaunchRequest['schedule'];
}

/** A program's metallib for a target, or its diagnostics. */
export function compileWarps({ ptx }: WarpProgram, target: 'cpu' | 'macos15' = 'cpu'): Uint8Array | Diagnostics {
  const source = new SourceFile('warps.ptx', ptx);
  const diagnostics = new Diagnostics(source);
  return compile(source, { target }, diagnostics)?.metallib ?? diagnostics;
}

/** Devices of this process by their options. The memory of each is made once, because the engine collects garbage before it makes another. */
const devices = new Map<string, Device>();

function deviceFor(options: EngineOptions): Device {
  const key = JSON.stringify(options);
  const device = devices.get(key) ?? openCpuDevice(options);
  devices.set(key, device);
  return device;
}

/** The output of a compiled program on the CPU device, or its diagnostics. */
export function launchWarps(metallib: Uint8Array, program: WarpProgram, how: HowToRun = {}): Uint32Array | Diagnostics {
  const { timeoutMs = 10_000, schedule, target: _, ...engine } = how;
  const diagnostics = new Diagnostics();
  const device = deviceFor(engine);
  const module = device.load(metallib, diagnostics);
  const contents = [warpInput(), new Uint32Array(wordsOf(program)).fill(poison)];
  const buffers = contents.map((words) => {
    const buffer = device.allocate(words.byteLength, diagnostics)!;
    buffer.write(new Uint8Array(words.buffer));
    return buffer;
  });
  const args = buffers.map((buffer) => ({ kind: 'buffer', buffer }) as const);
  const shape = { kernel: 'warps', grid: [program.blocks, 1, 1], block: [...program.block, 1], dynamicSharedBytes: 0 } as const;
  const result = module?.launch({ ...shape, args, timeoutMs, ...(schedule ? { schedule } : {}) }, diagnostics);
  if (!result) {
    // A launch that was stopped may leave threads in the middle of their code.
    device.close();
    devices.delete(JSON.stringify(engine));
    return diagnostics;
  }
  const output = new Uint32Array(buffers[1]!.read().slice().buffer);
  module!.close();
  for (const buffer of buffers) buffer.free();
  return output;
}

export const outcomes = ['same', 'differs', 'stopped with an error', 'timed out', 'no recording', 'another text'] as const;

/** What runs of a program on the CPU device are, compared with the recording; `why` has the diagnostics. */
export interface Comparison {
  readonly outcome: (typeof outcomes)[number];
  readonly why: string;
}

/** Runs a recorded program in several ways and compares each. */
export function compareWarps(number: number, recorded: RecordedProgram | undefined, ways: readonly HowToRun[]): Comparison[] {
  const always = (outcome: Comparison['outcome']): Comparison[] => ways.map(() => ({ outcome, why: '' }));
  if (!recorded?.output) return always('no recording');
  const program = randomWarps(number);
  if (textDigest(program.ptx) !== recorded.text) return always('another text');
  const metallibs = new Map([...new Set(ways.map(({ target = 'cpu' }) => target))].map((each) => [each, compileWarps(program, each)]));
  return ways.map((how) => {
    const metallib = metallibs.get(how.target ?? 'cpu')!;
    const found = metallib instanceof Diagnostics ? metallib : launchWarps(metallib, program, how);
    if (!(found instanceof Diagnostics)) return { outcome: outputDigest(found) === recorded.output ? 'same' : 'differs', why: '' };
    const why = found.list.map(({ code, message }) => `${code}: ${message}`).join('; ');
    return { outcome: found.list.some(({ code }) => code === 'CM6010') ? 'timed out' : 'stopped with an error', why };
  });
}
