/**
 * Compiles, runs and judges whole CUDA programs of others, by their own checks, with the commands `cumetal cc` and `cumetal run`:
 *
 *     bun scripts/programs/judge.ts FOLDER [--only=NAME,…] [--sample=COUNT --seed=N] [--not=RESULTS.json] [--needs=none|all] [OPTION]…
 *
 * FOLDER has one folder with a Makefile for each program, as `src` of HeCBench (`--suffix=-cuda` by default) has; with `--form=cmake
 * --suffix=` it has folders of folders with a CMakeLists.txt, as `Samples` of cuda-samples has. Commands of make come from
 * `make -n run`; arguments are cut down for two cores, and smaller ones are tried where a run takes too long. Nothing of FOLDER is changed
 * but what its programs write, and nothing of it belongs to this repository. Results go to `--out=RESULTS.json`, which is read again first:
 * programs whose results are there are not run again but with `--again`. `--table=FILE.md` writes the table of reasons.
 *
 * `--build` compiles and links, and runs nothing; `--built` runs what was linked before, on another machine too. Only programs that check themselves count, all of them with `--exit-code`, which says that
 * an exit code of 0 is a verdict, or with `--all`; and by default only those that need nothing but the CUDA runtime (`--needs=none`).
 * A job of its own: not a spec, and not part of CI. `--seconds=30` is the limit of CPU time of a run, `--jobs=1` the number of programs at a
 * time, `--device=cpu` the device, `--include=FOLDER,…` folders with headers that users bring, such as those of CUB, Thrust and Boost. CUMETAL_COMPILER names an installed clang, which compiles sooner.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { random as randomNumbers } from '../../spec/support/mutate.ts';
import { findSysroot } from '../../src/toolchain/locate.ts';
import { argumentLists } from './arguments.ts';
import { buildProgram, firstError } from './build.ts';
import { cmakeRecipeOf } from './cmake.ts';
import { withoutInputs, writeInputs } from './inputs.ts';
import { keptProgram } from './kept.ts';
import { type Recipe, recipeOf } from './make.ts';
import { needsOf } from './needs.ts';
import { command, type Ran, runWords } from './run.ts';
import { checksOn, printsFailuresOnly, runOptions } from './sizes.ts';
import { sourcesOf } from './sources.ts';
import { type Result, tableOf } from './table.ts';
import { checksItself, verdictOf } from './verdict.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    only: text,
    sample: text,
    seed: { type: 'string', default: '1' },
    not: text,
    needs: { type: 'string', default: 'none' },
    suffix: { type: 'string', default: '-cuda' },
    form: { type: 'string', default: 'make' },
    out: { type: 'string', default: 'results.json' },
    table: text,
    cache: { type: 'string', default: '.cache/programs' },
    seconds: { type: 'string', default: '30' },
    jobs: { type: 'string', default: '1' },
    device: { type: 'string', default: 'cpu' },
    all: flag,
    again: flag,
    list: flag,
    include: text,
    build: flag,
    built: flag,
    'exit-code': flag,
  },
});
const repository = join(import.meta.dirname, '../..');
const root = resolve(positionals[0] ?? '.');
const cache = resolve(repository, values.cache);

interface Program {
  readonly name: string;
  readonly folder: string;
  readonly recipe: Recipe | string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly texts: readonly string[];
  readonly checks: ReturnType<typeof checksItself>;
  readonly needs: readonly string[];
}

const isText = (path: string): boolean => !/\.(txt|dat|tab)$/.test(path);

/** The folder of the Makefile: that of a program, or the one below it. */
function makeFolder(folder: string): string {
  const below = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /^([^/]+\/){0,2}Makefile$/.test(path));
  return below.includes('Makefile') || below.length !== 1 ? folder : join(folder, dirname(below[0]!));
}

/** What a folder builds, by its Makefile or its CMakeLists.txt. */
function recipeIn(folder: string, name: string): Recipe | string {
  const variable = checksOn[name];
  const made = values.form === 'cmake' ? 'none' : recipeOf(makeFolder(folder), ['run', ...(variable ? [variable] : [])]);
  return typeof made === 'string' && (values.form === 'cmake' || existsSync(join(folder, 'CMakeLists.txt'))) ? cmakeRecipeOf(folder) : made;
}

function programOf(name: string): Program {
  const folder = join(root, name);
  const recipe = recipeIn(folder, name.slice(0, name.length - values.suffix.length));
  const files = sourcesOf(folder, typeof recipe === 'string' ? [] : recipe.includes);
  // Headers that all programs share name libraries that few of them need.
  const isOwn = (path: string): boolean => isText(path) && (values.form !== 'cmake' || path.startsWith(folder));
  const own = [...files].filter(([path]) => isOwn(path)).map(([, bytes]) => new TextDecoder().decode(bytes));
  return {
    name: name.slice(0, name.length - values.suffix.length),
    folder,
    recipe,
    files,
    texts: own,
    checks: checksItself(own),
    needs: needsOf(own, typeof recipe === 'string' ? [] : recipe.libraries),
  };
}

