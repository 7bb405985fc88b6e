/** Results of a program of `random-ptx.ts` on the CPU device, as a digest that can be compared with a recording. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from './launch.ts';
import { bytesOfThread, isExactForm, randomInput, type ScalarForm, threads } from './random-ptx.ts';

/** The forms in programs: those with a single correct result. */
export function fuzzForms(): ScalarForm[] {
  const path = join(import.meta.dirname, '../../fixtures/h200/scalar.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { forms: ScalarForm[] }).forms.filter(isExactForm);
}

/** A recording of `scripts/record/digests.py`: the number of the first program, and a digest per program. */
export function readRecording(path: string): { readonly from: number; readonly digests: readonly string[] } {
  const { from, digests } = JSON.parse(readFileSync(path, 'utf8')) as { from: number; digests: readonly string[] };
  return { from, digests: digests.flatMap((line) => line.split(' ')) };
}

/** The first eight digits of the SHA-256 of a program's results; the diagnostics if it does not run. */
export function fuzzDigest(ptx: string, number: number): string {
  const bytes = fuzzResult(ptx, number);
  return typeof bytes === 'string' ? bytes : createHash('sha256').update(bytes).digest('hex').slice(0, 8);
}

/** A program's results, or its diagnostics. Odd programs run with native doubles. */
export function fuzzResult(ptx: string, number: number): Uint8Array | string {
  const source = new SourceFile('fuzz.ptx', ptx);
  const diagnostics = new Diagnostics(source);
  const isNative = number % 2 === 1;
  const out = new Uint8Array(threads * bytesOfThread).fill(0xa5);
  try {
    const compiled = compile(source, isNative ? { target: 'cpu', fp64: 'native' } : { target: 'macos15' }, diagnostics);
    if (!compiled) return diagnostics.list.map((d) => `${d.code} ${d.message}`).join('; ');
    return launchMetallib(compiled.metallib, { kernel: 'fuzz', blocks: 1, threads, args: [randomInput(), out] })[1]!;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
