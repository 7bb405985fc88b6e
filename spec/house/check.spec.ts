/** `npm run check`: which specs a change asks for, and which of them there is time for. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Affected, affectedBy } from '../../scripts/check/affected.ts';
import { changesOf } from '../../scripts/check/changed.ts';
import { choose, specSeconds } from '../../scripts/check/choose.ts';
import { importsOf } from '../../scripts/check/imports.ts';

const test = suite('house/check');

/** A small project. The room `core` has no folder of specs. */
const texts = new Map([
  ['src/core/plan.ts', ''],
  ['src/device/run.ts', "import { plan } from '../core/plan.ts';"],
  ['src/ptx/table/float.ts', ''],
  ['src/ptx/index.ts', "export { row } from './table/float.ts';"],
  ['spec/support/helper.ts', "import type { Row } from '../../src/ptx/index.ts';"],
  ['spec/support/far.ts', "import { help } from './helper.ts';"],
  ['spec/device/run.spec.ts', "import { run } from '../../src/device/run.ts';"],
  ['spec/device/other.spec.ts', ''],
  ['spec/ptx/rows.spec.ts', ''],
  ['spec/ptx/table.spec.ts', ''],
  ['spec/ptx/parse.spec.ts', "import {\n  parse,\n} from '../../src/ptx/index.ts';"],
  ['spec/air/far.spec.ts', "const { far } = await import('../support/far.ts');"],
  ['spec/air/plan.spec.ts', "import { plan } from '../../src/core/plan.ts';"],
  ['spec/house/layers.spec.ts', ''],
  ['spec/h200/sweep.spec.ts', ''],
]);
const imports = importsOf(texts);
const specs = [...texts.keys()].filter((file) => file.endsWith('.spec.ts')).sort();
const affected = (...files: string[]): Affected => affectedBy(files, specs, imports);
const house = 'spec/house/layers.spec.ts';

test('a spec that changed comes first, and no room is asked for', () => {
  assert.equal(affected('spec/ptx/rows.spec.ts'), { changed: ['spec/ptx/rows.spec.ts'], near: [house], rooms: [] });
});

test('a source asks for the specs that mirror its path, for those that import it, and then for its room', () => {
  assert.equal(affected('src/ptx/table/float.ts'), {
    changed: [],
    near: [house, 'spec/ptx/table.spec.ts'],
    rooms: ['spec/ptx/parse.spec.ts', 'spec/ptx/rows.spec.ts'],
  });
  assert.equal(affected('src/device/run.ts'), {
    changed: [],
    near: ['spec/device/run.spec.ts', house],
    rooms: ['spec/device/other.spec.ts'],
  });
});

test('a source is imported through helpers, too', () => {
  assert.equal(affected('src/ptx/index.ts').near, ['spec/air/far.spec.ts', house, 'spec/ptx/parse.spec.ts']);
  assert.equal(affected('spec/support/helper.ts'), { changed: [], near: ['spec/air/far.spec.ts', house], rooms: [] });
});

test('a room without a folder of specs has those that import it and those of the rooms that do', () => {
  assert.equal(affected('src/core/new.ts'), {
    changed: [],
    near: [house],
    rooms: ['spec/air/plan.spec.ts', 'spec/device/other.spec.ts', 'spec/device/run.spec.ts'],
  });
});

test('fixtures and folders of the root name their rooms; a page of the root and nothing at all name none', () => {
  assert.equal(affected('fixtures/h200/sweep.json').rooms, ['spec/h200/sweep.spec.ts']);
  assert.equal(affected('docs/ptx.md'), { changed: [], near: [house], rooms: [] });
  assert.equal(affected('README.md'), { changed: [], near: [house], rooms: [] });
  assert.equal(affected(), { changed: [], near: [], rooms: [] });
});

test('what changed goes first, then what is near, the shortest first, as far as there is time', () => {
  const all = {
    changed: ['spec/a/changed.spec.ts', 'spec/a/new.spec.ts'],
    near: ['spec/a/near.spec.ts'],
    rooms: ['spec/a/long.spec.ts', 'spec/a/short.spec.ts', 'spec/a/whole.spec.ts'],
  };
  const durations = new Map([
    ['spec/a/changed.spec.ts', specSeconds / 2],
    ['spec/a/near.spec.ts', specSeconds / 4],
    ['spec/a/short.spec.ts', 1],
    ['spec/a/long.spec.ts', specSeconds / 2],
    ['spec/a/whole.spec.ts', specSeconds + 1],
  ]);
  const first = ['spec/a/changed.spec.ts', 'spec/a/near.spec.ts', 'spec/a/new.spec.ts', 'spec/a/short.spec.ts'];
  assert.equal(choose(all, durations, 1), { run: first, leftOut: ['spec/a/whole.spec.ts', 'spec/a/long.spec.ts'] });
  assert.equal([...choose(all, durations, 8).run].sort(), [...first, 'spec/a/long.spec.ts'].sort(), 'more cores, more specs');
  assert.equal(choose(all, durations, 8).leftOut, ['spec/a/whole.spec.ts'], 'one that takes all the time is never run');
});

// In a hook of git these name the repository of the project.
for (const name of Object.keys(process.env)) if (name.startsWith('GIT_')) delete process.env[name];

test('changes are commits of the branch, what is not committed, and files that git does not know', () => {
  const folder = mkdtempSync(join(tmpdir(), 'check-'));
  const git = (...words: string[]): void => {
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.org', '-c', 'commit.gpgsign=false', '-c', 'core.hooksPath=/dev/null'];
    const { status, stderr } = spawnSync('git', ['-C', folder, ...who, ...words], { encoding: 'utf8', env: process.env });
    assert.is(status, 0, stderr);
  };
  try {
    assert.is(changesOf(folder), undefined);
    git('init', '-q', '-b', 'main');
    mkdirSync(join(folder, 'src'));
    for (const name of ['a', 'b', 'c', 'é d']) writeFileSync(join(folder, 'src', name), `${name}\n`);
    writeFileSync(join(folder, '.gitignore'), 'ignored\n');
    git('add', '.');
    git('commit', '-qm', 'one');
    assert.equal(changesOf(folder)?.files, []);
    git('checkout', '-qb', 'branch');
    writeFileSync(join(folder, 'src/a'), 'else\n');
    git('commit', '-qam', 'two');
    writeFileSync(join(folder, 'src/é d'), 'else\n');
    git('mv', 'src/b', 'src/moved');
    for (const name of ['new', 'ignored']) writeFileSync(join(folder, name), '');
    const { base, files } = changesOf(folder)!;
    assert.match(base, /^main \([0-9a-f]{7}\)$/);
    assert.equal(files, ['new', 'src/a', 'src/b', 'src/moved', 'src/é d']);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
