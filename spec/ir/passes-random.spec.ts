/** Passes leave alone what a kernel computes: random kernels store the same bytes before and after, and stay sound after every pass. */
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  addBlock,
  builder,
  costPasses,
  dce,
  emptyKernel,
  type Kernel,
  type Pass,
  printKernel,
  runPasses,
  standardPasses,
} from '../../src/ir/index.ts';
import { interpret } from '../../src/ir/interpret.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { assertSound } from '../support/ir-text.ts';
import { inputSize, outputSize, randomKernel } from '../support/random-kernel.ts';

const test = suite('ir/passes random');

const sentinel = 0xa5;

/** What the memory of a thread holds after the kernel; input bytes are those of a fixed generator. */
function memoryAfter(kernel: Kernel): Uint8Array {
  const global = new Uint8Array(inputSize + outputSize + 8).fill(sentinel);
  for (let i = 0, state = 1; i < inputSize; i++) {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    global[i] = state >>> 24;
  }
  const thread = { memory: { global }, params: [0n, BigInt(inputSize)], variables: {}, sregs: {}, limit: 100_000 };
  assert.equal(interpret(kernel, thread), { ended: 'return' });
  return global;
}

/** The pass, with proof after it. */
const proven = ({ name, run }: Pass, expected: Uint8Array): Pass => ({
  name,
  run(kernel) {
    const changed = run(kernel);
    assertSound(kernel);
    assert.equal(memoryAfter(kernel), expected, name);
    return changed;
  },
});

const choices = fc.array(fc.nat(0xffff), { minLength: 100, maxLength: 500 });

for (const length of [2, 8, 25])
  test(`random kernels of ${length} instructions a block store the same`, () => {
    fc.assert(
      fc.property(choices, (seeds) => {
        const kernel = randomKernel(seeds, length);
        assertSound(kernel);
        const expected = memoryAfter(kernel);
        runPasses(
          kernel,
          standardPasses.map((pass) => proven(pass, expected)),
        );
      }),
      { numRuns: 80, seed: 20 + length },
    );
  });

test('each pass alone keeps what a kernel stores, in any order', () => {
  const order = fc.array(fc.constantFrom(...standardPasses, ...costPasses), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(choices, order, (seeds, passes) => {
      const kernel = randomKernel(seeds, 8);
      const expected = memoryAfter(kernel);
      for (const pass of passes) proven(pass, expected).run(kernel);
    }),
    { numRuns: 80, seed: 3 },
  );
});

test('random kernels are worth the test: they store, and passes shorten them', () => {
  const seeds = Array.from({ length: 500 }, (_, i) => Math.imul(i + 1, 2654435761) >>> 16);
  const kernel = randomKernel(seeds, 25);
  const changedBytes = memoryAfter(kernel)
    .subarray(inputSize)
    .filter((byte) => byte !== sentinel).length;
  const before = printKernel(kernel).split('\n').length;
  runPasses(kernel, standardPasses);
  assert.ok(changedBytes > 20);
  assert.ok(printKernel(kernel).split('\n').length < before);
});

/** A chain of blocks, each a few instructions that depend on the one before; every third is common with the last. */
function longKernel(blocks: number): Kernel {
  const kernel = emptyKernel('long');
  const b = builder(kernel, addBlock(kernel));
  let value = b.sreg('i32', { name: 'tid.x' });
  for (let i = 0; i < blocks; i++) {
    const sum = b.add(b.add(value, b.const('i32', i)), b.const('i32', 1));
    value = b.xor(b.mul(sum, value), b.mul(value, sum));
    value = b.add(value, b.mul(sum, sum));
    const next = addBlock(kernel);
    const skipped = addBlock(kernel);
    skipped.end = { op: 'br', to: { block: next, args: [] } };
    b.block.end = {
      op: 'condbr',
      cond: b.icmp(value, sum, { pred: 'slt' }),
      then: { block: next, args: [] },
      else: { block: i % 2 ? next : skipped, args: [] },
    };
    b.block = next;
  }
  return kernel;
}

test('20 000 instructions take well under the time of a compile', () => {
  const kernel = longKernel(2000);
  assert.ok(kernel.insts.length > 19_000);
  withinCpuSeconds(2, () => runPasses(kernel, standardPasses));
  assertSound(kernel);
  assert.is(dce(kernel), false);
});

test.run();
