/**
 * Calls of functions: what the caller and the function make of registers, arguments and memory. Expected numbers are worked out by hand
 * from PTX ISA 9.0, 7.1 (the function call interface), 9.7.12.5 (call) and 5.1.6 (parameter space).
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { lowerModule } from '../../src/lower/index.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';
import { irOf, kernelOf, wordsFrom, writing } from './lowered.ts';

const test = suite('lower/calls');

/** Every text that runs, for the assembler to judge. */
const texts: string[] = [];

/** The words that a kernel with these functions writes. */
function words(functions: string, body: string, count = 1, n = 0): number[] {
  const text = writing(body, functions);
  texts.push(text);
  return wordsFrom(text, n, count);
}

/** `r = a + 1` */
const next = `.func (.param .b32 r) next (.param .b32 a)
{ .reg .b32 %r<2>; ld.param.u32 %r1, [a]; add.u32 %r1, %r1, 1; st.param.b32 [r+0], %r1; ret; }`;

const callNext = (to: string, from: string): string => `{ .param .b32 param0; st.param.b32 [param0+0], ${from};
  .param .b32 retval0; call.uni (retval0), next, (param0); ld.param.b32 ${to}, [retval0+0]; }`;

// ── registers ──

test('a call as nvcc writes it', () => {
  assert.equal(words(next, `${callNext('%r1', '%r0')} st.global.u32 [%rd0], %r1;`, 1, 41), [42]);
});

test('a function leaves the registers of its caller alone, those of the same name too', () => {
  const body = `mov.b32 %r1, 7; ${callNext('%r2', '%r1')} ${callNext('%r3', '%r2')} st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r0};`;
  assert.equal(words(next, body, 4, 5), [7, 8, 9, 5]);
});

test('parameters and results in registers, several of them', () => {
  const functions = `.func (.reg .b32 sum, .reg .b32 product) both (.reg .b32 a, .reg .b32 b)
    { add.u32 sum, a, b; mul.lo.u32 product, a, b; }`;
  const body = `mov.b32 %r1, 6; call (%r2, %r3), both, (%r1, 7); call (_, %r4), both, (%r3, %r2); st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};`;
  assert.equal(words(functions, body, 4), [6, 13, 42, 546]);
});

test('a parameter in a register takes what a variable carries, and a variable takes what a register gives', () => {
  const functions = '.func (.reg .b32 r) twice (.reg .b32 a) { shl.b32 r, a, 1; ret; }';
  const body = `.param .b32 p; .param .b32 q; st.param.b32 [p], 21; call (q), twice, (p); ld.param.b32 %r1, [q];
    st.global.u32 [%rd0], %r1;`;
  assert.equal(words(functions, body), [42]);
});

test('registers and constants stand for variables', () => {
  const body = 'call (%r1), next, (-3); call (%r2), next, (%r1); call (_), next, (%r2); st.global.v2.u32 [%rd0], {%r1, %r2};';
  assert.equal(words(next, body, 2), [0xfffffffe, 0xffffffff]);
});

test('a float constant is the float of the parameter', () => {
  const functions = '.func (.reg .b32 r) bits (.reg .f32 a) { mov.b32 r, a; }';
  const body =
    'call (%r1), bits, (1.5); call (%r2), bits, (0fC0000000); mov.b32 %f1, %r1; call (%r3), bits, (%f1); st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r0};';
  assert.equal(words(functions, body, 3), [0x3fc00000, 0xc0000000, 0x3fc00000]);
});

test('a vector in registers', () => {
  const functions = '.func (.reg .v2 .b32 r) swap (.reg .v2 .b32 a) { mov.b32 r.x, a.y; mov.b32 r.y, a.x; }';
  const body = '.reg .v2 .b32 v, w; mov.b32 v.x, 1; mov.b32 v.y, 2; call (w), swap, (v); st.global.v2.b32 [%rd0], w;';
  assert.equal(words(functions, body, 2), [2, 1]);
});

