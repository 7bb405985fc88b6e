/**
 * Doubles as pairs of floats (`--fp64=emulate`), from PTX through the metallib on the CPU device: how far results are off, against
 * exact arithmetic and the bounds that the table states, and what has to be exact, against IEEE 754.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emulateF64 } from '../../src/air/emulate-f64.ts';
import { pairOps } from '../../src/air/pairs/table.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { f32Bits, f64Bits, f64Value } from '../../src/base/float.ts';
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
import { SourceFile } from '../../src/base/source.ts';
import { compile, type Fp64Mode } from '../../src/compile/index.ts';
import {
  evalOp,
  type Inst,
  type InstOf,
  isEvaluableInst,
  isFloat,
  type Kernel,
  operandsOf,
  type PureOp,
  type Value,
} from '../../src/ir/index.ts';
import { assertSound } from '../support/ir-text.ts';
import { oneBlock, pointerParam } from '../support/kernels.ts';
import { launchMetallib } from '../support/launch.ts';
import {
  type Draw,
  drawer,
  type Exact,
  exactOf,
  halfLeast,
  heldDouble,
  isWithin,
  magnitude,
  minus,
  over,
  plus,
  times,
  units,
} from '../support/pair-errors.ts';
import { randomDoubles } from '../support/random-doubles.ts';

const test = suite('air/pairs-f64');
const { f64 } = floatFormats;
const sign = 1n << 63n;
type Row = readonly bigint[];

// ── running ──

/** What instructions make of %d1 to %d3 in %d4, a thread for each row; %rd0 is the thread's number. */
function results(body: string, rows: readonly Row[], fp64: Fp64Mode = 'emulate'): bigint[] {
  const text = `.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 out)
{
  .reg .pred %p<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %rd<9>; .reg .f64 %d<9>;
  .local .align 8 .b8 spill[32];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.u32 %r0, %r1, %r2, %r0; cvt.u64.u32 %rd0, %r0;
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [out];
  shl.b64 %rd5, %rd0, 3;
  add.s64 %rd1, %rd1, %rd5; add.s64 %rd2, %rd2, %rd5; add.s64 %rd3, %rd3, %rd5; add.s64 %rd4, %rd4, %rd5;
  ld.global.f64 %d1, [%rd1]; ld.global.f64 %d2, [%rd2]; ld.global.f64 %d3, [%rd3];
  ${body}
  st.global.f64 [%rd4], %d4;
  ret;
}
`;
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const made = compile(diagnostics.file!, { fp64 }, diagnostics);
  assert.ok(made, diagnostics.list.map((d) => d.message).join('\n'));
  const threads = Math.min(256, rows.length);
  const blocks = Math.ceil(rows.length / threads);
  const column = (i: number): BigUint64Array => BigUint64Array.from({ length: blocks * threads }, (_, row) => rows[row]?.[i] ?? 0n);
  const args = [column(0), column(1), column(2), new BigUint64Array(blocks * threads)];
  const after = launchMetallib(made.metallib, { kernel: 'k', blocks, threads, args });
  return [...new BigUint64Array(after[3]!.slice().buffer)].slice(0, rows.length);
}

const shown = (row: Row): string => row.map(f64Value).join(', ');
const isNone = (bits: bigint): boolean => Number.isNaN(f64Value(bits));
const isNumber = (bits: bigint): boolean => Number.isFinite(f64Value(bits));

/** Bit for bit, all NaNs being one. */
function assertExact(body: string, rows: readonly Row[], wanted: (...row: bigint[]) => bigint): void {
  const wrong = results(body, rows).flatMap((got, i) => {
    const want = wanted(...rows[i]!);
    return got === want || (isNone(got) && isNone(want)) ? [] : [`${body} of ${shown(rows[i]!)}: ${f64Value(got)}, not ${f64Value(want)}`];
  });
  assert.equal(wrong.slice(0, 5), [], `${wrong.length} of ${rows.length}`);
}

// ── how far results are off ──

interface Judged {
  readonly body: string;
  readonly arity: number;
  /** The exact result, and the sizes of what it is a sum of. */
  readonly exact: (a: Exact, b: Exact, c: Exact) => Exact;
  readonly terms: (a: Exact, b: Exact, c: Exact) => Exact[];
  /** By IEEE 754, where the operands are special. */
  readonly ieee: (a: bigint, b: bigint, c: bigint) => bigint;
}

