/** What is known of values before strips are written: how much of them is wanted, and how they go from lane to lane. Answers worked out by hand. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { affinityOf, cfgOf, type Kernel, postDominatorsOf, uniformityOf, type Value, wideValues } from '../../src/ir/index.ts';
import { kernelOf } from '../support/ir-text.ts';

const test = suite('ir/lanes');

/** Values by the place of their instruction in the text, block by block: parameters first. */
const valuesOf = (kernel: Kernel): Value[] => kernel.blocks.flatMap(({ params, body }) => [...params, ...body]);

const indexed = (): Kernel =>
  kernelOf(`kernel "k" {
  param "out" pointer global size 4 align 4 slot 0
b0:
  %0 = param ptr.global {index: 0}
  %1 = sreg i32 {name: gid.x}
  %2 = zext i64 %1
  %3 = const i64 4
  %4 = mul i64 %2, %3
  %5 = ptradd ptr.global %0, %4
  %6 = const i64 5
  %7 = lshr i64 %4, %6
  %8 = trunc i32 %7
  store %5, %8 {align: 4, volatile: false}
  ret
}
`);

test('an address wants the low half of its offset; a shift to the right wants all of what it shifts', () => {
  const kernel = indexed();
  const wide = wideValues(kernel);
  const values = valuesOf(kernel);
  // The product is shifted, so it and what it is made of are long; the address alone would not need that.
  assert.equal(
    [0, 2, 3, 4, 5, 6, 7].map((i) => wide[values[i]!]),
    [0, 1, 1, 1, 0, 1, 1],
  );
});

test('without the shift nothing is wanted whole', () => {
  const kernel = indexed();
  kernel.blocks[0]!.body = kernel.blocks[0]!.body.filter((value) => !['lshr', 'trunc', 'store'].includes(kernel.insts[value]!.op));
  assert.equal(
    [...wideValues(kernel)].reduce((sum, each) => sum + each, 0),
    0,
  );
});

test('numbers of threads grow by ones, what is made of them by multiples; choices and joins of parted lanes by nothing known', () => {
  const kernel = kernelOf(`kernel "k" {
  param "out" pointer global size 4 align 4 slot 0
b0:
  %0 = sreg i32 {name: tid.x}
  %1 = sreg i32 {name: ctaid.x}
  %2 = const i32 12
  %3 = mul i32 %0, %2
  %4 = sub i32 %1, %3
  %5 = const i32 3
  %6 = shl i32 %4, %5
  %7 = mul i32 %0, %1
  %8 = icmp i1 %0, %2 {pred: ult}
  %9 = select i32 %8, %3, %4
  condbr %8, b1, b2(%3)
b1:
  br b2(%6)
b2(%10: i32):
  br b3(%3, %3)
b3(%11: i32, %12: i32):
  %13 = add i32 %11, %5
  %14 = icmp i1 %1, %2 {pred: eq}
  condbr %14, b3(%13, %10), b4
b4:
  ret
}
`);
  const cfg = cfgOf(kernel);
  const found = affinityOf(kernel, cfg, uniformityOf(kernel, cfg, postDominatorsOf(cfg)), {
    stride: (inst) => (inst.op === 'sreg' && inst.name === 'tid.x' ? 1 : undefined),
    window: () => 0,
    isWord: (value) => kernel.insts[value]!.type === 'i32',
  });
  const said = valuesOf(kernel).map((value) =>
    found.shape[value] === 1 ? found.stride[value] : found.shape[value] === 0 ? 'same' : 'any',
  );
  const block0 = [1, 'same', 'same', 12, -12, 'same', -96, 'any', 'any', 'any'];
  // b2's parameter; b3's, of which one goes on by a number that all have in common and one takes what parted; then b3's body.
  assert.equal(said, [...block0, 'any', 12, 'any', 12, 'same']);
});

test('what is made of constants and numbers of threads in a loop that they leave at different turns is the same behind it, its counters are not', () => {
  const kernel = kernelOf(`kernel "k" {
  param "out" pointer global size 4 align 4 slot 0
b0:
  %0 = sreg i32 {name: tid.x}
  %1 = sreg i32 {name: ctaid.x}
  br b1(%1)
b1(%2: i32):
  %3 = const i32 64
  %4 = add i32 %1, %3
  %5 = add i32 %2, %3
  %6 = mul i32 %0, %3
  %7 = icmp i1 %5, %0 {pred: ult}
  condbr %7, b1(%5), b2
b2:
  %8 = add i32 %4, %3
  %9 = add i32 %5, %3
  %10 = add i32 %6, %3
  %11 = icmp i1 %8, %3 {pred: eq}
  condbr %11, b3, b2
b3:
  barrier
  ret
}
`);
  const { at, divergence, leavesUnequally, variance } = uniformityOf(kernel);
  const values = valuesOf(kernel);
  const behind = kernel.blocks[2]!.id;
  assert.equal(
    [3, 4, 5, 6].map((i) => at(values[i]!, behind)),
    [0, 0, 2, 2],
  );
  assert.equal(
    [3, 4, 5, 6].map((i) => leavesUnequally(values[i]!, behind)),
    [false, false, true, false],
  );
  assert.equal(
    [8, 9, 10, 11].map((i) => variance[values[i]!]),
    [0, 2, 2, 0],
  );
  assert.equal([...divergence], [0, 2, 0, 0]);
});

test.run();
