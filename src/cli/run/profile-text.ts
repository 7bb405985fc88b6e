/** A profile for people at a terminal, and for programs. */
import type { SourceFile } from '../../base/source.ts';
import type { GlobalAccesses, Profile, ProfileCounts, ProfileLine, SharedAccesses } from '../../device/profile.ts';
import { flopsIn, movedBytes, type OnRoof, type Position } from './roofline.ts';

const kinds = ['load', 'store', 'atomic'] as const;

/** A number with few digits: `0.25`, `4`, `1234`. */
export const short = (value: number): string => String(Number(value >= 1000 ? value.toFixed(0) : value.toPrecision(3)));

/** `12.5 G`: a rate with the letter of a thousand's power. */
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

/** Threads of a warp that take part, on average. */
export const activeLanes = ({ executed }: ProfileCounts): number => (executed.warps === 0 ? 0 : executed.lanes / executed.warps);

/** All accesses of global memory of a line, as one. */
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

/** All accesses of shared memory of a line, as one. */
export function allShared({ shared }: ProfileCounts): SharedAccesses {
  const sum = (name: keyof SharedAccesses): number => kinds.reduce((all, kind) => all + shared[kind][name], 0);
  return { requests: sum('requests'), lanes: sum('lanes'), wavefronts: sum('wavefronts'), leastWavefronts: sum('leastWavefronts') };
}

/** What is said of a launch as a whole, a sentence each. */
export function summaryLines(profile: Profile, on: OnRoof | undefined): string[] {
  const { total, warps, grid, block, footprint } = profile;
  const { executed, branches } = total;
  const global = kinds.flatMap((kind) => (total.global[kind].requests > 0 ? [globalLine(kind, total.global[kind])] : []));
  const shared = kinds.flatMap((kind) => (total.shared[kind].requests > 0 ? [sharedLine(kind, total.shared[kind])] : []));
  const parted = branches.executed > 0 ? `, ${branches.diverged} of ${branches.executed} branches parted a warp` : '';
  return [
    `${warps} warps, grid ${grid.join(' x ')}, block ${block.join(' x ')}`,
    `${executed.warps} instructions of warps, ${executed.lanes} of threads: ${short(activeLanes(total))} of 32 active on average${parted}`,
    ...global,
    ...shared,
    ...flopLines(total, footprint),
    ...(on ? roofLines(on, total.flops.f64) : []),
  ];
}

const globalLine = (kind: string, { requests, bytes, sectors, lines, leastSectors }: GlobalAccesses): string =>
  `global ${kind}s: ${requests} of warps, ${short(sectors / requests)} sectors in ${short(lines / requests)} lines each (${short(leastSectors / requests)} sectors would do), ${percent(bytes, 32 * sectors)} of the bytes used`;

const sharedLine = (kind: string, { requests, wavefronts, leastWavefronts }: SharedAccesses): string =>
  `shared ${kind}s: ${requests} of warps, ${short(wavefronts / requests)} steps each, ${wavefronts - leastWavefronts} steps in all by bank conflicts`;

function flopLines(total: ProfileCounts, { read, written }: Profile['footprint']): string[] {
  const { f16, f32, f64 } = total.flops;
  const widths = [f16 && `${f16} of 16 bits`, f32 && `${f32} of 32 bits`, f64 && `${f64} of 64 bits`].filter((each) => each !== 0);
  const moved = movedBytes(total);
  const bytes = `global memory: ${read} bytes read and ${written} written at all, ${moved} bytes of sectors asked for`;
  if (widths.length === 0) return [bytes];
  const flops = flopsIn(total);
  const range = moved > 0 ? `; ${short(flops / moved)} to ${short(flops / (read + written))} operations a byte` : '';
  return [`floating-point operations: ${widths.join(', ')}`, `${bytes}${range}`];
}

function roofLines({ roof, peak, uncached, cached }: OnRoof, doubles: number): string[] {
  const at = ({ most, bound }: Position): string => `${scaled(most)}FLOP/s (${percent(most, peak)} of its peak, bound by ${bound})`;
  const left = doubles > 0 && roof.doubles === undefined ? ['its doubles are left out, which the device does not have'] : [];
  return [
    `roofline of ${roof.name} (${scaled(roof.flops)}FLOP/s, ${scaled(roof.bandwidth)}B/s): at most ${at(cached)} with everything cached, ${at(uncached)} with nothing`,
    ...left,
  ];
}

/** Lines of a table that are shown; of longer ones the most executed. */
const mostLines = 100;

/** The whole profile as text. */
export function profileText(profile: Profile, source: SourceFile | undefined, on: OnRoof | undefined): string {
  const shown = hottest(profile.lines);
  const head = ['line', 'warps', 'active', 'sectors', 'used', 'steps', 'flops', ''];
  const rows = shown.map((line) => rowOf(line, source));
  const widths = head.map((word, i) => Math.max(word.length, ...rows.map((row) => row[i]!.length)));
  const text = (row: readonly string[]): string =>
    `  ${row.map((cell, i) => (i === row.length - 1 ? cell : cell.padStart(widths[i]!))).join('  ')}`.trimEnd();
  const mix = Object.entries(profile.operations).filter(([, { warps }]) => warps > 0);
  const all = mix.reduce((sum, [, { warps }]) => sum + warps, 0);
  const rest = profile.lines.length - shown.length;
  return [
    `profile of ${profile.kernel}`,
    ...summaryLines(profile, on).map((line) => `  ${line}`),
    `  operations: ${mix.map(([name, { warps }]) => `${name} ${percent(warps, all)}`).join(', ')}`,
    '',
    text(head),
    ...rows.map(text),
    ...(rest > 0 ? [`  … ${rest} lines that warps came to less often`] : []),
    '',
  ].join('\n');
}

function hottest(lines: readonly ProfileLine[]): readonly ProfileLine[] {
  if (lines.length <= mostLines) return lines;
  const least = [...lines].sort((a, b) => b.executed.warps - a.executed.warps)[mostLines - 1]!.executed.warps;
  return lines.filter(({ executed }) => executed.warps >= least).slice(0, mostLines);
}

function rowOf(line: ProfileLine, source: SourceFile | undefined): string[] {
  const [global, shared] = [allGlobal(line), allShared(line)];
  const text = line.line > 0 ? (source?.line(line.line).trim().replace(/\s+/g, ' ') ?? '') : 'what has no line';
  return [
    line.line > 0 ? String(line.line) : '',
    String(line.executed.warps),
    line.executed.warps > 0 ? short(activeLanes(line)) : '',
    global.requests > 0 ? short(global.sectors / global.requests) : '',
    global.requests > 0 ? percent(global.bytes, 32 * global.sectors) : '',
    shared.requests > 0 ? short(shared.wavefronts / shared.requests) : '',
    flopsIn(line) > 0 ? String(flopsIn(line)) : '',
    text,
  ];
}

/** The profile as a value of JSON. */
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
