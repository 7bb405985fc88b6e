/** Analyses on graphs small enough to work out by hand. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Block,
  basesOf,
  cfgOf,
  dominatorsOf,
  influenceOf,
  type Kernel,
  livenessOf,
  loopsOf,
  postDominatorsOf,
  uniformityOf,
  type Value,
} from '../../src/ir/index.ts';
import { kernelOf, kernelText } from '../support/ir-text.ts';

const test = suite('ir/analysis');

/** A graph as successors by block, as in `['1 2', '3', '3', '']`, as a kernel whose branches hang on a thread number. */
function graph(successors: readonly string[]): Kernel {
  const blocks = successors.map((line, id) => {
    const targets = line.split(' ').filter((word) => word !== '');
    const opening = id === 0 ? '  %0 = sreg i32 {name: tid.x}\n  %1 = icmp i1 %0, %0 {pred: eq}\n' : '';
    const end = ['ret', `br b${targets[0]}`, `condbr %1, ${targets.map((to) => `b${to}`).join(', ')}`][targets.length];
    return `b${id}:\n${opening}  ${end}`;
  });
  return kernelOf(kernelText(blocks.join('\n')));
}

interface Drawn {
  readonly name: string;
  readonly successors: readonly string[];
  /** Immediate dominators; -1 for the entry and what cannot be reached. */
  readonly dominators: readonly number[];
  /** Immediate post-dominators; the number of blocks stands for the exit, which is last itself. */
  readonly postDominators: readonly number[];
  /** Loops as header, latches, blocks, parent, depth. */
  readonly loops: readonly (readonly [number, number[], number[], number, number])[];
  readonly innermost: readonly number[];
  readonly isReducible: boolean;
}

const drawn: Drawn[] = [
  {
    name: 'a diamond',
    successors: ['1 2', '3', '3', ''],
    dominators: [-1, 0, 0, 0],
    postDominators: [3, 3, 3, 4, -1],
    loops: [],
    innermost: [-1, -1, -1, -1],
    isReducible: true,
  },
  {
    name: 'a loop around a diamond',
    successors: ['1', '2 3', '4', '4', '1 5', ''],
    dominators: [-1, 0, 1, 1, 1, 4],
    postDominators: [1, 4, 4, 4, 5, 6, -1],
    loops: [[1, [4], [1, 2, 3, 4], -1, 1]],
    innermost: [-1, 0, 0, 0, 0, -1],
    isReducible: true,
  },
  {
    name: 'a loop in a loop',
    successors: ['1', '2 4', '2 3', '1', ''],
    dominators: [-1, 0, 1, 2, 1],
    postDominators: [1, 4, 3, 1, 5, -1],
    loops: [
      [1, [3], [1, 2, 3], -1, 1],
      [2, [2], [2], 0, 2],
    ],
    innermost: [-1, 0, 1, 0, -1],
    isReducible: true,
  },
  {
    name: 'a loop with two latches',
    successors: ['1', '2 3', '1', '1 4', ''],
    dominators: [-1, 0, 1, 1, 3],
    postDominators: [1, 3, 1, 4, 5, -1],
    loops: [[1, [2, 3], [1, 2, 3], -1, 1]],
    innermost: [-1, 0, 0, 0, -1],
    isReducible: true,
  },
  {
    name: 'a cycle with two entries',
    successors: ['1 2', '2', '1 3', ''],
    dominators: [-1, 0, 0, 2],
    postDominators: [2, 2, 3, 4, -1],
    loops: [],
    innermost: [-1, -1, -1, -1],
    isReducible: false,
  },
  {
    // Figure 4 of Cooper, Harvey and Kennedy, its blocks 6 5 4 1 2 3 being 0 1 2 3 4 5; the answer is the one given there.
    name: 'the irreducible graph of the dominance paper',
    successors: ['1 2', '3', '4 5', '4', '3 5', '4'],
    dominators: [-1, 0, 0, 0, 0, 0],
    // An endless loop, left from one of its blocks; which one is checked apart.
    postDominators: [],
    loops: [],
    innermost: [-1, -1, -1, -1, -1, -1],
    isReducible: false,
  },
  {
    name: 'code that cannot be reached',
    successors: ['2', '2', ''],
    dominators: [-1, -1, 0],
    postDominators: [2, -1, 3, -1],
    loops: [],
    innermost: [-1, -1, -1],
    isReducible: true,
  },
  {
    name: 'an endless loop beside a way out',
    successors: ['1 2', '1', ''],
    dominators: [-1, 0, 0],
    postDominators: [3, 3, 3, -1],
    loops: [[1, [1], [1], -1, 1]],
    innermost: [-1, 0, -1],
    isReducible: true,
  },
  {
    name: 'two returns',
    successors: ['1 2', '', '3 4', '', ''],
    dominators: [-1, 0, 0, 2, 2],
    postDominators: [5, 5, 5, 5, 5, -1],
    loops: [],
    innermost: [-1, -1, -1, -1, -1],
    isReducible: true,
  },
];

