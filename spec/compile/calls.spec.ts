/**
 * Functions on the whole road: the PTX that nvcc makes of `fixtures/calls/functions.cu`, compiled, and run on the CPU device. What is expected
 * is the source said again in TypeScript; nvcc's own inlining gives the same kernel without calls, whose results agree.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { assertQuiet, root } from '../support/examples.ts';
import { launchMetallib } from '../support/launch.ts';
import { changes, mutate } from '../support/mutate.ts';
import { need } from '../support/need.ts';
import { launchOracle, oracleTools } from '../support/oracle.ts';

const test = suite('compile/calls');

const folder = join(root, 'fixtures/calls');
const textOf = (name: string): string => readFileSync(join(folder, `${name}.ptx`), 'utf8');

const [blocks, threads, n] = [3, 32, 22];
const inputs = Int32Array.from({ length: blocks * threads }, (_, i) => ((i * 37 + 11) % 201) - 60);

// ── the source, said again ──

interface Item {
  x: number;
  y: number;
  tag: number[];
  low: number;
  items: number[];
}

const short = (value: number): number => (value << 16) >> 16;

const make = (i: number): Item => ({
  x: (Math.imul(i, 3) - 7) | 0,
  y: i ^ 0x55,
  tag: [0, 1, 2, 3].map((k) => (i * (k + 1)) & 255),
  low: short(i - 9),
  items: [0, 1, 2].map((k) => Math.imul(i + k, i - k)),
});

const pick = ({ items, x, tag, low }: Item, i: number): number => (Math.imul(items[i % 3]!, x) + tag[i & 3]! - low) | 0;

function mix(a: Item, b: Item): Item {
  const tag = [...a.tag];
  tag[2] = (b.tag[1]! + a.tag[3]!) & 255;
  return { ...a, x: (pick(a, b.y & 7) + b.x) | 0, tag, low: short(a.low * b.low) };
}

const walk = (start: number, steps: number): number => {
  let at = start & 7;
  for (let step = 0; step < steps; step++) at = (at * 5 + start) & 7;
  return at;
};

/** What thread `t` of a block, `i` of the grid, adds to its element. */
function resultOf(i: number): number {
  const [t, first] = [i % threads, i - (i % threads)];
  const [mine, other] = [make(inputs[i]!), make(n + i)];
  const both = mix(mine, other);
  let result = (both.x + both.y + both.tag[2]! + both.low + both.items[1]!) | 0;
  if (i % 3 === 0) result += pick(other, i);
  result += 100 * inputs.subarray(0, n).findIndex((value) => value >= i * 4);
  const tile = Array.from(inputs.subarray(first, first + threads), (value) => value + 5);
  const own = [1, 2, 3, 4];
  own[t & 3]! += 40;
  result += own[t & 3]! + own[(t + 1) & 3]!;
  const values = Array.from({ length: threads }, (_, each) => each + n);
  const [sum, squares] = [values.reduce((a, b) => a + b), values.reduce((a, b) => a + b * b, 0)];
  result ^= sum * 2 - squares;
  result += tile.findIndex((value) => value >= 20 + t);
  result += 4 * 2 + (i + 8) * 2 - 3.5 * 4 + t * 8;
  const d = (BigInt(n) << 33n) + BigInt(i);
  const a = short(inputs[i]! * 100);
  const far = t & 1 ? BigInt(a * (t - 20)) + d : d >> BigInt(a & 31);
  result = Number(BigInt.asIntN(32, BigInt(result) + (far >> 3n))) + walk(t, n & 15);
  return tile[t]! + result;
}

const starts = Int32Array.from({ length: blocks * threads }, (_, i) => i * 1000);
const expected = Int32Array.from(starts, (start, i) => start + resultOf(i));
const bins = [0, 1, 2, 3].map((bin) => blocks * Array.from({ length: threads / 4 }, (_, k) => bin + 4 * k).reduce((a, b) => a + b));

// ── compiled and run ──

function metallibOf(text: string): Uint8Array {
  const source = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, {}, diagnostics);
  assertQuiet(diagnostics);
  return compiled!.metallib;
}

