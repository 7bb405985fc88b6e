/** What atomics of the reference interpreter leave in memory. Source: PTX ISA 9.0, `atom`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { interpret } from '../../src/ir/interpret.ts';
import { kernelOf } from '../support/ir-text.ts';

const test = suite('ir/interpret');

/** The old value as the kernel has it, and the word behind an atomic. */
function after(rmw: string, word: number, operand: number): [old: number, left: number] {
  const kernel = kernelOf(`kernel "k" {
  param "p" pointer global size 4 align 4 slot 0
b0:
  %0 = param ptr.global {index: 0}
  %1 = const i32 ${operand}
  %2 = atomic i32 %0, %1 {rmw: ${rmw}}
  %3 = const i64 4
  %4 = ptradd ptr.global %0, %3
  store %4, %2 {align: 4, volatile: false}
  ret
}
`);
  const words = Uint32Array.of(word, 0);
  const global = new Uint8Array(words.buffer);
  assert.equal(interpret(kernel, { memory: { global }, params: [0n], variables: {}, sregs: {}, limit: 100 }), { ended: 'return' });
  return [words[1]!, words[0]!];
}

test('`dec` counts down to 0 and goes on from the operand; `inc` counts up to it and goes on from 0', () => {
  for (const [word, left] of [
    [0, 9],
    [1, 0],
    [9, 8],
    [10, 9],
    [0xffffffff, 9],
  ] as const)
    assert.equal(after('dec', word, 9), [word, left], `dec ${word}`);
  for (const [word, left] of [
    [0, 1],
    [8, 9],
    [9, 0],
    [10, 0],
    [0xffffffff, 0],
  ] as const)
    assert.equal(after('inc', word, 9), [word, left], `inc ${word}`);
});

test('others leave the result of their operation, and `exch` the operand', () => {
  assert.equal(after('exch', 5, 9), [5, 9]);
  assert.equal(after('add', 0xfffffffe, 5), [0xfffffffe, 3]);
  assert.equal(after('umax', 5, 9), [5, 9]);
  assert.equal(after('umin', 5, 9), [5, 5]);
});

test.run();
