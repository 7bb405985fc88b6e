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
} satisfies Record<string, Threshold>;

/** The value of each threshold. */
export const tuning = Object.fromEntries(Object.entries(thresholds).map(([name, { value }]) => [name, value])) as {
  readonly [Name in keyof typeof thresholds]: number;
};
