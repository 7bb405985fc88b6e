/**
 * What a launch file and the launch lines of a PTX file may do: describe a launch, and read files of their own folder. Each test is an attack
 * that such a file from someone else could try.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { commands } from '../../src/cli/commands.ts';
import { main as runCommandLine } from '../../src/cli/main.ts';
import { readOwnLaunch } from '../../src/cli/run/own-launch.ts';
import { processTerminal } from '../../src/cli/terminal/index.ts';
import { renderDiagnostic } from '../../src/cli/terminal/render.ts';
import { exampleText } from '../support/examples.ts';

const test = suite('cli/trust-files');

const top = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(top, { recursive: true, force: true }));
const folder = join(top, 'case');
mkdirSync(join(folder, 'sub'), { recursive: true });
const at = (name: string): string => join(folder, name);
const main = new URL('../../src/cli/start.ts', import.meta.url).pathname;

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function cli(...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], {
    encoding: 'utf8',
    cwd: folder,
    input: '',
    timeout: 60_000,
  });
  assert.not.match(stderr, /\n\s+at .*:\d+:\d+|internal error/, 'a stack trace');
  return { code: status, out: stdout, err: stderr };
}

/** The same in this process, which takes a tenth of the time. */
async function own(...words: readonly string[]): Promise<Ran> {
  let [out, err] = ['', ''];
  const code = await runCommandLine(words, {
    ...processTerminal(),
    color: { out: false, err: false },
    out(text) {
      out += text;
    },
    outBytes(bytes) {
      out += new TextDecoder().decode(bytes);
    },
    err(text) {
      err += text;
    },
  });
  return { code, out, err };
}
process.chdir(folder);

/** vector_add without its launch lines. */
const body = exampleText('vector_add').replace(/^\/\/! cumetal:.*\n/gm, '');
const withLines = (name: string, ...lines: readonly string[]): string => {
  writeFileSync(at(name), `${lines.map((line) => `//! cumetal: ${line}\n`).join('')}${body}`);
  return name;
};
const whole = ['--grid 1 --block 4', '--arg f32:4=iota --arg f32:4=ones --arg f32:4 --arg u32=4'];

const floats = (...values: readonly number[]): Uint8Array => new Uint8Array(Float32Array.from(values).buffer);
writeFileSync(at('in.bin'), floats(1, 2, 3, 4));
writeFileSync(join(top, 'secret.bin'), floats(9, 9, 9, 9));
writeFileSync(join(top, 'secret.txt'), 'top secret\n');
writeFileSync(join(top, 'kernel.ptx'), body);
symlinkSync(join(top, 'secret.bin'), at('link.bin'));
symlinkSync('in.bin', at('own.bin'));
symlinkSync(join(top, 'secret.txt'), at('link.ptx'));

// ── launch lines ──

test('launch lines run a launch, and say that they did', async () => {
  const { code, out } = await own('run', withLines('good.ptx', ...whole, '--print 2', '--check 2=want.bin'));
  assert.match(out, /launch from the comment lines of good\.ptx/);
  assert.is(code, 1, 'want.bin does not exist');
  writeFileSync(at('want.bin'), floats(1, 2, 3, 4));
  assert.is((await own('run', 'good.ptx')).code, 0);
});

test('`--out` in a launch line writes nothing: an error with file, line and column', async () => {
  const victim = join(top, 'bashrc');
  writeFileSync(victim, 'before');
  const { code, err } = await own('run', withLines('out.ptx', ...whole, `--out 0=${victim}`));
  assert.is(code, 2);
  assert.match(err, /^error\[CM5043\]: `--out` is not allowed in a launch line\n +--> out\.ptx:3:14\n/);
  assert.is(readFileSync(victim, 'utf8'), 'before');
});

// Independent of the table: the brief of what describes a launch.
const describing = ['kernel', 'grid', 'block', 'shared', 'arg', 'print', 'check'];
const runCommand = commands.find((each) => each.name === 'run')!;
for (const { name, value, isBare, choices } of runCommand.options)
  test(`--${name} in a launch line is ${describing.includes(name) ? 'allowed' : 'an error'}`, () => {
    const word = `--${name}${value ? `${isBare ? '=' : ' '}${choices?.[0] ?? '1'}` : ''}`;
    const { err } = errorsOf(withLines('one.ptx', word));
    assert.is(/CM5043/.test(err), !describing.includes(name), err);
    if (!describing.includes(name)) assert.match(err, /one\.ptx:1:14/);
  });

/** In this process, as there are many of these: the launch lines alone are read. */
function errorsOf(name: string): { err: string } {
  const diagnostics = new Diagnostics();
  readOwnLaunch(new SourceFile(name, readFileSync(at(name), 'utf8')), runCommand, {}, diagnostics);
  return { err: diagnostics.list.map((d) => renderDiagnostic(d)).join('') };
}

const wrongWords: readonly (readonly [words: string, says: RegExp])[] = [
  ['--gird 4', /CM5042\]: launch line 1: unexpected option `--gird` .*did you mean `--grid`[\s\S]*wrong\.ptx:1:14/],
  ['--grid 4 loose', /CM5042\]: launch line 1: unexpected argument `loose`[\s\S]*wrong\.ptx:1:23/],
  ['--grid none', /CM5042\]: launch line 1: invalid value `none` for `--grid`[\s\S]*wrong\.ptx:1:14/],
  ['--grid', /CM5042\]: launch line 1: `--grid` requires a value[\s\S]*wrong\.ptx:1:14/],
  ['--arg f33:4', /CM5010\]: invalid argument `f33:4`[\s\S]*wrong\.ptx:1:14/],
  ['--print "0', /CM5042\]: launch line 1: the quote " is not closed[\s\S]*wrong\.ptx:1:13/],
];
for (const [words, says] of wrongWords)
  test(`a launch line with ${words} is an error at its place`, () => assert.match(errorsOf(withLines('wrong.ptx', words)).err, says));

