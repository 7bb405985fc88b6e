/**
 * Math functions of AIR on the CPU device. Approximate ones are compared with the host's double-precision functions, which use other
 * formulas, within the bound of the table (Metal allows 4 to 16 ulp). Edge cases follow C (annex F.10) and were derived by hand. Exact
 * functions are compared with the definitions of the Metal Shading Language Specification.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { elementRows } from '../../src/air/functions/index.ts';
import { f16Bits, f16Value } from '../../src/base/float.ts';
import { callEach, floatsOf } from '../support/air-call.ts';
import { need } from '../support/need.ts';

const test = suite('air math');

/** Every float magnitude with both signs, borders of the functions, and NaNs. */
function sweep(): number[] {
  const special = [
    0,
    1,
    0.5,
    0.25,
    0.01,
    2,
    3,
    88.7,
    89.5,
    128,
    1e4,
    2 ** 24,
    3.4028234663852886e38,
    2 ** -149,
    2 ** -126,
    0.99999994,
    1.0000001,
  ];
  const spread = Array.from({ length: 340 }, (_, i) => Math.fround(2 ** ((i * 277) / 340 - 149) * (1 + ((i * 37) % 101) / 101)));
  const near = Array.from({ length: 160 }, (_, i) => Math.fround(((i * 61) % 160) / 16 + ((i * 7) % 13) / 4096));
  const positive = [...special, ...spread, ...near].map(Math.fround);
  return [...positive, ...positive.map((x) => -x), Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN];
}

/** The distance between a result and the expected value in units in the last place, in double precision. */
function ulps(found: number, exact: number): number {
  const rounded = Math.fround(exact);
  if (Object.is(found, rounded) || (Number.isNaN(found) && Number.isNaN(rounded))) return 0;
  if (!Number.isFinite(found) || !Number.isFinite(exact) || found === 0)
    return found === 0 && Math.abs(exact) < 2 ** -149 ? 1 : Number.POSITIVE_INFINITY;
  const exponent = Math.max(-126, Math.floor(Math.log2(Math.abs(exact))));
  return Math.abs(found - exact) / 2 ** (exponent - 23);
}

const inputs = sweep();
const chunk = 512;
const chunks = Array.from({ length: Math.ceil(inputs.length / chunk) }, (_, i) => inputs.slice(i * chunk, (i + 1) * chunk));

const turns =
  (f: (x: number) => number) =>
  (x: number): number =>
    f((x % 2) * Math.PI);
/** By symmetry, as the product of a large double with pi is not exact. */
const sinpi = (x: number): number => {
  const r = x % 2;
  if (r === 0 || Math.abs(r) === 1) return Number.isNaN(r) ? r : Object.is(x, 0) || x > 0 ? 0 : -0;
  return Math.abs(r) > 0.5 && Math.abs(r) < 1.5
    ? Math.sin(Math.PI * (Math.sign(r) - r))
    : turns(Math.sin)(r - (Math.abs(r) >= 1.5 ? 2 * Math.sign(r) : 0));
};
const cospi = (x: number): number => {
  const r = Math.abs(x % 2);
  return r <= 0.25 || r >= 1.75 ? Math.cos(Math.PI * (r >= 1.75 ? 2 - r : r)) : sinpi(r < 1 ? 0.5 - r : r - 1.5);
};

const one: Readonly<Record<string, (x: number) => number>> = {
  exp: Math.exp,
  exp2: (x) => 2 ** x,
  exp10: (x) => 10 ** x,
  log: Math.log,
  log2: Math.log2,
  log10: Math.log10,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  asin: Math.asin,
  acos: Math.acos,
  atan: Math.atan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  asinh: Math.asinh,
  acosh: Math.acosh,
  atanh: Math.atanh,
  rsqrt: (x) => 1 / Math.sqrt(x),
  sinpi,
  cospi,
};

