/**
 * Fuzzers:
 *
 *   bun scripts/fuzz.ts [KIND…] [--count N] [--seconds N] [--seed N] [--from N] [--findings FOLDER]
 *       damaged inputs of each kind of `spec/support/hostile/kinds.ts`: N of each kind, or as many as fit into so many seconds. The seed is a
 *       fresh one that is printed, or that of `--seed`. Exits 1 if there are findings, whose inputs are written to the folder.
 *   bun scripts/fuzz.ts write OUT.json.gz COUNT [FROM]     random programs and their input, for `scripts/record/digests.py`
 *   bun scripts/fuzz.ts check RECORDED.json                compares the CPU device's results with those of an NVIDIA GPU
 *   bun scripts/fuzz.ts show NUMBER                        one program
 *
 * A recording has a digest of the results of each program. `check` names the programs that differ, and exits 1 if any does; programs are
 * compiled alternately for macOS 15, and for `cpu` with native doubles.
 */
import { parseArgs } from 'node:util';
import { inputKinds } from '../spec/support/hostile/kinds.ts';
import { gpuCommands } from './fuzz/gpu-programs.ts';
import { runHere, superviseAll } from './fuzz/mutants.ts';

const usage = `usage: bun scripts/fuzz.ts [${Object.keys(inputKinds).join('|')}…] [--count N] [--seconds N] [--seed N] [--from N] [--findings FOLDER]
       bun scripts/fuzz.ts write OUT.json.gz COUNT [FROM] | check RECORDED.json | show NUMBER`;

const number = { type: 'string' } as const;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: number, seconds: number, seed: number, from: number, findings: { type: 'string' }, here: { type: 'boolean' } },
});
const [first = '', ...rest] = positionals;
const unknown = positionals.find((word) => !Object.hasOwn(inputKinds, word));
if (Object.hasOwn(gpuCommands, first)) process.exitCode = gpuCommands[first]!(rest);
else if (unknown !== undefined) {
  console.error(`unknown kind ${unknown}\n${usage}`);
  process.exitCode = 2;
} else {
  const plan = {
    kinds: positionals.length > 0 ? positionals : Object.keys(inputKinds),
    count: Number(values.count ?? (values.seconds ? Number.MAX_SAFE_INTEGER : 1000)),
    seconds: Number(values.seconds ?? Number.MAX_SAFE_INTEGER),
    seed: Number(values.seed ?? Math.floor(Math.random() * 2 ** 31)),
    from: Number(values.from ?? 0),
    findings: values.findings,
  };
  if (values.here) runHere(plan);
  else process.exitCode = (await superviseAll(plan)) > 0 ? 1 : 0;
}
