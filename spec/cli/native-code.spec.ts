/** Native code in the compile cache, as commands see it: entries like others, which `--no-cache` and `CUMETAL_NATIVE=never` leave alone. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canRunNative } from '../../src/device/cpu/native/mode.ts';
import { cacheEntries } from '../support/cache-entries.ts';

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

const { keys, usedBy } = cacheEntries(cache);

onlyHere('it is an entry like others, which `--no-cache` and `never` neither read nor write', () => {
  const words = run('never');
  assert.match(words, /0\.5/);
  const others = keys();
  assert.equal(
    usedBy(() => assert.is(run('always', '--no-cache'), words)),
    [],
  );
  assert.is(keys().length, others.length);
  assert.is(run('always'), words);
  const all = keys();
  assert.is(all.length, others.length + 1);
  assert.equal(
    usedBy(() => assert.is(run('never'), words)),
    others,
  );
  assert.equal(
    usedBy(() => assert.is(run('auto'), words)),
    all,
  );
  assert.match(said(['cache', 'clear']), new RegExp(`^${all.length} entries of .* removed`));
  assert.equal(keys(), []);
});

test.run();
