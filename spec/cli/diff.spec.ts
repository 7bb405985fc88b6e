/** `cumetal diff` and `run --record`: what is compared with what, what is told of a mismatch, folders, exit codes. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readNpy } from '../../src/runtime/index.ts';
import { type Ran, cli as run } from '../support/cli.ts';

const test = suite('cli/diff');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const cli = (...words: string[]): Promise<Ran> => run(words);

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/**
 * out[i] = x * x + x with x = i / 10 in singles, rounded once: strips that may round twice (`fast`) give the last bit otherwise for
 * some. The store is in line 21 of the text.
 */
const fused = (lines: string, more = '') => `${lines}
.version 7.0
.target sm_70
.address_size 64
.visible .entry fused(.param .u64 out, .param .u64 count)
{
  .reg .b64 p, c, o;
  .reg .b32 t, n, b;
  .reg .f32 f, g;
  ld.param.u64 p, [out];
  ld.param.u64 c, [count];
  mov.u32 t, %tid.x;
  mov.u32 b, %ctaid.x;
  mov.u32 n, %ntid.x;
  mad.lo.u32 t, b, n, t;
  cvt.rn.f32.u32 f, t;
  mul.f32 f, f, 0f3DCCCCCD;
  fma.rn.f32 g, f, f, f;${more}
  mul.wide.u32 o, t, 4;
  add.s64 p, p, o;
  st.global.f32 [p], g;
  add.s64 c, c, o;
  st.global.u32 [c], t;
  ret;
}
`;
const lines = '//! cumetal: --grid 2 --block 32 --arg f32:8x8 --arg u32:64';

/** Doubles that are exact say which elements `fast` gives otherwise: the sum rounded once, and the product rounded before. */
function expected(): { readonly first: number; readonly count: number } {
  const indices = Array.from({ length: 64 }, (_, i) => i);
  const differs = indices.filter((i) => {
    const x = Math.fround(i * Math.fround(0.1));
    // A product of two singles is exact in a double; so is its sum with one of these.
    return Math.fround(x * x + x) !== Math.fround(Math.fround(x * x) + x);
  });
  return { first: differs[0]!, count: differs.length };
}

test('devices that agree give exit code 0, and each buffer is named', async () => {
  const { code, out, err } = await cli('diff', file('same.ptx', fused(lines)), '--devices', 'cpu:lane,cpu:simd,cpu');
  assert.equal([code, err], [0, '']);
  assert.match(out, /^fused: cpu:lane is CPU .*, cpu:simd is CPU .*, cpu is CPU /);
  assert.match(out, /grid 2 x 1 x 1, block 32 x 1 x 1/);
  assert.is(out.match(/^cpu(:simd)?: 0 out: f32\[8x8\] same$/gm)?.length, 2);
  assert.is(out.match(/^cpu(:simd)?: 1 count: u32\[64\] same$/gm)?.length, 2);
});

test('the first mismatch is told with both values, their distance, and the thread and line that wrote it', async () => {
  const { first, count } = expected();
  assert.ok(count > 0 && first < 32);
  const { code, out } = await cli('diff', file('planted.ptx', fused(lines)), '--devices', 'cpu,cpu:simd:fast');
  assert.is(code, 1);
  const found = `0 out: f32[8x8] DIFFERS in ${count} of 64 elements, first at ${first}: cpu `;
  assert.ok(out.includes(found), out);
  assert.ok(out.includes(`, 1 ulp apart, written by thread (${first}, 0, 0) of block (0, 0, 0) at line 21 (max abs `), out);
  assert.match(out, /^1 count: u32\[64\] same$/m);
});

