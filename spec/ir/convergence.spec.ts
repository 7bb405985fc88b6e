/** Which collectives by member masks are known to be executed by all lanes of their masks together. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { convergenceOf, divergentMasks, type Value } from '../../src/ir/index.ts';
import { kernelOf } from '../support/ir-text.ts';

const test = suite('ir/convergence');

/** Names and lines of blocks; those of the first one follow the values that all kernels have. */
type Blocks = readonly (readonly [name: string, ...lines: string[]])[];

/**
 * The blocks with collectives by masks whose lanes may be apart. %0 is the lane, and %1, %2 and %3 are whether it is below 8, 16 and 24. %5 is
 * the same in all threads of a block. %6 is a mask of all lanes, and %7 their vote for %2. %14 and %15 name the lower and the upper half, and
 * %8 that of the lane.
 */
function apartIn(blocks: Blocks): string[] {
  const entry = `  %0 = sreg i32 {name: laneid}
  %10 = const i32 8
  %11 = const i32 16
  %12 = const i32 24
  %1 = icmp i1 %0, %10 {pred: ult}
  %2 = icmp i1 %0, %11 {pred: ult}
  %3 = icmp i1 %0, %12 {pred: ult}
  %13 = sreg i32 {name: ctaid.x}
  %5 = icmp i1 %13, %10 {pred: eq}
  %6 = const i32 -1
  %7 = ballotsync i32 %2, %6
  %14 = const i32 0xffff
  %15 = const i32 0xffff0000
  %8 = select i32 %2, %14, %15`;
  const text = blocks.map(
    ([name, ...lines], i) => `${name}:\n${i === 0 ? `${entry}\n` : ''}${lines.map((line) => `  ${line}\n`).join('')}`,
  );
  const kernel = kernelOf(`kernel "k" {\n${text.join('')}}\n`);
  const home = (value: Value): string => blocks[kernel.blocks.findIndex(({ body }) => body.includes(value))]![0];
  return divergentMasks(kernel, convergenceOf(kernel, true)).map(home);
}

const last = (name: string): [string, ...string[]] => [name, 'warpsync %6 {isFence: true}', 'ret'];
const shuffle = (mask: string): string => `%20 = shufflesync i32 %0, %0, ${mask}`;

test('lanes of one side of a branch on the lane are together in all blocks behind it', () => {
  const behind = (mask: string): Blocks => [
    ['b0', 'condbr %2, b1, b4'],
    ['b1', 'condbr %5, b2, b3'],
    ['b2', shuffle(mask), 'br b3'],
    ['b3', 'br b4'],
    last('b4'),
  ];
  assert.equal(apartIn(behind('%14')), []);
  assert.equal(apartIn(behind('%15')), ['b2']);
  assert.equal(apartIn(behind('%6')), ['b2']);
});

test('a side that lanes of the other side enter as well shows nothing: the upper half waits for lanes that never come', () => {
  const entered: Blocks = [
    ['b0', 'condbr %2, b1, b2'],
    ['b1', 'condbr %5, b2, b3'],
    ['b2', 'condbr %3, b3, b4'],
    ['b3', shuffle('%8'), 'br b4'],
    last('b4'),
  ];
  assert.equal(apartIn(entered), ['b3']);
});

test('lanes that voted for a branch are together in all blocks behind it; those that voted against it are not in their mask', () => {
  const voted = (then: string, other: string): Blocks => [
    ['b0', `condbr %2, ${then}, ${other}`],
    ['b1', 'condbr %5, b2, b3'],
    ['b2', shuffle('%7'), 'br b3'],
    ['b3', 'br b4'],
    last('b4'),
  ];
  assert.equal(apartIn(voted('b1', 'b4')), []);
  assert.equal(apartIn(voted('b4', 'b1')), ['b2']);
});

test('lanes that voted against a branch may come to a block behind it by another way', () => {
  const around: Blocks = [
    ['b0', 'condbr %2, b1, b2'],
    ['b1', 'condbr %5, b3, b4'],
    ['b2', 'condbr %5, b3, b4'],
    ['b3', shuffle('%7'), 'br b4'],
    last('b4'),
  ];
  assert.equal(apartIn(around), ['b3']);
  const through: Blocks = [['b0', 'condbr %2, b2, b1'], ['b1', 'condbr %5, b2, b3'], ['b2', shuffle('%7'), 'br b3'], last('b3')];
  assert.equal(apartIn(through), ['b2']);
});

