/**
 * Generic addresses whose space only the whole kernel shows: pointers that come out of memory, and what a function asks of the
 * address that it is handed (`isspacep`). Expectations are from PTX ISA 9.0, 5.1 and 9.7.9.19.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/spaces');

const poison = 0xa5a5_a5a5;

/** What a kernel leaves in the 16 words that `o` points to. */
function run(body: string, before = ''): number[] {
  const text = `.version 8.0
.target sm_80
.address_size 64
.const .b32 table = 5;
${before}
.visible .entry k(.param .u64 out, .param .u64 memory, .param .b32 number)
{
  .reg .b64 o, m, q; .reg .b32 v; .reg .pred z; .shared .b32 s; .local .b32 l;
  ld.param.u64 o, [out]; ld.param.u64 m, [memory];
  ${body}
  ret;
}
`;
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const compiled = compile(diagnostics.file!, {}, diagnostics);
  assert.equal(diagnostics.list, []);
  const args = [new Uint32Array(16).fill(poison), new Uint32Array(16).fill(poison), 7];
  const [after] = launchMetallib(compiled!.metallib, { kernel: 'k', blocks: 1, threads: 1, args });
  return [...new Uint32Array(after!.slice().buffer)];
}

test('a pointer that was stored leads where it led', () => {
  const words = run(`add.u64 q, o, 8; st.u64 [m+16], q; st.u32 [o+12], 77;
    ld.u64 q, [m+16]; st.u32 [q], 9; ld.u32 v, [q+4]; st.u32 [o], v;`);
  assert.equal(words.slice(0, 4), [77, poison, 9, 77]);
});

test('a chain of pointers is followed from a parameter on', () => {
  const words = run(`.reg .b32 i; add.u64 q, m, 16; st.u64 [m], q; add.u64 q, m, 32; st.u64 [m+16], q; st.u64 [m+32], o;
    mov.u64 q, m; mov.b32 i, 3;
NEXT: ld.u64 q, [q]; sub.u32 i, i, 1; setp.ne.u32 z, i, 0; @z bra NEXT;
    st.u32 [q+4], 55; st.u32 [o], 1;`);
  assert.is(words[1], 55);
});

const take = `.func (.param .b32 r) take(.param .b64 p) {
  .reg .b64 a; .reg .pred g, s, l; .reg .b32 v, w;
  ld.param.u64 a, [p];
  isspacep.shared s, a; isspacep.global g, a; isspacep.local l, a;
  mov.b32 w, 0;
  @s bra SHARED;
  @l add.u32 w, w, 1000;
  @g add.u32 w, w, 100;
  bra END;
SHARED:
  add.u32 w, w, 10;
END:
  ld.u32 v, [a]; add.u32 w, w, v;
  st.param.b32 [r], w; ret;
}`;
const call = (address: string, at: number): string => `${address}
  { .param .b64 x; .param .b32 y; st.param.b64 [x], q; call (y), take, (x); ld.param.b32 v, [y]; }
  st.u32 [o+${at}], v;`;

test('a generic address of shared memory is a number beside one of a parameter that is only read', () => {
  // The rows of a tile are exchanged by bits of the address, as in CUTLASS: 64 ^ (64 >> 3 & 8) is 72.
  const words = run(`.shared .align 128 .b32 tile[32]; .reg .b64 a, b; .reg .b32 w;
    mov.u64 q, number; cvta.param.u64 b, q; ld.u32 w, [b];
    mov.u64 a, tile; cvta.shared.u64 a, a; add.u64 a, a, 64;
    and.b64 q, a, 64; shr.u64 q, q, 3; xor.b64 q, q, a; cvta.to.shared.u64 q, q; st.shared.u32 [q], 21;
    ld.shared.u32 v, [tile+72]; st.u32 [o], v; st.u32 [o+4], w;
    isspacep.shared z, a; selp.b32 v, 1, 2, z; st.u32 [o+8], v; isspacep.param z, b; selp.b32 v, 1, 2, z; st.u32 [o+12], v;
    st.u64 [m], a; ld.u64 q, [m]; st.u32 [q+4], 34; ld.shared.u32 v, [tile+68]; st.u32 [o+16], v;`);
  assert.equal(words.slice(0, 5), [21, 7, 1, 1, 34]);
});