const sorted = (values: Iterable<number>): number[] => [...values].sort((a, b) => a - b);

for (const { name, successors, dominators, postDominators, loops, innermost, isReducible } of drawn)
  test(`dominators and loops of ${name}`, () => {
    const cfg = cfgOf(graph(successors));
    const tree = dominatorsOf(cfg);
    assert.equal([...tree.parent], dominators);
    if (postDominators.length > 0) assert.equal([...postDominatorsOf(cfg).parent], postDominators);
    const found = loopsOf(cfg, tree);
    assert.equal(
      found.loops.map((loop) => [loop.header, sorted(loop.latches), sorted(loop.blocks), loop.parent, loop.depth]),
      loops,
    );
    assert.equal([...found.innermost], innermost);
    assert.is(found.isReducible, isReducible);
  });

test('dominance is a way up the tree', () => {
  const { dominates } = dominatorsOf(cfgOf(graph(['1', '2 3', '4', '4', '1 5', '', '5'])));
  const pairs = [
    [0, 5, true],
    [1, 4, true],
    [1, 1, true],
    [2, 4, false],
    [4, 5, true],
    [5, 4, false],
    [2, 3, false],
    [6, 5, false],
    [0, 6, false],
  ] as const;
  for (const [a, b, holds] of pairs) assert.is(dominates(a, b), holds, `${a} over ${b}`);
});

test('every block of an endless loop has a post-dominator', () => {
  const post = postDominatorsOf(cfgOf(graph(['1 2', '3', '4 5', '4', '3 5', '4'])));
  for (let block = 0; block < 6; block++) assert.ok(post.dominates(6, block));
});

test('the graph as side arrays', () => {
  const cfg = cfgOf(graph(['1 3', '2', '1 3', '', '3']));
  assert.equal(cfg.successors, [[1, 3], [2], [1, 3], [], [3]]);
  assert.equal(cfg.predecessors.map(sorted), [[], [0, 2], [1], [0, 2, 4], []]);
  assert.equal(cfg.order, [0, 1, 2, 3]);
  assert.equal([...cfg.position], [0, 1, 2, 3, -1]);
});

test('what a branch separates', () => {
  const cfg = cfgOf(graph(['1 2', '2 3', '3', '']));
  const { region, joins, cycle } = influenceOf(cfg, 0, 3);
  assert.equal([sorted(region), sorted(joins), sorted(cycle)], [[1, 2], [2, 3], []]);
});

test('the cycle a branch may leave', () => {
  const cfg = cfgOf(graph(['1', '2 3', '1', '']));
  const { region, cycle } = influenceOf(cfg, 1, 3);
  assert.equal(
    [sorted(region), sorted(cycle)],
    [
      [1, 2],
      [1, 2],
    ],
  );
});

// ── liveness ──

function liveSets(blocks: string): { in: number[][]; out: number[][] } {
  const kernel = kernelOf(kernelText(blocks));
  const { liveIn, liveOut } = livenessOf(kernel, cfgOf(kernel));
  return { in: liveIn.map(sorted), out: liveOut.map(sorted) };
}