test('a vote in a loop counts for its own turn: lanes that leave the loop behind it are not among those of the next', () => {
  const turns: Blocks = [
    ['b0', 'br b1'],
    ['b1', '%20 = ballot i32 %2', 'condbr %2, b2, b3'],
    ['b2', '%21 = shufflesync i32 %0, %0, %20', 'br b3'],
    ['b3', 'condbr %1, b1, b4'],
    last('b4'),
  ];
  assert.equal(apartIn(turns), []);
  // Lanes of the vote before the loop have left it in later turns.
  const before = turns.map(([name, ...lines]) => [name, ...lines.map((line) => line.replace('%0, %20', '%0, %7'))] as const);
  assert.equal(apartIn(before), ['b2']);
});

test('a branch behind which lanes have met again parts nobody', () => {
  const twice: Blocks = [
    ['b0', 'condbr %1, b1, b2'],
    ['b1', 'br b2'],
    ['b2', 'condbr %2, b3, b4'],
    ['b3', shuffle('%14'), 'br b4'],
    last('b4'),
  ];
  assert.equal(apartIn(twice), []);
});

test('only lanes of both sides are in a branch within a branch', () => {
  const within = (mask: string): Blocks => [
    ['b0', 'condbr %3, b1, b4'],
    ['b1', 'condbr %2, b3, b2'],
    ['b2', `%22 = const i32 ${mask}`, '%20 = shufflesync i32 %0, %0, %22', 'br b3'],
    ['b3', 'br b4'],
    last('b4'),
  ];
  assert.equal(apartIn(within('0x00ff0000')), []);
  for (const mask of ['0x01ff0000', '0x00ff8000']) assert.equal(apartIn(within(mask)), ['b2']);
});

test('lanes that vote and shuffle in one block of a loop do so in one turn', () => {
  const loop: Blocks = [
    ['b0', 'br b1'],
    ['b1', '%20 = ballot i32 %2', '%21 = shufflesync i32 %0, %0, %20', 'condbr %1, b1, b2'],
    last('b2'),
  ];
  assert.equal(apartIn(loop), []);
});

test('a mask that a loop carries names the lanes of the turn if each way into it passes the votes of those that take it', () => {
  const turn = 'b1(%20: i32)';
  const loop = (first: string, next: string): Blocks => [
    ['b0', `condbr %2, b1(${first}), b2`],
    [
      turn,
      '%21 = shufflesync i32 %0, %0, %20',
      '%22 = ballot i32 %1',
      '%23 = ballot i32 %3',
      '%24 = and i32 %20, %22',
      '%25 = or i32 %20, %22',
      `condbr %1, b1(${next}), b2`,
    ],
    last('b2'),
  ];
  assert.equal(apartIn(loop('%7', '%22')), []);
  assert.equal(apartIn(loop('%7', '%24')), []);
  // Lanes that have left, lanes of another vote, and of one before the loop.
  for (const next of ['%20', '%25', '%23', '%7']) assert.equal(apartIn(loop('%7', next)), [turn], next);
  assert.equal(apartIn(loop('%6', '%22')), [turn]);
  const [, , end] = loop('%7', '%22');
  // All lanes take one way into the loop.
  assert.equal(apartIn([['b0', 'br b1(%6)'], loop('%7', '%22')[1]!, end!]), []);
});

test('where ways join, a mask names lanes that are together if each way brings that of those that come by it', () => {
  const joined = 'b4(%22: i32)';
  const join = (first: string, second: string): Blocks => [
    ['b0', 'condbr %3, b1, b5'],
    ['b1', '%23 = ballot i32 %3', 'condbr %2, b2, b3'],
    ['b2', '%20 = ballot i32 %3', `br b4(${first})`],
    ['b3', '%21 = ballot i32 %3', `br b4(${second})`],
    [joined, '%24 = shufflesync i32 %0, %0, %22', 'br b5'],
    last('b5'),
  ];
  assert.equal(apartIn(join('%20', '%21')), []);
  // All lanes, and those of before the ways parted.
  for (const other of ['%6', '%23']) {
    assert.equal(apartIn(join(other, '%21')), [joined]);
    assert.equal(apartIn(join('%20', other)), [joined]);
  }
});

