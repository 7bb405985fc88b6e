/**
 * Measures CUDA programs of others on the CPU device beside the same benchmark for CPUs:
 *
 *     bun scripts/programs/ratios.ts FOLDER [--only=NAME,…] [--count=30 --seed=1] [--least=2 --most=12] [--jobs=1] [--out=ratios.json]
 *
 * FOLDER is `src` of HeCBench. `NAME-cuda` is compiled by nvcc and run by `cumetal exec` with one thread, with exact and with fast multiply-adds;
 * `NAME-omp` is compiled by `g++ -O3 -fopenmp`, for any machine and for this one, and run with one thread. Names and arguments are those of
 * `docs/hecbench.md`, of programs without libraries that end well there in `--least` to `--most` seconds. A time is processor time of the
 * whole process, the least of two rounds that alternate, behind a first run in each mode, whose code the cache keeps; of one round where
 * that run takes longer than 4 seconds. Programs that do not build, or do not end well, have the reason in its place. Results in `--out` are
 * read again first. Prints the table. A job of its own, which needs nvcc, g++ and a C compiler.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { random as randomNumbers } from '../../spec/support/mutate.ts';
import { writeInputs } from './inputs.ts';
import { type Recipe, recipeOf } from './make.ts';
import { type Measured, ratiosOf } from './ratio-table.ts';
import { command, type Ran, runWords } from './run.ts';
import { verdictOf } from './verdict.ts';

const text = (value: string) => ({ type: 'string', default: value }) as const;
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string' },
    count: text('30'),
    seed: text('1'),
    least: text('2'),
    most: text('12'),
    jobs: text('1'),
    out: text('ratios.json'),
    cache: text('.cache/ratios'),
  },
});
const repository = join(import.meta.dirname, '../..');
const root = resolve(positionals[0] ?? '.');
const cache = resolve(repository, values.cache);

/** A program of the page of results, its arguments, and the seconds that it took. */
interface Listed {
  readonly name: string;
  readonly args: readonly string[];
  readonly took: number;
}

