/** What `run` shows of a launch that is traced or profiled: on the terminal, in `--json`, and in files. */
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { rooflineChoices } from '../../src/cli/command/options.ts';
import type { RunRequest } from '../../src/cli/run/options.ts';
import { ProgramInstruments } from '../../src/cli/run/program-instruments.ts';
import { placeOn, roofs } from '../../src/cli/run/roofline.ts';
import type { Terminal } from '../../src/cli/terminal/index.ts';
import { openCpuDevice } from '../../src/device/index.ts';
import { DevicePool } from '../../src/device/pool/index.ts';
import type { Profile } from '../../src/device/profile.ts';
import { cli, type Wrote } from '../support/cli.ts';
import { examplesFolder } from '../support/examples.ts';
import { profileOf } from '../support/profiled.ts';

const test = suite('cli/instruments');

interface Seen extends Omit<Wrote, 'files'> {
  readonly files: Readonly<Record<string, string>>;
}

async function run(...line: string[]): Promise<Seen> {
  const ran = await cli(['run', join(examplesFolder, 'saxpy.ptx'), ...line]);
  const files = Object.entries(ran.files).map(([path, bytes]) => [path, new TextDecoder().decode(bytes)]);
  return { ...ran, files: Object.fromEntries(files) };
}

test('a table of lines, with what each costs', async () => {
  const { code, out } = await run('--profile', '--roofline', 'h200');
  assert.is(code, 0);
  // 16 blocks of 8 warps; 4000 of 4096 threads compute, so that the last warp with work is whole and three have none.
  assert.match(out, /grid 16 x 1 x 1, block 256 x 1 x 1, 128 warps/);
  assert.match(
    out,
    /global loads: 250 requests, 4 sectors and 1 cache lines per request \(minimum 4 sectors\), 100 % of the fetched bytes used/,
  );
  assert.match(out, /floating-point operations: 8000 f32/);
  assert.match(out, /32000 distinct bytes read, 16000 written; 48000 bytes of sectors requested; 0\.167 to 0\.167 operations per byte/);
  // A sixth of 4.8 TB/s.
  assert.match(out, /roofline of NVIDIA H200 .* at most 800 GFLOP\/s/);
  assert.match(out, /\n +\d+ +125 +32 +8000 +fma\.rn\.f32 %f4, %f2, %f1, %f3;\n/);
});

