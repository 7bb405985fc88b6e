/** What is known of a launch before it runs, and the threads of its warps. */
import type { Dim3 } from '../base/dim3.ts';
import { anyLaunch, type Interval, type LaunchFacts, type Sreg } from '../ir/index.ts';

/** A launch, or the part of it that is known. */
export interface AdvisedLaunch {
  readonly grid?: Dim3 | undefined;
  readonly block?: Dim3 | undefined;
  /** Dynamic shared memory, bytes. */
  readonly sharedBytes?: number | undefined;
  /** The bytes of an argument by value, by the index of its parameter. */
  readonly bytesOf?: (index: number) => Uint8Array | undefined;
  /** By how many bytes a pointer argument is behind a multiple of 256; 0 by default, as for memory that CUDA allocates. */
  readonly offsetOf?: (index: number) => number;
}

/** Threads of a warp. */
export const warpThreads = 32;

/** The numbers of the threads of one warp; undefined for a block of unknown shape. */
export interface Warp {
  readonly width: number;
  readonly index: number | undefined;
  /** The block that it is of; undefined for one that stands for the warps of all blocks. */
  readonly of: Dim3 | undefined;
  readonly x: readonly number[];
  readonly y: readonly number[];
  readonly z: readonly number[];
}

/** The warps of a block, or one that stands for all of them where the shape is not known: threads that follow one another along x. */
export function warpsOf(block: Dim3 | undefined, of?: Dim3): Warp[] {
  const lanes = Array.from({ length: warpThreads }, (_, lane) => lane);
  const zeros = lanes.map(() => 0);
  if (!block) return [{ width: warpThreads, index: undefined, of, x: lanes, y: zeros, z: zeros }];
  const [nx, ny, nz] = block;
  const threads = nx * ny * nz;
  return Array.from({ length: Math.ceil(threads / warpThreads) }, (_, index) => {
    const own = lanes.map((lane) => index * warpThreads + lane).filter((thread) => thread < threads);
    return {
      width: own.length,
      index,
      of,
      x: own.map((thread) => thread % nx),
      y: own.map((thread) => Math.floor(thread / nx) % ny),
      z: own.map((thread) => Math.floor(thread / (nx * ny))),
    };
  });
}

/** The facts of a launch for analyses of ranges. */
export function factsOf({ grid, block, bytesOf }: AdvisedLaunch): LaunchFacts {
  const below = (count: number): Interval => ({ min: 0n, max: BigInt(count - 1) });
  const only = (count: number): Interval => ({ min: BigInt(count), max: BigInt(count) });
  const sreg = (name: Sreg): Interval | undefined => {
    const [kind = '', axis = ''] = name.split('.');
    const at = 'xyz'.indexOf(axis);
    const counts = at < 0 ? undefined : { tid: block, ntid: block, ctaid: grid, nctaid: grid }[kind];
    if (counts && at >= 0) return kind.startsWith('n') ? only(counts[at]!) : below(counts[at]!);
    if (kind === 'gid' && grid && block && at >= 0) return below(grid[at]! * block[at]!);
    if (block && name === 'tid.linear') return below(block[0] * block[1] * block[2]);
    return anyLaunch.sreg(name);
  };
  return {
    sreg,
    valueOf: (param, offset, bits) => {
      const bytes = bytesOf?.(param);
      if (!bytes || offset + bits / 8 > bytes.length) return undefined;
      let value = 0n;
      for (let i = bits / 8 - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[offset + i]!);
      return value;
    },
  };
}

/** The numbers of the blocks of a grid, x fastest. */
export const blocksOf = ([x, y, z]: Dim3): Dim3[] =>
  Array.from({ length: x * y * z }, (_, i) => [i % x, Math.floor(i / x) % y, Math.floor(i / (x * y))] as const);
