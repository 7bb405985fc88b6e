/**
 * Control characters of names and source lines: none reaches a terminal, a GitHub annotation or a page, whatever the input. The process runs
 * on a pseudo-terminal's worth of attacks: names in PTX, metallibs and launch files, file names, and words of the command line.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { emitKernel, targets } from '../../src/air/index.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { printable, printableJson, printableText } from '../../src/base/printable.ts';
import { SourceFile } from '../../src/base/source.ts';
import { writeModule } from '../../src/bitcode/index.ts';
import { profileHtml } from '../../src/cli/run/profile-html.ts';
import { profileText } from '../../src/cli/run/profile-text.ts';
import { traceText } from '../../src/cli/run/trace-text.ts';
import { githubLine } from '../../src/cli/terminal/formats.ts';
import { jsonText } from '../../src/cli/terminal/json.ts';
import { renderDiagnostic } from '../../src/cli/terminal/render.ts';
import { writeMetallib } from '../../src/metallib/index.ts';
import { exampleText } from '../support/examples.ts';
import { vectorAdd } from '../support/kernels.ts';

const test = suite('cli/printable');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);
const main = new URL('../../src/cli/start.ts', import.meta.url).pathname;

// Independent of the code: ECMA-48's C0 and C1 with DEL, and Unicode's directional formatting characters (Bidi_Control) and separators.
const isUnsafe = (code: number): boolean =>
  code < 0x20 ||
  (code >= 0x7f && code <= 0x9f) ||
  [0x61c, 0x200e, 0x200f, 0x2028, 0x2029].includes(code) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2066 && code <= 0x2069);

/** An attack: clears the screen, sets the title, C1's CSI, reverses the line, and forges a line. */
const evil = '\u001b[2J\u001b]0;pwned\u0007\u009b31m\u202egnol\u2066\u2028\r\nforged: valid\r\n::error::forged';

/** The unsafe characters of a text, except line feeds and tabs. */
const unsafeIn = (text: string): string[] =>
  [...text]
    .filter((char) => char !== '\n' && char !== '\t' && isUnsafe(char.codePointAt(0)!))
    .map((char) => char.codePointAt(0)!.toString(16));

test('every unsafe character is replaced, and no other', () => {
  for (let code = 0; code < 0x3000; code++) {
    const char = String.fromCodePoint(code);
    assert.is(printable(char), isUnsafe(code) ? '\ufffd' : char, code.toString(16));
    assert.is(printableText(char), isUnsafe(code) && char !== '\n' && char !== '\t' ? '\ufffd' : char, code.toString(16));
  }
  assert.is(printable('\u{1f600}'), '\u{1f600}');
});

test('JSON has escapes instead, of the same meaning', () => {
  const value = { [evil.toLowerCase()]: [evil, 1] };
  for (const text of [jsonText(value), printableJson(JSON.stringify(value, undefined, 2))]) {
    assert.equal(unsafeIn(text), []);
    assert.equal(JSON.parse(text), value);
  }
});

interface Ran {
  readonly code: number | null;
  readonly all: string;
}

/** Runs a command line; fails if an unsafe character is written, or a line is forged. */
function cli(...words: readonly string[]): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...words], {
    encoding: 'utf8',
    cwd: folder,
    input: '',
    timeout: 60_000,
  });
  const all = `${stdout}\n${stderr}`;
  assert.equal(unsafeIn(all), [], `${words.map((word) => JSON.stringify(word)).join(' ')}: ${JSON.stringify(all)}`);
  assert.not.match(all, /^forged|^::error::forged/m, words.join(' '));
  return { code: status, all };
}

/** A library whose function has a name of the attacker. */
function evilLibrary(): Uint8Array {
  const module = emitKernel({ ...vectorAdd(), name: evil }, targets.macos14, new Diagnostics());
  return writeMetallib({
    version: targets.macos14.container,
    platform: 'macos',
    os: targets.macos14.os,
    functions: [{ name: evil, type: 'kernel', airVersion: [2, 6], metalVersion: [3, 1], bitcode: writeModule(module) }],
  });
}