/** Programs of the page that end well without a library, in its order. */
function listed(): Listed[] {
  const page = readFileSync(join(repository, 'docs/hecbench.md'), 'utf8');
  const rows = page.matchAll(/^\| ([\w+.-]+) \| {2}\| (?:pass|twin) \| {2}\| (?:`([^`]*)`)? ?\| ([\d.]+)/gm);
  return [...rows].map(([, name, args = '', took]) => ({
    name: name!,
    args: args.split(' ').filter((word) => word !== ''),
    took: Number(took),
  }));
}

/** The programs to measure, in a random order unless they are named. */
function chosen(): Listed[] {
  const all = listed();
  const only = values.only?.split(',');
  if (only) return only.flatMap((name) => all.find((each) => each.name === name) ?? []);
  const random = randomNumbers(Number(values.seed));
  const isMeant = ({ name, took }: Listed): boolean =>
    took >= Number(values.least) && took <= Number(values.most) && existsSync(join(root, `${name}-omp`));
  const rest = all.filter(isMeant);
  return Array.from({ length: rest.length }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]!);
}

/** Seconds that a program takes by g++ at least. */
const leastSeconds = 0.3;

/** The ways in which a program is run. */
const modes = ['generic', 'native', 'exact', 'fast'] as const;
type Mode = (typeof modes)[number];

/** The sources of a program and their options, without the standard. */
const compiled = ({ units }: Recipe): string[] => [
  ...new Set(units.flatMap(({ flags }) => flags.filter((flag) => !flag.startsWith('-std')))),
  ...units.map(({ path }) => path),
];

/** Builds the CUDA version; why it is not built, otherwise. */
async function buildByNvcc(own: Recipe, to: string): Promise<string | undefined> {
  const words = ['nvcc', '-O3', '-std=c++17', '-w', '-gencode', 'arch=compute_80,code=compute_80', ...compiled(own), '-o', to];
  const { ending } = await runWords(words, { cwd: own.cwd, seconds: 120 });
  return ending === 0 ? undefined : 'nvcc does not compile it';
}

/** Builds the version for OpenMP, for any machine or for this one; why it is not built, otherwise. */
async function buildByGcc(twin: Recipe, to: string, mode: 'generic' | 'native'): Promise<string | undefined> {
  const more = mode === 'native' ? ['-march=native'] : [];
  const words = ['-O3', ...more, '-fopenmp', '-foffload=disable', '-std=c++17', '-w', '-fpermissive', ...compiled(twin)];
  const { ending } = await runWords(['g++', ...words, '-o', `${to}-${mode}`, '-lm'], { cwd: twin.cwd, seconds: 120 });
  return ending === 0 ? undefined : 'g++ does not compile it';
}

/** A program that outlives its device goes on with what its memory held. */
const hasFailed = ({ ending, output, errors }: Ran): boolean =>
  ending !== 0 || verdictOf(output) === 'fail' || errors.includes('the process of the device has ended');

async function measured({ name, args }: Listed): Promise<Measured> {
  const [own, twin] = ['cuda', 'omp'].map((suffix) => recipeOf(join(root, `${name}-${suffix}`), []));
  if (typeof own === 'string' || typeof twin === 'string') return { name, args, why: [own, twin].find((each) => typeof each === 'string') };
  for (const suffix of ['cuda', 'omp']) writeInputs(name, join(root, `${name}-${suffix}`));
  const program = join(cache, name);
  const isOurs = (mode: Mode): boolean => mode === 'exact' || mode === 'fast';
  const wordsOf = (mode: Mode): string[] =>
    isOurs(mode)
      ? [command, 'exec', '--threads', '1', '--fma', mode, program]
      : ['env', 'OMP_NUM_THREADS=1', 'OMP_THREAD_LIMIT=1', `${program}-${mode}`];
  const run = (mode: Mode): Promise<Ran> =>
    runWords([...wordsOf(mode), ...args], { cwd: isOurs(mode) ? own!.cwd : twin!.cwd, seconds: 60 });
  // Most programs end too soon, which is found out at the least cost.
  const whyNotNative = await buildByGcc(twin!, program, 'native');
  if (whyNotNative !== undefined) return { name, args, why: whyNotNative };
  const native = await run('native');
  if (hasFailed(native)) return { name, args, why: `it ends with ${native.ending} as native` };
  // What a process needs to start would be most of ours.
  if (native.seconds < leastSeconds) return { name, args, why: `it ends in less than ${leastSeconds} s by g++` };
  const why = (await buildByNvcc(own!, program)) ?? (await buildByGcc(twin!, program, 'generic'));
  if (why !== undefined) return { name, args, why };
  const first = await run('exact');
  if (hasFailed(first)) return { name, args, why: `it ends with ${first.ending} here` };
  const isLong = first.seconds > 4;
  await run('fast');
  const least: Partial<Record<Mode, number>> = {};
  for (let round = 0; round < (isLong ? 1 : 2); round++)
    for (const mode of modes) {
      const ran = await run(mode);
      if (hasFailed(ran)) return { name, args, why: `it ends with ${ran.ending} as ${mode}` };
      least[mode] = Math.min(least[mode] ?? Number.POSITIVE_INFINITY, ran.seconds);
    }
  if (least.native! < leastSeconds) return { name, args, why: `it ends in less than ${leastSeconds} s by g++` };
  return { name, args, seconds: least as Required<typeof least> };
}

mkdirSync(cache, { recursive: true });
const results = new Map<string, Measured>(
  existsSync(values.out) ? (JSON.parse(readFileSync(values.out, 'utf8')) as Measured[]).map((each) => [each.name, each]) : [],
);
const isDone = (): boolean => !values.only && [...results.values()].filter(({ seconds }) => seconds).length >= Number(values.count);
const rest = chosen().filter(({ name }) => !results.has(name));

async function work(): Promise<void> {
  for (let program = rest.shift(); program && !isDone(); program = rest.shift()) {
    results.set(program.name, await measured(program));
    writeFileSync(values.out, `${JSON.stringify([...results.values()], undefined, 1)}\n`);
  }
}

await Promise.all(Array.from({ length: Number(values.jobs) }, work));
console.log(ratiosOf([...results.values()]));
process.exit(0);
