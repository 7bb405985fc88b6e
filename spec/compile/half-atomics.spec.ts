/** Atomics of 16 bits within a word: threads that share it lose nothing of one another, and the other half stays. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/half-atomics');

/** What 96 threads leave in four words. `mine` is 2 for odd threads and 0 for others. */
function run(body: string, before: readonly number[]): number[] {
  const text = `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .b64 p, mine, q; .reg .b32 t, v; .reg .b16 h, x, y; .reg .pred z; .shared .align 4 .b8 s[4];
  ld.param.u64 p, [out]; mov.u32 t, %tid.x; and.b32 v, t, 1; mul.wide.u32 mine, v, 2; setp.ne.u32 z, t, 0;
  ${body}
  ret;
}
`;
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const compiled = compile(diagnostics.file!, {}, diagnostics);
  assert.equal(diagnostics.list, []);
  const [after] = launchMetallib(compiled!.metallib, { kernel: 'k', blocks: 1, threads: 96, args: [Uint32Array.from(before)] });
  return [...new Uint32Array(after!.slice().buffer)].map((word) => word >>> 0);
}

const poison = 0xa5a5_a5a5;

test('halves beside one another are added to by half of the threads each', () => {
  // 48 ones: 48 is 0x5200 as a half and 0x4240 as a bfloat.
  const words = run(
    `add.u64 q, p, mine; mov.b16 x, 0x3c00; red.global.add.noftz.f16 [q], x;
     mov.b16 x, 0x3f80; atom.global.add.noftz.bf16 h, [q+4], x;`,
    [0, 0, poison, poison],
  );
  assert.equal(words, [0x5200_5200, 0x4240_4240, poison, poison]);
});

test('of the threads that want to put something where there is nothing, one does', () => {
  const words = run(
    `mov.b16 x, 0; mov.b16 y, 0x1234; atom.global.cas.b16 h, [p+2], x, y;
     setp.ne.u16 z, h, 0; @z bra END; red.global.add.u32 [p+4], 1; END:`,
    [0x0000_beef, 0, poison, poison],
  );
  assert.equal(words, [0x1234_beef, 1, poison, poison]);
});

test('pairs in shared memory', () => {
  const words = run(
    `@!z st.shared.u32 [s], 0; bar.sync 0; mov.b32 v, 0x40003c00; red.shared.add.noftz.f16x2 [s], v; bar.sync 0;
     ld.shared.u32 v, [s]; st.global.u32 [p+8], v;`,
    [poison, poison, 0, poison],
  );
  // 96 times 2 is 192, 96 times 1 is 96.
  assert.equal(words, [poison, poison, 0x5a00_5600, poison]);
});

test.run();
