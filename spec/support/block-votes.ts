/**
 * Barrier reductions (`bar.red`), with the results of each thread according to the manual (PTX ISA 9.0, 9.7.13.1): `popc` counts the
 * threads with a true predicate, `and` and `or` tell whether it is true for all or any of the waiting threads. Exited threads do not
 * take part.
 */
import { randomWords } from './lcg.ts';

/** A launch of one grid with the results of each thread: `undefined` where it stores none. */
export interface BlockVote {
  readonly name: string;
  readonly text: string;
  readonly blocks: number;
  readonly threads: number;
  /** One word per thread of the grid. */
  readonly input: Uint32Array;
  /** Number of words that a thread stores. */
  readonly words: number;
  readonly wanted: readonly (readonly number[] | undefined)[];
}

const count = (list: readonly boolean[]): number => list.filter(Boolean).length;

/** Random words whose bits are set in about half, some of them 0. */
export function inputWords(length: number, seed = 1): Uint32Array {
  const next = randomWords(seed);
  return Uint32Array.from({ length }, () => {
    const word = next();
    return word >>> 29 === 0 ? 0 : Math.imul(word ^ (word >>> 13), 0x9e3779b1) >>> 0;
  });
}

/** `a`: the thread's word; `t`: its id in the block; `d0` to `d5` are stored at `end`. */
const kernel = (words: number, code: string, outside = '', memory = ''): string => `.version 8.0
.target sm_80
.address_size 64
${outside}
.visible .entry form(.param .u64 pa, .param .u64 pd)
{
  .reg .pred p, q, r, none;
  .reg .b32 a, d<6>, i, t, n, x, y, base;
  .reg .b64 at, offset;
  ${memory}
  mov.u32 t, %tid.x; mov.u32 i, %ctaid.x; mov.u32 n, %ntid.x;
  mad.lo.u32 i, i, n, t;
  mul.wide.u32 offset, i, 4;
  ld.param.u64 at, [pa]; add.s64 at, at, offset;
  ld.global.u32 a, [at];
  mul.wide.u32 offset, i, ${4 * words};
  mov.u32 d0, 77; mov.u32 d1, 77; mov.u32 d2, 77; mov.u32 d3, 77; mov.u32 d4, 77; mov.u32 d5, 77;
${code}
end:
  ld.param.u64 at, [pd]; add.s64 at, at, offset;
  ${Array.from({ length: words }, (_, w) => `st.global.u32 [at+${4 * w}], d${w};`).join(' ')}
gone:
  ret;
}
`;

/** Sets the predicate `p` to a bit of the thread's word. */
const bit = (n: number): string => `and.b32 x, a, ${1 << n}; setp.ne.u32 p, x, 0;`;
const selectBit = (register: string): string => `selp.u32 ${register}, 1, 0, q;`;

/** All six forms, in both spellings. */
const allSix = `  bar.red.popc.u32 d0, 0, p;
  barrier.cta.red.popc.aligned.u32 d1, 0, !p;
  bar.cta.red.and.pred q, 0, p; ${selectBit('d2')}
  barrier.red.and.pred q, 0, !p; ${selectBit('d3')}
  bar.red.or.pred q, 0, p; ${selectBit('d4')}
  barrier.red.or.aligned.pred q, 0, !p; ${selectBit('d5')}`;

/** The results of `allSix` for participating threads. */
const six = (holds: readonly boolean[]): number[] => {
  const [yes, no] = [count(holds), holds.length - count(holds)];
  return [yes, no, Number(no === 0), Number(yes === 0), Number(yes > 0), Number(no > 0)];
};

/** Block by block: the results of its threads from its words. */
function vote(
  name: string,
  [blocks, threads]: readonly [number, number],
  text: string,
  words: number,
  ofBlock: (a: readonly number[]) => readonly (readonly number[] | undefined)[],
): BlockVote {
  const input = inputWords(blocks * threads, threads);
  // One block in which the predicate is true for all, and one for none.
  if (blocks > 2) for (let t = 0; t < threads; t++) [input[t], input[threads + t]] = [0xffffffff, 0];
  const wanted = Array.from({ length: blocks }, (_, b) => ofBlock([...input.subarray(b * threads, (b + 1) * threads)])).flat();
  return { name, text, blocks, threads, input, words, wanted };
}

const holdsBit = (a: readonly number[], n: number): boolean[] => a.map((word) => ((word >>> n) & 1) === 1);

const plain = [1, 2, 31, 32, 33, 80, 96, 257, 1024].map((threads) =>
  vote(`all forms in blocks of ${threads}`, [4, threads], kernel(6, `${bit(0)}\n${allSix}`), 6, (a) => {
    const result = six(holdsBit(a, 0));
    return a.map(() => result);
  }),
);

/** Threads that exit early: those from a number on, every third, whole warps, all but one. */
const exits: readonly (readonly [name: string, test: string, leaves: (t: number) => boolean])[] = [
  ['behind 40', 'setp.ge.u32 r, t, 40;', (t) => t >= 40],
  ['every third', 'rem.u32 x, t, 3; setp.eq.u32 r, x, 0;', (t) => t % 3 === 0],
  ['the first warp', 'setp.lt.u32 r, t, 32;', (t) => t < 32],
  ['all but thread 50', 'setp.ne.u32 r, t, 50;', (t) => t !== 50],
];

const exited = exits.map(([name, test, leaves]) =>
  vote(`threads that have exited: ${name}`, [4, 90], kernel(6, `${test}\n@r exit;\n${bit(3)}\n${allSix}`), 6, (a) => {
    const holds = holdsBit(a, 3);
    const result = six(holds.filter((_, t) => !leaves(t)));
    return a.map((_, t) => (leaves(t) ? undefined : result));
  }),
);

