/** `cumetal check` without a process: many files, every format, names for standard input, watching, and places at speed. */
import { spawn } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SourceFile } from '../../src/base/source.ts';
import { type WatchWorld, watchFiles } from '../../src/cli/terminal/watch.ts';
import { cli, type Files, program, type Wrote } from '../support/cli.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';

const test = suite('cli/check');

const head = '.version 8.0\n.target sm_90\n.address_size 64\n';
const kernel = (body: string): string => `${head}.entry k () {\n.reg .b32 %r<3>;\n${body}\nret;\n}\n`;
const bad = 'add.s32 %r1, %x, 1;\n';
/** Names that are not declared are told once in a function. */
const worse = (count: number): string => Array.from({ length: count }, (_, i) => `add.s32 %r1, x${i}a, 1;\n`).join('');

const run = (words: readonly string[], files: Files): Promise<Wrote> => cli(['check', ...words], files);

test('all faults of all files, file by file and there by place', async () => {
  const { code, out, err } = await run(['b.ptx', 'good.ptx', 'a.ptx'], {
    'a.ptx': kernel(worse(2)),
    'b.ptx': kernel(`${bad}foo;\n${worse(1)}${bad}`),
    'good.ptx': kernel(''),
  });
  assert.is(code, 3);
  assert.equal(
    [...err.matchAll(/--> (\S+)/g)].map(([, place]) => place),
    ['b.ptx:6:14', 'b.ptx:7:1', 'b.ptx:8:14', 'a.ptx:6:14', 'a.ptx:7:14'],
  );
  assert.is(out, '3 files checked: 5 errors\n');
});

test('what only compiling for a target finds is looked for where a target is named', async () => {
  const files = { 'a.ptx': kernel('.shared .b8 table[40000];\nmov.u32 %r1, table;\n') };
  assert.is((await run(['a.ptx'], files)).code, 0);
  // Apple GPUs have 32 KiB of threadgroup memory, the CPU device what NVIDIA GPUs have.
  const apple = await run(['a.ptx', '--target', 'macos14'], files);
  assert.is(apple.code, 3);
  assert.match(apple.err, 'error[CM2093]');
  assert.is((await run(['a.ptx', '--target', 'cpu'], files)).code, 0);
});

test('fifty are printed as text and the rest are counted; the forms for machines have all', async () => {
  const files = { 'a.ptx': kernel(worse(73)) };
  const text = await run(['a.ptx'], files);
  assert.is(text.err.split('error[CM1101]').length - 1, 50);
  assert.match(text.err, /\nand 23 errors more\n$/);
  assert.is(JSON.parse((await run(['a.ptx', '--json'], files)).out).diagnostics.length, 73);
  assert.is((await run(['a.ptx', '--format', 'github'], files)).out.split('\n').length, 74);
});

test('warnings and notes leave the exit code 0; strictly, some are errors', async () => {
  const files = { 'a.ptx': `.version 6.0\n.target sm_90\n.entry k (.param .u64 a) { ret; }\n` };
  const lenient = await run(['a.ptx'], files);
  assert.is(lenient.code, 0);
  assert.match(lenient.err, /warning\[CM2106\][\s\S]*note\[CM2204\]/);
  const strict = await run(['a.ptx', '--ptx-strict'], files);
  assert.is(strict.code, 3);
  assert.match(strict.err, 'error[CM2106]');
});

test('standard input has the name that it is given', async () => {
  const files = { '-': kernel(bad) };
  assert.match((await run(['-'], files)).err, '--> <stdin>:6:14');
  assert.match((await run(['-', '--stdin-filename', 'x/k.ptx'], files)).err, '--> x/k.ptx:6:14');
  const { code, err } = await run(['a.ptx', '--stdin-filename', 'k.ptx'], {});
  assert.is(code, 2);
  assert.match(err, '`--stdin-filename` requires `-` (standard input)');
});

// ── SARIF ──

