/** Ratios of times that were taken in turns, with an interval. */
import { randomFractions } from '../spec/support/lcg.ts';
import { median } from './report.ts';

/** A ratio and the interval in which it is with a probability of 95 %. */
export interface Estimate {
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
}

const resamples = 2000;

/**
 * The median of the ratios of pairs, with the interval of its bootstrap: pairs are drawn again, so that what both of a pair suffered together
 * stays together. The draws are the same each time. Source: Efron, "Bootstrap Methods: Another Look at the Jackknife" (1979), percentiles.
 */
export function estimateOf(pairs: readonly (readonly [number, number])[]): Estimate {
  const ratios = pairs.map(([a, b]) => a / b);
  const random = randomFractions(1);
  const medians = Array.from({ length: resamples }, () =>
    median(Array.from(ratios, () => ratios[Math.floor(random() * ratios.length)]!)),
  ).sort((a, b) => a - b);
  return { ratio: median(ratios), low: medians[Math.floor(0.025 * resamples)]!, high: medians[Math.floor(0.975 * resamples)]! };
}