const exitsInLoop = vote(
  'threads that exit between barriers, in a loop',
  [3, 70],
  // In iteration k the threads k, k + 8, k + 16 ... exit after the barrier.
  kernel(
    2,
    `mov.u32 y, 0; mov.u32 d0, 0; mov.u32 d1, 0;
turn: shr.u32 x, a, y; and.b32 x, x, 1; setp.ne.u32 p, x, 0;
  bar.red.popc.u32 x, 0, p; mad.lo.u32 d0, d0, 31, x;
  barrier.red.and.pred q, 0, !p; @q add.u32 d1, d1, 1;
  and.b32 x, t, 7; setp.eq.u32 r, x, y; @r bra end;
  add.u32 y, y, 1; bra turn;`,
  ),
  2,
  (a) => {
    const sums = a.map(() => [0, 0]);
    for (let k = 0; k < 8; k++) {
      const there = a.flatMap((_, t) => (t % 8 >= k ? [t] : []));
      const yes = count(there.map((t) => ((a[t]! >>> k) & 1) === 1));
      for (const t of there) sums[t] = [(Math.imul(sums[t]![0]!, 31) + yes) >>> 0, sums[t]![1]! + Number(yes === 0)];
    }
    return sums;
  },
);

const divergent = vote(
  'a predicate from divergent control flow, and divergence by the result',
  [3, 75],
  kernel(
    3,
    `setp.gt.u32 r, t, 20; @r bra high;
  mov.u32 y, 0;
low: add.u32 y, y, 1; setp.lt.u32 q, y, t; @q bra low;
  and.b32 x, y, 1; setp.ne.u32 p, x, 0; bra join;
high: ${bit(5)}
join: bar.red.popc.u32 d0, 0, p;
  setp.lt.u32 q, t, d0; @!q bra skip; add.u32 d1, d1, d0;
skip: barrier.red.popc.u32 d2, 0, q;`,
  ),
  3,
  (a) => {
    const yes = count(a.map((word, t) => (t > 20 ? ((word >>> 5) & 1) === 1 : Math.max(1, t) % 2 === 1)));
    return a.map((_, t) => [yes, t < yes ? 77 + yes : 77, Math.min(yes, a.length)]);
  },
);

const untilAllFalse = vote(
  'a loop that runs while the predicate of any thread is true',
  [3, 65],
  kernel(
    2,
    `and.b32 y, a, 15; mov.u32 d0, 0; mov.u32 d1, 0;
turn: setp.gt.u32 p, y, 0;
  bar.red.popc.u32 x, 0, p; add.u32 d0, d0, x;
  @p sub.u32 y, y, 1;
  barrier.red.or.pred q, 0, p; @q add.u32 d1, d1, 1; @q bra turn;`,
  ),
  2,
  (a) => {
    const left = a.map((word) => word & 15);
    const result = [left.reduce((x, y) => x + y, 0), Math.max(...left)];
    return a.map(() => result);
  },
);

/** The guard is uniform in each block. */
const underGuard = vote(
  'under a guard',
  [4, 48],
  kernel(
    3,
    `mov.u32 x, %ctaid.x; and.b32 x, x, 1; setp.eq.u32 r, x, 0; ${bit(2)} setp.eq.u32 q, t, t;
  @r bar.red.popc.u32 d0, 0, p;
  @!r barrier.red.popc.u32 d1, 0, !p;
  @r bar.red.and.pred q, 0, p; ${selectBit('d2')}`,
  ),
  3,
  () => [],
);
const guardedResults = Array.from({ length: 4 }, (_, b) => {
  const holds = holdsBit([...underGuard.input.subarray(b * 48, (b + 1) * 48)], 2);
  const [yes, no] = [count(holds), 48 - count(holds)];
  return holds.map(() => (b % 2 === 0 ? [yes, 77, Number(no === 0)] : [77, no, 1]));
}).flat();

const withSharedMemory = vote(
  'together with shared memory that the barrier orders',
  [3, 96],
  kernel(
    2,
    `mov.u32 base, cells; shl.b32 x, t, 2; add.u32 y, base, x; st.shared.u32 [y], a;
  setp.eq.u32 p, t, t; bar.red.popc.u32 d0, 0, p;
  sub.u32 x, 95, t; shl.b32 x, x, 2; add.u32 y, base, x; ld.shared.u32 d1, [y];`,
    '',
    '.shared .align 4 .b32 cells[96];',
  ),
  2,
  (a) => a.map((_, t) => [96, a[95 - t]!]),
);

const inFunction = vote(
  'in a function that is called twice',
  [3, 40],
  kernel(
    2,
    `and.b32 x, a, 1; call (d0), counted, (x);\nshr.u32 x, a, 1; and.b32 x, x, 1; call (d1), counted, (x);`,
    '.func (.reg .b32 sum) counted (.reg .b32 x)\n{ .reg .pred p; setp.ne.u32 p, x, 0; bar.red.popc.u32 sum, 0, p; ret; }',
  ),
  2,
  (a) => a.map(() => [count(holdsBit(a, 0)), count(holdsBit(a, 1))]),
);

/** Every launch, those with few threads first. */
export const blockVotes: readonly BlockVote[] = [
  ...plain,
  ...exited,
  exitsInLoop,
  divergent,
  untilAllFalse,
  { ...underGuard, wanted: guardedResults },
  withSharedMemory,
  inFunction,
];

export const poison = 0xa5a5a5a5;

/** The expected words after a launch, poison where nothing is stored. */
export const wantedWords = ({ wanted, words }: BlockVote): number[] => wanted.flatMap((each) => each ?? Array<number>(words).fill(poison));
