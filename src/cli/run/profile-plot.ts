/** The roofline of a profile as an SVG: operations per second over operations per byte, both logarithmic. */
import { scaled, short } from './profile-text.ts';
import type { OnRoof, Position } from './roofline.ts';

/** Sizes in units of the view box. The margins hold the longest labels. */
const plot = { width: 660, height: 340, left: 92, bottom: 48, top: 26, right: 24 };

/** The plot. `escaped` makes text safe in HTML. */
export function rooflinePlot({ roof, peak, uncached, cached }: OnRoof, escaped: (text: string) => string): string {
  const ridge = peak / roof.bandwidth;
  const [low, high] = [Math.min(uncached.intensity, ridge) / 10, Math.max(cached.intensity, ridge) * 10];
  const [floor, top] = [low * roof.bandwidth, peak * 2];
  const x = (value: number): number => scale(value, low, high, plot.left, plot.width - plot.right);
  const y = (value: number): number => scale(value, floor, top, plot.height - plot.bottom, plot.top);
  const point = (intensity: number, rate: number): string => `${x(intensity).toFixed(1)},${y(rate).toFixed(1)}`;
  const isSame = cached.intensity < 1.05 * uncached.intensity;
  const dots = isSame
    ? [dotOf(cached, 'this kernel', point, escaped)]
    : [dotOf(uncached, 'without caching', point, escaped), dotOf(cached, 'perfect caching', point, escaped, true)];
  const middle = { x: (plot.left + plot.width - plot.right) / 2, y: (plot.top + plot.height - plot.bottom) / 2 };
  return `<svg viewBox="0 0 ${plot.width} ${plot.height}" role="img" aria-label="roofline of ${escaped(roof.name)}">
${ticks(low, high)
  .map((at) => tickX(at, x(at)))
  .join('')}
${ticks(floor, top)
  .map((at) => tickY(at, y(at), escaped))
  .join('')}
<polyline class="roof" points="${point(low, low * roof.bandwidth)} ${point(ridge, peak)} ${point(high, peak)}"/>
<polyline class="at" points="${point(uncached.intensity, uncached.most)} ${point(cached.intensity, cached.most)}"/>
${dots.join('\n')}
<text x="${plot.left}" y="16">${escaped(`${roof.name}: ${scaled(roof.flops)}FLOP/s, ${scaled(roof.bandwidth)}B/s`)}</text>
<text x="${middle.x}" y="${plot.height - 8}" text-anchor="middle">operations per byte</text>
</svg>
<small>${escaped(roof.source)}</small>`;
}

/** A position with its name. */
function dotOf(
  { intensity, most }: Position,
  name: string,
  point: (intensity: number, rate: number) => string,
  escaped: (text: string) => string,
  isAbove = false,
): string {
  const [x, y] = point(intensity, most).split(',').map(Number) as [number, number];
  // Two labels must not cover each other: one is above and to the left, the other below and to the right, if there is room.
  const isLeft = isAbove ? x > plot.left + 200 : x > plot.width - plot.right - 200;
  const title = `${name}: ${short(intensity)} operations per byte, at most ${scaled(most)}FLOP/s`;
  return `<circle cx="${x}" cy="${y}" r="5"><title>${escaped(title)}</title></circle><text x="${isLeft ? x - 10 : x + 10}" y="${isAbove ? y - 10 : y + 18}" text-anchor="${isLeft ? 'end' : 'start'}">${escaped(`${name}: ${scaled(most)}FLOP/s`)}</text>`;
}

const scale = (value: number, low: number, high: number, from: number, to: number): number =>
  from + ((to - from) * Math.log(value / low)) / Math.log(high / low);

/** Powers of ten between two numbers, at most eight of them. */
function ticks(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  const step = Math.max(1, Math.ceil((last - first + 1) / 8));
  return Array.from({ length: Math.max(0, Math.floor((last - first) / step) + 1) }, (_, i) => 10 ** (first + i * step));
}

const tickX = (at: number, x: number): string =>
  `<line class="axis" x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${plot.top}" y2="${plot.height - plot.bottom}"/><text x="${x.toFixed(1)}" y="${plot.height - plot.bottom + 18}" text-anchor="middle">${short(at)}</text>`;

const tickY = (at: number, y: number, escaped: (text: string) => string): string =>
  `<line class="axis" x1="${plot.left}" x2="${plot.width - plot.right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/><text x="${plot.left - 8}" y="${(y + 4).toFixed(1)}" text-anchor="end">${escaped(scaled(at))}FLOP/s</text>`;
