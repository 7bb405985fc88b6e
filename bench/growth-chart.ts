/** Times of files against their sizes as a picture: both axes are logarithmic, and the line is the fitted one. */
import type { Slope } from './statistics.ts';

/** A file that was compiled. */
export interface Grown {
  readonly path: string;
  readonly bytes: number;
  readonly instructions: number;
  /** Median of the processor time, in milliseconds. */
  readonly ms: number;
}

const [width, height, margin] = [640, 400, 48];

interface Axis {
  readonly low: number;
  readonly high: number;
  /** From a value to a coordinate. */
  readonly at: (value: number) => number;
}

/** An axis over whole powers of ten. */
function axisOf(values: readonly number[], from: number, to: number): Axis {
  const [low, high] = [Math.floor(Math.log10(Math.min(...values))), Math.ceil(Math.log10(Math.max(...values)))];
  return { low, high, at: (value) => from + ((Math.log10(value) - low) / Math.max(1, high - low)) * (to - from) };
}

const powers = ({ low, high }: Axis): number[] => Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));

/** An SVG document. */
export function growthChart(files: readonly Grown[], { slope, factor, low, high }: Slope): string {
  const x = axisOf(
    files.map(({ bytes }) => bytes),
    margin,
    width - 10,
  );
  const y = axisOf(
    files.map(({ ms }) => ms),
    height - margin,
    10,
  );
  const sizes = files.map(({ bytes }) => bytes);
  const ends = [Math.min(...sizes), Math.max(...sizes)].map(
    (bytes) => `${x.at(bytes).toFixed(1)},${y.at(factor * bytes ** slope).toFixed(1)}`,
  );
  const name = (value: number, units: readonly string[]): string => {
    const power = Math.max(0, Math.floor(Math.log10(value) / 3 + 1e-9));
    return `${value / 1000 ** power} ${units[power]}`;
  };
  const columns = powers(x).map(
    (value) =>
      `<path d="M${x.at(value)} 10V${height - margin}"/><text x="${x.at(value)}" y="${height - margin + 16}" text-anchor="middle">${name(value, ['B', 'KB', 'MB'])}</text>`,
  );
  const rows = powers(y).map(
    (value) =>
      `<path d="M${margin} ${y.at(value)}H${width - 10}"/><text x="${margin - 6}" y="${y.at(value) + 4}" text-anchor="end">${name(value, ['ms', 's'])}</text>`,
  );
  const points = files.map(({ bytes, ms }) => `<circle cx="${x.at(bytes).toFixed(1)}" cy="${y.at(ms).toFixed(1)}" r="2"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<title>Processor time to compile ${files.length} files against their size: slope ${slope.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})</title>
<rect width="${width}" height="${height}" fill="#fff"/>
<g stroke="#ddd" stroke-width="1">${[...columns, ...rows].map((each) => each.replace('<text', '<text stroke="none"')).join('')}</g>
<g fill="#36c" fill-opacity="0.35">${points.join('')}</g>
<polyline points="${ends.join(' ')}" fill="none" stroke="#c33" stroke-width="1.5"/>
</svg>
`;
}
