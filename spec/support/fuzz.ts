/** Results of random programs on the CPU device, as digests that can be compared with a recording. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from './launch.ts';
import { narrowBytes, narrowProgram } from './random-narrow.ts';
import { bytesOfThread, isExactForm, randomInput, randomProgram, type ScalarForm, threads } from './random-ptx.ts';

/** The forms in programs: those with a single correct result. */
export function fuzzForms(): ScalarForm[] {
  const path = join(import.meta.dirname, '../../fixtures/h200/scalar.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { forms: ScalarForm[] }).forms.filter(isExactForm);
}

/** A kind of random programs. */
export interface ProgramKind {
  readonly bytesOfThread: number;
  readonly program: (number: number, forms: readonly ScalarForm[]) => string;
  /** What a program gets by value behind the input and the output. */
  readonly values: readonly bigint[];
}
export const programKinds: Readonly<Record<'loaded' | 'narrow', ProgramKind>> = {
  loaded: { bytesOfThread, program: randomProgram, values: [] },
  narrow: { bytesOfThread: narrowBytes, program: (number, forms) => narrowProgram(number, forms, 'known').ptx, values: [0n] },
};

/** A recording of `scripts/record/digests.py`. */
export interface Recording {
  readonly kind: ProgramKind;
  /** The number of the first program. */
  readonly from: number;
  /** By program. */
  readonly digests: readonly string[];
}

export function readRecording(path: string): Recording {
  const { from, digests, kind } = JSON.parse(readFileSync(path, 'utf8')) as { from: number; digests: readonly string[]; kind?: 'narrow' };
  return { kind: programKinds[kind ?? 'loaded'], from, digests: digests.flatMap((line) => line.split(' ')) };
}

/** The first eight digits of the SHA-256 of a program's results; the diagnostics if it does not run. */
export function fuzzDigest(ptx: string, number: number, kind = programKinds.loaded): string {
  const bytes = fuzzResult(ptx, number, kind);
  return typeof bytes === 'string' ? bytes : createHash('sha256').update(bytes).digest('hex').slice(0, 8);
}

/** A program's results, or its diagnostics. Odd programs run with native doubles. Values that are given instead of those of the kind may be memory. */
export function fuzzResult(
  ptx: string,
  number: number,
  kind = programKinds.loaded,
  values: readonly (bigint | ArrayBufferView)[] = kind.values,
): Uint8Array | string {
  const source = new SourceFile('fuzz.ptx', ptx);
  const diagnostics = new Diagnostics(source);
  const isNative = number % 2 === 1;
  const out = new Uint8Array(threads * kind.bytesOfThread).fill(0xa5);
  try {
    const compiled = compile(source, isNative ? { target: 'cpu', fp64: 'native' } : { target: 'macos15' }, diagnostics);
    if (!compiled) return diagnostics.list.map((d) => `${d.code} ${d.message}`).join('; ');
    return launchMetallib(compiled.metallib, { kernel: 'fuzz', blocks: 1, threads, args: [randomInput(), out, ...values] })[1]!;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
