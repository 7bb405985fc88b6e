/** Masks of lanes, through the whole road, against the words of the manual (PTX ISA 9.0, 10.11 to 10.15): a bit for each lane that is meant. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('lower/sregs');

const kernelOf = (sreg: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b32 t, m;
  .reg .b64 place, offset;
  mov.u32 t, %tid.x;
  mul.wide.u32 offset, t, 4;
  ld.param.u64 place, [out];
  add.s64 place, place, offset;
  mov.u32 m, ${sreg};
  st.global.u32 [place], m;
  ret;
}
`;

/** Whether a lane is in the mask of another. */
const masks: Readonly<Record<string, (lane: number, own: number) => boolean>> = {
  '%lanemask_eq': (lane, own) => lane === own,
  '%lanemask_lt': (lane, own) => lane < own,
  '%lanemask_le': (lane, own) => lane <= own,
  '%lanemask_gt': (lane, own) => lane > own,
  '%lanemask_ge': (lane, own) => lane >= own,
};

const lanes = Array.from({ length: 32 }, (_, lane) => lane);

for (const [sreg, holds] of Object.entries(masks))
  test(sreg, () => {
    const source = new SourceFile('k.ptx', kernelOf(sreg));
    const diagnostics = new Diagnostics(source);
    const compiled = compile(source, {}, diagnostics);
    assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
    const poison = new Uint32Array(64).fill(0xa5a5_a5a5);
    const [after] = launchMetallib(compiled.metallib, { kernel: 'k', blocks: 1, threads: 64, args: [poison] });
    const bits = [...new Uint32Array(after!.slice().buffer)].map((word) => word.toString(2).padStart(32, '0'));
    const expected = [...lanes, ...lanes].map((own) =>
      lanes
        .map((lane) => (holds(lane, own) ? '1' : '0'))
        .reverse()
        .join(''),
    );
    assert.equal(bits, expected);
  });

test('the memory of system software is shared by the block, and apart from what the source declares', () => {
  const text = `.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 o)
{
  .reg .b64 p, x; .reg .b32 r, s, t; .reg .pred z; .shared .b32 own[4];
  ld.param.u64 p, [o]; mov.u32 t, %tid.x; setp.ne.u32 z, t, 0;
  mov.u32 r, %reserved_smem_offset_1; cvt.u64.u32 x, r; cvta.shared.u64 x, x;
  @!z st.u32 [x+12], -1; @!z st.shared.u32 [own], 9;
  bar.sync 0;
  shl.b32 r, 1, t; not.b32 r, r; red.relaxed.cta.and.b32 [x+12], r;
  bar.sync 0;
  ld.u32 s, [x+12]; st.global.u32 [p], s; ld.shared.u32 s, [own]; st.global.u32 [p+4], s;
  ret;
}
`;
  const compiled = compile(new SourceFile('k.ptx', text), {}, new Diagnostics());
  const [after] = launchMetallib(compiled!.metallib, { kernel: 'k', blocks: 1, threads: 5, args: [new Uint32Array(2).fill(0xa5a5_a5a5)] });
  assert.equal([...new Uint32Array(after!.slice().buffer)], [0xffff_ffe0, 9]);
});

test('the address of that memory goes through local memory, in a kernel without shared variables', () => {
  // Debug builds of cooperative groups keep it in an object beside the numbers of the group.
  const text = `.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 o)
{
  .reg .b64 p, x, y, a; .reg .b32 r, t; .reg .pred z; .local .align 8 .b8 group[16];
  ld.param.u64 p, [o]; mov.u32 t, %tid.x; setp.ne.u32 z, t, 0;
  mov.b64 a, group; cvta.local.u64 a, a;
  mov.u32 r, %reserved_smem_offset_1; cvt.u64.u32 x, r; cvta.shared.u64 x, x;
  st.u64 [a+8], x; st.u32 [a], t;
  ld.u64 y, [a+8];
  @!z st.u32 [y+4], 77;
  bar.sync 0;
  ld.u32 r, [y+4]; ld.u32 t, [a]; add.u32 r, r, t;
  mul.wide.u32 x, t, 4; add.u64 p, p, x; st.global.u32 [p], r;
  ret;
}
`;
  const diagnostics = new Diagnostics();
  const compiled = compile(new SourceFile('k.ptx', text), {}, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  const [after] = launchMetallib(compiled.metallib, { kernel: 'k', blocks: 1, threads: 5, args: [new Uint32Array(5)] });
  assert.equal([...new Uint32Array(after!.slice().buffer)], [77, 78, 79, 80, 81]);
});

test.run();
