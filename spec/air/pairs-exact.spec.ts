/** Exact operations under `--fp64=emulate`: moves, comparisons, conversions, directed rounding, and integers. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { f64Bits, f64Value } from '../../src/base/float.ts';
import {
  addFloat,
  divFloat,
  floatFormats,
  fmaFloat,
  maxFloat,
  minFloat,
  mulFloat,
  sqrtFloat,
  subFloat,
} from '../../src/base/float-exact.ts';
import { drawer } from '../support/pair-errors.ts';
import { assertExact, held, isNone, type Row, results, rowsOf, shown, sign, specialRows } from '../support/pair-kernels.ts';
import { randomDoubles } from '../support/random-doubles.ts';

const test = suite('air/pairs-exact');
const { f64 } = floatFormats;

// ── exact operations ──

test('integers up to 2^46 are added and multiplied exactly, and so are their quotients and roots that are integers', () => {
  const draw = drawer(9n);
  const integer = (bits: number): number => Number(BigInt.asIntN(bits, draw.bits()));
  const rows = Array.from({ length: 4000 }, () => [integer(46), integer(46), 0].map(f64Bits));
  const short = Array.from({ length: 4000 }, () => [integer(24), integer(23), integer(45)].map(f64Bits));
  assertExact('add.f64 %d4, %d1, %d2;', rows, (a, b) => addFloat(f64, a, b));
  assertExact('sub.f64 %d4, %d1, %d2;', rows, (a, b) => subFloat(f64, a, b));
  assertExact('mul.f64 %d4, %d1, %d2;', short, (a, b) => mulFloat(f64, a, b));
  assertExact('fma.rn.f64 %d4, %d1, %d2, %d3;', short, (a, b, c) => fmaFloat(f64, a, b, c));
  const quotients = Array.from({ length: 4000 }, (_, i) => {
    const places = draw.below(45) + 1;
    const [quotient, divisor] = [draw.bits() >> BigInt(64 - places), (draw.bits() >> BigInt(18 + places)) | 1n];
    return [quotient * divisor, i % 2 ? divisor : -divisor, 0n].map((x) => f64Bits(Number(x)));
  });
  assertExact('div.rn.f64 %d4, %d1, %d2;', quotients, (a, b) => divFloat(f64, a, b));
  const squares = Array.from({ length: 4000 }, () => [draw.below(2 ** 23)]).map(([root]) => [f64Bits(root! * root!), 0n, 0n]);
  assertExact('sqrt.rn.f64 %d4, %d1;', squares, (a) => sqrtFloat(f64, a));
});

const anyRows = (seed: bigint): Row[] => {
  const draw = drawer(seed);
  const signalling = [0x7ff0000000000001n, 0xfff123456789abcdn, 1n, sign | 1n];
  return [
    ...specialRows.slice(0, 300),
    ...Array.from({ length: 700 }, () => [0, 0, 0].map(() => (draw.below(6) ? draw.bits() : draw.of(signalling)))),
  ];
};

/** All 64 bits, including those of NaNs. */
function assertBits(body: string, rows: readonly Row[], wanted: (...row: bigint[]) => bigint): void {
  assert.equal(
    results(body, rows),
    rows.map((row) => wanted(...row)),
  );
}

