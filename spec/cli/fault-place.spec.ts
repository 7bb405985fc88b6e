/** A launch that accesses memory outside of every buffer: the report names the instruction. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';

const test = suite('cli/fault-place');

/** Thread 5 of block 2 stores far behind the end of the buffer; line 12 of the text, line 7 of its source. */
const far = `.version 7.0
.target sm_70
.address_size 64
.file 1 "far.cu"
.visible .entry _Z3farPf(.param .u64 p) {
  .reg .b64 %d<4>; .reg .b32 %r<5>; .reg .pred %p;
  ld.param.u64 %d1, [p];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.s32 %r3, %r2, 100, %r1;
  setp.eq.s32 %p, %r3, 205; selp.b32 %r4, 1000000000, 0, %p;
  mul.wide.s32 %d2, %r4, 4; add.s64 %d3, %d1, %d2;
  .loc 1 7 3
  st.global.u32 [%d3], %r3;
  ret;
}
`;

for (const engine of ['auto', 'lane'])
  test(`line, buffer and offset, and the way to more (--engine ${engine})`, async () => {
    const { code, err } = await commandLine(['run', 'far.ptx', '--grid', '4', '--block', '64', '--arg', 'f32:1024', '--engine', engine], {
      'far.ptx': far,
    });
    assert.is(code, 1);
    assert.match(err, /^error\[CM6011\]: kernel `far\(float\*\)` accessed an address outside of device memory, in block \(2, 0, 0\)/);
    assert.match(err, / far\.ptx:12:3\n/);
    assert.match(err, /\^+ writes 4 bytes at 0x[0-9a-f]+, 3999995904 bytes behind the end of `p` \(argument 0, 4096 bytes\)\n/);
    assert.match(err, /= note: by thread \(5, 0, 0\) of block \(2, 0, 0\)/);
    assert.match(err, /= note: source: far\.cu:7\n/);
    assert.match(err, /= help: `--sanitize=memory` reports every such access/);
  });

test('a metallib without lines names the instruction', async () => {
  const { written } = await commandLine(['build', 'far.ptx', '-o', 'far.metallib'], { 'far.ptx': far });
  const { err } = await commandLine(['run', 'far.metallib', '--grid', '4', '--block', '64', '--arg', 'f32:1024'], {
    'far.metallib': written['far.metallib']!,
  });
  assert.match(err, /CM6011/);
  assert.match(err, /= note: writes 4 bytes at 0x/);
  assert.match(err, /= note: at instruction \d+ of the kernel, `store \w+`/);
});

test('the instruction is that of the faulting thread, not an earlier one near a buffer', async () => {
  // Thread 3 of block 0 stores behind the end of the buffer, which is no fault of the device.
  const two = far
    .replace('  .loc 1 7 3\n', '  setp.eq.s32 %p, %r3, 3;\n  @%p st.global.u32 [%d1+4096], %r3;\n')
    .replace('.reg .b64 %d<4>;', '.reg .b64 %d<5>;');
  const { err } = await commandLine(['run', 'two.ptx', '--grid', '4', '--block', '64', '--arg', 'f32:1024'], { 'two.ptx': two });
  assert.match(err, /CM6011[\s\S]* two\.ptx:13:3\n/);
});

test('a kernel that stops itself is shown at its line, of the PTX or of its source', async () => {
  const trap = far.replace('st.global.u32 [%d3], %r3;', 'st.global.u32 [%d1], %r3;\n  trap;');
  const { err } = await commandLine(['run', 'trap.ptx', '--grid', '1', '--block', '1', '--arg', 'f32:4'], { 'trap.ptx': trap });
  assert.match(err, /CM6014\]: .* \(trap\.ptx:13\)\n +--> trap\.ptx:13:3\n +\|\n13 \| {3}trap;\n +\| {3}\^{5}\n/);
  // The text of another file is not known.
  const { written } = await commandLine(['build', 'trap.ptx', '-o', 'trap.metallib'], { 'trap.ptx': trap });
  const built = await commandLine(['run', 'trap.metallib', '--grid', '1', '--block', '1', '--arg', 'f32:4'], written);
  assert.match(built.err, /CM6014\]: .* \(trap\.ptx:13\)\n/);
  assert.not.match(built.err, '-->');
});

test('`diff` names it as well', async () => {
  const words = ['diff', 'far.ptx', '--grid', '4', '--block', '64', '--arg', 'f32:1024', '--devices', 'cpu:lane,cpu:simd'];
  const { code, err } = await commandLine(words, { 'far.ptx': far });
  assert.is(code, 1);
  assert.match(err, /CM6011[\s\S]* far\.ptx:12:3\n/);
});

test('a misaligned access, near a buffer', async () => {
  const odd = far.replace('1000000000, 0', '1, 0').replace(', 4; add', ', 2; add');
  const { code, err } = await commandLine(['run', 'odd.ptx', '--grid', '4', '--block', '64', '--arg', 'f32:1024'], { 'odd.ptx': odd });
  assert.is(code, 1);
  assert.match(err, /CM6019[\s\S]* odd\.ptx:12:3\n[\s\S]*not a multiple of 4: byte 2 of `p` \(argument 0, 4096 bytes\)/);
});

test.run();
