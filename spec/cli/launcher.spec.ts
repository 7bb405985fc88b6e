/** `bin/cumetal`: the bundle stands for the sources as long as none of them is newer. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sourcesOf } from '../../scripts/sources.ts';

const test = suite('launcher');
const root = join(import.meta.dir, '../..');
const cache = 'node_modules/.cache/cumetal';

/** Sources that the imports of the command line lead to, `import()` too, types aside. */
function reached(): Set<string> {
  const all = new Set(['src/cli/main.ts']);
  for (const each of all) {
    const text = readFileSync(join(root, each), 'utf8').replace(/^(import|export) type [^;]*;$/gm, '');
    for (const [, path] of text.matchAll(/(?:from|import\(?) ?'(\.[^']+\.ts)'/g))
      all.add(relative(root, resolve(root, dirname(each), path!)));
  }
  return all;
}

test('the list that is made with the bundle has every source', () => {
  const listed = sourcesOf(join(root, 'src/cli/main.ts'));
  assert.ok(listed.size > 300);
  // Files that hold nothing but types are read by nobody.
  assert.equal(
    [...reached()].filter((file) => !listed.has(join(root, file)) && !isOnlyTypes(file)),
    [],
  );
});

const isOnlyTypes = (file: string): boolean => {
  const js = new Bun.Transpiler({ loader: 'ts' }).transformSync(readFileSync(join(root, file), 'utf8'));
  return js.trim() === '';
};

/** A checkout in which bundle and sources say what they are. */
function checkout(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-launcher-'));
  try {
    for (const each of ['bin', 'src', 'package.json', cache])
      cpSync(join(root, each), join(folder, each), { recursive: true, preserveTimestamps: true });
    mkdirSync(join(folder, 'node_modules/.bin'));
    symlinkSync(process.execPath, join(folder, 'node_modules/.bin/bun'));
    writeFileSync(join(folder, cache, 'main.js'), 'console.log("bundle");');
    writeFileSync(join(folder, 'src/cli/main.ts'), 'console.log("sources");');
    const past = new Date(Date.now() - 60_000);
    utimesSync(join(folder, 'src/cli/main.ts'), past, past);
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const started = (folder: string): string => spawnSync(join(folder, 'bin/cumetal'), ['--version'], { encoding: 'utf8' }).stdout.trim();

test('what runs is the bundle until a source changes, of any depth, or of what is read late', () => {
  for (const file of [
    'src/device/cpu/launch/launch-blocking.ts',
    'src/ptx/table/refused/texture.ts',
    'src/ptx/table/atomic.ts',
    'package.json',
  ])
    checkout((folder) => {
      assert.is(started(folder), 'bundle', file);
      const later = new Date(Date.now() + 60_000);
      utimesSync(join(folder, file), later, later);
      assert.is(started(folder), 'sources', file);
    });
});

test('without the list, or without the bundle, the sources run', () => {
  checkout((folder) => {
    rmSync(join(folder, cache, 'newer.sh'));
    assert.is(started(folder), 'sources');
  });
  checkout((folder) => {
    rmSync(join(folder, cache), { recursive: true });
    assert.is(started(folder), 'sources');
  });
});

test.run();
