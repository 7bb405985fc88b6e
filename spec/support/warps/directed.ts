/** Programs of collectives by member masks in divergent code, one for each form of control flow; the model of a warp gives what they compute. */
import { type WarpProgram, warpInput } from '../random-warps.ts';
import { runModel } from './model.ts';
import { wordsOf } from './recording.ts';

export interface DirectedProgram extends WarpProgram {
  /** How its masks are settled for Apple GPUs: `none` if lanes are together after merging arms, `loop` if they meet in a loop. */
  readonly settled: 'none' | 'loop';
}

/** What the program gives by the manual. Throws for a program that is not legal, or whose result depends on the order of lanes. */
export function expectedOf(program: DirectedProgram): Uint32Array {
  const { ptx, blocks, block } = program;
  const [first, ...others] = [1, 2, 3].map((seed) => runModel({ ptx, blocks, block, input: warpInput(), words: wordsOf(program), seed }));
  for (const other of others) if (other.some((word, i) => word !== first![i])) throw new Error('the result depends on the order of lanes');
  return first!;
}

interface Text {
  readonly body: string;
  readonly threads?: number;
  readonly settled?: 'none' | 'loop';
  readonly functions?: string;
}

/**
 * `%t` is the number of the thread, `%l` its lane, `%v` and `%w` are numbers of the input, `%a` and `%b` the results; `%o` is the mask of odd
 * lanes or that of even ones, as the lane is, and `%q` that of the eight lanes around. Other registers are for the body.
 */
function program({ body, threads = 64, settled = 'loop', functions = '' }: Text): DirectedProgram {
  const lines = body.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const ptx = `.version 8.0
.target sm_90
.address_size 64
${functions}
.visible .entry warps(.param .u64 pin, .param .u64 pout)
{
.reg .b32 %t, %l, %v, %w, %a, %b, %o, %q, %n, %r<30>;
.reg .b64 %from, %to, %at;
.reg .pred %odd, %low, %some, %p<9>;
.shared .align 4 .b8 sh[1024];
.reg .b32 %sh, %mine;
mov.u32 %sh, sh;
mov.u32 %t, %tid.x;
mov.u32 %l, %laneid;
ld.param.u64 %from, [pin];
ld.param.u64 %to, [pout];
mad.lo.u32 %mine, %t, 4, %sh;
mad.lo.u32 %n, %t, 4, 64;
cvt.u64.u32 %at, %n;
add.u64 %at, %at, %from;
ld.global.u32 %v, [%at];
add.u32 %n, %n, 1024;
cvt.u64.u32 %at, %n;
add.u64 %at, %at, %from;
ld.global.u32 %w, [%at];
mov.u32 %a, 0;
mov.u32 %b, 0;
and.b32 %n, %l, 1;
setp.eq.u32 %odd, %n, 1;
selp.b32 %o, 0xaaaaaaaa, 0x55555555, %odd;
setp.lt.u32 %low, %l, 11;
and.b32 %n, %v, 4;
setp.ne.u32 %some, %n, 0;
and.b32 %n, %l, 24;
shl.b32 %q, 255, %n;
${lines.join('\n')}
END:
mul.wide.u32 %at, %t, 24;
add.u64 %at, %at, %to;
st.global.u32 [%at+0], %a;
st.global.u32 [%at+4], %b;
exit;
}
`;
  return { ptx: ptx.replace(/\n\n/g, '\n'), kind: 'arms', blocks: 1, block: [threads, 1], settled };
}

const kinds = {
  sum: (mask: string, d: string, a: string) => `redux.sync.add.u32 ${d}, ${a}, ${mask};`,
  least: (mask: string, d: string, a: string) => `redux.sync.min.s32 ${d}, ${a}, ${mask};`,
  shuffle: (mask: string, d: string, a: string) => `shfl.sync.bfly.b32 ${d}, ${a}, 5, 31, ${mask};`,
  ballot: (mask: string, d: string, a: string) => `setp.lt.s32 %p7, ${a}, 0;
vote.sync.ballot.b32 ${d}, %p7, ${mask};`,
  match: (mask: string, d: string, a: string) => `and.b32 %r29, ${a}, 3;
match.any.sync.b32 ${d}, %r29, ${mask};`,
} as const;
type Kind = keyof typeof kinds;
const kindNames = Object.keys(kinds) as Kind[];

const branches = ['%odd', '%low', '%some'] as const;

/** An arm: arithmetic before a collective, and behind it what both need. */
const arm = (first: Kind, second: Kind, mask: string, factor: number): string => `mul.lo.u32 %r1, %v, ${factor};
${kinds[first](mask, '%r2', '%r1')}
add.u32 %a, %r1, %r2;
xor.b32 %r3, %a, %w;
${kinds[second](mask, '%r4', '%r3')}
mad.lo.u32 %b, %r4, ${factor}, %r1;`;