test('what is live around a loop', () => {
  const live = liveSets(`b0:
    %0 = param ptr.global {index: 0}
    %1 = sreg i32 {name: tid.x}
    %2 = const i32 1
    br b1(%1)
  b1(%3: i32):
    %4 = add i32 %3, %2
    %5 = icmp i1 %4, %1 {pred: ult}
    condbr %5, b1(%4), b2
  b2:
    store %0, %4 {align: 4, volatile: false}
    ret`);
  assert.equal(live.in, [[], [0, 1, 2], [0, 4]]);
  assert.equal(live.out, [[0, 1, 2], [0, 1, 2, 4], []]);
});

test('an edge argument lives to the end of its block and no longer', () => {
  const live = liveSets(`b0:
    %0 = sreg i32 {name: tid.x}
    %1 = icmp i1 %0, %0 {pred: ult}
    condbr %1, b1, b2(%0)
  b1:
    br b2(%0)
  b2(%2: i32):
    %3 = add i32 %2, %2
    ret`);
  assert.equal(live.in, [[], [0], []]);
  assert.equal(live.out, [[0], [], []]);
});

// ── uniformity ──

/** Variance by value in the order of the text, divergence and branch by block. */
function uniformity(blocks: string, requiredThreads?: readonly [number, number, number]) {
  const kernel = kernelOf(kernelText(blocks));
  kernel.requiredThreads = requiredThreads;
  const found = uniformityOf(kernel);
  const placed = kernel.blocks.flatMap((block: Block) => [...block.params, ...block.body]);
  const variance = placed.filter((value) => kernel.insts[value]!.type !== 'void').map((value) => found.variance[value]!);
  return {
    variance,
    divergence: [...found.divergence],
    branch: [...found.branch],
    at: (value: number, block: number) => found.at(value as Value, block),
  };
}

test('a sum of a number and an address is in the space of the address; one of two addresses is in none that is known', () => {
  const kernel = kernelOf(
    kernelText(`b0:
    %0 = param ptr.global {index: 0}
    %1 = ptrtoint i64 %0
    %2 = const i64 4
    %3 = add i64 %1, %2
    %4 = add i64 %2, %1
    %5 = add i64 %1, %1
    %6 = sub i64 %1, %1
    br b1(%1)
  b1(%7: i64):
    %8 = add i64 %7, %2
    br b1(%8)`),
  );
  const bases = basesOf(kernel);
  const [, , , ...sums] = kernel.blocks[0]!.body;
  assert.equal(
    sums.map((value) => bases[value]),
    ['global', 'global', 'mixed', 'none'],
  );
  const { params, body } = kernel.blocks[1]!;
  assert.equal([bases[params[0]!], bases[body[0]!]], ['global', 'global']);
});

test('the lane that a shuffle reads from decides unless the result is known to vary', () => {
  const kernel = kernelOf(
    kernelText(`b0:
    %0 = sreg i32 {name: laneid}
    %1 = const i32 3
    %2 = shuffle i32 %0, %1
    ret`),
  );
  const [, , shuffled] = kernel.blocks[0]!.body;
  assert.is(uniformityOf(kernel).variance[shuffled!], 1);
  // As after a barrier that lanes reach in turns of their own.
  const varies = uniformityOf(kernel, undefined, undefined, (_, value) => (value === shuffled ? 2 : 0));
  assert.is(varies.variance[shuffled!], 2);
});

test('where difference comes from', () => {
  const { variance } = uniformity(`b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: ctaid.x}
    %2 = sreg i32 {name: warpid}
    %3 = sreg i32 {name: laneid}
    %4 = sreg i32 {name: ntid.y}
    %5 = sreg i32 {name: gid.y}
    %6 = param ptr.global {index: 0}
    %7 = variable ptr.constant {name: table}
    %8 = load i32 %6 {align: 4, volatile: false}
    %9 = load i32 %7 {align: 4, volatile: false}
    %10 = zext i64 %3
    %11 = ptradd ptr.constant %7, %10
    %12 = load i32 %11 {align: 4, volatile: false}
    %13 = add i32 %1, %4
    %14 = add i32 %2, %13
    %15 = add i32 %14, %0
    ret`);
  assert.equal(variance, [2, 0, 1, 2, 0, 2, 0, 0, 2, 0, 2, 2, 2, 0, 1, 2]);
});

