/**
 * Kernels of other compilers with what an NVIDIA H200 made of them: the families of `fixtures/producers`, which `scripts/record/producers`
 * records.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type Compiled, type CompileOptions, compile } from '../../src/compile/index.ts';
import { type Dim3, type Engine, openCpuDevice } from '../../src/device/index.ts';
import {
  type ArgumentSpec,
  decodeElements,
  type ElementType,
  elements,
  type Init,
  type Io,
  initialContents,
  launch,
} from '../../src/runtime/index.ts';
import { root } from './examples.ts';

/** An argument, and what a buffer held after the launch where that differs from before: its bytes, or a digest of them. */
export interface RecordedArgument {
  readonly name: string;
  readonly null?: true;
  readonly type?: ElementType;
  readonly value?: number;
  readonly buffer?: ElementType;
  readonly count?: number;
  readonly init?: 'zeros' | 'iota' | { readonly rand: number } | { readonly data: string };
  readonly after?: string;
  readonly digest?: string;
  /** Two launches on the H200 differed. */
  readonly unsteady?: true;
}

export interface RecordedKernel {
  readonly name: string;
  readonly ptx: string;
  readonly kernel: string;
  /** Without arguments only the PTX is recorded. */
  readonly args?: readonly RecordedArgument[];
  readonly grid: Dim3;
  readonly block: Dim3;
  readonly sharedBytes: number;
  readonly metadata?: object;
}

export interface Family {
  readonly producer: string;
  readonly recordedOn: string;
  readonly kernels: readonly RecordedKernel[];
}

export const familiesFolder = join(root, 'fixtures/producers');
const read = (path: string): unknown => JSON.parse(gunzipSync(readFileSync(path)).toString());

/** A family whose kernels have their PTX, also where one file has several kernels. */
export function readFamily(name: string, folder = familiesFolder): Family {
  const family = read(join(folder, `${name}.json.gz`)) as Family;
  const texts = new Map(family.kernels.map(({ name, ptx }) => [name, ptx]));
  return { ...family, kernels: family.kernels.map((kernel) => ({ ...kernel, ptx: texts.get(kernel.ptx) ?? kernel.ptx })) };
}

/** PTX by the name of a kernel. */
export const readTexts = (name: string, folder = familiesFolder): Readonly<Record<string, string>> =>
  read(join(folder, `${name}.json.gz`)) as Record<string, string>;

/** A digest of elements in which any NaN is any other. */
export function digestOf(type: ElementType, bytes: Uint8Array): string {
  const { size } = elements[type];
  const same = bytes.slice();
  if (elements[type].kind === 'float')
    decodeElements(type, bytes).forEach((value, i) => {
      if (Number.isNaN(value)) same.fill(0xff, i * size, (i + 1) * size);
    });
  return createHash('sha256').update(same).digest('hex').slice(0, 16);
}

export const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'base64'));
const noFiles: Io = { readFile: () => ({ why: 'there are none' }), writeFile: () => ({ why: 'there are none' }) };

function initOf({ buffer, init }: RecordedArgument): Init {
  if (init === undefined || init === 'zeros') return { kind: 'zeros' };
  if (init === 'iota') return { kind: 'iota' };
  return 'rand' in init
    ? { kind: 'rand', seed: BigInt(init.rand) }
    : { kind: 'values', values: decodeElements(buffer!, bytesOf(init.data)) };
}

function specOf(argument: RecordedArgument): ArgumentSpec {
  const { name, type, value, buffer, count } = argument;
  if (argument.null) return { label: 'null', name, kind: 'null' };
  if (buffer) return { label: name, name, kind: 'buffer', element: buffer, shape: [count!], init: initOf(argument) };
  return { label: name, name, kind: 'scalar', element: type!, value: type![0] === 'f' ? value! : BigInt(value!) };
}

/** What a buffer held before the launch. */
export const contentsBefore = (argument: RecordedArgument): Uint8Array =>
  initialContents(argument.buffer!, [argument.count!], initOf(argument));

/** The kernel as a metallib; throws its diagnostics. */
export function compileRecorded({ name, ptx }: Pick<RecordedKernel, 'name' | 'ptx'>, options: CompileOptions = {}): Compiled {
  const diagnostics = new Diagnostics(new SourceFile(`${name}.ptx`, ptx));
  const compiled = compile(diagnostics.file!, options, diagnostics);
  if (!compiled) throw new Error(diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; '));
  return compiled;
}

/** The buffers after the launch on a CPU device, by argument; throws the diagnostics of a launch that fails. */
export function outputsOf({ metallib }: Compiled, recorded: RecordedKernel, engine: Engine): ReadonlyMap<number, Uint8Array> {
  const diagnostics = new Diagnostics();
  const device = openCpuDevice({ engine });
  try {
    const module = device.load(metallib, diagnostics, { kernels: [recorded.kernel] });
    const { kernel, grid, block, sharedBytes, args } = recorded;
    const plan = { kernel, grid, block, sharedBytes, args: args!.map(specOf), constants: [] };
    const outcome = module && launch(device, module, plan, { repeat: 1, timeoutMs: 60_000 }, { io: noFiles, diagnostics });
    if (!outcome) throw new Error(diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; '));
    return new Map(outcome.outputs.map(({ index, bytes }) => [index, bytes]));
  } finally {
    device.close();
  }
}

/** The largest difference of two outputs, in units of the largest magnitude expected. Infinity where one has a NaN or an infinity alone. */
export function relativeError(type: ElementType, got: Uint8Array, want: Uint8Array): number {
  const [left, right] = [decodeElements(type, got).map(Number), decodeElements(type, want).map(Number)];
  const largest = right.reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 0);
  return left.reduce((worst, value, i) => {
    if (Object.is(value, right[i]) || value === right[i]) return worst;
    const error = Math.abs(value - right[i]!) / largest;
    return Number.isNaN(error) ? Number.POSITIVE_INFINITY : Math.max(worst, error);
  }, 0);
}

/**
 * Whether the manual leaves results of the kernel open: approximations (`.approx`, `.full`, logarithms and powers among them), and sums of products
 * of matrices of floats, whose order and rounding it does not state.
 */
export const hasOpenResults = (ptx: string): boolean => /\.(approx|full)\b|\b(wmma\.)?mma\.[\w.]*\.(f16|bf16|tf32|f32|e\dm\d)\b/.test(ptx);
