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
need(test, ['sysroot', 'cuda-libraries'], 'cuFFT computes what it does on an H200', () => compare('cufft', ['cufft']));
need(test, ['sysroot', 'cuda-libraries'], 'cuSPARSE computes what it does on an H200', () => compare('cusparse', ['cusparse']));

need(test, ['sysroot', 'cuda-libraries'], 'every function of the list is in its library', () => {
  const page = readFileSync(join(root, 'docs/cuda-libraries.md'), 'utf8');
  // Names that a header has for several types of arguments have no address of their own.
  const names = [...page.matchAll(/`(cu(?:blas|rand|fft|sparse|solver)\w+)`/g)]
    .map(([, name]) => name!)
    .filter((name) => !/^cublasGemm\w*Ex$/.test(name));
  const headers = ['cublas_v2', 'cufftXt', 'curand', 'cusolverDn', 'cusparse'].map((header) => `#include <${header}.h>\n`).join('');
  const list = names.map((name) => `(const void *)${name}`).join(', ');
  const source = `${headers}#include <cstdio>\nconst void *all[] = {${list}};\nint main() { int n = 0; for (auto p : all) n += p != nullptr; printf("%d", n); }`;
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'all.cpp'), source);
  const { stdout, stderr } = run([
    'run',
    join(folder, 'all.cpp'),
    ...['cublas', 'curand', 'cufft', 'cusolver', 'cusparse'].map((name) => `-l${name}`),
  ]);
  assert.equal([stderr, Number(stdout)], ['', names.length]);
  assert.ok(names.length > 500);
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
  for (const header of ['cublas_v2', 'curand', 'cufft', 'cusparse', 'cusolverDn'])
    assert.ok(existsSync(join(root, `cuda/include/${header}.h`)), header);
  for (const name of ['cublasSgemm', 'cublasIzamin', 'curandGenerateNormal', 'cufftPlanMany', 'cusparseSpMV', 'cusolverDnZheevd'])
    assert.match(page, new RegExp(`\`${name}\``));
});

test.run();
