/** `--lanes`: threads of a warp that go together. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cli } from '../support/cli.ts';

const test = suite('cli/lanes');

/** Each thread reads what another one of its warp has written to shared memory, without a barrier: right only in lockstep. */
const reversed = `.version 8.0
.target sm_80
.address_size 64
.visible .entry reversed(.param .u64 out) {
  .reg .b32 %r<6>; .reg .b64 %d<3>; .shared .align 4 .b8 s[256];
  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  xor.b32 %r5, %r2, 124; add.u32 %r5, %r3, %r5; ld.shared.u32 %r5, [%r5];
  ld.param.u64 %d1, [out]; mul.wide.u32 %d2, %r1, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r5; ret;
}
`;

const run = (...more: string[]) =>
  cli(['run', 'k.ptx', '--device', 'cpu', '--block', '64', '--arg', 'u32:64', '--json', '--print', '0', ...more], { 'k.ptx': reversed });

test('with 32, the threads of a warp go in lockstep', async () => {
  const { code, out, err } = await run('--lanes', '32');
  assert.is(code, 0, err);
  const data = JSON.parse(out).outputs[0].data;
  assert.equal(
    data,
    Array.from({ length: 64 }, (_, i) => i ^ 31),
  );
});

test('with 4, the first threads are ahead of the last', async () => {
  const { code, out, err } = await run('--lanes', '4');
  assert.is(code, 0, err);
  const data: number[] = JSON.parse(out).outputs[0].data;
  assert.equal(data.slice(16, 32), [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  assert.is.not(data[0], 31);
});

test('other numbers are refused', async () => {
  const { code, err } = await run('--lanes', '64');
  assert.is(code, 2);
  assert.match(err, /invalid value `64` for `--lanes`/);
});

test.run();
