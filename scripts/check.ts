/**
 * `npm run check`: types, lint, generated files, and the specs of what the branch changes, in about half a minute. Specs that
 * take longer are named and left to `npm test`.
 */
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Glob } from 'bun';
import { type Affected, affectedBy } from './check/affected.ts';
import { changesOf } from './check/changed.ts';
import { choose } from './check/choose.ts';
import { importsOf } from './check/imports.ts';
import { runSteps } from './check/steps.ts';
import { readDurations } from './test/durations.ts';
import { hasFailure, totals } from './test/report.ts';
import { runFiles } from './test/run-files.ts';

/** Specs that the line about those left out names. */
const named = 8;

const start = performance.now();
const isRight = [await checkSteps(), await checkSpecs()].every(Boolean);
console.log(`${isRight ? 'all is well' : 'something failed'}, after ${((performance.now() - start) / 1000).toFixed(1)} s`);
process.exit(isRight ? 0 : 1);

async function checkSteps(): Promise<boolean> {
  const outcomes = await runSteps();
  for (const { name, isOk, seconds, output } of outcomes) {
    if (!isOk) console.log(output);
    console.log(`${isOk ? '✓' : '✗'} ${name} (${seconds.toFixed(1)} s)`);
  }
  return outcomes.every(({ isOk }) => isOk);
}

async function checkSpecs(): Promise<boolean> {
  const changes = changesOf('.');
  if (!changes) {
    console.log('no specs: this is no checkout of git, so what changed is not known; `npm test -- quick` runs a selection');
    return true;
  }
  const { files, base } = changes;
  console.log(`${files.length} ${files.length === 1 ? 'file' : 'files'} changed since ${base}`);
  const jobs = availableParallelism();
  const { run, leftOut } = choose(affected(files), readDurations(), jobs);
  const outcomes = await runFiles(run, jobs);
  if (leftOut.length > 0) console.log(leftOutText(leftOut));
  if (run.length > 0) console.log(totals(outcomes));
  return !hasFailure(outcomes);
}

function affected(files: readonly string[]): Affected {
  const sources = [...new Glob('{src,spec,scripts}/**/*.ts').scanSync('.')];
  const imports = importsOf(new Map(sources.map((file) => [file, readFileSync(file, 'utf8')])));
  return affectedBy(files, sources.filter((file) => file.endsWith('.spec.ts')).sort(), imports);
}

/** A line that names some of them, and the command for it. */
function leftOutText(specs: readonly string[]): string {
  const words = specs.slice(0, named).map((spec) => spec.replace(/^spec\/|\.spec\.ts$/g, ''));
  const more = specs.length > named ? ` and ${specs.length - named} more` : '';
  return `left out to be done soon: ${words.join(' ')}${more} (\`npm test -- ${words[0]}\` runs one)`;
}
