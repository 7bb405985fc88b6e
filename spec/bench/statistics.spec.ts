/** Ratios of benchmarks with their intervals. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { estimateOf, slopeOf } from '../../bench/statistics.ts';
import { randomFractions } from '../support/lcg.ts';

const test = suite('bench/statistics');

test('equal pairs have a ratio without an interval', () => {
  assert.equal(estimateOf(Array.from({ length: 7 }, () => [3, 2] as const)), { ratio: 1.5, low: 1.5, high: 1.5 });
});

test('the interval holds the ratio from which noise was drawn, and is narrower with more pairs', () => {
  const widths = [9, 81].map((count) => {
    const random = randomFractions(count);
    const noise = (): number => 1 + 0.1 * (random() - 0.5);
    const { ratio, low, high } = estimateOf(Array.from({ length: count }, () => [1.2 * noise(), noise()] as const));
    assert.ok(low <= ratio && ratio <= high);
    assert.ok(low < 1.2 && 1.2 < high, `${low} to ${high}`);
    return high - low;
  });
  assert.ok(widths[1]! < widths[0]! / 2, widths.join());
});

test('what slows both of a pair down does not widen the interval', () => {
  const { low, high } = estimateOf(Array.from({ length: 20 }, (_, i) => [1.1 * (1 + i), 1 + i] as const));
  assert.ok(Math.abs(low - 1.1) < 1e-9 && Math.abs(high - 1.1) < 1e-9);
});

test('the slope of a power is its exponent, and the factor is what 1 takes', () => {
  const { slope, factor, low, high } = slopeOf(Array.from({ length: 30 }, (_, i) => [2 ** i, 3 * 2 ** (1.5 * i)] as const));
  for (const value of [slope, low, high]) assert.ok(Math.abs(value - 1.5) < 1e-9, `${value}`);
  assert.ok(Math.abs(factor - 3) < 1e-9);
});

test('the interval of a slope holds that from which noise was drawn, wherever the noise is, and is narrower with more points', () => {
  const widths = [40, 640].map((count) => {
    const random = randomFractions(count);
    // What is small varies more.
    const points = Array.from({ length: count }, (): [number, number] => {
      const x = 10 ** (1 + 5 * random());
      return [x, x ** 1.1 * 10 ** ((random() - 0.5) / Math.log10(x))];
    });
    const { slope, low, high } = slopeOf(points);
    assert.ok(low <= slope && slope <= high);
    assert.ok(low < 1.1 && 1.1 < high, `${low} to ${high}`);
    return high - low;
  });
  assert.ok(widths[1]! < widths[0]! / 2, widths.join());
});

test.run();