function assertExpected(text: string): void {
  const args = [inputs, starts.slice(), new Uint32Array(4), n];
  const [, out, counts] = launchMetallib(metallibOf(text), { kernel: 'functions', blocks, threads, args });
  assert.equal(new Int32Array(out!.buffer), expected);
  assert.equal([...new Uint32Array(counts!.buffer)], bins);
}

test('functions as nvcc leaves them', () => assertExpected(textOf('functions')));

test('functions as nvcc leaves them for linking', () => assertExpected(textOf('linked')));

need(test, ['nvcc'], 'the same kernel with the calls inlined by nvcc', () => {
  const out = mkdtempSync(join(tmpdir(), 'cumetal-'));
  try {
    const path = join(out, 'inlined.ptx');
    const words = ['nvcc', '-ptx', '-arch=sm_80', '-DINLINE=__forceinline__', join(folder, 'functions.cu'), '-o', path];
    assert.is(Bun.spawnSync(words).exitCode, 0);
    const text = readFileSync(path, 'utf8');
    assert.not.match(text, /\bcall\b/);
    assertExpected(text);
  } finally {
    rmSync(out, { recursive: true });
  }
});

need(
  test,
  oracleTools,
  'functions as nvcc leaves them, by the independent oracle: no barrier that only some threads come to, no access outside',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'cumetal-'));
    try {
      const args = [inputs, starts, new Uint32Array(4), Uint32Array.of(n)].map((values) => new Uint8Array(values.buffer.slice(0)));
      for (const order of ['fwd', 'rev']) {
        const launched = { kernel: 'functions', grid: [blocks, 1, 1], block: [threads, 1, 1], args, sharedBytes: undefined, order };
        const { status, complaints, after } = launchOracle(folder, metallibOf(textOf('functions')), launched);
        assert.is(complaints, '');
        assert.is(status, 0);
        assert.equal(new Int32Array(after[1]!.slice().buffer), expected);
        assert.equal([...new Uint32Array(after[2]!.slice().buffer)], bins);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test('powers of doubles, for which nvcc calls a function of its own', () => {
  const exact = [
    [2, 10, 1024],
    [-8, 3, -512],
    [7.25, 0, 1],
    [0, -1, Infinity],
    [-0, 3, -0],
    [-1.5, 0.5, NaN],
    [Infinity, -2, 0],
    [1, NaN, 1],
  ] as const;
  const pairs = Array.from({ length: 56 }, (_, i) => [0.013 + i * 1.7, (i - 20) / 3] as const);
  const all = [...exact.map(([x, y]) => [x, y] as const), ...pairs];
  const args = [Float64Array.from(all, ([x]) => x), Float64Array.from(all, ([, y]) => y), new Float64Array(all.length)];
  const [, , out] = launchMetallib(metallibOf(textOf('power')), { kernel: 'power', blocks: 1, threads: all.length, args });
  const powers = new Float64Array(out!.buffer);
  assert.equal(
    exact.filter(([, , power], i) => !Object.is(powers[i], power)),
    [],
  );
  // CUDA C++ Programming Guide, "Mathematical Functions": 2 units in the last place; the host's own may be one off.
  pairs.forEach(([x, y], i) => {
    const [have, want] = [powers[exact.length + i]!, x ** y];
    assert.ok(Math.abs(have - want) <= 3 * 2 ** -52 * want, `${x} to the power of ${y}: ${have}`);
  });
});

test('the same bytes each time', () => assert.equal(metallibOf(textOf('functions')), metallibOf(textOf('functions'))));

test('texts with one wrong word: no exception, and every fault has a place', () => {
  const text = textOf('functions');
  const seen = { compiled: 0, refused: 0 };
  for (const kind of Object.keys(changes))
    for (let i = 0; i < 8; i++) {
      const mutant = mutate(text, kind, i);
      if (!mutant) continue;
      const source = new SourceFile('a.ptx', mutant.text);
      const diagnostics = new Diagnostics(source);
      const compiled = compile(source, {}, diagnostics);
      assert.is(compiled === undefined, diagnostics.hasErrors, mutant.line);
      for (const { severity, labels, message } of diagnostics.list)
        assert.ok(severity !== 'error' || labels.length > 0, `${mutant.line}: ${message}`);
      seen[compiled ? 'compiled' : 'refused']++;
    }
  assert.ok(seen.refused > 20, JSON.stringify(seen));
});

test.run();
