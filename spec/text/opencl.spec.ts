/** Kernels as OpenCL C: what the text looks like, what is refused, and the whole table of ops. `spec/device/opencl.spec.ts` runs it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { textOf } from '../../src/cli/build-text.ts';
import { opNames } from '../../src/ir/index.ts';
import { constructs, profiles } from '../../src/text/index.ts';
import { language as msl } from '../../src/text/msl/rules.ts';
import { language as opencl } from '../../src/text/opencl/rules.ts';
import { exampleNames, exampleText, root } from '../support/examples.ts';

const test = suite('text/opencl');

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';

function print(ptx: string, target: 'opencl' | 'msl' = 'opencl'): { text: string; codes: string[]; diagnostics: Diagnostics } {
  const source = new SourceFile('k.ptx', ptx.startsWith('.version') || ptx.startsWith('//') ? ptx : head + ptx);
  const diagnostics = new Diagnostics(source);
  const text = textOf(source, target, {}, diagnostics) ?? '';
  return { text, codes: diagnostics.list.map(({ code }) => code), diagnostics };
}

/** The lines of a kernel's body. */
const bodyOf = (text: string): string[] => {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^(__kernel|kernel) /.test(line));
  return lines.slice(start + 1, lines.indexOf('}', start));
};

test('saxpy reads as a person would write it', () => {
  const { text, codes } = print(exampleText('saxpy'));
  assert.equal(codes, []);
  assert.match(text, '__kernel void saxpy(float param_0, __global float_m *param_1, __global float_m *param_2, uint param_3) {');
  assert.equal(bodyOf(text), [
    '  const uint gid_x = get_global_id(0);',
    '  float f1 = param_0;',
    '  if (gid_x >= param_3) return;',
    '  param_2[gid_x] = fma(param_1[gid_x], f1, param_2[gid_x]);',
    '  return;',
  ]);
});

test('variables have the names of registers, and lines those of the source', () => {
  const { text } = print(`${head}.file 1 "/home/me/sum.cu"
.visible .entry sum(.param .u64 out, .param .u32 n)
{
  .reg .b32 total, more; .reg .b64 p;
  .loc 1 12 3
  ld.param.u64 p, [out]; ld.param.u32 more, [n];
  .loc 1 13 5
  mul.lo.u32 total, more, more;
  .loc 1 14 5
  st.global.u32 [p], total; st.global.u32 [p+4], total;
  ret;
}`);
  const body = bodyOf(text).join('\n');
  assert.match(body, /\/\/ sum\.cu:13\n {2}uint total = .*;\n {2}\/\/ sum\.cu:14\n {2}out\[0\] = total;\n {2}out\[1\] = total;/);
});

test('warp operations of some warps of a block are written where all threads of the block wait', () => {
  const sums = (n: number): string => `shfl.sync.bfly.b32 y, x, ${n}, 31, -1; add.u32 x, x, y;`;
  const kernel = (arm: string): string => `.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 t, x, y, i; .reg .b64 p, q; .reg .pred c, d;
  ld.param.u64 p, [out]; ld.param.u32 i, [n]; mov.u32 t, %tid.x; mov.u32 x, t; setp.lt.u32 c, t, 32; @c bra DONE;
  ${arm}
  DONE: mul.wide.u32 q, t, 4; add.u64 q, q, p; st.global.u32 [q], x; ret;
}`;
  const { text } = print(kernel(sums(1) + sums(2)));
  assert.not.match(text, 'states');
  assert.is(text.split('barrier(').length - 1, 4);
  // In a loop that threads may leave one after the other, they wait by the scheduler.
  const loop = print(kernel(`L: ${sums(1)} add.u32 i, i, x; setp.lt.u32 d, i, 100; @d bra L;`));
  assert.match(loop.text, 'states[thread_number] = state;');
});

test('a load is not written behind a store that may change what it reads', () => {
  const { text } = print(`.visible .entry k(.param .u64 a, .param .u64 b)
{
  .reg .b32 x; .reg .b64 p, q;
  ld.param.u64 p, [a]; ld.param.u64 q, [b];
  ld.global.u32 x, [p];
  st.global.u32 [q], 5;
  st.global.u32 [q+4], x;
  ret;
}`);
  assert.equal(bodyOf(text), ['  uint x = a[0];', '  b[0] = 5u;', '  b[1] = x;', '  return;']);
});