for (const [name, f] of Object.entries(one))
  need(test, ['llvm-as-14'], `air.${name}, precise and relaxed`, () => {
    for (const part of chunks)
      for (const form of [`air.${name}.f32`, `air.fast_${name}.f32`])
        floatsOf(form, [Float32Array.from(part)]).forEach((found, i) => {
          assert.ok(ulps(found, f(part[i]!)) <= 1, `${form} of ${part[i]} is ${found}, not ${f(part[i]!)}`);
        });
  });

/** C's result where the host's differs: -1 to the power of an infinity is 1, and so is 1 to the power of NaN. */
const pow = (x: number, y: number): number => (x === 1 || (Math.abs(x) === 1 && Math.abs(y) === Number.POSITIVE_INFINITY) ? 1 : x ** y);
/** IEEE 754, 9.2.1: undefined for a negative base, and if the logarithm times the exponent has no value. */
const powr = (x: number, y: number): number => {
  if (x < 0 || Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  if ((x === 0 || x === Number.POSITIVE_INFINITY) && y === 0) return Number.NaN;
  if (x === 1 && Math.abs(y) === Number.POSITIVE_INFINITY) return Number.NaN;
  return Math.abs(x) ** y;
};

const two: Readonly<Record<string, { f: (x: number, y: number) => number; ulp: number }>> = {
  pow: { f: pow, ulp: 1 },
  powr: { f: powr, ulp: 1 },
  atan2: { f: Math.atan2, ulp: 1 },
  fmod: { f: (x, y) => x % y, ulp: 0 },
};
for (const [name, { f, ulp }] of Object.entries(two))
  need(test, ['llvm-as-14'], `air.${name}`, () => {
    for (const step of [1, 3, 7, 50, 213, 519]) {
      const pairs = inputs.map((x, i): [number, number] => [x, inputs[(i * step + step) % inputs.length]!]);
      for (let at = 0; at < pairs.length; at += chunk) {
        const part = pairs.slice(at, at + chunk);
        const found = floatsOf(
          `air.${name}.f32`,
          [0, 1].map((k) => Float32Array.from(part.map((pair) => pair[k]!))),
        );
        part.forEach(([x, y], i) => {
          assert.ok(ulps(found[i]!, f(x, y)) <= ulp, `${name}(${x}, ${y}) is ${found[i]}, not ${f(x, y)}`);
        });
      }
    }
  });

/** Derived by hand, including tangents of angles that are no whole quarter turn, for which the host has no function. */
const rows: readonly (readonly [name: string, args: readonly number[], wanted: number])[] = [
  ['tanpi', [0.25], 1],
  ['tanpi', [-0.75], 1],
  ['tanpi', [0.5], Number.POSITIVE_INFINITY],
  ['pow', [-2, 3], -8],
  ['pow', [-2, 0.5], Number.NaN],
  ['pow', [-0, -3], Number.NEGATIVE_INFINITY],
  ['pow', [Number.NaN, 0], 1],
  ['atan2', [0, -0], Math.fround(Math.PI)],
  ['atan2', [-0, -1], Math.fround(-Math.PI)],
  ['round', [0.5], 1],
  ['round', [-0.5], -1],
  ['round', [2.5], 3],
  ['round', [0.49999997], 0],
  ['round', [-0.25], -0],
  ['round', [8388609], 8388609],
  ['rint', [2.5], 2],
  ['trunc', [-1.75], -1],
  ['fract', [-1e-9], 0.99999994],
  ['fract', [-0.25], 0.75],
  ['fract', [3], 0],
  ['sign', [-0], -0],
  ['sign', [-7], -1],
  ['sign', [2 ** -149], 1],
  ['sign', [Number.NaN], 0],
  ['saturate', [Number.NaN], 0],
  ['saturate', [1.5], 1],
  ['mix', [2, 6, 0.25], 3],
  ['step', [2, 2], 1],
  ['step', [2, 1.5], 0],
  ['smoothstep', [0, 4, 1], 0.15625],
  ['fmin3', [3, Number.NaN, 2], 2],
  ['fmax3', [3, Number.NaN, 4], 4],
  ['fmedian3', [5, 1, 3], 3],
  ['fma', [3, 4, 0.5], 12.5],
  ['fmod', [-5.5, 2], -1.5],
  ['fmod', [2 ** 127, 3], 2],
  ['fmod', [1, 0], Number.NaN],
  ['fmod', [-0, 3], -0],
];
for (const [name, args, wanted] of rows)
  need(test, ['llvm-as-14'], `air.${name}(${args.join(', ')})`, () => {
    const found = floatsOf(
      `air.${name}.f32`,
      args.map((x) => Float32Array.of(x)),
    )[0]!;
    assert.ok(Object.is(found, Math.fround(wanted)), `${found}`);
  });

need(test, ['llvm-as-14'], 'air.ldexp rounds once, into and out of subnormals', () => {
  const cases = [
    [1.5, 3, 12],
    [1, -149, 2 ** -149],
    [1.5, -149, 2 ** -148],
    [1.25, -149, 2 ** -149],
    [0.75, -149, 2 ** -149],
    [0.5, -149, 0],
    [2 ** -149, 275, 2 ** 126],
    [1, 128, Number.POSITIVE_INFINITY],
    [-1, 2 ** 31 - 1, Number.NEGATIVE_INFINITY],
    [1, -(2 ** 31), 0],
    [0, 500, 0],
  ] as const;
  const bytes = callEach({
    name: 'air.ldexp.f32',
    result: 'float',
    operands: [
      ['float', Float32Array.from(cases.map(([x]) => x))],
      ['i32', Int32Array.from(cases.map(([, n]) => n))],
    ],
    threads: cases.length,
    stride: 4,
  });
  assert.equal(
    [...new Float32Array(bytes.buffer)],
    cases.map(([, , wanted]) => wanted),
  );
});

need(test, ['llvm-as-14'], 'halves: rounded once, within a unit of theirs', () => {
  const values = Array.from({ length: 500 }, (_, i) => f16Bits(-8 + i / 31.25));
  for (const name of ['exp', 'log', 'sinh', 'atan', 'tan'] as const) {
    const operand = Uint16Array.from(values);
    const bytes = callEach({ name: `air.${name}.f16`, result: 'half', operands: [['half', operand]], threads: values.length, stride: 2 });
    new Uint16Array(bytes.buffer).forEach((found, i) => {
      const exact = one[name]!(f16Value(values[i]!));
      const [got, wanted] = [f16Value(found), f16Value(f16Bits(exact))];
      const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(exact)))) - 10);
      assert.ok(Object.is(got, wanted) || Math.abs(got - exact) <= unit, `${name} of ${f16Value(values[i]!)} is ${got}, not ${exact}`);
    });
  }
});

