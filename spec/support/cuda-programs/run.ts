/** Random CUDA C++ programs on the CPU device, as WebAssembly and as native code, and those of the fixture. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { compile } from '../../../src/compile/index.ts';
import { makeKernel } from '../../../src/device/cpu/launch/make-kernel.ts';
import { readMetallib } from '../../../src/metallib/index.ts';
import { runLoaded } from '../both-engines.ts';
import { type CudaProgram, inputWords, programInput } from './program.ts';
import { threadProgram } from './threads.ts';
import { warpProgram } from './warps.ts';

/** The generators of programs by number, and what nvcc compiles those for in turn: reductions of warps are newer. */
export const programKinds = {
  threads: { program: threadProgram, architectures: ['sm_75', 'sm_80', 'sm_90'] },
  warps: { program: warpProgram, architectures: ['sm_80', 'sm_89', 'sm_90'] },
} as const;
export type ProgramKind = keyof typeof programKinds;

/** A way to run a program. `native` has the bits of vectors of native code; 0 is WebAssembly. */
export interface Form {
  readonly target: 'cpu' | 'macos15';
  readonly engine: 'lane' | 'simd';
  readonly native: 0 | 256 | 512;
}

export const nameOf = ({ target, engine, native }: Form): string => `${target} ${engine} ${native === 0 ? 'WebAssembly' : native}`;

/** The buffer of a launch: the input, and room for the output. */
export function programData({ outputWords }: CudaProgram): Uint8Array {
  const data = new Uint32Array(inputWords + outputWords);
  data.set(programInput());
  return new Uint8Array(data.buffer);
}

/** The start of the SHA-256 of a program's output, of the buffer after a run. */
export const outputDigest = (data: Uint8Array): string =>
  createHash('sha256')
    .update(data.subarray(4 * inputWords))
    .digest('hex')
    .slice(0, 16);

/** The digest of a program's output in a form, or why there is none. */
export function digestOf(ptx: string, program: CudaProgram, { target, engine, native }: Form): string {
  const source = new SourceFile('program.ptx', ptx);
  const diagnostics = new Diagnostics(source);
  const metallib = compile(source, { target }, diagnostics)?.metallib;
  const fn = metallib && readMetallib(metallib, diagnostics)?.functions.find(({ type }) => type === 'kernel');
  const loaded = fn && makeKernel(fn, { engine }, [], diagnostics);
  if (!loaded) return diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; ');
  const { blocks, threads } = program;
  const run = () => runLoaded(loaded, blocks, threads, programData(program), native === 0 ? 'never' : 'always');
  const { bytes, messages, isNative } = native === 0 ? run() : withBits(native, run);
  if (messages.length > 0) return messages.join('; ');
  return native > 0 && !isNative ? 'no native code' : outputDigest(bytes);
}

function withBits<T>(bits: number, run: () => T): T {
  const { CUMETAL_NATIVE_BITS: before } = process.env;
  process.env.CUMETAL_NATIVE_BITS = String(bits);
  try {
    return run();
  } finally {
    if (before === undefined) delete process.env.CUMETAL_NATIVE_BITS;
    else process.env.CUMETAL_NATIVE_BITS = before;
  }
}

/** A program of the fixture. */
export interface RecordedProgram {
  readonly kind: ProgramKind;
  readonly number: number;
  /** What nvcc made of it. */
  readonly ptx: string;
  /** What its host code computed, compiled by g++. */
  readonly digest: string;
}

export const fixturePath = join(import.meta.dirname, '../../../fixtures/cuda-programs/programs.json.gz');

export const recordedPrograms = (): RecordedProgram[] => JSON.parse(gunzipSync(readFileSync(fixturePath)).toString()) as RecordedProgram[];
