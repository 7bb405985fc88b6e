/** The order of blocks in kernels with collectives of simdgroups: whether it changes, and that nothing is left of unreachable blocks. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { orderForConvergence } from '../../src/air/legalize/convergence-order.ts';
import { printKernel } from '../../src/ir/index.ts';
import { assertSound, kernelOf } from '../support/ir-text.ts';

const test = suite('air/convergence-order');

const vote = (result: number): string => `  %${result} = ballot i32 %1\n`;

/** Orders the blocks; returns whether the pass says that it changed them, and the text. */
function ordered(blocks: string): { isChanged: boolean; isOther: boolean; text: string } {
  const kernel = kernelOf(
    `kernel "k" {\nb0:\n  %0 = sreg i32 {name: laneid}\n  %2 = const i32 7\n  %1 = icmp i1 %0, %2 {pred: ugt}\n${blocks}}\n`,
  );
  const before = printKernel(kernel);
  const isChanged = orderForConvergence(kernel);
  assertSound(kernel);
  const text = printKernel(kernel);
  return { isChanged, isOther: text !== before, text };
}

test('blocks that are in order already stay as they are', () => {
  const arms = `  condbr %1, b1, b2\nb1:\n${vote(3)}  br b2\nb2:\n${vote(4)}  ret\n`;
  const { isChanged, isOther } = ordered(arms);
  assert.equal([isChanged, isOther], [false, false]);
});

test('blocks change places for a collective, and only for one', () => {
  const arms = (first: string, second: string): string => `  condbr %1, b2, b1\nb1:\n${first}  ret\nb2:\n${second}  br b1\n`;
  for (const [first, second] of [
    [vote(3), vote(4)],
    [vote(3), ''],
    ['', vote(4)],
  ] as const) {
    const { isChanged, isOther } = ordered(arms(first, second));
    assert.equal([isChanged, isOther], [true, true]);
  }
  const { isChanged, isOther } = ordered(arms('', ''));
  assert.equal([isChanged, isOther], [false, false]);
});

test('an unreachable block is removed', () => {
  const { isChanged, text } = ordered(`  br b1\nb1:\n${vote(3)}  ret\nb2:\n  br b1\n`);
  assert.is(isChanged, true);
  assert.not.match(text, /b2/);
});

test.run();
