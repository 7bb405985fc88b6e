/** A profile as a self-contained HTML page: key figures, the roofline, a heat map, and the source beside the costs of each line. */
import { readableName } from '../../base/demangle/index.ts';
import { printable } from '../../base/printable.ts';
import type { SourceFile } from '../../base/source.ts';
import type { Profile, ProfileLine } from '../../device/profile.ts';
import { originLine } from '../terminal/origin.ts';
import { rooflinePlot } from './profile-plot.ts';
import { script, style } from './profile-style.ts';
import { activeLanes, allGlobal, allShared, percent, scaled, short, summaryLines } from './profile-text.ts';
import { flopsIn, movedBytes, type OnRoof } from './roofline.ts';

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => printable(text).replace(/[&<>"']/g, (found) => escapes[found]!);

/** The page. `note`: what is said of the launch, first and last. */
export function profileHtml(profile: Profile, source: SourceFile | undefined, on: OnRoof | undefined, note?: string): string {
  const name = escaped(readableName(profile.kernel));
  const banner = note === undefined ? '' : `<p class="note">${escaped(note)}</p>`;
  const shape = `grid ${profile.grid.join(' x ')}, block ${profile.block.join(' x ')}, ${profile.warps} warps`;
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>profile of ${name}</title><style>${style}</style></head><body><main>
<header><h1>Profile of ${name}</h1><button id="theme" type="button">light or dark</button></header>
<p class="sub">${escaped(shape)}</p>
${banner}
<div class="cards">${cards(profile).join('')}</div>
<h2>Instructions</h2>
${mixBar(profile)}
<div class="two"><section><h2>Roofline</h2><div class="panel">${on ? rooflinePlot(on, escaped) : 'No floating-point operations, or no accesses of global memory.'}</div></section>
<section><h2>Figures</h2><div class="panel"><ul>${summaryLines(profile, on)
    .slice(1)
    .map((line) => `<li>${escaped(line)}</li>`)
    .join('\n')}</ul></div></section></div>
${lines(profile, source)}
${banner}
</main><script>${script}</script></body></html>
`;
}

// ── figures ──

const card = (value: string, what: string, isLow = false): string =>
  `<div class="card"><b${isLow ? ' class="low"' : ''}>${escaped(value)}</b><span>${escaped(what)}</span></div>`;

function cards({ total }: Profile): string[] {
  const [global, shared] = [allGlobal(total), allShared(total)];
  const { executed, branches } = total;
  return [
    card(scaled(executed.warps).trim(), 'instructions by warps'),
    card(`${short(activeLanes(total))} / 32`, 'active threads of a warp', activeLanes(total) < 16),
    ...(branches.executed > 0
      ? [card(percent(branches.diverged, branches.executed), 'branches diverge', branches.diverged > 0.25 * branches.executed)]
      : []),
    ...(global.requests > 0
      ? [card(percent(global.bytes, 32 * global.sectors), 'of fetched bytes used', global.bytes < 16 * global.sectors)]
      : []),
    ...(shared.requests > 0
      ? [card(String(shared.wavefronts - shared.leastWavefronts), 'bank conflicts', shared.wavefronts > shared.leastWavefronts)]
      : []),
    ...(flopsIn(total) > 0 ? [card(scaled(flopsIn(total)).trim(), 'floating-point operations')] : []),
    ...(movedBytes(total) > 0 ? [card(`${scaled(movedBytes(total))}B`, 'moved from and to memory')] : []),
  ];
}

/** The classes of operations as one bar with its key. */
function mixBar({ operations }: Profile): string {
  const mix = Object.entries(operations)
    .filter(([, { warps }]) => warps > 0)
    .sort(([, a], [, b]) => b.warps - a.warps);
  const all = mix.reduce((sum, [, { warps }]) => sum + warps, 0);
  const color = (i: number): string => `hsl(${(215 + 47 * i) % 360} 55% ${48 + 6 * (i % 3)}%)`;
  const bars = mix.map(([, { warps }], i) => `<i style="width:${((100 * warps) / all).toFixed(2)}%;background:${color(i)}"></i>`);
  const keys = mix.map(
    ([name, { warps }], i) => `<span><i style="background:${color(i)}"></i>${escaped(`${name} ${percent(warps, all)}`)}</span>`,
  );
  return `<div class="mix">${bars.join('')}</div><div class="keys">${keys.join('')}</div>`;
}

// ── lines ──

/** The columns after the line: their names, what they count, and their widths in pixels. */
const columns = [
  ['warps', 'executions by warps', 76],
  ['active', 'active threads of a warp', 58],
  ['sectors', 'sectors of global memory per request', 64],
  ['used', 'share of the fetched bytes that is used', 62],
  ['waves', 'wavefronts of shared memory per request', 58],
  ['flops', 'floating-point operations', 82],
] as const;

function lines(profile: Profile, source: SourceFile | undefined): string {
  const maxWarps = Math.max(1, ...profile.lines.map(({ executed }) => executed.warps));
  const counted = new Map(profile.lines.map((line) => [line.line, line]));
  const numbers = profile.lines.map(({ line }) => line).filter((line) => line > 0);
  const [first, last] = [Math.min(...numbers), Math.max(...numbers)];
  const wanted = source && numbers.length > 0 ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : numbers;
  const shown = [...(counted.has(0) ? [0] : []), ...wanted];
  const hasOrigin = profile.lines.some((line) => line.source !== undefined);
  const rows = shown.map((line) => rowOf(line, counted.get(line), { source, maxWarps, hasOrigin }));
  const head = columns.map(
    ([name, doc, width]) => `<th style="width:${width}px" title="${escaped(doc)}"><button type="button">${name}</button></th>`,
  );
  const origin = hasOrigin ? '<th class="code" style="width:24%">source</th>' : '';
  return `<h2>Lines</h2>
<div class="heatmap" role="img" aria-label="executions by line">${shown.map((line) => cellOfHeatmap(line, counted.get(line), maxWarps)).join('')}</div>
<h2></h2>
<table id="lines"><thead><tr><th style="width:66px" aria-sort="ascending"><button type="button">line</button></th>${head.join('')}<th style="width:92px">heat</th><th class="code">${source ? 'PTX' : 'instruction'}</th>${origin}</tr></thead><tbody>
${rows.join('\n')}
</tbody></table>`;
}

const heat = (share: number): string => `color-mix(in oklab,var(--heat) ${(100 * share).toFixed(0)}%,transparent)`;

function cellOfHeatmap(number: number, line: ProfileLine | undefined, maxWarps: number): string {
  const share = (line?.executed.warps ?? 0) / maxWarps;
  const title = number > 0 ? `line ${number}: ${line?.executed.warps ?? 0} warps` : 'no line';
  return `<a href="#L${number}" title="${title}" style="background:${heat(share)}"></a>`;
}

interface Around {
  readonly source: SourceFile | undefined;
  readonly maxWarps: number;
  readonly hasOrigin: boolean;
}

function rowOf(number: number, line: ProfileLine | undefined, { source, maxWarps, hasOrigin }: Around): string {
  const text = number === 0 ? '(no line)' : (source?.line(number) ?? '').replace(/\t/g, '  ').trimEnd();
  const place = line ? cell(number > 0 ? String(number) : '', number) : `<td data-v="${number}">${number}</td>`;
  const code = `<td class="code">${escaped(text)}</td>${hasOrigin ? `<td class="code origin">${escaped(originText(number, line, source))}</td>` : ''}`;
  if (!line) return `<tr class="cold" id="L${number}">${place}${'<td></td>'.repeat(columns.length)}<td class="bar"></td>${code}</tr>`;
  const [global, shared] = [allGlobal(line), allShared(line)];
  const share = line.executed.warps / maxWarps;
  const active = activeLanes(line);
  const isWasteful = global.requests > 0 && global.bytes < 16 * global.sectors;
  const sectors = global.sectors / global.requests;
  const waves = shared.wavefronts / shared.requests;
  const cells = [
    place,
    cell(String(line.executed.warps), line.executed.warps),
    line.executed.warps > 0 ? cell(short(active), active, active < 16) : cell(''),
    global.requests > 0 ? cell(short(sectors), sectors) : cell(''),
    global.requests > 0 ? cell(percent(global.bytes, 32 * global.sectors), global.bytes / (32 * global.sectors), isWasteful) : cell(''),
    shared.requests > 0 ? cell(short(waves), waves, shared.wavefronts > shared.leastWavefronts) : cell(''),
    flopsIn(line) > 0 ? cell(String(flopsIn(line)), flopsIn(line)) : cell(''),
    `<td class="bar" title="${short(active)} of 32 threads active"><i style="width:${(100 * share).toFixed(1)}%;background:${heat(0.25 + 0.75 * share)}"></i></td>`,
  ];
  return `<tr id="L${number}">${cells.join('')}${code}</tr>`;
}

/** The text of the line that an instruction was compiled from, if there is that text, otherwise its place. */
function originText(number: number, line: ProfileLine | undefined, source: SourceFile | undefined): string {
  const origin = source && line ? originLine(source, number) : undefined;
  if (!origin) return line?.source ?? '';
  return `${origin.line}  ${origin.text.trim()}`;
}

const cell = (text: string, value?: number, isLow = false): string =>
  `<td${value === undefined ? '' : ` data-v="${value}"`}${isLow ? ' class="low"' : ''}>${escaped(text)}</td>`;