test('what is only moved keeps all bits, beside what is computed too', () => {
  const rows = anyRows(10n);
  assertBits('mov.f64 %d4, %d1;', rows, (a) => a);
  assertBits('st.local.f64 [spill], %d1; ld.local.f64 %d4, [spill];', rows, (a) => a);
  assertBits('mov.b64 %rd6, %d1; mov.b64 %d4, %rd6;', rows, (a) => a);
  const isOdd = 'and.b64 %rd6, %rd0, 1; setp.eq.u64 %p1, %rd6, 1;';
  // %p1 holds for odd rows, in which nothing is computed.
  const odd = rows.flatMap((row) => [row, row]);
  const body = (join: string): string => `${isOdd} add.f64 %d5, %d1, %d2; ${join}`;
  const either = (join: string, wanted: (a: bigint) => bigint): void => {
    const got = results(body(join), odd);
    const computed = results(`add.f64 %d4, %d1, %d2; ${join.includes('neg') ? 'neg.f64 %d4, %d4;' : ''}`, rows);
    assert.equal(
      got.filter((_, i) => i % 2 === 1),
      rows.map(([a]) => wanted(a!)),
    );
    assert.equal(
      got.filter((_, i) => i % 2 === 0),
      computed,
    );
  };
  either('selp.f64 %d4, %d1, %d5, %p1;', (a) => a);
  either('selp.f64 %d4, %d1, %d5, %p1; neg.f64 %d4, %d4;', (a) => a ^ sign);
  either('mov.f64 %d4, %d1; @%p1 bra OUT; add.f64 %d4, %d1, %d2; OUT:', (a) => a);
  either('selp.f64 %d4, 0d3FF5555555555555, %d5, %p1;', () => 0x3ff5555555555555n);
  either('mov.f64 %d4, 0d3FF5555555555555; @%p1 bra OUT; add.f64 %d4, %d1, %d2; OUT:', () => 0x3ff5555555555555n);
  either(
    'mov.f64 %d4, %d1; @%p1 bra OUT; add.f64 %d4, %d1, %d2; OUT: neg.f64 %d4, %d4; abs.f64 %d6, %d4; neg.f64 %d4, %d4; neg.f64 %d4, %d4;',
    (a) => a ^ sign,
  );
});

test('a loop that does not run leaves what was loaded', () => {
  const rows = anyRows(11n).map(([a, b], i) => [a!, b!, BigInt(i % 3)]);
  const sum = `mov.f64 %d4, %d1; mov.b64 %rd7, %d3;
L: setp.eq.u64 %p1, %rd7, 0; @%p1 bra DONE; add.f64 %d4, %d4, %d2; sub.u64 %rd7, %rd7, 1; bra L; DONE:`;
  const got = results(sum, rows);
  assert.equal(
    got.filter((_, i) => i % 3 === 0),
    rows.filter((_, i) => i % 3 === 0).map(([a]) => a),
  );
});

test('comparisons and extremes of loaded values look at every bit', () => {
  const draw = drawer(13n);
  const close = Array.from({ length: 500 }, () => draw.bits()).map((a) => [a, BigInt.asUintN(64, a + BigInt(draw.below(3) - 1)), 0n]);
  const rows = [...anyRows(14n), ...close];
  const chosen = (test: boolean): bigint => (test ? f64Bits(1) : 0n);
  for (const [words, holds] of [
    ['lt', (a: number, b: number) => a < b],
    ['eq', (a: number, b: number) => a === b],
    ['geu', (a: number, b: number) => !(a < b)],
  ] as const)
    assertExact(`setp.${words}.f64 %p1, %d1, %d2; selp.f64 %d4, 1.0, 0.0, %p1;`, rows, (a, b) => chosen(holds(f64Value(a), f64Value(b))));
  assertExact('min.f64 %d4, %d1, %d2;', rows, (a, b) => minFloat(f64, a, b));
  assertExact('max.f64 %d4, %d1, %d2;', rows, (a, b) => maxFloat(f64, a, b));
});

