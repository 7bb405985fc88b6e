/**
 * Fuzzers:
 *
 *   bun scripts/fuzz.ts [KIND…] [--count N] [--seconds N] [--seed N] [--from N] [--findings FOLDER]
 *       damaged inputs of each kind of `spec/support/hostile/kinds.ts`: N of each kind, or as many as fit into so many seconds. The seed is a
 *       fresh one that is printed, or that of `--seed`. Exits 1 if there are findings, whose inputs are written to the folder.
 *   bun scripts/fuzz.ts write OUT.json.gz COUNT [FROM [KIND]]     random programs and their input, for `scripts/record/digests.py`
 *   bun scripts/fuzz.ts check RECORDED.json                compares the CPU device's results with those of an NVIDIA GPU
 *   bun scripts/fuzz.ts show NUMBER [KIND]                 one program
 *
 * A recording has a digest of the results of each program. `check` names the programs that differ, and exits 1 if any does; programs are
 * compiled alternately for macOS 15, and for `cpu` with native doubles.
 */
import { parseArgs } from 'node:util';
import { inputKinds } from '../spec/support/hostile/kinds.ts';
import { gpuCommands } from './fuzz/gpu-programs.ts';
import { type Plan, runHere, superviseAll } from './fuzz/mutants.ts';

const usage = `usage: bun scripts/fuzz.ts [${Object.keys(inputKinds).join('|')}…] [--count N] [--seconds N] [--seed N] [--from N] [--findings FOLDER]
       bun scripts/fuzz.ts write OUT.json.gz COUNT [FROM [KIND]] | check RECORDED.json | show NUMBER [KIND]`;

const number = { type: 'string' } as const;
const options = { count: number, seconds: number, seed: number, from: number } as const;

const isWhole = (text: string): boolean => /^\d+$/.test(text) && Number.isSafeInteger(Number(text));

/** The plan of the words of the command line, or what is wrong with them. */
function planOf(words: readonly string[]): (Plan & { readonly here: boolean }) | 'help' | { readonly wrong: string } {
  let parsed: ReturnType<typeof parse>;
  try {
    parsed = parse(words);
  } catch (error) {
    return { wrong: (error as Error).message };
  }
  const { values, positionals } = parsed;
  if (values.help) return 'help';
  if (Object.hasOwn(gpuCommands, positionals[0] ?? '')) return { wrong: `${positionals[0]}: wrong words` };
  const unknown = positionals.find((word) => !Object.hasOwn(inputKinds, word));
  if (unknown !== undefined) return { wrong: `unknown kind ${unknown}` };
  for (const name of Object.keys(options) as (keyof typeof options)[])
    if (values[name] !== undefined && !isWhole(values[name])) return { wrong: `--${name} takes a whole number, not ${values[name]}` };
  return {
    kinds: positionals.length > 0 ? positionals : Object.keys(inputKinds),
    count: Number(values.count ?? (values.seconds ? Number.MAX_SAFE_INTEGER : 1000)),
    seconds: Number(values.seconds ?? Number.MAX_SAFE_INTEGER),
    seed: Number(values.seed ?? Math.floor(Math.random() * 2 ** 31)),
    from: Number(values.from ?? 0),
    findings: values.findings,
    here: values.here ?? false,
  };
}

const parse = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...options, findings: { type: 'string' }, here: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
  });

const [first = '', ...rest] = process.argv.slice(2);
const gpuCommand = Object.hasOwn(gpuCommands, first) ? gpuCommands[first]! : undefined;
const plan = planOf(process.argv.slice(2));
if (gpuCommand?.words.test(rest.join('\n'))) process.exitCode = gpuCommand.run(rest);
else if (plan === 'help') console.log(usage);
else if ('wrong' in plan) {
  console.error(`${plan.wrong}\n${usage}`);
  process.exitCode = 2;
} else if (plan.here) runHere(plan);
else process.exitCode = (await superviseAll(plan)) > 0 ? 1 : 0;
