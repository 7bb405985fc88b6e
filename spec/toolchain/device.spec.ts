/** What the compiler is given for a source: files, arguments; and what is made of its answer. The compiler here is a stand-in. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { frontEndArguments } from '../../src/toolchain/arguments.ts';
import { type Clang, compileDevice, deviceKey, hostKey, includedFiles, locatePackage, type Tree } from '../../src/toolchain/index.ts';
import { root } from '../support/examples.ts';

const test = suite('toolchain/device');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function file(path: string, text: string): string {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
}

const source = file('src/a.cu', '#include "b.h"\n  #  include <lib.h>\n#if 0\n#include "sub/c.h"\n#endif\n#include <stdio.h>\n// "d.h"\n');
file('src/b.h', '#include "sub/c.h"\n#include "b.h"\n');
file('src/sub/c.h', '#include "../d.h"\n#include "missing.h"\n');
file('src/d.h', '');
file('src/unused.h', '');
file('lib/lib.h', '#include "own.h"\n');
file('lib/own.h', '');
const folders = [join(folder, 'lib')];

test('files are those that a source includes, from its folder, that of the header, and the named ones', () => {
  const found = [...includedFiles(source, folders).keys()].map((path) => path.slice(folder.length + 1)).sort();
  assert.equal(found, ['lib/lib.h', 'lib/own.h', 'src/a.cu', 'src/b.h', 'src/d.h', 'src/sub/c.h']);
});

test('where the name of a file is a macro, headers of that library come along', () => {
  const outer = file('src2/m.cu', '#include <deep/all.h>\n');
  file('inc/deep/all.h', '#define ONE <deep/one/x.h>\n#include ONE\n');
  for (const path of ['inc/deep/one/x.h', 'inc/deep/two/y.inl', 'inc/deep/words', 'inc/deep/notes.txt', 'inc/other/z.h']) file(path, '');
  file('src2/beside.h', '');
  const named = (path: string): string[] =>
    [...includedFiles(path, [join(folder, 'inc')]).keys()].map((each) => each.slice(folder.length + 1)).sort();
  assert.equal(named(outer), ['inc/deep/all.h', 'inc/deep/one/x.h', 'inc/deep/two/y.inl', 'inc/deep/words', 'src2/m.cu']);
  assert.equal(named(file('src2/own.cu', '#define A "beside.h"\n#include A\n')), ['src2/beside.h', 'src2/own.cu']);
});

test('a source that includes itself, or nothing', () => {
  assert.is(includedFiles(file('self.cu', '#include "self.cu"\n'), []).size, 1);
  assert.is(includedFiles(file('none.cu', ''), []).size, 1);
});

/** A compiler that answers with bitcode of the fixtures, and remembers what it was given. */
function standIn(
  name: string | undefined,
  messages = '',
): { readonly clang: Clang; readonly calls: { args: readonly string[]; files: Tree }[] } {
  const calls: { args: readonly string[]; files: Tree }[] = [];
  const bitcode = name && new Uint8Array(readFileSync(join(root, `fixtures/nvvm/refused/${name}.bc`)));
  const clang: Clang = async (args, files) => {
    calls.push({ args, files });
    const output = args[args.indexOf('-o') + 1]!;
    return bitcode ? { code: 0, files: { [output]: bitcode }, messages } : { code: 1, files: {}, messages };
  };
  return { clang, calls };
}

const at = (tree: Tree, path: string): unknown =>
  path
    .split('/')
    .filter((word) => word !== '')
    .reduce<unknown>((inner, word) => (inner as Tree | undefined)?.[word], tree);

test('the compiler gets the files below one folder, our headers below another, and the words of the user', async () => {
  const { clang, calls } = standIn('undefined');
  const files = includedFiles(source, folders);
  const diagnostics = new Diagnostics();
  const { ptx } = await compileDevice(clang, { path: source, files, folders, defines: ['A', 'B=2'], standard: 'c++20' }, diagnostics);
  assert.is(ptx, undefined);
  assert.equal(
    diagnostics.list.map(({ code }) => code),
    ['CM4080'],
  );
  const [{ args, files: tree }] = calls as [(typeof calls)[0]];
  assert.instance(at(tree, `host${source}`), Uint8Array);
  assert.instance(at(tree, `host${folder}/lib/own.h`), Uint8Array);
  assert.instance(at(tree, 'cumetal/cuda_runtime.h'), Uint8Array);
  const line = args.join(' ');
  assert.ok(line.includes(` -std=c++20 -I /host${folder}/lib -D A -D B=2 `), line);
  assert.ok(line.endsWith(` -x cuda /host${source}`));
  assert.ok(line.includes('-internal-isystem /cumetal '));
});

test('messages have the paths of the host, and a failure no PTX', async () => {
  const { clang } = standIn(undefined, `/host${source}:1:2: error: no\n`);
  const diagnostics = new Diagnostics();
  const made = await compileDevice(clang, { path: source, files: includedFiles(source, []), folders: [] }, diagnostics);
  assert.equal(made, { ptx: undefined, messages: `${source}:1:2: error: no\n` });
  assert.equal(diagnostics.list, []);
});

test('each option changes the key of the cache', () => {
  const files = new Map<string, Uint8Array>();
  const base = { path: source, files, folders: [] as string[] };
  const keys = [base, { ...base, folders: ['/x'] }, { ...base, defines: ['A'] }, { ...base, standard: 'c++20' }].map(deviceKey);
  assert.is(new Set(keys).size, keys.length);
});

test('static names of a file of a relocatable program are its own, and the same in both halves', () => {
  const unit = (path: string, isRelocatable = true): string | undefined =>
    frontEndArguments('cuda', { path, files: new Map(), folders: [], isRelocatable }).find((word) => word.startsWith('-cuid='));
  assert.match(unit('/a/one.cu')!, /^-cuid=[\da-f]{16}$/);
  assert.is(unit('/a/one.cu'), unit('/a/one.cu'));
  assert.is.not(unit('/a/one.cu'), unit('/a/two.cu'));
  assert.is(unit('/a/one.cu', false), undefined);
});

test('a standard of another language is not one of this source', () => {
  const base = { path: source, files: new Map<string, Uint8Array>(), folders: [] };
  const key = (language: 'c' | 'c++', standard?: string): string =>
    hostKey(language, standard === undefined ? base : { ...base, standard });
  assert.is(key('c', 'c++17'), key('c'));
  assert.is(key('c++', 'c11'), key('c++'));
  assert.is.not(key('c', 'c11'), key('c'));
  assert.is.not(key('c++', 'c++20'), key('c++'));
});

test('the package is the nearest one above a folder, and has to be whole', () => {
  const package_ = 'project/node_modules/@yowasp/clang';
  file(`${package_}/gen/bundle.js`, '');
  assert.is(locatePackage([join(folder, 'project/deep/er')]), undefined);
  file(`${package_}/package.json`, '{ "version": "22.0.0" }');
  assert.equal(locatePackage(['/nowhere', join(folder, 'project/deep/er')]), {
    entry: join(folder, package_, 'gen/bundle.js'),
    resources: join(folder, package_, 'gen/llvm-resources.tar'),
    version: '22.0.0',
  });
  file(`${package_}/package.json`, '{');
  assert.is(locatePackage([join(folder, 'project')]), undefined);
});

test.run();
