/** `cumetal toolkit` and the words that build systems give to compilers: what CMake asks, and a project that it builds. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CompilerLine, parseLine, withOptionFiles } from '../../src/cli/cc/parse.ts';
import { definedIn, expectedIn, membersOf } from '../../src/cli/cuda/archive-members.ts';
import { libraryOf, stubOf } from '../../src/cli/cuda/library-stub.ts';
import { stepsOf } from '../../src/cli/toolkit/steps.ts';
import { commandLine } from '../support/command-line.ts';
import { need } from '../support/need.ts';

const test = suite('cli/toolkit');

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cumetal toolkit-')));
test.after(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

// ── Words ──

const read = (...words: string[]): CompilerLine => {
  const line = parseLine(words);
  if (typeof line === 'string') throw new Error(line);
  return line;
};

test('a C++ compiler ignores unknown words, and its words are not those of nvcc', () => {
  const line = read(
    ...['--host-compiler', '-Werror', '-Wall', '-march=native', '-fPIC', '-Wl,-z,relro', '-Xlinker', '--version-script', '-O3'],
    ...['-std=gnu++20', '-isystem', 'a', '-Ib,c', '-DX=1,2', '-MD', '-MT', 'x.o', '-MF', 'x.d', '-c', 'x.cpp', '-o', 'x.o'],
  );
  assert.equal(
    line.files.map(({ path }) => path),
    ['x.cpp'],
  );
  assert.equal([line.values('include'), line.values('define'), line.values('standard')], [['a', 'b,c'], ['X=1,2'], ['gnu++20']]);
  assert.equal([line.values('dependencyFile'), line.values('output'), line.values('compile').length], [['x.d'], ['x.o'], 1]);
  // Of nvcc, this word takes the next one.
  assert.equal(read('-Werror', 'all-warnings', 'x.cu').files.length, 1);
});

test('nvcc forwards unknown words where it is asked to', () => {
  assert.match(String(parseLine(['-rdynamic', 'a.cu'])), /^unknown option `-rdynamic`/);
  const line = read('-forward-unknown-to-host-compiler', '-rdynamic', '-Wl,--as-needed', '-DX', 'a.cu');
  assert.equal([line.values('define'), line.files.length], [['X'], 1]);
  assert.equal(read('--forward-unknown-opts', '-fopenmp-simd', 'a.cu').files.length, 1);
});

test('files of options have words as a shell reads them, and may name others', () => {
  const files: Record<string, string> = { one: `-I"a b" '-DX=1 2'\n@two\n`, two: '-c\n', self: '@self' };
  const open = (path: string): string | undefined => files[path];
  assert.equal(withOptionFiles(['a.cu', '--options-file', 'one', '-o', 'a.o'], open), ['a.cu', '-Ia b', '-DX=1 2', '-c', '-o', 'a.o']);
  assert.equal(withOptionFiles(['-optf=two,two', '@two'], open), ['-c', '-c', '-c']);
  assert.is(withOptionFiles(['@none'], open), 'the file of options `none` cannot be read');
  assert.is(withOptionFiles(['--options-file'], open), '`--options-file` requires a value: `--options-file FILE`');
  assert.is(withOptionFiles(['@self'], open), 'the file of options `self` cannot be read');
});

test('an archive that stands for a library is an archive, with one member', () => {
  for (const name of ['cudart', 'cublas']) {
    const bytes = stubOf(name);
    assert.is(libraryOf(bytes), name);
    assert.is(bytes.length % 2, 0, 'members begin at even places');
    // The size of the member is behind its name and four fields.
    assert.is(Number(new TextDecoder().decode(bytes.subarray(8 + 48, 8 + 58))), bytes.length - 68);
  }
  assert.is(libraryOf(new TextEncoder().encode('!<arch>\n')), undefined);
});

test('names that device code defines and expects', () => {
  const text = `.version 8.0
.extern .func (.param .b32 func_retval0) _Z8multiplyi(.param .b32 _Z8multiplyi_param_0);
.extern .func plain
(.param .b64 x);
.extern .global .align 4 .u32 total[16];
.visible .func (.param .b32 r) _Z3onei(.param .b32 a) { ret; }
.weak .func two() { ret; }
.visible .global .align 8 .b8 table[4] = {1, 2, 3, 4};
.visible .const .f32 scale;
.func own() { call plain, (x); ret; }
.visible .entry kernel(.param .u64 p) { ret; }`;
  assert.equal(expectedIn(text), ['_Z8multiplyi', 'plain', 'total']);
  assert.equal(definedIn(text), ['_Z3onei', 'two', 'table', 'scale']);
});

need(test, ['ar'], 'members of an archive, with long names too', () => {
  const object = (byte: number, length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => [0, 0x61, 0x73, 0x6d][i] ?? byte);
  const names = { 'short.o': object(1, 9), 'a name that is longer than sixteen letters.o': object(2, 10) };
  for (const [name, bytes] of Object.entries(names)) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, 'text.txt'), 'no object');
  const { status } = spawnSync('ar', ['qcS', 'members.a', ...Object.keys(names), 'text.txt'], { cwd: folder });
  assert.is(status, 0);
  const members = membersOf(new Uint8Array(readFileSync(join(folder, 'members.a'))));
  assert.equal(
    members.map(({ name, bytes }) => [name, bytes.slice()]),
    Object.entries(names),
  );
  assert.equal(membersOf(new Uint8Array([1, 2, 3])), []);
});

need(test, ['ar'], 'binutils read such an archive', () => {
  writeFileSync(join(folder, 'libx.a'), stubOf('cudart'));
  const { stdout } = spawnSync('ar', ['t', join(folder, 'libx.a')], { encoding: 'utf8' });
  assert.is(stdout, 'cumetal-library\n');
});

test('the steps are those that CMake looks for', () => {
  const steps = stepsOf('/opt/a toolkit');
  // The patterns of CMakeDetermineCUDACompiler.cmake.
  for (const pattern of [
    /#\$ TOP=\/opt\/a toolkit\n/,
    /#\$ NVVMIR_LIBRARY_DIR=.*nvvm\/libdevice\n/,
    /#\$ +PATH= *[^\n]+\n/,
    /#\$ +INCLUDES= *"-I[^\n]+"\n/,
    /-arch compute_(\d+)/,
  ])
    assert.match(steps, pattern);
  const [, libraries] = /#\$ +LIBRARIES= *([^\n]*)\n/.exec(steps)!;
  const [, launcher] = new RegExp(`\\n#\\$ "([^"]+)" [^\\n]*${libraries}[^\\n]*-lcudart_static`).exec(steps)!;
  assert.is(launcher, '/opt/a toolkit/bin/cumetal-c++');
});

// ── The folder ──

test('the folder has what a toolkit has, and no other folder is written to', async () => {
  const root = join(folder, 'made');
  const { code, out, written } = await commandLine(['toolkit', root]);
  assert.is(code, 0);
  assert.match(out, /made has nvcc, headers and libraries of CUDA 12\.8/);
  const names = Object.keys(written).map((path) => path.slice(root.length + 1));
  for (const name of ['bin/nvcc', 'bin/cumetal-c++', 'bin/cumetal-cc', 'cumetal.cmake', 'include/cuda_runtime.h', 'lib64/libcudart.a'])
    assert.ok(names.includes(name), name);
  const other = file('other/mine.txt', 'x');
  const refused = await commandLine(['toolkit', dirname(other)]);
  assert.is(refused.code, 2);
  assert.match(refused.err, /is there, and `cumetal toolkit` did not write it\n {2}= help: name a folder that is new or empty/);
});

// ── A project ──

const project = {
  'CMakeLists.txt': `cmake_minimum_required(VERSION 3.18)
project(demo LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(parts STATIC parts/scale.cu parts/factor.cu parts/sum.cpp)
target_include_directories(parts PUBLIC parts)
target_compile_definitions(parts PRIVATE FACTOR=3)
target_compile_features(parts PUBLIC cxx_std_17 cuda_std_17)
set_target_properties(parts PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_executable(demo main.cu)
target_link_libraries(demo PRIVATE parts CUDA::cudart)
`,
  'parts/parts.h': 'void scale(int *data, int n);\nint sum(const int *data, int n);\n',
  'parts/factor.cu': '__device__ int multiply(int x) { return x * FACTOR; }\n',
  'parts/scale.cu': `#include "parts.h"
extern __device__ int multiply(int x);
__global__ void kernel(int *data, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) data[i] = multiply(data[i]); }
void scale(int *data, int n) {
  int *device;
  cudaMalloc(&device, n * sizeof(int));
  cudaMemcpy(device, data, n * sizeof(int), cudaMemcpyHostToDevice);
  kernel<<<(n + 63) / 64, 64>>>(device, n);
  cudaMemcpy(data, device, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
}
`,
  'parts/sum.cpp':
    '#include "parts.h"\n#include <numeric>\nint sum(const int *data, int n) { return std::accumulate(data, data + n, 0); }\n',
  'main.cu': `#include "parts.h"
#include <cstdio>
int main() {
  int data[100];
  for (int i = 0; i < 100; i++) data[i] = i;
  scale(data, 100);
  printf("%d\\n", sum(data, 100));
}
`,
};

need(
  test,
  ['cmake', 'make', 'sysroot', 'wasm-clang'],
  'CMake builds a project with a static library of both languages, whose device code is linked',
  () => {
    for (const [name, text] of Object.entries(project)) file(`project/${name}`, text);
    const run = (command: string, ...words: string[]): string => {
      const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8', cwd: join(folder, 'project') });
      assert.is(status, 0, `${command} ${words.join(' ')}: ${stdout}${stderr}`);
      return stdout + stderr;
    };
    run(join(import.meta.dirname, '../../bin/cumetal'), 'toolkit', join(folder, 'cuda'));
    assert.is(statSync(join(folder, 'cuda/bin/nvcc')).mode & 0o111, 0o111);
    const said = run('cmake', '-B', 'build', `-DCMAKE_TOOLCHAIN_FILE=${join(folder, 'cuda/cumetal.cmake')}`);
    assert.match(said, /The CXX compiler identification is Clang 22/);
    assert.match(said, /The CUDA compiler identification is NVIDIA 12\.8/);
    assert.match(said, /Found CUDAToolkit: .*\(found version "12\.8\.0"\)/);
    const built = run('cmake', '--build', 'build');
    assert.not.match(built, /warning/);
    assert.is(run(join(folder, 'project/build/demo')), `${(3 * 99 * 100) / 2}\n`);
    assert.match(readFileSync(join(folder, 'project/build/libparts.a'), 'latin1'), /^!<arch>\n/);
  },
);

test.run();
