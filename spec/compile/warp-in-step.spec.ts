/**
 * Votes and shuffles without `.sync`, through the whole road (PTX, metallib, CPU device). No GPU that can be had runs them any
 * more, so that the expectations are worked out from the text of the manual: PTX ISA 9.0, 9.7.9.5 (`shfl`) and 9.7.13.8
 * (`vote`), where those that take part are the active threads of the warp. What a shuffle gives of a lane that is not active
 * is unpredictable there, and not looked at here.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { inputWords } from '../support/block-votes.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/warp-in-step');
const poison = 0xa5a5a5a5;

const kernel = (code: string, architecture = 'sm_60'): string => `.version 8.0
.target ${architecture}
.address_size 64
.visible .entry form(.param .u64 pa, .param .u64 pd)
{
  .reg .pred p, q, r;
  .reg .b32 a, b, d<4>, t, lane, x, y;
  .reg .b64 at, offset;
  mov.u32 t, %tid.x; mov.u32 lane, %laneid;
  mul.wide.u32 offset, t, 4;
  ld.param.u64 at, [pa]; add.s64 at, at, offset; ld.global.u32 a, [at];
  mul.wide.u32 offset, t, 16;
  mov.u32 d0, 77; mov.u32 d1, 77; mov.u32 d2, 77; mov.u32 d3, 77;
${code}
end:
  ld.param.u64 at, [pd]; add.s64 at, at, offset; st.global.v4.u32 [at], {d0, d1, d2, d3};
  ret;
}
`;

type Four = readonly (number | undefined)[];

/** Four words of each thread of one block; `wanted` gives those of a thread, nothing for one that stores none, and nothing for what is open. */
function check(code: string, threads: number, wanted: (t: number, a: readonly number[]) => Four | undefined): void {
  const diagnostics = new Diagnostics();
  const metallib = compile(new SourceFile('form.ptx', kernel(code)), {}, diagnostics)?.metallib;
  assert.equal(
    diagnostics.list.map((d) => d.message),
    [],
  );
  const input = inputWords(threads, 5);
  const args = [input, new Uint32Array(4 * threads).fill(poison)];
  const after = launchMetallib(metallib!, { kernel: 'form', blocks: 1, threads, args });
  const found = [...new Uint32Array(after[1]!.slice().buffer)];
  const want = Array.from({ length: threads }, (_, t) => wanted(t, [...input]) ?? [poison, poison, poison, poison]).flat();
  assert.equal(
    found.map((word, i) => (want[i] === undefined ? undefined : word)),
    want,
  );
}

const told = (register: string): string => `selp.u32 ${register}, 1, 0, r;`;
const isOdd = 'and.b32 x, a, 1; setp.ne.u32 p, x, 0;';
const odd = (word: number): boolean => (word & 1) === 1;
/** The threads of a warp for which something holds, in a block of so many. */
const warpOf = (t: number, threads: number, holds: (t: number) => boolean = () => true): number[] =>
  Array.from({ length: 32 }, (_, lane) => (t & ~31) + lane).filter((other) => other < threads && holds(other));
const bits = (threads: readonly number[]): number => threads.reduce((mask, t) => (mask | (1 << (t & 31))) >>> 0, 0);

for (const threads of [1, 31, 32, 80, 96])
  test(`votes of whole warps in blocks of ${threads}`, () => {
    const code = `${isOdd} vote.ballot.b32 d0, p; vote.all.pred r, p; ${told('d1')} vote.any.pred r, p; ${told('d2')} vote.uni.pred r, p; ${told('d3')}`;
    check(code, threads, (t, a) => {
      const [all, yes] = [warpOf(t, threads), warpOf(t, threads, (other) => odd(a[other]!))];
      const isAll = yes.length === all.length;
      return [bits(yes), Number(isAll), Number(yes.length > 0), Number(isAll || yes.length === 0)];
    });
  });

test('votes of a predicate that is negated, and of one that all agree in', () => {
  const code = `${isOdd} vote.ballot.b32 d0, !p; setp.eq.u32 q, t, t; vote.all.pred r, q; ${told('d1')} vote.uni.pred r, !q; ${told('d2')} vote.any.pred r, !q; ${told('d3')}`;
  check(code, 80, (t, a) => [bits(warpOf(t, 80, (other) => !odd(a[other]!))), 1, 1, 0]);
});

test('votes of those that are active: under a guard, in a branch, in a loop that threads leave by turns', () => {
  const code = `${isOdd}
  @p vote.ballot.b32 d0, p;
  setp.lt.u32 q, lane, 11; @q bra low;
  vote.ballot.b32 d1, p; vote.all.pred r, p; ${told('d2')} bra join;
low: vote.ballot.b32 d1, !p; vote.any.pred r, p; ${told('d2')}
join: mov.u32 d3, 0; and.b32 y, t, 7; setp.eq.u32 q, t, t;
turn: vote.ballot.b32 x, q; popc.b32 x, x; add.u32 d3, d3, x; sub.u32 y, y, 1; setp.ge.s32 r, y, 0; @r bra turn;`;
  check(code, 90, (t, a) => {
    const yes = (other: number): boolean => odd(a[other]!);
    const isLow = (other: number): boolean => (other & 31) < 11;
    const side = warpOf(t, 90, (other) => isLow(other) === isLow(t));
    const own = side.filter(yes);
    let turns = 0;
    for (let turn = 0; turn <= (t & 7); turn++) turns += warpOf(t, 90, (other) => (other & 7) >= turn).length;
    return [
      yes(t) ? bits(warpOf(t, 90, yes)) : 77,
      bits(isLow(t) ? side.filter((other) => !yes(other)) : own),
      Number(isLow(t) ? own.length > 0 : own.length === side.length),
      turns,
    ];
  });
});

