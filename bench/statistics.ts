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

/** The line through logarithms: y is near `factor` times x to the power of `slope`, which is in the interval with a probability of 95 %. */
export interface Slope {
  readonly slope: number;
  readonly factor: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The line of least squares through the logarithms of points (x, y) above 0, with the interval of its bootstrap: points are drawn again, so that
 * nothing is said of how they lie about the line. The draws are the same each time.
 */
export function slopeOf(points: readonly (readonly [number, number])[]): Slope {
  const logs = points.map(([x, y]): [number, number] => [Math.log(x), Math.log(y)]);
  const random = randomFractions(1);
  const slopes = Array.from({ length: resamples }, () => lineOf(Array.from(logs, () => logs[Math.floor(random() * logs.length)]!))[0]).sort(
    (a, b) => a - b,
  );
  const [slope, offset] = lineOf(logs);
  return { slope, factor: Math.exp(offset), low: slopes[Math.floor(0.025 * resamples)]!, high: slopes[Math.floor(0.975 * resamples)]! };
}

/** Slope and offset of the line of least squares. */
function lineOf(points: readonly (readonly [number, number])[]): [number, number] {
  const mean = (of: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(([each]) => each), mean(([, each]) => each)];
  const slope = mean((point) => (point[0] - x) * (point[1] - y)) / mean(([each]) => (each - x) ** 2);
  return [slope, y - slope * x];
}
