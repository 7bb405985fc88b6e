/** A profile as a table and as JSON. */
import { readableName } from '../../base/demangle/index.ts';
import { printable } from '../../base/printable.ts';
import type { SourceFile } from '../../base/source.ts';
import type { GlobalAccesses, Profile, ProfileCounts, ProfileLine, SharedAccesses } from '../../device/profile.ts';
import { columnLines } from '../terminal/columns.ts';
import { flopsIn, movedBytes, type OnRoof, type Position } from './roofline.ts';

const kinds = ['load', 'store', 'atomic'] as const;

/** A number with few digits: `0.25`, `4`, `1234`. */
export const short = (value: number): string => String(Number(value >= 1000 ? value.toFixed(0) : value.toPrecision(3)));

/** `12.5 G`: a rate with an SI prefix. */
export function scaled(value: number): string {
  const letters = ['', 'k', 'M', 'G', 'T', 'P'];
  let power = 0;
  let left = value;
  while (left >= 1000 && power < letters.length - 1) {
    left /= 1000;
    power++;
  }
  return `${short(left)} ${letters[power]}`;
}

export const percent = (part: number, of: number): string => (of === 0 ? '-' : `${short((100 * part) / of)} %`);

/** The average number of active threads of a warp. */
export const activeLanes = ({ executed }: ProfileCounts): number => (executed.warps === 0 ? 0 : executed.lanes / executed.warps);

/** The sum of all global memory accesses of a line. */
export function allGlobal({ global }: ProfileCounts): GlobalAccesses {
  const sum = (name: keyof GlobalAccesses): number => kinds.reduce((all, kind) => all + global[kind][name], 0);
  return {
    requests: sum('requests'),
    lanes: sum('lanes'),
    bytes: sum('bytes'),
    sectors: sum('sectors'),
    lines: sum('lines'),
    leastSectors: sum('leastSectors'),
  };
}

/** The sum of all shared memory accesses of a line. */
export function allShared({ shared }: ProfileCounts): SharedAccesses {
  const sum = (name: keyof SharedAccesses): number => kinds.reduce((all, kind) => all + shared[kind][name], 0);
  return { requests: sum('requests'), lanes: sum('lanes'), wavefronts: sum('wavefronts'), leastWavefronts: sum('leastWavefronts') };
}

/** The summary of a launch, one line each. */
export function summaryLines(profile: Profile, on: OnRoof | undefined): string[] {
  const { total, warps, grid, block, footprint } = profile;
  const { launches = 1 } = profile as { readonly launches?: number };
  const { executed, branches } = total;
  const global = kinds.flatMap((kind) => (total.global[kind].requests > 0 ? [globalLine(kind, total.global[kind])] : []));
  const shared = kinds.flatMap((kind) => (total.shared[kind].requests > 0 ? [sharedLine(kind, total.shared[kind])] : []));
  const divergent =
    branches.executed > 0
      ? [`divergent branches: ${branches.diverged} of ${branches.executed} (${percent(branches.diverged, branches.executed)})`]
      : [];
  return [
    `${launches > 1 ? `${launches} launches, the first with ` : ''}grid ${grid.join(' x ')}, block ${block.join(' x ')}, ${warps} warps`,
    `executed instructions: ${executed.warps} by warps, ${executed.lanes} by threads`,
    `active threads: ${short(activeLanes(total))} of 32 on average`,
    ...divergent,
    ...global,
    ...shared,
    ...flopLines(total, footprint),
    ...(on ? roofLines(on, total.flops.f64) : []),
  ];
}

const globalLine = (kind: string, { requests, bytes, sectors, lines, leastSectors }: GlobalAccesses): string =>
  `global ${kind}s: ${requests} requests, ${short(sectors / requests)} sectors and ${short(lines / requests)} cache lines per request (minimum ${short(leastSectors / requests)} sectors), ${percent(bytes, 32 * sectors)} of the fetched bytes used`;

const sharedLine = (kind: string, { requests, wavefronts, leastWavefronts }: SharedAccesses): string =>
  `shared ${kind}s: ${requests} requests, ${short(wavefronts / requests)} wavefronts per request, ${wavefronts - leastWavefronts} wavefronts due to bank conflicts`;

