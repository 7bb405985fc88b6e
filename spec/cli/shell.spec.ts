/** What surrounds the commands: completions, the manual page, `--quiet`, and the variables of color. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commands } from '../../src/cli/commands.ts';
import { commandLine } from '../support/command-line.ts';
import { examplesFolder } from '../support/examples.ts';
import { need } from '../support/need.ts';

const test = suite('cli/shell');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const saxpy = join(examplesFolder, 'saxpy.ptx');

const script = async (shell: string): Promise<string> => (await commandLine(['completions', shell])).out;

/** The completions of a line in bash. */
async function completed(...words: string[]): Promise<string[]> {
  const path = join(folder, 'cumetal.bash');
  writeFileSync(path, await script('bash'));
  const quoted = words.map((word) => `'${word}'`).join(' ');
  const run = `source '${path}'; COMP_WORDS=(cumetal ${quoted}); COMP_CWORD=${words.length}; _cumetal; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', run], { encoding: 'utf8', cwd: folder });
  assert.is(stderr, '');
  return stdout.split('\n').filter((line) => line !== '');
}

need(test, ['bash'], 'bash completes commands, options, choices and files', async () => {
  assert.equal(await completed('de'), ['devices']);
  assert.equal(await completed(''), [...commands.map(({ name }) => name), '--help', '--version']);
  assert.equal(await completed('run', '--sani'), ['--sanitize']);
  assert.equal(await completed('run', '--device', ''), ['auto', 'metal', 'cpu', 'cuda', 'opencl', 'webgpu']);
  assert.equal(await completed('cache', 'l'), ['list']);
  writeFileSync(join(folder, 'kernel.ptx'), '');
  assert.equal(await completed('check', 'ker'), ['kernel.ptx']);
});

for (const [shell, marks] of [
  ['bash', (name: string) => [`    ${name})`]],
  ['zsh', (name: string) => [`    ${name})`, `'${name}:`]],
  ['fish', (name: string) => [`-a ${name} -d`, `__fish_seen_subcommand_from ${name}'`]],
] as const)
  test(`the script for ${shell} has every command and every option`, async () => {
    const text = await script(shell);
    for (const { name, options } of commands) {
      for (const mark of marks(name)) assert.ok(text.includes(mark), `${name}: ${mark}`);
      for (const option of options) assert.match(text, new RegExp(shell === 'fish' ? `-l ${option.name}\\b` : `--${option.name}\\b`));
    }
  });

for (const shell of ['zsh', 'fish'])
  need(test, [shell], `${shell} reads its script`, async () => {
    const path = join(folder, `cumetal.${shell}`);
    writeFileSync(path, await script(shell));
    assert.equal(spawnSync(shell, ['-n', path], { encoding: 'utf8' }).stderr, '');
  });

test('an unknown shell is a usage error', async () => {
  const { code, err } = await commandLine(['completions', 'tcsh']);
  assert.is(code, 2);
  assert.match(err, /unknown shell `tcsh`: expected one of bash, zsh, fish/);
});

test('the manual page has every command and option, and no line that roff takes for a macro', () => {
  const page = readFileSync(new URL('../../man/cumetal.1', import.meta.url), 'utf8');
  assert.match(page, /^\.TH CUMETAL 1 /);
  for (const { name, options } of commands) {
    assert.ok(page.includes(`.SH CUMETAL ${name.toUpperCase()}\n`), name);
    for (const option of options) assert.ok(page.includes(`\\-\\-${option.name.replaceAll('-', '\\-')}`), option.name);
  }
  for (const line of page.split('\n')) assert.ok(!/^[.']/.test(line) || /^\.(TH|SH|TP|B|I|PP|RS|RE|nf|fi)\b/.test(line), line);
});

test('--quiet leaves results, errors and the exit code', async () => {
  assert.equal(await commandLine(['build', saxpy, '-o', 'o.metallib', '--quiet']).then(({ code, out, err }) => [code, out, err]), [
    0,
    '',
    '',
  ]);
  assert.equal(await commandLine(['check', saxpy, '-q']).then(({ code, out, err }) => [code, out, err]), [0, '', '']);
  assert.equal(await commandLine(['run', saxpy, '-q']).then(({ code, err }) => [code, err]), [0, '']);
  assert.match((await commandLine(['run', saxpy, '-q', '--print', '2:2'])).out, /^2 saxpy_param_2: f32\[4000\]\n {2}0 \| /);
  assert.equal((await commandLine(['diff', saxpy, '--devices', 'cpu:lane,cpu:simd', '-q'])).out, '');
  const bad = await commandLine(['check', 'bad.ptx', '-q'], { 'bad.ptx': '.version 7.0\n.target sm_70\n.address_size 64\nfoo;\n' });
  assert.equal([bad.code, bad.out], [3, '']);
  assert.match(bad.err, /error\[CM/);
});

const start = new URL('../../src/cli/start.ts', import.meta.url).pathname;

test('FORCE_COLOR colors a pipe, NO_COLOR goes first, and 0 disables', () => {
  const path = join(folder, 'bad.ptx');
  writeFileSync(path, '.version 7.0\n.target sm_70\n.address_size 64\nfoo;\n');
  const hasColor = (env: Record<string, string>): boolean => {
    const { FORCE_COLOR: _, NO_COLOR: __, ...own } = process.env;
    const { stderr } = spawnSync(process.execPath, [start, 'check', path], { encoding: 'utf8', env: { ...own, ...env } });
    assert.match(stderr, /CM1/);
    return stderr.includes('\u001b[');
  };
  assert.is(hasColor({}), false);
  assert.is(hasColor({ FORCE_COLOR: '1' }), true);
  assert.is(hasColor({ FORCE_COLOR: '0' }), false);
  assert.is(hasColor({ FORCE_COLOR: '1', NO_COLOR: '1' }), false);
});

test.run();
