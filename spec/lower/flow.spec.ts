/** Control flow, registers and scopes: PTX runs as it reads. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { irOf, kernelOf, wordsFrom, writing } from './lowered.ts';

const test = suite('lower/flow');

test('a guarded computation keeps the old value where the guard fails', () => {
  const text = writing('setp.gt.u32 %p1, %r0, 3; mov.b32 %r1, 7; @%p1 add.u32 %r1, %r0, 100; st.global.u32 [%rd0], %r1;');
  assert.is(kernelOf(text).blocks.filter((block) => block.end.op === 'condbr').length, 0);
  assert.equal([wordsFrom(text, 3), wordsFrom(text, 4)], [[7], [104]]);
});

test('a negated guard, and both results of a guarded setp', () => {
  const text = writing(`setp.gt.u32 %p1, %r0, 3; setp.eq.u32 %p2|%p3, %r0, %r0;
    @!%p1 setp.eq.u32 %p2|%p3, %r0, 1;
    selp.b32 %r1, 1, 0, %p2; selp.b32 %r2, 1, 0, %p3; st.global.v2.u32 [%rd0], {%r1, %r2};`);
  assert.equal(
    [1, 2, 4].map((n) => wordsFrom(text, n, 2)),
    [
      [1, 0],
      [0, 1],
      [1, 0],
    ],
  );
});

test('guarded loads, stores and barriers happen only where the guard holds', () => {
  const text = writing(`setp.gt.u32 %p1, %r0, 3; st.global.u32 [%rd0], 5; mov.b32 %r1, 9; mov.b64 %rd1, 0xffffffff;
    @!%p1 mov.b64 %rd1, %rd0;
    @!%p1 ld.global.u32 %r1, [%rd1]; @!%p1 bar.sync 0; @%p1 st.global.u32 [%rd0], %r1;`);
  // Where the guard fails the address is outside of memory, and a load there would end the run.
  assert.equal([wordsFrom(text, 1), wordsFrom(text, 9)], [[5], [9]]);
  const kernel = kernelOf(text);
  const barriers = kernel.blocks.filter((block) => block.body.some((value) => kernel.insts[value]!.op === 'barrier'));
  assert.is(barriers.length, 1);
  assert.is(barriers[0]!.body.length, 1);
});

test('a guarded load of a vector leaves both registers', () => {
  const text = writing(`st.global.v2.u32 [%rd0+8], {11, 12}; mov.b32 %r1, 1; mov.b32 %r2, 2; setp.eq.u32 %p1, %r0, 1;
    @%p1 ld.global.v2.u32 {%r1, %r2}, [%rd0+8]; st.global.v2.u32 [%rd0], {%r1, %r2};`);
  assert.equal(
    [wordsFrom(text, 0, 2), wordsFrom(text, 1, 2)],
    [
      [1, 2],
      [11, 12],
    ],
  );
});

test('a register that was never written reads as 0', () => {
  const text = writing('add.u32 %r2, %r1, %r0; @%p1 add.u32 %r2, %r2, 1; st.global.u32 [%rd0], %r2; st.global.f32 [%rd0+4], %f1;');
  assert.equal(wordsFrom(text, 5, 2), [5, 0]);
});

test('one that is written on one way only is 0 on the other', () => {
  const text = writing('setp.eq.u32 %p1, %r0, 0; @%p1 bra M; mov.b32 %r1, 3; M: st.global.u32 [%rd0], %r1;');
  assert.equal([wordsFrom(text, 0), wordsFrom(text, 1)], [[0], [3]]);
});

test('a loop with several registers, one of which it does not change', () => {
  const text = writing(`mov.b32 %r1, 0; mov.b32 %r2, 1; mov.b32 %r3, 0; mov.b32 %r5, 10;
    TOP: setp.ge.u32 %p1, %r3, %r0; @%p1 bra DONE;
    add.u32 %r4, %r1, %r2; mov.b32 %r1, %r2; mov.b32 %r2, %r4; add.u32 %r3, %r3, 1; bra TOP;
    DONE: add.u32 %r1, %r1, %r5; st.global.u32 [%rd0], %r1;`);
  assert.equal(
    [0, 1, 2, 10].map((n) => wordsFrom(text, n)[0]),
    [10, 11, 11, 65],
  );
  const params = kernelOf(text).blocks.map((block) => block.params.length);
  assert.is(Math.max(...params), 3, 'one parameter for each register that changes');
});

test('registers that swap in a loop', () => {
  const text = writing(`mov.b32 %r1, 1; mov.b32 %r2, 2; mov.b32 %r3, 0;
    TOP: mov.b32 %r4, %r1; mov.b32 %r1, %r2; mov.b32 %r2, %r4; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r0; @%p1 bra TOP;
    st.global.v2.u32 [%rd0], {%r1, %r2};`);
  assert.equal(
    [wordsFrom(text, 1, 2), wordsFrom(text, 2, 2)],
    [
      [2, 1],
      [1, 2],
    ],
  );
});

test('a loop with two entries', () => {
  // Starts at A for odd n and at B for even n; A adds 1, B adds 10, until 40 is passed.
  const text = writing(`mov.b32 %r1, 0; and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra B;
    A: add.u32 %r1, %r1, 1;
    B: add.u32 %r1, %r1, 10; setp.lt.u32 %p2, %r1, 40; @%p2 bra A;
    st.global.u32 [%rd0], %r1;`);
  assert.equal([wordsFrom(text, 1), wordsFrom(text, 2)], [[44], [43]]);
});

test('ret and exit under a guard, a branch to the next line, and code that nothing reaches', () => {
  const text = writing(`setp.eq.u32 %p1, %r0, 1; setp.eq.u32 %p2, %r0, 2; st.global.u32 [%rd0], 1; @%p1 ret;
    st.global.u32 [%rd0], 2; @%p2 exit; @%p1 bra NEXT; NEXT: st.global.u32 [%rd0], 3; bra END; st.global.u32 [%rd0], 4; END:`);
  assert.equal([wordsFrom(text, 1), wordsFrom(text, 2), wordsFrom(text, 3)], [[1], [2], [3]]);
});

test('a kernel that never ends has no way out, and is lowered', () => {
  assert.not.match(irOf(writing('TOP: bra TOP;')), /ret/);
});

test('scopes: an inner name hides the outer one from its declaration on', () => {
  const text = writing(`.reg .b32 x; mov.b32 x, 1;
    { mov.b32 %r1, x; .reg .b32 x; mov.b32 x, 2; { .reg .b32 x; mov.b32 x, 3; } mov.b32 %r2, x; }
    st.global.v4.u32 [%rd0], {%r1, %r2, x, 0};`);
  assert.equal(wordsFrom(text, 0, 3), [1, 2, 1]);
});

test('scopes: labels of one name', () => {
  const text = writing(`mov.b32 %r1, 0; bra L; mov.b32 %r1, 50;
    L: { add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 3; @%p1 bra L; bra M; L: add.u32 %r1, %r1, 100; M: }
    st.global.u32 [%rd0], %r1;`);
  // `bra L` inside means the inner label: 1 + 100.
  assert.equal(wordsFrom(text), [101]);
});

test('ranges: a shorter range and one whose name ends with a digit', () => {
  const text = writing(
    '.reg .b32 %a1<12>; .reg .b32 %a<3>; mov.b32 %a111, 5; mov.b32 %a2, 6; mov.b32 %a1, 7; st.global.v4.u32 [%rd0], {%a111, %a2, %a1, %a10};',
  );
  assert.equal(wordsFrom(text, 0, 4), [5, 6, 7, 0]);
});

test('vector registers', () => {
  const text = writing(`.reg .v4 .b32 v; .reg .v2 .f32 w; st.global.v4.u32 [%rd0+16], {1, 2, 3, 4}; ld.global.v4.u32 v, [%rd0+16];
    add.u32 v.x, v.y, v.w; mov.b32 w.y, v.z; mov.b32 v.z, w.y; st.global.v4.u32 [%rd0], v; `);
  assert.equal(wordsFrom(text, 0, 4), [6, 2, 3, 4]);
});

test('narrow loads into wide registers are extended by the sign of their type, stores cut', () => {
  const text = writing(`st.global.u32 [%rd0], 0x80ff; ld.global.s8 %r1, [%rd0]; ld.global.u8 %r2, [%rd0]; ld.global.s16 %rd1, [%rd0];
    shr.u64 %rd2, %rd1, 32; cvt.u32.u64 %r3, %rd2; st.global.u32 [%rd0+12], -1; st.global.u8 [%rd0+12], %rd2; mov.b32 %r4, 0x1234; st.global.u16 [%rd0+14], %r4;
    st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+4], %r2; st.global.u32 [%rd0+8], %r3;`);
  assert.equal(wordsFrom(text, 0, 4), [0xffffffff, 0xff, 0xffffffff, 0x1234ffff]);
});

test('special registers and WARP_SZ', () => {
  const text = writing('mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.y; st.global.v4.u32 [%rd0], {%r1, %r2, WARP_SZ, 0};');
  assert.equal(wordsFrom(text, 0, 3, { 'tid.x': 3, 'ntid.y': 9 }), [3, 9, 32]);
});

// ── jump tables ──

const cases = (count: number): string => Array.from({ length: count }, (_, i) => `C${i}: mov.b32 %r1, ${100 + i}; bra END;`).join('\n');
const labels = (count: number): string => Array.from({ length: count }, (_, i) => `C${i}`).join(', ');

test('a jump by an index, for lists of several lengths; one behind the list goes to the last', () => {
  for (const count of [1, 2, 3, 5, 8]) {
    const text = writing(`T: .branchtargets ${labels(count)}; brx.idx %r0, T; ${cases(count)} END: st.global.u32 [%rd0], %r1;`);
    assert.equal(
      Array.from({ length: count }, (_, i) => wordsFrom(text, i)[0]),
      Array.from({ length: count }, (_, i) => 100 + i),
    );
    assert.equal([wordsFrom(text, count), wordsFrom(text, 0xffffffff)], [[99 + count], [99 + count]]);
  }
});

test('a guarded jump, a list that has a label twice, and a constant index', () => {
  const text = writing(`setp.lt.u32 %p1, %r0, 10; mov.b32 %r1, 7; T: .branchtargets C1, C0, C1; @%p1 brx.idx.uni %r0, T; brx.idx 1, T;
    ${cases(2)} END: st.global.u32 [%rd0], %r1;`);
  assert.equal(
    [0, 1, 2, 10].map((n) => wordsFrom(text, n)[0]),
    [101, 100, 101, 100],
  );
});

test('a jump in a loop: a machine whose states are labels', () => {
  const text = writing(`mov.b32 %r1, 0; mov.b32 %r2, 0; T: .branchtargets ADD, TRIPLE, STOP;
    NEXT: brx.idx %r2, T;
    ADD: add.u32 %r1, %r1, 5; mov.b32 %r2, 1; bra NEXT;
    TRIPLE: mul.lo.u32 %r1, %r1, 3; setp.gt.u32 %p1, %r1, %r0; selp.u32 %r2, 2, 0, %p1; bra NEXT;
    STOP: st.global.u32 [%rd0], %r1;`);
  // 5, 15; 20, 60; 65, 195.
  assert.equal([wordsFrom(text, 14), wordsFrom(text, 15), wordsFrom(text, 100)], [[15], [60], [195]]);
});

test('the labels of a list are those that are seen from it', () => {
  const text = writing(`T: .branchtargets A, B; { brx.idx %r0, T; A: st.global.u32 [%rd0], 9; }
    A: st.global.u32 [%rd0], 1; ret; B: st.global.u32 [%rd0], 2;`);
  assert.equal([wordsFrom(text, 0), wordsFrom(text, 1)], [[1], [2]]);
});

test('a jump table in a function', () => {
  const functions = `.func (.reg .b32 r) pick (.reg .b32 i) { T: .branchtargets A, B, C; brx.idx i, T; A: mov.b32 r, 10; ret; B: mov.b32 r, 20; ret; C: mov.b32 r, 30; }`;
  const text = writing('call (%r1), pick, (%r0); call (%r2), pick, (1); st.global.v2.u32 [%rd0], {%r1, %r2};', functions);
  assert.equal(
    [wordsFrom(text, 0, 2), wordsFrom(text, 2, 2)],
    [
      [10, 20],
      [30, 20],
    ],
  );
});

test('threads: .reqntid and .maxntid', () => {
  const kernel = (directive: string) => kernelOf(`.entry k () ${directive} { ret; }`);
  assert.equal(kernel('.reqntid 8, 4').requiredThreads, [8, 4, 1]);
  assert.is(kernel('.reqntid 8, 4').maxThreads, 32);
  assert.is(kernel('.maxntid 16, 2, 2').maxThreads, 64);
  assert.is(kernel('').maxThreads, undefined);
});

test.run();
