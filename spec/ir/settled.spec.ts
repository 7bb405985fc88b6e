/** What a run of `simplify` has left alone it looks at again only where something has changed, and then it finds what it finds in a new kernel. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { copyOf } from '../../src/ir/copy.ts';
import { builder, cse, dce, type Kernel, type Pass, printKernel, simplify, standardPasses, type Value } from '../../src/ir/index.ts';
import { settledOf } from '../../src/ir/passes/settled.ts';
import { kernelOf, kernelText } from '../support/ir-text.ts';
import { randomKernel } from '../support/random-kernel.ts';

const test = suite('ir/settled');

const choices = fc.array(fc.nat(0xffff), { minLength: 100, maxLength: 500 });
const [, ...others] = standardPasses.map(({ run }) => run);

test('rounds of passes make of a kernel what they make of a copy before each', () => {
  const order = fc.array(fc.constantFrom<Pass['run'][]>(...others, simplify), { minLength: 3, maxLength: 9 });
  fc.assert(
    fc.property(choices, order, (seeds, passes) => {
      const kernel = randomKernel(seeds, 12);
      let copy = copyOf(kernel);
      for (const run of passes) {
        run(kernel);
        copy = copyOf(copy);
        run(copy);
        assert.is(printKernel(kernel), printKernel(copy));
      }
    }),
    { numRuns: 60, seed: 7 },
  );
});

/** Sums of a word and constants that no rule joins, in a row. */
const chain = (): Kernel =>
  kernelOf(
    kernelText(`b0:
    %0 = param ptr.global {index: 0}
    %1 = load i32 %0 {align: 4, volatile: true}
    %2 = load i32 %0 {align: 4, volatile: true}
    %3 = mul i32 %1, %2
    %4 = add i32 %3, %1
    %5 = mul i32 %4, %2
    %6 = xor i32 %5, %1
    %7 = mul i32 %6, %2
    %8 = add i32 %7, %1
    %9 = mul i32 %8, %2
    %10 = xor i32 %9, %1
    store %0, %10 {align: 4, volatile: false}
    ret`),
  );

/** Which of the instructions of the body are settled. */
function settledIn(kernel: Kernel): Value[] {
  const settled = settledOf(kernel);
  return kernel.blocks[0]!.body.filter((value) => settled.has(value));
}

test('everything is settled behind a run that finds nothing', () => {
  const kernel = chain();
  assert.equal(settledIn(kernel), []);
  assert.is(simplify(kernel), false);
  assert.equal(settledIn(kernel), kernel.blocks[0]!.body);
});

test('a change opens what is near to it, and another instruction is a change', () => {
  for (const change of [
    (kernel: Kernel) => Object.assign(kernel.insts[3]!, { a: 2 }),
    (kernel: Kernel) => (kernel.insts[3] = { ...kernel.insts[3]! }),
  ]) {
    const kernel = chain();
    simplify(kernel);
    change(kernel);
    // Five operands deep: up to %8.
    assert.equal(
      settledIn(kernel).filter((value) => value >= 3),
      kernel.blocks[0]!.body.filter((value) => value > 8),
    );
    assert.is(simplify(kernel), false);
    assert.equal(settledIn(kernel), kernel.blocks[0]!.body);
  }
});

test('an instruction with another type is not settled', () => {
  const kernel = chain();
  simplify(kernel);
  kernel.insts[10]!.type = 'i64';
  assert.equal(
    settledIn(kernel),
    kernel.blocks[0]!.body.filter((value) => value < 10),
  );
});

test('a rule that waits for fewer uses is tried again', () => {
  // (x << 3) & 0xff8 of two users becomes one instruction less only where the shift goes.
  const kernel = kernelOf(
    kernelText(`b0:
    %0 = param ptr.global {index: 0}
    %1 = load i32 %0 {align: 4, volatile: true}
    %2 = const i32 5
    %3 = const i32 3
    %4 = const i32 248
    %5 = lshr i32 %1, %2
    %6 = shl i32 %5, %3
    %7 = and i32 %6, %4
    %8 = add i32 %6, %5
    store %0, %7 {align: 4, volatile: false}
    ret`),
  );
  const fresh = copyOf(kernel);
  simplify(kernel);
  dce(kernel);
  simplify(kernel);
  dce(fresh);
  simplify(fresh);
  for (const each of [kernel, fresh]) {
    cse(each);
    dce(each);
  }
  assert.is(kernel.blocks[0]!.body.length, fresh.blocks[0]!.body.length);
  const ops = kernel.blocks[0]!.body.map((value) => kernel.insts[value]!.op);
  assert.not.ok(ops.includes('shl'), ops.join());
});

test('a new instruction is not settled', () => {
  const kernel = chain();
  simplify(kernel);
  const { block } = builder(kernel, { ...kernel.blocks[0]!, body: [] });
  const b = builder(kernel, block);
  const zero = b.const('i32', 0);
  const sum = b.add(3 as Value, zero);
  kernel.blocks[0]!.body.splice(4, 0, zero, sum);
  (kernel.insts[10] as unknown as { b: Value }).b = sum;
  assert.is(simplify(kernel), true);
  assert.is((kernel.insts[10] as unknown as { b: Value }).b, 3);
});

test.run();