test('registers of the module are one for all', () => {
  const functions = '.reg .b32 %count;\n.func add () { add.u32 %count, %count, 5; }';
  assert.equal(wordsFrom(writing('mov.b32 %count, 1; call add; call add; st.global.u32 [%rd0], %count;', functions)), [11]);
});

test('a register that the function has not written is as unwritten in the next call', () => {
  const functions = `.func (.reg .b32 r) late (.reg .b32 i)
    { .reg .pred %p; .reg .b32 %x; setp.eq.u32 %p, i, 0; @%p mov.b32 %x, 9; mov.b32 r, %x; }`;
  const body = `mov.b32 %r1, 0; mov.b32 %r2, 0;
    TOP: call (%r3), late, (%r1); add.u32 %r2, %r2, %r3; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; @%p1 bra TOP;
    st.global.u32 [%rd0], %r2;`;
  assert.equal(words(functions, body), [9]);
});

// ── control ──

test('a guarded call is made where its guard holds', () => {
  const functions = `${next}\n.func (.reg .b32 r) five () { mov.b32 r, 5; }`;
  const body = `setp.eq.u32 %p1, %r0, 1; mov.b32 %r1, 1; mov.b32 %r2, 2; mov.b32 %r3, 3;
    @%p1 call (%r1), five; @!%p1 call (%r2), five, (); @%p1 call (%r3), next, (%r3);
    st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r0};`;
  assert.equal(words(functions, body, 3, 1), [5, 2, 4]);
  assert.equal(words(functions, body, 3, 0), [1, 5, 3]);
});

/** The sum of the numbers below `a` up to the first that is 5, and 100 where `a` is 0. */
const loop = `.func (.param .b32 r) sum (.param .b32 a)
{ .reg .pred %p<3>; .reg .b32 %r<4>; ld.param.b32 %r1, [a]; mov.b32 %r2, 0; mov.b32 %r3, 0;
  setp.eq.u32 %p1, %r1, 0; @%p1 bra NONE;
  TOP: setp.eq.u32 %p2, %r2, 5; @%p2 bra DONE; add.u32 %r3, %r3, %r2; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1; @%p1 bra TOP;
  st.param.b32 [r], %r3; ret;
  DONE: st.param.b32 [r], %r3; ret;
  NONE: st.param.b32 [r], 100; ret; }`;

test('loops, labels that the caller has too, and several returns', () => {
  const body = `bra TOP; DONE: st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4}; bra NONE;
    TOP: call (%r1), sum, (0); call (%r2), sum, (4); call (%r3), sum, (9); call (%r4), sum, (%r0); bra DONE; NONE: mov.b32 %r1, 0;`;
  assert.equal(words(loop, body, 4, 1), [100, 6, 10, 0]);
});

test('a call in a loop, and a function that calls in a loop', () => {
  const functions = `${loop}\n.func (.reg .b32 r) sums (.reg .b32 n)
    { .reg .pred %p; .reg .b32 %i, %s; mov.b32 %i, 0; mov.b32 r, 0;
      TOP: call (%s), sum, (%i); add.u32 r, r, %s; add.u32 %i, %i, 1; setp.lt.u32 %p, %i, n; @%p bra TOP; ret; }`;
  const body = `mov.b32 %r1, 0; mov.b32 %r2, 0; TOP: call (%r3), sums, (2); add.u32 %r2, %r2, %r3; add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 3; @%p1 bra TOP; call (%r4), sums, (5); st.global.v2.u32 [%rd0], {%r2, %r4};`;
  // sum(0) + sum(1) = 100, three times; 100 + 0 + 1 + 3 + 6.
  assert.equal(words(functions, body, 2), [300, 110]);
});

test('a guarded return, and a function that ends without one', () => {
  const functions = `.func (.param .b32 r) sign (.param .b32 a)
    { .reg .pred %p; .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], 1; setp.ge.s32 %p, %x, 0; @%p ret; st.param.b32 [r], 2; }`;
  const body = 'call (%r1), sign, (-4); call (%r2), sign, (4); st.global.v2.u32 [%rd0], {%r1, %r2};';
  assert.equal(words(functions, body, 2), [2, 1]);
});

