/**
 * Functions have at most 60 lines and a cognitive complexity of at most 25. biome.json names the files that have a longer or a
 * harder one; that list only shrinks.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';

const test = suite('house/lint');

type Rules = Readonly<Record<string, unknown>>;
interface Settings {
  readonly linter: { readonly rules: { readonly complexity: Rules } };
  readonly overrides: readonly {
    readonly includes: readonly string[];
    readonly linter: { readonly rules: { readonly complexity: Rules } };
  }[];
}

const { linter, overrides } = JSON.parse(readFileSync(join(root, 'biome.json'), 'utf8')) as Settings;

/** The files that a rule leaves out by name; whole folders are tests and tables. */
const exceptions = overrides.flatMap(({ includes, linter }) =>
  Object.keys(linter.rules.complexity).flatMap((rule) => includes.filter((path) => !path.includes('*')).map((file) => ({ rule, file }))),
);

test('the limits', () => {
  const { noExcessiveCognitiveComplexity, noExcessiveLinesPerFunction } = linter.rules.complexity;
  assert.equal(noExcessiveCognitiveComplexity, { level: 'error', options: { maxAllowedComplexity: 25 } });
  assert.equal(noExcessiveLinesPerFunction, { level: 'error', options: { maxLines: 60, skipBlankLines: true } });
});

test('a file that is excepted exists', () => {
  assert.equal(
    exceptions.filter(({ file }) => !existsSync(join(root, file))),
    [],
  );
});

/** What the two rules find in these files, as `rule file`. */
function found(files: readonly string[]): Set<string> {
  const folder = mkdtempSync(join(tmpdir(), 'lint-'));
  try {
    for (const file of files) cpSync(join(root, file), join(folder, file));
    const { noExcessiveCognitiveComplexity, noExcessiveLinesPerFunction } = linter.rules.complexity;
    const rules = { preset: 'none', complexity: { noExcessiveCognitiveComplexity, noExcessiveLinesPerFunction } };
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ linter: { rules } }));
    const words = ['lint', '--reporter=json', '--max-diagnostics=none', '.'];
    const { stdout } = spawnSync(join(root, 'node_modules/.bin/biome'), words, { cwd: folder, encoding: 'utf8' });
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; location: { path: string } }[] };
    return new Set(diagnostics.map(({ category, location }) => `${category.split('/').at(-1)} ${location.path}`));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('a file that needs its exception no more has left the list in biome.json', () => {
  const needed = found([...new Set(exceptions.map(({ file }) => file))].filter((file) => existsSync(join(root, file))));
  assert.equal(
    exceptions.filter(({ rule, file }) => existsSync(join(root, file)) && !needed.has(`${rule} ${file}`)),
    [],
  );
});

test.run();
