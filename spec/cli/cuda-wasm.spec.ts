/** `.cu` files without an installed compiler: clang as WebAssembly, our own headers, and the translation of its bitcode. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';
import { root } from '../support/examples.ts';

const test = suite('cli/cuda-wasm');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal-spec-')));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const run = (words: readonly string[]) => commandLine([...words, '--compiler', 'wasm']);

const scale = file(
  'scale.cu',
  `#include "own/twice.h"
#include <shared.h>
template <class T> __global__ void scale(T *p, T f, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = twice(p[i]) * f + OFFSET + shared;
}
template __global__ void scale<float>(float *, float, int);
template __global__ void scale<int>(int *, int, int);
`,
);
file('own/twice.h', '#include "deep.h"\ntemplate <class T> __device__ T twice(T x) { return times<T>(x); }\n');
file('own/deep.h', 'template <class T> __device__ T times(T x) { return x + x; }\n');
file('library/shared.h', 'constexpr int shared = 1000;\n');
const options = ['-I', join(folder, 'library'), '-D', 'OFFSET=100'];

test('a template kernel with headers of its own, a folder of headers, and a macro', async () => {
  const launch = ['--grid', '1', '--block', '32', '--arg', 'f32:4=iota', '--arg', 'f32=3', '--arg', 'i32=4', '--print', '0'];
  const { code, out, err } = await run(['run', scale, ...options, '--kernel', 'scale<float>', ...launch, '--device', 'cpu']);
  assert.equal([code, err], [0, '']);
  assert.match(out, /^scale<float>\(float\*, float, int\) on CPU/);
  assert.match(out, /0 \| 1100 1106 1112 1118\n/);
});

test('a header of the folder above is that one, and not its namesake beside the source', async () => {
  file('above.h', '#define VALUE 7\n');
  file('below/above.h', '#define VALUE 8\n');
  file('other/next.h', '#include "../below/../above.h"\n');
  const path = file('below/up.cu', '#include "../other/next.h"\n#include <../above.h>\n__global__ void up(int *p) { *p = VALUE; }\n');
  const launch = ['--grid', '1', '--block', '1', '--arg', 'i32:1', '--print', '0', '--device', 'cpu'];
  const { code, out, err } = await run(['run', path, '-I', join(folder, 'library', '..', 'own'), ...launch]);
  assert.equal([code, err], [0, '']);
  assert.match(out, /0 \| 7\n/);
  const wrong = file('below/wrong.cu', '#include "../other/bad.h"\n');
  file('other/bad.h', 'int x = nothing;\n');
  assert.match((await run(['check', wrong])).err, /below\/\.\.\/other\/bad\.h:1:9: error: use of undeclared identifier 'nothing'/);
});

test('the standard is a word of the compiler', async () => {
  const concept = file('concept.cu', 'template <class T> concept Any = true;\n__global__ void k(int *p) { *p = Any<int>; }\n');
  assert.is((await run(['check', concept, '--std', 'c++20'])).code, 0);
  const { code, err } = await run(['check', concept, '--std', 'c++14']);
  assert.is(code, 3);
  assert.match(err, /concept\.cu:1:20: error: .*concept/);
});

test('errors of clang are shown as they are, a missing header too', async () => {
  const wrong = file('wrong.cu', '__global__ void k(int *p) {\n  *p = missing;\n}\n');
  const { code, out, err } = await run(['run', wrong]);
  assert.equal([code, out], [3, '']);
  assert.match(err, /wrong\.cu:2:8: error: use of undeclared identifier 'missing'\n +2 \| {3}\*p = missing;\n/);
  assert.match(err, /error: clang could not compile `.*wrong\.cu`\n$/);
  const header = await run(['check', file('header.cu', '#include <nowhere.h>\n')]);
  assert.is(header.code, 3);
  assert.match(header.err, /header\.cu:1:10: fatal error: 'nowhere\.h' file not found/);
});

test('what the translation refuses has the line of the file', async () => {
  const path = file('wide.cu', 'extern "C" __global__ void wide(unsigned __int128 *p) {\n  p[0] = p[1] / p[2];\n}\n');
  const { code, err } = await run(['check', path]);
  assert.is(code, 3);
  assert.match(err, /error\[CM4080\]: no translation to PTX for udiv of integers of 128 bits, in `wide` at .*wide\.cu:2:15\n/);
});

test('the sanitizer names the line of the file', async () => {
  const path = file('far.cu', '__global__ void far(float *p) {\n  int i = threadIdx.x;\n  p[i + 1] = p[i];\n}\n');
  const words = ['run', path, '--grid', '1', '--block', '32', '--arg', 'f32:32', '--device', 'cpu', '--sanitize'];
  const { code, err } = await run(words);
  assert.is(code, 1);
  assert.match(err, /far\.cu:3:\d+/);
});

/** The launch of an example's PTX, without `//! cumetal:`. */
const launchWords = (ptx: string): string[] =>
  [...ptx.matchAll(/^\/\/! cumetal: (.*)$/gm)].flatMap(([, words]) => words!.replaceAll('"', '').split(' '));