test('`exit` in a function ends the thread', () => {
  const functions = '.func stop (.reg .pred p) { @p exit; ret; }\n.func never () { TOP: bra TOP; }';
  const body = `st.global.u32 [%rd0], 1; setp.eq.u32 %p1, %r0, 1; call stop, (%p1); st.global.u32 [%rd0], 2; setp.eq.u32 %p2, %r0, 9;
    @%p2 call never; call quit; st.global.u32 [%rd0], 3;`;
  const quit = `${functions}\n.func quit () { exit; }`;
  // ptxas ends with a signal where a predicate is a parameter.
  assert.equal(wordsFrom(writing(body, quit), 1), [1]);
  assert.equal(wordsFrom(writing(body, quit), 0), [2]);
});

test('barriers of functions are barriers of the kernel', () => {
  const ir = irOf(writing('call wait; call wait;', '.func wait () { bar.sync 0; ret; }'));
  assert.is(ir.match(/barrier/g)?.length, 2);
});

test('functions that are declared before they are defined, that are weak, visible, known by an alias, or marked', () => {
  const functions = `.func (.reg .b32 r) one ();\n.func (.reg .b32 r) other ();\n.weak .func (.reg .b32 r) two () .pragma "nounroll";
    { .pragma "nounroll"; mov.b32 r, 2; }
    .visible .func (.reg .b32 r) three () { call (r), one; add.u32 r, r, 2; }
    .func (.reg .b32 r) one () { mov.b32 r, 1; ret; }\n.alias other, one;`;
  const body = 'call (%r1), one; call (%r2), two; call (%r3), three; call (%r4), other; st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};';
  assert.equal(wordsFrom(writing(body, functions), 0, 4), [1, 2, 3, 1]);
});

// ── variables that carry arguments ──

test('a structure by value, and one as the result', () => {
  const functions = `.func (.param .align 8 .b8 r[16]) turn (.param .align 8 .b8 a[16])
    { .reg .b32 %r<5>; ld.param.v2.b32 {%r1, %r2}, [a]; ld.param.b32 %r3, [a+8]; ld.param.b32 %r4, [a+12];
      st.param.b32 [r+0], %r2; st.param.b32 [r+4], %r3; st.param.v2.b32 [r+8], {%r4, %r1}; ret; }`;
  const body = `{ .param .align 8 .b8 p[16]; st.param.v2.b32 [p], {1, 2}; st.param.b32 [p+8], 3; st.param.b32 [p+12], %r0;
    .param .align 8 .b8 q[16]; call (q), turn, (p);
    ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [q]; } st.global.v4.b32 [%rd0], {%r1, %r2, %r3, %r4};`;
  assert.equal(words(functions, body, 4, 4), [2, 3, 4, 1]);
});

test('bytes are read in other widths than they were written', () => {
  const functions = `.func (.param .align 8 .b8 r[16]) look (.param .b64 a, .param .align 4 .b8 s[8])
    { .reg .b32 %r<5>; .reg .b64 %d; .reg .f32 %f; ld.param.u8 %r1, [a+1]; ld.param.s8 %r2, [a+6]; ld.param.u16 %r3, [a+2];
      ld.param.f32 %f, [a+4]; mov.b32 %r4, %f; and.b32 %r4, %r4, 0xffff0000; shl.b32 %r3, %r3, 8; or.b32 %r3, %r3, %r1; or.b32 %r3, %r3, %r4;
      st.param.b32 [r], %r2; st.param.b32 [r+4], %r3; ld.param.b64 %d, [s]; st.param.b64 [r+8], %d; ret; }`;
  const body = `.param .b64 p; .param .align 4 .b8 s[8]; .param .align 8 .b8 q[16]; st.param.b64 [p], 0x89abcdef01234567;
    st.param.b8 [s+3], 0x11; st.param.b16 [s], 0x3322; st.param.b8 [s+2], 0x44; st.param.v4.b8 [s+4], {5, 6, 7, 8}; call (q), look, (p, s);
    ld.param.v2.b64 {%rd1, %rd2}, [q]; st.global.v2.b64 [%rd0], {%rd1, %rd2};`;
  // 0x89abcdef01234567: byte 1 is 0x45, byte 6 is 0xab, the half at 2 is 0x0123, the word at 4 is 0x89abcdef.
  assert.equal(
    words(functions, body, 4),
    [0xffffffab, 0x89ab0000 | 0x012300 | 0x45, 0x11443322, 0x08070605].map((word) => word >>> 0),
  );
});

