/**
 * Numbered random kernels for comparing the scalar with the SIMD path: random control-flow graphs, blocks of communicating threads, deep
 * expressions over all scalar types, and barrier divergence.
 */

import * as assert from 'uvu/assert';
import type { Dim3 } from '../../src/device/device.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOn } from './both-engines.ts';
import { randomBarriers, wordsPerThread } from './random-barriers.ts';
import { randomBlock } from './random-block.ts';
import { randomFlow } from './random-flow.ts';
import { bytesOfLane, randomLanes } from './random-lanes.ts';

export interface Difference {
  readonly name: string;
  readonly threads: number;
  /** The first byte that differs; -1 where only the diagnostics differ. */
  readonly at: number;
}

const sizes = [1, 31, 32, 33, 256, 1024];

/** Where the paths differ for a numbered kernel; a string is the reason why the kernel was not vectorized. The block size depends on the number. */
export function differenceOf(number: number, threads = sizes[Math.floor(number / 5) % sizes.length]!): Difference | string | undefined {
  const { name, make, size } = kernelOf(number, threads);
  const blocks = threads > 100 ? 2 : 3;
  const isFlow = name.startsWith('graph');
  const lane = runOn('lane', make(), isFlow ? 1 : blocks, threads, size * (isFlow ? 1 : blocks));
  const simd = runOn('simd', make(), isFlow ? 1 : blocks, threads, size * (isFlow ? 1 : blocks));
  const at = lane.bytes.findIndex((byte, i) => byte !== simd.bytes[i]);
  if (at >= 0 || lane.messages.join() !== simd.messages.join()) return { name: `${number} ${name}`, threads, at };
  return simd.scalarReason;
}

/** Block shapes for kernels with barrier divergence. */
const shapes: readonly Dim3[] = [...sizes.map((size): Dim3 => [size, 1, 1]), [8, 8, 1], [16, 4, 1], [33, 3, 1], [5, 5, 5], [64, 1, 1]];

/** The same for kernels with barrier divergence, on lane groups of all sizes. */
export function barrierDifferenceOf(number: number): Difference | string | undefined {
  const block = shapes[number % shapes.length]!;
  const threads = block[0] * block[1] * block[2];
  const granularity = number % 3 === 0 ? 'warps' : 'lanes';
  const blocks = threads > 100 ? 2 : 3;
  const size = 4 * wordsPerThread * threads * blocks;
  const lanes = [undefined, 4, 8, undefined, 16, 32][number % 7];
  const make = (): Kernel => randomBarriers(number, threads, granularity);
  const poison = new Uint8Array(size).fill(0xa5);
  const lane = runOn('lane', make(), blocks, block, size, poison);
  const simd = runOn('simd', make(), blocks, block, size, poison, lanes);
  const at = lane.bytes.findIndex((byte, i) => byte !== simd.bytes[i]);
  if (at >= 0 || lane.messages.join() !== simd.messages.join()) return { name: `${number} barriers, ${granularity}`, threads, at };
  return simd.scalarReason;
}

function kernelOf(number: number, threads: number): { name: string; make: () => Kernel; size: number } {
  if (number % 7 === 6) return { name: 'sums', make: () => randomLanes(number, threads), size: bytesOfLane * threads };
  const which = number % 5;
  if (which < 2) return { name: 'block', make: () => randomBlock(number, threads), size: 16 * threads };
  const barriers = (['none', 'together', 'warps'] as const)[which - 2]!;
  const draw = splitMix64(BigInt(number));
  const choices = Array.from({ length: 10 + Number(draw() % 60n) }, () => Number(draw() % 65536n));
  const blocks = 1 + Number(draw() % 7n);
  return { name: `graph, barriers ${barriers}`, make: () => randomFlow(choices, blocks, barriers), size: 32 * threads };
}

/** Where native code differs from WebAssembly for a numbered kernel, of one of both paths; a string is a kernel without native code. */
export function nativeDifferenceOf(
  number: number,
  threads = sizes[Math.floor(number / 5) % sizes.length]!,
): Difference | string | undefined {
  const { name, make, size } = kernelOf(number, threads);
  const blocks = name.startsWith('graph') ? 1 : threads > 100 ? 2 : 3;
  const engine = number % 3 === 0 ? 'lane' : 'simd';
  const [wasm, native] = (['never', 'always'] as const).map((mode) =>
    runOn(engine, make(), blocks, threads, size * blocks, undefined, undefined, mode),
  );
  const at = wasm!.bytes.findIndex((byte, i) => byte !== native!.bytes[i]);
  if (at >= 0 || wasm!.messages.join() !== native!.messages.join()) return { name: `${number} ${name}, ${engine}`, threads, at };
  return native!.isNative ? undefined : 'no native code';
}

/** Asserts that the kernels with numbers below `count` have the same results on both paths; returns how many were vectorized. */
export function assertEnginesAgree(count: number, compare: (number: number) => Difference | string | undefined): number {
  let vectorized = 0;
  for (let i = 0; i < count; i++) {
    const found = compare(i);
    assert.ok(found === undefined || typeof found === 'string', JSON.stringify(found));
    if (found === undefined) vectorized++;
  }
  return vectorized;
}
