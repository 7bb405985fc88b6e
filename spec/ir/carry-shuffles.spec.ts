/** `carryShuffles`: what goes round a loop in another order of lanes, which kernels it changes and which not. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { carryShuffles, dce, printKernel, simplify } from '../../src/ir/index.ts';
import { assertSound, kernelOf, kernelText, normalText } from '../support/ir-text.ts';

const test = suite('ir/carry-shuffles');

/** A kernel before, and after the pass and what clears up behind it; nothing is to be changed where there is no other. */
function becomes(what: string, before: string, after?: string): void {
  test(what, () => {
    const kernel = kernelOf(kernelText(before));
    assert.is(carryShuffles(kernel), after !== undefined);
    assertSound(kernel);
    assert.is(carryShuffles(kernel), false, 'a second run finds nothing');
    if (after === undefined) return assert.is(printKernel(kernel), normalText(before));
    simplify(kernel);
    dce(kernel);
    assertSound(kernel);
    assert.is(printKernel(kernel), normalText(after));
  });
}

interface Parts {
  /** What ends the loop, of %6 to %20; `uniform` where all threads take as many turns. */
  readonly bound?: string;
  readonly asked?: string;
  readonly told?: string;
  readonly behind?: string;
  readonly more?: string;
}

const uniform = '%30 = sreg i32 {name: ctaid.x}';
const divergent = '%30 = sreg i32 {name: tid.x}';

/** A sum that each turn asks the lane beside it for (`asked`), and hands back to it (`told`). */
const loop = ({ bound = uniform, asked = '%5', told = '%5', behind = '%13', more = '' }: Parts): string => `b0:
  %0 = param ptr.global {index: 0}
  %1 = sreg i32 {name: laneid}
  %2 = load f32 %0 {align: 4, volatile: false}
  %3 = const i32 0
  br b1(%2, %3)
b1(%6: f32, %7: i32):
  %4 = const i32 1
  %5 = xor i32 %1, %4
  %29 = add i32 %1, %4
  %10 = shuffle f32 %6, ${asked}
  %11 = fadd f32 %10, %10
  %13 = shuffle f32 %11, ${told}
  ${more}
  %14 = add i32 %7, %4
  ${bound}
  %15 = icmp i1 %14, %30 {pred: ult}
  condbr %15, b1(%13, %14), b2
b2:
  store %0, ${behind} {align: 4, volatile: false}
  ret`;

/** The loop with the sum in the order of lanes that the turns want; behind it what they leave is put in order. */
const carried = (left: string): string => `b0:
  %0 = param ptr.global {index: 0}
  %2 = load f32 %0 {align: 4, volatile: false}
  %3 = const i32 0
  %20 = sreg i32 {name: laneid}
  %21 = const i32 1
  %22 = xor i32 %20, %21
  %23 = shuffle f32 %2, %22
  br b1(%3, %23)
b1(%7: i32, %8: f32):
  %4 = const i32 1
  %11 = fadd f32 %8, %8
  %14 = add i32 %7, %4
  %30 = sreg i32 {name: ctaid.x}
  %15 = icmp i1 %14, %30 {pred: ult}
  condbr %15, b1(%14, %11), b3
b2:
  store %0, %41 {align: 4, volatile: false}
  ret
b3:
  %38 = sreg i32 {name: laneid}
  %39 = const i32 1
  %40 = xor i32 %38, %39
  %41 = shuffle f32 ${left}, %40
  br b2`;

becomes('a sum that is wanted behind the loop', loop({}), carried('%11'));
becomes('a sum that is wanted behind the loop as the last turn had it', loop({ behind: '%6' }), carried('%8'));
becomes('threads that take different numbers of turns', loop({ bound: divergent }));
becomes('a shuffle that does not undo the other', loop({ asked: '%29' }));
becomes('lanes that are not known', loop({ asked: '%7', told: '%7' }));
becomes('a sum that is wanted in the loop as it is', loop({ more: '%12 = fadd f32 %6, %6' }));
becomes('what is handed on and wanted in the loop as well', loop({ more: '%12 = fadd f32 %13, %13' }));

test.run();
