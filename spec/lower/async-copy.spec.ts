/**
 * Copies into shared memory through the whole road: as many bytes are read as `taken` says and the rest is 0 (PTX ISA 9.0,
 * 9.7.9.25.3.1); none are read where it is 0, wherever the address points.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('lower/async-copy');

/** Each thread copies into its 16 bytes of shared memory, which held ones, and stores these; `count` is the thread's own number. */
const kernelOf = (copy: string, from: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred odd;
  .reg .b32 t, at, count, bit, x<4>;
  .reg .b64 source, place, offset;
  .shared .align 16 .b8 tile[512];
  mov.u32 t, %tid.x;
  mov.u32 count, t;
  and.b32 bit, t, 1;
  setp.ne.u32 odd, bit, 0;
  mul.wide.u32 offset, t, 16;
  ld.param.u64 source, [in];
  add.s64 source, source, offset;
  ${from}
  ld.param.u64 place, [out];
  add.s64 place, place, offset;
  mov.u32 at, tile;
  mad.lo.u32 at, t, 16, at;
  mov.b32 x0, -1;
  st.shared.v4.b32 [at], {x0, x0, x0, x0};
  ${copy}
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.v4.b32 {x0, x1, x2, x3}, [at];
  st.global.v4.b32 [place], {x0, x1, x2, x3};
  ret;
}
`;

const threads = 20;
const input = Uint8Array.from({ length: 16 * threads }, (_, i) => 1 + (i % 250));

function run(copy: string, from = ''): Uint8Array {
  const source = new SourceFile('k.ptx', kernelOf(copy, from));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, {}, diagnostics);
  assert.ok(compiled, diagnostics.list.map((d) => d.message).join('; '));
  const poison = new Uint8Array(16 * threads).fill(0xa5);
  return launchMetallib(compiled.metallib, { kernel: 'k', blocks: 1, threads, args: [input, poison] })[1]!;
}

/** What stands in shared memory: the first bytes copied, then zeros, then what is beyond the copy. */
const expected = (size: number, taken: (thread: number) => number): Uint8Array =>
  Uint8Array.from({ length: 16 * threads }, (_, i) => (i % 16 < taken(Math.floor(i / 16)) ? input[i]! : i % 16 < size ? 0 : 0xff));

for (const size of [4, 8, 16])
  test(`copies of ${size} bytes: all, a constant part, a part that is known at run time`, () => {
    assert.equal(
      run(`cp.async.ca.shared.global [at], [source], ${size};`),
      expected(size, () => size),
    );
    assert.equal(
      run(`cp.async.ca.shared.global.L2::128B [at], [source], ${size}, ${size};`),
      expected(size, () => size),
    );
    assert.equal(
      run(`cp.async.ca.shared.global [at], [source], ${size}, 3;`),
      expected(size, () => 3),
    );
    assert.equal(
      run(`cp.async.ca.shared.global [at], [source], ${size}, count;`),
      expected(size, (thread) => Math.min(thread, size)),
    );
  });

test('a copy of nothing reads nothing', () => {
  // An address that no buffer has: 1 TiB further on.
  const wild = ['add.s64 source, source, 0x10000000000;', 'cp.async.cg.shared.global [at], [source], 16, count;'] as const;
  assert.equal(
    run(`mov.u32 count, 0; ${wild[1]}`, wild[0]),
    expected(16, () => 0),
  );
  assert.throws(() => run(wild[1], wild[0]));
});

test('a guarded copy is done by the threads whose guard holds', () => {
  const got = run('@odd cp.async.cg.shared.global [at], [source], 16;');
  assert.equal(
    got,
    Uint8Array.from({ length: 16 * threads }, (_, i) => (Math.floor(i / 16) % 2 === 1 ? input[i]! : 0xff)),
  );
});

test.run();
