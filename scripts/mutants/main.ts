/**
 * Faults planted in the sources, one at a time, to see whether the specs find them: `npm run mutants -- --help`. The tree itself is not touched.
 * First every spec of the rooms runs once without a fault, on sources that note what runs; then each mutant meets the specs that reach it, up
 * to the first that fails: those first that take little time and have found many.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Copies, openCopies, withText } from './copy.ts';
import { mutableOf } from './mutators.ts';
import { changeOf, isUnexplained, jsonOf, type Outcome, reportOf, staleOf } from './report.ts';
import { filesOf, type Room } from './rooms.ts';
import { killAll, runSpec } from './run-spec.ts';
import { drawn, type Mutant, mutantsOf, mutatedText } from './sample.ts';
import { openSyntax, type Syntax } from './syntax.ts';
import { openTrials, type Source, type Trial } from './trial.ts';
import { readWords, usage, type Words } from './words.ts';

const root = join(import.meta.dirname, '../..');
const bytes = 4 * 2 ** 30;
/** What a spec may take without a fault. */
const longest = 300;

const say = (text: string): void => console.error(text);

/** Runs tasks, some at once; each is told which of the workers runs it. */
async function inParallel<T, R>(jobs: number, tasks: readonly T[], run: (task: T, worker: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (number: number): Promise<void> => {
    for (let at = next++; at < tasks.length; at = next++) results[at] = await run(tasks[at]!, number);
  };
  await Promise.all(Array.from({ length: jobs }, (_, number) => worker(number)));
  return results;
}

async function readSources(syntax: Syntax, rooms: Words['rooms'], files: readonly string[]): Promise<Source[]> {
  const sources: Source[] = [];
  for (const [room, { sources: patterns }] of Object.entries(rooms))
    for (const file of filesOf(root, patterns)) {
      if (files.length > 0 && !files.includes(file)) continue;
      const mutable = mutableOf(await syntax.parse(join(root, file)));
      sources.push({ room, file, text: readFileSync(join(root, file), 'utf8'), mutable });
    }
  return sources;
}

/** The first mutants of an order that compile, and how many before them do not. */
async function compiling(syntax: Syntax, mutants: readonly Mutant[], sources: readonly Source[], count: number) {
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const chosen: Mutant[] = [];
  let rejected = 0;
  for (const mutant of mutants) {
    if (chosen.length === count) break;
    const { file, mutation } = mutant;
    if ((await syntax.complaint(join(root, file), mutatedText(texts.get(file)!, mutation))) === undefined) chosen.push(mutant);
    else rejected++;
  }
  return { chosen, rejected };
}

const specsOf = (rooms: Words['rooms'], names: ReadonlySet<string>): string[] =>
  filesOf(
    root,
    Object.entries(rooms).flatMap(([name, { specs }]: [string, Room]) => (names.has(name) ? specs : [])),
  );

async function tryAll(
  copies: Copies,
  copy: string,
  words: Words,
  sources: readonly Source[],
  mutants: readonly Mutant[],
): Promise<Trial[]> {
  const specs = specsOf(words.rooms, new Set(mutants.map(({ room }) => room)));
  const trials = openTrials({ copy, home: copies.home, limits: { seconds: longest, bytes } }, sources, mutants);
  const results = await inParallel(words.jobs, specs, async (spec) => {
    const trial = await trials.run(spec);
    say(`${trial.passes ? '✓' : '✗ does not pass without a fault:'} ${spec} (${trial.seconds.toFixed(1)} s)`);
    return trial;
  });
  trials.close();
  return results.filter(({ passes }) => passes);
}

/** How often a spec has found a mutant that it met: those that find most for the time they take go first. */
interface Record {
  met: number;
  found: number;
}

const worth = ({ seconds }: Trial, { met, found }: Record): number => (found + 1) / (met + 2) / (seconds + 0.1);

/** Runs the specs that reach a mutant, until one fails or they have taken what is allowed. */
async function judge(copy: string, mutant: Mutant, trials: ReadonlyMap<Trial, Record>, budget: number): Promise<Outcome> {
  const passed: string[] = [];
  const left: string[] = [];
  const reaching = [...trials].filter(([trial]) => trial.reaches(mutant)).sort((a, b) => worth(...b) - worth(...a));
  if (reaching.length === 0) return { mutant, state: 'unreached', passed, left };
  let taken = 0;
  for (const [{ spec, seconds }, record] of reaching) {
    if (taken + seconds > budget && passed.length > 0) {
      left.push(spec);
      continue;
    }
    taken += seconds;
    const { verdict } = await runSpec(copy, spec, { seconds: 5 + 4 * seconds, bytes });
    record.met++;
    if (verdict !== 'passed') {
      record.found++;
      return { mutant, state: 'killed', by: `${spec}: ${verdict}`, passed, left };
    }
    passed.push(spec);
  }
  return { mutant, state: 'survived', passed, left };
}

async function plant(copies: Copies, words: Words, sources: readonly Source[], mutants: readonly Mutant[]): Promise<Outcome[]> {
  const folders = Array.from({ length: words.jobs }, () => copies.make());
  const trials = await tryAll(copies, folders[0]!, words, sources, mutants);
  const texts = new Map(sources.map(({ file, text }) => [file, text]));
  const own = new Map(Object.entries(words.rooms).map(([name, { specs }]) => [name, new Set(filesOf(root, specs))]));
  const records = new Map(trials.map((trial) => [trial, { met: 0, found: 0 }]));
  let done = 0;
  return inParallel(words.jobs, mutants, async (mutant, worker) => {
    const copy = folders[worker]!;
    const back = texts.get(mutant.file)!;
    const mine = new Map([...records].filter(([{ spec }]) => own.get(mutant.room)!.has(spec)));
    const outcome = await withText(copy, mutant.file, { put: mutatedText(back, mutant.mutation), back }, () =>
      judge(copy, mutant, mine, words.budget),
    );
    say(`${++done}/${mutants.length} ${outcome.state}${outcome.by ? ` by ${outcome.by}` : ''}: ${changeOf(mutant)}`);
    return outcome;
  });
}

async function main(words: Words): Promise<number> {
  const syntax = await openSyntax(join(root, 'tsconfig.json'));
  const sources = await readSources(syntax, words.rooms, words.files);
  const all = sources.flatMap(({ room, file, text, mutable }) => mutantsOf(room, file, text, mutable));
  const asked = words.ids.length > 0 ? all.filter(({ id }) => words.ids.includes(id)) : all;
  const { chosen, rejected } = await compiling(syntax, drawn(asked, words.seed), sources, words.count);
  await syntax.close();
  say(`${chosen.length} of ${asked.length} mutants in ${sources.length} files`);
  if (words.list) {
    for (const mutant of chosen) console.log(changeOf(mutant));
    return 0;
  }
  const copies = openCopies(root);
  const clean = (): void => {
    killAll();
    copies.remove();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      clean();
      process.exit(130);
    });
  try {
    const outcomes = await plant(copies, words, sources, chosen);
    console.log(words.json ? jsonOf(outcomes, rejected) : reportOf(outcomes, rejected, staleOf(all)));
    return outcomes.some(isUnexplained) ? 1 : 0;
  } finally {
    clean();
  }
}

const args = process.argv.slice(2);
const words = readWords(args);
if (args.includes('--help')) console.log(usage);
else if (typeof words === 'string') {
  console.error(`${words}\n\n${usage}`);
  process.exit(2);
} else process.exit(await main(words));
