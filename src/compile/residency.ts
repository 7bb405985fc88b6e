/** What a multiprocessor of an NVIDIA GPU, or a core of an Apple GPU, has for the blocks that run on it at a time: one table for every occupancy. */

export interface Residency {
  /** Resident threads and blocks. */
  readonly threads: number;
  readonly blocks: number;
  readonly sharedBytes: number;
  /** Bytes of shared memory that each block has besides its own. */
  readonly sharedOfBlock: number;
}

const residency = (threads: number, blocks: number, sharedKibibytes: number, sharedOfBlock = 0): Residency => ({
  threads,
  blocks,
  sharedBytes: sharedKibibytes * 1024,
  sharedOfBlock,
});

/**
 * By architecture. Source: CUDA C++ Programming Guide 13.0, technical specifications by compute capability; `apple` by measurements of others
 * (philipturner/metal-benchmarks: 96 simdgroups and some 60 KB of threadgroup memory a core), since Apple says nothing.
 */
export const residencies = {
  sm_50: residency(2048, 32, 64),
  sm_52: residency(2048, 32, 96),
  sm_53: residency(2048, 32, 64),
  sm_60: residency(2048, 32, 64),
  sm_61: residency(2048, 32, 96),
  sm_62: residency(2048, 32, 64),
  sm_70: residency(2048, 32, 96),
  sm_72: residency(2048, 32, 96),
  sm_75: residency(1024, 16, 64),
  sm_80: residency(2048, 32, 164, 1024),
  sm_86: residency(1536, 16, 100, 1024),
  sm_87: residency(1536, 16, 164, 1024),
  sm_89: residency(1536, 24, 100, 1024),
  sm_90: residency(2048, 32, 228, 1024),
  apple: residency(3072, 96, 60),
} as const satisfies Record<string, Residency>;
