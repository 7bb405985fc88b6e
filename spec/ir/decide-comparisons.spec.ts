import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  type Builder,
  builder,
  constantOf,
  emptyKernel,
  type FcmpPredicate,
  fcmpPredicates,
  simplify,
  type Value,
} from '../../src/ir/index.ts';

const test = suite('ir/decide-comparisons');

/** Bits of floats. */
const [one, belowTwo, two, half, infinity, nan] = [0x3f800000n, 0x3fffffffn, 0x40000000n, 0x3f000000n, 0x7f800000n, 0x7fc00000n];

/** Bits that nothing is known of. */
const anyBits = (b: Builder): Value => b.load('i32', b.param('ptr.global', { index: 1 }), { align: 4, volatile: true });

/** A float of 1 to 2 - 2^-23, from the bits of a fraction that nothing is known of. */
function fromOneToTwo(b: Builder): Value {
  const fraction = b.and(anyBits(b), b.const('i32', 0x7fffff));
  return b.bitcast('f32', b.or(fraction, b.const('i32', 0x3f800000)));
}

/** Any float. */
const anyFloat = (b: Builder): Value => b.bitcast('f32', anyBits(b));

/** What becomes of a comparison: true or false where it is decided. */
function decisionOf(pred: FcmpPredicate, operands: (b: Builder) => readonly [Value, Value]): boolean | undefined {
  const kernel = emptyKernel('decided');
  const b = builder(kernel, addBlock(kernel));
  const [x, y] = operands(b);
  const chosen = b.select(b.fcmp(x, y, { pred }), b.const('i32', 5), b.const('i32', 9));
  b.store(b.param('ptr.global', { index: 0 }), chosen, { align: 4, volatile: false });
  kernel.blocks[0]!.end = { op: 'ret' };
  simplify(kernel);
  const store = kernel.insts[kernel.blocks[0]!.body.at(-1)!]!;
  if (store.op !== 'store') throw new Error(store.op);
  const bits = constantOf(kernel, store.value);
  return bits === undefined ? undefined : bits === 5n;
}

/** Whether a predicate holds, by its name: `o` needs two numbers, `u` holds of a NaN as well (LLVM's language reference, fcmp). */
function holds(pred: FcmpPredicate, x: number, y: number): boolean {
  if (Number.isNaN(x) || Number.isNaN(y)) return pred.startsWith('u');
  const relations: Record<string, boolean> = { eq: x === y, ne: x !== y, lt: x < y, le: x <= y, gt: x > y, ge: x >= y };
  return pred === 'ord' || (pred !== 'uno' && relations[pred.slice(1)]!);
}

const numberOf = (bits: bigint): number => new Float32Array(Uint32Array.of(Number(bits)).buffer)[0]!;

for (const pred of fcmpPredicates)
  test(`${pred} of a number from 1 to 2 and a constant is decided where all numbers agree`, () => {
    for (const to of [half, one, 0x3fc00000n, belowTwo, two, infinity, nan]) {
      const answers = new Set(
        [one, 0x3f800001n, 0x3fc00000n, 0x3fdfffffn, belowTwo].map((bits) => holds(pred, numberOf(bits), numberOf(to))),
      );
      const expected = answers.size === 1 ? [...answers][0] : undefined;
      assert.is(
        decisionOf(pred, (b) => [fromOneToTwo(b), b.const('f32', to)]),
        expected,
        `${pred} ${numberOf(to)}`,
      );
    }
  });

for (const pred of fcmpPredicates)
  test(`${pred} of a number and itself is decided, of what may be a NaN as well where the answer is the same`, () => {
    const ofItself =
      (make: (b: Builder) => Value) =>
      (b: Builder): readonly [Value, Value] => {
        const x = make(b);
        return [x, x];
      };
    assert.is(decisionOf(pred, ofItself(fromOneToTwo)), holds(pred, 1, 1));
    assert.is(decisionOf(pred, ofItself(anyFloat)), holds(pred, 1, 1) === holds(pred, NaN, NaN) ? holds(pred, 1, 1) : undefined);
  });

for (const pred of fcmpPredicates)
  test(`${pred} of any float and a constant`, () => {
    assert.is(
      decisionOf(pred, (b) => [anyFloat(b), b.const('f32', nan)]),
      holds(pred, NaN, 1),
    );
    // Of infinities, only one side is left.
    const answers = new Set([-1, Infinity, NaN].map((x) => holds(pred, x, Infinity)));
    const expected = answers.size === 1 ? [...answers][0] : undefined;
    assert.is(
      decisionOf(pred, (b) => [anyFloat(b), b.const('f32', infinity)]),
      expected,
    );
  });

test.run();