test('threads that have exited take no part', () => {
  const code = `rem.u32 x, t, 5; setp.eq.u32 q, x, 2; @q exit; ${isOdd} vote.ballot.b32 d0, p; setp.eq.u32 q, t, t; vote.ballot.b32 d1, q; vote.all.pred r, q; ${told('d2')}`;
  check(code, 75, (t, a) => {
    if (t % 5 === 2) return undefined;
    const there = warpOf(t, 75, (other) => other % 5 !== 2);
    return [bits(there.filter((other) => odd(a[other]!))), bits(there), 1, 77];
  });
});

/** The manual's pseudocode, with its names. */
function shuffled(mode: string, lane: number, b: number, c: number): { j: number; pval: boolean } {
  const bval = b & 31;
  const cval = c & 31;
  const segmask = (c >>> 8) & 31;
  const maxLane = (lane & segmask) | (cval & ~segmask & 31);
  const minLane = lane & segmask;
  if (mode === 'up') return { j: lane - bval, pval: lane - bval >= maxLane };
  if (mode === 'down') return { j: lane + bval, pval: lane + bval <= maxLane };
  if (mode === 'bfly') return { j: lane ^ bval, pval: (lane ^ bval) <= maxLane };
  const j = minLane | (bval & ~segmask & 31);
  return { j, pval: j <= maxLane };
}

for (const mode of ['up', 'down', 'bfly', 'idx'])
  test(`shfl.${mode}: whole warps and segments, constants and registers, a partial last warp`, () => {
    const wide = mode === 'up' ? 0 : 31;
    const narrow = 0x1800 | wide;
    const code = `shfl.${mode}.b32 d0, a, 3, ${wide}; shfl.${mode}.b32 d1|r, a, t, ${narrow}; ${told('d2')} @r add.u32 d2, d2, 4; shr.u32 b, a, 9; shfl.${mode}.b32 d3|_, t, b, ${wide};`;
    check(code, 72, (t, a) => {
      const from = (b: number, c: number, of: readonly number[]): number | undefined => {
        const { j, pval } = shuffled(mode, t & 31, b, c);
        return pval ? of[(t & ~31) + j] : of[t];
      };
      const has = shuffled(mode, t & 31, t, narrow).pval;
      const numbers = a.map((_, i) => i);
      return [from(3, wide, a), from(t, narrow, a), has ? 5 : 0, from(a[t]! >>> 9, wide, numbers)];
    });
  });

test('a shuffle among those of a branch', () => {
  const code = `and.b32 x, lane, 1; setp.eq.u32 q, x, 0; @q bra even;
  shfl.bfly.b32 d0, a, 2, 31; bra join;
even: shfl.idx.b32 d0|r, a, 4, 0x1807; ${told('d1')}
join: shfl.bfly.b32 d2, d0, 1, 31;`;
  check(code, 64, (t, a) => {
    const first = (u: number): number => (u % 2 === 1 ? a[u ^ 2]! : a[(u & ~7) + 4]!);
    return [first(t), t % 2 === 1 ? 77 : 1, first(t ^ 1), 77];
  });
});

const forms = ['vote.all.pred p, q', 'vote.uni.pred p, !q', 'vote.ballot.b32 a, p', 'shfl.up.b32 a, a, 1, 0', 'shfl.idx.b32 a|p, a, b, 31'];

for (const architecture of ['sm_70', 'sm_75', 'sm_90a'])
  test(`refused for ${architecture}, each at its place and with what to do`, () => {
    const diagnostics = new Diagnostics();
    const source = new SourceFile('form.ptx', kernel(forms.map((form) => `  ${form};\n`).join(''), architecture));
    assert.is(compile(source, {}, diagnostics), undefined);
    assert.equal(
      diagnostics.list.map(({ code, message, help }) => [code, message, /`(\w+\.sync)/.exec(help ?? '')?.[1]]),
      forms.map((form) => ['CM2001', `\`${form.split(' ')[0]}\` is not supported`, form.startsWith('vote') ? 'vote.sync' : 'shfl.sync']),
    );
    assert.match(diagnostics.list[0]!.labels[0]!.text, /which no hardware guarantees from sm_70 on$/);
  });

test('compiled in modules for architectures that had them', () => {
  for (const architecture of ['sm_30', 'sm_52', 'sm_61']) {
    const source = new SourceFile('form.ptx', kernel(forms.map((form) => `  ${form};\n`).join(''), architecture));
    const diagnostics = new Diagnostics();
    assert.ok(compile(source, {}, diagnostics));
    assert.equal(diagnostics.list, []);
  }
});

test.run();
