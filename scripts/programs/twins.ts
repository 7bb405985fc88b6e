/**
 * Judges programs that print no verdict by the same benchmark for CPUs: sources with OpenMP, compiled by g++ and run with the same arguments.
 *
 *     bun scripts/programs/twins.ts FOLDER RESULTS.json PROGRAMS,… [--suffix=-omp] [--seconds=60] [--most=5] [--out=twins.json]
 *
 * RESULTS.json and PROGRAMS are the results and the caches of `judge.ts`, which keeps what a program printed. Numbers of lines that measure no time
 * have to be the same, one after the other, within 1e-4; such a program is a `twin` in the results that this writes. Programs that ran longer
 * than `--most` seconds are left out. A job of its own.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { writeInputs } from './inputs.ts';
import { recipeOf } from './make.ts';
import { runWords } from './run.ts';
import type { Result } from './table.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    suffix: { type: 'string', default: '-omp' },
    seconds: { type: 'string', default: '60' },
    most: { type: 'string', default: '5' },
    only: { type: 'string' },
    out: { type: 'string', default: 'twins.json' },
  },
});
const [root = '.', resultsPath = 'results.json', caches = '.'] = positionals;
const seconds = Number(values.seconds);
const only = values.only?.split(',');
const results = (JSON.parse(readFileSync(resultsPath, 'utf8')) as Result[]).filter(
  ({ name, stage, runSeconds = 99 }) => stage === 'silent' && (only ? only.includes(name) : runSeconds < Number(values.most)),
);
const work = mkdtempSync(join(tmpdir(), 'twins-'));

const timed =
  /\btimes?\b|timing|seconds?|\b[mun]?secs?\b|\([mun]?s\)|\d\s?[mun]?s\b|[GMK]i?B\/s|bandwidth|speed|throughput|elapsed|flops|\bfps\b|latency|overhead|[GM]?LUPS|\brate\b|\bFOM\b|performance|usage|cycles/i;

/** The numbers of an output that are results. */
export function numbersOf(output: string): number[] {
  const lines = output.split('\n').filter((line) => !timed.test(line));
  return lines.flatMap((line) => [...line.matchAll(/(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w.])/gi)].map(([word]) => Number(word)));
}

/** Whether both print the same numbers, at least one. */
export function isSame(ours: readonly number[], theirs: readonly number[]): boolean {
  const near = (a: number, b: number): boolean => Math.abs(a - b) <= 1e-4 * Math.max(Math.abs(a), Math.abs(b), 1e-3);
  return ours.length > 0 && ours.length === theirs.length && ours.every((n, i) => near(n, theirs[i]!));
}

/** What the program printed in its last run. */
function printed(name: string): string | undefined {
  const pattern = new RegExp(`^${name.replace(/[.+]/g, String.raw`\$&`)}-[0-9a-f]{24}\\.out$`);
  const paths = caches.split(',').flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => pattern.test(file))
      .map((file) => join(folder, file)),
  );
  const path = paths.sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs)[0];
  return path === undefined ? undefined : readFileSync(path, 'utf8');
}

/** What the twin printed, or why there is nothing. */
async function printedByTwin({ name, args = [] }: Result): Promise<{ readonly output?: string; readonly why?: string }> {
  const folder = join(resolve(root), `${name}${values.suffix}`);
  const recipe = existsSync(folder) ? recipeOf(folder, []) : 'there is none';
  if (typeof recipe === 'string') return { why: recipe };
  writeInputs(name, folder);
  const program = join(work, name);
  const flags = [...new Set(recipe.units.flatMap((unit) => unit.flags))].filter((flag) => !flag.startsWith('-std'));
  const options = ['-O2', '-fopenmp', '-foffload=disable', '-std=c++17', '-w', '-fpermissive', ...flags];
  const built = await runWords(['g++', ...options, ...recipe.units.map(({ path }) => path), '-o', program, '-lm'], { seconds: 120 });
  if (built.ending !== 0) return { why: 'g++ does not compile it' };
  const ran = await runWords(['env', 'OMP_NUM_THREADS=2', program, ...args], { cwd: folder, seconds });
  return ran.ending === 0 ? { output: ran.output + ran.errors } : { why: `it ended with ${ran.ending}` };
}

const judged: Result[] = [];
for (const result of results) {
  const own = printed(result.name);
  const { output, why } = own === undefined ? { why: 'no output of ours is kept' } : await printedByTwin(result);
  const same = output !== undefined && isSame(numbersOf(own!), numbersOf(output));
  if (same) judged.push({ ...result, stage: 'twin', reason: '' });
  console.log(
    [same ? 'same' : 'other', result.name.padEnd(24), why ?? `${numbersOf(own!).length} ${numbersOf(output!).length}`].join(' | '),
  );
  writeFileSync(values.out, JSON.stringify(judged, undefined, 1));
}
rmSync(work, { recursive: true, force: true });
process.exit(0);