const judged: Partial<Record<keyof typeof pairOps, Judged>> = {
  fadd: { body: 'add.f64 %d4, %d1, %d2;', arity: 2, exact: plus, terms: (a, b) => [a, b], ieee: (a, b) => addFloat(f64, a, b) },
  fsub: { body: 'sub.f64 %d4, %d1, %d2;', arity: 2, exact: minus, terms: (a, b) => [a, b], ieee: (a, b) => subFloat(f64, a, b) },
  fmul: {
    body: 'mul.f64 %d4, %d1, %d2;',
    arity: 2,
    exact: times,
    terms: (a, b) => [times(a, b), times(a, b)],
    ieee: (a, b) => mulFloat(f64, a, b),
  },
  fdiv: {
    body: 'div.rn.f64 %d4, %d1, %d2;',
    arity: 2,
    exact: over,
    terms: (a, b) => [over(a, b), over(a, b)],
    ieee: (a, b) => divFloat(f64, a, b),
  },
  fma: {
    body: 'fma.rn.f64 %d4, %d1, %d2, %d3;',
    arity: 3,
    exact: (a, b, c) => plus(times(a, b), c),
    terms: (a, b, c) => [times(a, b), times(a, b), c],
    ieee: (a, b, c) => fmaFloat(f64, a, b, c),
  },
};

/** Rows whose sizes meet: close, far, cancelling to the last places. */
function rowsOf(draw: Draw, count: number, one: (power: number) => bigint): Row[] {
  const { below, of } = draw;
  return Array.from({ length: count }, () => {
    const base = of([0, 0, 0, -900, 900, below(1000) - 500]);
    const a = one(base + below(6));
    const cancelling = (a ^ sign) + (BigInt(below(2 ** 22) - 2 ** 21) << BigInt(below(28)));
    const b = of([one(base + below(6)), one(base + below(120) - 60), one(below(100) - 50), cancelling & ~0xfn, one(1 - base)]);
    const product = f64Bits(f64Value(a) * f64Value(b)) ^ sign;
    const c = of([one(below(10)), one(below(1000) - 500), isNumber(product) ? (product & ~0xfn) + (BigInt(below(65)) << 4n) : a]);
    return [a, b, c];
  });
}

/** What a subnormal operand is off by is a part of the least number that is none. */
const leastNormal: Exact = { over: 1n, under: 1n, power: -1022 };
const atLeast = (a: Exact): Exact => (isWithin(leastNormal, magnitude(a)) ? a : leastNormal);

/** Fails where a result is off by more than the table says, and `more` units of every term. */
function assertBounded(op: keyof typeof pairOps, rows: readonly Row[], more: number): void {
  const { body, exact, terms } = judged[op]!;
  const bound: { readonly result: number; readonly product?: number } = pairOps[op].bound;
  const wrong = results(body, rows).flatMap((got, i) => {
    const [a, b, c] = rows[i]!.map(exactOf) as [Exact, Exact, Exact];
    const want = exact(a, b, c);
    // Beyond the largest double, or within the bound of it, there is no number to compare with.
    if (!isNumber(got))
      return Math.abs(f64Value(judged[op]!.ieee(...(rows[i] as [bigint, bigint, bigint])))) > 1.79e308 ? [] : [shown(rows[i]!)];
    const ofProduct = bound.product === undefined ? [] : [units(bound.product, times(a, b))];
    const limit = [units(bound.result, want), ...ofProduct, ...terms(atLeast(a), b, c).map((term) => units(more, term)), halfLeast].reduce(
      plus,
    );
    return isWithin(magnitude(minus(exactOf(got), want)), limit) ? [] : [`${body} of ${shown(rows[i]!)}: ${f64Value(got)}`];
  });
  assert.equal(wrong.slice(0, 5), [], `${wrong.length} of ${rows.length}`);
}

/** A held number with nothing below the pair's places, whatever is carried. */
const held =
  (draw: Draw) =>
  (power: number): bigint =>
    heldDouble(draw, Math.max(-1000, Math.min(1000, power)));
const isHeld = (bits: bigint): boolean => (bits & 0xfn) === 0n;

for (const op of Object.keys(judged) as (keyof typeof pairOps)[]) {
  test(`${op} of what pairs hold is within the bound of the table`, () => {
    const draw = drawer(BigInt(op.length));
    const rows = rowsOf(draw, 12000, (power) => held(draw)(power) & ~0xfn);
    assert.ok(rows.flat().every(isHeld));
    assertBounded(op, rows, 0);
  });

  test(`${op} of any doubles is off by half a unit more of each operand`, () => {
    const draw = drawer(BigInt(op.length) + 100n);
    const any = (power: number): bigint =>
      (draw.bits() & (sign | ((1n << 52n) - 1n))) | (BigInt(Math.max(1, Math.min(2046, power + 1023))) << 52n);
    const subnormal = Array.from({ length: 400 }, () => [
      draw.bits() & (sign | ((1n << BigInt(draw.below(53))) - 1n)),
      any(draw.below(600)),
      any(0),
    ]);
    assertBounded(op, [...rowsOf(draw, 6000, any), ...subnormal], 0.51);
  });
}