/** Two arms with two collectives each. */
const arms = (first: Kind, second: Kind, mask: string, branch: string, settled: 'none' | 'loop', threads = 64): DirectedProgram =>
  program({
    settled,
    threads,
    body: `@${branch} bra A;
${arm(first, second, mask, 3)}
bra B;
A:
${arm(first, second, mask, 77)}
B:
xor.b32 %b, %b, %a;`,
  });

const pairs = kindNames.map((kind, i) => [kind, kindNames[(i + 2) % kindNames.length]!] as const);

const callOf = (argument: string): string => `{
.param .b32 x;
.param .b32 v;
st.param.b32 [x], ${argument};
call (v), f, (x);
ld.param.b32 %a, [v];
}`;

/** The programs by name. */
export const directed: Readonly<Record<string, DirectedProgram>> = {
  ...Object.fromEntries(
    pairs.flatMap(([first, second], i) =>
      ['0xffffffff', '%q'].map((mask, n) => {
        const branch = branches[(i + n) % branches.length]!;
        return [`arms with ${first} and ${second} by ${mask}, ${branch}`, arms(first, second, mask, branch, 'none')];
      }),
    ),
  ),
  'arms of a warp that is not whole': arms('sum', 'ballot', '0xffffffff', '%odd', 'none', 43),
  'the same collective in an arm and behind it': program({
    body: `@%odd bra A;
redux.sync.add.u32 %a, %v, 0xffffffff;
vote.sync.ballot.b32 %b, %some, 0xffffffff;
bra B;
A:
redux.sync.add.u32 %a, %w, 0xffffffff;
add.u32 %a, %a, 1;
mul.lo.u32 %r1, %a, 7;
bra C;
B:
add.u32 %b, %b, %a;
bra END;
C:
setp.lt.u32 %p1, %r1, %w;
vote.sync.ballot.b32 %b, %p1, 0xffffffff;`,
    settled: 'none',
  }),
  'arms with masks of their own, then a common one': program({
    body: `vote.sync.ballot.b32 %r1, %some, 0xffffffff;
@%some bra A;
redux.sync.add.u32 %a, %v, 0xffffffff;
bra B;
A:
redux.sync.max.u32 %b, %w, %r1;
redux.sync.add.u32 %a, %w, 0xffffffff;
B:
redux.sync.xor.b32 %r3, %a, %q;
add.u32 %b, %b, %r3;`,
  }),
  'arms in arms': program({
    body: `@%odd bra A;
@%some bra C;
redux.sync.add.u32 %a, %v, 0xffffffff;
bra B;
C:
mul.lo.u32 %r1, %v, 5;
redux.sync.add.u32 %a, %r1, 0xffffffff;
bra B;
A:
redux.sync.add.u32 %a, %w, 0xffffffff;
B:
redux.sync.add.u32 %b, %a, %o;`,
  }),
  'a loop that lanes leave at different turns, by the mask of those in it': program({
    body: `and.b32 %r1, %v, 7;
mov.u32 %r2, 0xffffffff;
mov.u32 %r3, 0;
L:
setp.ge.u32 %p1, %r1, %r3;
vote.sync.ballot.b32 %r2, %p1, %r2;
@!%p1 bra M;
redux.sync.add.u32 %r4, %w, %r2;
mad.lo.u32 %a, %a, 3, %r4;
add.u32 %r3, %r3, 1;
bra L;
M:
redux.sync.add.u32 %b, %a, 0xffffffff;`,
    settled: 'none',
  }),
  'loops of different lengths with as many collectives': program({
    body: `and.b32 %r1, %v, 3;
add.u32 %r1, %r1, 1;
mov.u32 %r2, 0;
L:
redux.sync.add.u32 %r4, %w, 0xffffffff;
mad.lo.u32 %a, %a, 3, %r4;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, %r1;
@%p1 bra L;
M:
redux.sync.add.u32 %r4, %v, 0xffffffff;
mad.lo.u32 %b, %b, 5, %r4;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 6;
@%p1 bra M;`,
  }),
  'a loop with a collective in every second turn, left at different ones': program({
    body: `and.b32 %r1, %l, 1;
and.b32 %r5, %l, 6;
add.u32 %r5, %r5, 6;
L:
and.b32 %r2, %r1, 1;
setp.eq.u32 %p1, %r2, 1;
@%p1 bra M;
mul.lo.u32 %r3, %w, %r1;
shfl.sync.bfly.b32 %r4, %r3, 6, 31, %o;
mad.lo.u32 %a, %a, 7, %r4;
bra N;
M:
mad.lo.u32 %b, %b, 3, %r1;
shfl.sync.idx.b32 %r4, %b, %l, 31, %o;
xor.b32 %a, %a, %r4;
N:
add.u32 %r1, %r1, 1;
setp.lt.u32 %p1, %r1, 9;
@%p1 bra L;
redux.sync.xor.b32 %r4, %a, %q;
add.u32 %b, %b, %r4;`,
  }),
  'a turn before the loop': program({
    body: `mov.u32 %r2, 0;
setp.eq.u32 %p1, %l, 5;
@!%p1 bra L;
redux.sync.add.u32 %r4, %w, 0xffffffff;
add.u32 %a, %a, %r4;
mov.u32 %r2, 1;
L:
redux.sync.add.u32 %r4, %v, 0xffffffff;
mad.lo.u32 %a, %a, 3, %r4;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p2, %r2, 4;
@%p2 bra L;
@%p1 bra END;
redux.sync.add.u32 %r4, %v, 0xffffffdf;
add.u32 %b, %b, %r4;`,
  }),
  'lanes that exit in an arm': program({
    body: `@%odd bra A;
@%some bra END;
redux.sync.add.u32 %a, %v, 0xffffffff;
bra B;
A:
mul.lo.u32 %r1, %w, 9;
redux.sync.add.u32 %a, %r1, 0xffffffff;
B:
redux.sync.add.u32 %b, %a, %q;`,
    settled: 'none',
  }),
  'lanes that exit before others meet twice': program({
    body: `@%odd bra A;
@%some bra END;
redux.sync.add.u32 %a, %v, %o;
A:
vote.sync.ballot.b32 %b, %low, %o;
@%low bra END;
redux.sync.add.u32 %r1, %v, 0xffffffff;
add.u32 %b, %b, %r1;`,
    settled: 'none',
  }),
  'a function in both arms': program({
    functions: `.func (.param .b32 fv) f(.param .b32 fx)
{
.reg .b32 %fx, %fy;
ld.param.b32 %fx, [fx];
redux.sync.add.u32 %fy, %fx, 0xffffffff;
mad.lo.u32 %fx, %fx, 3, %fy;
redux.sync.xor.b32 %fy, %fx, 0xffffffff;
st.param.b32 [fv], %fy;
ret;
}`,
    body: `@%odd bra A;
${callOf('%v')}
bra B;
A:
mul.lo.u32 %r1, %w, 3;
${callOf('%r1')}
add.u32 %a, %a, 1;
B:
add.u32 %b, %a, 1;`,
    settled: 'none',
  }),
  'memory between arms': program({
    body: `@%odd bra A;
st.shared.u32 [%mine], %v;
bar.warp.sync 0xffffffff;
ld.shared.u32 %a, [%mine+4];
bra B;
A:
mul.lo.u32 %r1, %w, 3;
st.shared.u32 [%mine], %r1;
bar.warp.sync 0xffffffff;
sub.u32 %r2, %mine, 4;
ld.shared.u32 %a, [%r2];
B:
bar.warp.sync 0xffffffff;`,
    settled: 'none',
  }),
  'memory between loops': program({
    body: `mov.u32 %r2, 0;
st.shared.u32 [%mine], %v;
@%odd bra A;
L:
bar.warp.sync 0xffffffff;
ld.shared.u32 %r3, [%mine+4];
mad.lo.u32 %a, %a, 3, %r3;
bar.warp.sync 0xffffffff;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 3;
@%p1 bra L;
bra B;
A:
add.u32 %r3, %r2, %w;
st.shared.u32 [%mine], %r3;
bar.warp.sync 0xffffffff;
bar.warp.sync 0xffffffff;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 3;
@%p1 bra A;
B:
add.u32 %b, %a, %r2;`,
  }),
  'a lane that waits for what another lane of its warp writes': program({
    body: `mov.u32 %r1, 0;
st.shared.u32 [%mine], %r1;
bar.warp.sync 0xffffffff;
setp.eq.u32 %p1, %l, 0;
@!%p1 bra A;
W:
ld.volatile.shared.u32 %r1, [%mine+4];
setp.eq.u32 %p2, %r1, 0;
@%p2 bra W;
fence.acq_rel.cta;
bra B;
A:
vote.sync.ballot.b32 %a, %some, 0xfffffffe;
setp.ne.u32 %p3, %l, 1;
@%p3 bra B;
mov.u32 %r2, 1;
fence.sc.cta;
atom.shared.exch.b32 %r3, [%mine], %r2;
B:
@%odd bra C;
redux.sync.add.u32 %b, %v, 0xffffffff;
bra END;
C:
redux.sync.xor.b32 %r4, %w, %o;
xor.b32 %a, %a, %r4;
redux.sync.add.u32 %b, %v, 0xffffffff;`,
  }),
  'barriers of the block in arms with collectives': program({
    threads: 96,
    body: `st.shared.u32 [%mine], %v;
@%low bra A;
redux.sync.add.u32 %a, %w, 0xffffffff;
bar.sync 0;
bra B;
A:
redux.sync.add.u32 %a, %v, 0xffffffff;
add.u32 %r1, %a, %w;
bar.sync 0;
add.u32 %a, %a, %r1;
B:
sub.u32 %r2, 95, %t;
mad.lo.u32 %r2, %r2, 4, %sh;
ld.shared.u32 %b, [%r2];
redux.sync.add.u32 %b, %b, 0xffffffff;`,
  }),
};
