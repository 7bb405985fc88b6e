/** Every example through the command line as a process: built, run and checked against the recording of an NVIDIA H200. */
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { cliProcess } from '../support/cli.ts';
import { compileExample, exampleNames, examplesFolder, launchPath, root } from '../support/examples.ts';

const test = suite('examples/process');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(examplesFolder, join(folder, 'examples'), { recursive: true });

function cli(...words: string[]): string {
  const { code, out, err } = cliProcess(words, { cwd: folder });
  assert.is(err, '');
  assert.is(code, 0, out);
  return out;
}

for (const name of ['vector_add', 'matmul_tiled'])
  test(`${name}: build to a file, then run and check it`, () => {
    cli('build', `examples/${name}.ptx`, '--target', 'macos15', '-o', `${name}.metallib`);
    assert.equal(new Uint8Array(readFileSync(join(folder, `${name}.metallib`))), compileExample(name).metallib);
    const words = { vector_add: vectorAddArgs, matmul_tiled: matmulArgs }[name]!;
    const recorded = JSON.parse(cli('run', `${name}.metallib`, ...words, '--json'));
    assert.equal(
      recorded.checks.map((check: { pass: boolean }) => check.pass),
      [true],
    );
  });

const recording = (name: string, file: string): string => join(root, 'fixtures/examples', name, file);
const vectorAddArgs = [
  '--grid',
  '4',
  '--block',
  '256',
  '--arg',
  'f32:1024=iota',
  '--arg',
  'f32:1024=fill(0.5)',
  '--arg',
  'f32:1024=fill(9)',
].concat(['--arg', 'u32=1024', '--check', `2=${recording('vector_add', 'c.npy')}`]);
const matmulArgs = ['--grid', '4,4', '--block', '16,16', '--arg', 'f32:64x64=rand(1)', '--arg', 'f32:64x64=rand(2)'].concat([
  '--arg',
  'f32:64x64=fill(9)',
  '--arg',
  'u32=64',
  '--check',
  `2=${recording('matmul_tiled', 'c.npy')}`,
]);

for (const name of exampleNames)
  test(`cumetal run examples/${name}.ptx: runs without further options`, () => {
    const before = readdirSync(folder);
    assert.match(cli('run', `examples/${name}.ptx`), new RegExp(`\\b${name}\\b`));
    const words = readFileSync(join(folder, 'examples', `${name}.ptx`), 'utf8');
    const pictures = [...words.matchAll(/^\/\/! cumetal:.*--out \d+=(\S+)/gm)].map((match) => match[1]!);
    assert.equal(
      readdirSync(folder).filter((file) => !before.includes(file)),
      pictures,
      'the files named in the launch lines',
    );
    for (const picture of pictures) assert.ok(existsSync(join(folder, picture)));
  });

test('cumetal run --launch: the recorded launch of an example passes its checks', () => {
  const stdout = cli('run', '--launch', launchPath('scan'), '--json');
  assert.equal(
    JSON.parse(stdout).checks.map((check: { pass: boolean }) => check.pass),
    [true, true],
  );
});

test.run();