test('computed values compare as the doubles that they are stored as', () => {
  const draw = drawer(15n);
  const held48 = held(draw);
  // Sums halfway between two floats, reached from both sides and by rounding.
  const halves = Array.from({ length: 2000 }, () => {
    const high = 1 + draw.below(2 ** 23) * 2 ** -23;
    return [high, 2 ** -24 - draw.below(4) * 2 ** -48, 2 ** -24 * (draw.below(3) - 1) - 2 ** -23 * draw.below(2)].map(f64Bits);
  });
  // A constant that no pair holds, and the pair next to it.
  const third = f64Value(0x3ff5555555555555n);
  const next = [0x3ff5555555555550n, 0n, 0n];
  const rows = [...specialRows, next, ...halves, ...rowsOf(draw, 4000, (power) => held48(power % 100))];
  const [x, y] = [results('add.f64 %d4, %d1, %d2;', rows), results('sub.f64 %d4, %d1, %d3;', rows)];
  const both = 'add.f64 %d5, %d1, %d2; sub.f64 %d6, %d1, %d3;';
  for (const [word, extreme] of [
    ['min', minFloat],
    ['max', maxFloat],
  ] as const) {
    const wanted = rows.map((_, i) => extreme(f64, x[i]!, y[i]!));
    const withLoaded = rows.map(([a], i) => extreme(f64, x[i]!, a!));
    const same = (got: bigint[], want: bigint[]): void =>
      assert.equal(rows.filter((_, i) => got[i] !== want[i] && !(isNone(got[i]!) && isNone(want[i]!))).map(shown), []);
    same(results(`${both} ${word}.f64 %d4, %d5, %d6;`, rows), wanted);
    same(results(`${both} ${word}.f64 %d4, %d5, %d1;`, rows), withLoaded);
    // And computed with again.
    same(results(`${both} ${word}.f64 %d4, %d5, %d6; add.f64 %d4, %d4, %d4; mul.f64 %d4, %d4, 0d3FE0000000000000;`, rows), wanted);
  }
  for (const [words, holds] of [
    ['lt', (a: number, b: number) => a < b],
    ['le', (a: number, b: number) => a <= b],
    ['eq', (a: number, b: number) => a === b],
    ['neu', (a: number, b: number) => a !== b],
    ['gtu', (a: number, b: number) => !(a <= b)],
    ['num', (a: number, b: number) => !Number.isNaN(a) && !Number.isNaN(b)],
  ] as const) {
    const got = results(
      `add.f64 %d5, %d1, %d2; sub.f64 %d6, %d1, %d3; setp.${words}.f64 %p1, %d5, %d6; selp.f64 %d4, 1.0, 0.0, %p1;`,
      rows,
    );
    const constant = results(`add.f64 %d5, %d1, %d2; setp.${words}.f64 %p1, %d5, 0d3FF5555555555555; selp.f64 %d4, 1.0, 0.0, %p1;`, rows);
    const zero = results(`add.f64 %d5, %d1, %d2; setp.${words}.f64 %p1, %d5, 0.0; selp.f64 %d4, 1.0, 0.0, %p1;`, rows);
    rows.forEach((row, i) => {
      const [a, b] = [f64Value(x[i]!), f64Value(y[i]!)];
      assert.is(f64Value(got[i]!), Number(holds(a, b)), `${words} of ${shown(row)}`);
      assert.is(f64Value(constant[i]!), Number(holds(a, third)), `${words} of ${shown(row)} and a constant`);
      assert.is(f64Value(zero[i]!), Number(holds(a, 0)), `${words} of ${shown(row)} and zero`);
    });
  }
});

test('directed rounding, and what rounds by a large constant, are exact', () => {
  const draw = drawer(16n);
  const any = (power: number): bigint => (draw.bits() & (sign | ((1n << 52n) - 1n))) | (BigInt(1023 + (power % 40)) << 52n);
  const rows = rowsOf(draw, 600, any);
  for (const body of ['add.rz.f64 %d4, %d1, %d2;', 'fma.rm.f64 %d4, %d1, %d2, %d3;', 'div.rp.f64 %d4, %d1, %d2;', 'sqrt.rm.f64 %d4, %d1;'])
    assert.equal(results(body, rows), results(body, rows, 'soft'));
  // A merged first step would leave the neighbour: the same operands are added to nearest beside.
  const both = 'add.f64 %d5, %d1, %d2; add.rz.f64 %d4, %d1, %d2; st.global.f64 [%rd4], %d5;';
  assert.equal(results(both, rows), results('add.rz.f64 %d4, %d1, %d2;', rows, 'soft'));
  // To an integer and back, as exponentials do: 2^52 + 2^51.
  const shift = '0d4338000000000000';
  const numbers = Array.from({ length: 2000 }, () => [f64Bits((draw.below(2 ** 31) - 2 ** 30) / 2 ** draw.below(32)), f64Bits(1.5), 0n]);
  assertExact(`add.f64 %d5, %d1, ${shift}; sub.f64 %d4, %d5, ${shift};`, numbers, (a) => f64Bits(evenOf(f64Value(a))));
  assertExact(`fma.rn.f64 %d5, %d1, %d2, ${shift}; sub.f64 %d4, %d5, ${shift};`, numbers, (a) => f64Bits(evenOf(f64Value(a) * 1.5)));
});

