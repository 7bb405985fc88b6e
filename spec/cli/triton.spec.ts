/** `--triton`: the launch that Triton's metadata describes. `fixtures/triton/metadata/add.json` is that of Triton 3.6, for sm_80. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine, type Ran } from '../support/command-line.ts';
import { root } from '../support/examples.ts';

const test = suite('cli/triton');

const ptx = readFileSync(join(root, 'fixtures/triton/add.ptx'), 'utf8');
const metadata = JSON.parse(readFileSync(join(root, 'fixtures/triton/metadata/add.json'), 'utf8')) as Record<string, unknown>;
const args = ['--arg', 'f32:1000=iota', '--arg', 'f32:1000=ones', '--arg', 'f32:1000', '--arg', 'i32=1000'];

const run = (words: readonly string[], fields: object | string = {}): Promise<Ran> => {
  const json = typeof fields === 'string' ? fields : JSON.stringify({ ...metadata, ...fields });
  return commandLine(['run', 'add.ptx', '--device', 'cpu', '--triton', 'add.json', ...words], { 'add.ptx': ptx, 'add.json': json });
};

test('the kernel, the block and the shared memory are those of the metadata; scratch parameters are null', async () => {
  const { code, out, err } = await run(['--grid', '4', ...args, '--print', '2:4']);
  assert.equal([code, err], [0, '']);
  assert.match(out, /^add on CPU[^\n]*\n {2}grid 4 x 1 x 1, block 128 x 1 x 1\n/);
  assert.match(out, /0 \| 1 2 3 4\n/);
});

test('words of the command line override the metadata', async () => {
  const { code, err } = await run(['--grid', '4', ...args, '--kernel', 'other']);
  assert.is(code, 1);
  assert.match(err, /no entry named `other`/);
  // The kernel has `.reqntid 128`.
  assert.match((await run(['--grid', '4', '--block', '64', ...args])).err, /128/);
});

test('scratch that the kernel uses is memory: its size for each block', async () => {
  const { code, out } = await run(['--grid', '4', ...args, '--print', '4:2'], { global_scratch_size: 16 });
  assert.is(code, 0);
  assert.match(out, /4 add_param_4: u8\[64\]/);
});

test('missing arguments that are no scratch stay missing, and extra ones are counted', async () => {
  const few = await run(['--grid', '4', ...args.slice(0, 4)]);
  assert.is(few.code, 1);
  assert.match(few.err, /error\[CM50\d\d\]/);
  const all = await run(['--grid', '4', ...args, '--arg', 'null', '--arg', 'null']);
  assert.is(all.code, 0);
});

test('metadata that cannot be launched says why', async () => {
  const cases: readonly (readonly [object | string, RegExp])[] = [
    ['{', /it is not JSON/],
    ['[1]', /it has no string `name`/],
    ['3', /it is not an object/],
    [{ name: 7 }, /it has no string `name`/],
    [{ num_warps: 'four' }, /it has no number `num_warps`/],
    [{ num_warps: 1.5 }, /`num_warps` is no number of things/],
    [{ num_warps: 64 }, /a block of 64 warps cannot be launched/],
    [{ num_ctas: 2 }, /clusters of 2 blocks/],
    [{ warp_size: 64 }, /its warps have 64 threads/],
    [{ profile_scratch_size: 8 }, /writes profiles/],
    [{ shared: -1 }, /`shared` is no number of things/],
    [{ launch_cooperative_grid: true }, /blocks of the grid wait for each other/],
  ];
  for (const [fields, why] of cases) {
    const { code, out, err } = await run(['--grid', '4', ...args], fields);
    assert.equal([code, out], [2, '']);
    assert.match(err, /error\[CM5048\]: `add\.json` is no metadata of a Triton kernel/);
    assert.match(err, why);
  }
  const missing = await commandLine(['run', 'add.ptx', '--triton', 'nowhere.json', ...args], { 'add.ptx': ptx });
  assert.is(missing.code, 2);
  assert.match(missing.err, /CM5030.*nowhere\.json/);
});

test('a launch file and the metadata exclude each other', async () => {
  const { code } = await commandLine(['run', '--launch', join(root, 'fixtures/triton/add.launch.json'), '--triton', 'add.json']);
  assert.is(code, 2);
});

test('the page on Triton: its command prints what it says, of what its program wrote', async () => {
  const page = readFileSync(join(root, 'docs/triton.md'), 'utf8');
  const folder = join(root, 'fixtures/triton/page');
  const files = Object.fromEntries(['add.ptx', 'add.json'].map((name) => [name, readFileSync(join(folder, name))]));
  const [, line, shown] = /^cumetal (run add\.ptx .*)\n```\n\n```\n([\s\S]*?)^```$/m.exec(page)!;
  const words = [...line!.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
  const { code, out, err } = await commandLine([...words, '--device', 'cpu'], files);
  assert.equal([code, err], [0, '']);
  assert.ok(out.endsWith(shown!), out);
  // The PTX names the line of the kernel in the program.
  const [, program] = /^```python\n([\s\S]*?)^```$/m.exec(page)!;
  const at = 1 + program!.split('\n').findIndex((text) => text.startsWith('def add('));
  assert.ok(String(files['add.ptx']).includes(`compile_add.py:${at}:0`));
});

test.run();
