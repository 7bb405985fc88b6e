/**
 * How the time to compile grows with the size of a file: `npm run bench -- growth FOLDER… [--target T] [--rounds N] [--worst N] [--svg FILE] [--log FILE]`.
 * Every `.ptx` file below the folders is compiled in one process that has compiled some before, and the median of its processor times (all threads)
 * is held against its bytes and its instructions. The slope of the logarithms is 1 where time grows as the size does. Files that do not
 * compile are counted by diagnostic; `--worst` names those that take the longest for their size, and `--log` writes each time as it is taken.
 */
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { Diagnostics } from '../src/base/diagnostic.ts';
import { SourceFile } from '../src/base/source.ts';
import { compile } from '../src/compile/index.ts';
import { type Instruction, parse, type Statement } from '../src/ptx/index.ts';
import { type Grown, growthChart } from './growth-chart.ts';
import { median } from './report.ts';
import { type Slope, slopeOf } from './statistics.ts';

/** At most this slope is linear growth. */
const bar = 1.05;
/** As of this size, what a file of any size costs does not matter. */
const largeBytes = 65_536;
/** Files below this size are compiled once before anything is measured. */
const warmBytes = 100_000;
/** A file that takes so many milliseconds is measured once: what else the machine does changes its time by little. */
const longMs = 1000;
/** Garbage is collected, unmeasured, after so many bytes of text. */
const collectedBytes = 200_000;

interface Wanted {
  readonly folders: readonly string[];
  readonly target: string;
  readonly rounds: number;
  readonly worst: number;
  readonly svg: string | undefined;
  readonly log: string | undefined;
}

/** Measures and prints; whether growth is linear, or undefined where the words are wrong. */
export function growth(words: readonly string[]): boolean | undefined {
  const wanted = wantedOf(words);
  if (!wanted) {
    console.error('usage: npm run bench -- growth FOLDER… [--target T] [--rounds N] [--worst N] [--svg FILE] [--log FILE]');
    return undefined;
  }
  const refused = new Map<string, string[]>();
  const all = measured(wanted, refused);
  console.log(
    `cumetal build, ${wanted.target}, in one process: median processor time of ${wanted.rounds} rounds for ${all.length} files\n`,
  );
  console.log(bySize(all));
  const large = all.filter(({ bytes }) => bytes >= largeBytes);
  const slopes = [
    ['time against bytes', slopeAgainst(all, 'bytes')],
    ['time against instructions', slopeAgainst(all, 'instructions')],
    [`time against bytes, as of ${largeBytes / 1024} KiB`, slopeAgainst(large, 'bytes')],
    [`time against instructions, as of ${largeBytes / 1024} KiB`, slopeAgainst(large, 'instructions')],
  ] as const;
  for (const [what, each] of slopes) if (!Number.isNaN(each.slope)) console.log(`slope of ${what}: ${slopeText(each)}`);
  for (const line of worstOf(all, wanted.worst)) console.log(line);
  for (const [what, paths] of [...refused].sort((a, b) => b[1].length - a[1].length))
    console.log(`${paths.length} not compiled: ${what}, as ${paths[0]}`);
  if (wanted.svg !== undefined) writeFileSync(wanted.svg, growthChart(all, slopes[0][1]));
  // Too few large files have no slope.
  return slopes.every(([, { slope }]) => !(slope > bar));
}

function wantedOf(words: readonly string[]): Wanted | undefined {
  const named = (name: string): string | undefined => (words.includes(name) ? words[words.indexOf(name) + 1] : undefined);
  const [rounds, worst] = [Number(named('--rounds') ?? 3), Number(named('--worst') ?? 0)];
  const folders = words.filter((word, i) => !word.startsWith('--') && !(words[i - 1] ?? '').startsWith('--'));
  if (folders.length === 0 || !(rounds >= 1) || !(worst >= 0)) return undefined;
  return { folders, target: named('--target') ?? 'macos15', rounds, worst, svg: named('--svg'), log: named('--log') };
}

function filesBelow(folder: string): string[] {
  return [...new Glob('**/*.ptx').scanSync({ cwd: folder })].map((path) => join(folder, path)).sort();
}

/**
 * Compiles every file in rounds, the small ones first; those that do not compile are noted by what the first error says. A round before
 * has the engine optimize the compiler, without which small files would seem to take long.
 */
