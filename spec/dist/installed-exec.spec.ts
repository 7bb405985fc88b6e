/** Native code of a program's kernels in the compile cache, by the installed `cumetal exec`: the program is made by the machine's C compiler. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { canRunNative } from '../../src/device/cpu/native/mode.ts';
import { cacheEntries } from '../support/cache-entries.ts';
import { programOf } from '../support/installed.ts';
import { makeRuntimeNames, workshop } from '../support/native-program.ts';
import { need } from '../support/need.ts';

const test = suite('dist/installed-exec');
const shop = workshop('cuda.h', 'program.c');
test.after(() => shop.remove());

need(test, ['linux-cc'], 'kernels of a program are stored, and run as they are stored', async () => {
  makeRuntimeNames(shop);
  shop.cc('-O1', '-pthread', '-o', 'program', 'program.c', 'lib/libcudart.so.12');
  const [command, ...words] = await programOf('bun');
  const run = (native: string, ...more: readonly string[]): string[] => {
    const env = { ...shop.env, CUMETAL_NATIVE: native };
    const given = [...words, 'exec', '--threads', '1', ...more, './program'];
    const { status, stdout, stderr } = spawnSync(command!, given, { cwd: shop.folder, encoding: 'utf8', env });
    assert.is(status, 7, stderr);
    return stdout.split('\n');
  };
  const { keys, usedBy } = cacheEntries(join(shop.folder, 'cache'));
  const lines = run('never', '--no-cache');
  assert.equal([lines[1], lines[5]], ['scale cudaSuccess 3 2997', 'threads 0']);
  assert.equal(keys(), []);
  assert.equal(run('never'), lines);
  const others = keys();
  assert.equal(run('always'), lines);
  const all = keys();
  const native = all.filter((key) => !others.includes(key));
  assert.is(native.length > 0, canRunNative(), `${native.length} entries`);
  const used = usedBy(() => assert.equal(run('always'), lines));
  assert.equal(
    native.filter((key) => !used.includes(key)),
    [],
  );
  assert.equal(keys(), all);
  // What only native code has is left alone without it.
  const without = usedBy(() => assert.equal(run('never'), lines));
  assert.equal(
    native.filter((key) => without.includes(key)),
    [],
  );
});

test.run();
