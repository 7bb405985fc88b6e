/**
 * Kernels made at random, on both paths of the CPU device: `bun scripts/compare-engines.ts [COUNT] [FROM] [--apart]` (2000 from 0). Each goes lane by lane
 * and in strips, in blocks of 1 to 1024 threads; those that leave something else are named, and the script exits 1. With `--apart`, kernels
 * whose threads come to barriers on ways of their own.
 */
import { apartDifferenceOf, type Difference, differenceOf } from '../spec/support/engine-difference.ts';

const words = process.argv.slice(2);
const [count = 2000, from = 0, ...more] = words.filter((word) => word !== '--apart').map(Number);
if (more.length > 0 || !Number.isInteger(count) || !Number.isInteger(from))
  throw new Error('usage: bun scripts/compare-engines.ts [COUNT] [FROM] [--apart]');
const compare = words.includes('--apart') ? apartDifferenceOf : differenceOf;
const wrong: Difference[] = [];
const alone = new Map<string, number>();
for (let i = from; i < from + count; i++) {
  const found = compare(i);
  if (typeof found === 'string') alone.set(found, (alone.get(found) ?? 0) + 1);
  else if (found) wrong.push(found);
  if ((i - from + 1) % 200 === 0) console.error(`${i - from + 1} of ${count}, ${wrong.length} differ`);
}
for (const { name, threads, at } of wrong) console.log(`${name}, ${threads} threads: byte ${at}`);
for (const [why, times] of alone) console.log(`${times} run one lane at a time either way: ${why}`);
console.log(`${count} kernels, ${wrong.length} differ`);
process.exitCode = wrong.length > 0 ? 1 : 0;