test('roots are within the bound of the table', () => {
  const draw = drawer(3n);
  const rows = Array.from({ length: 12000 }, () => [held(draw)(draw.below(2000) - 1000) & ~sign & ~0xfn]);
  const wrong = results('sqrt.rn.f64 %d4, %d1;', rows).flatMap((got, i) => {
    // |x - sqrt(a)| <= e sqrt(a) where (1 - e)^2 a <= x^2 <= (1 + e)^2 a.
    const [x, a] = [exactOf(got), exactOf(rows[i]![0]!)];
    const e = units(pairOps.fsqrt.bound.result, { over: 1n, under: 1n, power: 0 });
    const [low, high] = [minus, plus].map((add) => add({ over: 1n, under: 1n, power: 0 }, e)) as [Exact, Exact];
    const isRight = isWithin(times(times(low, low), a), times(x, x)) && isWithin(times(x, x), times(times(high, high), a));
    return isRight ? [] : [`${shown(rows[i]!)}: ${f64Value(got)}`];
  });
  assert.equal(wrong.slice(0, 5), []);
});

test('every op that pairs are computed with is judged here', () => {
  const rows = Object.entries(pairOps).filter(([, { kind }]) => kind === 'computes');
  assert.equal(rows.map(([op]) => op).sort(), [...Object.keys(judged), 'fsqrt'].sort());
  assert.ok(rows.every(([, { bound }]) => bound.result >= 4 && bound.result <= 16));
});

// ── what is no number, and the ends of the range ──