/** What the schema of SARIF 2.1.0 demands of each kind of object that is written: keys that must and keys that may be there. */
const shapes: Readonly<Record<string, { readonly must: readonly string[]; readonly may: readonly string[] }>> = {
  log: { must: ['version', 'runs'], may: ['$schema', 'inlineExternalProperties', 'properties'] },
  run: {
    must: ['tool'],
    may: ['results', 'columnKind', 'artifacts', 'invocations', 'originalUriBaseIds', 'automationDetails', 'properties'],
  },
  tool: { must: ['driver'], may: ['extensions', 'properties'] },
  component: { must: ['name'], may: ['version', 'semanticVersion', 'informationUri', 'rules', 'organization', 'properties'] },
  rule: {
    must: ['id'],
    may: ['name', 'shortDescription', 'fullDescription', 'help', 'helpUri', 'defaultConfiguration', 'messageStrings', 'properties'],
  },
  description: { must: ['text'], may: ['markdown', 'properties'] },
  result: {
    must: ['message'],
    may: ['ruleId', 'ruleIndex', 'level', 'kind', 'locations', 'relatedLocations', 'suppressions', 'fixes', 'properties'],
  },
  message: { must: ['text'], may: ['markdown', 'id', 'arguments', 'properties'] },
  location: { must: ['physicalLocation'], may: ['id', 'message', 'logicalLocations', 'properties'] },
  physical: { must: ['artifactLocation'], may: ['region', 'contextRegion', 'address', 'properties'] },
  artifact: { must: ['uri'], may: ['uriBaseId', 'index', 'description', 'properties'] },
  region: { must: ['startLine'], may: ['startColumn', 'endLine', 'endColumn', 'charOffset', 'charLength', 'snippet', 'message'] },
};

type Json = Readonly<Record<string, unknown>>;

function object(kind: string, value: unknown): Json {
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), `${kind} is an object`);
  const { must, may } = shapes[kind]!;
  const keys = Object.keys(value as object);
  for (const key of must) assert.ok(keys.includes(key), `${kind} has ${key}`);
  for (const key of keys) assert.ok(must.includes(key) || may.includes(key), `${kind} may have ${key}`);
  return value as Json;
}

function list(value: unknown): readonly unknown[] {
  assert.ok(Array.isArray(value));
  return value as readonly unknown[];
}

function assertRegion(value: unknown): void {
  const region = object('region', value);
  // A result without a place is at the first line of its file.
  if (Object.keys(region).length === 1) return assert.is(region.startLine, 1);
  for (const key of ['startLine', 'startColumn', 'endLine', 'endColumn'])
    assert.ok(Number.isInteger(region[key]) && Number(region[key]) >= 1, `${key} counts from 1`);
  const { startLine, endLine, startColumn, endColumn } = region as Record<string, number>;
  assert.ok(endLine! > startLine! || (endLine === startLine && endColumn! >= startColumn!), 'a region ends where it starts or later');
}

function assertResult(value: unknown, rules: readonly Json[]): void {
  const result = object('result', value);
  assert.type(object('message', result.message).text, 'string');
  assert.ok(['none', 'note', 'warning', 'error'].includes(String(result.level)));
  assert.is(rules[Number(result.ruleIndex)]?.id, result.ruleId);
  for (const each of list(result.locations)) {
    const physical = object('physical', object('location', each).physicalLocation);
    const uri = String(object('artifact', physical.artifactLocation).uri);
    // A URI reference by RFC 3986: no character outside of its sets, each `%` with two digits.
    assert.match(uri, /^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%[0-9A-F]{2})+$/);
    if (physical.region !== undefined) assertRegion(physical.region);
  }
}

test('SARIF 2.1.0 has what its schema requires, and nothing that it forbids', async () => {
  const files = { 'a b#1.ptx': kernel(`${bad}foo;\n`), 'none.ptx': '', 'c.ptx': `${head}.entry k (.param .u64 a) { ret; }` };
  const { out } = await run(['a b#1.ptx', 'none.ptx', 'c.ptx', 'missing.ptx', '--format', 'sarif'], files);
  const log = object('log', JSON.parse(out));
  assert.is(log.version, '2.1.0');
  for (const each of list(log.runs)) {
    const { tool, results, columnKind } = object('run', each);
    assert.is(columnKind, 'unicodeCodePoints');
    const driver = object('component', object('tool', tool).driver);
    const rules = list(driver.rules).map((rule) => object('rule', rule));
    for (const { shortDescription, fullDescription } of rules)
      for (const text of [shortDescription, fullDescription]) assert.type(object('description', text).text, 'string');
    assert.is(new Set(rules.map(({ id }) => id)).size, rules.length, 'rules are unique');
    assert.ok(list(results).length >= 5);
    for (const result of list(results)) assertResult(result, rules);
  }
  const found = JSON.parse(out).runs[0].results as { level: string; locations: { physicalLocation: { artifactLocation: Json } }[] }[];
  assert.is(found[0]!.locations[0]!.physicalLocation.artifactLocation.uri, 'a%20b%231.ptx');
  assert.ok(found.some(({ level }) => level === 'note'));
});

