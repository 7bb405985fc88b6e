/** `{x}` with one element, which Triton writes for every access: where `ptxas` 13.0 takes it for `x`, and where it refuses it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';

const test = suite('ptx/vectors-of-one');

const kernel = (line: string): string => `.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 q)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .b16 %h<9>; .reg .f32 %f<9>; .reg .pred %p<5>;
  .shared .b32 s[64]; .local .b32 l[8];
  ld.param.u64 %rd1, [p]; mov.u32 %r1, 1; mov.u32 %r2, 2; mov.f32 %f2, 0f00000000; mov.b16 %h1, 0;
  setp.eq.u32 %p2, %r1, %r2;
  ${line}
  ret;
}
`;

const codesOf = (line: string): string[] => {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', kernel(line)));
  compile(diagnostics.file!, {}, diagnostics);
  return diagnostics.list.filter(({ severity }) => severity === 'error').map(({ code }) => code);
};

/** Pairs of a line and the same line as `ptxas` reads it. */
const taken: readonly (readonly [string, string])[] = [
  ['ld.global.b32 {%r3}, [%rd1];', 'ld.global.b32 %r3, [%rd1];'],
  ['ld.global.nc.b32 { %r3 }, [ %rd1 + 0 ];', 'ld.global.nc.b32 %r3, [%rd1];'],
  ['ld.relaxed.gpu.global.b32 {%r3}, [%rd1];', 'ld.relaxed.gpu.global.b32 %r3, [%rd1];'],
  ['ld.volatile.global.b32 {%r3}, [%rd1];', 'ld.volatile.global.b32 %r3, [%rd1];'],
  ['ld.shared.b32 {%r3}, [s];', 'ld.shared.b32 %r3, [s];'],
  ['ld.local.b32 {%r3}, [l];', 'ld.local.b32 %r3, [l];'],
  ['ld.param.b32 {%r3}, [q];', 'ld.param.b32 %r3, [q];'],
  ['ld.global.f32 {%f3}, [%rd1];', 'ld.global.f32 %f3, [%rd1];'],
  ['ld.global.b64 {%rd3}, [%rd1];', 'ld.global.b64 %rd3, [%rd1];'],
  ['ld.global.b8 {%h3}, [%rd1];', 'ld.global.b8 %h3, [%rd1];'],
  ['ldu.global.b32 {%r3}, [%rd1];', 'ldu.global.b32 %r3, [%rd1];'],
  ['st.global.b32 [%rd1], {%r1};', 'st.global.b32 [%rd1], %r1;'],
  ['st.global.b32 [%rd1], {1};', 'st.global.b32 [%rd1], 1;'],
  ['st.shared.b32 [s], {%r1};', 'st.shared.b32 [s], %r1;'],
  ['st.local.b32 [l], {%r1};', 'st.local.b32 [l], %r1;'],
  ['st.relaxed.gpu.global.b32 [%rd1], {%r1};', 'st.relaxed.gpu.global.b32 [%rd1], %r1;'],
  ['mov.b32 {%r3}, %r1;', 'mov.b32 %r3, %r1;'],
  ['mov.b32 %r3, {%r1};', 'mov.b32 %r3, %r1;'],
  ['mov.b64 {%rd3}, %rd1;', 'mov.b64 %rd3, %rd1;'],
];

/** The IR without the names and places that follow the text. */
function irOf(line: string): string {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', kernel(`${line}\n  st.volatile.global.u32 [%rd1], %r3;`)));
  const compiled = compile(diagnostics.file!, {}, diagnostics);
  assert.ok(compiled, line);
  return Buffer.from(compiled.metallib).toString('hex');
}

for (const [line, plain] of taken)
  test(line, () => {
    assert.equal(codesOf(line), []);
    assert.is(irOf(line), irOf(plain));
  });

const refused = [
  'add.s32 {%r3}, %r1, %r2;',
  'add.s32 %r3, {%r1}, %r2;',
  'atom.global.add.u32 {%r3}, [%rd1], %r2;',
  'atom.global.add.u32 %r3, [%rd1], {%r2};',
  'red.global.add.u32 [%rd1], {%r2};',
  'shfl.sync.idx.b32 {%r3}, %r1, 0, 31, -1;',
  'cvt.u32.u16 {%r3}, %h1;',
  'mov.pred {%p1}, %p2;',
  'movmatrix.sync.aligned.m8n8.trans.b16 {%r3}, %r1;',
  'ldmatrix.sync.aligned.m8n8.x1.shared.b16 %r3, [s];',
  'st.global.v2.b32 [%rd1], {%r1};',
];
for (const line of refused) test(`refused: ${line}`, () => assert.equal(codesOf(line), ['CM1106']));

test.run();
