/**
 * Volatile and relaxed accesses of vectors in device memory: one coherent access for each element, since PTX promises no more than that. Those of
 * elements that Apple GPUs have no coherent access of are refused.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile, emit } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('air/volatile-vectors');

const kernel = (body: string): SourceFile =>
  new SourceFile(
    'k.ptx',
    `.version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 from, .param .u64 to) {
.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>;\nld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];\n${body}\nret;\n}\n`,
  );

const body = `ld.volatile.global.v2.u32 {%r1, %r2}, [%rd1]; ld.relaxed.gpu.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];
st.volatile.global.v2.u32 [%rd2], {%r2, %r1}; st.relaxed.gpu.global.v4.f32 [%rd2+16], {%f4, %f3, %f2, %f1};`;

test('each element has an access of its own', () => {
  const source = kernel(body);
  const diagnostics = new Diagnostics(source);
  const made = compile(source, { target: 'macos15', verifiesPasses: true }, diagnostics);
  assert.equal(diagnostics.list, []);
  const input = Uint32Array.from({ length: 8 }, (_, i) => 0x3f80_0000 + 1001 * i);
  const output = new Uint8Array(32);
  const bytes = launchMetallib(made!.metallib, { kernel: 'k', blocks: 1, threads: 1, args: [new Uint8Array(input.buffer), output] })[1]!;
  const found = [...new Uint32Array(bytes.slice().buffer)];
  assert.equal(found, [input[1], input[0], 0, 0, input[7], input[6], input[5], input[4]]);
  const text = emit(source, 'air-ll', { target: 'macos15' }, diagnostics) as string;
  assert.is(text.match(/call \w+ @air\.atomic\.global\.load\./g)?.length, 6);
  assert.is(text.match(/call void @air\.atomic\.global\.store\./g)?.length, 6);
});

test('64-bit elements are refused', () => {
  const diagnostics = new Diagnostics(kernel('ld.volatile.global.v2.u64 {%rd3, %rd4}, [%rd1]; st.global.v2.u64 [%rd2], {%rd3, %rd4};'));
  assert.is(compile(diagnostics.file!, { target: 'macos15' }, diagnostics), undefined);
  assert.match(diagnostics.list[0]!.message, /32 bits only/);
});

test.run();