test('the writer is found in a later block, of elements smaller than a word, and by its line', async () => {
  const text = `.version 7.0
.target sm_70
.address_size 64
.visible .entry bytes(.param .u64 out)
{
  .reg .pred q; .reg .b64 p, o; .reg .b32 t, b, n, x; .reg .f32 f, g;
  ld.param.u64 p, [out]; mov.u32 t, %tid.x; mov.u32 n, %tid.y; mov.u32 b, %ctaid.x;
  shl.b32 b, b, 5; shl.b32 n, n, 4; add.u32 t, t, n; add.u32 t, t, b;
  cvt.rn.f32.u32 f, t; mul.f32 f, f, 0f3DCCCCCD; fma.rn.f32 g, f, f, f; mov.b32 x, g;
  setp.lt.u32 q, t, 32; @q mov.u32 x, t;
  cvt.u64.u32 o, t; add.s64 p, p, o;
  bar.sync 0;
  st.global.u8 [p], x;
  ret;
}
`;
  const path = file('bytes.ptx', `//! cumetal: --grid 2 --block 16,2 --arg u8:64\n${text}`);
  const { code, out } = await cli('diff', path, '--devices', 'cpu:lane,cpu:fast', '--json');
  assert.is(code, 1);
  const [output] = JSON.parse(out).launches[0].outputs;
  const { index, writer } = output.first_mismatch;
  assert.ok(index >= 32);
  assert.equal(writer, { thread: [(index - 32) % 16, Math.floor((index - 32) / 16), 0], block: [1, 0, 0], line: 14 });
});

test('tolerances: of the words, else of the launch file, else none', async () => {
  file('case/fused.ptx', fused(''));
  const launch = (expect: object) =>
    file(
      'case/launch.json',
      JSON.stringify({
        module: 'fused.ptx',
        kernel: 'fused',
        grid: [2, 1, 1],
        block: [32, 1, 1],
        args: [
          { name: 'out', buffer: 'f32', shape: [64], ...expect },
          { name: 'count', buffer: 'u32', shape: [64] },
        ],
      }),
    );
  const run = (...words: string[]): Promise<Ran> =>
    cli('diff', '--launch', join(folder, 'case/launch.json'), '--devices', 'cpu,cpu:fast', ...words);
  launch({});
  assert.is((await run()).code, 1);
  assert.is((await run('--ulp', '1')).code, 0);
  assert.match((await run('--ulp', '1')).out, /^0 out: f32\[64\] same within ulp 1 \(max abs .*, ulp 1\)$/m);
  assert.is((await run('--rtol', '1e-6')).code, 0);
  assert.is((await run('--rtol', '1e-9', '--atol', '1e-9')).code, 1);
  launch({ expect: { file: 'want.npy', ulp: 1 } });
  assert.is((await run()).code, 0);
  assert.is((await run('--ulp', '0')).code, 1);
});

test('a folder: a line for each launch, what differs at length, and a sum', async () => {
  file('many/a.ptx', fused(lines));
  file('many/deeper/b.ptx', fused(`${lines} --kernel fused`, '\n  mov.f32 g, f;'));
  file('many/c.ptx', fused('//! cumetal: --grid 2 --block 32 --arg f32:64'));
  file('many/none.ptx', fused(''));
  file('many/notes.txt', 'no launch');
  file('many/d.ptx', fused(lines));
  file(
    'many/d.launch.json',
    JSON.stringify({
      module: 'none.ptx',
      kernel: 'fused',
      grid: [1, 1, 1],
      block: [1, 1, 1],
      args: [
        { name: 'out', buffer: 'f32', shape: [1] },
        { name: 'count', buffer: 'u32', shape: [1] },
      ],
    }),
  );
  const { code, out, err } = await cli('diff', join(folder, 'many'), '--devices', 'cpu:lane,cpu:simd:fast');
  assert.is(code, 1);
  assert.match(err, /error\[CM5011\]/);
  const [, ...found] = out.replaceAll(folder, '').trim().split('\n');
  assert.equal(
    found.map((line) => line.trim().slice(0, 40)),
    [
      'differs /many/a.ptx fused, 2 buffers',
      `0 out: f32[8x8] DIFFERS in ${expected().count} of 64 elements`,
      'failed  /many/c.ptx',
      'same    /many/d.launch.json fused, 2 buf',
      'same    /many/deeper/b.ptx fused, 2 buff',
      '4 launches: 2 same, 1 differ, 1 failed',
    ].map((line) => line.slice(0, 40)),
  );
  assert.is((await cli('diff', join(folder, 'many/deeper'), '--devices', 'cpu:lane,cpu:simd:fast')).code, 0);
  const json = JSON.parse((await cli('diff', join(folder, 'many'), '--devices', 'cpu:lane,cpu:simd:fast', '--json')).out);
  assert.is(json.status, 'failed');
  assert.equal(
    json.launches.map((one: { status: string }) => one.status),
    ['differs', 'failed', 'same', 'same'],
  );
  assert.is(json.launches[1].diagnostics[0].code, 'CM5011');
});

