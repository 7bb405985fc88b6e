/**
 * The tuned thresholds of the engine: one row each, with its unit, the WebAssembly engine it was measured on, the bench that sets it, and the reason. A
 * threshold that bounds correctness or follows from a format is not here. To set one anew, change it and compare the rates of `npm run bench --`
 * with the arguments of its row; these are the kernels of that bench whose code the threshold changes.
 */

/** A row of the table. */
interface Threshold {
  readonly value: number;
  readonly unit: string;
  /** Where it was measured; `none` of an estimate, whose exact value no bench depends on. */
  readonly engine: string;
  /** Arguments of `npm run bench --`. */
  readonly bench: string;
  readonly why: string;
}

const jsc = 'JavaScriptCore (Bun 1.4), x86-64';

const thresholds = {
  fuelPerTick: {
    value: 1 << 22,
    unit: 'fuel, of about 1 ns each',
    engine: 'none',
    bench: 'none',
    why: 'A kernel checks its time limit every few milliseconds: a later check delays an abort, an earlier one costs a call to the host.',
  },
  plainCost: {
    value: 2,
    unit: 'fuel',
    engine: 'none',
    bench: 'none',
    why: 'The estimate for an instruction that WebAssembly has.',
  },
  hostCallCost: {
    value: 50,
    unit: 'fuel',
    engine: 'none',
    bench: 'none',
    why: 'The estimate for an instruction that calls an imported function or a long helper.',
  },
  hostExactCost: {
    value: 500,
    unit: 'fuel',
    engine: 'none',
    bench: 'none',
    why: 'The estimate for an instruction that the host computes with big integers.',
  },
  maxShiftByAddition: {
    value: 2,
    unit: 'bits',
    engine: jsc,
    bench: 'cpu --ours --only=histogram',
    why: 'JavaScriptCore moves a shift count into a vector register through two others; one or two additions are fewer instructions.',
  },
  minPacksForMultiply: {
    value: 8,
    unit: 'packs of a lane group',
    engine: jsc,
    bench: 'cpu --ours --only=xorshift; --only=black_scholes',
    why: 'A multiplication by a power of two is fewer instructions than a shift, with a longer latency, which enough independent packs hide.',
  },
  packsPerFmaTest: {
    value: 2,
    unit: 'packs',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=mandelbrot',
    why: 'Packs of a short lane group share one test for hard cases of an exact f32 FMA.',
  },
  maxPacksForSharedFmaTest: {
    value: 4,
    unit: 'packs of a lane group',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=saxpy; --only=stencil5',
    why: 'The operands that the rare case needs stay in registers until the test; a longer lane group has none to spare, so it tests pack by pack.',
  },
  interleavedFmaHalves: {
    value: 4,
    unit: 'vectors of two f64',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=black_scholes; --only=sgemm16; --only=sgemm32',
    why: 'Exact f32 FMAs of rerolled code, step by step side by side: with more of them registers spill, with fewer the latency is exposed.',
  },
  maxLiveVectors: {
    value: 64,
    unit: 'vectors live at once over all packs',
    engine: jsc,
    bench: 'cpu --ours --only=black_scholes; --only=sgemm32',
    why: 'There are fewer registers, but a spill costs less than the start of a lane group, and independent packs keep the processor busy.',
  },
  exactFmaVectors: {
    value: 6,
    unit: 'vectors of a pack',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=sgemm16',
    why: 'An exact f32 FMA uses them besides its operands and result.',
  },
  maxDivergentLanes: {
    value: 16,
    unit: 'lanes of a group',
    engine: jsc,
    bench: 'cpu --ours --only=mandelbrot',
    why: 'Where lanes diverge or access memory one by one, a larger group has more inactive lanes and as much code.',
  },
  maxAtomicLanes: {
    value: 4,
    unit: 'lanes of a group',
    engine: jsc,
    bench: 'cpu --ours --only=histogram',
    why: 'Where atomics go per lane, the processor predicts which store each load depends on, and predicts better with fewer pairs.',
  },
  instructionsPerUpdate: {
    value: 8,
    unit: 'instructions for each atomic',
    engine: jsc,
    bench: 'cpu --ours --only=histogram',
    why: 'Atomics are frequent from this ratio on.',
  },
  minRerolledInstructions: {
    value: 360,
    unit: 'vector instructions',
    engine: jsc,
    bench: 'cpu --ours --only=sha256',
    why: 'Shorter straight-line code fits the cache of decoded instructions when it is unrolled for every vector.',
  },
  minParallelism: {
    value: 2.5,
    unit: 'instructions for each step of the longest dependence chain',
    engine: jsc,
    bench: 'cpu --ours --only=sha256; --only=xorshift',
    why: 'In a chain of dependent instructions one vector alone cannot keep a processor busy.',
  },
  minTestedWork: {
    value: 20,
    unit: 'pure instructions',
    engine: jsc,
    bench: 'cpu --ours --only=reduce; --only=mandelbrot',
    why: 'A divergent region with less work costs no more than the test for uniformity before it.',
  },
  memoryWeight: {
    value: 10,
    unit: 'pure instructions',
    engine: jsc,
    bench: 'cpu --ours --only=stencil5',
    why: 'The weight of a masked memory access in the same unit.',
  },
  maxGrowth: {
    value: 6,
    unit: 'times the instructions of a region',
    engine: 'none',
    bench: 'none',
    why: 'Bounds the code that the paths for uniform branches add.',
  },
  maxFusedBytes: {
    value: 24_000,
    unit: 'bytes of code',
    engine: jsc,
    bench: 'cpu --ours --only=reduce',
    why: 'In longer regions a call is a small share of the time.',
  },
  maxDeferredDepth: {
    value: 10,
    unit: 'instructions',
    engine: jsc,
    bench: 'cpu --ours --only=black_scholes',
    why: 'A processor overlaps the steps of one vector with those of the next, but its window is limited.',
  },
  scalarWeight: {
    value: 0.2,
    unit: 'vectors of a pack',
    engine: 'none',
    bench: 'none',
    why: 'A scalar local is shared by all packs, a vector local belongs to one.',
  },
  instructionsPerChunk: {
    value: 96,
    unit: 'vector instructions',
    engine: jsc,
    bench: 'cpu --ours --only=sha256',
    why: 'Engines do not optimize long functions, and a chunk has a function of its own.',
  },
  minRerolledFmas: {
    value: 8,
    unit: 'exact FMAs',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=sgemm16',
    why: 'They share one test for hard cases, and the rare path is emitted once.',
  },
  tileForFma: {
    value: 2,
    unit: 'vectors for each iteration',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=black_scholes',
    why: 'The dependence chains of FMAs need several vectors side by side.',
  },
  tileForFewLive: {
    value: 4,
    unit: 'vectors for each iteration',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=stencil5',
    why: 'With few live values more vectors fit in the registers.',
  },
  maxFewLive: {
    value: 2,
    unit: 'live values, loads aside',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=stencil5',
    why: 'Up to so many, `tileForFewLive` applies.',
  },
  rareFmaRatio: {
    value: 8,
    unit: 'instructions for each FMA',
    engine: jsc,
    bench: 'cpu --ours --fma=exact --only=black_scholes',
    why: 'From this ratio on, rounding each FMA to odd right away costs less than a second copy of the chunk.',
  },
  turnsBetweenYields: {
    value: 64,
    unit: 'iterations',
    engine: 'none',
    bench: 'none',
    why: 'A power of two. Work loops that look like spin loops seldom leave their region, and a waiting thread wastes little.',
  },
  roundsPerTurn: {
    value: 256,
    unit: 'rounds',
    engine: 'none',
    bench: 'none',
    why: 'A block whose threads wait and work by turns lets other blocks run after so many; a change of blocks costs about a microsecond.',
  },
  maxComparisons: {
    value: 6,
    unit: 'comparisons',
    engine: 'none',
    bench: 'none',
    why: 'A test of more comparisons costs more than the masks that it avoids.',
  },
} satisfies Record<string, Threshold>;

/** The value of each threshold. */
export const tuning = Object.fromEntries(Object.entries(thresholds).map(([name, { value }]) => [name, value])) as {
  readonly [Name in keyof typeof thresholds]: number;
};
