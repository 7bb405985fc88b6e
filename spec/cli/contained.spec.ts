/** Containers on the command line: which image is taken, what is said of it, and the list of them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Ran, cli as run } from '../support/cli.ts';

const test = suite('cli/contained');

const fixture = (name: string): string => join(import.meta.dirname, '../../fixtures/container', name);
const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));

const cli = (...words: string[]): Promise<Ran> => run(words);

// n of saxpy is 4: y = 2 * x + y.
const saxpy = ['--grid', '1', '--block', '32', '--arg', 'f32=2', '--arg', 'f32:4=iota', '--arg', 'f32:4=ones', '--arg', 'u32=4'];

test('run takes the only PTX image in silence', async () => {
  const { code, out, err } = await cli('run', fixture('object.o'), ...saxpy, '--device', 'cpu', '--json', '--print', '2');
  assert.is(code, 0);
  assert.is(err, '');
  assert.match(out, '[1.0,3.0,5.0,7.0]'.replaceAll('.0', ''));
});

test('run of several says which it takes, and --image picks another', async () => {
  const several = await cli('run', fixture('several.fatbin'), ...saxpy, '--device', 'cpu');
  assert.is(several.code, 0);
  assert.match(several.err, /^note: .*several\.fatbin contains 2 PTX images; using image 3 \(sm_90\); `--image` selects another\n$/);
  const picked = await cli('run', fixture('several.fatbin'), '--image', 'sm_75', ...saxpy, '--device', 'cpu');
  assert.equal([picked.code, picked.err], [0, '']);
});

test('build writes the same for a container as for its PTX', async () => {
  const at = (name: string) => join(folder, name);
  assert.is((await cli('build', fixture('linked.so'), '--image', '1', '-o', at('a.metallib'))).code, 0);
  assert.is((await cli('build', fixture('object.o'), '-o', at('b.metallib'))).code, 0);
  assert.equal(readFileSync(at('a.metallib')), readFileSync(at('b.metallib')));
});

const refused: [file: string, args: string[], code: number, says: RegExp][] = [
  ['linked.so', [], 2, /^error\[CM4062\].*\n +--> .*linked\.so\n.*--image N/],
  ['linked.so', ['--image', '0'], 2, /^error\[CM4063\]/],
  ['linked.so', ['--image', 'best'], 2, /^error: invalid value `best` for `--image`: expected the number of an image, or an architecture/],
  ['sass.so', [], 3, /^error\[CM4061\].*\n.*\n.*nvcc -gencode arch=compute_80,code=compute_80/],
];
for (const [file, args, code, says] of refused)
  test(`check ${file} ${args.join(' ')}`, async () => {
    const got = await cli('check', fixture(file), ...args);
    assert.is(got.code, code);
    assert.match(got.err, says);
  });

test('a damaged container is refused whole, also where an image could be read', async () => {
  const path = join(folder, 'cut.fatbin');
  writeFileSync(path, readFileSync(fixture('several.fatbin')).subarray(0, 4000));
  const { code, err } = await cli('check', path);
  assert.is(code, 3);
  assert.match(err, /^error\[CM4060\]: malformed container at byte \d+/);
});

test('--image is of no use with text', async () => {
  const path = join(import.meta.dirname, '../../examples/saxpy.ptx');
  const { code, err } = await cli('check', path, '--image', '0');
  assert.is(code, 2);
  assert.match(err, /`--image` requires a fatbinary, cubin or ELF file/);
});

test('inspect lists the images', async () => {
  const { code, out } = await cli('inspect', fixture('linked.so'));
  assert.is(code, 0);
  const lines = out.trimEnd().split('\n');
  assert.match(lines[0]!, /: ELF file, \d+ bytes, 4 images$/);
  assert.match(lines[2]!, /^ +1 +PTX 9\.0 +sm_80 +823 bytes, \d+ in zstd: saxpy$/);
  assert.match(lines[3]!, /^ +2 +SASS +sm_80 +\d+ bytes: scan$/);
  assert.is(lines.length, 5);
});

test('inspect as JSON', async () => {
  const { out } = await cli('inspect', fixture('lz4.fatbin'), '--json');
  const { images, ...rest } = JSON.parse(out);
  assert.equal(rest, { schemaVersion: 1, file: fixture('lz4.fatbin'), bytes: 1232, format: 'fatbinary', diagnostics: [] });
  const image = { image: 0, kind: 'ptx', arch: 'sm_80', ptx_version: '9.0', compression: 'lz4', bytes: 2581, stored_bytes: 1131 };
  assert.equal(images, [{ ...image, kernels: ['scan'] }]);
});

test('inspect of a damaged file shows what it can', async () => {
  const path = join(folder, 'damaged.fatbin');
  writeFileSync(path, readFileSync(fixture('several.fatbin')).subarray(0, 1000));
  const { code, out, err } = await cli('inspect', path);
  assert.is(code, 1);
  assert.match(out, /1 image\n +0 +PTX 9\.0 +sm_75/);
  assert.match(err, /CM4060/);
});

test.run();