const special = [0, -0, 1, -1.5, 3, 2 ** 1000, -(2 ** -1000), Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map(f64Bits);
const specialRows = special.flatMap((a) => special.flatMap((b) => special.map((c) => [a, b, c])));

test('zeros, infinities and NaN are those of IEEE 754, zeros with their sign', () => {
  for (const { body, ieee } of Object.values(judged)) {
    const wrong = results(body, specialRows).flatMap((got, i) => {
      const want = ieee(...(specialRows[i] as [bigint, bigint, bigint]));
      const isSame = got === want || (isNone(got) && isNone(want));
      const isNear = isNumber(want) && f64Value(want) !== 0 && Math.abs(f64Value(got) / f64Value(want) - 1) < 2 ** -44;
      return isSame || isNear ? [] : [`${body} of ${shown(specialRows[i]!)}: ${f64Value(got)}, not ${f64Value(want)}`];
    });
    assert.equal(wrong.slice(0, 5), []);
  }
  assertExact(
    'sqrt.rn.f64 %d4, %d1;',
    special.filter((a) => a !== f64Bits(3) && a !== f64Bits(2 ** 1000)).map((a) => [a]),
    (a) => sqrtFloat(f64, a),
  );
});

test('what is special stays so from one operation to the next', () => {
  const chain =
    'mul.f64 %d5, %d1, %d2; add.f64 %d6, %d5, %d3; fma.rn.f64 %d7, %d6, %d6, %d5; div.rn.f64 %d8, %d7, %d1; mul.f64 %d4, %d8, %d2;';
  const small = [0, -0, 1, -2, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NaN].map(f64Bits);
  const rows = small.flatMap((a) => small.flatMap((b) => small.map((c) => [a, b, c])));
  assertExact(chain, rows, (a, b, c) => {
    const five = mulFloat(f64, a, b);
    const six = addFloat(f64, five, c);
    const seven = fmaFloat(f64, six, six, five);
    return mulFloat(f64, divFloat(f64, seven, a), b);
  });
});

/** As many steps as bring a power by 1000 each from that of zero to those of numbers, were it not set anew. */
test('zeros and infinities that are multiplied for long do not become numbers', () => {
  const loop = (step: string): string => `mov.f64 %d4, %d1; mov.u32 %r2, 0;
L: ${step} add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 140000; @%p1 bra L; add.f64 %d4, %d4, %d3;`;
  const one = f64Bits(1);
  const rows = [0, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].flatMap((a) => [
    [f64Bits(a), f64Bits(2 ** 1000), one],
    [f64Bits(a), f64Bits(2 ** -1000), one],
  ]);
  const wanted = (a: bigint): bigint => (isNumber(a) ? one : a);
  assertExact(loop('mul.f64 %d4, %d4, %d2;'), rows, wanted);
  assertExact(loop('fma.rn.f64 %d4, %d4, %d2, %d4;'), rows, wanted);
  assertExact(loop('div.rn.f64 %d4, %d4, %d2;'), rows, wanted);
  // What leaves the range of registers is infinite, or zero, and stays it.
  const grown = [
    [f64Bits(1), f64Bits(2 ** 1000), one],
    [f64Bits(1), f64Bits(2 ** -1000), one],
  ];
  assertExact(loop('mul.f64 %d4, %d4, %d2;'), grown, (_, b) => (f64Value(b) > 1 ? f64Bits(Number.POSITIVE_INFINITY) : one));
});

test('an intermediate result beyond the range of doubles is not lost', () => {
  const rows = [
    [1.5, 2 ** 1000, 2 ** 1000],
    [3, 2 ** -1000, 2 ** -900],
    [1, Number.MIN_VALUE, 2 ** -1022],
    [5, 2 ** 1023, 2 ** 1020],
  ].map((row) => row.map(f64Bits));
  assertExact('mul.f64 %d4, %d1, %d2; mul.f64 %d4, %d4, %d3; div.rn.f64 %d4, %d4, %d2; div.rn.f64 %d4, %d4, %d3;', rows, (a) => a);
  assertExact('mul.f64 %d4, %d2, %d3;', rows, (_, b, c) => mulFloat(f64, b, c));
});

test('subnormal results are rounded as those of doubles', () => {
  const draw = drawer(8n);
  const rows = Array.from({ length: 3000 }, () => [
    heldDouble(draw, -1010 - draw.below(70)) & ~0xfffffffn,
    f64Bits(2 ** -draw.below(12)),
    0n,
  ]);
  assertExact(
    'mul.f64 %d4, %d1, %d2;',
    rows.map(([a, b]) => [a! < 0 ? 0n : a!, b!, 0n]),
    (a, b) => mulFloat(f64, a, b),
  );
});

// ── what is exact ──

test('integers up to 2^46 are added and multiplied exactly, and so are their quotients that are integers', () => {
  const draw = drawer(9n);
  const integer = (bits: number): number => Number(BigInt.asIntN(bits, draw.bits()));
  const rows = Array.from({ length: 4000 }, () => [integer(46), integer(46), 0].map(f64Bits));
  const short = Array.from({ length: 4000 }, () => [integer(24), integer(23), integer(45)].map(f64Bits));
  assertExact('add.f64 %d4, %d1, %d2;', rows, (a, b) => addFloat(f64, a, b));
  assertExact('sub.f64 %d4, %d1, %d2;', rows, (a, b) => subFloat(f64, a, b));
  assertExact('mul.f64 %d4, %d1, %d2;', short, (a, b) => mulFloat(f64, a, b));
  assertExact('fma.rn.f64 %d4, %d1, %d2, %d3;', short, (a, b, c) => fmaFloat(f64, a, b, c));
  const divided = short.filter(([, b]) => b !== 0n).map(([a, b]) => [mulFloat(f64, a!, b!), b!]);
  assertExact(
    'div.rn.f64 %d4, %d1, %d2;',
    divided.filter(([, b]) => f64Value(b!) !== 0),
    (a, b) => divFloat(f64, a, b),
  );
});

const anyRows = (seed: bigint): Row[] => {
  const draw = drawer(seed);
  const signalling = [0x7ff0000000000001n, 0xfff123456789abcdn, 1n, sign | 1n];
  return [
    ...specialRows.slice(0, 300),
    ...Array.from({ length: 700 }, () => [0, 0, 0].map(() => (draw.below(6) ? draw.bits() : draw.of(signalling)))),
  ];
};

/** All 64 bits, of NaNs too. */
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
  // Sums that are halfway between two floats, come to from both sides, and by rounding.
  const halves = Array.from({ length: 2000 }, () => {
    const high = 1 + draw.below(2 ** 23) * 2 ** -23;
    return [high, 2 ** -24 - draw.below(4) * 2 ** -48, 2 ** -24 * (draw.below(3) - 1) - 2 ** -23 * draw.below(2)].map(f64Bits);
  });
  const rows = [...specialRows, ...halves, ...rowsOf(draw, 4000, (power) => held48(power % 100))];
  const [x, y] = [results('add.f64 %d4, %d1, %d2;', rows), results('sub.f64 %d4, %d1, %d3;', rows)];
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
    const constant = results(`add.f64 %d5, %d1, %d2; setp.${words}.f64 %p1, %d5, 0d3FF0000000000001; selp.f64 %d4, 1.0, 0.0, %p1;`, rows);
    const zero = results(`add.f64 %d5, %d1, %d2; setp.${words}.f64 %p1, %d5, 0.0; selp.f64 %d4, 1.0, 0.0, %p1;`, rows);
    rows.forEach((row, i) => {
      const [a, b] = [f64Value(x[i]!), f64Value(y[i]!)];
      assert.is(f64Value(got[i]!), Number(holds(a, b)), `${words} of ${shown(row)}`);
      assert.is(f64Value(constant[i]!), Number(holds(a, 1 + 2 ** -52)), `${words} of ${shown(row)} and a constant`);
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

/** The nearest integer, ties to even; +0 for what rounds to nothing. */
function evenOf(value: number): number {
  const down = Math.floor(value);
  const rest = value - down;
  return rest > 0.5 || (rest === 0.5 && down % 2 !== 0) ? down + 1 : down + 0;
}

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
  const loaded = (): bigint => draw.of([f64Bits(draw.below(17) - 8), f64Bits(draw.below(2 ** 20)), f64Bits(-0), 0x7ff0000000000123n]);
  const rows = Array.from({ length: 32 }, () => [loaded(), loaded(), loaded()]);
  for (let i = 0; i < Number(process.env.PROGRAMS ?? 60); i++) {
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

// ── subnormal floats ──

/** The kernel of one op on two doubles, as pairs, of which operands and result are bits in memory. */
function pairKernel(op: 'fadd' | 'fmul' | 'fdiv' | 'fma'): { kernel: Kernel; inputs: Value[]; result: Value } {
  const inputs: Value[] = [];
  const kernel = oneBlock(
    'k',
    [0, 1, 2, 3].map((i) => pointerParam(`p${i}`, i, 'f64', 'read_write')),
    (b) => {
      const address = (index: number): Value => b.param('ptr.global', { index });
      inputs.push(...[0, 1, 2].map((i) => b.load('f64', address(i), { align: 8, volatile: false })));
      const [x, y, z] = inputs as [Value, Value, Value];
      b.store(address(3), op === 'fma' ? b.fma(x, y, z) : b[op](x, y), { align: 8, volatile: false });
    },
  );
  assert.ok(emulateF64(kernel, 'macos14', new Diagnostics()));
  assertSound(kernel);
  const store = kernel.blocks[0]!.body.map((value) => kernel.insts[value]!).find((inst) => inst.op === 'store') as InstOf<'store'>;
  return { kernel, inputs, result: store.value };
}

const flushed = (type: string, bits: bigint): bigint => (type === 'f32' && (bits & 0x7f800000n) === 0n ? bits & 0x80000000n : bits);

/** The result by the definition of the ops; where subnormal floats are flushed, as operands and as results. */
function evaluated({ kernel, inputs, result }: ReturnType<typeof pairKernel>, row: Row, isFlushing: boolean): bigint {
  const values = new Map<Value, bigint>(inputs.map((input, i) => [input, row[i]!]));
  for (const value of kernel.blocks[0]!.body) {
    const inst: Inst = kernel.insts[value]!;
    if (values.has(value) || !isEvaluableInst(inst)) continue;
    const types = operandsOf(inst).map((operand) => kernel.insts[operand]!.type);
    const isArithmetic = inst.op.startsWith('f') && types.some(isFloat);
    const kept = (type: string, bits: bigint): bigint => (isFlushing && isArithmetic ? flushed(type, bits) : bits);
    const operands = operandsOf(inst).map((operand, i) => kept(types[i]!, values.get(operand)!));
    values.set(value, kept(inst.type, evalOp(inst as InstOf<PureOp>, operands, types)));
  }
  return values.get(result)!;
}

test('a GPU that flushes subnormal floats leaves the same bits', () => {
  const draw = drawer(18n);
  const edges = [2 ** -1074, 3 * 2 ** -1074, 2 ** -1050, 2 ** -1022, 1 + 2 ** -48, 2 ** 1000, -1, 0].map(f64Bits);
  const some = (): bigint => (draw.below(3) ? held(draw)(draw.below(60) - 30) : draw.of(edges));
  for (const op of ['fadd', 'fmul', 'fdiv', 'fma'] as const) {
    const made = pairKernel(op);
    for (let i = 0; i < 150; i++) {
      const row = [some(), some(), some()];
      assert.is(evaluated(made, row, true), evaluated(made, row, false), `${op} of ${shown(row)}`);
    }
  }
  assert.is(flushed('f32', BigInt(f32Bits(2 ** -130))), 0n);
});

test.run();