test('a word that is written in part keeps the rest', () => {
  const functions =
    '.func (.param .b32 r) same (.param .b32 a) { .reg .b32 %x; ld.param.b32 %x, [a]; st.param.b32 [r], %x; st.param.b8 [r+2], 0xee; }';
  const body = `.param .b32 p, q; st.param.b32 [p], 0x01020304; st.param.b16 [p+2], 0xaabb; call (q), same, (p); ld.param.b32 %r1, [q];
    st.global.u32 [%rd0], %r1;`;
  assert.equal(words(functions, body), [0xaaee0304]);
});

test('one variable for several calls, on several ways', () => {
  const body = `.param .b32 p, q; setp.eq.u32 %p1, %r0, 1; @%p1 bra ONE; st.param.b32 [p], 10; call (q), next, (p); bra ALL;
    ONE: st.param.b32 [p], 20; call (q), next, (p); ALL: call (q), next, (q); call (q), next, (q); ld.param.b32 %r1, [q];
    st.global.u32 [%rd0], %r1;`;
  assert.equal(words(next, body, 1, 0), [13]);
  assert.equal(words(next, body, 1, 1), [23]);
});

test('a result that is written before the argument in the same variable is read', () => {
  const functions =
    '.func (.param .b32 r) f (.param .b32 a) { .reg .b32 %x; st.param.b32 [r], 1; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; st.param.b32 [r], %x; }';
  const body = '.param .b32 p; st.param.b32 [p], 40; call (p), f, (p); ld.param.b32 %r1, [p]; st.global.u32 [%rd0], %r1;';
  assert.equal(words(functions, body), [41]);
});

test('no argument stays in memory where no address is taken', () => {
  const kernel = kernelOf(writing(`${callNext('%r1', '%r0')} st.global.u32 [%rd0], %r1;`, next));
  assert.equal(kernel.variables, []);
});

// ── addresses of parameters ──

/** The element of `a` with the number `i`; it is 0 afterwards. */
const element = `.func (.param .b32 r) element (.param .align 4 .b8 a[16], .param .b32 i)
{ .reg .b32 %x, %i; .reg .b64 %a, %o, %g; mov.b64 %a, a; ld.param.u32 %i, [i]; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o;
  cvta.local.u64 %g, %a; ld.param.u32 %x, [%a]; st.u32 [%g], 0; st.param.b32 [r], %x; ret; }`;

test('a parameter whose address is taken is memory of its own', () => {
  const body = `.param .align 4 .b8 p[16]; .param .b32 q; st.param.v4.b32 [p], {11, 22, 33, 44}; call (q), element, (p, %r0); ld.param.b32 %r1, [q];
    call (q), element, (p, %r0); ld.param.b32 %r2, [q]; call (q), element, (p, 3); ld.param.b32 %r3, [q];
    st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r0};`;
  assert.equal(words(element, body, 3, 2), [33, 33, 44]);
  assert.equal(words(element, body, 3, 0), [11, 11, 44]);
});

test('a result that is written through its address', () => {
  const functions = `.func (.param .align 4 .b8 r[16]) put (.param .b32 i)
    { .reg .b32 %i; .reg .b64 %a, %o; st.param.b32 [r], 1; st.param.b32 [r+4], 2; st.param.b32 [r+8], 3; st.param.b32 [r+12], 4; mov.b64 %a, r;
      ld.param.u32 %i, [i]; mul.wide.u32 %o, %i, 4; add.u64 %a, %a, %o; st.local.u32 [%a], 99; }`;
  const body = `.param .align 4 .b8 q[16]; call (q), put, (%r0); ld.param.v4.b32 {%r1, %r2, %r3, %r4}, [q];
    st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};`;
  assert.equal(words(functions, body, 4, 1), [1, 99, 3, 4]);
  assert.equal(words(functions, body, 4, 3), [1, 2, 3, 99]);
});

