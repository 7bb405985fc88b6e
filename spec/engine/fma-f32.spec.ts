/**
 * Single-precision fma in lane groups rounds once, against exact integers: a few operations, which are checked one by one, and long
 * straight-line code, which is recomputed where any result is in doubt.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { floatFormats, fmaFloat } from '../../src/base/float-exact.ts';
import { compileSimd } from '../../src/engine/simd/emit/module.ts';
import type { Kernel, Value } from '../../src/ir/index.ts';
import { splitMix64 } from '../../src/runtime/rand.ts';
import { runOn } from '../support/both-engines.ts';
import { type Writer, writeKernel } from '../support/kernel-writer.ts';
import { pointerParam } from '../support/kernels.ts';

const test = suite('engine/fma-f32');

const draw = splitMix64(11n);
const below = (count: number): number => Number(draw() % BigInt(count));
const bitsOf = (value: number): number => new Uint32Array(Float32Array.of(value).buffer)[0]!;

/** A single-precision value with a given exponent and random bits. */
const plain = (power: number): number => ((below(2) << 31) | ((power + 127) << 23) | below(1 << 23)) >>> 0;

/** A value with a given exponent whose significand has few bits set, or all, so that sums are halfway between two values. */
function tieProne(power: number): number {
  const mantissas = [0, 1, (1 << 23) - 1, 1 << 22, 1 << below(23), below(1 << 23) & ~0xfff, 3 << below(21)];
  const exponent = Math.max(0, Math.min(254, power + 127));
  return ((below(2) << 31) | (exponent << 23) | mantissas[below(mantissas.length)]!) >>> 0;
}

const specials = [0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN, 2 ** -149, -(2 ** 127), 1, -2].map(bitsOf);
const special = (): number => specials[below(specials.length)]!;

type Triple = readonly [number, number, number];

/** Operands whose result is certain without the slow path. */
const certain = (): Triple => [plain(below(8) - 4), plain(below(8) - 4), plain(below(8) - 4)];

/** Operands that need the slow path: ties, subnormal results, overflow, infinities and NaNs. */
function doubtful(): Triple {
  const [x, y] = [below(60) - 30, below(60) - 30];
  switch (below(6)) {
    case 0:
      return [tieProne(x), tieProne(y), tieProne(x + y + below(60) - 30)];
    case 1:
      return [tieProne(x), tieProne(y), tieProne(x + y + 22 + below(6))];
    case 2:
      return [tieProne(-60 - below(30)), tieProne(-60 - below(30)), tieProne(-127 + below(20))];
    case 3:
      return [tieProne(60 + below(8)), tieProne(60 + below(8)), tieProne(120 + below(8))];
    case 4:
      return [below(2) ? special() : tieProne(x), below(2) ? special() : tieProne(y), below(2) ? special() : tieProne(x)];
    default:
      return [Number(draw() & 0xffff_ffffn), Number(draw() & 0xffff_ffffn), Number(draw() & 0xffff_ffffn)];
  }
}

interface Size {
  readonly threads: number;
  readonly operations: number;
}

/** The address of an operand: columns of a, b, c and results; a row per operation, with a word for each thread. */
const place = (w: Writer, { threads, operations }: Size, column: number, k: number): Value => {
  const index = w.b.add(w.sreg('tid.x'), w.i32(threads * (operations * column + k)));
  return w.b.ptradd(w.param(0), w.b.mul(w.b.zext('i64', index), w.b.const('i64', 4)));
};
const plainAccess = { align: 4, volatile: false };
const take = (w: Writer, size: Size, column: number, k: number): Value => w.b.load('f32', place(w, size, column, k), plainAccess);
const putAll = (w: Writer, size: Size, results: readonly Value[]): void => {
  for (const [k, value] of results.entries()) w.b.store(place(w, size, 3, k), value, plainAccess);
};

/** Independent operations. */
const independent = (size: Size): Kernel =>
  writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const number = (column: number, k: number): Value => take(w, size, column, k);
    putAll(
      w,
      size,
      Array.from({ length: size.operations }, (_, k) => w.b.fma(number(0, k), number(1, k), number(2, k))),
    );
  });

/** A chain: each result is the addend of the next, as in a matrix product. */
const chained = (size: Size): Kernel =>
  writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
    const results: Value[] = [];
    for (let k = 0; k < size.operations; k++)
      results.push(w.b.fma(take(w, size, 0, k), take(w, size, 1, k), results[k - 1] ?? take(w, size, 2, 0)));
    putAll(w, size, results);
  });

const isNan = (bits: number): boolean => (bits & 0x7fff_ffff) > 0x7f80_0000;
const exact = (a: number, b: number, c: number): number => Number(fmaFloat(floatFormats.f32, BigInt(a), BigInt(b), BigInt(c)));

