/**
 * Writes the table of programs that nvcc built, from the results beside it:
 *
 *   bun scripts/programs/binaries/page.ts > docs/binaries.md
 *
 * The tables of suites by target are those of `by-target.ts`, kept beside it as text. A job of its own: `npm run generate` does not write this page.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Result } from './results.ts';

const read = (name: string): string => readFileSync(join(import.meta.dirname, name), 'utf8');
const results = JSON.parse(read('results.json')) as readonly Result[];

const seconds = (value: number | undefined): string => (value === undefined ? '' : value.toFixed(1));

function row({ title, uses, own, differs, seconds: cpu, findings, h200 }: Result): string {
  return `| ${[title, uses.join(', '), own, h200, differs, seconds(cpu), findings ?? 'not run'].join(' | ')} |`;
}

const head = [
  '| program | uses | its own check | on the H200 | differs | seconds | findings |',
  '| --- | --- | --- | --- | --- | ---: | --- |',
];

/** A table for each suite, in the order of the file. */
function tables(): string {
  const suites = [...new Set(results.map(({ suite }) => suite))];
  return suites
    .map((suite) => [`### ${suite}`, '', ...head, ...results.filter((each) => each.suite === suite).map(row)].join('\n'))
    .join('\n\n');
}

process.stdout.write(read('page.md').replace('{results}', tables()).replace('{targets}', read('by-target.md').trim()));
