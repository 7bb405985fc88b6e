/** Where checks of member masks are: before each collective that is to be checked, in whatever block it is. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SourceFile } from '../../src/base/source.ts';
import { addBlock, builder, hasMasks, isMasked, type Kernel } from '../../src/ir/index.ts';
import { checkMasks, endStuckAt } from '../../src/lower/index.ts';
import { assertSound, kernelOf } from '../support/ir-text.ts';

const test = suite('lower/check-masks');

/** The opcodes behind the checks, in the order of blocks; all collectives of the kernel are checked. */
function checkedIn(blocks: string): string[] {
  const kernel = kernelOf(`kernel "k" {
b0:
  %0 = sreg i32 {name: laneid}
  %1 = const i32 -1
  %2 = const i32 0xffff
  %3 = icmp i1 %0, %2 {pred: ult}
${blocks}
}
`);
  checkMasks(
    kernel,
    kernel.blocks.flatMap(({ body }) => body.filter((value) => isMasked(kernel.insts[value]!))),
    undefined,
  );
  assertSound(kernel);
  assert.ok(hasMasks(kernel));
  return kernel.blocks.flatMap(({ end }) =>
    end.op === 'condbr' && stops(kernel, end.then.block) ? [firstOf(kernel, end.else.block)] : [],
  );
}

/** A check jumps to a block that notes a fault and ends the thread. */
const stops = (kernel: Kernel, { body, end }: Kernel['blocks'][number]): boolean =>
  end.op === 'ret' && body.some((value) => kernel.insts[value]!.op === 'store');

const firstOf = (kernel: Kernel, { body }: Kernel['blocks'][number]): string => kernel.insts[body[0]!]!.op;

test('a collective of the entry is checked, and those of later blocks', () => {
  const sync = 'warpsync %1 {isFence: true}';
  assert.equal(checkedIn(`  ${sync}\n  ret`), ['warpsync']);
  assert.equal(checkedIn(`  ${sync}\n  condbr %3, b1, b2\nb1:\n  %4 = shufflesync i32 %0, %0, %2\n  br b2\nb2:\n  ret`), [
    'warpsync',
    'shufflesync',
  ]);
});

/** Two collectives of a mask, and one of another mask, in a block; a constant of their own is in front. */
const three = (first: string, last: string): string =>
  `  %4 = const i32 0xffff\n  %5 = shufflesync i32 %0, %0, ${first}\n  warpsync ${first} {isFence: false}\n  %6 = ballotsync i32 %3, ${last}\n  ret`;

test('collectives of one block and one mask share a check, whichever instructions they are of', () => {
  assert.equal(checkedIn(three('%1', '%1')), ['shufflesync']);
  assert.equal(checkedIn(three('%0', '%0')), ['shufflesync'], 'a mask that is computed');
  assert.equal(checkedIn(three('%2', '%4')), ['shufflesync'], 'the same constant');
});

test('a check of all lanes is one of fewer, and not the other way around', () => {
  assert.equal(checkedIn(three('%1', '%2')), ['shufflesync']);
  assert.equal(checkedIn(three('%1', '%0')), ['shufflesync'], 'whichever lanes a computed mask has');
  assert.equal(checkedIn(three('%2', '%1')), ['shufflesync', 'ballotsync']);
  assert.equal(checkedIn(three('%0', '%2')), ['shufflesync', 'ballotsync'], 'nothing is known of a computed mask');
});

test('each block has checks of its own, for lanes diverge at its end', () => {
  const sync = 'warpsync %1 {isFence: true}';
  assert.equal(checkedIn(`  ${sync}\n  condbr %3, b1, b2\nb1:\n  ${sync}\n  br b2\nb2:\n  ${sync}\n  ret`), [
    'warpsync',
    'warpsync',
    'warpsync',
  ]);
});

test('a check, and what ends a stuck thread, are at the place of their collective', () => {
  const text = '  @%p shfl.sync.idx.b32 r, x, 3, 31, -1;';
  const file = new SourceFile('a.ptx', `\n${text}\n`);
  const span = { start: file.text.indexOf('@'), end: file.text.indexOf(';') };
  const kernel = kernelOf(
    'kernel "k" {\nb0:\n  %0 = sreg i32 {name: laneid}\n  %1 = const i32 -1\n  br b1\nb1:\n  %2 = shufflesync i32 %0, %0, %1\n  ret\n}\n',
  );
  const value = kernel.blocks[1]!.body[0]!;
  kernel.locs[value] = span;
  const before = kernel.insts.length;
  checkMasks(kernel, [value], file);
  assert.equal(kernel.locs.slice(before), Array(kernel.insts.length - before).fill(span));
  const stuck = addBlock(kernel);
  const b = builder(kernel, stuck);
  endStuckAt(file)(b, value);
  assert.equal(
    stuck.body.map((each) => [kernel.insts[each]!.op, kernel.locs[each]]),
    [
      ['param', span],
      ['const', span],
      ['store', span],
    ],
  );
  assert.equal(kernel.params.at(-1)!.faults, [
    'the mask of `shfl.sync.idx.b32` names lanes that do not execute it together (a.ptx:2)',
    'a thread waits at `shfl.sync.idx.b32` for lanes of its mask that never come (a.ptx:2)',
  ]);
});

test.run();