function flopLines(total: ProfileCounts, { read, written }: Profile['footprint']): string[] {
  const { f16, f32, f64 } = total.flops;
  const widths = [f16 && `${f16} f16`, f32 && `${f32} f32`, f64 && `${f64} f64`].filter((each) => each !== 0);
  const moved = movedBytes(total);
  const bytes = `global memory: ${read} distinct bytes read, ${written} written; ${moved} bytes of sectors requested`;
  if (widths.length === 0) return [bytes];
  const flops = flopsIn(total);
  const range = moved > 0 ? `; ${short(flops / moved)} to ${short(flops / (read + written))} operations per byte` : '';
  return [`floating-point operations: ${widths.join(', ')}`, `${bytes}${range}`];
}

function roofLines({ roof, peak, uncached, cached }: OnRoof, doubles: number): string[] {
  const at = ({ most, bound }: Position): string => `${scaled(most)}FLOP/s (${percent(most, peak)} of peak, ${bound} bound)`;
  const left =
    doubles > 0 && roof.doubles === undefined
      ? ['double-precision operations are excluded from the roofline: the device has no double precision']
      : [];
  return [
    `roofline of ${roof.name} (${scaled(roof.flops)}FLOP/s, ${scaled(roof.bandwidth)}B/s): at most ${at(cached)} with perfect caching, ${at(uncached)} without caching`,
    ...left,
  ];
}

/** The maximum number of lines in the table; the most executed ones are shown. */
const maxLines = 100;

/** What is shown of a line: its number and its text. */
export interface LineText {
  readonly number: string;
  readonly text: string;
}

const lineText = ({ line }: ProfileLine, source: SourceFile | undefined): LineText => ({
  number: line > 0 ? String(line) : '',
  text: line > 0 ? (source?.line(line) ?? '') : '(no line)',
});

/** The whole profile as text. */
export function profileText(
  profile: Profile,
  source: SourceFile | undefined,
  on: OnRoof | undefined,
  show: (line: ProfileLine) => LineText = (line) => lineText(line, source),
): string {
  const shown = hottest(profile.lines);
  const head = ['line', 'warps', 'active', 'sectors', 'used', 'wavefronts', 'flops', ''];
  const rows = shown.map((line) => rowOf(line, show(line)));
  const lines = columnLines([head, ...rows], () => 'end').map((line) => `  ${line}`);
  const mix = Object.entries(profile.operations).filter(([, { warps }]) => warps > 0);
  const all = mix.reduce((sum, [, { warps }]) => sum + warps, 0);
  const rest = profile.lines.length - shown.length;
  return [
    `profile of ${readableName(profile.kernel)}`,
    ...summaryLines(profile, on).map((line) => `  ${line}`),
    `  operations: ${mix.map(([name, { warps }]) => `${name} ${percent(warps, all)}`).join(', ')}`,
    '',
    ...lines,
    ...(rest > 0 ? [`  … ${rest} less executed lines`] : []),
    '',
  ]
    .map(printable)
    .join('\n');
}

function hottest(lines: readonly ProfileLine[]): readonly ProfileLine[] {
  if (lines.length <= maxLines) return lines;
  const least = [...lines].sort((a, b) => b.executed.warps - a.executed.warps)[maxLines - 1]!.executed.warps;
  return lines.filter(({ executed }) => executed.warps >= least).slice(0, maxLines);
}

function rowOf(line: ProfileLine, { number, text }: LineText): string[] {
  const [global, shared] = [allGlobal(line), allShared(line)];
  return [
    number,
    String(line.executed.warps),
    line.executed.warps > 0 ? short(activeLanes(line)) : '',
    global.requests > 0 ? short(global.sectors / global.requests) : '',
    global.requests > 0 ? percent(global.bytes, 32 * global.sectors) : '',
    shared.requests > 0 ? short(shared.wavefronts / shared.requests) : '',
    flopsIn(line) > 0 ? String(flopsIn(line)) : '',
    text.trim().replace(/\s+/g, ' '),
  ];
}

/** The profile as a JSON value. */
export function profileJson(profile: Profile, on: OnRoof | undefined): object {
  const { total, lines, ...rest } = profile;
  const roofline = on && {
    device: on.roof.name,
    peak_flops: on.peak,
    bandwidth: on.roof.bandwidth,
    source: on.roof.source,
    uncached: on.uncached,
    cached: on.cached,
  };
  return { ...rest, moved_bytes: movedBytes(total), roofline: roofline ?? null, total, lines };
}
