/**
 * `.reqntid`: another block is refused, as CUDA's driver refuses it, also when the metallib alone is there. AIR has no form for it, so that
 * the module has named metadata of our own.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { commandLine } from '../support/command-line.ts';

const test = suite('cli/required-block');

const kernel = (bounds: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) ${bounds}
{
.reg .b64 %rd<3>; .reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, %ntid.y;
st.global.u32 [%rd1], %r1;
ret;
}
`;
const ptx = kernel('.reqntid 16, 4');
const words = (file: string, ...block: string[]) => [
  'run',
  file,
  '--device',
  'cpu',
  '--grid',
  '1',
  ...block,
  '--arg',
  'u32:4',
  '--print',
  '0:1',
];

test('another block is refused, from the PTX and from the metallib', async () => {
  const { written } = await commandLine(['build', 'k.ptx', '-o', 'k.metallib'], { 'k.ptx': ptx });
  for (const [file, content] of [
    ['k.ptx', ptx],
    ['k.metallib', written['k.metallib']!],
  ] as const) {
    for (const block of ['64', '16', '4,16', '16,4,2']) {
      const { code, err } = await commandLine(words(file, '--block', block), { [file]: content });
      assert.is(code, 1);
      assert.match(err, /error\[CM502[01]\]: (kernel `k` requires blocks of 16 x 4 x 1|a block of 128 threads exceeds 64)/);
    }
    const right = await commandLine(words(file, '--block', '16,4'), { [file]: content });
    assert.is(right.code, 0);
    assert.match(right.out, /0 \| 4\n/);
    // A launch without `--block` has the required one.
    assert.match((await commandLine(words(file), { [file]: content })).out, /block 16 x 4 x 1/);
  }
});

test('the API refuses it too, with a required block on other axes', () => {
  const device = Device.open('cpu');
  try {
    const k = device.load(kernel('.reqntid 1, 1, 32')).kernel('k');
    const buffer = device.allocate('u32', 4);
    assert.throws(() => k.launch({ grid: 1, block: 32, args: [buffer] as never }), /requires blocks of 1 x 1 x 32/);
  } finally {
    device.close();
  }
});

test('a limit alone leaves every smaller block', async () => {
  const limited = { 'k.ptx': kernel('.maxntid 64') };
  assert.is((await commandLine(words('k.ptx', '--block', '8,8'), limited)).code, 0);
  assert.is((await commandLine(words('k.ptx', '--block', '128'), limited)).code, 1);
});

test('metadata that is no block is refused', async () => {
  const { written } = await commandLine(['build', 'k.ptx', '--emit', 'air-ll', '-o', 'k.ll'], { 'k.ptx': ptx });
  const text = new TextDecoder().decode(written['k.ll']);
  assert.match(text, /!cumetal\.block = !\{!\d+\}/);
  assert.match(text, /, i32 16, i32 4, i32 1\}/);
  for (const forged of ['i32 0, i32 4, i32 1', 'i32 16, i32 4', 'i32 16, i32 4, i32 4096', 'i32 16, i32 4, i32 1, i32 1']) {
    const { code, err } = await commandLine(['build', 'k.ll', '-o', 'k.metallib'], {
      'k.ll': text.replace('i32 16, i32 4, i32 1', forged),
    });
    assert.is.not(code, 0, forged);
    assert.match(err, /CM4052.*required block/);
  }
  assert.is((await commandLine(['build', 'k.ll', '-o', 'k.metallib'], { 'k.ll': text })).code, 0);
});

test.run();
