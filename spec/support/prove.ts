/** Tests that take seconds each, and hold little that the others of their file do not: `CUMETAL_PROVE=1 bun spec/kernels/arrays.spec.ts` runs them, too. */
import type { suite } from 'uvu';

type Test = ReturnType<typeof suite>;

/** Adds a test that runs where it is asked for. */
export function prove(test: Test, name: string, run: () => Promise<void>): void {
  if (process.env.CUMETAL_PROVE) test(name, run);
}