test('several errors of launch lines are reported at once', () => {
  const { err } = errorsOf(withLines('many.ptx', '--out 0=a --gird 4', '--record'));
  assert.equal(err.match(/CM50\d\d/g), ['CM5043', 'CM5042', 'CM5043']);
});

const outside: readonly (readonly [what: string, name: string, says: RegExp])[] = [
  ['an absolute path', join(top, 'secret.bin'), /is an absolute path/],
  ['a path with ..', '../secret.bin', /leads out of the folder/],
  ['a path with .. in the middle', 'sub/../../secret.bin', /leads out of the folder/],
  ['a symbolic link', 'link.bin', /is a symbolic link out of the folder/],
];
for (const [what, name, says] of outside) {
  test(`launch lines: ${what} is an error, and --allow-outside allows it`, async () => {
    withLines('reads.ptx', '--grid 1 --block 4', `--arg f32@${name} --arg f32:4=ones --arg f32:4 --arg u32=4 --print 2`);
    const { code, err, out } = await own('run', 'reads.ptx');
    assert.is(code, 2);
    assert.match(err, /^error\[CM5044\]: /);
    assert.match(err, says);
    assert.match(err, /--> reads\.ptx:2:14/);
    assert.not.match(out, /\b10\b/);
    assert.match((await own('run', 'reads.ptx', '--allow-outside')).out, /\b10 10 10 10\b/);
  });
  test(`launch lines: ${what} is no expectation either`, async () => {
    withLines('checks.ptx', ...whole, `--check 2=${name}`);
    assert.match((await own('run', 'checks.ptx')).err, /^error\[CM5044\]: .*\n +--> checks\.ptx:3:14/);
  });
  test(`launch file: ${what} is an error, and --allow-outside allows it`, async () => {
    writeLaunch('reads.json', { args: argsWith({ name: 'a', buffer: 'f32', shape: [4], init: { file: name } }) });
    const { code, err } = await own('run', '--launch', 'reads.json');
    assert.is(code, 1);
    assert.match(err, /^error\[CM5044\]: /);
    assert.match(err, says);
    assert.match(err, /--> reads\.json:\d+:\d+/);
    assert.is((await own('run', '--launch', 'reads.json', '--allow-outside')).code, 0);
  });
  test(`launch file: ${what} is no expectation, constant or struct`, async () => {
    for (const more of [
      { args: argsWith({ name: 'a', buffer: 'f32', shape: [4], expect: { file: name } }) },
      { constants: { table: name } },
      { args: argsWith({ name: 'a', bytes: name }) },
    ]) {
      writeLaunch('names.json', more);
      assert.match((await own('run', '--launch', 'names.json')).err, /^error\[CM5044\]: /, JSON.stringify(more));
    }
  });
}

test('files of launch lines are relative to the file, not to the working folder', () => {
  withLines('relative.ptx', '--grid 1 --block 4', '--arg f32@own.bin --arg f32:4=ones --arg f32:4 --arg u32=4 --print 2');
  const { status, stdout } = spawnSync(process.execPath, [main, 'run', 'case/relative.ptx'], { encoding: 'utf8', cwd: top });
  assert.is(status, 0);
  assert.match(stdout, /\b2 3 4 5\b/);
});

test('what a user types is not confined', async () => {
  const words = ['--grid', '1', '--block', '4', '--arg', 'f32@../secret.bin', '--arg', 'f32:4=ones', '--arg', 'f32:4', '--arg', 'u32=4'];
  assert.match((await own('run', withLines('typed.ptx'), ...words, '--print', '2')).out, /\b10 10 10 10\b/);
});

// ── launch files ──

const argsWith = (first: object): object[] => [
  first,
  { name: 'b', buffer: 'f32', shape: [4], init: 'ones' },
  { name: 'c', buffer: 'f32', shape: [4] },
  { name: 'n', type: 'u32', value: 4 },
];

function writeLaunch(name: string, more: object): void {
  const args = argsWith({ name: 'a', buffer: 'f32', shape: [4], init: 'iota' });
  const launch = { module: 'plain.ptx', kernel: 'vector_add', grid: [1, 1, 1], block: [4, 1, 1], args, ...more };
  writeFileSync(at(name), JSON.stringify(launch, undefined, 2));
}
withLines('plain.ptx');

