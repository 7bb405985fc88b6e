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

test.run();