test('lanes that voted for the opposite of a comparison take the other side', () => {
  const opposite = (comparison: string, ways: string): Blocks => [
    ['b0', `%20 = icmp i1 ${comparison}`, '%21 = ballotsync i32 %20, %6', `condbr %2, ${ways}`],
    ['b1', 'condbr %5, b2, b3'],
    ['b2', shuffle('%21').replace('%20', '%22'), 'br b3'],
    ['b3', 'br b4'],
    last('b4'),
  ];
  assert.equal(apartIn(opposite('%0, %11 {pred: uge}', 'b4, b1')), []);
  assert.equal(apartIn(opposite('%0, %11 {pred: uge}', 'b1, b4')), ['b2']);
  // Other comparisons, also of the same numbers.
  for (const other of ['%0, %11 {pred: sge}', '%0, %12 {pred: uge}', '%13, %11 {pred: uge}'])
    assert.equal(apartIn(opposite(other, 'b4, b1')), ['b2'], other);
});

test('where a loop has no exit, lanes may stay in one of its branches for ever', () => {
  const endless: Blocks = [
    ['b0', 'br b1'],
    ['b1', 'condbr %2, b3, b2'],
    ['b2', 'br b1'],
    ['b3', shuffle('%6'), 'br b1'],
  ];
  assert.ok(apartIn(endless).includes('b3'));
});

test('lanes that have left a loop are not waited for by those that stay in it', () => {
  const left: Blocks = [
    ['b0', 'br b1'],
    ['b1', 'condbr %2, b2, b3'],
    ['b2', shuffle('%6'), 'br b3'],
    ['b3', 'warpsync %6 {isFence: true}', 'condbr %1, b1, b4'],
    ['b4', 'ret'],
  ];
  // The lanes of `b3` are those that have stayed.
  assert.equal(apartIn(left), ['b2']);
});

test('lanes that exit outside of a loop are not waited for', () => {
  const exits: Blocks = [['b0', 'condbr %2, b1, b3'], ['b1', 'condbr %1, b2, b4'], ['b2', 'br b3'], last('b3'), ['b4', 'ret']];
  assert.equal(apartIn(exits), []);
});

test('where lanes wait at a barrier that others do not come to, none are together behind it', () => {
  const barrier = (first: string, second: string): Blocks => [['b0', first, 'condbr %2, b1, b2'], ['b1', second, 'br b2'], last('b2')];
  const nothing = '%20 = const i32 0';
  assert.equal(apartIn(barrier(nothing, 'barrier')), ['b0', 'b2']);
  assert.equal(apartIn(barrier('barrier', nothing)), []);
});

test('a mask that another block of the loop chooses is not that of the turn', () => {
  const chosen = (of: string): Blocks => [
    ['b0', 'condbr %2, b1(%7), b5'],
    ['b1(%20: i32)', '%21 = shufflesync i32 %0, %0, %20', 'condbr %5, b2, b3'],
    ['b2', `br b4(${of})`],
    ['b3', 'br b4(%20)'],
    ['b4(%22: i32)', 'condbr %5, b1(%22), b5'],
    last('b5'),
  ];
  assert.equal(apartIn(chosen('%6')), ['b1(%20: i32)']);
});

/** Whether lanes part at a branch on `%c`; `%t` is `tid.x`, and `%p` the address of a word. */
function parts(condition: string, areRowsAligned = true): boolean {
  const numbers: Record<string, string> = { t: '%1', p: '%0', c: '%9' };
  const lines = condition.replace(/%([tpc])\b/g, (_, name) => numbers[name]!);
  const kernel = kernelOf(`kernel "k" {
  param "p" pointer global size 4 align 4 slot 0
b0:
  %0 = param ptr.global {index: 0}
  %1 = sreg i32 {name: tid.x}
${lines
  .split(';')
  .map((line) => `  ${line.trim()}\n`)
  .join('')}  condbr %9, b1, b2
b1:
  %20 = const i32 -1
  %21 = reducesync i32 %20, %20 {fold: add}
  br b2
b2:
  %22 = const i32 -1
  warpsync %22 {isFence: true}
  ret
}
`);
  return convergenceOf(kernel, areRowsAligned).blocks[1] === 0;
}