test('an address in front of shared memory leads back into it', () => {
  const words = run(`.shared .align 16 .b32 tile[4]; .reg .b64 a, b;
    mov.u64 a, tile; cvta.shared.u64 a, a; st.u64 [m], a; st.shared.u32 [tile], 5;
    sub.u64 q, a, 16; cvta.to.shared.u64 b, q; ld.shared.u32 v, [b+16]; st.u32 [o], v; ld.u32 v, [q+16]; st.u32 [o+4], v;`);
  assert.equal(words.slice(0, 2), [5, 5]);
});

test('accesses of shared memory take its generic addresses, as on an H200', () => {
  // Recorded on an H200: 5, 6, 15; the generic address of local memory leads elsewhere there.
  const words = run(`.shared .align 16 .b32 tile[4]; .reg .b64 a, g;
    mov.u64 a, tile; cvta.shared.u64 g, a; st.u64 [m], g;
    st.shared.u32 [g], 5; ld.shared.u32 v, [a]; st.u32 [o], v; st.shared.u32 [a+4], 6; ld.shared.u32 v, [g+4]; st.u32 [o+4], v;
    atom.shared.add.u32 v, [g], 10; ld.shared.u32 v, [a]; st.u32 [o+8], v;`);
  assert.equal(words.slice(0, 3), [5, 6, 15]);
});

test('a function is told the space of what it is handed, and reads there', () => {
  const words = run(
    [
      call('mov.u64 q, s; cvta.shared.u64 q, q; st.u32 [q], 3;', 0),
      call('mov.u64 q, l; cvta.local.u64 q, q; st.u32 [q], 4;', 4),
      call('st.u32 [m], 6; mov.u64 q, m;', 8),
      call('st.u64 [m+8], m; ld.u64 q, [m+8];', 12),
    ].join('\n'),
    take,
  );
  assert.equal(words.slice(0, 4), [13, 1004, 106, 106]);
});

test('constants are no global memory, and parameters lie in the window of constants', () => {
  const ask = (space: string, at: number): string => `isspacep.${space} z, q; selp.u32 v, 1, 0, z; st.u32 [o+${at}], v;`;
  const words = run(`st.u32 [m], 1; mov.u64 q, table; cvta.const.u64 q, q; ${ask('const', 0)} ${ask('global', 4)} ${ask('param', 8)}
    mov.u64 q, number; cvta.param.u64 q, q; ${ask('const', 12)} ${ask('param', 16)} ${ask('shared', 20)}`);
  assert.equal(words.slice(0, 6), [1, 0, 0, 1, 1, 0]);
});

/** What each of `threads` threads leaves in its word; 64 words behind these are there too. */
function runAll(body: string, threads: number): number[] {
  const text = `.version 8.0
.target sm_80
.address_size 64
.const .b32 table[2] = {50, 60};
.visible .entry k(.param .u64 out)
{
  .reg .b64 o, at, mine, p, q, r, x; .reg .b32 v, t, u, w; .reg .pred z, y; .shared .b32 s[64]; .local .align 8 .b8 l[32];
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mul.wide.u32 at, t, 4; add.u64 mine, o, at;
  mov.u64 q, s; cvta.shared.u64 q, q; add.u64 q, q, at; st.u32 [q], t;
  mov.u64 r, l; cvta.local.u64 r, r; add.u32 v, t, 1000; st.u32 [r], v;
  mov.u64 x, table; cvta.const.u64 x, x;
  ${body}
  st.global.u32 [mine], v;
  ret;
}
`;
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const compiled = compile(diagnostics.file!, {}, diagnostics);
  assert.equal(diagnostics.list, []);
  const before = new Uint32Array(threads + 64).fill(poison);
  const [after] = launchMetallib(compiled!.metallib, { kernel: 'k', blocks: 1, threads, args: [before] });
  return [...new Uint32Array(after!.slice().buffer)].slice(0, threads);
}

