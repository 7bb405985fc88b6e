/** Barriers whose number is an argument of a function, as debug builds write `__syncthreads()`: known when the call is in place. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/barriers');

const text = (argument: string): string => `.version 9.0
.target sm_80
.address_size 64
.func meet(.param .b32 number)
{
  .reg .b32 r;
  ld.param.u32 r, [number];
  barrier.sync r;
  ret;
}
.visible .entry k(.param .u64 out)
{
  .reg .b64 p, at; .reg .b32 t, v, a; .shared .b32 cells[64];
  ld.param.u64 p, [out]; mov.u32 t, %tid.x; shl.b32 a, t, 2; mov.u32 v, cells; add.u32 a, a, v;
  st.shared.u32 [a], t;
  ${argument}
  { .param .b32 n; st.param.b32 [n], v; call meet, (n); }
  xor.b32 t, t, 63; shl.b32 a, t, 2; mov.u32 v, cells; add.u32 a, a, v; ld.shared.u32 v, [a];
  mov.u32 t, %tid.x; mul.wide.u32 at, t, 4; add.u64 p, p, at; st.global.u32 [p], v;
  ret;
}
`;

test('number 0 is the barrier of the block', () => {
  const { metallib } = compile(new SourceFile('k.ptx', text('mov.b32 v, 5; sub.u32 v, v, 5;')), {}, new Diagnostics())!;
  const [after] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 64, args: [new Uint32Array(64).fill(0xa5a5_a5a5)] });
  assert.equal(
    [...new Uint32Array(after!.slice().buffer)],
    Array.from({ length: 64 }, (_, i) => i ^ 63),
  );
});

for (const argument of ['mov.b32 v, 1;', 'mov.u32 v, %laneid;'])
  test(`refused where it is not known to be 0: ${argument}`, () => {
    const diagnostics = new Diagnostics(new SourceFile('k.ptx', text(argument)));
    assert.is(compile(diagnostics.file!, {}, diagnostics), undefined);
    assert.equal(
      diagnostics.list.map(({ code, message }) => `${code} ${message}`),
      ['CM2049 operand `r` is not supported here: only barrier 0 is there'],
    );
    assert.is(diagnostics.file!.position(diagnostics.list[0]!.labels[0]!.span.start).line, 8);
  });

test.run();
