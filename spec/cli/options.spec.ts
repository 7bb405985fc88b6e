import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { targets } from '../../src/air/targets.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { parseArguments, positionalCountProblem } from '../../src/cli/command/command.ts';
import { archChoices, emitChoices, fallbackChoices, fp64Choices, mmaChoices, targetChoices } from '../../src/cli/command/options.ts';
import { commands } from '../../src/cli/commands.ts';
import { cliMarkdown, commandHelp, generalHelp } from '../../src/cli/help.ts';
import { type RunRequest, readRequest } from '../../src/cli/run/options.ts';
import { mergeLaunches } from '../../src/cli/run/own-launch.ts';
import { jsonText, numberJson } from '../../src/cli/terminal/json.ts';
import { elementLines } from '../../src/cli/terminal/numbers.ts';
import { emits, fallbacks, fp64Modes, mmaModes } from '../../src/compile/options.ts';
import { initialContents, splitWords } from '../../src/runtime/index.ts';
import { ptxArchitectures } from '../../src/text/index.ts';

const test = suite('cli/options');

const command = (name: string) => commands.find((c) => c.name === name)!;
const parsedLine = (line: string) => {
  const parsed = parseArguments(command('run'), splitWords(line) as string[]);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
};
const request = (line: string) => {
  const diagnostics = new Diagnostics();
  return { request: readRequest(parsedLine(line), diagnostics), diagnostics };
};

test('the launch whose thread is traced', () => {
  const launch = (word: string): unknown => (request(`k.cu --trace-thread 0,1 --trace-launch ${word}`).request as RunRequest).traceLaunch;
  assert.equal(launch('scale'), { kernel: 'scale', number: 1 });
  assert.equal(launch('scale:12'), { kernel: 'scale', number: 12 });
  assert.equal(launch('deep::fill<float>:2'), { kernel: 'deep::fill<float>', number: 2 });
});

test('every option of run', () => {
  const { request: got } = request(
    'k.ptx --kernel k --grid 4,2 --block=256 --shared 64 --arg i32=-1 --arg f32:4 --print 1 --print 1:8 --out 1=a.npy' +
      ' --check 1=b.npy:1e-3 --device cpu --repeat 3 --timeout .5 --threads 3 --target cpu --constant a=1.5 --constant 3=-4 --constant b=true,0x10,-inf',
  );
  assert.equal(got, {
    plan: {
      sharedBytes: 64,
      constants: [],
      kernel: 'k',
      grid: [4, 2, 1],
      block: [256, 1, 1],
      args: [
        { label: 'i32=-1', kind: 'scalar', element: 'i32', value: -1 },
        { label: 'f32:4', kind: 'buffer', element: 'f32', shape: [4], init: { kind: 'zeros' } },
      ],
    },
    prints: [
      { index: 1, count: undefined },
      { index: 1, count: 8 },
    ],
    outs: [{ index: 1, path: 'a.npy' }],
    checks: [{ index: 1, expect: { path: 'b.npy', rtol: 1e-3, atol: 0, ulp: 0 } }],
    device: 'cpu',
    engine: { threads: 3 },
    repeat: 3,
    timeoutMs: 500,
    isRecording: false,
    sanitize: undefined,
    schedule: undefined,
    trace: undefined,
    traceLaunch: undefined,
    profile: undefined,
    compile: { target: 'cpu' },
    constants: [
      { constant: 'a', value: 1.5 },
      { constant: 3, value: -4n },
      { constant: 'b', value: [true, 16n, Number.NEGATIVE_INFINITY] },
    ],
  });
});

const devicesOf: [line: string, device: string][] = [
  ['', 'auto'],
  ['--engine lane', 'auto'],
  ['--profile', 'cpu'],
  ['--denormals flush', 'cpu'],
  ['--device auto --schedule reverse', 'cpu'],
  ['--device cuda', 'cuda'],
];
for (const [line, device] of devicesOf)
  test(`the device of ${line || 'no options'}`, () => {
    const { request: got } = request(`k.ptx ${line}`);
    assert.is(typeof got !== 'string' && got.device, device);
  });