/** One of four spaces by the number of the thread: shared, local, global, constant. */
const choose = `and.b32 w, t, 3; mov.u64 p, x; setp.eq.u32 z, w, 0; selp.b64 p, q, p, z; setp.eq.u32 z, w, 1; selp.b64 p, r, p, z;
  setp.eq.u32 z, w, 2; selp.b64 p, mine, p, z;`;
const threads = Array.from({ length: 40 }, (_, i) => i);

test('an address that is chosen when the kernel runs: reads, and questions about its space', () => {
  const ask = ['shared', 'local', 'global', 'const'].map(
    (space, i) => `isspacep.${space} z, p; selp.u32 u, ${1 << i}, 0, z; or.b32 w, w, u;`,
  );
  const words = runAll(
    `st.global.u32 [mine], 77; ${choose} ld.u32 v, [p]; mov.b32 w, 0; ${ask.join(' ')} shl.b32 w, w, 16; add.u32 v, v, w;`,
    40,
  );
  assert.equal(
    words,
    threads.map((t) => [t, t + 1000, 77, 50][t & 3]! + ((1 << (t & 3)) << 16)),
  );
});

test('writes and atomics through it, and it is itself when it comes out of memory again', () => {
  // Constants are not written: threads that would take theirs take shared memory.
  const words = runAll(
    `${choose} isspacep.const z, p; selp.b64 p, q, p, z; st.u64 [r+8], p; ld.local.u64 p, [l+8]; mov.u32 w, 500; st.u32 [p], w;
     isspacep.local z, p; @!z atom.add.u32 v, [p], t; bar.sync 0; ld.u32 v, [p];`,
    40,
  );
  assert.equal(
    words,
    threads.map((t) => ((t & 3) === 1 ? 500 : 500 + t)),
  );
});

test('addresses of threads in shared memory are followed by their neighbours', () => {
  const words = runAll(
    `.shared .align 8 .b64 links[64]; mov.u64 p, links; cvta.shared.u64 p, p; mul.wide.u32 at, t, 8; add.u64 p, p, at;
     and.b32 w, t, 1; setp.eq.u32 z, w, 0; add.u64 x, mine, 0; selp.b64 x, q, x, z; st.global.u32 [mine], 9; st.u64 [p], x; bar.sync 0;
     xor.b32 u, t, 1; mov.u64 p, links; cvta.shared.u64 p, p; mul.wide.u32 at, u, 8; add.u64 p, p, at; ld.u64 p, [p]; ld.u32 v, [p]; bar.sync 0;`,
    40,
  );
  assert.equal(
    words,
    threads.map((t) => (t & 1 ? t - 1 : 9)),
  );
});

test('two addresses of one space are as far apart as what they lead to; others are different, and none is null', () => {
  const words = runAll(
    `add.u64 p, q, 12; sub.u64 x, p, q; cvt.u32.u64 v, x; setp.eq.u64 z, q, r; selp.u32 u, 100, 0, z; add.u32 v, v, u;
     and.b32 w, t, 1; setp.eq.u32 z, w, 0; selp.b64 p, q, 0, z; setp.eq.u64 z, p, 0; selp.u32 u, 1000, 0, z; add.u32 v, v, u;
     setp.lt.s64 z, q, 0; selp.u32 u, 5, 0, z; add.u32 v, v, u;`,
    40,
  );
  assert.equal(
    words,
    threads.map((t) => 12 + (t & 1) * 1000),
  );
});

test.run();