test('what is assigned at once does not see its own assignments', () => {
  // The loop swaps x and y; a and b are read before either is set.
  const { text } = print(`.visible .entry k(.param .u64 out, .param .u32 a, .param .u32 b, .param .u32 n)
{
  .reg .pred p; .reg .b32 x, y, t, i; .reg .b64 o;
  ld.param.u64 o, [out]; ld.param.u32 x, [a]; ld.param.u32 y, [b]; ld.param.u32 i, [n];
again:
  mov.u32 t, x; mov.u32 x, y; mov.u32 y, t;
  sub.u32 i, i, 1; setp.ne.u32 p, i, 0; @p bra again;
  st.global.u32 [o], x; st.global.u32 [o+4], y;
  ret;
}`);
  const body = bodyOf(text).join('\n');
  assert.match(body, /uint (\w+)_next = (\w+);\n\s+\2 = \1;\n\s+\1 = \1_next;/);
});

test('what a language lacks is refused at its line', () => {
  const clock = `.visible .entry k(.param .u64 out)
{
  .reg .b64 p, t;
  ld.param.u64 p, [out];
  mov.u64 t, %clock64;
  st.global.u64 [p], t;
  ret;
}`;
  for (const target of ['opencl', 'msl'] as const) {
    const { codes, diagnostics } = print(clock, target);
    assert.equal(codes, ['CM2090'], target);
    const [found] = diagnostics.list;
    assert.match(found!.message, /clock/);
    assert.is(
      diagnostics.file!.text.slice(found!.labels[0]!.span.start, found!.labels[0]!.span.end).startsWith('mov.u64 t, %clock64'),
      true,
      target,
    );
  }
});

test('a kernel that is named as a function of the language has another name', () => {
  assert.match(print('.visible .entry normalize() { ret; }').text, '__kernel void kernel_normalize()');
});

test('each language has a rule for each op, and a profile for each construct', () => {
  for (const { name, rules } of [opencl, msl]) assert.equal(Object.keys(rules).sort(), [...opNames].sort(), name);
  for (const { name, forms } of Object.values(profiles)) assert.equal(Object.keys(forms), Object.keys(constructs), name);
});

test('every example is printed, barriers of some threads by a scheduler', () => {
  for (const name of exampleNames) assert.equal(print(exampleText(name)).codes, [], name);
  const { text } = print(`.visible .entry k(.param .u64 out)
{
  .reg .pred p; .reg .b32 t, x; .reg .b64 o;
  ld.param.u64 o, [out]; mov.u32 t, %tid.x; mov.u32 x, 0;
  setp.gt.u32 p, t, 100; @p bra over;
  bar.sync 0;
  mov.u32 x, 1;
over:
  st.global.u32 [o], x;
  ret;
}`);
  assert.match(text, 'switch (state) {');
});

test('threads that wait in a loop let others run, and barriers in shared memory start at zero', () => {
  const { text, codes } = print(readFileSync(join(root, 'fixtures/linking/barriers.ptx'), 'utf8'));
  assert.equal(codes, []);
  const kernel = text.slice(text.indexOf('__kernel void _Z9twoHalves'));
  assert.match(kernel, '((__local uchar *)shared_memory)[at] = 0;');
  // The state of a thread that yields.
  assert.match(kernel, /state = 0x1000000[0-9a-f];/);
});

test('a dense product of a warp group is expanded, alone and between operations of warps; a sparse one is refused', () => {
  const product = (kind: string, selector: string): string => `mov.u32 %r1, tile;
cvt.u64.u32 %rd1, %r1;
wgmma.fence.sync.aligned;
wgmma.mma_async${kind}.sync.aligned.m64n8k${selector === '' ? 16 : 32}.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd1, %rd1, ${selector}1, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;`;
  const ends = ['', 'setp.gt.f32 %p1, %f1, 0f00000000;\n@%p1 bra DONE;\nbar.warp.sync 1;\nDONE:'];
  const codesOf = (body: string, after: string): readonly string[] =>
    print(`.version 8.2
.target sm_90a
.address_size 64
.shared .align 128 .b8 tile[4096];
.visible .entry k(.param .u64 out)
{
.reg .pred %p<2>;
.reg .b32 %r<2>;
.reg .b64 %rd<3>;
.reg .f32 %f<5>;
ld.param.u64 %rd2, [out];
mov.f32 %f1, 0f00000000;
mov.f32 %f2, %f1;
mov.f32 %f3, %f1;
mov.f32 %f4, %f1;
${body}
${after}
st.global.f32 [%rd2], %f1;
ret;
}
`).codes;
  for (const after of ends) {
    assert.equal(codesOf(product('', ''), after), []);
    assert.equal(codesOf(product('.sp', '%r1, 0, '), after), ['CM2001']);
  }
});

test.run();
