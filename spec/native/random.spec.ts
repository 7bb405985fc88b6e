/** Random modules through all steps of the native compiler: they do what they do by WebAssembly. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Features } from '../../src/native/index.ts';
import { attempt, differenceOf, initialMemory, newImports, type Outcome, runWasm } from './support/outcome.ts';
import { randomModule } from './support/random-module.ts';
import { nativeExports, runnableFeatures } from './support/run.ts';

const test = suite('native/random');
const targets = runnableFeatures();

function runNative(bytes: Uint8Array, args: readonly [number, number], start: Uint8Array, features: Features): Outcome {
  const { memory, note, notes } = newImports(start);
  const exports = nativeExports(bytes, memory, { note }, features);
  const done = attempt(() => exports.run!(...args) as number);
  return { ...done, total: exports.total!.value as number, notes, memory: new Uint8Array(memory.buffer) };
}

/** What a program of a seed does wrong. Where it traps, checks that were merged may have found it before some stores and calls. */
function mistakeOf(seed: number, mayTrap: boolean, hasVectors: boolean, features: Features): string | undefined {
  const bytes = randomModule({ seed, mayTrap, hasVectors, statements: 20 + ((seed * 7) % 100) });
  const start = initialMemory(seed);
  const args = [Math.imul(seed, 77777), -seed] as const;
  const wanted = runWasm(bytes, args, start);
  const got = runNative(bytes, args, start, features);
  if (wanted.trap !== undefined && got.trap !== undefined) return undefined;
  return differenceOf(wanted, got);
}

for (const [target, features] of targets)
  for (const [what, mayTrap, hasVectors] of [
    ['with vectors', false, true],
    ['without vectors', false, false],
    ['that may trap', true, true],
  ] as const)
    test(`random modules ${what}, by ${target}`, () => {
      for (let seed = 0; seed < 6; seed++) assert.is(mistakeOf(seed, mayTrap, hasVectors, features), undefined, `seed ${seed}`);
    });

if (targets.length === 0) test.skip('random modules: this machine runs no native code', () => {});

test.run();
