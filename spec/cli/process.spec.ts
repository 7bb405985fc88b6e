/** The command line as a process: exit codes, which stream says what, and no stack trace for any input. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readNpy } from '../../src/runtime/index.ts';
import { cliProcess, type ProcessOptions, program, type Ran } from '../support/cli.ts';
import { need } from '../support/need.ts';

const test = suite('cli/process');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const at = (name: string) => join(folder, name);

const cli = (words: readonly string[], more: ProcessOptions = {}): Ran => cliProcess(words, { cwd: folder, ...more });

/** data[i] = 2 * data[i] + bias for i < n. */
const ptx = (launch = '', wrong = 'add.s32') => `${launch}.version 7.0
.target sm_70
.address_size 64
.visible .entry affine(.param .u64 affine_param_0, .param .u32 affine_param_1, .param .u32 affine_param_2)
{
  .reg .pred %p<2>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [affine_param_0];
  ld.param.u32 %r1, [affine_param_1];
  ld.param.u32 %r2, [affine_param_2];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r6, 4;
  add.s64 %rd4, %rd2, %rd3;
  ld.global.u32 %r7, [%rd4];
  shl.b32 %r8, %r7, 1;
  ${wrong} %r9, %r8, %r2;
  st.global.u32 [%rd4], %r9;
DONE:
  ret;
}
`;

writeFileSync(at('affine.ptx'), ptx());
writeFileSync(at('lines.ptx'), ptx('//! cumetal: --grid 2 --block 4\n//! cumetal: --arg u32:8=iota --arg u32=8 --arg u32=100\n'));
writeFileSync(at('beside.ptx'), ptx());
writeFileSync(at('bad.ptx'), ptx('', 'ad.s32'));
writeFileSync(at('want.bin'), new Uint8Array(Uint32Array.from([5, 7, 9, 11]).buffer));
writeFileSync(at('cut.metallib'), Uint8Array.from([0x4d, 0x54, 0x4c, 0x42, 1, 2, 3]));

const launchFile = {
  module: 'affine.ptx',
  kernel: 'affine',
  grid: [1, 1, 1],
  block: [4, 1, 1],
  args: [
    { name: 'data', buffer: 'u32', shape: [4], init: 'iota', expect: { file: 'want.bin' } },
    { name: 'n', type: 'u32', value: 4 },
    { name: 'bias', type: 'u32', value: 5 },
  ],
};
writeFileSync(at('good.json'), JSON.stringify(launchFile));
writeFileSync(at('wrong.json'), JSON.stringify({ ...launchFile, block: [2, 1, 1] }));
writeFileSync(at('broken.json'), '{');
writeFileSync(at('beside.launch.json'), JSON.stringify({ ...launchFile, module: 'beside.ptx' }));

const args = ['--grid', '1', '--block', '4', '--arg', 'u32:4=iota', '--arg', 'u32=4', '--arg', 'u32=5'];

/** Its buffer has half of the elements that it is to write. */
const overrun = ['--grid', '1', '--block', '4', '--arg', 'u32:2=iota', '--arg', 'u32=4', '--arg', 'u32=5'];