test('halves are rounded away from zero by a sum towards zero, as programs do', () => {
  const ofHalf = [-0.5, 0.5, 1.5, 2.5, -2.5, 0.49999999999999994, -0.49999999999999994, 4503599627370495.5, 2 ** 52 + 1, 7.25];
  const body = 'copysign.f64 %d5, %d1, 0d3FE0000000000000; add.rz.f64 %d5, %d1, %d5; cvt.rzi.f64.f64 %d4, %d5;';
  const rows = ofHalf.map((x): Row => [f64Bits(x), 0n, 0n]);
  assert.equal(results(body, rows).map(f64Value), [-1, 1, 2, 3, -3, 0, -0, 4503599627370496, 2 ** 52 + 1, 7]);
});

/** The nearest integer, ties to even; +0 if the result rounds to zero. */
function evenOf(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down + 0;
}

test('floats and integers of 32 bits are pairs exactly', () => {
  const draw = drawer(20n);
  const word = (): bigint =>
    draw.of([
      draw.bits() & 0xffffffffn,
      1n << BigInt(draw.below(32)),
      0x7f800000n,
      0xffc00000n,
      0xffffffffn,
      0x7fffffffn,
      0n,
      0x80000000n,
      draw.bits() & 0x807fffffn,
    ]);
  const rows = Array.from({ length: 2000 }, () => [word(), word(), 0n]);
  // Twice the number is a pair as well, and any pair that holds a number exactly gives it exactly.
  for (const convert of [
    'mov.b32 %f1, %r2; cvt.f64.f32 %d5, %f1;',
    'cvt.rn.f64.s32 %d5, %r2;',
    'cvt.rn.f64.u32 %d5, %r2;',
    'cvt.u16.u32 %rs1, %r2; cvt.rn.f64.s16 %d5, %rs1;',
  ]) {
    const body = `mov.b64 %rd6, %d1; cvt.u32.u64 %r2, %rd6; ${convert} add.f64 %d4, %d5, %d5;`;
    const [got, want] = [results(body, rows), results(body, rows, 'soft')];
    const wrong = rows.filter((_, i) => got[i] !== want[i] && !(isNone(got[i]!) && isNone(want[i]!)));
    assert.equal(
      wrong.map(([a]) => a!.toString(16)),
      [],
      convert,
    );
  }
});

test('conversions of computed values are those of the doubles that they are', () => {
  const draw = drawer(17n);
  const rows = [...specialRows.slice(0, 200), ...rowsOf(draw, 1500, (power) => held(draw)(power % 70))];
  const sums = results('add.f64 %d4, %d1, %d2;', rows).map((bits) => [bits]);
  for (const convert of [
    'cvt.rn.f32.f64 %f1, X; cvt.f64.f32 %d4, %f1;',
    'cvt.rzi.s32.f64 %r2, X; cvt.rn.f64.s32 %d4, %r2;',
    'cvt.rmi.f64.f64 %d4, X;',
    'cvt.rzi.u64.f64 %rd6, X; cvt.rn.f64.u64 %d4, %rd6;',
  ])
    assert.equal(
      results(`add.f64 %d5, %d1, %d2; ${convert.replace('X', '%d5')}`, rows),
      results(convert.replace('X', '%d1'), sums, 'soft'),
    );
});

test('values that are pairs, bits or either, in branches and loops: integers come out as they are', () => {
  const draw = drawer(BigInt(process.env.SEED ?? 19));
  const loaded = (): bigint => (draw.below(20) ? f64Bits(draw.below(17) - 8) : draw.of([f64Bits(-0), 0x7ff0000000000123n]));
  const rows = Array.from({ length: 32 }, () => [loaded(), loaded(), loaded()]);
  for (let i = 0; i < Number(process.env.PROGRAMS ?? 40); i++) {
    const body = randomDoubles(draw);
    const [got, want] = [results(body, rows), results(body, rows, 'soft')];
    const wrong = got.flatMap((bits, row) =>
      bits === want[row] || (isNone(bits) && isNone(want[row]!))
        ? []
        : [`${shown(rows[row]!)}: ${f64Value(bits)}, not ${f64Value(want[row]!)}`],
    );
    assert.equal(wrong.slice(0, 3), [], body);
  }
});

test.run();
