/** Intervals of integers in one launch: rules against evaluation, turns of loops against counting, conditions and loops of kernels. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Interval, intervalOf, whereCompared } from '../../src/ir/analysis/interval.ts';
import { turnsWhile } from '../../src/ir/analysis/turns.ts';
import {
  evalOp,
  type IcmpPredicate,
  type Inst,
  type InstOf,
  icmpPredicates,
  isEvaluableInst,
  type LaunchFacts,
  launchRanges,
  type Op,
  type Type,
  type Value,
} from '../../src/ir/index.ts';
import { kernelOf } from '../support/ir-text.ts';

const test = suite('ir/launch-ranges');

const binary = 'add sub mul and or xor shl lshr ashr udiv sdiv urem srem smin smax umin umax'.split(' ') as Op[];
const unary = ['zext', 'sext', 'trunc', 'clz', 'popcount'] as const;
const asBits = (number: bigint): bigint => BigInt.asUintN(8, number);

/** An interval of signed bytes. */
const interval = fc
  .tuple(fc.integer({ min: -128, max: 127 }), fc.integer({ min: -128, max: 127 }), fc.constantFrom(0, 0, 1))
  .map(([a, b, isOne]): Interval => ({ min: BigInt(Math.min(a, b)), max: BigInt(isOne ? Math.min(a, b) : Math.max(a, b)) }));
const within = ({ min, max }: Interval, at: number): bigint => min + (BigInt(at) % (max - min + 1n));

test('the result of an operation is in the interval of those of its operands', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...binary),
      interval,
      interval,
      fc.array(fc.nat(255), { minLength: 16, maxLength: 16 }),
      (op, x, y, picks) => {
        const inst = { op, type: 'i8', a: 0, b: 1 } as unknown as Inst;
        const found = intervalOf(inst, { typeOf: () => 'i8', of: (operand) => (operand === 0 ? x : y) });
        for (let i = 0; i < picks.length; i += 2) {
          const [a, b] = [within(x, picks[i]!), within(y, picks[i + 1]!)];
          assert.ok(isEvaluableInst(inst));
          const result = BigInt.asIntN(8, evalOp(inst as InstOf<'add'>, [asBits(a), asBits(b)], ['i8', 'i8']));
          assert.ok(result >= found.min && result <= found.max, `${op} ${a} ${b} is ${result}, not in ${found.min} to ${found.max}`);
        }
      },
    ),
    { numRuns: 4000, seed: 11 },
  );
});

test('the result of a conversion is in its interval', () => {
  fc.assert(
    fc.property(fc.constantFrom(...unary), interval, fc.nat(255), (op, x, pick) => {
      const type: Type = op === 'trunc' ? 'i1' : op === 'clz' || op === 'popcount' ? 'i8' : 'i32';
      const bits = type === 'i1' ? 1 : type === 'i8' ? 8 : 32;
      const inst = { op, type, a: 0 } as unknown as Inst;
      const found = intervalOf(inst, { typeOf: () => 'i8', of: () => x });
      const result = BigInt.asIntN(bits, evalOp(inst as InstOf<'zext'>, [asBits(within(x, pick))], ['i8']));
      assert.ok(result >= found.min && result <= found.max, `${op}: ${result} not in ${found.min} to ${found.max}`);
    }),
    { numRuns: 1000, seed: 12 },
  );
});

const holds = (pred: IcmpPredicate, a: bigint, b: bigint): boolean =>
  evalOp({ op: 'icmp', type: 'i1', a: 0 as Value, b: 1 as Value, pred }, [asBits(a), asBits(b)], ['i8', 'i8']) === 1n;

test('numbers for which a comparison holds are in the interval where it does', () => {
  fc.assert(
    fc.property(fc.constantFrom(...icmpPredicates), interval, interval, fc.nat(255), fc.nat(255), (pred, x, y, i, j) => {
      const [a, b] = [within(x, i), within(y, j)];
      const found = whereCompared(x, pred, y);
      if (holds(pred, a, b)) assert.ok(a >= found.min && a <= found.max, `${a} ${pred} ${b}: not in ${found.min} to ${found.max}`);
    }),
    { numRuns: 4000, seed: 13 },
  );
});

test('a loop turns at most as often as its bound says', () => {
  const small = fc.integer({ min: -20, max: 20 });
  let bounded = 0;
  fc.assert(
    fc.property(
      fc.constantFrom(...icmpPredicates),
      interval,
      interval,
      small,
      fc.nat(3),
      fc.nat(255),
      fc.nat(255),
      (pred, first, bound, by, more, i, j) => {
        const step = { min: BigInt(by), max: BigInt(by + more) };
        const all = { min: -128n, max: 127n };
        const [limit, start] = [within(bound, j), within(first, i)];
        const areMultiples = (of: bigint): boolean => start % of === 0n && limit % of === 0n && first.min === first.max;
        const turns = turnsWhile(pred, { first, step, bound, all, areMultiples });
        if (turns === undefined) return;
        bounded++;
        let [now, count] = [start, 0n];
        while (holds(pred, now, limit) && count <= 300n) {
          now = BigInt.asIntN(8, now + (count % 2n === 0n ? step.min : step.max));
          count++;
        }
        assert.ok(count <= turns, `${pred} from ${start} by ${step.min} to ${step.max}, to ${limit}: ${count} turns, not ${turns}`);
      },
    ),
    { numRuns: 20_000, seed: 14 },
  );
  assert.ok(bounded > 1000, `${bounded}`);
});

