/**
 * Fences of memory: `air.atomic.fence` from macOS 15 on, with the operands that Apple's compiler gives (order 5, scope 1 for the
 * threadgroup and 2 for the device), refused before; the CPU device runs them under any name.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile, emit } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/fence');

const text = (fence: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 p;
  ld.param.u64 p, [out];
  st.global.u32 [p], 7;
  ${fence};
  st.global.u32 [p+4], 8;
  ret;
}
`;

const file = (fence: string): SourceFile => new SourceFile('k.ptx', text(fence));
const scopes: Readonly<Record<string, number>> = {
  'membar.cta': 1,
  'membar.gl': 2,
  'fence.acq_rel.cta': 1,
  'fence.sc.gpu': 2,
  'fence.gpu': 2,
  'membar.sys': 2,
  'fence.acq_rel.sys': 2,
};

for (const [fence, scope] of Object.entries(scopes)) {
  test(`${fence}: a fence of scope ${scope} for macos15`, () => {
    const shown = emit(file(fence), 'air-ll', { target: 'macos15' }, new Diagnostics()) as string;
    assert.match(
      shown,
      new RegExp(`store i32 7,[^\\n]*\\n[^]*call void @air.atomic.fence\\(i32 3, i32 5, i32 ${scope}\\)[^]*store i32 8,`),
    );
    assert.match(shown, /air64-apple-macosx15\.0\.0/);
  });

  test(`${fence}: refused for macos14, with what to do`, () => {
    const diagnostics = new Diagnostics(file(fence));
    assert.is(compile(diagnostics.file!, { target: 'macos14' }, diagnostics), undefined);
    const [found, ...more] = diagnostics.list;
    assert.is(more.length, 0);
    assert.is(found!.code, 'CM2090');
    assert.match(found!.help ?? '', /--target macos15/);
    assert.is(diagnostics.file!.position(found!.labels[0]!.span.start).line, 9);
  });
}

for (const target of ['macos15', 'cpu'] as const)
  test(`the CPU device runs what was compiled for ${target}`, () => {
    const options: CompileOptions = { target };
    const { metallib } = compile(file('membar.gl'), options, new Diagnostics())!;
    const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 1, args: [new Uint32Array(2).fill(0xa5a5_a5a5)] });
    assert.equal([...new Uint32Array(after!.slice().buffer)], [7, 8]);
  });

test('a library for macos15 is of container 1.2.8 and of that system', () => {
  const { metallib } = compile(file('membar.gl'), { target: 'macos15' }, new Diagnostics())!;
  const view = new DataView(metallib.buffer, metallib.byteOffset);
  assert.equal([view.getUint16(4, true) & 0x7fff, view.getUint16(6, true), view.getUint16(8, true)], [1, 2, 8]);
  assert.is(view.getUint16(12, true), 15);
});

test.run();
