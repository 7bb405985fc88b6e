/** A launch that is not specified is never judged in silence; launches of `diff` from the command line; pointers in structs. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';
import { examplesFolder } from '../support/examples.ts';

const test = suite('cli/invented');

const head = '.version 7.0\n.target sm_70\n.address_size 64\n';
/** p[i] = 2 * p[i] for i < n. */
const files = {
  'k.ptx': `${head}.visible .entry twice(.param .u64 p, .param .u32 n) {
  .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .f32 %f<2>; .reg .pred %p;
  ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; shl.b32 %r3, %r3, 8; add.u32 %r2, %r2, %r3; setp.ge.u32 %p, %r2, %r1; @%p bra DONE;
  mul.wide.u32 %d2, %r2, 4; add.s64 %d3, %d1, %d2;
  ld.global.f32 %f1, [%d3]; add.f32 %f1, %f1, %f1; st.global.f32 [%d3], %f1;
DONE: ret;
}
`,
};
const launch = ['--grid', '1', '--block', '32', '--arg', 'f32:32=iota', '--arg', 'u32=32'];

const judging = [
  ['run', 'k.ptx', '--sanitize'],
  ['run', 'k.ptx', '--profile'],
  ['run', 'k.ptx', '--profile=p.json'],
  ['diff', 'k.ptx', '--devices', 'cpu:lane,cpu:simd'],
  ['bench', 'k.ptx', '--repeat', '2'],
];

for (const words of judging)
  test(`cumetal ${words.join(' ')}: an invented launch is named first and last`, async () => {
    const { code, err } = await commandLine(words, files);
    assert.is(code, 0);
    const lines = err.trimEnd().split('\n');
    assert.match(
      lines[0]!,
      /^warning: the launch is invented, .*p: f32:1024=iota, n: u32=1024, grid and block: .*say nothing about a real launch$/,
    );
    assert.match(lines.at(-1)!, /^warning: the \w+ above are those of an invented launch; specify yours with `--grid`/);
    assert.is(lines.filter((line) => line.includes('invented')).length, 2);
    const quiet = await commandLine([...words, '--quiet'], files);
    assert.is(quiet.err.split('\n').filter((line) => line.includes('invented')).length, 2, 'a warning, which --quiet leaves');
    const given = await commandLine([...words, ...launch], files);
    assert.equal([given.code, given.err], [0, '']);
  });

