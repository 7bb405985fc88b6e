/** `%r + 1` as a value, which ptxas takes and some compilers write; the results are those of an NVIDIA H200 for the same PTX. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('ptx/register-sums');

const kernel = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b64 %rd<12>; .reg .b32 %r<20>; .reg .pred %p<3>; .reg .b16 %rs<6>; .reg .f32 %f<3>;
ld.param.u64 %rd1, [p];
cvta.to.global.u64 %rd1, %rd1;
ld.global.u32 %r1, [%rd1];
ld.global.u32 %r2, [%rd1+4];
ld.global.u64 %rd2, [%rd1+8];
ld.global.u16 %rs1, [%rd1+16];
${body}
ret;
}
`;
const sums = kernel(`add.u32 %r3, %r1+1, 2;
st.global.u32 [%rd1+32], %r3;
mul.lo.s32 %r4, %r1+4, %r2+-5;
st.global.u32 [%rd1+36], %r4;
mov.b64 %rd3, %rd2+8;
st.global.u64 [%rd1+40], %rd3;
mov.b16 %rs2, %rs1+3;
st.global.u16 [%rd1+48], %rs2;
setp.lt.u32 %p1, %r1+1, 2;
selp.u32 %r5, 7, 9, %p1;
st.global.u32 [%rd1+52], %r5;
st.global.u32 [%rd1+56], %r2+(1+2);
cvt.u64.u32 %rd4, %r1+1;
st.global.u64 [%rd1+64], %rd4;
shr.s64 %rd5, %rd2+-1, %r2+1;
st.global.u64 [%rd1+72], %rd5;
st.global.u8 [%rd1+80], %rs1+255;
cvt.s32.s16 %r6, %rs1+1;
st.global.u32 [%rd1+84], %r6;
mul.wide.u16 %r7, %rs1+1, %rs1+65535;
st.global.u32 [%rd1+88], %r7;`);

/** The first 18 bytes before the launch, and bytes 32 to 96 behind it. */
const recorded: readonly (readonly [string, string])[] = [
  [
    'ffffffff03000000fcffffffffffff7fffff',
    '02000000faffffff0400000000000080020000000700000006000000000000000000000000000000ffffffffffffff07fe000000000000000000000000000000',
  ],
  [
    '00000000070000000500000000000000ff7f',
    '03000000080000000d0000000000000002800000070000000a0000000000000001000000000000000000000000000000fe0000000080ffff0000ff3f00000000',
  ],
  [
    '640000001f000000f9ffffffffffffff0200',
    '67000000900a00000100000000000000050000000900000022000000000000006500000000000000ffffffffffffffff01000000030000000300000000000000',
  ],
];

test('the sum is modulo the width of the register', async () => {
  const device = Device.open('cpu');
  try {
    const k = device.load(sums).kernel('k');
    for (const [before, after] of recorded) {
      const bytes = new Uint8Array(96);
      bytes.set(Buffer.from(before, 'hex'));
      const buffer = device.bufferOf('u8', [...bytes]);
      await k.launch({ grid: 1, block: 1, args: [buffer] as never });
      assert.is(
        Buffer.from(await buffer.read())
          .subarray(32)
          .toString('hex'),
        after,
      );
    }
  } finally {
    device.close();
  }
});

test('a float register, and a type that does not fit, are refused', () => {
  const said = (line: string): string[] => {
    const diagnostics = new Diagnostics();
    compile(new SourceFile('k.ptx', kernel(line)), { target: 'cpu' }, diagnostics);
    return diagnostics.list.map(({ code }) => code);
  };
  assert.equal(said('add.f32 %f1, %f2+1, %f2;'), ['CM2049']);
  assert.equal(said('mov.b32 %r1, %f2+1;'), ['CM2049']);
  assert.equal(said('add.u32 %r1, %rd2+1, 1;').length, 1);
  assert.equal(said('add.u32 %r1, %r2+%r3, 1;').length, 1);
});

need(test, ['ptxas'], 'ptxas takes them', async () => assert.equal(await ptxasTakes([sums], 'sm_80'), [true]));

test.run();