test('examples give what their PTX from nvcc gives', async () => {
  for (const name of ['reduce', 'histogram', 'scan']) {
    const ptx = join(root, `examples/${name}.ptx`);
    const words = launchWords(readFileSync(ptx, 'utf8'));
    assert.ok(words.length > 4);
    const printed = (out: string): string[] => out.split('\n').filter((line) => /^ +\d+ \|/.test(line));
    const expected = printed((await commandLine(['run', ptx, '--device', 'cpu'])).out);
    assert.ok(expected.length > 0);
    const { code, out, err } = await run(['run', join(root, `examples/${name}.cu`), ...words, '--device', 'cpu']);
    assert.equal([code, err], [0, '']);
    assert.equal(printed(out), expected);
  }
});

test('bitcode of the NVPTX target is a module of kernels, and --emit ptx prints what it became', async () => {
  const bitcode = new Uint8Array(gunzipSync(readFileSync(join(root, 'fixtures/nvvm/features-O2.bc.gz'))));
  const { code, err, written } = await commandLine(['build', 'f.bc', '--emit', 'ptx', '-o', 'f.ptx'], { 'f.bc': bitcode });
  assert.equal([code, err], [0, '']);
  const ptx = new TextDecoder().decode(written['f.ptx']);
  assert.match(ptx, /^\.version 8\.0\n\.target sm_80\n/);
  assert.is((await commandLine(['check', 'f.ptx'], { 'f.ptx': ptx })).code, 0);
  const refused = await commandLine(['build', join(root, 'fixtures/nvvm/refused/wide.bc'), '-o', 'w.metallib']);
  assert.is(refused.code, 3);
  assert.match(refused.err, /error\[CM4080\]: .* at wide\.cu:17:75\n/);
});

test('static variables keep their names and their loads: who loads the PTX may write them', async () => {
  const path = file(
    'kept.cu',
    '#include "factor.h"\n__device__ static int start = 3;\nextern "C" __global__ void k(int *p) { *p = factor + start; }\n',
  );
  file('factor.h', 'static __constant__ int factor;\n');
  const { code, err, out } = await run(['build', path, '--emit', 'ptx', '-o', '-']);
  assert.equal([code, err], [0, '']);
  // As nvcc 13.0 has them, but for the type of the bytes.
  assert.match(out, /\.const \.align 4 \.b8 factor\[4\]/);
  assert.match(out, /\.global \.align 4 \.b8 start\[4\] = \{3\}/);
  assert.match(out, /ld\.const\.u32 %r\d+, \[factor\]/);
  assert.match(out, /ld\.global\.u32 %r\d+, \[start\]/);
});

test('registers in assembly have one percent sign, as for nvcc, or two; errors have their texts in kernels, and a variable may be unset', async () => {
  const path = file(
    'names.cu',
    `__device__ unsigned lane() { unsigned r; asm volatile("{ .reg .b32 t; mov.u32 t, %laneid;" /* "( */ " mov.u32 %0, t; }" : "=r"(r)); return r; }
__device__ unsigned warp() { unsigned r; __asm__("mov.u32 %0, %%warpid;" : "=r"(r)); return r; }
__global__ void k(unsigned *p, const char **q) { *p = lane() + warp(); asm("pmevent 1; // %tid"); *q = cudaGetErrorString((cudaError_t)*p); }
__global__ void one(unsigned *p) {
  unsigned first;
  if (threadIdx.x == 0) first = atomicAdd(p, 1);
  p[1 + threadIdx.x] = __shfl_sync(~0u, first, 0);
}
`,
  );
  const { code, err, out } = await run(['build', path, '--emit', 'ptx', '-o', '-']);
  assert.equal([code, err], [0, '']);
  for (const line of ['mov.u32 t, %laneid;', 'mov.u32 %r', ', %warpid;', 'pmevent 1; // %tid']) assert.ok(out.includes(line), line);
  // The first thread alone adds, although the others give the shuffle a variable that is not set.
  assert.match(out.slice(out.indexOf('.entry _Z3onePj')), /setp\.[\s\S]*@!?%p\d+ bra[\s\S]*atom\.[\w.]*add/);
  const texts = [...out.matchAll(/= \{([\d, ]+)\};/g)].map(([, bytes]) => String.fromCharCode(...bytes!.split(', ').map(Number)));
  assert.ok(texts.some((text) => text.startsWith('an illegal memory access was encountered')));
});

test('without the package, the command says how to get it, and its size', async () => {
  const { code, err } = await commandLine(['run', scale, '--compiler', 'wasm'], {}, { CUMETAL_CLANG: folder });
  assert.is(code, 2);
  assert.match(
    err,
    /^error: `.*scale\.cu` is CUDA C\+\+, and there is no compiler for it: the package `@yowasp\/clang` is not installed\n/,
  );
  assert.match(err, /`npm install @yowasp\/clang` in this folder \(105 MB\)/);
});

test.run();