// ── variables and pointers ──

test('local variables of functions, of one name with those of the caller', () => {
  const functions = `.func (.reg .b32 r) local (.reg .b32 i)
    { .local .align 16 .b32 x[4]; .reg .b64 %a, %o; mov.b64 %a, x; st.local.v4.b32 [%a], {10, 20, 30, 40}; mul.wide.u32 %o, i, 4; add.u64 %a, %a, %o;
      ld.local.b32 r, [%a]; }`;
  const body = `.local .b32 x; st.local.b32 [x], 7; call (%r1), local, (%r0); call (%r2), local, (3); ld.local.b32 %r3, [x];
    st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r0};`;
  assert.equal(words(functions, body, 3, 1), [20, 40, 7]);
});

test('a shared variable of a function is one for all its calls', () => {
  const functions = `.func (.reg .b32 r) count (.reg .b32 by)
    { .reg .pred %p; .shared .align 4 .b32 total; setp.eq.u32 %p, by, 0; @%p st.shared.b32 [total], 0; ld.shared.b32 r, [total]; add.u32 r, r, by;
      st.shared.b32 [total], r; }
    .func (.reg .b32 r) again () { call (r), count, (100); }`;
  const body = `call (_), count, (0); call (%r1), count, (1); call (%r2), count, (10); call (%r3), again; call (%r4), count, (1000);
    st.global.v4.u32 [%rd0], {%r1, %r2, %r3, %r4};`;
  const text = writing(body, functions);
  texts.push(text);
  assert.equal(wordsFrom(text, 0, 4), [1, 11, 111, 1111]);
  assert.is(kernelOf(text).variables.length, 1);
});

/** `*p = *p + by` by a generic address; gives the sum. */
const increase = `.func (.param .b32 r) increase (.param .b64 p, .param .b32 by)
{ .reg .b32 %x, %y; .reg .b64 %p; ld.param.u64 %p, [p]; ld.param.b32 %y, [by]; ld.u32 %x, [%p]; add.u32 %x, %x, %y; st.u32 [%p], %x;
  st.param.b32 [r], %x; }`;

test('pointers to global, shared and local memory, each known where it is used', () => {
  const functions = `.shared .b32 tile[4];\n${increase}`;
  const body = `.local .b32 own; mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; add.u64 %rd2, %rd2, 8; st.shared.u32 [tile+8], 5;
    mov.u64 %rd3, own; st.local.u32 [%rd3], 1000; cvta.local.u64 %rd4, %rd3; add.u64 %rd5, %rd0, 12; st.global.u32 [%rd5], 70;
    call (%r1), increase, (%rd2, 1); call (%r2), increase, (%rd4, 2); call (%r3), increase, (%rd5, 3);
    ld.shared.u32 %r4, [tile+8]; ld.local.u32 %r5, [own]; add.u32 %r6, %r4, %r5; st.global.v2.u32 [%rd0], {%r1, %r2}; st.global.u32 [%rd0+8], %r6;`;
  assert.equal(words(functions, body, 4), [6, 1002, 1008, 73]);
});

test('a parameter of the kernel that only a function takes for a pointer is one', () => {
  const functions = `.func (.param .b32 r) first (.param .b64 p) { .reg .b64 %p; .reg .b32 %x; ld.param.u64 %p, [p]; ld.global.b32 %x, [%p+4]; st.param.b32 [r], %x; }`;
  const text = `${functions}\n.entry k (.param .u64 a, .param .u64 b) { .reg .b64 %a, %b; .reg .b32 %x; ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
    call (%x), first, (%a); st.global.b32 [%b], %x; ret; }`;
  assert.equal(
    kernelOf(text).params.map(({ kind, element, access }) => `${kind} ${element} ${access}`),
    ['pointer i32 read', 'pointer i32 write'],
  );
});