test('a SARIF log without results is one too', async () => {
  const log = object('log', JSON.parse((await run(['a.ptx', '--format', 'sarif'], { 'a.ptx': kernel('') })).out));
  assert.equal(object('run', list(log.runs)[0]).results, []);
});

// ── watching ──

/** A world in which the spec says what changes and when. */
function fakeWorld() {
  const folders = new Map<string, (name: string | undefined) => void>();
  let interrupt = (): void => {};
  const world: WatchWorld = {
    watch(folder, changed) {
      folders.set(folder, changed);
      return () => void folders.delete(folder);
    },
    onInterrupt(stop) {
      interrupt = stop;
    },
    settleMs: 5,
  };
  return { world, folders, interrupt: () => interrupt() };
}

const pause = (ms = 30): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test('watching checks at once, after changes of these files alone, once for many, and ends with 0', async () => {
  const { world, folders, interrupt } = fakeWorld();
  let checks = 0;
  const done = watchFiles(
    ['x/a.ptx', 'x/b.ptx', 'c.ptx'],
    async () => {
      checks++;
    },
    world,
  );
  assert.equal([...folders.keys()], ['x', '.']);
  await pause();
  assert.is(checks, 1);
  folders.get('x')!('other.ptx');
  await pause();
  assert.is(checks, 1, 'another file');
  for (const name of ['a.ptx', 'a.ptx', 'b.ptx']) folders.get('x')!(name);
  folders.get('.')!('c.ptx');
  await pause();
  assert.is(checks, 2, 'once for all');
  folders.get('.')!(undefined);
  await pause();
  assert.is(checks, 3, 'it cannot be told what changed');
  interrupt();
  assert.is(await done, 0);
  assert.is(folders.size, 0, 'watchers are closed');
});

test('a check that is under way ends before the next and before the end', async () => {
  const { world, folders, interrupt } = fakeWorld();
  const events: string[] = [];
  const slow = async (): Promise<void> => {
    events.push('start');
    await pause(40);
    events.push('end');
  };
  const done = watchFiles(['a.ptx'], slow, world);
  await pause(15);
  folders.get('.')!('a.ptx');
  await pause(15);
  interrupt();
  await done;
  assert.equal(events, ['start', 'end', 'start', 'end']);
});

test('the process sees a file that an editor replaces, and an interrupt ends it with 0', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
  const path = join(folder, 'a.ptx');
  writeFileSync(path, kernel(''));
  const [file, ...first] = program;
  const child = spawn(file!, [...first, 'check', 'a.ptx', '--watch'], { cwd: folder });
  let out = '';
  child.stdout.on('data', (data: Uint8Array) => {
    out += new TextDecoder().decode(data);
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const until = async (text: string): Promise<void> => {
    for (let tries = 0; tries < 300 && !out.includes(text); tries++) await pause(20);
    assert.match(out, text);
  };
  try {
    await until('1 file checked: no problems');
    writeFileSync(join(folder, 'new'), kernel(bad));
    renameSync(join(folder, 'new'), path);
    await until('1 file checked: 1 error');
    child.kill('SIGINT');
    assert.is(await ended, 0);
  } finally {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  }
});

// ── places ──

test('columns count code points, in whatever order places are asked for', () => {
  const text = 'a\u{1f600}b\u00e9\n\u{1f600}\u{1f600}x\r\n\ud83d lone';
  const file = new SourceFile('a', text);
  const wanted = (offset: number) => {
    const before = text.slice(0, offset).split('\n');
    return { line: before.length, column: [...before.at(-1)!].length + 1 };
  };
  const offsets = Array.from({ length: text.length + 1 }, (_, i) => i);
  for (const order of [offsets, [...offsets].reverse(), [...offsets, ...offsets], [7, 3, 9, 9, 2, 12, 0, 5]])
    for (const offset of order) assert.equal(file.position(offset), wanted(offset), `offset ${offset}`);
  assert.equal(file.position(1e9), wanted(text.length));
  assert.equal(file.position(-1), { line: 1, column: 1 });
});

test('places in one long line take time in proportion to the line and not to its square', () => {
  const file = new SourceFile('a', 'add.s32 %r1, %r2, %r3; '.repeat(100_000));
  // 115 000 places: a count from the start of the line for each would be 10^11 steps.
  withinCpuSeconds(2, () => {
    for (let offset = 0; offset < file.text.length; offset += 20) file.position(offset);
  });
});

test.run();
