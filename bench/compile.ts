/** `cumetal build` against `ptxas`. */
import { join } from 'node:path';
import { againstPtxas, compareCold, root } from './cold.ts';
import type { Bench } from './report.ts';

/** Kernels of usual size, 12 to 28 KB, and small ones. */
const kernels = ['nbody', 'matmul_regs', 'blur17', 'layernorm', 'quantised_dot'].map((name) => `bench/kernels/${name}.ptx`);
const files = [...kernels, 'examples/median.ptx', 'examples/vector_add.ptx'];
const rounds = 15;

/** Nothing where ptxas is not installed. */
export function compile(): Bench | undefined {
  const rows = againstPtxas((folder) =>
    files.map((file) => compareCold(join(root, file), ['build', '-o', join(folder, 'out.metallib')], folder, rounds)),
  );
  return rows && { bench: 'compile', about: `cumetal build against ptxas -arch=sm_80, whole process, median of ${rounds} rounds`, rows };
}
