/** Native code in the compile cache, as commands see it: entries like others, which `--no-cache` and `CUMETAL_NATIVE=never` leave alone. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openStore, type StoredEntry } from '../../src/cache/index.ts';
import { hostHash } from '../../src/cli/command/host-hash.ts';
import { canRunNative } from '../../src/device/cpu/native/mode.ts';

const test = suite('cli/native-code');
const onlyHere = canRunNative() ? test : test.skip;

const root = join(import.meta.dir, '../..');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const cache = join(folder, 'cache');

/** What a command prints. Sources have a cache if they have the name of a build. */
function said(words: readonly string[], native = 'auto'): string {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--define', 'CUMETAL_BUILD="spec"', join(root, 'src/cli/start.ts'), ...words],
    { encoding: 'utf8', env: { ...process.env, CUMETAL_CACHE_PATH: cache, CUMETAL_NATIVE: native, CUMETAL_CACHE_DISABLE: '' } },
  );
  assert.is(status, 0, stderr);
  return stdout;
}

const run = (native: string, ...more: readonly string[]): string =>
  said(['run', join(root, 'examples/vector_add.ptx'), '--quiet', '--device', 'cpu', ...more], native);

const entries = (): readonly StoredEntry[] => openStore({ folder: cache, maxBytes: 2 ** 28, sha256: hostHash.sha256 }).list();

/** The keys of entries that something reads. */
function readBy(act: () => void): string[] {
  const old = Date.now() / 1000 - 7200;
  for (const { key } of entries()) utimesSync(join(cache, key[0]!, key), old, old);
  act();
  return entries()
    .filter(({ used }) => used > Date.now() - 3_600_000)
    .map(({ key }) => key)
    .sort();
}

onlyHere('it is an entry like others, which `--no-cache` and `never` neither read nor write', () => {
  const words = run('never');
  assert.match(words, /0\.5/);
  const others = entries().map(({ key }) => key);
  assert.equal(
    readBy(() => assert.is(run('always', '--no-cache'), words)),
    [],
  );
  assert.is(entries().length, others.length);
  assert.is(run('always'), words);
  const all = entries().map(({ key }) => key);
  assert.is(all.length, others.length + 1);
  assert.equal(
    readBy(() => assert.is(run('never'), words)),
    [...others].sort(),
  );
  assert.equal(
    readBy(() => assert.is(run('auto'), words)),
    [...all].sort(),
  );
  assert.match(said(['cache', 'clear']), new RegExp(`^${all.length} entries of .* removed`));
  assert.equal(entries(), []);
});

test.run();