const compared = (pred: string, to: number): string => `%2 = const i32 ${to}; %c = icmp i1 %t, %2 {pred: ${pred}}`;

test('a comparison of the thread is the same in a warp where it changes at a multiple of 32', () => {
  for (const pred of ['ult', 'uge', 'slt', 'sge']) {
    for (const to of [32, 64, 96]) assert.is(parts(compared(pred, to)), false, `${pred} ${to}`);
    for (const to of [31, 33, 48]) assert.is(parts(compared(pred, to)), true, `${pred} ${to}`);
  }
  for (const pred of ['ule', 'ugt', 'sle', 'sgt']) {
    for (const to of [31, 63, 95]) assert.is(parts(compared(pred, to)), false, `${pred} ${to}`);
    for (const to of [30, 32, 33, 64]) assert.is(parts(compared(pred, to)), true, `${pred} ${to}`);
  }
  // What is compared may be another number of the thread, or compared to one that is not known.
  assert.is(parts('%2 = const i32 32; %3 = mul i32 %t, %2; %c = icmp i1 %3, %2 {pred: ult}'), true);
  assert.is(parts('%2 = sreg i32 {name: ctaid.x}; %c = icmp i1 %t, %2 {pred: ult}'), true);
  for (const pred of ['eq', 'ne']) for (const to of [31, 32, 63, 64]) assert.is(parts(compared(pred, to)), true, `${pred} ${to}`);
});

test('the number of a warp is the same in its lanes', () => {
  const number = (op: string, by: number, is = 0): string =>
    `%2 = const i32 ${by}; %3 = ${op} i32 %t, %2; %4 = const i32 ${is}; %c = icmp i1 %3, %4 {pred: eq}`;
  for (const by of [5, 6]) for (const op of ['lshr', 'ashr']) assert.is(parts(number(op, by)), false, `${op} ${by}`);
  for (const by of [0, 4]) for (const op of ['lshr', 'ashr']) assert.is(parts(number(op, by)), true, `${op} ${by}`);
  for (const by of [32, 96]) assert.is(parts(number('udiv', by)), false, `udiv ${by}`);
  for (const by of [0, 1, 16, 48]) assert.is(parts(number('udiv', by)), true, `udiv ${by}`);
  for (const by of [32, 992, -32]) assert.is(parts(number('and', by, 32)), false, `and ${by}`);
  for (const by of [1, 48, 31]) assert.is(parts(number('and', by)), true, `and ${by}`);
  for (const op of ['or', 'xor', 'add']) assert.is(parts(number(op, 32, 33)), true, op);
  assert.is(parts(number('mul', 32, 64)), true);
});

test('rows of a multiple of 32 threads make `tid.x` that of the lane, and `tid.y` that of the warp', () => {
  const below = (name: string): string => compared('ult', 64).replace('%t', '%5').replace(/^/, `%5 = sreg i32 {name: ${name}}; `);
  for (const [name, aligned, unaligned] of [
    ['tid.x', false, true],
    ['tid.y', false, true],
    ['tid.z', false, true],
    ['gid.y', false, true],
    ['gid.x', true, true],
    ['laneid', false, false],
    ['tid.linear', false, false],
    ['ctaid.x', false, false],
  ] as const) {
    assert.is(parts(below(name)), aligned, name);
    assert.is(parts(below(name), false), unaligned, `${name} in other rows`);
  }
});

test('lanes that load from one address together read the same, unless the load is volatile', () => {
  const at = (volatile: boolean): string =>
    `%7 = const i32 0; %6 = load i32 %p {align: 4, volatile: ${volatile}}; %c = icmp i1 %6, %7 {pred: eq}`;
  assert.is(parts(at(false)), false);
  assert.is(parts(at(true)), true);
});

test.run();
