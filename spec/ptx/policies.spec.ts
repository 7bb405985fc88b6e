/** Cache policies are hints: kernels with them leave what the same kernels without them leave. Triton writes them for `eviction_policy`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('ptx/policies');

/** Lines with `POLICY` where a hint is, and `, %rd9` behind the operands. */
const lines = `createpolicy.fractional.L2::evict_first.b64 %rd9, 1.0;
createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %rd9, 0.5;
createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd9, [%rd1], 64, 128;
createpolicy.fractional.L2::evict_normal.b64 %rd9;
ld.globalPOLICY.b32 %r1, [%rd1], %rd9;
ld.global.L1::evict_lastPOLICY.L2::128B.v2.b32 {%r2, %r3}, [%rd1+8], %rd9;
ldPOLICY.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16], %rd9;
ld.global.ncPOLICY.u8 %r4, [%rd1+32], %rd9;
ld.acquire.gpu.globalPOLICY.u32 %r5, [%rd1+36], %rd9;
add.u32 %r1, %r1, %r4;
add.u32 %r1, %r1, %r5;
st.globalPOLICY.b32 [%rd2], %r1, %rd9;
st.global.L1::evict_firstPOLICY.v2.b32 [%rd2+8], {%r3, %r2}, %rd9;
stPOLICY.v4.f32 [%rd2+16], {%f4, %f3, %f2, %f1}, %rd9;
st.release.gpu.globalPOLICY.u16 [%rd2+32], %rs1, %rd9;
atom.global.addPOLICY.u32 %r6, [%rd2], 5, %rd9;
atom.acq_rel.gpu.global.exchPOLICY.b32 %r7, [%rd2+36], %r6, %rd9;
red.global.maxPOLICY.u32 [%rd2+4], 77, %rd9;
redPOLICY.add.f32 [%rd2+40], %f1, %rd9;`.split('\n');

const kernel = (isHinted: boolean): string => {
  const body = lines
    .filter((line) => isHinted || !line.startsWith('createpolicy'))
    .map((line) => line.replace(/^red(POLICY)?\.add/, 'red.add$1').replace('POLICY', isHinted ? '.L2::cache_hint' : ''))
    .map((line) => (isHinted ? line : line.replace(', %rd9;', ';')));
  return `.version 8.4
.target sm_80
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to) {
.reg .b64 %rd<10>; .reg .b32 %r<10>; .reg .f32 %f<6>; .reg .b16 %rs<3>;
ld.param.u64 %rd1, [from];
ld.param.u64 %rd2, [to];
mov.b16 %rs1, 0x1234;
${body.join('\n')}
ret;
}
`;
};

async function outputOf(device: Device, text: string): Promise<readonly number[]> {
  const from = device.bufferOf('u32', [7, 1, 2, 3, 0x3f800000, 0x40000000, 0x40400000, 0x40800000, 0x1ff, 11]);
  const to = device.allocate('u32', 12);
  to.write(new Uint32Array(12).fill(3));
  const k = (await device.load(text)).kernel('k');
  await k.launch({ grid: 1, block: 1, args: [from, to] as never });
  return [...(await to.read())];
}

test('a kernel with hints leaves what one without leaves', async () => {
  const device = Device.open('cpu');
  try {
    const plain = await outputOf(device, kernel(false));
    // 7 + 0xff + 11, then 5 more; the swapped pair; the reversed four.
    assert.equal(plain.slice(0, 9), [278, 77, 3, 2, 0x40800000, 0x40400000, 0x40000000, 0x3f800000, 0x1234]);
    assert.equal(await outputOf(device, kernel(true)), plain);
  } finally {
    device.close();
  }
});

need(test, ['ptxas'], 'ptxas takes the forms', async () =>
  assert.equal(await ptxasTakes([kernel(true), kernel(false)], 'sm_80'), [true, true]),
);

test.run();
