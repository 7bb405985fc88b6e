/**
 * Writes the page of results of HeCBench:
 *
 *     bun scripts/programs/report.ts RESULTS.json… > docs/hecbench.md
 *
 * The files are those of `judge.ts`; of a program that several have, the last counts. What an H200 gives is in `h200.json`, which `h200.ts` writes.
 * A job of its own: `npm run generate` does not write this page.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withoutInputs } from './inputs.ts';
import { reportOf } from './report-page.ts';
import type { Result } from './table.ts';

const results = new Map<string, Result>();
for (const path of process.argv.slice(2))
  for (const result of JSON.parse(readFileSync(path, 'utf8')) as Result[])
    results.set(result.name, { ...results.get(result.name), ...result });
/** Those without input end in many ways. */
const ended = new Set(['run', 'wrong', 'silent', 'time']);
for (const [name, result] of results)
  if (withoutInputs.has(name) && ended.has(result.stage)) results.set(name, { ...result, stage: 'no data' });
const elsewhere = JSON.parse(readFileSync(join(import.meta.dirname, 'h200.json'), 'utf8')) as Record<string, string>;
for (const name of withoutInputs) if (elsewhere[name] === 'silent') elsewhere[name] = 'no data';
const sorted = [...results.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
process.stdout.write(reportOf(sorted, elsewhere));
