/** Products of matrices by warps, as nvcc compiles them: whole kernels against products computed here, element by element. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import { type Launched, launchMetallib } from '../support/launch.ts';
import { randomFractions } from '../support/lcg.ts';

const test = suite('lower/matrix');

const path = join(import.meta.dirname, '../../fixtures/matrix/tiles.ptx');
const ways: readonly CompileOptions[] = [{ target: 'macos14' }, { target: 'cpu' }, { target: 'macos14', mma: 'fast' }];
const metallibs = ways.map((options) => {
  const source = new SourceFile('tiles.ptx', readFileSync(path, 'utf8'));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, options, diagnostics);
  if (!compiled) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  return compiled.metallib;
});

/** Whole numbers from -most to most, the same at every run. */
function numbers(count: number, most: number, seed: number): number[] {
  const next = randomFractions(seed);
  return Array.from({ length: count }, () => Math.floor(next() * (2 * most + 1)) - most);
}

/** A whole number below 2048 as a half: sign, exponent, and what follows the leading bit. */
function half(value: number): number {
  const size = Math.abs(value);
  if (size === 0) return 0;
  const power = 31 - Math.clz32(size);
  return (value < 0 ? 0x8000 : 0) | ((power + 15) << 10) | ((size << (10 - power)) & 0x3ff);
}

const halves = (values: readonly number[]): Uint16Array => Uint16Array.from(values, half);
const sum = (count: number, term: (i: number) => number): number =>
  Array.from({ length: count }, (_, i) => term(i)).reduce((a, b) => a + b);

function eachTarget(launched: Launched, buffer: number, check: (bytes: Uint8Array) => void): void {
  for (const metallib of metallibs) check(launchMetallib(metallib, launched)[buffer]!.slice());
}

test('tiles of halves are loaded, multiplied along k, scaled by element and stored', () => {
  const [across, down, k] = [3, 2, 48];
  const [columns, rows] = [16 * across, 16 * down];
  const [a, b, c] = [numbers(rows * k, 9, 1), numbers(columns * k, 9, 2), numbers(rows * columns, 500, 3)];
  const args = [halves(a), halves(b), Float32Array.from(c), across, k];
  eachTarget({ kernel: 'halves', blocks: 2, threads: 96, args }, 2, (bytes) => {
    const want = c.map((before, at) => {
      const [row, column] = [Math.floor(at / columns), at % columns];
      return 2 * sum(k, (i) => a[row * k + i]! * b[column * k + i]!) + before;
    });
    assert.equal([...new Float32Array(bytes.buffer)], want);
  });
});

test('tiles of bytes go through shared memory, from columns and rows, into columns', () => {
  const [rows, columns, k] = [32, 32, 64];
  const [a, b] = [numbers(rows * k, 127, 4), numbers(columns * k, 127, 5)];
  const args = [Int8Array.from(a), Int8Array.from(b), new Int32Array(rows * columns), rows, columns, k];
  eachTarget({ kernel: 'bytes', blocks: 1, threads: 128, args }, 2, (bytes) => {
    const want = Array.from({ length: rows * columns }, (_, at) => {
      const [column, row] = [Math.floor(at / rows), at % rows];
      return 7 + sum(k, (i) => a[i * rows + row]! * b[i * columns + column]!);
    });
    assert.equal([...new Int32Array(bytes.buffer)], want);
  });
});

test('a tile that `ldmatrix` spreads is what `mma.sync` wants', () => {
  const [a, b] = [numbers(16 * 16, 20, 6), numbers(16 * 8, 20, 7)];
  eachTarget({ kernel: 'tile', blocks: 1, threads: 32, args: [halves(a), halves(b), new Float32Array(128)] }, 2, (bytes) => {
    const want = Array.from({ length: 128 }, (_, at) => sum(16, (i) => a[Math.floor(at / 8) * 16 + i]! * b[i * 8 + (at % 8)]!));
    assert.equal([...new Float32Array(bytes.buffer)], want);
  });
});

test.run();
