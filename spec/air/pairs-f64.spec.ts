/**
 * `--fp64=emulate` from PTX through the metallib on the CPU device: errors against exact arithmetic and the bounds of the table, and
 * special values against IEEE 754.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emulateF64 } from '../../src/air/legalize/emulate-f64.ts';
import { pairOps } from '../../src/air/legalize/pairs/table.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { f32Bits, f64Bits, f64Value } from '../../src/base/float.ts';
import { addFloat, divFloat, floatFormats, fmaFloat, mulFloat, sqrtFloat, subFloat } from '../../src/base/float-exact.ts';
import {
  type Builder,
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
import {
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
import {
  assertExact,
  held,
  isNone,
  isNumber,
  type Row,
  results,
  rowsOf,
  shown,
  sign,
  special,
  specialRows,
} from '../support/pair-kernels.ts';

const test = suite('air/pairs-f64');
const { f64 } = floatFormats;

// ── how far results are off ──

interface Judged {
  readonly body: string;
  readonly arity: number;
  /** The exact result, and the magnitudes of its terms. */
  readonly exact: (a: Exact, b: Exact, c: Exact) => Exact;
  readonly terms: (a: Exact, b: Exact, c: Exact) => Exact[];
  /** The IEEE 754 result for special operands. */
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

/** The error of a subnormal operand is relative to the smallest normal number. */
const leastNormal: Exact = { over: 1n, under: 1n, power: -1022 };
const atLeast = (a: Exact): Exact => (isWithin(leastNormal, magnitude(a)) ? a : leastNormal);

/** Fails if the error of a result exceeds the bound of the table plus `more` units of every term. */
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
  assert.ok(rows.every(([, { bound }]) => bound.result >= 4 && bound.result <= 6));
});

// ── special values, and the ends of the range ──

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
  const square = 'fma.rn.f64 %d5, %d5, %d5, 0.0;';
  assertExact(`mov.f64 %d5, %d1; ${square.repeat(4)} mul.f64 %d5, %d5, %d5; add.f64 %d4, %d5, %d2;`, rows, (a, b) => {
    const squared = [1, 2, 3, 4, 5].reduce((x) => mulFloat(f64, x, x), a);
    return addFloat(f64, squared, b);
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
  // A value outside the range of registers becomes infinite or zero and stays so.
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

test('beyond the range of registers a result is infinite or zero, and stays it', () => {
  const rows = [2 ** 1000, 2 ** -1000].map((a) => [f64Bits(a), 0n, 0n]);
  const squares = (count: number): string => `mov.f64 %d4, %d1; ${'mul.f64 %d4, %d4, %d4;'.repeat(count)}`;
  const quotients = (count: number): string => 'div.rn.f64 %d4, %d4, %d1;'.repeat(count);
  assertExact(squares(3) + quotients(7), rows, (a) => a);
  assertExact(squares(4) + quotients(15), rows, (a) => f64Bits(f64Value(a) > 1 ? Number.POSITIVE_INFINITY : 0));
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

/** The result by the definition of the ops, also if subnormal floats are flushed as operands and results. */
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

test('floats and integers of 32 bits become pairs without their bits as doubles', () => {
  const plain = { align: 4, volatile: false };
  const lengthOf = (make: (b: Builder, at: Value) => Value): number => {
    const kernel = oneBlock('k', [pointerParam('p', 0, undefined, 'read_write')], (b) => {
      const at = b.param('ptr.global', { index: 0 });
      const x = make(b, at);
      b.store(at, b.fmul(x, x), plain);
    });
    emulateF64(kernel, 'macos14', new Diagnostics());
    return kernel.blocks[0]!.body.length;
  };
  const bits = lengthOf((b, at) => b.load('f64', at, plain));
  const float = lengthOf((b, at) => b.fpext('f64', b.load('f32', at, plain)));
  const signed = lengthOf((b, at) => b.sitofp('f64', b.load('i32', at, plain)));
  const unsigned = lengthOf((b, at) => b.uitofp('f64', b.load('i32', at, plain)));
  const long = lengthOf((b, at) => b.sitofp('f64', b.load('i64', at, plain)));
  for (const length of [float, signed, unsigned])
    assert.ok(length + 10 < bits, `${[float, signed, unsigned, long]} and ${bits} instructions`);
  assert.ok(long > bits);
});

test.run();
