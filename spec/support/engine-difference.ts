/**
 * Kernels by number for the comparison of the two paths: random graphs of blocks, blocks of threads that have to do with each other, and long
 * expressions of numbers of all types.
 */

import * as assert from 'uvu/assert';
import type { Dim3 } from '../../src/device/device.ts';
import type { Kernel } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { ranOn } from './both-engines.ts';
import { randomApart, wordsOfApart } from './random-barriers.ts';
import { randomBlock } from './random-block.ts';
import { randomFlow } from './random-flow.ts';
import { bytesOfLane, randomLanes } from './random-lanes.ts';

export interface Difference {
  readonly name: string;
  readonly threads: number;
  /** The first byte that differs; -1 where what was reported does. */
  readonly at: number;
}

const sizes = [1, 31, 32, 33, 256, 1024];

/** Where the paths differ for the kernel of a number, in blocks of a size that goes with it; why it has no strips where it has none. */
export function differenceOf(number: number, threads = sizes[Math.floor(number / 5) % sizes.length]!): Difference | string | undefined {
  const { name, make, size } = kernelOf(number, threads);
  const blocks = threads > 100 ? 2 : 3;
  const isFlow = name.startsWith('graph');
  const lane = ranOn('lane', make(), isFlow ? 1 : blocks, threads, size * (isFlow ? 1 : blocks));
  const simd = ranOn('simd', make(), isFlow ? 1 : blocks, threads, size * (isFlow ? 1 : blocks));
  const at = lane.bytes.findIndex((byte, i) => byte !== simd.bytes[i]);
  if (at >= 0 || lane.said.join() !== simd.said.join()) return { name: `${number} ${name}`, threads, at };
  return simd.alone;
}

/** Blocks whose threads come to barriers apart: of every size, and of two and three dimensions. */
const shapes: readonly Dim3[] = [...sizes.map((size): Dim3 => [size, 1, 1]), [8, 8, 1], [16, 4, 1], [33, 3, 1], [5, 5, 5], [64, 1, 1]];

/** The same for kernels of that kind, in strips of all lengths; `number` is that of the kernel. */
export function apartDifferenceOf(number: number): Difference | string | undefined {
  const block = shapes[number % shapes.length]!;
  const threads = block[0] * block[1] * block[2];
  const who = number % 3 === 0 ? 'warps' : 'lanes';
  const blocks = threads > 100 ? 2 : 3;
  const size = 4 * wordsOfApart * threads * blocks;
  const lanes = [undefined, 4, 8, undefined, 16, 32][number % 7];
  const make = (): Kernel => randomApart(number, threads, who);
  const poison = new Uint8Array(size).fill(0xa5);
  const lane = ranOn('lane', make(), blocks, block, size, poison);
  const simd = ranOn('simd', make(), blocks, block, size, poison, lanes);
  const at = lane.bytes.findIndex((byte, i) => byte !== simd.bytes[i]);
  if (at >= 0 || lane.said.join() !== simd.said.join()) return { name: `${number} apart, ${who}`, threads, at };
  return simd.alone;
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

/** Asserts that no kernel of the numbers below one leaves anything else in strips; how many were run in strips. */
export function allAgree(count: number, compare: (number: number) => Difference | string | undefined): number {
  let together = 0;
  for (let i = 0; i < count; i++) {
    const found = compare(i);
    assert.ok(found === undefined || typeof found === 'string', JSON.stringify(found));
    if (found === undefined) together++;
  }
  return together;
}