function measured({ folders, target, rounds, log }: Wanted, refused: Map<string, string[]>): Grown[] {
  const times = new Map<string, number[]>();
  const all = folders.flatMap(filesBelow).map((path) => ({ path, bytes: statSync(path).size }));
  const files = all.sort((a, b) => a.bytes - b.bytes);
  let since = 0;
  for (let round = 0; round <= rounds; round++)
    for (const { path, bytes } of files) {
      if ((round === 0 && bytes >= warmBytes) || isIn(refused, path) || (times.get(path)?.[0] ?? 0) > longMs) continue;
      const time = timeOf(path, target);
      if (log !== undefined) appendFileSync(log, `${round}\t${bytes}\t${time}\t${path}\n`);
      if (typeof time === 'string') refused.set(time, [...(refused.get(time) ?? []), path]);
      else if (round > 0) times.set(path, [...(times.get(path) ?? []), time]);
      since += bytes;
      if (since < collectedBytes) continue;
      Bun.gc(true);
      since = 0;
    }
  return files
    .filter(({ path }) => times.has(path))
    .map(({ path, bytes }) => ({ path, bytes, instructions: instructionsOf(path), ms: median(times.get(path)!) }));
}

const isIn = (lists: ReadonlyMap<string, readonly string[]>, path: string): boolean =>
  [...lists.values()].some((each) => each.includes(path));

/** Milliseconds of processor time of this process, its collector and its compiler; the first error where the file does not compile. */
function timeOf(path: string, target: string): number | string {
  const source = new SourceFile(path, readFileSync(path, 'latin1'));
  const diagnostics = new Diagnostics(source);
  const start = process.cpuUsage();
  const compiled = compile(source, { target: target as 'cpu' }, diagnostics);
  const { user, system } = process.cpuUsage(start);
  if (compiled) return (user + system) / 1000;
  const first = diagnostics.sorted().find(({ severity }) => severity === 'error');
  return first ? `${first.code} ${first.message}` : 'no diagnostic';
}

/** Instructions of a file, with those of functions. */
function instructionsOf(path: string): number {
  const source = new SourceFile(path, readFileSync(path, 'latin1'));
  const count = (body: readonly Statement[]): number =>
    body.reduce((sum, each) => sum + (each.kind === 'block' ? count(each.body) : isInstruction(each) ? 1 : 0), 0);
  return parse(source, new Diagnostics(source)).items.reduce(
    (sum, item) => sum + (item.kind === 'function' ? count(item.body ?? []) : 0),
    0,
  );
}

const isInstruction = (statement: Statement): statement is Instruction => statement.kind === 'instruction';

const slopeAgainst = (files: readonly Grown[], size: 'bytes' | 'instructions'): Slope =>
  slopeOf(files.filter((each) => each[size] > 0).map((each) => [each[size], each.ms]));

const slopeText = ({ slope, low, high }: Slope): string =>
  `${slope.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)}), ${slope <= bar ? 'of' : 'NOT of'} at most ${bar}`;

/** A table with a row for each factor of four in size. */
function bySize(all: readonly Grown[]): string {
  const groups = new Map<number, Grown[]>();
  for (const file of all) {
    const power = Math.max(-1, Math.floor(Math.log2(file.bytes / 1024) / 2));
    groups.set(power, [...(groups.get(power) ?? []), file]);
  }
  const rows = [...groups].sort(([a], [b]) => a - b);
  const kib = (power: number): string => (power < 0 ? '0' : `${4 ** power}`);
  const middle = (files: readonly Grown[], of: (file: Grown) => number): string => median(files.map(of)).toFixed(1);
  const lines = rows.map(
    ([power, files]) =>
      `| ${kib(power)} to ${kib(power + 1)} KiB | ${files.length} | ${middle(files, ({ ms }) => ms)} | ` +
      `${middle(files, ({ ms, bytes }) => (1024 * ms) / bytes)} | ${middle(files, ({ ms, instructions }) => (1000 * ms) / instructions)} |`,
  );
  return `| file | files | median, ms | ms for each KiB | µs for each instruction |\n| --- | ---: | ---: | ---: | ---: |\n${lines.join('\n')}\n`;
}

/** The files that take the longest beside others of their size. */
function worstOf(all: readonly Grown[], count: number): string[] {
  const { slope, factor } = slopeAgainst(all, 'bytes');
  const times = ({ ms, bytes }: Grown): number => ms / (factor * bytes ** slope);
  return [...all]
    .sort((a, b) => times(b) - times(a))
    .slice(0, count)
    .map(
      (file) =>
        `${times(file).toFixed(1)} of the time of its size: ${file.path}, ${file.bytes} bytes, ${file.instructions} instructions, ${file.ms.toFixed(0)} ms`,
    );
}