test('what a function does with a pointer that is null here, or where a flag is off, is not there', () => {
  const functions = `.func (.param .b32 r) get (.param .b64 p, .param .b32 isShared)
    { .reg .pred %p, %q; .reg .b64 %p1, %s; .reg .b32 %x, %f; ld.param.u64 %p1, [p]; ld.param.b32 %f, [isShared]; mov.b32 %x, -1;
      setp.eq.s64 %p, %p1, 0; @%p bra DONE; setp.ne.u32 %q, %f, 0; @%q bra SHARED; ld.u32 %x, [%p1+4]; bra DONE;
      SHARED: ld.shared.u32 %x, [%p1]; DONE: st.param.b32 [r], %x; ret; }`;
  const body = `st.global.u32 [%rd0+4], 8; call (%r1), get, (0, 0); call (%r2), get, (%rd0, 0); call (%r3), get, (0, 1);
    st.global.u32 [%rd0], %r1; st.global.u32 [%rd0+8], %r2; st.global.u32 [%rd0+12], %r3;`;
  assert.equal(words(functions, body, 4), [0xffffffff, 8, 8, 0xffffffff]);
});

test('a pointer to shared or local memory is not null', () => {
  const functions = `.shared .b32 tile[4];\n.func (.param .b32 r) put (.param .b64 p, .param .b64 other)
    { .reg .pred %p; .reg .b64 %a, %b; ld.param.u64 %a, [p]; ld.param.u64 %b, [other]; st.param.b32 [r], 0; setp.ne.s64 %p, %a, 0; @%p bra SET;
      mov.b64 %a, %b; SET: st.u32 [%a], 6; setp.eq.s64 %p, 0, %a; @%p ret; st.param.b32 [r], 1; }`;
  const body = `.local .b32 own; mov.u64 %rd1, tile; cvta.shared.u64 %rd2, %rd1; add.u64 %rd2, %rd2, 8; mov.u64 %rd3, own; cvta.local.u64 %rd4, %rd3;
    call (%r1), put, (%rd2, %rd0); call (%r2), put, (%rd4, %rd0); call (%r3), put, (0, %rd4); ld.shared.u32 %r4, [tile+8]; ld.local.u32 %r5, [own];
    mad.lo.u32 %r1, %r1, 2, %r2; st.global.v4.u32 [%rd0], {%r1, %r3, %r4, %r5};`;
  assert.equal(words(functions, body, 4), [3, 1, 6, 6]);
});

// ── what is refused ──

/** `CODE line:column message`, with notes, of all stages. */
function said(text: string): string[] {
  const file = new SourceFile('a.ptx', `.version 8.3\n.target sm_90\n.address_size 64\n${text}`);
  const diagnostics = new Diagnostics(file);
  const checked = check(parse(file, diagnostics), {}, diagnostics);
  if (!diagnostics.hasErrors) lowerModule(checked, diagnostics);
  return diagnostics.sorted().map(({ code, labels, message, notes }) => {
    const { line, column } = file.position(labels[0]!.span.start);
    return `${code} ${line}:${column} ${[message, ...notes].join('; ')}`;
  });
}

const kernel = (body: string): string =>
  `.entry k (.param .u64 out, .param .b32 n) { .reg .pred %p<3>; .reg .b32 %r<5>; .reg .b64 %rd<5>;\n${body}\nret; }`;

test('what no entry calls is not compiled', () => {
  assert.equal(said(`.func f () { call f; trap; }\n${kernel('')}`), []);
});

test('CM2040: functions without a body, by name', () => {
  const text = `.func other ();\n.func f () {\ncall other; }\n${kernel('call f;')}`;
  assert.equal(said(text), ['CM2040 6:6 a call of `other` is not supported: its body is not in this module']);
});

