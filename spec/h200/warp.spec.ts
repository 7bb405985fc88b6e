/**
 * Warp and block collectives, for whole warps and after divergence, end to end (PTX, metallib, CPU device) against results of an
 * NVIDIA H200 for each thread.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('h200/warp');

type Word = 'd0' | 'd1' | 'd2' | 'd3';

/** One block of `block` threads; d0 to d3 of each thread, where the code writes them. */
interface Form extends Readonly<Partial<Record<Word, string>>> {
  readonly form: string;
  readonly block: number;
  readonly code: readonly string[];
}

interface Recording {
  readonly head: string;
  readonly tail: string;
  /** Hexadecimal words of each thread. */
  readonly a: string;
  readonly b: string;
  readonly forms: readonly Form[];
}

/** Recordings with one kernel shape each: the forms share head, tail and inputs. */
const recordings = ['warp', 'barrier'].map((name) => {
  const path = join(import.meta.dirname, `../../fixtures/h200/${name}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as Recording;
});
const wordsOf = (text: string): number[] => text.split(' ').map((word) => Number.parseInt(word, 16));

/** Four words of each thread after a launch for an Apple target. */
function run({ head, tail, a, b }: Recording, { form, block, code }: Form): Uint32Array {
  const source = new SourceFile(`${form}.ptx`, `${head}${code.map((line) => `  ${line}\n`).join('')}${tail}`);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, {}, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  const inputs = [a, b].map((words) => Uint32Array.from(wordsOf(words).slice(0, block)));
  // As in the recording: threads that exit early store nothing.
  const poison = new Uint32Array(4 * block).fill(0xa5a5_a5a5);
  const after = launchMetallib(compiled.metallib, { kernel: 'form', blocks: 1, threads: block, args: [...inputs, poison] });
  return new Uint32Array(after[2]!.slice().buffer);
}

for (const recording of recordings)
  for (const form of recording.forms)
    test(form.form, () => {
      const found = run(recording, form);
      const words = (['d0', 'd1', 'd2', 'd3'] as const).filter((word) => form[word] !== undefined);
      assert.ok(words.length > 0);
      for (const word of words) {
        const got = [...found].filter((_, i) => i % 4 === Number(word[1]));
        assert.equal(
          got.map((value) => value.toString(16)),
          form[word]!.split(' '),
          `${word}: ${form.code.join(' ')}`,
        );
      }
    });

test('a few hundred forms are recorded', () => {
  assert.ok(recordings[0]!.forms.length > 250);
});

test.run();