test('a block one thread wide has one thread number along it', () => {
  const text = 'b0:\n%0 = sreg i32 {name: tid.x}\n%1 = sreg i32 {name: tid.y}\nret';
  assert.equal(uniformity(text, [1, 64, 1]).variance, [0, 2]);
});

const diamond = (source: string): string => `b0:
    %0 = sreg i32 {name: ${source}}
    %1 = sreg i32 {name: ntid.x}
    %2 = const i32 1
    %3 = icmp i1 %0, %1 {pred: ult}
    condbr %3, b1, b2
  b1:
    br b3(%1, %2)
  b2:
    br b3(%2, %2)
  b3(%4: i32, %5: i32):
    %6 = add i32 %4, %5
    ret`;

test('paths that threads part on make what they bring differ', () => {
  const { variance, divergence, branch } = uniformity(diamond('tid.x'));
  assert.equal(variance, [2, 0, 0, 2, 2, 0, 2]);
  assert.equal(divergence, [0, 2, 2, 0]);
  assert.equal(branch, [2, 0, 0, 0]);
});

test('warps that part stay whole', () => {
  const { variance, divergence } = uniformity(diamond('warpid'));
  assert.equal(variance, [1, 0, 0, 1, 1, 0, 1]);
  assert.equal(divergence, [0, 1, 1, 0]);
});

test('a branch that all threads take together parts nothing', () => {
  const { variance, divergence } = uniformity(diamond('ctaid.x'));
  assert.equal(variance, [0, 0, 0, 0, 0, 0, 0]);
  assert.equal(divergence, [0, 0, 0, 0]);
});

test('paths may meet before all of them do', () => {
  const { variance, divergence } = uniformity(`b0:
    %0 = sreg i32 {name: tid.x}
    %1 = sreg i32 {name: ntid.x}
    %2 = const i32 1
    %3 = icmp i1 %0, %1 {pred: ult}
    %4 = icmp i1 %1, %2 {pred: ult}
    condbr %3, b1, b2(%1)
  b1:
    condbr %4, b2(%2), b3
  b2(%5: i32):
    br b3
  b3:
    ret`);
  assert.equal(variance, [2, 0, 0, 2, 0, 2]);
  assert.equal(divergence, [0, 2, 2, 0]);
});

test('a count that is the same in each turn differs after a loop that threads leave apart', () => {
  const { variance, divergence, at } = uniformity(`b0:
    %0 = sreg i32 {name: tid.x}
    %1 = const i32 0
    %2 = const i32 1
    br b1(%1)
  b1(%3: i32):
    %4 = add i32 %3, %2
    %5 = icmp i1 %4, %0 {pred: ult}
    condbr %5, b1(%4), b2(%4)
  b2(%6: i32):
    %7 = add i32 %4, %2
    ret`);
  assert.equal(variance, [2, 0, 0, 0, 0, 2, 2, 2]);
  assert.equal(divergence, [0, 2, 0]);
  assert.is(at(4, 1), 0);
  assert.is(at(4, 2), 2);
  assert.is(at(2, 2), 0);
});

test('a loop that all threads leave together parts nothing', () => {
  const { variance, divergence, at } = uniformity(`b0:
    %0 = sreg i32 {name: ntid.x}
    %1 = const i32 1
    br b1(%1)
  b1(%2: i32):
    %3 = add i32 %2, %1
    %4 = icmp i1 %3, %0 {pred: ult}
    condbr %4, b1(%3), b2
  b2:
    %5 = add i32 %3, %1
    ret`);
  assert.equal(variance, [0, 0, 0, 0, 0, 0]);
  assert.equal(divergence, [0, 0, 0]);
  assert.is(at(3, 2), 0);
});

test.run();
