/**
 * Writes the page of results of HeCBench:
 *
 *     bun scripts/programs/report.ts [RESULTS.json]…
 *
 * The rows of the page are kept in `hecbench.json`. The files named are those of `judge.ts`, and their programs replace rows of the same name;
 * of a program that several have, the last counts. What an H200 gives is in `h200.json`, which `h200.ts` writes.
 * A job of its own: `npm run generate` does not write this page.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutInputs } from './inputs.ts';
import { reportOf } from './report-page.ts';
import { type Row, rowOf } from './rows.ts';
import type { Result } from './table.ts';
import { saysOfOthers } from './verdict.ts';

const kept = join(import.meta.dirname, 'hecbench.json');
const read = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

const rows = new Map(read<readonly Row[]>(kept).map((row) => [row.name, row]));
for (const path of process.argv.slice(2)) for (const result of read<readonly Result[]>(path)) rows.set(result.name, rowOf(result));
const elsewhere = read<Record<string, string>>(join(import.meta.dirname, 'h200.json'));
for (const name of withoutInputs) if (elsewhere[name] === 'silent') elsewhere[name] = 'no data';
const judged = [...rows.values()].map((row) => ({ ...row, checks: row.checks && !saysOfOthers.has(row.name) }));
const sorted = judged.sort((a, b) => (a.name < b.name ? -1 : 1));
writeFileSync(kept, `[\n${sorted.map((row) => ` ${JSON.stringify(row)}`).join(',\n')}\n]\n`);
writeFileSync(join(import.meta.dirname, '../../docs/hecbench.md'), reportOf(sorted, elsewhere));
