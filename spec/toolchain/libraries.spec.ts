/**
 * CUDA's libraries, against what the same programs print on an H200 with NVIDIA's: `fixtures/libraries`. Inputs are quarters, so that sums and
 * products are exact in every order: lines with `=` must be the same numbers, and others the same to the last digits.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { libraryOfSymbol } from '../../src/toolchain/cuda-library-names.ts';
import { root } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('toolchain/libraries');

/** Lines of results, without those that a library of NVIDIA writes itself. */
const linesOf = (text: string): string[] => text.split('\n').filter((line) => /^[=#\w]/.test(line));

/** What an H200 printed, in the sections of these names, or all of it. */
function recorded(name: string, sections: readonly string[]): string[] {
  const packed = new Uint8Array(readFileSync(join(root, `fixtures/libraries/${name}.txt.gz`)));
  let section = '';
  return linesOf(new TextDecoder().decode(Bun.gunzipSync(packed))).filter((line) => {
    if (line.startsWith('# ')) section = line.slice(2);
    const isFrame = line.startsWith('=create') || line.startsWith('=destroy');
    return sections.length === 0 || isFrame || sections.includes(section);
  });
}

const numbersOf = (line: string): number[] =>
  (line.split(':').slice(1).join(':').match(/\S+/g) ?? []).flatMap((word) => word.split(',').map(Number));

/** Digits of a number in front of its exponent. */
const digitsOf = (word: string): number =>
  word
    .replace(/e.*/, '')
    .replace(/^-?0\.0*/, '')
    .replace(/\D/g, '').length;

/** How far numbers may be off, of the largest one of a line: those of more than 11 digits are double. */
const toleranceOf = (line: string): number => (line.split(/[ ,]/).some((word) => digitsOf(word) > 11) ? 1e-12 : 1e-5);

function isSame(expected: string, found: string): boolean {
  if (expected === found) return true;
  if (expected.split(':')[0] !== found.split(':')[0]) return false;
  const [a, b] = [numbersOf(expected), numbersOf(found)];
  if (a.length !== b.length || a.some(Number.isNaN) || b.some(Number.isNaN)) return false;
  const bound = expected.startsWith('=') ? 0 : toleranceOf(expected) * Math.max(...a.map(Math.abs));
  return a.every((x, i) => Math.abs(x - b[i]!) <= bound);
}

const run = (words: readonly string[]) => spawnSync(join(root, 'bin/cumetal'), words, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });

function compare(name: string, libraries: readonly string[], sections: readonly string[] = []): void {
  const rest = sections.length > 0 ? ['--', ...sections] : [];
  const words = ['run', `fixtures/libraries/${name}.cu`, '--device', 'cpu', ...libraries.map((library) => `-l${library}`), ...rest];
  const { status, stdout, stderr } = run(words);
  assert.equal([status, stderr], [0, ''], name);
  const [expected, found] = [recorded(name, sections), linesOf(stdout)];
  const at = expected.findIndex((line, i) => !isSame(line, found[i] ?? ''));
  assert.is(at < 0 ? '' : `${name}: ${found[at]?.slice(0, 300)}`, at < 0 ? '' : `${name}: ${expected[at]?.slice(0, 300)}`);
  assert.is(found.length, expected.length, name);
  assert.ok(found.length > 20, name);
}

// The other types are the same sources, and were compared once: `compare('cublas', ['cublas'])`.
need(test, ['sysroot', 'cuda-libraries'], 'cuBLAS computes what it does on an H200', () =>
  compare('cublas', ['cublas'], ['helpers', 'level1Z', 'level2C', 'level3C']),
);
need(test, ['sysroot', 'cuda-libraries'], 'cuSOLVER computes what it does on an H200', () => compare('cusolver', ['cusolver']));
need(test, ['sysroot', 'cuda-libraries'], 'sums and extremes of long vectors are those of all blocks', () => {
  const { status, stdout, stderr } = run(['run', 'fixtures/libraries/long.cu', '--device', 'cpu', '-lcublas']);
  // 600000 numbers from 0 to 6, and one of 100: whole numbers, whose sums are exact.
  const numbers = Array.from({ length: 600_000 }, (_, i) => (i === 500_001 ? 100 : i % 7));
  const sum = numbers.reduce((a, b) => a + b, 0);
  const squares = numbers.reduce((a, b) => a + b * b, 0);
  assert.equal([status, stderr], [0, '']);
  assert.equal(stdout.trim().split(' ').slice(0, 4).map(Number), [sum, squares, 500_002, 1]);
  assert.ok(Math.abs(Number(stdout.trim().split(' ')[4]) - Math.sqrt(squares)) < 1e-9 * Math.sqrt(squares));
});
need(test, ['sysroot', 'cuda-libraries'], 'cuRAND generates the numbers that it does on an H200', () => compare('curand', ['curand']));
need(test, ['sysroot', 'cuda-libraries'], 'numbers of other generators have their distribution', () => {
  const { status, stdout, stderr } = run(['run', 'fixtures/libraries/curand.cu', '--device', 'cpu', '-lcurand', '--', 'moments']);
  const lines = stdout.trimEnd().split('\n');
  assert.equal([status, stderr, lines.length], [0, '', 20]);
  for (const line of lines) assert.match(line, / 0: mean variance$/);
});
need(
  test,
  ['sysroot', 'cuda-libraries'],
  'systems of sparse matrices, and products of matrices of the host, have whole numbers as solutions',
  () => {
    const { status, stdout, stderr } = run(['run', 'fixtures/libraries/solvers.cu', '--device', 'cpu', '-lcusolver', '-lcublas']);
    const solved = ['chol', 'lu', 'qr'].map((name) => `${name} 0`);
    // 3 by 4 numbers from 0 by columns, times 4 by 2 from -3, and 0 to 5 added.
    const gemm = [0, 1, 2, 3, 4, 5].map((place) => {
      const [r, c] = [place % 3, Math.floor(place / 3)];
      return [0, 1, 2, 3].reduce((sum, k) => sum + (r + 3 * k) * (k + 4 * c - 3), place);
    });
    assert.equal([status, stderr], [0, '']);
    assert.equal(stdout.trimEnd().split('\n'), [
      'symmetric 1',
      ...[...solved, ...solved, ...solved],
      'pivot -1',
      'steps 0',
      'refactored 0',
      `gemm ${gemm.join(' ')}`,
    ]);
  },
);
need(test, ['sysroot', 'cuda-libraries'], 'cuFFT computes what it does on an H200', () => compare('cufft', ['cufft']));
need(test, ['sysroot', 'cuda-libraries'], 'cuSPARSE computes what it does on an H200', () => compare('cusparse', ['cusparse']));

/** A file with the addresses of functions, under one name. */
function addressesOf(list: string, headers: readonly string[], names: readonly string[]): string {
  const includes = headers.map((header) => `#include <${header}.h>\n`).join('');
  return `${includes}extern const void *const ${list}[] = {${names.map((name) => `(const void *)${name}`).join(', ')}};\n`;
}

need(test, ['sysroot', 'cuda-libraries'], 'every function of the list is in its library', () => {
  const page = readFileSync(join(root, 'docs/cuda-libraries.md'), 'utf8');
  // Both forms of cuBLAS have the same names, in headers that exclude each other.
  const legacy = /^## cuBLAS without handles[^#]*/m.exec(page)![0];
  // Names that a header has for several types of arguments have no address of their own.
  const namesIn = (text: string): string[] =>
    [...text.matchAll(/`(cu(?:blas|rand|fft|sparse|solver)\w+)`/g)]
      .map(([, name]) => name!)
      .filter((name) => !/^cublasGemm\w*Ex$/.test(name));
  const [names, others] = [namesIn(page.replace(legacy, '')), namesIn(legacy)];
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  const sum = `for (auto p : all) n += p != nullptr; for (int i = 0; i < ${others.length}; i++) n += others[i] != nullptr;`;
  const main = `#include <cstdio>\nextern const void *const others[];\nint main() { int n = 0; ${sum} printf("%d", n); }`;
  const solvers = ['cusolverDn', 'cusolverRf', 'cusolverSp_LOWLEVEL_PREVIEW'];
  const headers = ['cublas_v2', 'cublasXt', 'cublasLt', 'cufftXt', 'curand', ...solvers, 'cusparse'];
  writeFileSync(join(folder, 'all.cpp'), `${addressesOf('all', headers, names)}${main}`);
  writeFileSync(join(folder, 'others.cpp'), addressesOf('others', ['cublas'], others));
  const { stdout, stderr } = run([
    'run',
    join(folder, 'all.cpp'),
    join(folder, 'others.cpp'),
    ...['cublas', 'cublasLt', 'curand', 'cufft', 'cusolver', 'cusparse'].map((name) => `-l${name}`),
  ]);
  assert.equal([stderr, Number(stdout)], ['', names.length + others.length]);
  assert.ok(names.length > 550 && others.length > 150);
});

/** The codes of cuBLASLt, as the manual has them for each function. */
const [success, invalid, unsupported] = ['SUCCESS', 'INVALID_VALUE', 'NOT_SUPPORTED'].map((name) => `CUBLAS_STATUS_${name}`);
const ltCodes: readonly (readonly [string, string | undefined])[] = [
  ...['size too large', 'size too small', 'no value', 'no attribute', 'ask with a wrong size'].map((name) => [name, invalid] as const),
  ...['init', 'ask for a size', 'default epilogue', 'a product', 'its check', 'an algorithm'].map((name) => [name, success] as const),
  ['no algorithms wanted', invalid],
  ['sizes that do not fit', invalid],
  ['types that do not fit', unsupported],
  ['a leading dimension that is too small', invalid],
  ['an order by 32 columns', unsupported],
  ['batches that do not fit', invalid],
  ['no epilogue', invalid],
  ['an auxiliary matrix without leading dimension', invalid],
  ['no bias', invalid],
  ['no handle', 'CUBLAS_STATUS_NOT_INITIALIZED'],
  ['no factor', invalid],
  ['a scale of floats of 32 bits', invalid],
  ['bytes of FAST_ACCUM', '1'],
  ['value', '1, bytes: 4'],
  ['rows', '32'],
];

// The other sections have the other types, and passed once.
need(test, ['sysroot', 'cuda-libraries'], 'cuBLASLt computes what sums in double precision and one rounding give', () => {
  const sections = ['single', 'floats8', 'transformations', 'codes'];
  const { status, stdout, stderr } = run(['run', 'fixtures/libraries/cublaslt.cu', '--device', 'cpu', '-lcublasLt', '--', ...sections]);
  assert.equal([status, stderr], [0, '']);
  const lines = stdout.trimEnd().split('\n');
  const results = lines.filter((line) => !line.startsWith('='));
  assert.equal(
    results.filter((line) => !line.endsWith(': ok')),
    [],
  );
  assert.is(results.length, 15 + 10 + 5);
  for (const [name, code] of ltCodes) assert.ok(lines.includes(`=${name}: ${code}`), name);
});

need(test, ['sysroot', 'cuda-libraries'], 'programs use cuBLAS without handles', () => {
  const { status, stdout, stderr } = run(['run', 'fixtures/libraries/legacy.cu', '--device', 'cpu', '-lcublas']);
  assert.equal([status, stderr], [0, '']);
  // 2·A·B + 3, the lower triangle of A times 2 times that, and B - A, with A = (1 3 5; 2 4 6) and B = (1 2; 0 1; -1 0).
  assert.equal(stdout.trimEnd().split('\n'), [
    'before: 1',
    'init: 0',
    'alloc: 0 0 0',
    'gemm: -5 -5 13 19',
    'dot: 11, asum: 5, amax: 6',
    'trmm: -10 -60 26 204',
    'axpy: 0 -2 -4 -2 -4 -6',
    'dots: 5-2i 15+0i',
    'error: 0',
    'wrong letter: 7, then 0',
    'alloc of nothing: 7',
    'shutdown: 0 0 0 0',
  ]);
});

need(test, ['sysroot'], 'a file includes one of the headers of cuBLAS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, first, second] of [
    ['a', 'cublas.h', 'cublas_v2.h'],
    ['b', 'cublas_v2.h', 'cublas.h'],
  ]) {
    const path = join(folder, `${name}.cpp`);
    writeFileSync(path, `#include <${first}>\n#include <${second}>\n`);
    const { status, stderr } = run(['cc', '-E', path]);
    assert.is(status, 3);
    assert.match(stderr, /cublas\.h and cublas_v2\.h have the same names/);
  }
});