test('a usage error has exit code 2 and names the expected value', async () => {
  const path = file('same.ptx', fused(lines));
  const cases: [RegExp, ...string[]][] = [
    [/requires devices/, path],
    [/at least two devices/, path, '--devices', 'cpu'],
    [/`cpu` is repeated/, path, '--devices', 'cpu,cpu:lane,cpu'],
    [/unknown device `cuba`, expected one of .*did you mean `cuda`/, path, '--devices', 'cpu,cuba'],
    [/`cpu:lanes`: the options of the CPU device are lane, simd/, path, '--devices', 'cpu:lanes,cpu'],
    [/only the CPU device has options/, path, '--devices', 'cuda:fast,cpu'],
    [/invalid value `1.5` for `--ulp`: expected an integer/, path, '--devices', 'cpu,cpu:lane', '--ulp', '1.5'],
    [/invalid value `-1` for `--rtol`: expected a number/, path, '--devices', 'cpu,cpu:lane', '--rtol=-1'],
    [/requires a launch/, '--devices', 'cpu,cpu:lane'],
    [/contains no launches/, join(file('empty/x.txt', ''), '..'), '--devices', 'cpu,cpu:lane'],
    [/`--launch` conflicts with the folder/, folder, '--launch', 'l.json', '--devices', 'cpu,cpu:lane'],
  ];
  for (const [message, ...words] of cases) {
    const { code, out, err } = await cli('diff', ...words);
    assert.equal([code, out], [2, ''], words.join(' '));
    assert.match(err, message);
  }
});

test('other exit codes: a file that is not there, that does not compile, a launch that fails, a device that is not here', async () => {
  const on = ['--devices', 'cpu:lane,cpu:simd'];
  assert.is((await cli('diff', join(folder, 'nowhere.ptx'), ...on)).code, 2);
  const bad = await cli('diff', file('bad.ptx', fused(lines, '\n  sturdy;')), ...on);
  assert.equal([bad.code, bad.err.match(/error\[/g)?.length], [3, 1], 'once, and not for each device');
  const far = fused(lines, '\n  add.s64 p, p, 0x7000000000000000;');
  const { code, err } = await cli('diff', file('far.ptx', far), ...on);
  assert.is(code, 1);
  assert.match(err, /CM6011/);
  if (process.platform === 'darwin') return;
  const absent = await cli('diff', file('same.ptx', fused(lines)), '--devices', 'cpu,metal');
  assert.equal([absent.code, absent.out], [4, '']);
  assert.match(absent.err, /CM6001/);
});

test('`run --record` writes what a launch file expects, and the next run is held against it', async () => {
  file('record/fused.ptx', fused(''));
  const launch = file(
    'record/launch.json',
    JSON.stringify({
      module: 'fused.ptx',
      kernel: 'fused',
      grid: [2, 1, 1],
      block: [32, 1, 1],
      args: [
        { name: 'out', buffer: 'f32', shape: [64] },
        { name: 'count', buffer: 'u32', shape: [8, 8], expect: { file: 'want/count.npy' } },
      ],
    }),
  );
  mkdirSync(join(folder, 'record/want'));
  const recorded = await cli('run', '--launch', launch, '--device', 'cpu', '--record');
  assert.equal([recorded.code, recorded.err], [0, '']);
  assert.match(recorded.out, /1 count: u32\[8x8\] saved to .*want\/count\.npy \(\.npy, recorded on CPU /);
  assert.not.match(recorded.out, /check/);
  const array = readNpy(new Uint8Array(readFileSync(join(folder, 'record/want/count.npy'))));
  assert.ok(typeof array === 'object');
  assert.equal([array.descr, array.shape], ['<u4', [8, 8]]);
  assert.equal(
    [...new Uint32Array(array.data.slice().buffer)],
    Array.from({ length: 64 }, (_, i) => i),
  );
  const checked = await cli('run', '--launch', launch, '--device', 'cpu');
  assert.is(checked.code, 0);
  assert.match(checked.out, /check 1 count: pass, 64 elements/);
});

test('`run --record` says what it lacks', async () => {
  const path = file('same.ptx', fused(lines));
  const unsaid = await cli('run', path, '--record');
  assert.is(unsaid.code, 2);
  assert.match(unsaid.err, /`--record` requires `--device`/);
  const nothing = await cli('run', path, '--record', '--device', 'cpu');
  assert.is(nothing.code, 2);
  assert.match(nothing.err, /CM5051/);
});

test.run();
