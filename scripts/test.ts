/**
 * Runs every spec file in a process of its own, longest first, and ends with `N passed, N failed, N skipped`, which CI reads.
 * `bun scripts/test.ts --help` prints the options. A file that crashes, hangs or reports no test counts as failed.
 */
import { Glob } from 'bun';
import { readDurations, record } from './test/durations.ts';
import { help, type Options, parseOptions } from './test/options.ts';
import { longestFirst, quickSelection, withWords } from './test/plan.ts';
import { hasFailure, totals } from './test/report.ts';
import { runFiles, slowest } from './test/run-files.ts';

const options = parseOptions(process.argv.slice(2));
if (options === 'help') process.stdout.write(help);
else if ('fault' in options) {
  console.error(`${options.fault}; \`npm test -- --help\` lists the options`);
  process.exit(2);
} else process.exit(await main(options));

async function main({ words, isQuick, jobs, records, lists }: Options): Promise<number> {
  const durations = readDurations();
  const named = withWords([...new Glob('spec/**/*.spec.ts').scanSync('.')], words);
  const files = longestFirst(isQuick ? quickSelection(named, durations) : named, durations);
  const unknown = named.filter((file) => !durations.has(file));
  if (isQuick && unknown.length > 0) console.log(`left out, as \`--record\` never measured them: ${unknown.join(', ')}`);
  if (lists) {
    for (const file of files) console.log(file);
    return 0;
  }
  const outcomes = await runFiles(files, jobs);
  if (files.length === 0) console.log(`no spec file${words.length ? ` with ${words.join(' or ')} in its path` : ''}`);
  else for (const line of slowest(outcomes)) console.log(line);
  if (records) record(new Map(outcomes.filter(({ failed }) => failed === 0).map(({ file, cpu }) => [file, cpu])));
  console.log(totals(outcomes));
  return hasFailure(outcomes) || files.length === 0 ? 1 : 0;
}
