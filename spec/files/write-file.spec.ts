/** Files are written whole or not at all, by the function and by every option of the command line that writes one. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { whyNotWritable, writeFile } from '../../src/files/index.ts';
import { examplesFolder } from '../support/examples.ts';

const test = suite('files/write-file');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
test.before.each(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});
const at = (name: string): string => join(folder, name);
const textAt = (name: string): string => readFileSync(at(name), 'utf8');
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const modeOf = (name: string): number => statSync(at(name)).mode & 0o7777;
const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

test('a new file has the permissions that the umask leaves, and a replaced one keeps its own', () => {
  const before = process.umask(0o027);
  try {
    writeFile(at('new'), bytesOf('1'));
    writeFile(at('own'), bytesOf('1'), { mode: 0o600 });
    for (const mode of [0o666, 0o755, 0o600, 0o2664]) {
      writeFileSync(at('old'), 'before');
      chmodSync(at('old'), mode);
      writeFile(at('old'), bytesOf('after'), { mode: 0o600 });
      assert.equal([textAt('old'), modeOf('old')], ['after', mode]);
    }
    assert.equal([modeOf('new'), modeOf('own')], [0o640, 0o600]);
  } finally {
    process.umask(before);
  }
  assert.equal(readdirSync(folder).sort(), ['new', 'old', 'own']);
});

test('a symbolic link stays, and the file that it leads to is written, also one that is not there yet', () => {
  mkdirSync(at('far'));
  writeFileSync(at('far/file'), 'before');
  symlinkSync('far/file', at('near'));
  symlinkSync('near', at('nearer'));
  symlinkSync('far/none', at('open'));
  writeFile(at('nearer'), bytesOf('after'));
  writeFile(at('open'), bytesOf('new'));
  assert.equal([textAt('far/file'), textAt('far/none')], ['after', 'new']);
  for (const name of ['near', 'nearer', 'open']) assert.ok(lstatSync(at(name)).isSymbolicLink(), name);
});

test('a device is written directly', () => {
  writeFile('/dev/null', bytesOf('nothing'));
  assert.ok(statSync('/dev/null').isCharacterDevice());
  assert.throws(
    () => writeFile('/dev/full', bytesOf('much')),
    (error: unknown) => codeOf(error) === 'ENOSPC',
  );
});

/** Runs a shell command in the folder, with a program that writes a file as its first words. */
function shell(command: string): { code: number | null; out: string; err: string } {
  const program = `import { whyNotWritable, writeFile } from ${JSON.stringify(join(import.meta.dirname, '../../src/files/index.ts'))};
    const [path] = process.argv.slice(2);
    const why = whyNotWritable(path);
    if (why) throw why;
    writeFile(path, new TextEncoder().encode('written'));`;
  writeFileSync(at('program.ts'), program);
  const words = ['-c', command, 'sh', process.execPath, at('program.ts')];
  const { status, stdout, stderr } = spawnSync('sh', words, { encoding: 'utf8', cwd: folder });
  rmSync(at('program.ts'));
  return { code: status, out: stdout, err: stderr };
}

if (process.platform === 'linux')
  test('the name of standard output writes to a pipe or a file, and fails for a socket, which has no name', () => {
    assert.equal(shell('"$@" /dev/stdout | cat'), { code: 0, out: 'written', err: '' });
    assert.is(shell('"$@" /proc/self/fd/1 >file').code, 0);
    assert.is(textAt('file'), 'written');
    // What a process of Node gets from its parent is a socket.
    const { code, out, err } = shell('"$@" /dev/stdout');
    assert.equal([code, out], [1, '']);
    assert.match(err, /ENXIO/);
    assert.equal(readdirSync(folder), ['file']);
  });

/** Runs with a file system that has room for half of every file. */
function withFullDisk(act: () => void): void {
  const real = process.getBuiltinModule;
  const half = (path: string, bytes: Uint8Array, options: object): void => {
    writeFileSync(path, bytes.subarray(0, bytes.length / 2), options);
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  };
  process.getBuiltinModule = ((name: string) =>
    name === 'node:fs' ? { ...real('node:fs'), writeFileSync: half } : real(name)) as typeof real;
  try {
    act();
  } finally {
    process.getBuiltinModule = real;
  }
}

