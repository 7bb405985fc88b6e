/** An installed clang: which are taken, and what they are given and asked for. The compilers here are shell scripts. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { installedClang, loadInstalled, writeHeaders } from '../../src/toolchain/index.ts';
import type { Tree } from '../../src/toolchain/tree.ts';

const test = suite('toolchain/installed');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function script(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
}

const saying = (version: string, targets: string): string =>
  `case $1 in --version) echo "${version}"; exit;; --print-targets) echo "${targets}"; exit;; esac`;
const whole = saying('Debian clang version 22.1.0 (1)', 'nvptx64 - x\n wasm64 - y');
const none = async (): Promise<never> => {
  throw new Error('the compiler of the package was asked for');
};

test('a clang of another release, without a target, or that is none, is refused with the reason', () => {
  const why = (path: string): string => {
    const found = installedClang(path);
    return 'why' in found ? found.why : 'taken';
  };
  assert.match(why(script('old', saying('clang version 14.0.6', 'nvptx64 wasm64'))), /^it is clang 14\.0\.6, .* requires clang 22$/);
  assert.match(why(script('gpu', saying('clang version 22.1.0', 'nvptx64'))), /no target wasm64/);
  assert.match(why(script('gcc', 'echo gcc 12')), /is no clang/);
  assert.match(why(join(folder, 'nothing')), /does not run/);
  assert.is(why(script('good', whole)), 'taken');
});

test('it works in a folder of its own with the files in memory, and paths of the machine', async () => {
  const path = script(
    'bin/clang',
    `${whole}\nprintf '%s\\n' "$@" > ${folder}/words\ncat image > out.o\npwd > ${folder}/place\ncat changed.yaml changed-0 > ${folder}/changed\necho warned >&2`,
  );
  const installed = installedClang(path);
  if ('why' in installed) throw new Error(installed.why);
  const clang = loadInstalled(installed, { usr: '/r/usr', cumetal: '/r/cumetal', sysroot: '/r/sys' }, none);
  const words = [
    '-cc1',
    '-isysroot',
    '/usr',
    '-I',
    '/host/a/usr/b',
    '-L/sysroot/lib',
    '/cumetal',
    '/cumetals',
    '-o',
    'out.o',
    '/host/a/m.cu',
  ];
  // One is on the disk as it is in memory, and one is not.
  const same = join(folder, 'same.h').split('/').slice(1);
  writeFileSync(join(folder, 'same.h'), 'int same;');
  const below = same.reduceRight<Tree | Uint8Array>((inner, name) => ({ [name]: inner }), new TextEncoder().encode('int same;')) as Tree;
  const files = {
    host: { ...below, a: { 'm.cu': new TextEncoder().encode('changed') } },
    cumetal: {},
    sysroot: {},
    image: new TextEncoder().encode('PTX'),
  };
  const { code, files: made, messages } = await clang(['clang++', ...words], files);
  assert.equal([code, messages], [0, 'warned\n']);
  assert.equal(new TextDecoder().decode(made['out.o'] as Uint8Array), 'PTX');
  const expected = ['-cc1', '-isysroot', '/r/usr', '-I', '/a/usr/b', '-L/r/sys/lib', '/r/cumetal', '/cumetals', '-o', 'out.o', '/a/m.cu'];
  const place = readFileSync(join(folder, 'place'), 'utf8').trim();
  assert.equal(readFileSync(join(folder, 'words'), 'utf8').trim().split('\n'), [...expected, '-ivfsoverlay', join(place, 'changed.yaml')]);
  const [description, content] = readFileSync(join(folder, 'changed'), 'utf8').split(/(?<=\})(?=changed$)/);
  assert.equal(JSON.parse(description!).roots, [{ type: 'file', name: '/a/m.cu', 'external-contents': join(place, 'changed-0') }]);
  assert.is(content, 'changed');
  // Nothing stays behind.
  assert.is(spawnSync('ls', [place]).status === 0, false);
});

test('a failure gives its code and its messages, and no file', async () => {
  const installed = installedClang(script('bad/clang', `${whole}\ntouch out.o; echo broken; exit 3`));
  if ('why' in installed) throw new Error(installed.why);
  const clang = loadInstalled(installed, { usr: '', cumetal: '', sysroot: '' }, none);
  assert.equal(await clang(['clang', '-o', 'out.o'], {}), { code: 3, messages: 'broken\n', files: {} });
});

test('tools that are not beside it are those of the package; an archive is named by its second word', async () => {
  script('tools/llvm-ar', 'cat 0_a.o > $2');
  const installed = installedClang(script('tools/clang', whole));
  if ('why' in installed) throw new Error(installed.why);
  const ofPackage = { code: 0, messages: 'the package', files: {} };
  const clang = loadInstalled(installed, { usr: '', cumetal: '', sysroot: '' }, async () => async () => ofPackage);
  assert.is(await clang(['wasm-ld', '-o', 'out'], {}), ofPackage);
  const { files } = await clang(['ar', 'crsD', 'out.a', '0_a.o'], { '0_a.o': new Uint8Array([7]) });
  assert.equal(files['out.a'], new Uint8Array([7]));
});

test('headers come from the archive of the package, with long names, and not those for another host', () => {
  const long = `include/c++/v1/${'deep/'.repeat(20)}vector`;
  for (const [name, text] of Object.entries({
    [long]: 'v',
    'include/stddef.h': 'd',
    'include/wasm32-wasip1/x.h': 'w',
    'lib/libc.a': 'l',
  })) {
    mkdirSync(join(folder, 'tree', name, '..'), { recursive: true });
    writeFileSync(join(folder, 'tree', name), text);
  }
  spawnSync('tar', ['--format=ustar', '-cf', join(folder, 'r.tar'), '-C', join(folder, 'tree'), 'include', 'lib']);
  writeHeaders(join(folder, 'out'), join(folder, 'r.tar'), { 'cuda/atomic': 'a' });
  const found = spawnSync('find', ['.', '-type', 'f'], { cwd: join(folder, 'out'), encoding: 'utf8' })
    .stdout.trim()
    .split('\n')
    .sort();
  assert.equal(found, ['./cumetal/cuda/atomic', `./usr/${long}`, './usr/include/stddef.h'].sort());
  assert.is(readFileSync(join(folder, 'out/usr', long), 'utf8'), 'v');
});

test.run();
