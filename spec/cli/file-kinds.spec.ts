/** Files that are no PTX: each is named in one line, with what to do; AIR comes back into a metallib. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';
import { examplesFolder } from '../support/examples.ts';

const test = suite('cli/file-kinds');

const bytes = (text: string, more = 64): Uint8Array =>
  Uint8Array.from([...text].map((letter) => letter.charCodeAt(0)).concat(Array<number>(more).fill(0)));

const kinds: Readonly<Record<string, readonly [content: string | Uint8Array, what: string, help: RegExp]>> = {
  'a.npy': [bytes('\x93NUMPY\x01\x00'), 'a NumPy array', /--arg f32@a\.npy/],
  'a.npz': [bytes('PK\x03\x04'), 'a NumPy archive of several arrays', /numpy\.save/],
  noname: [bytes(`PK\x03\x04${'\0'.repeat(26)}weights.npy`), 'a NumPy archive of several arrays', /numpy\.save/],
  'a.zip': [bytes('PK\x03\x04'), 'a zip archive', /unpack it/],
  'a.gz': [bytes('\x1f\x8b\x08'), 'gzip data', /gunzip a\.gz/],
  'a.png': [bytes('\x89PNG\r\n\x1a\n'), 'a PNG image', /PTX is text/],
  'a.jpg': [bytes('\xff\xd8\xff\xe0'), 'a JPEG image', /PTX is text/],
  'a.pdf': [bytes('%PDF-1.7'), 'a PDF document', /PTX is text/],
  'a.a': [bytes('!<arch>\n'), 'a static library', /ar x a\.a/],
  'a.exe': [bytes('MZ'), 'a Windows program', /cuobjdump/],
  'a.wasm': [bytes('\0asm'), 'a WebAssembly module', /PTX/],
  'a.spv': [bytes('\x03\x02\x23\x07'), 'a SPIR-V module', /PTX/],
  'a.bin': [bytes('\x01\x02\x03\0'), 'a binary file of an unknown format', /PTX is text/],
  'empty.ptx': ['', 'an empty file', /PTX is text/],
  'wide.ptx': [bytes('\xff\xfe.\0v\0'), 'UTF-16 text', /UTF-8/],
  'k.cpp': ['// saxpy\n#include <cuda.h>\n__global__ void k() {}\n', 'C++ source', /nvcc -ptx/],
  'copied.ptx': ['extern "C" __global__ void k() {}\n', 'C++ source', /nvcc -ptx/],
  'k.metal': ['#include <metal_stdlib>\nusing namespace metal;\n', 'Metal source', /xcrun metal/],
  'k.cl': ['__kernel void k(__global int *p) {}\n', 'OpenCL source', /nvptx64/],
  'k.py': ['import triton\n', 'Python source', /kernel\.asm\["ptx"\]/],
  'k.sass': ['\tFunction : k\n        /*0000*/  MOV R1, c[0x0][0x28] ;\n', 'a listing of SASS', /cuobjdump -ptx/],
  'launch.json': ['{ "module": "k.ptx" }', 'JSON', /cumetal run --launch launch\.json/],
  'run.sh': ['#!/bin/sh\n', 'a script', /PTX is text/],
  'page.html': ['<!DOCTYPE html>', 'a page', /PTX is text/],
};

test('each kind is named, with what to do, by check, build and run', async () => {
  const files = Object.fromEntries(Object.entries(kinds).map(([name, [content]]) => [name, content]));
  for (const [name, [, what, help]] of Object.entries(kinds))
    for (const words of [
      ['check', name],
      ['build', name, '-o', 'o.metallib'],
      ['run', name],
    ]) {
      const { code, err, written } = await commandLine(words, files);
      assert.is(code, 3, `${words.join(' ')}: ${err}`);
      const [first, second] = err.split('\n');
      assert.is(first, `error[CM4070]: \`${name}\` is ${what}, not PTX`);
      assert.match(second!, help);
      assert.equal(Object.keys(written), []);
    }
});

test('an error of a file without lines names the file, in every format and command', async () => {
  const files = { 'a.metallib': 'MTLB', 'b.air': 'BC\u0000', 'c.fatbin': Uint8Array.from([0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0]) };
  for (const path of Object.keys(files)) {
    assert.match((await commandLine(['check', path], files)).err, ` --> ${path}\n`);
    assert.match((await commandLine(['run', path, '--device', 'cpu'], files)).err, ` --> ${path}\n`);
    assert.match((await commandLine(['check', path, '--format', 'github'], files)).out, `file=${path},`);
    const { diagnostics } = JSON.parse((await commandLine(['check', path, '--json'], files)).out);
    assert.is(diagnostics[0].file, path);
  }
  // The message of what no text is has the name, and a machine finds it in its place.
  for (const path of ['n.npy', 'gone.ptx']) {
    const words = ['check', path, '--format'];
    const npy = { 'n.npy': Uint8Array.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]) };
    assert.match((await commandLine([...words, 'github'], npy)).out, `::error file=${path},title=`);
    assert.is(JSON.parse((await commandLine([...words, 'json'], npy)).out).diagnostics[0].file, path);
  }
  assert.match((await commandLine(['inspect', 'a.metallib'], files)).err, ' --> a.metallib\n');
});

