/**
 * Compares the scalar with the SIMD path of the CPU device on random kernels:
 * `bun scripts/compare-engines.ts [COUNT] [FROM] [--barriers]` (2000 from 0). Blocks have 1 to 1024 threads. Kernels with different results are
 * named, and the script exits 1. With `--barriers`, the kernels have barrier divergence.
 */
import { barrierDifferenceOf, type Difference, differenceOf } from '../spec/support/engine-difference.ts';

const args = process.argv.slice(2);
const [count = 2000, from = 0, ...more] = args.filter((arg) => arg !== '--barriers').map(Number);
if (more.length > 0 || !Number.isInteger(count) || !Number.isInteger(from))
  throw new Error('usage: bun scripts/compare-engines.ts [COUNT] [FROM] [--barriers]');
const compare = args.includes('--barriers') ? barrierDifferenceOf : differenceOf;
const different: Difference[] = [];
const notVectorized = new Map<string, number>();
for (let i = from; i < from + count; i++) {
  const found = compare(i);
  if (typeof found === 'string') notVectorized.set(found, (notVectorized.get(found) ?? 0) + 1);
  else if (found) different.push(found);
  if ((i - from + 1) % 200 === 0) console.error(`${i - from + 1} of ${count}, ${different.length} differ`);
}
for (const { name, threads, at } of different) console.log(`${name}, ${threads} threads: byte ${at}`);
for (const [why, times] of notVectorized) console.log(`${times} not vectorized: ${why}`);
console.log(`${count} kernels, ${different.length} differ`);
process.exitCode = different.length > 0 ? 1 : 0;