test('a word that the schema does not have is an error with file, line and column', async () => {
  for (const word of ['out', 'device', 'timeout', 'record', 'repeat', 'threads', 'profile', 'traceOut']) {
    writeLaunch('word.json', { [word]: '0=/tmp/x' });
    const { code, err } = await own('run', '--launch', 'word.json');
    assert.is(code, 1);
    assert.match(
      err,
      new RegExp(`^error\\[CM5041\\]: launch file \`word.json\`: \`${word}\` is not a key of this object.*\\n +--> word\\.json:\\d+:3\\n`),
    );
  }
});

test('a key that is repeated is an error, because readers differ in which one they take', async () => {
  writeFileSync(at('twice.json'), '{ "module": "plain.ptx",\n  "module": "other.ptx" }');
  assert.match((await own('run', '--launch', 'twice.json')).err, /CM5040\]: .*the key "module" is repeated\n +--> twice\.json:2:3/);
});

test('a module may be in another folder, and no other file can be printed as if it were one', async () => {
  writeLaunch('module.json', { module: '../kernel.ptx' });
  assert.is((await own('run', '--launch', 'module.json')).code, 0);
  for (const module of ['../secret.txt', join(top, 'secret.txt'), 'link.ptx', '/etc/passwd']) {
    writeLaunch('module.json', { module });
    const { err } = await own('run', '--launch', 'module.json');
    assert.match(err, /^error\[CM5044\]: /, module);
    assert.not.match(err, /top secret|root:/);
  }
});

test('a launch file beside a module is confined as well', async () => {
  withLines('beside.ptx');
  writeLaunch('beside.launch.json', { args: argsWith({ name: 'a', buffer: 'f32', shape: [4], init: { file: '../secret.bin' } }) });
  assert.match((await own('run', 'beside.ptx')).err, /^error\[CM5044\]: .*\n +--> beside\.launch\.json:/);
});

// ── --record ──

const recording = (file: string): string[] => {
  writeLaunch('record.json', {
    args: [
      ...argsWith({ name: 'a', buffer: 'f32', shape: [4] }).slice(0, 2),
      { name: 'c', buffer: 'f32', shape: [4], expect: { file } },
      { name: 'n', type: 'u32', value: 4 },
    ],
  });
  return ['run', '--launch', 'record.json', '--device', 'cpu', '--record'];
};

test('--record writes beside the launch file', async () => {
  assert.is((await own(...recording('c.bin'))).code, 0);
  assert.equal(new Uint8Array(readFileSync(at('c.bin'))), floats(1, 1, 1, 1));
});

test('--record writes nowhere else, not even with --allow-outside', async () => {
  symlinkSync(join(top, 'made-by-link'), at('dangling.bin'));
  symlinkSync(top, at('up'));
  mkdirSync(at('.git'));
  const before = readdirSync(top).sort();
  for (const file of [join(top, 'made'), '../made', 'dangling.bin', 'up/made', 'link.bin', '.git/config', '.bashrc'])
    for (const more of [[], ['--allow-outside']]) {
      const { code, err } = await own(...recording(file), ...more);
      assert.is(code, 1, file);
      assert.match(err, /^error\[CM5044\]: /, file);
    }
  assert.equal(readdirSync(top).sort(), before);
  assert.equal(readdirSync(at('.git')), []);
  assert.not.ok(existsSync(at('.bashrc')));
  assert.equal(new Uint8Array(readFileSync(join(top, 'secret.bin'))), floats(9, 9, 9, 9));
});

// ── files that are no files ──

const typed = (file: string): string[] => [
  'run',
  'plain.ptx',
  '--grid',
  '1',
  '--block',
  '4',
  '--arg',
  `f32@${file}`,
  '--arg',
  'f32:4',
  '--arg',
  'f32:4',
  '--arg',
  'u32=4',
];

test('devices, pipes, sockets and folders are no data', async () => {
  execFileSync('mkfifo', [at('fifo')]);
  const server = createServer();
  await new Promise<void>((done) => server.listen(at('socket'), done));
  const refused: readonly (readonly [file: string, why: RegExp])[] = [
    ['/dev/zero', /it is a device/],
    ['/dev/null', /it is a device/],
    ['fifo', /it is a pipe/],
    ['socket', /it is a (pipe or a )?socket/],
    ['.', /it is a folder/],
    ['-', /no such file/],
  ];
  for (const [file, why] of refused) {
    const { code, err } = cli(...typed(file));
    assert.is(code, 1, `${file}: ${err}`);
    assert.match(err, /^error\[CM5030\]: /);
    assert.match(err, why);
  }
  server.close();
  for (const command of ['check', 'inspect', 'validate', 'run']) assert.match(cli(command, '/dev/zero').err, /it is a device/, command);
});

test('a pipe that a launch file names is not waited for', () => {
  execFileSync('mkfifo', [at('pipe.ptx')]);
  writeLaunch('pipe.json', { module: 'pipe.ptx' });
  assert.match(cli('run', '--launch', 'pipe.json').err, /^error\[CM5030\]: .*it is a pipe/);
});

test.run();
