/**
 * Recorded launches: what a kernel was given is what it is given again. Kernels run on the CPU device here, and again by the launch file that is
 * written; expectations are arithmetic.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadSource } from '../../src/api/load.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { type DeviceBuffer, type LaunchArgument, openDevice } from '../../src/device/index.ts';
import { writeLaunch } from '../../src/exec/record/folder.ts';
import { loadsWideWords } from '../../src/exec/record/recorded.ts';
import { Recorder } from '../../src/exec/record/recorder.ts';
import { commandLine } from '../support/command-line.ts';

const test = suite('exec/record');
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-record-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const header = '.version 7.0\n.target sm_80\n.address_size 64\n';
/** `walk` sums a list; `pair` adds to `to[0]` what `from[0]` has, by two pointers that a struct holds as well. */
const ptx = `${header}
.global .align 4 .u32 runs;
.visible .entry walk(.param .u64 list, .param .u64 sum)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [list];
  ld.param.u64 %rd2, [sum];
  mov.u32 %r1, 0;
next:
  setp.eq.u64 %p, %rd1, 0;
  @%p bra done;
  ld.global.u32 %r2, [%rd1];
  add.u32 %r1, %r1, %r2;
  ld.global.u64 %rd1, [%rd1+8];
  bra next;
done:
  st.global.u32 [%rd2], %r1;
  ld.global.u32 %r3, [runs];
  add.u32 %r3, %r3, 1;
  st.global.u32 [runs], %r3;
  ret;
}
.visible .entry pair(.param .u64 to, .param .u64 from, .param .align 8 .b8 both[16], .param .u64 none, .param .s32 by)
{
  .reg .b32 %r<5>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [to];
  ld.param.u64 %rd2, [from];
  ld.param.u64 %rd3, [both+8];
  ld.param.s32 %r4, [by];
  ld.global.u32 %r1, [%rd1];
  ld.global.u32 %r2, [%rd2];
  ld.global.u32 %r3, [%rd3];
  add.u32 %r1, %r1, %r2;
  add.u32 %r1, %r1, %r3;
  add.u32 %r1, %r1, %r4;
  st.global.u32 [%rd1], %r1;
  ret;
}
`;

const diagnostics = new Diagnostics();
const device = openDevice('cpu', diagnostics, { threads: 1 })!;
test.after(() => device.close());
const buffers: DeviceBuffer[] = [];
const bufferOf = (...words: (number | bigint)[]): DeviceBuffer => {
  const buffer = device.allocate(8 * words.length, diagnostics)!;
  buffer.write(new Uint8Array(BigUint64Array.from(words, BigInt).buffer));
  buffers.push(buffer);
  return buffer;
};
const find = (address: bigint) => {
  const buffer = buffers.find((each) => address >= each.deviceAddress() && address < each.deviceAddress() + BigInt(each.size));
  return buffer && { address: buffer.deviceAddress(), buffer };
};

