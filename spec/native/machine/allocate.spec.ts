/** Allocation of registers: random functions are executed symbolically, and what the allocator promises of loops and spills is counted. */
import { suite } from 'uvu';
import { allocate } from '../../../src/native/machine/allocate.ts';
import type { RegisterFile } from '../../../src/native/machine/types.ts';
import { randomFractions } from '../../support/lcg.ts';
import { checkAllocation } from './checker.ts';
import { randomFunction } from './random-function.ts';

const test = suite('native/machine/allocate');

const numbers = (count: number, except: readonly number[] = []): number[] =>
  Array.from({ length: count }, (_, number) => number).filter((number) => !except.includes(number));

const files: Record<string, RegisterFile> = {
  AVX2: { general: numbers(13, [4]), vector: numbers(16) },
  'AVX-512': { general: numbers(13, [4]), vector: numbers(32) },
  'four registers': { general: numbers(4), vector: numbers(4) },
};

for (const [name, file] of Object.entries(files)) {
  test(`operands are where instructions read them on all paths of random functions: ${name}`, () => {
    for (let seed = 1; seed <= 80; seed++) {
      const random = randomFractions(seed * 7919);
      const size = 5 + Math.floor(random() * 150);
      const fn = randomFunction(random, { file, size, pressure: 4 + Math.floor(random() * 60), constraints: random() * 0.3 });
      try {
        checkAllocation(fn, allocate(fn, file), file);
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`);
      }
    }
  });
}

test.run();