need(test, ['llvm-as-14'], 'vectors go element by element', () => {
  const x = Float32Array.of(0.5, 1, 2, 0, -1, 3, 0.25, 0);
  const y = Float32Array.of(2, 0.5, 3, 0, 2, 0, -2, 0);
  const operands = [x, y].map((values): [string, Float32Array] => ['<3 x float>', values]);
  const bytes = callEach({ name: 'air.fast_pow.v3f32', result: '<3 x float>', operands, threads: 2, stride: 16 });
  const found = new Float32Array(bytes.buffer);
  assert.equal([...found.subarray(0, 3), ...found.subarray(4, 7)], [0.25, 1, 8, 1, 1, 16]);
});

test('the table states a bound of 1 ulp for each approximate function, and none for exact ones', () => {
  const bounds = elementRows.map(({ spelled, row }) => [/^(.*?)\.(?:[su]\.)?(?:f32|i32),/.exec(spelled)?.[1], row.ulp] as const);
  const approximate = [...Object.keys(one), 'tanpi', ...Object.entries(two).flatMap(([name, { ulp }]) => (ulp > 0 ? [name] : []))];
  const formulas = ['air.mix', 'air.smoothstep'].map((name): [string, 'formula'] => [name, 'formula']);
  const wanted = new Map<string | undefined, number | 'formula'>(formulas);
  for (const name of approximate) for (const owner of ['air', 'llvm']) wanted.set(`${owner}.${name}`, 1);
  for (const [name, ulp] of bounds) assert.is(ulp, wanted.get(name), name);
});

test.run();