test('a write that fails in the middle leaves the old file or none', () => {
  writeFileSync(at('old'), 'before');
  withFullDisk(() => {
    for (const name of ['old', 'new'])
      assert.throws(
        () => writeFile(at(name), bytesOf('afterwards')),
        (error: unknown) => codeOf(error) === 'ENOSPC',
      );
  });
  assert.equal(readdirSync(folder), ['old']);
  assert.is(textAt('old'), 'before');
});

test('a process that is killed in the middle leaves the old file', () => {
  writeFileSync(at('old'), 'before');
  const program = `import { writeFile } from ${JSON.stringify(join(import.meta.dirname, '../../src/files/index.ts'))};
    writeFile(${JSON.stringify(at('old'))}, new Uint8Array(1 << 20));`;
  writeFileSync(at('program.ts'), program);
  // A process that exceeds its limit for the size of files gets a signal or an error.
  const { status } = spawnSync('sh', ['-c', `ulimit -f 8; exec "${process.execPath}" ${at('program.ts')}`]);
  assert.is.not(status, 0);
  assert.is(textAt('old'), 'before');
});

test('what stands against a write is known before it, and nothing is changed', () => {
  writeFileSync(at('file'), '');
  const cases: [path: string, code: string | undefined][] = [
    ['new', undefined],
    ['file', undefined],
    ['.', 'EISDIR'],
    ['none/new', 'ENOENT'],
    ['file/new', 'ENOTDIR'],
  ];
  for (const [path, code] of cases) {
    assert.is(codeOf(whyNotWritable(at(path))), code, path);
    if (code === undefined) continue;
    assert.throws(
      () => writeFile(at(path), bytesOf('1')),
      (error: unknown) => codeOf(error) === code,
      path,
    );
  }
  assert.is(whyNotWritable('/dev/null'), undefined);
  assert.equal(readdirSync(folder), ['file']);
});

// The administrator may write everything.
if (process.getuid?.() !== 0)
  test('a read-only file is not replaced, and a read-only folder takes no new one but lets its files be written', () => {
    writeFileSync(at('file'), 'before');
    chmodSync(at('file'), 0o444);
    assert.is(codeOf(whyNotWritable(at('file'))), 'EACCES');
    assert.throws(() => writeFile(at('file'), bytesOf('after')), /EACCES/);
    chmodSync(at('file'), 0o644);
    chmodSync(folder, 0o555);
    try {
      assert.is(codeOf(whyNotWritable(at('new'))), 'EACCES');
      assert.throws(() => writeFile(at('new'), bytesOf('1')), /EACCES/);
      writeFile(at('file'), bytesOf('after'));
      assert.is(textAt('file'), 'after');
    } finally {
      chmodSync(folder, 0o755);
    }
  });

// ── the command line ──

const main = join(import.meta.dirname, '../../src/cli/start.ts');
function cli(...words: string[]): { code: number | null; out: string; err: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], { encoding: 'utf8', cwd: folder });
  return { code: status, out: stdout, err: stderr };
}
const kernel = join(examplesFolder, 'vector_add.ptx');

test('a file that cannot be written is an error before the launch', () => {
  mkdirSync(at('p.html'));
  for (const words of [
    ['--out', '2=none/c.npy'],
    ['--profile=none/p.html'],
    ['--trace-thread', '0,0', '--trace-out', 'none/t.txt'],
    ['--out', '2=c.npy', '--profile=p.html'],
  ]) {
    const { code, out, err } = cli('run', kernel, ...words);
    assert.equal([code, out], [1, ''], words.join(' '));
    assert.match(err, /error\[CM5031\]: cannot write `(none\/.*|p\.html)`: (no such file or folder|it is a folder)/);
  }
  const { code, out, err } = cli('build', kernel, '-o', 'none/k.metallib');
  assert.equal([code, out], [1, '']);
  assert.match(err, /CM5031.*no such file or folder/);
  assert.equal(readdirSync(folder), ['p.html']);
});

test('a file that turns out not to be writable is an error exit as well', () => {
  if (!existsSync('/dev/full')) return;
  symlinkSync('/dev/full', at('full.json'));
  for (const words of [['--out', '2=/dev/full'], ['--profile=full.json'], ['--trace-thread', '0,0', '--trace-out', '/dev/full']]) {
    const { code, out, err } = cli('run', kernel, ...words);
    assert.is(code, 1, words.join(' '));
    assert.match(err, /CM5031.*the disk is full/);
    // The launch itself is reported.
    assert.match(out, /vector_add on CPU/);
  }
  assert.is(cli('build', kernel, '-o', '/dev/full').code, 1);
});

test.run();