/** Launches a kernel and records that; the path of the launch file. */
function recorded(name: string, kernel: string, args: readonly LaunchArgument[]): string {
  const path = join(folder, name);
  const recorder = new Recorder({ limit: 1, kernel, write: (launch, number) => writeLaunch({ path, device: 'here' }, launch, number) });
  recorder.find = find;
  const module = recorder.watch(loadSource(device, ptx, {}, diagnostics)!, ptx);
  const request = { kernel, grid: [1, 1, 1], block: [1, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 0 } as const;
  for (let i = 0; i < 2; i++) assert.ok(module.launch(request, diagnostics), diagnostics.list.map(({ message }) => message).join());
  const files = readdirSync(path).filter((file) => file.endsWith('.json'));
  assert.equal(files, [`000000-${kernel}.launch.json`], 'one launch is the limit');
  return join(path, files[0]!);
}

const bytes64 = (...words: bigint[]): Uint8Array => new Uint8Array(BigUint64Array.from(words).buffer);

test('a list in memory is a list again, over two allocations', async () => {
  const tail = bufferOf(30, 0);
  const at = tail.deviceAddress();
  const list = device.allocate(32, diagnostics)!;
  buffers.push(list);
  list.write(bytes64(10n, list.deviceAddress() + 16n, 20n, at));
  const sum = bufferOf(0);
  const file = recorded('list', 'walk', [
    { kind: 'buffer', buffer: list },
    { kind: 'buffer', buffer: sum },
  ]);
  const { args, description, constants } = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(args[0].pointers, [
    { offset: 8, argument: 0, at: 16 },
    { offset: 24, argument: 2 },
  ]);
  assert.is(args.length, 3);
  assert.match(description, /^2 words of memory are taken for addresses/);
  assert.equal(Object.keys(constants), ['runs']);
  const { code, out } = await commandLine(['run', '--launch', file, '--print', '1:1']);
  assert.is(code, 0, out);
  assert.match(out, /check 1 sum: pass/);
  assert.match(out, /\| 60\b/);
});

test('pointers into one allocation share it again, also those in a struct', async () => {
  // Words of 32 bits: 1 0 2 0 3 0.
  const memory = bufferOf(1, 2, 3);
  const start = memory.deviceAddress();
  const file = recorded('shared', 'pair', [
    { kind: 'buffer', buffer: memory, offset: 8 },
    { kind: 'buffer', buffer: memory },
    { kind: 'bytes', bytes: bytes64(0n, start + 16n) },
    { kind: 'null' },
    { kind: 'bytes', bytes: new Uint8Array(new Int32Array([-4]).buffer) },
  ]);
  const { args } = JSON.parse(readFileSync(file, 'utf8'));
  assert.equal(args[0], { name: 'to', within: 1, offset: 8 });
  assert.equal(args[2].pointers, [{ offset: 8, argument: 1, at: 16 }]);
  // The kernel reads no pointer from this parameter, so that its eight bytes are what it has.
  assert.match(args[3].bytes, /\.bin$/);
  assert.equal(args[4], { name: 'by', type: 'i32', value: -4 });
  const { code, out } = await commandLine(['run', '--launch', file, '--print', '1:6']);
  assert.is(code, 0, out);
  // 2 + 1 + 3 - 4
  assert.match(out, /\| 1 0 2 0 3 0/);
  assert.match(out, /check 1 from: pass/);
});

test('a pointer to what is no buffer, or behind one, is refused by the launch', async () => {
  const launch = (args: object[]) =>
    JSON.stringify({
      module: 'pair.ptx',
      kernel: 'walk',
      grid: [1, 1, 1],
      block: [1, 1, 1],
      args: [{ name: 'list', within: 1, offset: 0 }, ...args],
    });
  writeFileSync(join(folder, 'pair.ptx'), ptx);
  const tried = async (name: string, ...args: object[]): Promise<string | undefined> => {
    writeFileSync(join(folder, name), launch(args));
    const { code, err } = await commandLine(['run', '--launch', join(folder, name)]);
    assert.is(code, 1, err);
    return /CM5017\]: (.*)/.exec(err)?.[1];
  };
  const buffer = { name: 'sum', buffer: 'u32', shape: [4] };
  assert.match(
    (await tried('null.launch.json', { name: 'sum', null: true }))!,
    'argument 0 of `walk` cannot have the address of argument 1',
  );
  assert.match((await tried('far.launch.json', { ...buffer, pointers: [{ offset: 12, argument: 1 }] }))!, 'the buffer has 16 bytes');
  assert.match((await tried('at.launch.json', { ...buffer, pointers: [{ offset: 0, argument: 1, at: 17 }] }))!, 'argument 1 has 16 bytes');
  const twice = [0, 4].map((offset) => ({ offset, argument: 1 }));
  assert.match((await tried('twice.launch.json', { ...buffer, pointers: twice }))!, 'it overlaps another pointer');
});

test('a kernel that loads no wide words follows no address in memory', () => {
  assert.equal([loadsWideWords(ptx, 'walk'), loadsWideWords(ptx, 'pair')], [true, false]);
});

test('a kernel that samples follows the address of the texels in a descriptor', () => {
  const sampling = (instruction: string): string => `.visible .entry sample(.param .u64 t) {\n${instruction}\nret;\n}\n`;
  const found = ['tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];', 'sust.b.2d.b32.trap [%rd1, {%r1, %r2}], {%r3};', '// tex'];
  assert.equal(
    found.map((each) => loadsWideWords(sampling(each), 'sample')),
    [true, true, false],
  );
});

test.run();