const codes: [code: number, words: string[], where: 'out' | 'err', says: RegExp][] = [
  [0, ['--version'], 'out', /^\d+\.\d+\.\d+\n$/],
  [0, ['--help'], 'out', /Commands:/],
  [0, ['run', '--help'], 'out', /--grid/],
  [0, ['help', 'build'], 'out', /-o, --output/],
  [2, [], 'err', /Commands:/],
  [2, ['rnu'], 'err', /unknown command `rnu`; did you mean `run`\?/],
  [2, ['--frob'], 'err', /unexpected option `--frob` for `cumetal`/],
  [2, ['run'], 'err', /requires a file/],
  [2, ['run', 'a.ptx', 'b.ptx'], 'err', /error\[CM5030\].*`a\.ptx`/],
  [2, ['run', 'affine.ptx', '--gird', '4'], 'err', /did you mean `--grid`\?/],
  [2, ['run', 'affine.ptx', '--sanitize=memory,rase'], 'err', /expected memory, race, init, sync; did you mean `race`\?/],
  [2, ['run', 'affine.ptx', '--sanitize', '--device', 'metal'], 'err', /requires the CPU device/],
  [2, ['run', 'affine.ptx', '--arg', 'f33:4'], 'err', /error\[CM5010\]/],
  [2, ['run', '--launch', 'good.json', '--grid', '4'], 'err', /`--grid` conflicts with `--launch`/],
  [2, ['run', 'missing.ptx'], 'err', /error\[CM5030\]: cannot read `missing.ptx`: no such file or folder/],
  [2, ['build', 'affine.ptx'], 'err', /`-o OUT`/],
  [2, ['build', 'affine.ptx', '-o', 'x', '--emit', 'asm'], 'err', /expected one of metallib/],
  [0, ['diff', '--launch', 'good.json', '--devices', 'cpu:lane,cpu:simd'], 'out', /0 data: .* same/],
  [0, ['bench', 'affine.ptx', '--arg', 'u32:4', '--arg', 'u32=1', '--arg', 'u32=2', '--json'], 'out', /"unit":"ms"/],
  [2, ['bench', 'affine.ptx', '--repeat', 'often'], 'err', /invalid value `often` for `--repeat`/],
  [2, ['cache', 'lists'], 'err', /unexpected argument `lists`: expected one of path, list, clear/],
  [1, ['run', 'affine.ptx', ...overrun, '--sanitize', '--trace-thread', '0,0'], 'err', /error\[CM5027\]/],
  [2, ['explain', 'CM9999'], 'err', /unknown diagnostic `CM9999`/],
  [2, ['explain', 'frobnicate.f32'], 'err', /`frobnicate/],
  [1, ['run', 'affine.ptx', ...overrun, '--sanitize'], 'err', /error\[CM6101\]: .*\(argument 0, 8 bytes\)\n {2}--> affine\.ptx:\d+:/],
  [1, ['run', 'affine.ptx', ...overrun, '--sanitize=race,memory', '--json'], 'out', /"code": ?"CM6101"/],
  [0, ['run', 'affine.ptx', ...overrun, '--sanitize=race'], 'out', /affine/],
  [0, ['run', 'affine.ptx', ...args, '--sanitize'], 'out', /affine/],
  [0, ['explain', 'CM6120'], 'out', /race in a block/],
  [0, ['explain', 'CM5012'], 'out', /argument kind mismatch/],
  [0, ['explain', 'W-GPU-4040'], 'out', /\[CM2210\]: barrier in divergent control flow/],
  [0, ['explain', 'add.s32'], 'out', /add/],
  [0, ['explain'], 'out', /CM1101/],
  [0, ['devices'], 'out', /^cpu: /m],
  [0, ['targets'], 'out', /^sm_90 +PTX 7\.8/m],
  [0, ['targets', 'macos13', 'macos15'], 'out', /memory fences\n +macos13 +refused .*\n +macos15 +native/],
  [2, ['targets', 'macos12'], 'err', /unknown target `macos12`/],
  [0, ['doctor'], 'out', /works {3}compiler and CPU device/],
  [0, ['explain', 'W-GPU-4033'], 'out', /\[CM2308\]: race in shared memory/],
  [0, ['check', 'affine.ptx'], 'out', /1 file checked: no problems/],
  [0, ['analyze', 'affine.ptx', '--grid', '1', '--block', '32'], 'out', /load global .* 4 sectors +100 %/],
  [2, ['analyze'], 'err', /requires a file/],
  [2, ['analyze', 'affine.ptx', '--json', '--sarif'], 'err', /conflicts/],
  [2, ['analyze', 'missing.ptx'], 'err', /error\[CM5030\]/],
  [3, ['analyze', 'bad.ptx'], 'err', /--> bad\.ptx:23:/],
  [2, ['analyze', '--launch', 'good.json', '--grid', '4'], 'err', /`--grid` conflicts with `--launch`/],
  [3, ['check', 'bad.ptx'], 'err', /--> bad\.ptx:23:/],
  [3, ['check', 'affine.ptx', 'bad.ptx'], 'err', /--> bad\.ptx:23:/],
  [3, ['build', 'bad.ptx', '-o', 'bad.metallib'], 'err', /--> bad\.ptx:23:/],
  [3, ['run', 'bad.ptx', ...args], 'err', /--> bad\.ptx:23:/],
  [1, ['check', 'cut.metallib'], 'err', /error\[CM40/],
  [1, ['validate', 'cut.metallib'], 'out', /CM40/],
  [1, ['inspect', 'cut.metallib'], 'err', /error\[CM40/],
  [1, ['run', 'cut.metallib'], 'err', /error\[CM40/],
  [4, ['run', 'affine.ptx', '--device', 'cuda'], 'err', /device `cuda` is not available on this machine/],
  [0, ['run', 'affine.ptx', ...args, '--print', '0'], 'out', /0 \| {1,2}5 {1,2}7 {1,2}9 11/],
  [0, ['run', 'affine.ptx', ...args, '--check', '0=want.bin'], 'out', /check 0 .*: pass/],
  [0, ['run', 'lines.ptx'], 'out', /100 102 104 106 108 110 112 114/],
  [0, ['run', 'beside.ptx'], 'out', /launch from beside\.launch\.json/],
  [0, ['run', 'affine.ptx'], 'out', /default launch, because/],
  [0, ['run', '--launch', 'good.json'], 'out', /check 0 data: pass/],
  [1, ['run', '--launch', 'wrong.json'], 'out', /check 0 data: FAIL, 2 of 4 elements differ, first at 2/],
  [1, ['run', '--launch', 'broken.json'], 'err', /error\[CM5040\]/],
  [1, ['run', 'affine.ptx', ...args.slice(0, -2)], 'err', /error\[CM5011\]: kernel `affine` takes 3 arguments/],
  [1, ['run', 'affine.ptx', '--kernel', 'afine', ...args], 'err', /afine/],
];
if (process.platform !== 'darwin')
  codes.push([4, ['run', 'affine.ptx', '--device', 'metal'], 'err', /device `metal` is not available on this machine/]);
for (const [code, words, where, says] of codes) {
  test(`exit ${code}: cumetal ${words.join(' ')}`, () => {
    const ran = cli(words);
    assert.is(ran.code, code, `${ran.out}\n${ran.err}`);
    assert.match(ran[where], says);
    // A command that failed on its words or its input has no result to print.
    if (code > 1 && words[0] !== 'check') assert.is(ran.out, '');
  });
}

test('the contract object of a run', () => {
  const got = JSON.parse(cli(['run', 'affine.ptx', ...args, '--print', '0:2', '--out', '0=out.npy', '--json']).out);
  assert.equal([got.kernel, got.device, got.grid, got.block, got.status], ['affine', 'cpu', [1, 1, 1], [4, 1, 1], 'ok']);
  assert.equal(got.outputs[0], { index: 0, name: 'affine_param_0', dtype: 'u32', shape: [4], count: 4, truncated: true, data: [5, 7] });
  assert.type(got.compile_ms, 'number');
  assert.type(got.duration_ms, 'number');
  const saved = readNpy(new Uint8Array(readFileSync(at('out.npy'))));
  assert.equal(typeof saved !== 'string' && [saved.descr, [...new Uint32Array(saved.data.slice().buffer)]], ['<u4', [5, 7, 9, 11]]);
});

test('a run that fails prints its object too', () => {
  const ran = cli(['run', 'bad.ptx', ...args, '--json']);
  const got = JSON.parse(ran.out);
  assert.equal([ran.code, got.status, got.diagnostics[0].line], [3, 'error', 23]);
});

test('a metallib runs as the PTX it was built from', () => {
  assert.is(cli(['build', 'affine.ptx', '-o', 'affine.metallib']).code, 0);
  const ran = cli(['run', 'affine.metallib', ...args, '--check', '0=want.bin']);
  assert.is(ran.code, 0, ran.err);
  assert.is(cli(['validate', 'affine.metallib']).code, 0);
  assert.match(cli(['inspect', 'affine.metallib']).out, 'affine');
  assert.match(cli(['inspect', 'affine.metallib', '--disassemble']).out, 'define void @affine');
  assert.match(cli(['inspect', 'affine.metallib', '--function', 'affine', '--disassemble']).out, 'define void @affine');
  const none = cli(['inspect', 'affine.metallib', '--function', 'other']);
  assert.is(none.code, 2);
  assert.match(none.err, /no function `other`: it has `affine`/);
  assert.is(JSON.parse(cli(['inspect', 'affine.metallib', '--json']).out).functions[0].name, 'affine');
});

/** data[i] = data[i] * factor, or another instruction on the two. */
const doubles = (instruction = 'mul.f64 %d3, %d1, %d2') => `.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 data, .param .f64 factor)
{
  .reg .b32 %r<2>;
  .reg .b64 %rd<3>;
  .reg .f64 %d<4>;
  ld.param.u64 %rd1, [data];
  ld.param.f64 %d2, [factor];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 8;
  add.s64 %rd1, %rd1, %rd2;
  ld.global.f64 %d1, [%rd1];
  ${instruction};
  st.global.f64 [%rd1], %d3;
  ret;
}
`;

test('doubles run as a Mac would run them, and are doubles for people; atomics on them need fences', () => {
  writeFileSync(at('doubles.ptx'), doubles());
  const launch = ['--block', '4', '--grid', '1', '--arg', 'f64:4=iota', '--arg', 'f64=0.1', '--print', '0'];
  const plain = cli(['run', 'doubles.ptx', ...launch]);
  assert.is(plain.err, '');
  assert.not.match(plain.out, /--target cpu/);
  assert.match(plain.out, /data: f64\[4\]\n.* 0 +0\.1 +0\.2 +0\.30000000000000004\n/);
  assert.is(cli(['build', 'doubles.ptx', '-o', 'doubles.metallib']).code, 0);
  assert.is(cli(['run', 'doubles.metallib', ...launch]).err, '');
  assert.match(cli(['run', 'doubles.metallib']).out, /data: f64:1024=iota\n.*factor: f64=1\n/);
  assert.match(cli(['run', 'doubles.ptx', '--fp64=warn', ...launch]).err, /^warning\[CM2097\]: `mul.f64` .* 1 place in kernel `scale`\n/);
  assert.match(
    cli(['run', 'doubles.ptx', '--fp64=emulate', ...launch]).err,
    /^note\[CM2098\]: doubles are computed with pairs of floats .*: 1 place\n/,
  );
  writeFileSync(at('atomic.ptx'), doubles('atom.global.add.f64 %d3, [%rd1], %d2'));
  const atomic = cli(['run', 'atomic.ptx', '--target', 'macos15', ...launch]);
  assert.match(atomic.out, /data: f64\[4\]\n.* 0 +1 +2 +3\n/);
  assert.not.match(atomic.out, /--target cpu/);
  assert.is(cli(['run', 'atomic.ptx', '--target', 'macos14', ...launch]).code, 3);
});

/** The threads of a block hand their numbers on through the last bytes of shared memory. */
const handingOn = (declaration: string, last: number): string => `.version 8.0
.target sm_90
.address_size 64
${declaration}
.visible .entry hand(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, cells;
  sub.u32 %r2, %r3, %r2;
  st.shared.u32 [%r2+${last}], %r1;
  bar.sync 0;
  mov.u32 %r3, cells;
  xor.b32 %r1, %r1, 3;
  shl.b32 %r2, %r1, 2;
  sub.u32 %r2, %r3, %r2;
  ld.shared.u32 %r2, [%r2+${last}];
  xor.b32 %r1, %r1, 3;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  ret;
}
`;

test('a launch of a kernel with dynamic shared memory says its size', () => {
  const launch = ['--block', '4', '--grid', '1', '--arg', 'u32:4=fill(9)', '--print', '0'];
  writeFileSync(at('unsized.ptx'), handingOn('.extern .shared .align 4 .b8 cells[];', 12));
  const unsized = cli(['run', 'unsized.ptx', ...launch]);
  assert.is(unsized.code, 1);
  assert.match(unsized.err, /^error\[CM5034\].*`hand` has dynamic shared memory/);
  // A default launch has no size either.
  assert.match(cli(['run', 'unsized.ptx']).err, /CM5034/);
  assert.match(cli(['run', 'unsized.ptx', '--shared', '16', ...launch]).out, /u32\[4\]\n.* 3 +2 +1 +0\n/);
});

test('more shared memory than Apple GPUs have, declared or given by the launch, is for the CPU device', () => {
  const launch = ['--block', '4', '--grid', '1', '--arg', 'u32:4=fill(9)', '--print', '0'];
  writeFileSync(at('declared.ptx'), handingOn('.shared .align 4 .b8 cells[49152];', 49148));
  const declared = cli(['run', 'declared.ptx', ...launch]);
  assert.match(
    declared.out,
    /compiled for `--target cpu`, because kernel `hand` declares 49152 bytes of shared memory, and Apple GPUs take 32768/,
  );
  assert.match(declared.out, /u32\[4\]\n.* 3 +2 +1 +0\n/);
  assert.match(cli(['run', 'declared.ptx', '--target', 'macos14', ...launch]).err, /^error\[CM2093\]/);
  writeFileSync(at('given.ptx'), handingOn('.extern .shared .align 4 .b8 cells[];', 232444));
  const given = cli(['run', 'given.ptx', '--shared', '232448', ...launch]);
  assert.match(given.out, /compiled for `--target cpu`, because the launch needs 232448 bytes of shared memory, and Apple GPUs have 32768/);
  assert.match(given.out, /u32\[4\]\n.* 3 +2 +1 +0\n/);
  assert.match(
    cli(['run', 'given.ptx', '--shared', '232452', ...launch]).err,
    /232452 bytes of shared memory exceed the device limit of 232448/,
  );
  assert.match(
    cli(['run', 'given.ptx', '--shared', '32772', '--target', 'macos14', ...launch]).err,
    /32772 bytes of shared memory exceed the device limit of 32768/,
  );
  assert.is(cli(['build', 'declared.ptx', '--target', 'cpu', '-o', 'declared.metallib']).code, 0);
  assert.match(cli(['run', 'declared.metallib', ...launch]).out, /u32\[4\]\n.* 3 +2 +1 +0\n/);
  const validated = cli(['validate', 'declared.metallib']);
  assert.is(validated.code, 1);
  assert.match(validated.err + validated.out, /49152 bytes of threadgroup memory/);
});

test('a kernel that reads a clock is for the CPU device', () => {
  const text = doubles().replace('ld.param', 'mov.u64 %rd2, %globaltimer;\n  ld.param');
  writeFileSync(at('clock.ptx'), text);
  const launch = ['--block', '4', '--grid', '1', '--arg', 'f64:4=iota', '--arg', 'f64=2', '--print', '0'];
  const found = cli(['run', 'clock.ptx', ...launch]);
  assert.match(found.out, /compiled for `--target cpu`, because the time \(`%globaltimer`\) has no exact form for macos15/);
  assert.match(cli(['run', 'clock.ptx', '--target', 'macos15', ...launch]).err, /^error\[CM2090\]: the time .*\n.*clock\.ptx:\d+:3/);
  assert.is(cli(['build', 'clock.ptx', '--target', 'cpu', '-o', 'clock.metallib']).code, 0);
  const validated = cli(['validate', 'clock.metallib']);
  assert.match(validated.out + validated.err, /`cumetal\.clock\.time` runs only on the CPU device/);
});

test('build names the target where none was given', () => {
  const build = (...words: string[]): Ran => cli(['build', 'affine.ptx', '-o', 'named.metallib', ...words]);
  const said =
    process.platform === 'darwin' ? /^note: the target is `macos\d+`, the system of this Mac; / : /^note: the target is `macos15`, /;
  assert.match(build().err, said);
  assert.is(build().err.split('\n').length, 2);
  assert.match(build('--emit', 'air-ll').err, said);
  // It matters for none of these, or was given.
  for (const words of [['--target', 'macos14'], ['--json'], ['--emit', 'ir'], ['--emit', 'wat']])
    assert.is(build(...words).err, '', words.join(' '));
});

test('every stage can be written to standard output', () => {
  for (const what of ['air-ll', 'ir', 'ast', 'reflection']) {
    const ran = cli(['build', 'affine.ptx', '--emit', what, '-o', '-']);
    assert.is(ran.code, 0, ran.err);
    assert.match(ran.out, 'affine');
  }
});

test('standard input is a file', () => {
  const ran = cli(['run', '-', ...args, '--print', '0'], { input: ptx() });
  assert.is(ran.code, 0, ran.err);
  assert.match(cli(['check', '-'], { input: ptx('', 'ad.s32') }).err, '<stdin>:23:');
});

test('check in the forms for machines', () => {
  const json = cli(['check', 'bad.ptx', '--format', 'json']);
  assert.is(json.code, 3);
  assert.is(JSON.parse(json.out).diagnostics[0].line, 23);
  assert.is(JSON.parse(cli(['check', 'bad.ptx', '--format', 'sarif']).out).version, '2.1.0');
  assert.match(cli(['check', 'bad.ptx', '--format', 'github']).out, /^::error file=bad\.ptx,line=23,/);
});

test('no color where the stream is no terminal', () => {
  assert.not.match(cli(['check', 'bad.ptx']).err, '\u001b');
});

test('a file may be a pipe, as `<(…)` of a shell is', () => {
  const script = 'file=$1; shift; cat "$file" | { "$@" check /dev/fd/3 </dev/null; } 3<&0';
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script, 'sh', at('affine.ptx'), ...program], { encoding: 'utf8' });
  assert.is(stderr, '');
  assert.is(stdout, '1 file checked: no problems\n');
  assert.is(status, 0);
});

need(test, ['full-device'], 'a stream that takes no more is an error, not a bug', () => {
  const shell = (redirections: string): Ran => {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', `"$@" ${redirections}`, 'sh', ...program, 'check', 'affine.ptx'], {
      cwd: folder,
      encoding: 'utf8',
    });
    return { code: status!, out: stdout, err: stderr };
  };
  const { code, err } = shell('>/dev/full');
  assert.is(err, 'error[CM5031]: cannot write `standard output`: the disk is full\n');
  assert.is(code, 1);
  assert.is(shell('>/dev/full 2>/dev/full').code, 1);
});

test.run();