test('a metallib with such names', () => {
  writeFileSync(at('evil.metallib'), evilLibrary());
  assert.match(cli('inspect', 'evil.metallib').all, /kernel \ufffd\[2J/);
  cli('inspect', 'evil.metallib', '--disassemble');
  cli('inspect', 'evil.metallib', '--json');
  cli('inspect', 'evil.metallib', '--function', evil.replaceAll('\0', ''));
  cli('validate', 'evil.metallib');
  cli('run', 'evil.metallib');
  cli('run', 'evil.metallib', '--json');
  cli('run', 'evil.metallib', '--kernel', 'other');
  cli('run', 'evil.metallib', '--profile');
  cli('run', 'evil.metallib', '--trace-thread', '0,0');
});

test('PTX with such source lines, strings and comments', () => {
  const text = `.version 8.0\n.target sm_80\n.address_size 64\n// ${evil}\n.visible .entry k()\n{\n  .pragma "${evil.replaceAll(/[\r\n]/g, '')}";\n  frobnicate ${evil.replaceAll(/[\r\n]/g, '')};\n  ret;\n}\n`;
  writeFileSync(at('evil.ptx'), text);
  for (const format of ['text', 'json', 'sarif', 'github']) assert.is(cli('check', 'evil.ptx', '--format', format).code, 3);
  writeFileSync(at('pragma.ptx'), text.replace(/ {2}frobnicate.*\n/, ''));
  for (const what of ['ast', 'ir', 'air-ll', 'reflection', 'wat']) cli('build', 'pragma.ptx', '--emit', what, '-o', '-');
  cli('check', 'pragma.ptx');
});

test('file names and words of the command line', () => {
  const name = `${evil.replaceAll('/', '')}.ptx`;
  writeFileSync(at(name), 'x');
  for (const command of ['check', 'run', 'inspect', 'validate']) cli(command, name);
  cli('check', name, '--format', 'github');
  cli('build', name, '-o', `${evil}.metallib`);
  for (const words of [
    [evil],
    ['run', `--${evil}`],
    ['run', 'evil.ptx', '--grid', evil],
    ['explain', evil],
    ['cache', evil],
    ['run', 'evil.ptx', '--arg', evil],
  ])
    cli(...words);
  cli('run', evil);
  cli('run', '--launch', evil);
});

test('launch files and launch lines with such names', () => {
  writeFileSync(at('plain.ptx'), exampleText('vector_add').replace(/^\/\/! cumetal:.*\n/gm, ''));
  const launch = {
    module: 'plain.ptx',
    kernel: 'vector_add',
    grid: [1, 1, 1],
    block: [4, 1, 1],
    args: [
      { name: evil, buffer: 'f32', shape: [4] },
      { name: 'b', buffer: 'f32', shape: [4] },
      { name: evil, buffer: 'f32', shape: [4], expect: { file: 'missing.npy' } },
      { name: 'n', type: 'u32', value: 4 },
    ],
  };
  for (const more of [
    {},
    { kernel: evil },
    { module: evil },
    { [evil]: 1 },
    { constants: { [evil]: 'x.npy' } },
    { args: [{ name: evil, bytes: evil }] },
  ]) {
    writeFileSync(at('evil.json'), JSON.stringify({ ...launch, ...more }));
    cli('run', '--launch', 'evil.json', '--print', '0');
    cli('run', '--launch', 'evil.json', '--json');
    cli('diff', '--launch', 'evil.json', '--devices', 'cpu:lane,cpu:simd');
  }
  const line = evil.replaceAll(/[\r\n]/g, '');
  writeFileSync(
    at('lines.ptx'),
    `//! cumetal: --kernel '${line}' --check 0='${line}' --arg '${line}'\n${readFileSync(at('plain.ptx'), 'utf8')}`,
  );
  cli('run', 'lines.ptx');
});

test('a folder of launches with such names', () => {
  mkdirSync(at('launches'));
  writeFileSync(join(folder, 'launches', `${evil.replaceAll('/', '')}.launch.json`), '{}');
  cli('diff', 'launches', '--devices', 'cpu:lane,cpu:simd');
});

test('a diagnostic in color has no other control characters than its colors', () => {
  const file = new SourceFile(evil, `${evil}\n${evil}`);
  const span = { start: 0, end: file.text.length };
  const diagnostics = new Diagnostics(file);
  const more = [{ span: { start: 3, end: 4 }, text: evil }];
  diagnostics.report('CM5030', { path: evil, why: evil }, { span, label: evil, more, notes: [evil], help: evil });
  const text = renderDiagnostic(diagnostics.list[0]!, true);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing the color codes
  assert.equal(unsafeIn(text.replace(/\u001b\[(0|1|1;3[1346])m/g, '')), []);
  assert.not.match(text, /^forged|^::/m);
});

test('a GitHub annotation is one command: what it says cannot end it or start another', () => {
  const diagnostics = new Diagnostics(new SourceFile(`a::b,c%\n${evil}`, 'x'));
  diagnostics.report('CM5030', { path: `%0A::warning::${evil}`, why: '::stop-commands::x' }, { span: { start: 0, end: 1 } });
  const line = githubLine(diagnostics.list[0]!);
  assert.equal(unsafeIn(line), []);
  assert.not.match(line, /[\r\n]/);
  // The runner takes the text between the first and the second `::` as the command and its properties.
  const [, head = '', ...data] = line.split('::');
  assert.match(head, /^error file=[^:]*,line=1,endLine=1,col=1,endColumn=2,title=CM5030$/);
  assert.match(data.join('::'), /`%250A::warning::/, 'a percent sign of the input is escaped');
});

const counts = { executed: { warps: 1, lanes: 32 } };

test('a page, a table and a trace have no raw name or line', () => {
  const access = { requests: 0, lanes: 0, bytes: 0, sectors: 0, lines: 0, leastSectors: 0 };
  const shared = { requests: 0, lanes: 0, wavefronts: 0, leastWavefronts: 0 };
  const line = {
    ...counts,
    branches: { executed: 0, diverged: 0 },
    flops: { f16: 0, f32: 0, f64: 0 },
    global: { load: access, store: access, atomic: access },
    shared: { load: shared, store: shared, atomic: shared },
  };
  const profile = {
    kernel: `<script>steal()${evil}`,
    grid: [1, 1, 1],
    block: [32, 1, 1],
    warps: 1,
    total: line,
    operations: { [`<b>bold${evil}`]: counts.executed },
    footprint: { sectors: 0, bytes: 0 },
    lines: [{ ...line, line: 1, source: `</td></script><script>steal()${evil}` }],
  } as unknown as Parameters<typeof profileHtml>[0];
  const source = new SourceFile('k.ptx', `<img src=x onerror=y>${evil}`);
  const page = profileHtml(profile, source, undefined);
  assert.equal(unsafeIn(page), []);
  assert.not.match(page, /<script>steal|<img|<b>bold/);
  assert.is(page.split('<script>').length, 2, 'the page has the one script of its own');
  assert.is(page.split('</script>').length, 2);
  assert.equal(unsafeIn(profileText(profile, source, undefined)), []);
  const trace = {
    kernel: evil,
    block: [0, 0, 0],
    thread: [0, 0, 0],
    count: 1,
    steps: [{ line: 1, column: 1, file: evil, text: evil, isStart: true, operations: [] }],
  };
  const text = traceText(trace as unknown as Parameters<typeof traceText>[0]);
  assert.equal(unsafeIn(text), []);
  assert.not.match(text, /^forged/m);
});

test.run();