need(test, ['sysroot', 'cuda-libraries'], 'a program that names no library is told which one it needs', () => {
  const { status, stderr } = run(['cc', 'fixtures/libraries/cufft.cu', '-o', '/dev/null']);
  assert.is(status, 3);
  assert.match(stderr, /undefined symbol: cufftPlan1d/);
  assert.match(stderr, /= help: `-lcufft` links the library of CUDA/);
});

test('a function is of the library that its name begins with', () => {
  const names = ['cublasLtMatmul', 'cublasSgemm_v2', 'curandGenerate', 'cufftExecC2C', 'cusparseSpMV', 'cusolverDnSgetrf', 'cudaMalloc'];
  assert.equal(names.map(libraryOfSymbol), ['cublasLt', 'cublas', 'curand', 'cufft', 'cusparse', 'cusolver', undefined]);
});

test('each archive has a page of functions, whose declarations are in headers', () => {
  const page = readFileSync(join(root, 'docs/cuda-libraries.md'), 'utf8');
  for (const header of ['cublas', 'cublas_v2', 'cublasLt', 'curand', 'cufft', 'cusparse', 'cusolverDn'])
    assert.ok(existsSync(join(root, `cuda/include/${header}.h`)), header);
  for (const name of ['cublasSgemm', 'cublasIzamin', 'curandGenerateNormal', 'cufftPlanMany', 'cusparseSpMV', 'cusolverDnZheevd'])
    assert.match(page, new RegExp(`\`${name}\``));
});

test.run();