function sampled<T>(list: readonly T[], count: number, seed: number): T[] {
  const random = randomNumbers(seed);
  const rest = [...list];
  return Array.from({ length: Math.min(count, rest.length) }, () => rest.splice(Math.floor(random() * rest.length), 1)[0]!);
}

const digest = (parts: Iterable<string | Uint8Array>): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 24);
};

/** What every program is compiled by: headers, the translation, the linker's words and the libraries of host code. */
function setupDigest(): string {
  const folders = ['cuda', 'src/nvvm', 'src/bitcode/read', 'src/toolchain', 'src/program'].map((name) => join(repository, name));
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)));
  const sysroot = findSysroot([repository], process.env.CUMETAL_SYSROOT);
  if (!sysroot) throw new Error('the libraries of host code are not built: `npm run sysroot`');
  const sources = files.filter((path) => statSync(path).isFile()).sort();
  return digest([...sources.map((path) => readFileSync(path)), sysroot.version]);
}

/** Headers that nvcc has without a word, and that users of this compiler name, for programs that need them. */
function withFolders(recipe: Recipe, needs: readonly string[]): Recipe {
  if (!values.include || !needs.some((need) => need === 'CUB or Thrust' || need === 'another library')) return recipe;
  const folders = values.include.split(',').map((folder) => `-I${folder}`);
  return {
    ...recipe,
    units: recipe.units.map(({ path, flags }) => ({ path, flags: [...flags, ...(path.endsWith('.c') ? [] : folders)] })),
  };
}

/** The path of the linked program, which is kept by what it is made of, or where its build stopped. */
async function built(program: Program, recipe: Recipe, common: string): Promise<string | Pick<Result, 'stage' | 'reason'>> {
  const kept = values.built ? keptProgram(cache, program.name) : undefined;
  if (kept !== undefined) return kept;
  const key = digest([common, JSON.stringify(withFolders(recipe, program.needs)), ...[...program.files].sort().flat()]);
  const path = join(cache, `${program.name.replaceAll('/', '_')}-${key}`);
  const failure = `${path}.json`;
  if (existsSync(path)) return path;
  if (existsSync(failure)) return JSON.parse(readFileSync(failure, 'utf8')) as Pick<Result, 'stage' | 'reason'>;
  const stopped = await buildProgram(withFolders(recipe, program.needs), path);
  if (!stopped) return path;
  const { messages, ...result } = stopped;
  writeFileSync(failure, JSON.stringify(result));
  writeFileSync(`${path}.txt`, messages);
  return result;
}

async function judged(program: Program, common: string): Promise<Result> {
  const { name, recipe, needs, checks } = program;
  const about = { name, needs, checks: checks ?? 'nothing' };
  if (typeof recipe === 'string') return { ...about, stage: 'make', reason: recipe };
  const start = performance.now();
  const path = await built(program, recipe, common);
  const compileSeconds = (performance.now() - start) / 1000;
  if (typeof path !== 'string') return { ...about, ...path, compileSeconds };
  if (values.build) return { ...about, stage: 'built', reason: '', compileSeconds };
  if (withoutInputs.has(name)) return { ...about, stage: 'no data', reason: 'its input is not in the repository', compileSeconds };
  const source = program.texts.join('\n');
  const options = runOptions[name] ?? [];
  writeInputs(name, program.folder);
  // Other arguments may be wrong ones: of runs that do not pass, the first counts.
  let first: Result | undefined;
  const { smaller, larger } = argumentLists(name, recipe.args, source);
  const tried = new Set<string>();
  const rest = [...smaller];
  for (let args = rest.shift(); args; args = rest.shift()) {
    if (tried.has(args.join(' '))) continue;
    tried.add(args.join(' '));
    const words = [
      command,
      'run',
      path,
      '--device',
      values.device,
      ...(values.device === 'cpu' ? ['--threads', '1', ...options] : []),
      '--',
      ...args,
    ];
    const ran = await runWords(words, { cwd: recipe.cwd, seconds: Number(values.seconds) });
    writeFileSync(`${path}.out`, ran.output + ran.errors);
    const result = {
      ...about,
      args,
      ...(options.length > 0 ? { options } : {}),
      compileSeconds,
      runSeconds: ran.seconds,
      ...ended(ran, name),
    };
    if (result.stage === 'pass') return result;
    if (first === undefined && ['run', 'wrong'].includes(result.stage)) rest.splice(0, rest.length, ...larger);
    first ??= result;
    if (result.stage === 'missing function' || result.stage === 'silent') break;
  }
  return withoutData(program, first!);
}