test('what is refused in a function is said once, with the way there', () => {
  const text = `.func f () {\nbar.sync 0, 32; }\n.func g () { call f; call f; }\n${kernel('call g; call g;')}\n${kernel('call g;').replace('k (', 'l (')}`;
  assert.equal(said(text), [
    'CM2049 5:13 operand `32` is not supported here: a barrier for some of the threads; called by way of `k` -> `g` -> `f`',
  ]);
});

test('CM2060: functions that grow with every level', () => {
  const levels = Array.from({ length: 40 }, (_, i) => `.func f${i + 1} () {\ncall f${i};\ncall f${i}; }`);
  const text = `.func f0 () { bar.sync 0; }\n${levels.join('\n')}\n${kernel('call f3;\ncall f40;')}`;
  assert.equal(
    withinCpuSeconds(2, () => said(text)),
    ['CM2060 127:6 kernel `k` has more than 200000 instructions after inlining; `f40` contributes most of them'],
  );
});

test('a long chain of calls takes no stack', () => {
  const chain = Array.from({ length: 5000 }, (_, i) => `.func (.reg .b32 r) f${i + 1} () { call (r), f${i}; add.u32 r, r, 1; }`);
  const text = writing('call (%r1), f5000; st.global.u32 [%rd0], %r1;', `.func (.reg .b32 r) f0 () { mov.b32 r, 3; }\n${chain.join('\n')}`);
  assert.equal(said(text), []);
});

const refused: readonly (readonly [name: string, functions: string, body: string, ...said: string[]])[] = [
  [
    'CM2049: a float constant for bits of another width',
    '.func f (.reg .b32 a) { ret; }',
    'call f, (1.5);',
    'CM2049 6:10 operand `1.5` is not supported here: it is no constant of the type of the parameter',
  ],
  [
    'CM1106: a parameter of the kernel is written',
    '.func f () { ret; }',
    'st.param.b32 [n], 1;',
    'CM1106 6:15 `n` must be memory that can be written, and is a parameter of this function',
  ],
  [
    'CM2049: the address of an argument',
    '.func f () { ret; }',
    '.param .b64 p;\nmov.b64 %rd1, p;',
    'CM2049 7:15 operand `p` is not supported here: an argument of a call has no address',
  ],
  [
    'CM2001: an address of a parameter of the kernel or of the function',
    '.func f (.param .b32 a) { .reg .b64 %a;\nmov.b64 %a, a;\ncvta.param.u64 %a, %a; }',
    'call f, (1);',
    'CM2001 6:1 `this instruction` is not supported; called by way of `k` -> `f`',
  ],
  [
    'CM2040: any number of arguments',
    '.func f (.param .b32 a, .param .align 8 .b8 more[]) { ret; }',
    '.param .align 8 .b8 p[8];\ncall f, (1, p);',
    'CM2040 7:6 a call of `f` is not supported: it is variadic',
  ],
];
for (const [name, functions, body, ...expected] of refused) test(name, () => assert.equal(said(`${functions}\n${kernel(body)}`), expected));

test('CM1106 and CM1112: what cannot be handed over', () => {
  const functions =
    '.shared .b32 s;\n.func f (.param .b32 a) { ret; }\n.func g (.param .b32 a) { call f, (a); ret; }\n.func v (.reg .v2 .b32 a) { ret; }';
  const body = 'call f, (n);\ncall f, (s);\ncall f, (%rd1);\ncall v, (%r1);\ncall v, (1);\ncall f, (%p1);\ncall f, 5;\ncall g, (1);';
  assert.equal(
    said(`${functions}\n${kernel(body)}`).map((line) => line.slice(0, line.indexOf(' ', 7))),
    ['CM1106 6:36', 'CM1106 9:10', 'CM1106 10:10', 'CM1112 11:10', 'CM1112 12:10', 'CM1112 13:10', 'CM1112 14:10', 'CM1106 15:9'],
  );
});

need(test, ['ptxas'], 'ptxas takes the texts that run', async () => {
  const taken = await ptxasTakes(texts.map((text) => `.version 8.3\n.target sm_90\n.address_size 64\n${text}`));
  assert.equal(
    texts.filter((_, i) => !taken[i]),
    [],
  );
});

test.run();
