/**
 * The time of programs beside that of the same benchmarks for CPUs: sources with OpenMP, compiled by g++ and run by one thread.
 *
 *     bun scripts/programs/peers.ts FOLDER RESULTS.json PROGRAMS [--suffix=-omp] [--seconds=60] [--jobs=1] [--out=peers.json]
 *
 * RESULTS.json and PROGRAMS are the results and the cache of `judge.ts`; every program that passed is run again, then FOLDER/NAME-omp with the
 * same arguments. Times are CPU seconds of whole processes, ours with one thread of the CPU device. A job of its own.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { keptProgram } from './kept.ts';
import { recipeOf } from './make.ts';
import { command, runWords } from './run.ts';
import type { Result } from './table.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    suffix: { type: 'string', default: '-omp' },
    seconds: { type: 'string', default: '60' },
    jobs: { type: 'string', default: '1' },
    out: { type: 'string', default: 'peers.json' },
  },
});
const [root = '.', resultsPath = 'results.json', programs = '.'] = positionals.map((path) => resolve(path));
const passed = (JSON.parse(readFileSync(resultsPath, 'utf8')) as Result[]).filter(({ stage }) => stage === 'pass');
const seconds = Number(values.seconds);
const work = mkdtempSync(join(tmpdir(), 'peers-'));

interface Peer {
  readonly name: string;
  /** CPU seconds. */
  readonly ours?: number;
  readonly theirs?: number;
  readonly why?: string;
}

async function measured({ name, args = [] }: Result): Promise<Peer> {
  const folder = join(root, `${name}${values.suffix}`);
  const recipe = existsSync(folder) ? recipeOf(folder, []) : 'there is none';
  if (typeof recipe === 'string') return { name, why: recipe };
  const program = join(work, name);
  const flags = [...new Set(recipe.units.flatMap((unit) => unit.flags))].filter((flag) => !flag.startsWith('-std'));
  const options = ['-O3', '-march=native', '-fopenmp', '-foffload=disable', '-std=c++17', '-w', '-fpermissive', ...flags];
  const built = await runWords(['g++', ...options, ...recipe.units.map(({ path }) => path), '-o', program, '-lm'], { seconds: 120 });
  if (built.ending !== 0) return { name, why: 'g++ does not compile it' };
  const words = [command, 'run', keptProgram(programs, name) ?? '', '--threads', '1', '--', ...args];
  const own = await runWords(words, { cwd: join(root, `${name}-cuda`), seconds });
  if (own.ending !== 0) return { name, why: `ours: ${own.ending}` };
  const about = { name, ours: own.seconds };
  const ran = await runWords(['env', 'OMP_NUM_THREADS=1', program, ...args], { cwd: folder, seconds });
  if (ran.ending !== 0) return { ...about, why: ran.ending === 'time' ? `longer than ${seconds} s` : `exit ${ran.ending}` };
  return { ...about, theirs: ran.seconds };
}

const peers: Peer[] = [];
const queue = [...passed];

/** Measures programs of the queue until it is empty. */
async function measureRest(): Promise<void> {
  for (let next = queue.shift(); next; next = queue.shift()) {
    const peer = await measured(next);
    peers.push(peer);
    console.log([peer.name.padEnd(24), peer.ours?.toFixed(2) ?? '-', peer.theirs?.toFixed(2) ?? peer.why].join(' | '));
    writeFileSync(values.out, JSON.stringify(peers, undefined, 1));
  }
}

await Promise.all(Array.from({ length: Number(values.jobs) }, measureRest));
rmSync(work, { recursive: true, force: true });
// Shorter ones measure how long a process takes to start.
const ratios = peers.flatMap(({ ours, theirs }) => (ours !== undefined && theirs !== undefined && theirs >= 0.1 ? [theirs / ours] : []));
const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
console.log(
  `${peers.length} programs, ${ratios.length} of them measured for 0.1 s or longer; theirs / ours: geometric mean ${mean.toFixed(2)}`,
);
process.exit(0);
