/**
 * Inputs that were findings once, and some new damage: nothing throws, hangs, or takes more memory than its kind may. `scripts/fuzz.ts` runs
 * more, with a fresh seed in CI and for an hour every night.
 */

import { heapSize } from 'bun:jsc';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';
import { attempt, mutantOf } from '../support/hostile/attempt.ts';
import { inputKinds } from '../support/hostile/kinds.ts';

const test = suite('hostile/corpus');

const corpus = join(root, 'fixtures/fuzz');

test('every folder of the corpus is a kind of input', () => {
  for (const folder of readdirSync(corpus)) assert.ok(Object.hasOwn(inputKinds, folder), folder);
});

for (const kind of readdirSync(corpus))
  for (const name of readdirSync(join(corpus, kind)).sort())
    test(`${kind}: ${name}`, () => {
      const { finding } = attempt(kind, new Uint8Array(readFileSync(join(corpus, kind, name))));
      assert.is(finding, undefined);
    });

/** Few, as CI runs more of them with a seed of its own. */
const count = 20;

for (const kind of Object.keys(inputKinds))
  test(`${kind}: ${count} mutants, the same for the same seed`, () => {
    for (let number = 0; number < count; number++) {
      const bytes = mutantOf(kind, 1, number);
      assert.ok(Buffer.from(bytes).equals(mutantOf(kind, 1, number)), `${number}`);
      const { finding } = attempt(kind, bytes);
      assert.is(finding, undefined, `${number}`);
    }
  });

test('a mutant that throws, that takes long or that takes much memory is a finding', () => {
  const { read, memory } = inputKinds.npy!;
  const kinds = inputKinds as Record<string, { read: (bytes: Uint8Array) => string }>;
  const kept: object[] = [];
  const bad: readonly ((bytes: Uint8Array) => string)[] = [
    () => {
      throw new Error('thrown');
    },
    () => {
      for (const start = process.cpuUsage(); process.cpuUsage(start).user < 2e5; );
      return '';
    },
    () => {
      // The engine's figure lags behind what is allocated, so that the reader goes on until it shows.
      const start = heapSize();
      for (let n = 0; n < 3e7 && heapSize() - start < memory[1] + 1e7; n += 1000)
        for (let i = 0; i < 1000; i++) kept.push({ bytes: n + i });
      return '';
    },
  ];
  try {
    for (const [i, each] of bad.entries()) {
      kinds.npy!.read = each;
      assert.ok(attempt('npy', new Uint8Array(10), 0.1).finding, `${i}`);
    }
  } finally {
    kinds.npy!.read = read;
  }
});

test.run();
