/** Member masks of collectives, for targets whose collectives have none: where lanes may have diverged, the kernel checks them. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type Dim3, product } from '../../src/base/dim3.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('compile/masks');

/** A shuffle without a mask, after which threads cannot meet in a loop. */
const unmasked = 'shfl.idx.b32 r, r, 3, 31;';

/** Threads for which `test` sets `q` shuffle under a mask of all lanes; then all meet, and do what `behind` says. */
const kernel = (test: string, required = '', behind = unmasked): string => `.version 6.3
.target sm_60
.address_size 64
.visible .entry k(.param .u64 out)${required}
{
  .reg .pred q; .reg .b32 x, y, r; .reg .b64 p, o;
  ld.param.u64 p, [out];
  mov.u32 x, %tid.x; mov.u32 y, %tid.y; mul.wide.u32 o, x, 4; add.u64 p, p, o;
  mov.u32 r, 7;
  ${test}
  @!q bra done;
  @q shfl.sync.idx.b32 r, x, 3, 31, -1;
done:
  bar.warp.sync -1;
  ${behind}
  st.global.u32 [p], r;
  ret;
}
`;

function compiled(text: string) {
  const file = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(file);
  const output = compile(file, { target: 'macos14' }, diagnostics);
  assert.ok(output, diagnostics.list.map(({ message }) => message).join('; '));
  const { checkedMasks } = output.reflection.kernels[0]!;
  return { metallib: output.metallib, checks: [checkedMasks, ...diagnostics.list.map(({ code }) => code)] };
}

test('lanes of rows of 32, or of blocks of one row, are together; those of other rows are checked, and a warning says where any may part', () => {
  const checks = (line: string, required = ''): unknown[] => compiled(kernel(line, required)).checks;
  const ofRow = 'setp.lt.u32 q, y, 2;';
  assert.equal(checks(ofRow, ' .reqntid 64, 4, 1'), [undefined]);
  assert.equal(checks(ofRow, ' .reqntid 33, 4, 1'), ['shape']);
  assert.equal(checks(ofRow, ' .reqntid 1, 4, 1'), ['shape']);
  assert.equal(checks(ofRow), ['shape']);
  const ofColumn = 'setp.lt.u32 q, x, 64;';
  assert.equal(checks(ofColumn, ' .reqntid 100, 1, 1'), [undefined]);
  assert.equal(checks(ofColumn, ' .reqntid 100, 1, 2'), ['shape']);
  assert.equal(checks(ofColumn, ' .reqntid 100, 2, 1'), ['shape']);
  for (const required of ['', ' .reqntid 64, 4, 1', ' .reqntid 100, 2, 1'])
    assert.equal(checks('setp.lt.u32 q, x, 16;', required), ['divergent', 'CM2099']);
  assert.equal(compiled(kernel('setp.lt.u32 q, x, 16;', '', '')).checks, ['loop']);
});

test('a mask that names lanes which are elsewhere stops the kernel, by opcode and line', () => {
  const run = (line: string, threads: number | Dim3): number[] => {
    const count = typeof threads === 'number' ? threads : product(threads);
    const [out] = launchMetallib(compiled(kernel(line)).metallib, { kernel: 'k', blocks: 1, threads, args: [new Uint32Array(count)] });
    return [...new Uint32Array(out!.slice().buffer)];
  };
  const elsewhere = /the mask of `shfl\.sync\.idx\.b32` names lanes that do not execute it together \(k\.ptx:12\)/;
  assert.throws(() => run('setp.lt.u32 q, x, 16;', 32), elsewhere);
  // Lane 0 alone, and those of the last row of three.
  assert.throws(() => run('setp.ge.u32 q, x, 1;', 32), elsewhere);
  assert.throws(() => run('setp.lt.u32 q, y, 2;', [5, 3, 1]), elsewhere);
  assert.equal(
    run('setp.lt.u32 q, x, 64;', 64),
    Array.from({ length: 64 }, (_, thread) => (thread < 32 ? 3 : 35)),
  );
  // Lanes that the block does not have are not missing.
  assert.equal(run('setp.lt.u32 q, x, 64;', 5), [3, 3, 3, 3, 3]);
  assert.equal(
    run('setp.lt.u32 q, x, 64;', 40),
    Array.from({ length: 40 }, (_, thread) => (thread < 32 ? 3 : 35)),
  );
});

/** Lanes below 16, and those from 16 to 23, take a mask and a lane of their own to a collective in one block. */
const joining = (collective: string): string => `.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred q, p; .reg .b32 x, r, m, lane; .reg .b64 b, o;
  ld.param.u64 b, [out];
  mov.u32 x, %tid.x; mul.wide.u32 o, x, 4; add.u64 b, b, o;
  mov.u32 r, 7; setp.lt.u32 q, x, 24;
  @!q bra done;
  setp.lt.u32 p, x, 16;
  @p bra lower;
  activemask.b32 m; mov.u32 lane, 17;
  bra join;
lower:
  activemask.b32 m; mov.u32 lane, 4;
join:
  ${collective}
done:
  st.global.u32 [b], r;
  ret;
}
`;

test('ways that join bring a mask each, and every lane has the result of its own', () => {
  const run = (collective: string): unknown[] => {
    const { metallib, checks } = compiled(joining(collective));
    const [out] = launchMetallib(metallib, { kernel: 'k', blocks: 1, threads: 32, args: [new Uint32Array(32)] });
    return [...checks, ...new Uint32Array(out!.slice().buffer)];
  };
  const by = (lower: number, upper: number): unknown[] => [
    undefined,
    ...Array.from({ length: 32 }, (_, lane) => (lane < 16 ? lower : lane < 24 ? upper : 7)),
  ];
  assert.equal(run('vote.sync.ballot.b32 r, q, m;'), by(0xffff, 0xff0000));
  // 0 + 1 + … + 15, and 16 + … + 23.
  assert.equal(run('redux.sync.add.s32 r, x, m;'), by(120, 156));
  assert.equal(run('shfl.sync.idx.b32 r, x, lane, 31, m;'), by(4, 17));
});

test.run();
