/** fma of f64 and f16 values in lane groups rounds once, against exact integers: cancellation, ties, underflow and overflow. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { floatFormats, fmaFloat } from '../../src/base/float-exact.ts';
import type { Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOnCpu } from '../support/cpu.ts';
import { writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/fma-simd');

type Triple = readonly [bigint, bigint, bigint];

const bitsOf = (value: number): bigint => new BigUint64Array(Float64Array.of(value).buffer)[0]!;
const numberOf = (bits: bigint): number => new Float64Array(BigUint64Array.of(bits).buffer)[0]!;
const draw = splitMix64(5n);
const below = (count: number): number => Number(draw() % BigInt(count));

/** A double with a given exponent and a significand with few or many bits set. */
function doubleNear(power: number): bigint {
  const mantissas = [0n, 1n, (1n << 52n) - 1n, 1n << 51n, draw() >> 12n, 1n << BigInt(below(52)), (draw() >> 12n) & ~0x3ff_ffffn];
  const exponent = BigInt(Math.max(0, Math.min(2046, power + 1023)));
  return (BigInt(below(2)) << 63n) | (exponent << 52n) | mantissas[below(mantissas.length)]!;
}

const next = (bits: bigint, by: bigint): bigint => BigInt.asUintN(64, bits + by);
const specials = [0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, Number.MIN_VALUE, -Number.MAX_VALUE, 1, -2].map(
  bitsOf,
);
const any = (): bigint => specials[below(specials.length)]!;

/** Doubles of every kind, in rotation. */
function triple(i: number): Triple {
  const [x, y] = [below(400) - 200, below(400) - 200];
  const [a, b] = [doubleNear(x), doubleNear(y)];
  const product = numberOf(a) * numberOf(b);
  switch (i % 8) {
    // The addend cancels the rounded product or a neighbor of it.
    case 0:
      return [a, b, next(bitsOf(-product), BigInt(below(5) - 2))];
    // The addend is such that the product is about half a unit of it.
    case 1:
      return [a, b, doubleNear(x + y + 52 + below(4))];
    case 2:
      return [a, b, doubleNear(x + y - 50 - below(60))];
    case 3:
      return [a, b, doubleNear(x + y + below(9) - 4)];
    // Products and results that are subnormal, zero, or too large.
    case 4:
      return [doubleNear(-500 - below(100)), doubleNear(-500 - below(100)), doubleNear(-1023 + below(100))];
    case 5:
      return [doubleNear(500 + below(30)), doubleNear(500 + below(30)), doubleNear(1000 + below(30))];
    case 6:
      return [below(2) === 0 ? any() : a, below(2) === 0 ? any() : b, below(2) === 0 ? any() : doubleNear(x)];
    default:
      return [draw(), draw(), draw()];
  }
}

const threads = 128;
const count = 32 * threads;

/** The results of fma in lane groups; the factor b is a constant where one is given. */
function fused(type: 'f64' | 'f16', given: readonly Triple[], factor?: bigint): bigint[] {
  const size = type === 'f64' ? 8 : 2;
  const kernel = writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const { b } = w;
    const at = (column: number): Value => b.add(w.sreg('gid.x'), w.i32(column * given.length));
    const place = (column: number): Value => b.ptradd(w.param(0), b.mul(b.zext('i64', at(column)), b.const('i64', size)));
    const load = (column: number): Value => b.load(type, place(column), { align: size, volatile: false });
    const by = factor === undefined ? load(1) : b.const(type, factor);
    b.store(place(3), b.fma(load(0), by, load(2)), { align: size, volatile: false });
  });
  const numbers = [0, 1, 2].flatMap((column) => given.map((each) => each[column]!));
  const bytes =
    size === 8 ? BigUint64Array.from([...numbers, ...given.map(() => 0n)]) : Uint16Array.from([...numbers, ...given.map(() => 0n)], Number);
  const shape = { grid: [given.length / threads, 1, 1], block: [threads, 1, 1] } as const;
  const [out] = runOnCpu(kernel, [new Uint8Array(bytes.buffer)], shape);
  const words = size === 8 ? new BigUint64Array(out!.buffer) : new Uint16Array(out!.buffer);
  return [...words.slice(3 * given.length)].map(BigInt);
}

function assertFused(type: 'f64' | 'f16', given: readonly Triple[], factor?: bigint): void {
  const format = floatFormats[type];
  const infinity = type === 'f64' ? 0x7ff0_0000_0000_0000n : 0x7c00n;
  const isNan = (bits: bigint): boolean => (bits & (type === 'f64' ? (1n << 63n) - 1n : 0x7fffn)) > infinity;
  const got = fused(type, given, factor);
  given.forEach(([a, y, c], i) => {
    const b = factor ?? y;
    const want = fmaFloat(format, a, b, c);
    const hex = [a, b, c, got[i]!, want].map((bits) => bits.toString(16));
    assert.ok(got[i] === want || (isNan(got[i]!) && isNan(want)), `${hex.slice(0, 3)}: ${hex[3]}, not ${hex[4]}`);
  });
}

const doubles = Array.from({ length: count }, (_, i) => triple(i));

test(`${count} triples of doubles`, () => assertFused('f64', doubles));

for (const factor of [1, -1, 0.5, -0.25, 1024, 2 ** -600, 2 ** 800, 2 ** 1000, 2 ** -1000, 0, -0, 3, 0.1, -1e-300, 1.7e308, Number.NaN])
  test(`doubles with the factor ${factor}`, () => assertFused('f64', doubles.slice(0, count / 4), bitsOf(factor)));

test('triples of halves', () => {
  const half = (): bigint => (below(3) === 0 ? BigInt(below(0x10000)) : BigInt(below(2) << 15) | BigInt(0x2c00 + below(0x2000)));
  const edges = [0n, 0x8000n, 1n, 0x8001n, 0x3ffn, 0x400n, 0x3c00n, 0xbc01n, 0x7bffn, 0xfbffn, 0x7c00n, 0xfc00n, 0x7e00n];
  const pick = (): bigint => (below(6) === 0 ? edges[below(edges.length)]! : half());
  assertFused(
    'f16',
    Array.from({ length: 4 * count }, (): Triple => [pick(), pick(), pick()]),
  );
});

test.run();