/** Where a run ended, and why. */
function ended({ ending, output, errors }: Ran, name: string): Pick<Result, 'stage' | 'reason'> {
  if (ending === 'time') return { stage: 'time', reason: `ran longer than ${values.seconds} s` };
  const missing = /the program calls `(\w+)`/.exec(errors)?.[1];
  if (missing !== undefined) return { stage: 'missing function', reason: missing };
  const verdict = verdictOf(output);
  if (/out of memory|bad_alloc|memory allocation (error|fail)|of at most 4 GiB|an allocation of \d+ bytes failed/i.test(output + errors))
    return { stage: 'memory', reason: 'more than 4 GiB of the device or of the host' };
  const lastLine = output.trim().split('\n').at(-1)!.slice(0, 200);
  if (ending !== 0) {
    const reason = `exit ${ending}: ${firstError(errors) || lastLine}`;
    return { stage: /CM\d{4}/.test(errors) || typeof ending === 'string' ? 'run' : verdict === 'fail' ? 'wrong' : 'run', reason };
  }
  if (verdict === 'pass' || values['exit-code'] || (verdict === undefined && printsFailuresOnly.has(name)))
    return { stage: 'pass', reason: '' };
  if (verdict === undefined) return { stage: 'silent', reason: lastLine };
  return { stage: 'wrong', reason: (output.split('\n').find((each) => verdictOf(each) === 'fail') ?? '').trim().slice(0, 200) };
}

/** A program whose data the checkout lacks cannot be judged: an argument names a file that is not there, or it says itself that one is not. */
function withoutData({ folder }: Program, result: Result): Result {
  if (result.stage !== 'run' && result.stage !== 'wrong') return result;
  const names = result.args?.filter((word) => /^[\w.-]*\/[^=]*$|\.(txt|dat|bmp|ppm|png|mtx|egr|hdr|csv|in)$/.test(word)) ?? [];
  const lacks = names.some((name) => !existsSync(resolve(folder, name)));
  const says = readdirSync(folder).some((name) => name.endsWith('.dvc')) && /no such file|open|read|load|file/i.test(result.reason);
  return lacks || says ? { ...result, stage: 'no data' } : result;
}

const folders = values.form === 'cmake' ? readdirSync(root).filter((name) => /^\d_/.test(name)) : ['.'];
const all = folders
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => (folder === '.' ? name : `${folder}/${name}`)))
  .filter((name) => name.endsWith(values.suffix) && statSync(join(root, name)).isDirectory())
  .sort();
const only = values.only?.split(',').map((name) => `${name}${values.suffix}`);
const programs = (only ?? all).map(programOf);
const counted = only
  ? programs
  : programs.filter(
      ({ checks, needs }) => (checks !== undefined || values['exit-code'] || values.all) && (values.needs === 'all' || needs.length === 0),
    );
const seen = new Set(values.not ? (JSON.parse(readFileSync(values.not, 'utf8')) as Result[]).map(({ name }) => name) : []);
const unseen = counted.filter(({ name }) => !seen.has(name));
const chosen = values.sample ? sampled(unseen, Number(values.sample), Number(values.seed)) : unseen;
const stating = programs.filter(({ checks }) => checks !== undefined);
console.log(
  `${programs.length} programs; ${stating.length} check themselves; ${counted.length} of them counted; ${chosen.length} chosen, seed ${values.seed}`,
);
if (values.list) {
  for (const { name, checks, needs } of programs) console.log([name, checks ?? '-', needs.join(', ')].join('\t'));
  process.exit(0);
}
const results = new Map<string, Result>();
if (existsSync(values.out)) for (const each of JSON.parse(readFileSync(values.out, 'utf8')) as Result[]) results.set(each.name, each);
// What was linked elsewhere needs nothing of this machine.
const common = values.built ? '' : setupDigest();
const queue = chosen.filter(({ name }) => !results.has(name) || values.again || only);

/** Judges programs of the queue until it is empty. */
async function judgeRest(): Promise<void> {
  for (let program = queue.shift(); program; program = queue.shift()) {
    const result = await judged(program, common);
    results.set(result.name, result);
    const times = [result.compileSeconds, result.runSeconds].map((n) => (n === undefined ? '-' : n.toFixed(1))).join(' ');
    console.log([result.stage.padEnd(16), result.name.padEnd(24), times, result.args?.join(' ') ?? '', result.reason].join(' | '));
    writeFileSync(values.out, JSON.stringify([...results.values()], undefined, 1));
  }
}

await Promise.all(Array.from({ length: Number(values.jobs) }, judgeRest));
const shown = chosen.map(({ name }) => results.get(name)).filter((result) => result !== undefined);
const table = tableOf(shown);
if (values.table) writeFileSync(values.table, table);
console.log(table.split('\n').slice(0, 16).join('\n'));
process.exit(0);
