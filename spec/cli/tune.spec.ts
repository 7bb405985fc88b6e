/** `cumetal tune`: what it measures, where it writes, and that launches choose by it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Device } from '../../src/api/index.ts';
import { tuningFile } from '../../src/files/index.ts';
import type { TuningTable } from '../../src/kernels/index.ts';
import { commandLine } from '../support/command-line.ts';

const test = suite('cli/tune');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-tune-'));
test.after(() => rmSync(folder, { recursive: true }));
/** The library reads the file once, at the first launch that chooses. */
const file = join(folder, 'tuning.json');
process.env.CUMETAL_TUNING = file;

const device = Device.open('cpu', { print: false });
test.after(() => device.close());
const tableOf = (name: string, speeds: Readonly<Record<string, number>>, type = 'f32'): TuningTable => ({
  version: 1,
  device: name,
  sm: 0,
  gemm: { [type]: speeds },
});
const quick = ['tune', '--device', 'cpu', '--size', '8', '--runs', '1', '--type', 'f32'];

test('every kernel of a type is measured, and tables of other devices and types stay', async () => {
  const others = [tableOf('another', { 'plain 64x64': 1 }), tableOf(device.info.name, { 'plain 64x64': 5 }, 'f16')];
  const { code, out, written } = await commandLine([...quick, '-o', 't.json'], { 't.json': JSON.stringify(others) });
  assert.is(code, 0);
  const tables = JSON.parse(new TextDecoder().decode(written['t.json']));
  assert.equal(tables[0], others[0]);
  assert.equal([tables.length, tables[1].device, tables[1].sm], [2, device.info.name, 0]);
  assert.equal(tables[1].gemm.f16, others[1]!.gemm.f16);
  assert.equal(Object.keys(tables[1].gemm.f32), ['plain 128x128', 'plain 64x64', 'cpu 128x128', 'cpu fused 128x128']);
  for (const speed of Object.values<number>(tables[1].gemm.f32)) assert.ok(speed > 0 && speed < 1);
  assert.match(out, /f32 +plain 64x64 +[\d.e-]+ TFLOP/);
});

test('a launch runs the kernel that is the fastest by the file, with the same result', async () => {
  const { gemm, useTable } = await import('../../src/kernels/index.ts');
  writeFileSync(file, JSON.stringify([tableOf(device.info.name, { 'plain 128x128': 1, 'plain 64x64': 2, 'of another version': 9 })]));
  const [m, n, k] = [3, 70, 5];
  const a = device.bufferOf(
    'f32',
    Array.from({ length: m * k }, (_, i) => i),
  );
  const b = device.bufferOf(
    'f32',
    Array.from({ length: k * n }, (_, i) => (i % 7) - 3),
  );
  const expected = Array.from({ length: m * n }, (_, i) =>
    Array.from({ length: k }, (_, l) => (Math.floor(i / n) * k + l) * (((l * n + (i % n)) % 7) - 3)).reduce((x, y) => x + y),
  );
  const given = { a, b, c: device.allocate('f32', m * n), m, n, k };
  assert.is(gemm().variant(device, given).name, 'gemm_f32_64');
  gemm().launch(device, given);
  assert.equal([...(await given.c.read())], expected);
  // Two tiles of 64 columns are as much as one of 128 with twice the rows: at more than twice the speed the large one is chosen.
  useTable(tableOf(device.info.name, { 'plain 128x128': 5, 'plain 64x64': 2 }));
  assert.is(gemm().variant(device, given).name, 'gemm_f32_128');
});

test('what is wrong: a file of something else stays, and numbers are whole', async () => {
  for (const text of ['no json', '{}', '[{"version":2}]', '[{"version":1,"device":"x","sm":0,"gemm":{"f32":{"a":"b"}}}]']) {
    const { code, err, written } = await commandLine([...quick, '-o', 't.json'], { 't.json': text });
    assert.equal([code, written], [1, {}], text);
    assert.match(err, /is no file of tables/);
  }
  assert.is((await commandLine(['tune', '--size', '1.5'])).code, 2);
  assert.is((await commandLine(['tune', '--size', '40000', '--device', 'cpu', '-o', '-'])).code, 1);
  assert.match((await commandLine(['tune'], {}, { CUMETAL_TUNING: '0' })).err, /set CUMETAL_TUNING, or give --output/);
});

test('the file is where each platform has settings', () => {
  const at = (platform: string, env: Record<string, string>) => tuningFile({ platform, env });
  assert.is(at('linux', { HOME: '/home/u' }), '/home/u/.config/cumetal/tuning.json');
  assert.is(at('linux', { HOME: '/home/u', XDG_CONFIG_HOME: '/etc/u' }), '/etc/u/cumetal/tuning.json');
  assert.is(at('linux', { HOME: '/home/u', XDG_CONFIG_HOME: 'u' }), '/home/u/.config/cumetal/tuning.json');
  assert.is(at('darwin', { HOME: '/Users/u' }), '/Users/u/Library/Application Support/cumetal/tuning.json');
  assert.is(at('win32', { APPDATA: 'C:\\Users\\u' }), 'C:\\Users\\u\\cumetal\\tuning.json');
  assert.is(at('linux', {}), undefined);
  assert.is(at('linux', { HOME: '/home/u', CUMETAL_TUNING: 'mine.json' }), 'mine.json');
  assert.is(at('linux', { HOME: '/home/u', CUMETAL_TUNING: '0' }), undefined);
});

test.run();
