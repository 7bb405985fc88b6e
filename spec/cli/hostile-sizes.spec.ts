/** Sizes that no machine has are diagnostics, whoever names them: the command line, a launch file, a launch line or a PTX file. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { verifies } from '../../src/compile/index.ts';
import { launch } from '../../src/runtime/index.ts';
import { exampleText } from '../support/examples.ts';
import { fakeDevice, kernel, pointer } from '../support/fake-device.ts';

const test = suite('cli/hostile-sizes');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
const main = new URL('../../src/cli/start.ts', import.meta.url).pathname;
writeFileSync(at('k.ptx'), exampleText('vector_add').replace(/^\/\/! cumetal:.*\n/gm, ''));

/** The codes of the diagnostics of a command line that fails. */
function codesOf(...words: readonly string[]): { codes: string[]; err: string } {
  const { status, stderr } = spawnSync(process.execPath, [main, ...words], { encoding: 'utf8', cwd: folder, input: '', timeout: 60_000 });
  assert.ok(status === 1 || status === 2 || status === 3, `${words.join(' ')}: ${status} ${stderr}`);
  assert.not.match(stderr, /RangeError|internal error|out of memory/i);
  return { codes: [...stderr.matchAll(/\[(CM\d{4})\]/g)].map(([, code]) => code!), err: stderr };
}

const small = ['--arg', 'f32:1', '--arg', 'f32:1', '--arg', 'u32=1'];
const run = (...words: readonly string[]): string[] => ['run', 'k.ptx', '--grid', '1', '--block', '1', ...words];
const attacks: readonly (readonly [words: string[], code: string | RegExp])[] = [
  [run('--arg', 'f32:1e12', ...small), 'CM5010'],
  [run('--arg', 'f32:1000000000000', ...small), 'CM5010'],
  [run('--arg', 'f32:200000000000=iota', ...small), 'CM6012'],
  [run('--arg', `f32:${'9'.repeat(400)}`, ...small), 'CM5010'],
  [run('--arg', 'u8:65536x65536x16=rand', ...small), 'CM6012'],
  [run('--arg', 'f32:1', ...small, '--grid', '2000000000', '--block', '1024'), 'CM5047'],
  [run('--arg', 'f32:1', ...small, '--grid', '2000000000,2000000000,2000000000'), 'CM5047'],
  [run('--arg', 'f32:1', ...small, '--grid', '4000000000'), 'CM5024'],
  [run('--arg', 'f32:1', ...small, '--grid', '2000000000,2000000000,2000000000', '--timeout', '0.1'), 'CM6010'],
  [run('--arg', 'f32:1', ...small, '--block', '2000000000'), 'CM5021'],
  [run('--arg', 'f32:1', ...small, '--shared', '2000000000'), 'CM5022'],
  [run('--arg', 'f32:1', ...small, '--threads', '100000'), /from 1 to 1024/],
  [run('--arg', 'f32:1', ...small, '--repeat', '999999999999'), /from 1 to 1000000/],
];
for (const [words, expected] of attacks)
  test(`${words.slice(6).join(' ').slice(0, 60)} is an error`, () => {
    const { codes, err } = codesOf(...words);
    if (typeof expected === 'string') assert.equal(codes, [expected]);
    else assert.match(err, expected);
  });

test('a launch file with such sizes', () => {
  const buffer = (shape: readonly number[]): object => ({ name: 'a', buffer: 'f64', shape });
  const whole = {
    module: 'k.ptx',
    kernel: 'vector_add',
    grid: [1, 1, 1],
    block: [1, 1, 1],
    args: [buffer([1]), buffer([1]), buffer([1]), { name: 'n', type: 'u32', value: 1 }],
  };
  const large = Number.MAX_SAFE_INTEGER;
  for (const [more, code] of [
    [{ grid: [large, large, large] }, 'CM5047'],
    [{ block: [large, 1, 1] }, 'CM5047'],
    [{ sharedBytes: large }, 'CM5024'],
    [{ args: [buffer([large, large]), ...whole.args.slice(1)] }, 'CM6012'],
  ] as const) {
    writeFileSync(at('large.json'), JSON.stringify({ ...whole, ...more }));
    assert.equal(codesOf('run', '--launch', 'large.json').codes, [code]);
  }
});

test('files that are too large are not read', () => {
  writeFileSync(at('sparse.ptx'), '');
  truncateSync(at('sparse.ptx'), 2 ** 33);
  for (const words of [
    run('--arg', 'u8@sparse.ptx', ...small),
    ['check', 'sparse.ptx'],
    ['inspect', 'sparse.ptx'],
    ['validate', 'sparse.ptx'],
  ])
    assert.match(codesOf(...words).err, /more than 2147483648 bytes/);
  truncateSync(at('sparse.ptx'), 129 * 1024 * 1024);
  assert.match(codesOf('check', 'sparse.ptx').err, /as PTX it may have at most 134217728 bytes/);
});

/** The codes of a module with these declarations, and a kernel that uses `x`. */
function codesOfModule(declared: string, space = 'global'): string[] {
  const text = `.version 8.0\n.target sm_80\n.address_size 64\n${declared}\n.visible .entry k()\n{\n  .reg .b64 %rd<2>;\n  .reg .b32 %r<2>;\n  mov.u64 %rd1, x;\n  ld.${space}.u32 %r1, [%rd1];\n  st.${space}.u32 [%rd1], %r1;\n  ret;\n}\n`;
  const source = new SourceFile('k.ptx', text);
  const diagnostics = new Diagnostics(source);
  verifies(source, { target: 'cpu' }, diagnostics);
  return diagnostics.list.map(({ code }) => code);
}

test('variables that no memory holds are errors, and those that one does are not', () => {
  for (const size of ['1073741825', '4000000000', '100000000000', '9007199254740991']) {
    assert.equal(codesOfModule(`.global .b8 x[${size}];`), ['CM2050'], size);
    assert.equal(codesOfModule(`.global .b8 x[${size}] = {1};`), ['CM2050'], size);
    assert.equal(codesOfModule(`.global .b8 x[${size}][${size}];`), ['CM2050'], size);
  }
  assert.equal(codesOfModule('.global .b8 x[1073741824];'), []);
  assert.equal(codesOfModule('.global .b8 a[1073741824];\n.global .b8 b[1073741824];\n.global .b8 x[4];'), ['CM2042']);
});

test('buffers that do not fit into the memory of the machine together are refused before memory is taken', () => {
  const { device, module } = fakeDevice([kernel('k', [pointer('a', 'u8'), pointer('b', 'u8')])], () => true);
  const codes = (available: number): string[] => {
    const diagnostics = new Diagnostics();
    const spec = { label: 'u8:1000', kind: 'buffer', element: 'u8', shape: [1000], init: { kind: 'zeros' } } as const;
    const io = { readFile: () => ({ why: '' }), writeFile: () => undefined, availableMemory: () => available };
    const plan = { grid: [1, 1, 1], block: [1, 1, 1], args: [spec, spec], constants: [] } as const;
    launch(device, module, plan, { repeat: 1, timeoutMs: 0 }, { io, diagnostics });
    return diagnostics.list.map(({ code }) => code);
  };
  // Three copies of two buffers.
  assert.equal([codes(5999), codes(6000)], [['CM5045'], []]);
});

test('more elements than memory holds as text are not printed', () => {
  const { codes } = codesOf(...run('--arg', 'u8:16777217', ...small, '--print', '0'));
  assert.equal(codes, ['CM5046']);
});

test.run();
