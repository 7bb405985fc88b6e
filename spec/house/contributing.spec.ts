/**
 * What contributors are told is so: the paths and commands of CONTRIBUTING.md exist, actions of workflows are pinned and run once for each
 * branch, and editors have the style of Biome.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { root } from '../support/examples.ts';

const test = suite('house/contributing');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Workflow {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions: unknown;
  readonly concurrency: { readonly group: string; readonly 'cancel-in-progress': boolean };
  readonly jobs: Readonly<Record<string, { readonly 'timeout-minutes'?: number; readonly steps: readonly { readonly run?: string }[] }>>;
}

const folder = '.github/workflows';
const names = readdirSync(join(root, folder)).sort();
const parsed = (name: string): Workflow => Bun.YAML.parse(read(`${folder}/${name}`)) as Workflow;

test('actions are pinned by commit, with the version beside it', () => {
  for (const name of names)
    for (const line of read(`${folder}/${name}`).split('\n'))
      if (/^\s*(- )?uses:/.test(line)) assert.match(line, /uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, name);
});

test('a workflow only reads, ends in time, and a newer push ends an older run', () => {
  for (const name of names) {
    const { permissions, concurrency, jobs } = parsed(name);
    assert.equal(permissions, { contents: 'read' }, name);
    assert.match(concurrency.group, /github\.workflow .*github\.ref /, name);
    assert.is(concurrency['cancel-in-progress'], true, name);
    for (const job of Object.values(jobs)) assert.ok(job['timeout-minutes'] !== undefined, name);
  }
});

test('pull requests and pushes run what any machine runs', () => {
  const { on, jobs } = parsed('ci.yml');
  assert.equal(Object.keys(on).sort(), ['pull_request', 'push']);
  const commands = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []));
  assert.equal(commands, ['bash .ci/run']);
});

test('the last command of .ci/run is the one whose last line has the counts', () => {
  assert.is(read('.ci/run').trimEnd().split('\n').at(-1), 'npm test --silent');
});

test('editors are told what Biome formats', () => {
  const settings = new Map([...read('.editorconfig').matchAll(/^(\w+) = (.+)$/gm)].reverse().map(([, key, value]) => [key!, value!]));
  const { formatter } = JSON.parse(read('biome.json')) as { formatter: Record<string, unknown> };
  assert.is(settings.get('indent_style'), formatter.indentStyle);
  assert.is(settings.get('indent_size'), String(formatter.indentWidth));
  assert.is(settings.get('max_line_length'), String(formatter.lineWidth));
});

const guide = read('CONTRIBUTING.md');

test('every path that CONTRIBUTING.md names is there', () => {
  const paths = [...guide.matchAll(/\b(?:src|spec|scripts|docs)\/[\w./-]*\w/g)]
    .map(([path]) => path)
    .filter((path) => path !== 'src/cli/NAME.ts');
  assert.ok(paths.length > 15);
  assert.equal(
    paths.filter((path) => !existsSync(join(root, path))),
    [],
  );
});

test('every command that CONTRIBUTING.md names runs something', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const specs = [...new Glob('spec/**/*.spec.ts').scanSync(root)];
  for (const [, name] of guide.matchAll(/npm run (\w+)/g)) assert.ok(scripts[name!], name);
  for (const [, words] of guide.matchAll(/npm test -- ([\w/ ]+)/g))
    for (const word of words!.trim().split(' '))
      assert.ok(word === 'quick' || word === 'WORD' || specs.some((spec) => spec.includes(word)), `npm test -- ${word}`);
});

test.run();