test('a fault of an invented launch is no finding about the kernel', async () => {
  const far = { 'k.ptx': files['k.ptx'].replace('mul.wide.u32 %d2, %r2, 4', 'mul.wide.u32 %d2, %r2, 1073741824') };
  const { code, err } = await commandLine(['run', 'k.ptx'], far);
  assert.is(code, 1);
  assert.match(err, /error\[CM6011\]/);
  assert.match(err.trimEnd().split('\n').at(-1)!, /^warning: the launch above is invented \(p: f32:1024=iota, .*; specify yours/);
  const json = JSON.parse((await commandLine(['run', 'k.ptx', '--json'], far)).out);
  assert.equal([json.status, json.made_up.length], ['error', 3]);
  for (const words of [launch, ['--grid', '1', '--block', '32', '--arg', 'u32=1']])
    assert.not.match((await commandLine(['run', 'k.ptx', ...words], far)).err, 'invented');
});

test('a launch without its grid is invented in part', async () => {
  const { err } = await commandLine(['run', 'k.ptx', '--sanitize', '--arg', 'f32:32', '--arg', 'u32=32'], files);
  assert.match(err, /\(grid and block: to cover 32 elements\)/);
});

test('`diff` takes the launch of the command line', async () => {
  const words = ['diff', 'k.ptx', '--devices', 'cpu:lane,cpu:simd', ...launch, '--kernel', 'twice'];
  const { code, out } = await commandLine(words, files);
  assert.is(code, 0);
  assert.match(out, /^twice: [\s\S]*grid 1 x 1 x 1, block 32 x 1 x 1[\s\S]*0 p: f32\[32\] same/);
  const { launches } = JSON.parse((await commandLine([...words, '--json'], files)).out);
  assert.equal([launches[0].grid, launches[0].made_up], [[1, 1, 1], []]);
});

test('a launch of the command line conflicts with a launch file and with a folder', async () => {
  for (const [words, what] of [
    [['diff', '--launch', 'l.json', '--grid', '4', '--devices', 'cpu:lane,cpu:simd'], /`--grid` conflicts with `--launch`/],
    [['diff', examplesFolder, '--arg', 'f32:4', '--devices', 'cpu:lane,cpu:simd'], /`--arg` conflicts with the folder/],
  ] as const) {
    const { code, err } = await commandLine(words, files);
    assert.is(code, 2);
    assert.match(err, what);
  }
});

/** *s.to = *s.from + s.bias for `struct { float bias; float *from; float *to; }`. */
const pointers = `${head}.visible .entry add(.param .align 8 .b8 s[24]) {
  .reg .b64 %d<3>; .reg .f32 %f<4>;
  ld.param.f32 %f1, [s]; ld.param.u64 %d1, [s+8]; ld.param.u64 %d2, [s+16];
  ld.global.f32 %f2, [%d1]; add.f32 %f3, %f1, %f2; st.global.f32 [%d2], %f3;
  ret;
}
`;
const struct = new Uint8Array(24);
new DataView(struct.buffer).setFloat32(0, 0.5, true);
const structs = { 's.ptx': pointers, 's.bin': struct, 'a+b.bin': struct };
const buffers = ['--arg', 'f32=0.0,7', '--arg', 'f32:2', '--print', '2'];
const add = (spec: string): string[] => ['run', 's.ptx', '--grid', '1', '--block', '1', '--arg', spec, ...buffers];

test('pointers in a struct: the addresses of buffers', async () => {
  for (const file of ['s.bin', 'a+b.bin'])
    for (const more of [[], ['--engine', 'simd', '--repeat', '2'], ['--sanitize']]) {
      const { code, out, err } = await commandLine([...add(`bytes@${file}+8=&1+16=&2`), ...more], structs);
      assert.equal([code, err], [0, '']);
      assert.match(out, /\n2 buffer2: f32\[2\]\n {2}0 \| 0\.5 +0\n/);
    }
});

test('pointers in a struct of a launch file', async () => {
  const file = {
    module: 's.ptx',
    kernel: 'add',
    grid: [1, 1, 1],
    block: [1, 1, 1],
    args: [
      {
        name: 's',
        bytes: 's.bin',
        pointers: [
          { offset: 8, argument: 1 },
          { offset: 16, argument: 2 },
        ],
      },
      { name: 'a', buffer: 'f32', shape: [2], init: 'ones' },
      { name: 'b', buffer: 'f32', shape: [2] },
    ],
  };
  const run = async (json: object) =>
    commandLine(['run', '--launch', 'l.json', '--print', '2'], { ...structs, 'l.json': JSON.stringify(json) });
  const { code, out, err } = await run(file);
  assert.equal([code, err], [0, '']);
  assert.match(out, /\n {2}0 \| 1\.5 +0\n/);
  file.args[0]!.pointers![0]!.offset = -1;
  assert.match((await run(file)).err, /CM5041\].*`args\[0\]\.pointers\[0\]\.offset` must be an integer of at least 0/);
});

test('pointers that cannot be are errors', async () => {
  const fault = async (spec: string): Promise<string> => {
    const { code, err } = await commandLine(add(spec), structs);
    assert.ok(code === 1 || code === 2, `${spec}: ${code}`);
    return err;
  };
  assert.match(
    await fault('bytes@s.bin+17=&1+8=&2'),
    /CM5017\].*argument 0 of `add` cannot have the address of argument 1 at byte 17: the struct has 24 bytes, and a pointer has 8/,
  );
  assert.match(await fault('bytes@s.bin+8=&1+16=&2+0=&3'), /the launch has no such argument/);
  assert.match(await fault('bytes@s.bin+8=&1+16=&2+0=&0'), /argument 0 is a value, not a buffer/);
  assert.match(await fault('bytes@s.bin+8=&1+12=&2'), /it overlaps another pointer/);
  assert.match(await fault('bytes@s.bin+8=&1'), /CM5011\]/);
  assert.match(await fault('bytes@s.bin+eight=&0'), /CM5010\].*`\+OFFSET=&I`/);
});

test('a whole launch is judged in silence', async () => {
  const { err } = await commandLine(['run', join(examplesFolder, 'saxpy.ptx'), '--sanitize']);
  assert.is(err, '');
});

test.run();