const checks: [word: string, path: string, rtol: number, atol: number][] = [
  ['0=a.npy', 'a.npy', 0, 0],
  ['0=a.npy:0.5', 'a.npy', 0.5, 0],
  ['0=a.npy:1e-5:2e-8', 'a.npy', 1e-5, 2e-8],
  ['0=c:/a.npy:0:1', 'c:/a.npy', 0, 1],
  ['0=a:b', 'a:b', 0, 0],
];
for (const [word, path, rtol, atol] of checks) {
  test(`--check ${word}`, () => {
    const { request: got } = request(`k.ptx --check ${word}`);
    assert.equal(typeof got !== 'string' && got.checks, [{ index: 0, expect: { path, rtol, atol, ulp: 0 } }]);
  });
}

const wrong: [line: string, words: RegExp][] = [
  ['--trace-thread 3', /invalid value `3` for `--trace-thread`: expected B,T/],
  ['--trace-thread 1.2,3', /expected B,T/],
  ['--schedule random', /invalid value `random` for `--schedule`: expected one of in-order, reverse, rand:SEED/],
  ['--schedule rand:4294967296', /expected one of in-order/],
  ['--denormals flush --device metal', /`--denormals` requires the CPU device, but `--device` is `metal`/],
  ['--fp fast --device cpu', /`--fp` requires the WebGPU device, but `--device` is `cpu`/],
  ['--fp fast', /`--fp` requires the WebGPU device, but `--device` is `auto`/],
  ['--sanitize --device cuda', /`--sanitize` requires the CPU device, but `--device` is `cuda`/],
  ['--grid 0', /invalid value `0` for `--grid`: expected X\[,Y\[,Z\]\], integers of at least 1/],
  ['--grid 1,2,3,4', /X\[,Y\[,Z\]\]/],
  ['--block 4x4', /X\[,Y\[,Z\]\]/],
  ['--shared -4', /an integer of at least 0/],
  ['--shared 4,a', /an integer of at least 0/],
  ['--repeat 0', /an integer from 1 to 1000000/],
  ['--threads 0', /an integer from 1 to 1024/],
  ['--timeout 0', /a number of seconds above 0/],
  ['--timeout -1', /a number of seconds above 0|--timeout/],
  ['--timeout NaN', /a number of seconds above 0/],
  ['--timeout Infinity', /a number of seconds above 0/],
  [`--timeout ${'9'.repeat(400)}`, /a number of seconds above 0/],
  ['--print a', /I or I:COUNT/],
  ['--out a.npy', /I=FILE/],
  ['--constant a', /NAME=VALUE or NUMBER=VALUE/],
  ['--constant a=1,x', /NAME=VALUE or NUMBER=VALUE/],
  ['--check 0', /I=FILE\[:rtol\[:atol\]\]/],
];
for (const [line, words] of wrong) test(`refused: ${line}`, () => assert.match(request(`k.ptx ${line}`).request as string, words));

test('a malformed argument is a diagnostic', () => {
  assert.is(request('k.ptx --arg f33:4').diagnostics.list[0]!.code, 'CM5010');
});

const unsorted: [argv: string[], words: RegExp][] = [
  [['--gird', '4'], /unexpected option `--gird` for `cumetal run`; did you mean `--grid`\?/],
  [['--frobnicate'], /unexpected option `--frobnicate` for `cumetal run`$/],
  [['--grid'], /`--grid` requires a value: `--grid X\[,Y\[,Z\]\]`/],
  [['--grid', '--block', '4'], /`--grid` requires a value/],
  [['--json=yes'], /invalid value `yes` for `--json`: expected one of full/],
  [['--fp64', 'hard'], /invalid value `hard` for `--fp64`: expected one of soft, warn, emulate, native/],
  [['--mma', 'quick'], /invalid value `quick` for `--mma`: expected one of exact, fast/],
  [['--device', 'gpu'], /invalid value `gpu` for `--device`: expected one of auto, metal, cpu, cuda, opencl, webgpu; did you mean `cpu`\?/],
];
for (const [argv, words] of unsorted)
  test(`refused: ${argv.join(' ')}`, () => assert.match(parseArguments(command('run'), argv) as string, words));