/** A launch with n. */
const withN = (n: bigint): LaunchFacts => ({
  sreg: (name) => (name === 'gid.x' ? { min: 0n, max: 999n } : undefined),
  valueOf: (param, offset, bits) => (param === 0 && offset === 4 && bits === 32 ? n : undefined),
});

/** The interval of the first operand of the store in a block. */
function stored(text: string, n: bigint): Interval {
  const kernel = kernelOf(`kernel "k" {
  param "n" value param size 8 align 4 slot 0
  variable "s" shared size 4 align 4
b0:
  %0 = param ptr.param {index: 0}
  %1 = const i64 4
  %2 = ptradd ptr.param %0, %1
  %3 = load i32 %2 {align: 4, volatile: false}
  %4 = sreg i32 {name: gid.x}
  %5 = variable ptr.shared {name: s}
  %6 = const i32 0
  %7 = const i32 1
  %8 = const i32 4
  %9 = const i32 3
${text}}
`);
  const ranges = launchRanges(kernel, withN(n));
  for (const { id, body } of kernel.blocks)
    for (const value of body) {
      const inst = kernel.insts[value]!;
      if (inst.op === 'store') return ranges.at(inst.value, id);
    }
  throw new Error('no store');
}

const store = (value: string): string => `  store %5, ${value} {align: 4, volatile: false}\n  ret\n`;
const range = (min: bigint, max: bigint): Interval => ({ min, max });

test('values of parameters and special registers', () => {
  assert.equal(stored(`  %10 = mul i32 %3, %4\n${store('%10')}`, 7n), range(0n, 6993n));
  assert.equal(stored(`  %10 = sub i32 %3, %8\n${store('%10')}`, 7n), range(3n, 3n));
});

test('a loop whose bound is a constant inside it', () => {
  const counts = `  br b1(%6)\nb1(%10: i32):\n  %11 = const i32 12\n  %12 = add i32 %10, %8\n  %13 = icmp i1 %12, %11 {pred: ult}\n`;
  const end = `  store %5, %10 {align: 4, volatile: false}\n  condbr %13, b1(%12), b2\nb2:\n  ret\n`;
  assert.equal(stored(counts + end, 1n), range(0n, 8n));
});

test('the condition of a branch', () => {
  const text = `  %10 = icmp i1 %4, %3 {pred: ult}\n  condbr %10, b1, b2\nb1:\n${store('%4')}b2:\n  ret\n`;
  assert.equal(stored(text, 10n), range(0n, 9n));
  assert.equal(stored(text, 5000n), range(0n, 999n));
});

/** A loop over an index that starts at one value and grows by another, tested before each turn; the body stores the index. */
const loop = (first: string, step: string, pred: string): string =>
  `  br b1(${first})\nb1(%10: i32):\n  %11 = icmp i1 %10, %3 {pred: ${pred}}\n  condbr %11, b2, b3\nb2:\n` +
  `  store %5, %10 {align: 4, volatile: false}\n  %12 = add i32 %10, ${step}\n  br b1(%12)\nb3:\n  ret\n`;

test('the index of a loop', () => {
  assert.equal(stored(loop('%6', '%7', 'slt'), 100n), range(0n, 99n));
  assert.equal(stored(loop('%4', '%8', 'slt'), 100n), range(0n, 99n));
  assert.equal(stored(loop('%6', '%9', 'ne'), 99n), range(0n, 98n));
  // 100 is no multiple of 3: the index passes it.
  assert.equal(stored(loop('%6', '%9', 'ne'), 100n), range(-(2n ** 31n), 2n ** 31n - 1n));
  // The index may wrap around to a negative number before it reaches the limit.
  assert.equal(stored(loop('%6', '%8', 'slt'), 2n ** 31n - 2n), range(-(2n ** 31n), 2n ** 31n - 3n));
});

test('the index of a loop that is tested at its end', () => {
  // as nvcc writes a loop over the last n mod 4 elements
  const text = `  %10 = and i32 %3, %9\n  %11 = icmp i1 %10, %6 {pred: eq}\n  condbr %11, b2, b1(%10, %6)\nb1(%12: i32, %13: i32):
  store %5, %13 {align: 4, volatile: false}
  %14 = sub i32 %12, %7
  %15 = add i32 %13, %8
  %16 = icmp i1 %14, %6 {pred: ne}\n  condbr %16, b1(%14, %15), b2\nb2:\n  ret\n`;
  assert.equal(stored(text, 7n), range(0n, 8n));
});

test('an index that a loop halves', () => {
  const text =
    `  br b1(%3)\nb1(%10: i32):\n  %11 = icmp i1 %10, %6 {pred: ne}\n  condbr %11, b2, b3\nb2:\n` +
    `  store %5, %10 {align: 4, volatile: false}\n  %12 = lshr i32 %10, %7\n  br b1(%12)\nb3:\n  ret\n`;
  assert.equal(stored(text, 128n), range(1n, 128n));
});

test('an index that inner loops move', () => {
  const text = `  br b1(%6, %6)\nb1(%10: i32, %11: i32):\n  %12 = icmp i1 %10, %3 {pred: slt}\n  condbr %12, b2(%6, %11), b4
b2(%13: i32, %14: i32):\n  store %5, %14 {align: 4, volatile: false}\n  %15 = add i32 %13, %7\n  %16 = add i32 %14, %8
  %17 = icmp i1 %15, %3 {pred: slt}\n  condbr %17, b2(%15, %16), b3\nb3:\n  %18 = add i32 %10, %7\n  br b1(%18, %16)\nb4:\n  ret\n`;
  // 10 turns of up to 10 turns, which add 4 each
  assert.equal(stored(text, 10n), range(0n, 436n));
});

test.run();