/** Runs a kernel in lane groups and compares its results with `expected`, which gets the operands of a thread. */
function assertResults(
  make: (size: Size) => Kernel,
  size: Size,
  triple: () => Triple,
  expected: (rows: readonly Triple[], thread: number) => number[],
): void {
  const { threads, operations } = size;
  const rows = Array.from({ length: threads }, () => Array.from({ length: operations }, triple));
  const words = new Uint32Array(4 * operations * threads).fill(0xa5a5_a5a5);
  rows.forEach((own, thread) => {
    for (const [k, each] of own.entries())
      for (const [column, bits] of each.entries()) words[threads * (operations * column + k) + thread] = bits;
  });
  const { bytes, messages, lanes } = runOn('simd', make(size), 1, threads, words.byteLength, new Uint8Array(words.buffer));
  assert.equal(messages, []);
  assert.ok(lanes > 1);
  const got = new Uint32Array(Uint8Array.from(bytes).buffer);
  rows.forEach((own, thread) => {
    for (const [k, want] of expected(own, thread).entries()) {
      const result = got[threads * (3 * operations + k) + thread]!;
      const hex = [...own[k]!, result, want].map((bits) => bits.toString(16));
      assert.ok(result === want || (isNan(result) && isNan(want)), `thread ${thread}, ${k}: ${hex.slice(0, 3)}: ${hex[3]}, not ${hex[4]}`);
    }
  });
}

const each = (rows: readonly Triple[]): number[] => rows.map(([a, b, c]) => exact(a, b, c));
function chain(rows: readonly Triple[]): number[] {
  let sum = rows[0]![2];
  return rows.map(([a, b]) => {
    sum = exact(a, b, sum);
    return sum;
  });
}

for (const threads of [1, 31, 33, 256, 1024])
  for (const [name, triple] of [
    ['no doubt', certain],
    ['doubt', doubtful],
    ['doubt in one of 200', () => (below(200) === 0 ? doubtful() : certain())],
  ] as const)
    for (const operations of [3, 12]) {
      const size = { threads, operations };
      test(`${operations} operations of ${threads} threads, with ${name}`, () => assertResults(independent, size, triple, each));
      test(`a chain of ${operations} of ${threads} threads, with ${name}`, () => assertResults(chained, size, triple, chain));
    }

/** Factors that are the same for all threads: constants, powers of two and values near them; and one that was converted from an integer. */
const factors = [0.5, 4, 3, -0.1, 1, 2 ** -20, -2, 'shared', 'whole', 2 ** 40, 0, 'shared'] as const;
const sharedFactor = bitsOf(0.3);

/** Operands whose product has a rounding error of about half a unit of the addend, or leaves the single-precision range. */
function edge(): Triple {
  const x = below(60) - 30;
  const kinds = [
    doubtful,
    certain,
    (): Triple => [tieProne(x), 0, tieProne(x + 18 + below(12))],
    (): Triple => [tieProne(-127 + below(30)), 0, tieProne(-127 + below(10))],
    (): Triple => [tieProne(110 + below(18)), 0, tieProne(120 + below(8))],
  ];
  return kinds[below(kinds.length)]!();
}

const single = [...new Set(factors)].flatMap((factor) =>
  [2, 9].map((times) => [`${factor}, ${times} times`, Array(times).fill(factor)] as const),
);
for (const [name, of] of [['all', factors], ...single] as readonly (readonly [string, readonly (typeof factors)[number][]])[])
  test(`uniform factors: ${name}`, () => {
    const size = { threads: 1024, operations: of.length };
    const kernel = (): Kernel =>
      writeKernel('k', [pointerParam('out', 0, undefined, 'read_write')], [], (w) => {
        // The second factor of the first thread's first operation holds the uniform factor.
        const shared = w.b.bitcast('f32', w.get(w.param(0), w.i32(size.threads * size.operations)));
        const whole = w.b.sitofp('f32', w.b.and(w.sreg('tid.x'), w.i32(15)));
        const by = (factor: (typeof of)[number]): Value =>
          factor === 'shared' ? shared : factor === 'whole' ? whole : w.b.const('f32', BigInt(bitsOf(factor)));
        putAll(
          w,
          size,
          of.map((factor, k) => w.b.fma(take(w, size, 0, k), by(factor), take(w, size, 2, k))),
        );
      });
    const triple = (): Triple => {
      const [a, , c] = edge();
      return [a, sharedFactor, c];
    };
    assertResults(kernel, size, triple, (rows, thread) =>
      rows.map(([a, b, c], k) => {
        const factor = of[k]!;
        return exact(a, factor === 'shared' ? b : bitsOf(factor === 'whole' ? thread & 15 : factor), c);
      }),
    );
  });

test('the code size does not depend on the number of lanes', () => {
  const size = (lanes: number): number => {
    const compiled = compileSimd(independent({ threads: 256, operations: 12 }), [256, 1, 1], { fma: 'exact', lanes });
    return 'why' in compiled ? Number.NaN : compiled.bytes.length;
  };
  assert.ok(size(32) < 1.5 * size(16), `${size(32)} bytes for 32 lanes, ${size(16)} for 16`);
});

test.run();
