/** A profile as a self-contained HTML page: the summary, the roofline, and a table of the lines. */
import { readableName } from '../../base/demangle/index.ts';
import { printable } from '../../base/printable.ts';
import type { SourceFile } from '../../base/source.ts';
import type { Profile, ProfileLine } from '../../device/profile.ts';
import { activeLanes, allGlobal, allShared, percent, scaled, short, summaryLines } from './profile-text.ts';
import { flopsIn, type OnRoof, type Position } from './roofline.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => printable(text).replace(/[&<>"']/g, (found) => escapes[found]!);

const style = `body{font:14px/1.4 system-ui,sans-serif;margin:2em;color:#222;background:#fff}h1{font-size:1.3em}
table{border-collapse:collapse;font:12px/1.5 ui-monospace,monospace}th{text-align:right;padding:0 .6em;position:sticky;top:0;background:#fff;border-bottom:1px solid #999}
td{padding:0 .6em;text-align:right;white-space:pre}td.code,th.code{text-align:left}td.bar{padding:0;min-width:110px}td.bar i{display:block;height:1.1em}
tr:hover{background:#eef}.low{color:#b00;font-weight:bold}svg text{font:11px system-ui,sans-serif}`;

/** The page. */
export function profileHtml(profile: Profile, source: SourceFile | undefined, on: OnRoof | undefined): string {
  const mix = Object.entries(profile.operations).filter(([, { warps }]) => warps > 0);
  const all = mix.reduce((sum, [, { warps }]) => sum + warps, 0);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${escaped(`profile of ${readableName(profile.kernel)}`)}</title><style>${style}</style></head><body>
<h1>${escaped(`Profile of ${readableName(profile.kernel)}`)}</h1>
<ul>${summaryLines(profile, on)
    .map((line) => `<li>${escaped(line)}</li>`)
    .join('\n')}
<li>${escaped(`operations: ${mix.map(([name, { warps }]) => `${name} ${percent(warps, all)}`).join(', ')}`)}</li></ul>
${on ? rooflinePlot(on) : ''}
${lineTable(profile, source)}
</body></html>
`;
}

// ── lines ──

const columns = ['line', 'warps', '', 'active', 'sectors', 'used', 'wavefronts', 'flops'];

function lineTable({ lines }: Profile, source: SourceFile | undefined): string {
  const maxWarps = Math.max(1, ...lines.map(({ executed }) => executed.warps));
  const counted = new Map(lines.map((line) => [line.line, line]));
  const numbers = lines.map(({ line }) => line).filter((line) => line > 0);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const wanted = source && numbers.length > 0 ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : numbers;
  const rows = [...(counted.has(0) ? [0] : []), ...wanted].map((line) => rowOf(line, counted.get(line), source, maxWarps));
  const head = columns.map((name) => `<th>${name}</th>`).join('');
  return `<table><thead><tr>${head}<th class="code">instruction</th><th class="code">source</th></tr></thead><tbody>\n${rows.join('\n')}\n</tbody></table>`;
}

function rowOf(number: number, line: ProfileLine | undefined, source: SourceFile | undefined, maxWarps: number): string {
  const text = number === 0 ? '(no line)' : (source?.line(number) ?? '');
  const code = `<td class="code">${escaped(text.replace(/\t/g, '  '))}</td><td class="code">${escaped(line?.source ?? '')}</td>`;
  if (!line) return `<tr><td>${number}</td>${'<td></td>'.repeat(columns.length - 1)}${code}</tr>`;
  const [global, shared] = [allGlobal(line), allShared(line)];
  const share = line.executed.warps / maxWarps;
  const active = activeLanes(line) / 32;
  // Red is one active thread, green is a full warp.
  const bar = `<td class="bar"><i style="width:${(100 * share).toFixed(1)}%;background:hsl(${Math.round(120 * active)},70%,60%)"></i></td>`;
  const isWasteful = global.requests > 0 && global.bytes < 16 * global.sectors;
  const cells = [
    cell(number > 0 ? String(number) : ''),
    cell(String(line.executed.warps)),
    bar,
    cell(line.executed.warps > 0 ? short(32 * active) : '', active < 0.5),
    cell(global.requests > 0 ? short(global.sectors / global.requests) : ''),
    cell(global.requests > 0 ? percent(global.bytes, 32 * global.sectors) : '', isWasteful),
    cell(shared.requests > 0 ? short(shared.wavefronts / shared.requests) : '', shared.wavefronts > shared.leastWavefronts),
    cell(flopsIn(line) > 0 ? String(flopsIn(line)) : ''),
  ];
  return `<tr>${cells.join('')}${code}</tr>`;
}

const cell = (text: string, isLow = false): string => `<td${isLow && text !== '' ? ' class="low"' : ''}>${escaped(text)}</td>`;

// ── the roofline ──

const plot = { width: 560, height: 300, left: 70, bottom: 40, top: 20, right: 20 };

/** The plot: operations per second over operations per byte, both logarithmic. */
function rooflinePlot({ roof, peak, uncached, cached }: OnRoof): string {
  const ridge = peak / roof.bandwidth;
  const [low, high] = [Math.min(uncached.intensity, ridge) / 10, Math.max(cached.intensity, ridge) * 10];
  const [floor, top] = [low * roof.bandwidth, peak * 2];
  const x = (value: number): number => scale(value, low, high, plot.left, plot.width - plot.right);
  const y = (value: number): number => scale(value, floor, top, plot.height - plot.bottom, plot.top);
  const roofLine = [
    [low, low * roof.bandwidth],
    [ridge, peak],
    [high, peak],
  ] as const;
  const path = roofLine.map(([i, p]) => `${x(i).toFixed(1)},${y(p).toFixed(1)}`).join(' ');
  const dot = ({ intensity, most }: Position, name: string): string =>
    `<circle cx="${x(intensity).toFixed(1)}" cy="${y(most).toFixed(1)}" r="5" fill="#c33"><title>${escaped(`${name}: ${short(intensity)} operations per byte, at most ${scaled(most)}FLOP/s`)}</title></circle>`;
  const between = `<polyline fill="none" stroke="#c33" stroke-width="2" points="${[uncached, cached].map(({ intensity, most }) => `${x(intensity).toFixed(1)},${y(most).toFixed(1)}`).join(' ')}"/>`;
  return `<svg width="${plot.width}" height="${plot.height}" role="img" aria-label="roofline">
<polyline fill="none" stroke="#246" stroke-width="2" points="${path}"/>
${ticks(low, high)
  .map((at) => tickX(at, x(at)))
  .join('')}
${ticks(floor, top)
  .map((at) => tickY(at, y(at)))
  .join('')}
${between}${dot(uncached, 'without caching')}${dot(cached, 'perfect caching')}
<text x="${plot.left}" y="${plot.top - 6}">${escaped(`${roof.name}: ${scaled(roof.flops)}FLOP/s, ${scaled(roof.bandwidth)}B/s`)}</text>
<text x="${plot.width - plot.right}" y="${plot.height - 4}" text-anchor="end">operations per byte</text>
</svg>
<p><small>${escaped(roof.source)}</small></p>`;
}

const scale = (value: number, low: number, high: number, from: number, to: number): number =>
  from + ((to - from) * Math.log(value / low)) / Math.log(high / low);

/** Powers of ten between two numbers. */
function ticks(low: number, high: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => 10 ** (first + i));
}

const tickX = (at: number, x: number): string =>
  `<line x1="${x.toFixed(1)}" x2="${x.toFixed(1)}" y1="${plot.top}" y2="${plot.height - plot.bottom}" stroke="#ddd"/><text x="${x.toFixed(1)}" y="${plot.height - plot.bottom + 14}" text-anchor="middle">${short(at)}</text>`;
const tickY = (at: number, y: number): string =>
  `<line x1="${plot.left}" x2="${plot.width - plot.right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" stroke="#ddd"/><text x="${plot.left - 6}" y="${(y + 4).toFixed(1)}" text-anchor="end">${escaped(scaled(at))}FLOP/s</text>`;