test('text that only starts like another language is PTX', async () => {
  const ptx = '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { ret; }\n';
  const files = { 'k.ptx': `// #include <x>\n/* def k(x): */\n#define\n${ptx}`, 'json.ptx': `/* { */ ${ptx}` };
  assert.match((await commandLine(['check', 'k.ptx'], files)).err, /k\.ptx:3:1/);
  assert.is((await commandLine(['check', 'json.ptx'], files)).code, 0);
});

const example = join(examplesFolder, 'saxpy.ptx');
const build = async (from: string, emit: string, to: string, files = {}) =>
  (await commandLine(['build', from, '--emit', emit, '-o', to], files)).written[to]!;

test('AIR bitcode and its text come back into the same metallib', async () => {
  const metallib = await build(example, 'metallib', 'm.metallib');
  for (const [emit, name] of [
    ['air', 'k.air'],
    ['air', 'k.bc'],
    ['air', 'noname'],
    ['air-ll', 'k.ll'],
    ['air-ll', 'text'],
  ] as const) {
    const files = { [name]: await build(example, emit, name) };
    assert.equal(await build(name, 'metallib', 'm.metallib', files), metallib, name);
    assert.equal(await build(name, 'air', 'again.air', files), await build(example, 'air', 'x.air'), name);
    assert.equal(await build(name, 'air-ll', 'again.ll', files), await build(example, 'air-ll', 'x.ll'), name);
    assert.is((await commandLine(['check', name], files)).code, 0);
    const words = [
      'run',
      name,
      '--grid',
      '1',
      '--block',
      '4',
      '--arg',
      'f32=2',
      '--arg',
      'f32:4=iota',
      '--arg',
      'f32:4=ones',
      '--arg',
      'u32=4',
    ];
    const { code, out } = await commandLine([...words, '--print', '2'], files);
    assert.is(code, 0);
    assert.match(out, /\n {2}0 \| 1 3 5 7\n/);
  }
});

test('bitcode in the wrapper of LLVM for Apple systems', async () => {
  const air = await build(example, 'air', 'k.air');
  const wrapped = new Uint8Array(20 + air.length + 12);
  const words = [0x0b17c0de, 0, 20, air.length, 0xffffffff];
  words.forEach((word, i) => void new DataView(wrapped.buffer).setUint32(4 * i, word, true));
  wrapped.set(air, 20);
  assert.equal(await build('w.bc', 'metallib', 'm.metallib', { 'w.bc': wrapped }), await build(example, 'metallib', 'm.metallib'));
});

test('the text of several kernels becomes one metallib', async () => {
  const kernel = (name: string): string =>
    `.visible .entry ${name}(.param .u64 p) { .reg .b64 %d<2>; ld.param.u64 %d1, [p]; st.global.u32 [%d1], 7; ret; }\n`;
  const files = { 'two.ptx': `.version 7.0\n.target sm_70\n.address_size 64\n${kernel('first')}${kernel('second')}` };
  const text = await build('two.ptx', 'air-ll', 'two.ll', files);
  assert.equal(
    await build('two.ll', 'metallib', 'm.metallib', { 'two.ll': text }),
    await build('two.ptx', 'metallib', 'm.metallib', files),
  );
  const { code, err } = await commandLine(['build', 'two.ll', '--emit', 'air', '-o', 'x.air'], { 'two.ll': text });
  assert.is(code, 3);
  assert.match(err, /CM5090/);
});

test('LLVM of others, damaged AIR and impossible forms are refused', async () => {
  const air = await build(example, 'air', 'k.air');
  const text = new TextDecoder().decode(await build(example, 'air-ll', 'k.ll'));
  const files = {
    'k.air': air,
    'short.air': air.subarray(0, 200),
    'x86.ll': text.replace(/air64-apple-macosx15\.0\.0/, 'x86_64-pc-linux-gnu'),
    'nokernel.ll': text.replace(/^!air\.kernel.*$/m, ''),
    'bad.ll': text.replace('getelementptr', 'getpointer'),
  };
  const of = async (name: string, ...more: string[]) => commandLine(['build', name, '-o', 'o', ...more], files);
  assert.match((await of('short.air')).err, /CM4002/);
  assert.match((await of('x86.ll')).err, /CM4071\]: .* it is for `x86_64-pc-linux-gnu`[\s\S]*llc -march=nvptx64/);
  assert.match((await of('nokernel.ll')).err, /CM4071\]: .* no kernel/);
  const bad = await of('bad.ll');
  assert.is(bad.code, 3);
  assert.match(bad.err, /error\[CM4072\]: .*`getpointer` is not supported\n +--> bad\.ll:\d+:\d+\n/);
  const wat = await of('k.air', '--emit', 'wat');
  assert.is(wat.code, 2);
  assert.match(wat.err, /`--emit wat` requires PTX/);
  for (const words of [
    ['--target', 'macos14'],
    ['--fp64', 'soft'],
    ['--mma', 'fast'],
    ['--ptx-strict'],
    ['--entry', 'k'],
    ['--print-after', 'all'],
  ]) {
    const { code, err, written } = await of('k.air', ...words);
    assert.equal([code, Object.keys(written)], [2, []], words[0]);
    assert.match(err, `error: \`${words[0]}\` requires PTX, and \`k.air\` is an AIR module`);
  }
  assert.is((await of('k.air')).err, '', 'the target is that of the module, and not the default');
});

test.run();
