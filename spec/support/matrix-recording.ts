/** Results of an NVIDIA H200 for matrix instructions, and the same forms end to end: PTX, metallib, CPU device. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import type { TargetName } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, type MmaMode } from '../../src/compile/index.ts';
import { launchMetallib } from './launch.ts';
import { type Distance, distances, mixedDistance, numbersOf } from './matrix-sums.ts';

export interface Form {
  readonly form: string;
  readonly frame: string;
  readonly code: readonly string[];
  readonly pools: readonly [a: string, b: string, c: string];
  /** Words of an image, or registers of a thread, in the result. */
  readonly count: number;
  /** Trials, each a block of one warp: random values, a wide range, edges, integers. */
  readonly trials: number;
  readonly d: string;
}

interface Recording {
  /** The kernel text before and after the code of a form. */
  readonly frames: Readonly<Record<string, readonly [string, string]>>;
  readonly pools: Readonly<Record<string, string>>;
  readonly forms: readonly Form[];
}

/** All forms, with their common parts. */
export const recording = JSON.parse(readFileSync(join(import.meta.dirname, '../../fixtures/h200/matrix.json'), 'utf8')) as Recording;
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
/** Words per thread, by frame; the other frames have one image per block. */
const wordsPerThread: Readonly<Record<string, number>> = { registers: 8, halves: 8, load: 8, doubles: 16, loadDoubles: 16 };
const imageBytes = 4096;

/** The kernel in which a form was recorded. */
export function sourceOf(form: string, frame: string, code: readonly string[]): SourceFile {
  const [head, tail] = recording.frames[frame]!;
  return new SourceFile(`${form}.ptx`, `${head}${code.map((line) => `  ${line}\n`).join('')}${tail}`);
}

/** The results of a form on the CPU device. */
export function run({ form, frame, code, pools, count, trials }: Form, mma: MmaMode, chosen?: TargetName): Uint8Array {
  const source = sourceOf(form, frame, code);
  const diagnostics = new Diagnostics(source);
  // Many soft doubles take long: forms with few trials cover them.
  const target = chosen ?? (/m16n8k(8|16).*f64/.test(form) ? 'cpu' : 'macos14');
  const compiled = compile(source, { target, mma }, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  const after = launchMetallib(compiled.metallib, {
    kernel: 'form',
    blocks: trials,
    threads: 32,
    args: argsOf({ form, frame, code, pools, trials }),
  });
  return recordedPart(after.at(-1)!, wordsPerThread[frame], count);
}

/** The launch arguments of a form: a parameter that is not read is passed by value, and the last one is the output. */
export function argsOf({ form, frame, code, pools, trials }: Omit<Form, 'count' | 'd'>): (Uint8Array | bigint)[] {
  const { text } = sourceOf(form, frame, code);
  const perThread = wordsPerThread[frame];
  const out = new Uint8Array(trials * (perThread === undefined ? imageBytes : 128 * perThread)).fill(0xa5);
  return [...pools.map((name, i) => (text.includes(`[p${'abc'[i]}]`) ? bytesOf(recording.pools[name]!) : 0n)), out];
}

/** The recorded part: the registers that were written, or the start of each image. */
function recordedPart(out: Uint8Array, perThread: number | undefined, count: number): Uint8Array {
  const [step, used] = perThread === undefined ? [imageBytes, 4 * count] : [4 * perThread, (count * perThread) / 2];
  const parts = Array.from({ length: out.length / step }, (_, i) => [...out.subarray(i * step, i * step + used)]);
  return Uint8Array.from(parts.flat());
}

const hex = (bytes: Uint8Array): string[] => [...new Uint32Array(bytes.slice().buffer)].map((word) => word.toString(16));

/** Bits of doubles, with all NaNs equal. */
function doublesOf(bytes: Uint8Array): string[] {
  const numbers = new Float64Array(bytes.slice().buffer);
  return [...new BigUint64Array(numbers.buffer)].map((bits, i) => (Number.isNaN(numbers[i]!) ? 'NaN' : bits.toString(16)));
}

/** `f16` or `f32` if d holds rounded floating-point sums. */
export function sumType({ form }: Form): 'f16' | 'f32' | undefined {
  if (!/^w?mma\.(mma\.)?sync/.test(form)) return undefined;
  return /\.m\d+n\d+k\d+\.(?:row\.col\.|col\.row\.|row\.row\.|col\.col\.)?(f16|f32)\./.exec(form)?.[1] as 'f16' | 'f32' | undefined;
}

/** The registers of a, b and c. */
export const poolsOf = ({ pools }: Form): Uint32Array[] => pools.map((name) => new Uint32Array(bytesOf(recording.pools[name]!).buffer));

/** Asserts that sums are within their bounds: for `mma.sync` from all terms, for others from the magnitude. */
function checkSums(form: Form, type: 'f16' | 'f32', got: Uint8Array, want: Uint8Array): void {
  const [found, recorded] = [numbersOf(type, got), numbersOf(type, want)];
  assert.is(found.length, recorded.length);
  const perTrial = recorded.length / form.trials;
  const pools = poolsOf(form);
  const allowed: readonly (Distance | undefined)[] = form.form.startsWith('mma.sync.aligned.m16')
    ? distances(form.form, type, form.count, form.trials, pools)
    : mixedDistance(form.form, recorded.length, perTrial);
  for (const [i, number] of recorded.entries()) {
    const distance = allowed[i];
    if (distance === undefined) continue;
    const at = `${form.form}: number ${i} is ${found[i]}, recorded ${number}`;
    if (Math.floor(i / perTrial) === 3) assert.is(found[i], number, at);
    else if (Number.isFinite(number) && Number.isFinite(found[i]!)) assert.ok(Math.abs(found[i]! - number) <= distance.tolerance, at);
    else if (!Object.is(found[i], number)) assert.ok(distance.mayOverflow, at);
  }
}

/** Compares results of forms with the recording. */
export function testForms(test: Test, forms: readonly Form[], gives = (form: Form): Uint8Array => run(form, 'exact')): void {
  for (const form of forms)
    test(form.form, () => {
      const [want, got] = [bytesOf(form.d), gives(form)];
      const type = sumType(form);
      if (type) checkSums(form, type, got, want);
      else if (form.form.includes('.f64.f64')) assert.equal(doublesOf(got), doublesOf(want));
      else assert.equal(hex(got), hex(want));
    });
}