test('too few and too many arguments', () => {
  const none = { positionals: [], options: new Map() };
  assert.match(positionalCountProblem(command('build'), none)!, /`cumetal build` requires a file/);
  assert.match(
    positionalCountProblem(command('inspect'), { ...none, positionals: ['a', 'b'] })!,
    /unexpected argument `b` for `cumetal inspect`/,
  );
});

test('typed options override the launch lines of a file, and lists are appended to', () => {
  const [first, second] = ['--grid 4 --block 2 --shared 4,8 --print 0', 'k.ptx --grid 8 --shared 16 --print 1'].map(
    (line) => readRequest(parsedLine(line), new Diagnostics()) as RunRequest,
  );
  const { plan, prints } = mergeLaunches(first!, second!);
  assert.equal(plan, { grid: [8, 1, 1], block: [2, 1, 1], sharedBytes: 16, constants: [] });
  assert.equal(
    prints.map(({ index }) => index),
    [0, 1],
  );
});

test('choices that are spelled twice are equal', () => {
  assert.equal(emitChoices, [...emits, 'wat', 'wat:simd', 'opencl', 'msl', 'wgsl', 'ptx', 'host', 'host:objc']);
  assert.equal(fp64Choices, [...fp64Modes]);
  assert.equal(mmaChoices, [...mmaModes]);
  assert.equal(fallbackChoices, [...fallbacks, 'all']);
  assert.equal(targetChoices, Object.keys(targets));
  assert.equal(archChoices, Object.keys(ptxArchitectures));
});

test('help names every command and option, and starts with an example', () => {
  for (const c of commands) {
    assert.match(generalHelp(), `  ${c.name} `);
    const help = commandHelp(c);
    assert.ok(help.startsWith(`cumetal ${c.name}`));
    for (const option of c.options) assert.match(help, `--${option.name}`);
    assert.ok(c.examples.length > 0);
  }
});

test('the examples of help are valid command lines', () => {
  for (const c of commands) {
    for (const { line } of c.examples) {
      const [, name, ...argv] = splitWords(line.replace(/ [>|].*$/, '')) as string[];
      assert.is(name, c.name);
      const words = parseArguments(c, argv);
      assert.type(words, 'object', `${line}: ${words}`);
      if (typeof words !== 'string') assert.is(positionalCountProblem(c, words), undefined);
    }
  }
});

test('docs/cli.md is derived from the commands', () => {
  const path = new URL('../../docs/cli.md', import.meta.url);
  assert.is(readFileSync(path, 'utf8'), cliMarkdown());
});

test('JSON loses no number', () => {
  const values = [1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 2n ** 53n, 2n ** 64n - 1n, -5n];
  assert.is(
    jsonText({ a: values.map(numberJson), b: undefined, c: null }),
    '{"a":[1.5,"nan","inf","-inf",-0.0,9007199254740992,"18446744073709551615",-5],"c":null}',
  );
});

const output = (shape: number[]) => ({
  index: 0,
  name: 'x',
  isWritten: true,
  element: 'i32' as const,
  shape,
  bytes: initialContents('i32', shape, { kind: 'iota' }),
  expect: undefined,
});

test('numbers are aligned in columns, and the rest is counted', () => {
  assert.equal(elementLines(output([20]), 10, false), ['  0 | 0 1 2 3 4 5 6 7', '  8 | 8 9', '  … 10 more']);
  assert.equal(elementLines(output([2, 10]), undefined, false), [
    '  0 |  0  1  2  3  4  5  6  7 …',
    '  1 | 10 11 12 13 14 15 16 17 …',
    '  … 4 more',
  ]);
  assert.equal(elementLines(output([3]), undefined, true), ['  0 | 0 1 2']);
});

test.run();