test('a page that needs nothing else', async () => {
  const { code, out, files } = await run('--profile=page.html');
  assert.is(code, 0);
  assert.match(out, /profile written to page\.html/);
  assert.not.match(out, /active/);
  const page = files['page.html']!;
  assert.match(page, /^<!DOCTYPE html>/);
  assert.not.match(page.replace(/<script>[\s\S]*?<\/script>/, ''), /NaN|undefined|https?:\/\/|<script|<link|src=|url\(/);
  // Whatever is opened is closed, in order.
  const open: string[] = [];
  for (const [, close, name, own] of page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (own || ['meta'].includes(name!)) continue;
    if (close) assert.is(open.pop(), name);
    else open.push(name!);
  }
  assert.equal(open, []);
  assert.match(page, /<td class="code">\s*fma\.rn\.f32/);
  assert.match(page, /<svg[\s\S]*<polyline[\s\S]*<circle/);
});

test('JSON in a file, and in the object of the run', async () => {
  const { files } = await run('--profile=p.json');
  const { schemaVersion, ...written } = JSON.parse(files['p.json']!);
  assert.is(schemaVersion, 1);
  assert.is(written.total.flops.f32, 8000);
  assert.is(written.roofline.device, 'Apple M1');
  const { out, err } = await run('--profile', '--json');
  assert.is(err, '');
  assert.equal(JSON.parse(out).profile, written);
});

test('a trace beside the results, in a file, and in the object of the run', async () => {
  const beside = await run('--trace-thread', '0,5', '--trace-limit', '4');
  assert.match(beside.err, /^trace of thread \(5, 0, 0\) of block \(0, 0, 0\) of `saxpy`: 20 instructions\n/);
  assert.match(beside.err, /… 16 more beyond --trace-limit/);
  assert.match(beside.out, /saxpy_param_2: f32\[4000\]/);
  const inFile = await run('--trace-thread', '0,5.0.0', '--trace-out', 't.txt');
  assert.is(inFile.err, '');
  assert.match(inFile.files['t.txt']!, /fma\.rn\.f32/);
  const { files } = await run('--trace-thread', '0,5', '--trace-out', 't.json');
  const { out } = await run('--trace-thread', '0,5', '--json');
  assert.equal({ schemaVersion: 1, ...JSON.parse(out).trace }, JSON.parse(files['t.json']!));
  assert.is(JSON.parse(out).trace.steps.length, 20);
});

test('what does not go together, and where it does not go', async () => {
  const both = await run('--profile', '--sanitize');
  assert.is(both.code, 1);
  assert.match(both.err, /CM5027/);
  const nobody = await run('--trace-thread', '16,0');
  assert.is(nobody.code, 1);
  assert.match(nobody.err, /CM5028/);
  const metal = await run('--profile', '--device', 'metal');
  assert.is(metal.code, 2);
  assert.match(metal.err, /`--profile` requires the CPU device/);
  const wrong = await run('--profile=p.txt');
  assert.is(wrong.code, 2);
});

test('a schedule changes nothing of a kernel without races', async () => {
  const [plain, turned] = [await run('--json', '--print', '2'), await run('--json', '--print', '2', '--schedule', 'rand:3')];
  assert.equal(JSON.parse(plain.out).outputs, JSON.parse(turned.out).outputs);
});

test('the devices of the roofline are those that can be named', () => {
  assert.equal(Object.keys(roofs), rooflineChoices);
  for (const { flops, bandwidth, source } of Object.values(roofs)) assert.ok(flops > 1e12 && bandwidth > 5e10 && source.length > 20);
  // What Apple says of M1, and of M1 Max: 2.6 and 10.4 TFLOP/s.
  assert.ok(Math.abs(roofs.m1!.flops / 2.6e12 - 1) < 0.03 && Math.abs(roofs['m1-max']!.flops / 10.4e12 - 1) < 0.03);
});

test('a place on the roofline', () => {
  const roof = { name: 'made up', flops: 1000, doubles: 100, bandwidth: 100, source: 'nowhere' };
  const at = (flops: object, sectors: number, footprint: number) => {
    const profile = profileOf('coalesced');
    const none = { ...profile.total.global.load, sectors: 0 };
    const global = { load: { ...none, sectors }, store: none, atomic: none };
    return placeOn(roof, { ...profile, footprint: { read: footprint, written: 0 }, total: { ...profile.total, flops, global } } as Profile);
  };
  // 3200 bytes for 6400 operations, or 320.
  const singles = at({ f16: 0, f32: 6400, f64: 0 }, 100, 320)!;
  assert.equal([singles.uncached.intensity, singles.uncached.most, singles.uncached.bound], [2, 200, 'memory']);
  assert.equal([singles.cached.intensity, singles.cached.most, singles.cached.bound], [20, 1000, 'compute']);
  // As many doubles take ten times as long: 2000 operations in 1 + 10 seconds.
  assert.is(Math.round(at({ f16: 0, f32: 1000, f64: 1000 }, 1, 32)!.peak), Math.round(2000 / 11));
  assert.is(at({ f16: 0, f32: 0, f64: 0 }, 100, 320), undefined);
  assert.is(at({ f16: 0, f32: 10, f64: 0 }, 0, 0), undefined);
});

test('a profile says what pools of memory have held', () => {
  const observed = new ProgramInstruments({ profile: { path: undefined, roofline: 'm1' } } as RunRequest);
  const device = openCpuDevice({ threads: 1 });
  const [unused, used] = [new DevicePool(device), new DevicePool(device)];
  for (const pool of [unused, used]) observed.notePool(pool);
  const blocks = [3000, 5000].map((bytes) => used.take(bytes, new Diagnostics())!);
  used.give(blocks[1]!);
  let text = '';
  const terminal = { err: (more: string) => (text += more), color: { err: false, out: false } } as unknown as Terminal;
  assert.ok(observed.finish(terminal, undefined));
  assert.match(text, /^memory pool 1: at most 7\.8 KiB used and 2 MiB reserved; at the end 2\.9 KiB in 1 allocation, fragmentation 0 %$/m);
  assert.not.match(text, /memory pool 2/);
});

test.run();
