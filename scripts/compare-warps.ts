/**
 * Random programs of warp collectives (`spec/support/random-warps.ts`) on the CPU device and on an NVIDIA GPU:
 *
 *   bun scripts/compare-warps.ts write OUT.json.gz COUNT [FROM]   the programs and their input, for `scripts/record/warps.py`
 *   bun scripts/compare-warps.ts show NUMBER                      one program
 *   bun scripts/compare-warps.ts model [COUNT] [FROM]             runs programs on the model of a warp, in three orders of lanes,
 *                                                                 and compares them with the recording
 *   bun scripts/compare-warps.ts check [COUNT] [FROM] [OPTION]…   runs recorded programs on the CPU device; all of them by default
 *
 * `check` prints counts for each class of programs, and exits 1 unless all are the same. Options: `--target=cpu|macos15`,
 * `--engine=auto|lane|simd`, `--threads=N`, `--lanes=N`, `--reverse` or `--rand=SEED` for another order of threads, `--seconds=S` as the time limit of a launch (5),
 * and `--all`, which names every program that is not the same.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { outputWords, randomWarps, warpClasses, warpInput } from '../spec/support/random-warps.ts';
import { runModel } from '../spec/support/warps/model.ts';
import {
  type Comparison,
  compareWarps,
  type HowToRun,
  outcomes,
  outputDigest,
  recordedWarps,
  wordsOf,
} from '../spec/support/warps/recording.ts';

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const options = { target: text, engine: text, threads: text, lanes: text, rand: text, seconds: text, reverse: flag, all: flag } as const;
const { positionals, values } = parseArgs({ options, allowPositionals: true });
const [command, ...args] = positionals;

function write(path: string, count: number, from: number): void {
  const programs = Array.from({ length: count }, (_, i) => randomWarps(from + i));
  const input = Buffer.from(warpInput().buffer).toString('hex');
  // Small ones of each class, to be debugged word by word.
  const small = programs.flatMap(({ kind, blocks, block }, i) =>
    blocks === 1 && block[0] * block[1] <= 64 ? [{ kind, number: from + i }] : [],
  );
  const outputs = Object.keys(warpClasses).flatMap((each) => small.filter(({ kind }) => kind === each).slice(0, 2));
  const chosen = outputs.map(({ number }) => number);
  writeFileSync(path, gzipSync(JSON.stringify({ from, input, outputWords, outputs: chosen, programs })));
  console.log(`${count} programs, ${(programs.reduce((sum, { ptx }) => sum + ptx.length, 0) / 1e6).toFixed(1)} MB of PTX`);
}

/** Why a program is not legal, or what differs from the recording. */
function judge(number: number, recorded: string | undefined): string | undefined {
  const program = randomWarps(number);
  const { ptx, blocks, block } = program;
  try {
    const runs = [1, 2, 3].map((seed) => outputDigest(runModel({ ptx, blocks, block, input: warpInput(), words: wordsOf(program), seed })));
    if (new Set(runs).size > 1) return 'the result depends on the order of lanes';
    return recorded === undefined || recorded === runs[0] ? undefined : 'the recording differs';
  } catch (error) {
    return (error as Error).message;
  }
}

function model(count: number, from: number): number {
  const recorded = recordedWarps();
  const wrong: string[] = [];
  for (let i = from; i < from + count; i++) {
    const found = judge(i, recorded.get(i)?.output);
    if (found !== undefined) wrong.push(`${i} ${randomWarps(i).kind}: ${found}`);
    if ((i - from + 1) % 500 === 0) console.error(`${i - from + 1} of ${count}, ${wrong.length} wrong`);
  }
  console.log([...wrong, `${count} programs, ${wrong.length} wrong`].join('\n'));
  return wrong.length > 0 ? 1 : 0;
}

/** How programs run, by the options. */
function how(): HowToRun {
  const { target, engine, threads, lanes, rand, seconds = '5', reverse } = values;
  return {
    timeoutMs: 1000 * Number(seconds),
    ...(target === undefined ? {} : { target: target as 'cpu' | 'macos15' }),
    ...(engine === undefined ? {} : { engine: engine as 'auto' | 'lane' | 'simd' }),
    ...(threads === undefined ? {} : { threads: Number(threads) }),
    ...(lanes === undefined ? {} : { lanes: Number(lanes) }),
    ...(reverse ? { schedule: { kind: 'reverse' } as const } : {}),
    ...(rand === undefined ? {} : { schedule: { kind: 'rand', seed: Number(rand) } as const }),
  };
}

function check(count: number, from: number): number {
  const recorded = recordedWarps();
  const byClass = new Map<string, Map<Comparison['outcome'], number>>();
  const reasons = new Map<string, number>();
  for (let i = from; i < from + count; i++) {
    const { kind } = randomWarps(i);
    const [{ outcome, why }] = compareWarps(i, recorded.get(i), [how()]) as [Comparison];
    const counts = byClass.get(kind) ?? new Map();
    byClass.set(kind, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
    if (outcome === 'stopped with an error') reasons.set(why, (reasons.get(why) ?? 0) + 1);
    if (values.all && outcome !== 'same') console.log(`${i} ${kind}: ${outcome} ${why}`);
    if ((i - from + 1) % 200 === 0) console.error(`${i - from + 1} of ${count}`);
  }
  const total = (name: Comparison['outcome']): number => [...byClass.values()].reduce((sum, counts) => sum + (counts.get(name) ?? 0), 0);
  const shown = outcomes.filter((name) => total(name) > 0);
  const line = (first: string, cells: readonly (string | number)[]): string =>
    [first.padEnd(12), ...cells.map((cell, i) => String(cell).padStart(shown[i]!.length + 2))].join('');
  console.log(line('', shown));
  for (const [kind, counts] of byClass)
    console.log(
      line(
        kind,
        shown.map((name) => counts.get(name) ?? 0),
      ),
    );
  console.log(line('all', shown.map(total)));
  for (const [why, times] of [...reasons].sort((a, b) => b[1] - a[1]).slice(0, 20)) console.log(`${times} times ${why}`);
  return total('same') === count ? 0 : 1;
}

const number = (at: number, otherwise: number): number => (args[at] === undefined ? otherwise : Number(args[at]));
if (command === 'write') write(args[0]!, Number(args[1]), number(2, 0));
else if (command === 'show') console.log(randomWarps(Number(args[0])).ptx);
else if (command === 'model') process.exitCode = model(number(0, recordedWarps().size), number(1, 0));
else if (command === 'check') process.exitCode = check(number(0, recordedWarps().size), number(1, 0));
else
  console.error(
    'usage: bun scripts/compare-warps.ts write OUT.json.gz COUNT [FROM] | show NUMBER | model [COUNT] [FROM] | check [COUNT] [FROM]',
  );
