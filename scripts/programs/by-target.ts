/**
 * The table of suites by target: of how many kernels of the PTX of a suite each target makes code.
 *
 *   bun scripts/programs/by-target.ts judge SUITE FILE.ptx… > ROWS.jsonl     a line for each kernel, as soon as it is known
 *   bun scripts/programs/by-target.ts table ROWS.jsonl…                      the tables of docs/hopper.md
 *
 * A kernel counts for a target if the whole way to its code reports no error; nothing runs. `judge` is for one file in a process of its own where
 * files are large, because a process that is ended has written what it knew.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { printers, refusal } from './printers.ts';

/** A kernel, and the first error of each target that refuses it. */
interface Row {
  readonly suite: string;
  readonly file: string;
  readonly kernel: string;
  readonly refused: Readonly<Record<string, string>>;
}

const targets = ['cpu', ...Object.keys(printers)];

function judge(suite: string, path: string): void {
  const source = new SourceFile(basename(path), readFileSync(path, 'latin1'));
  const kernels = new Set([...source.text.matchAll(/\.entry\s+([\w$]+)/g)].map(([, name]) => name!));
  for (const kernel of kernels) {
    const refused: Record<string, string> = {};
    const cause = refusal((diagnostics) => void compile(source, { target: 'cpu', entries: [kernel] }, diagnostics));
    if (cause) refused.cpu = cause;
    for (const [target, print] of Object.entries(printers)) {
      const why = refusal((diagnostics) => print(source, kernel, diagnostics));
      if (why) refused[target] = why;
    }
    console.log(JSON.stringify({ suite, file: basename(path), kernel, refused } satisfies Row));
  }
}

/** A message without the names of its file, cut to a line of a table. */
const cause = (message: string): string =>
  message
    .replace(/`[^`]*`/g, (name) => (/^`[a-z0-9.:]+`$/.test(name) ? name : '`…`'))
    .replace(/\b\d+\b/g, 'N')
    .replace(/\|/g, '\\|')
    .slice(0, 170);

/** The rows that a target takes out of a suite. */
const taken = (rows: readonly Row[], target: string): number => rows.filter(({ refused }) => refused[target] === undefined).length;

function counts(rows: readonly Row[]): string {
  const suites = [...new Set(rows.map(({ suite }) => suite))];
  const line = (name: string, of: readonly Row[]): string =>
    `| ${name} | ${new Set(of.map(({ suite, file }) => `${suite}/${file}`)).size} | ${of.length} | ${targets.map((target) => taken(of, target)).join(' | ')} |`;
  return [
    `| suite | files | kernels | ${targets.map((target) => `\`${target}\``).join(' | ')} |`,
    `| --- | ${'---: | '.repeat(targets.length + 2).trimEnd()}`,
    ...suites.map((suite) =>
      line(
        suite,
        rows.filter((row) => row.suite === suite),
      ),
    ),
    ...(suites.length > 1 ? [line('all', rows)] : []),
  ].join('\n');
}

function causes(rows: readonly Row[]): string {
  const lines = targets.flatMap((target) => {
    const found = new Map<string, number>();
    for (const { refused } of rows) {
      const why = refused[target];
      if (why !== undefined) found.set(cause(why), (found.get(cause(why)) ?? 0) + 1);
    }
    return [...found].sort((a, b) => b[1] - a[1]).map(([why, count]) => `| \`${target}\` | ${count} | ${why} |`);
  });
  return ['| target | kernels | first error |', '| --- | ---: | --- |', ...lines].join('\n');
}

const [what, ...words] = process.argv.slice(2);
if (what === 'judge') for (const path of words.slice(1)) judge(words[0]!, path);
else if (what === 'table') {
  const lines = words.flatMap((path) => readFileSync(path, 'utf8').split('\n')).filter((line) => line.endsWith('}'));
  const rows = lines.map((line) => JSON.parse(line) as Row);
  console.log(`${counts(rows)}\n\n${causes(rows)}`);
} else console.error('usage: by-target.ts judge SUITE FILE.ptx… | table ROWS.jsonl…');
