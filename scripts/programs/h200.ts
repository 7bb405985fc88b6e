/**
 * Notes how programs of HeCBench end on an NVIDIA H200, through the CUDA device:
 *
 *     bun scripts/programs/h200.ts RESULTS.json… > scripts/programs/h200.json
 *
 * The files are lists of `{ k, tries: [{ args, code, out, err }] }`: a program, and its runs with the arguments of its makefile and with smaller
 * ones, until one ended with 0; `code` is an exit code, the name of a signal, `time` or `late`, which is not run. Of several files and runs the
 * best result of a program counts, since they differ in data and arguments. A job of its own, for whoever has such a machine.
 */
import { readFileSync } from 'node:fs';
import { printsFailuresOnly } from './sizes.ts';
import { verdictOf } from './verdict.ts';

interface Run {
  readonly code: number | string;
  readonly out?: string;
  readonly err?: string;
}

/** Results from the best to none. */
const order = ['pass', 'silent', 'wrong', 'time', 'memory', 'run', 'no data'];

/** Where a run ended; undefined if there was none. */
function stageOf({ code, out = '', err = '' }: Run): string | undefined {
  if (code === 'late') return undefined;
  if (code === 'time') return 'time';
  const verdict = verdictOf(out);
  if (code === 0 && verdict !== 'fail') return verdict ?? 'silent';
  if (/bad_alloc|out of memory|of at most 4 GiB/.test(out + err)) return 'memory';
  const isWithoutFile =
    /(can ?not|can't|could not|unable|fail|error)[^\n]*(open|read|load|find|file|stat|import)|not found|no such (file|folder)/i;
  if (!/CM6\d{3}/.test(err) && isWithoutFile.test(out + err)) return 'no data';
  return code === 0 || (verdict === 'fail' && !/CM\d{4}/.test(err)) ? 'wrong' : 'run';
}

const best = new Map<string, string>();
for (const path of process.argv.slice(2))
  for (const { k, tries } of JSON.parse(readFileSync(path, 'utf8')) as readonly { readonly k: string; readonly tries: readonly Run[] }[])
    for (const run of tries) {
      const ended = stageOf(run);
      const stage = ended === 'silent' && printsFailuresOnly.has(k) ? 'pass' : ended;
      const before = best.get(k);
      if (stage !== undefined && (before === undefined || order.indexOf(stage) < order.indexOf(before))) best.set(k, stage);
    }
const sorted = [...best].sort(([a], [b]) => (a < b ? -1 : 1));
process.stdout.write(`${JSON.stringify(Object.fromEntries(sorted), undefined, 1)}\n`);
