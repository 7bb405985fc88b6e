/** `bin/cumetal`: the built files run as long as no source is newer. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sourcesOf } from '../../scripts/sources.ts';
import { knownVariables, serviceVariables } from '../../src/cli/helper/automatic.ts';
import { engineSettings } from '../../src/cli/startup/engine-settings.ts';

const test = suite('launcher');
const root = join(import.meta.dir, '../..');
const dist = 'dist';

/** Sources that the imports of the command line lead to, `import()` too, types aside. */
function reached(): Set<string> {
  const all = new Set(['src/cli/start.ts']);
  for (const each of all) {
    const text = readFileSync(join(root, each), 'utf8').replace(/^(import|export) type [^;]*;$/gm, '');
    for (const [, path] of text.matchAll(/(?:from|import\(?) ?'(\.[^']+\.ts)'/g))
      all.add(relative(root, resolve(root, dirname(each), path!)));
  }
  return all;
}

test('the list that is made with the built files has every source', () => {
  const listed = sourcesOf(join(root, 'src/cli/start.ts'));
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

/** A checkout in which built files and sources print what they are. */
function checkout(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-launcher-'));
  try {
    for (const each of ['bin', 'src', 'package.json', dist])
      cpSync(join(root, each), join(folder, each), { recursive: true, preserveTimestamps: true });
    rmSync(join(folder, dist, 'bytecode'), { recursive: true });
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    symlinkSync(process.execPath, join(folder, 'node_modules/.bin/bun'));
    writeFileSync(join(folder, dist, 'cli/start-built.js'), 'console.log("built");');
    writeFileSync(join(folder, 'src/cli/start.ts'), 'console.log("sources");');
    const past = new Date(Date.now() - 60_000);
    utimesSync(join(folder, 'src/cli/start.ts'), past, past);
    use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const started = (folder: string): string => spawnSync(join(folder, 'bin/cumetal'), ['--version'], { encoding: 'utf8' }).stdout.trim();

test('the built files run until a source changes, of any depth, or one that is loaded late', () => {
  for (const file of [
    'src/device/cpu/launch/launch-blocking.ts',
    'src/ptx/table/tensor-memory/sparse.ts',
    'src/ptx/table/atomic.ts',
    'package.json',
  ])
    checkout((folder) => {
      assert.is(started(folder), 'built', file);
      const later = new Date(Date.now() + 60_000);
      utimesSync(join(folder, file), later, later);
      assert.is(started(folder), 'sources', file);
    });
});

test('without the list, or without the built files, the sources run', () => {
  checkout((folder) => {
    rmSync(join(folder, dist, 'newer.sh'));
    assert.is(started(folder), 'sources');
  });
  checkout((folder) => {
    rmSync(join(folder, dist), { recursive: true });
    assert.is(started(folder), 'sources');
  });
});

test('the launcher starts through links, and passes words and exit code', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-launcher-'));
  try {
    symlinkSync(join(root, 'bin/cumetal'), join(folder, 'linked'));
    symlinkSync('linked', join(folder, 'twice'));
    const { status, stderr } = spawnSync(join(folder, 'twice'), ['rnu', 'a b'], { encoding: 'utf8' });
    assert.is(status, 2);
    assert.match(stderr, 'did you mean `run`?');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the launcher and the single-file program set the engine in the same way', () => {
  const text = readFileSync(join(root, 'bin/cumetal'), 'utf8');
  const [, cases = ''] = /\ncase \$\{1-\} in\n([\s\S]*?)\nesac/.exec(text) ?? [];
  const found = Object.fromEntries(
    cases.split(';;\n').flatMap((each) => {
      const [, names = ''] = /^ {2}([\w |]+)\)/m.exec(each) ?? [];
      const settings = Object.fromEntries(
        [...each.matchAll(/\b((?:BUN_JSC|MIMALLOC)_\w+)="?(?:\$\{\w+-)?(\w+)/g)].map(([, name, value]) => [name!, value!] as const),
      );
      return names.split('|').map((name) => [name.trim(), settings]);
    }),
  );
  assert.equal(found, engineSettings);
});

test('the shell asks no helper where a variable is set that the program would heed', () => {
  const named = (file: string): string[] => readFileSync(join(root, file), 'utf8').match(/\bCUMETAL_[A-Z_]+\b/g) ?? [];
  const files = [...new Bun.Glob('src/**/*.ts').scanSync({ cwd: root })];
  // The build is no variable of the environment.
  const all = new Set(files.flatMap(named).filter((name) => name !== 'CUMETAL_BUILD'));
  const heeded = [...all].filter((name) => !knownVariables.has(name)).sort();
  assert.ok(heeded.includes('CUMETAL_VERIFY'));
  assert.equal([...new Set(named('bin/ask-helper.sh'))].sort(), heeded);
  const [, services = ''] = /'\) \[ -z "([^"]*)" \]/.exec(readFileSync(join(root, 'bin/cumetal'), 'utf8')) ?? [];
  assert.equal(services.match(/\w+/g), serviceVariables);
});

test('the link that npm makes is followed without another program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-launcher-'));
  try {
    const [bin, built] = [join(folder, 'node_modules/.bin'), join(folder, 'node_modules/cumetal/dist/cli')];
    for (const each of [bin, built]) mkdirSync(each, { recursive: true });
    cpSync(join(root, 'bin'), join(folder, 'node_modules/cumetal/bin'), { recursive: true });
    writeFileSync(join(built, 'start-built.js'), 'console.log("built");');
    symlinkSync(process.execPath, join(bin, 'bun'));
    symlinkSync('../cumetal/bin/cumetal', join(bin, 'cumetal'));
    // `PATH` has nothing, so that `readlink` is not found.
    const { stdout } = spawnSync('/bin/sh', [join(bin, 'cumetal'), '--version'], { encoding: 'utf8', env: { PATH: '' } });
    assert.is(stdout.trim(), 'built');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a Bun that has not made the bytecode gets no setting that its version may lack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-launcher-'));
  try {
    for (const each of ['dist/cli', 'dist/bytecode', 'path']) mkdirSync(join(folder, each), { recursive: true });
    cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
    writeFileSync(join(folder, 'dist/cli/start-built.js'), '');
    // As a Bun does: it ends with 1 where the environment has a setting that it does not know.
    const ifSet = (name: string): string => `\${${name}+REFUSED=1}`;
    const names = ['BUN_JSC_startupJITDeferralScale', 'BUN_JSC_useWarmUpMarkedBlocks'];
    const strict = `#!/bin/sh\nexec /usr/bin/env -i ${names.map(ifSet).join(' ')} STARTED=1 /usr/bin/env\n`;
    writeFileSync(join(folder, 'path/bun'), strict, { mode: 0o755 });
    for (const word of ['build', 'check', 'run']) {
      const env = { PATH: `${join(folder, 'path')}:/usr/bin:/bin`, HOME: folder };
      assert.is(spawnSync('/bin/sh', [join(folder, 'bin/cumetal'), word, 'k.ptx'], { encoding: 'utf8', env }).stdout, 'STARTED=1\n', word);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
