/** Loops that may wait for another thread, as in locks, and loops that only try again because another thread has gone on. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasSpinLoop } from '../../src/ir/index.ts';
import { kernelOf } from '../support/ir-text.ts';

const test = suite('ir/spin-loops');

/** A kernel whose word is at %0; %1 and %2 are 0 and 1, %3 the number of the thread, %4 the word at the start. */
const spins = (blocks: string): boolean =>
  hasSpinLoop(
    kernelOf(`kernel "k" {
  param "p" pointer global size 4 align 4 slot 0
b0:
  %0 = param ptr.global {index: 0}
  %1 = const i32 0
  %2 = const i32 1
  %3 = sreg i32 {name: tid.x}
  %4 = load i32 %0 {align: 4, volatile: false}
${blocks}
}
`),
  );

test('a loop whose exit depends on the thread alone does not wait', () => {
  assert.not.ok(
    spins('  br b1(%1)\nb1(%5: i32):\n  %6 = add i32 %5, %2\n  %7 = icmp i1 %6, %3 {pred: ult}\n  condbr %7, b1(%6), b2\nb2:\n  ret'),
  );
  const counted = '  %8 = atomic i32 %0, %2 {rmw: add}';
  assert.not.ok(
    spins(
      `  br b1(%1)\nb1(%5: i32):\n${counted}\n  %6 = add i32 %5, %2\n  %7 = icmp i1 %6, %3 {pred: ult}\n  condbr %7, b1(%6), b2\nb2:\n  ret`,
    ),
  );
});

test('a loop that reads until another thread has written waits', () => {
  const loop = (load: string): string => `  br b1\nb1:\n${load}\n  %6 = icmp i1 %5, %1 {pred: eq}\n  condbr %6, b1, b2\nb2:\n  ret`;
  assert.ok(spins(loop('  %5 = load i32 %0 {align: 4, volatile: true}')));
  assert.ok(spins(loop('  %5 = atomic i32 %0, %1 {rmw: add}')));
  assert.not.ok(spins(loop('  %5 = load i32 %0 {align: 4, volatile: false}')));
});

test('a lock waits for the thread that holds it, by a compare-and-swap against a value from before the loop', () => {
  const lock = (expected: string): string =>
    `  br b1\nb1:\n  %5 = cas i32 %0, ${expected}, %2\n  %6 = icmp i1 %5, ${expected} {pred: ne}\n  condbr %6, b1, b2\nb2:\n  ret`;
  assert.ok(spins(lock('%1')));
  assert.ok(spins(lock('%4')));
});

test('an update by compare-and-swap tries again with the value that it has read: another thread has gone on', () => {
  const update = (again: string, more = ''): string => `  br b1(%4)
b1(%5: i32):
  %6 = add i32 %5, %3
  %7 = cas i32 %0, %5, %6
${more}  %8 = icmp i1 %7, %5 {pred: ne}
  condbr %8, b1(${again}), b2
b2:
  ret`;
  assert.not.ok(spins(update('%7')));
  assert.not.ok(spins(update('%9', '  %9 = load i32 %0 {align: 4, volatile: true}\n')));
  assert.not.ok(spins(update('%9', '  %10 = bitcast f32 %7\n  %9 = bitcast i32 %10\n')));
  // The value of the loop before, one from elsewhere, and one that stays as it is, may never be that of memory.
  assert.ok(spins(update('%4')));
  assert.ok(spins(update('%5')));
  assert.ok(
    spins(update('%9', '  %10 = const i64 4\n  %11 = ptradd ptr.global %0, %10\n  %9 = load i32 %11 {align: 4, volatile: true}\n')),
  );
});

test('an update tries again whatever else it asks for, in whichever order it compares', () => {
  /** `%7` is what was there, `%5` what was expected, `%9` whether the thread is below 1. */
  const update = (condition: string, ways = 'b1(%7), b2'): string => `  br b1(%4)
b1(%5: i32):
  %6 = add i32 %5, %3
  %7 = cas i32 %0, %5, %6
  %9 = icmp i1 %3, %2 {pred: ult}
${condition
  .split('; ')
  .map((line) => `  ${line}\n`)
  .join('')}  condbr %8, ${ways}
b2:
  ret`;
  const exit = 'b2, b1(%7)';
  assert.not.ok(spins(update('%8 = icmp i1 %5, %7 {pred: ne}')));
  assert.not.ok(spins(update('%8 = icmp i1 %7, %5 {pred: eq}', exit)));
  // After an exchange the loop repeats.
  assert.ok(spins(update('%8 = icmp i1 %7, %5 {pred: ne}', exit)));
  assert.ok(spins(update('%8 = icmp i1 %7, %5 {pred: eq}')));
  const failed = '%10 = icmp i1 %7, %5 {pred: ne}';
  const succeeded = '%10 = icmp i1 %7, %5 {pred: eq}';
  for (const both of ['%10, %9', '%9, %10']) {
    assert.not.ok(spins(update(`${failed}; %8 = and i1 ${both}`)), both);
    assert.not.ok(spins(update(`${succeeded}; %8 = or i1 ${both}`, exit)), both);
    // One of the two suffices to repeat: the thread may be below 1 for ever.
    assert.ok(spins(update(`${failed}; %8 = or i1 ${both}`)), both);
    assert.ok(spins(update(`${succeeded}; %8 = and i1 ${both}`, exit)), both);
  }
});

test('a loop waits where a value that it carries comes from what was read', () => {
  const carried = (next: string): string => `  br b1(%1)
b1(%5: i32):
  %6 = icmp i1 %5, %3 {pred: eq}
  condbr %6, b3, b2
b2:
  %7 = load i32 %0 {align: 4, volatile: true}
  br b1(${next})
b3:
  ret`;
  assert.ok(spins(carried('%7')));
  assert.not.ok(spins(carried('%2')));
});

test('what counts is the last choice before the loop repeats, in whatever block the jump back is', () => {
  /** A loop that repeats by `b3` after a compare-and-swap against what it has read, or against 0. */
  const repeats = (expected: string, more: string, leave: string): boolean =>
    spins(`  br b1(%4)
b1(%5: i32):
  %6 = add i32 %5, %3
  %7 = cas i32 %0, ${expected}, %6
  %8 = icmp i1 %7, ${expected} {pred: ne}
  condbr %8, b3, ${leave}
b2:
  ret
b3:
  br b1(%7)${more}`);
  assert.not.ok(repeats('%5', '', 'b2'));
  assert.ok(repeats('%1', '', 'b2'));
  // After an exchange the loop repeats as well, until another thread has written.
  const onceMore = '\nb4:\n  %9 = load i32 %0 {align: 4, volatile: true}\n  %10 = icmp i1 %9, %2 {pred: ne}\n  condbr %10, b3, b2';
  assert.ok(repeats('%5', onceMore, 'b4'));
});

test.run();
