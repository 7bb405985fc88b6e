/** The result of a form of the sweep on the CPU device, as a digest comparable with the recording. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Diagnostics } from '../../../src/base/diagnostic.ts';
import { SourceFile } from '../../../src/base/source.ts';
import { compile, type Fp64Mode } from '../../../src/compile/index.ts';
import { launchMetallib } from '../launch.ts';
import type { SweepForm } from './forms.ts';
import { bytesOfThread } from './kernel.ts';
import { parameterBytes, sweepInput, threads } from './values.ts';

const input = sweepInput();

export type SweepTarget = 'macos15' | 'cpu';

/** The digest of the H200's result, by the name of the form. */
export function readSweep(path = join(import.meta.dirname, '../../../fixtures/h200/sweep.json')): ReadonlyMap<string, string> {
  const { digests } = JSON.parse(readFileSync(path, 'utf8')) as { digests: readonly string[] };
  return new Map(digests.map((line) => [line.slice(9), line.slice(0, 8)]));
}

/** The first eight digits of the SHA-256 of a form's result, or a message if there is no result. */
export function sweepDigest(form: SweepForm, target: SweepTarget, fp64?: Fp64Mode): string {
  const bytes = sweepResult(form, target, fp64);
  return typeof bytes === 'string' ? bytes : createHash('sha256').update(bytes).digest('hex').slice(0, 8);
}

/** The result of a form, or the reason why there is none. Forms that no Apple GPU supports are compiled for the CPU device. */
export function sweepResult({ name, ptx }: SweepForm, target: SweepTarget, fp64: Fp64Mode = 'soft'): Uint8Array | string {
  const source = new SourceFile(`${name}.ptx`, ptx);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target, fp64: target === 'cpu' ? 'native' : fp64 }, diagnostics);
  if (!compiled && target !== 'cpu' && diagnostics.list.every(({ code }) => code.startsWith('CM209')))
    return sweepResult({ name, ptx } as SweepForm, 'cpu');
  if (!compiled) return diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('; ');
  const args = [input, new Uint8Array(threads * bytesOfThread).fill(0xa5), { bytes: parameterBytes() }];
  try {
    return launchMetallib(compiled.metallib, { kernel: 'form', blocks: 1, threads, args })[1]!;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
