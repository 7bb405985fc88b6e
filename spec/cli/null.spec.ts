/** Null for a pointer, on the command line, in a launch file and in the API: kernels compare it and pass it on, and must not follow it. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/index.ts';
import { cli } from '../support/cli.ts';

const test = suite('cli/null');

/** out[0] = address of scratch, or -1 if it is null; out[1] = *scratch where `follow` is not 0. */
const ptx = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 .ptr .global out, .param .u64 .ptr .global scratch, .param .u32 follow, .param .u64 .ptr .global unused)
{
  .reg .pred p; .reg .b32 a, f; .reg .b64 o, s, v;
  ld.param.u64 o, [out]; ld.param.u64 s, [scratch]; ld.param.u32 f, [follow];
  setp.eq.u64 p, s, 0; selp.b64 v, -1, s, p; st.global.u64 [o], v;
  setp.eq.u32 p, f, 0; @p ret;
  ld.global.u32 a, [s]; st.global.u32 [o+8], a;
  ret;
}
`;
const launch = ['--grid', '1', '--block', '1', '--device', 'cpu', '--json', '--print', '0'];
const withArgs = (...args: string[]) => cli(['run', 'k.ptx', ...launch, ...args.flatMap((arg) => ['--arg', arg])], { 'k.ptx': ptx });

test('`--arg null` is address 0', async () => {
  const { code, out, err } = await withArgs('u64:2', 'null', 'u32=0', 'null');
  assert.is(code, 0, err);
  assert.equal(JSON.parse(out).outputs[0].data, ['18446744073709551615', 0]);
});

test('so is `{ "null": true }` in a launch file, with a name or without', async () => {
  const args = [
    { name: 'out', buffer: 'u64', shape: [2] },
    { name: 'scratch', null: true },
    { name: 'follow', type: 'u32', value: 0 },
    { null: true },
  ];
  const file = (json: unknown) => JSON.stringify({ module: 'k.ptx', kernel: 'k', grid: [1, 1, 1], block: [1, 1, 1], args: json });
  const run = (json: unknown) =>
    cli(['run', '--launch', 'k.launch.json', '--device', 'cpu', '--json', '--print', '0'], { 'k.ptx': ptx, 'k.launch.json': file(json) });
  const { code, out, err } = await run(args);
  assert.is(code, 0, err);
  assert.equal(JSON.parse(out).outputs[0].data, ['18446744073709551615', 0]);
  const wrong = await run([...args.slice(0, 3), { null: false }]);
  assert.is(wrong.code, 1);
  assert.match(wrong.out + wrong.err, /must be true, found/);
});

test('a pointer that is not used is declared as an integer, and takes a buffer, null and an integer', async () => {
  const plain = `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 unused, .param .u64 n, .param .u32 small, .param .f64 d, .param .align 8 .b8 s[8])
{
  .reg .b64 o, v;
  ld.param.u64 o, [out]; ld.param.u64 v, [n]; st.global.u64 [o], v;
  ret;
}
`;
  const run = (...args: string[]) => cli(['run', 'k.ptx', ...launch, ...args.flatMap((arg) => ['--arg', arg])], { 'k.ptx': plain });
  for (const unused of ['f32:4', 'null', 'u64=5']) {
    const { code, out, err } = await run('u64:1', unused, 'u64=7', 'u32=0', 'f64=0', 'u64=0');
    assert.is(code, 0, err);
    assert.equal(JSON.parse(out).outputs[0].data, [7]);
  }
  const device = Device.open('cpu');
  try {
    const out = device.bufferOf('u64', [0n]);
    const kernel = device.load(plain).kernel('k');
    for (const unused of [null, out, 5n]) kernel.launch({ grid: 1, block: 1, args: [out, unused, 7n, 0, 0, new Uint8Array(8)] });
    assert.equal(await out.read(), new BigUint64Array([7n]));
    assert.throws(() => kernel.launch({ grid: 1, block: 1, args: [out, null, null, 0, 0, new Uint8Array(8)] }), /CM5070/);
  } finally {
    device.close();
  }
  for (const args of [
    ['u64:1', 'null', 'u64=7', 'u32=0', 'f32:1', 'u64=0'],
    ['u64:1', 'null', 'u64=7', 'u32=0', 'f64=0', 'f32:1'],
    ['u64:1', 'null', 'u64:1', 'u32=0'],
    ['u64:1', 'null', 'null', 'u32=0'],
    ['u64:1', 'null', 'u64=7', 'null'],
    ['u64:1', 'null', 'u64=7', 'f32:1'],
    ['u64:1', 'u32=5', 'u64=7', 'u32=0'],
  ]) {
    const { code, out } = await run(...args, ...['f64=0', 'u64=0'].slice(args.length - 4));
    assert.is(code, 1, args.join(' '));
    assert.match(out, /CM501[23]/);
  }
});

test('a kernel that follows it is stopped', async () => {
  for (const more of [[], ['--engine', 'lane'], ['--sanitize']]) {
    const { code, out } = await cli(
      ['run', 'k.ptx', ...launch, ...['u64:2', 'null', 'u32=1', 'null'].flatMap((arg) => ['--arg', arg]), ...more],
      { 'k.ptx': ptx },
    );
    assert.is(code, 1, more.join(' '));
    assert.match(out, /CM6011|CM6104/);
  }
});

test('a value cannot be null', async () => {
  const { code, out } = await withArgs('u64:2', 'null', 'null', 'null');
  assert.is(code, 1);
  assert.match(out, /CM5012/);
});

test('the API takes null', async () => {
  using device = Device.open('cpu');
  const kernel = device.load(ptx).kernel('k', ['u64*', 'u32*', 'u32', 'u32*']);
  const out = device.bufferOf('u64', [1n, 2n]);
  kernel.launch({ grid: 1, block: 1, args: [out, null, 0, null] });
  assert.equal([...(await out.read())], [2n ** 64n - 1n, 2n]);
});

test.run();
