/** `cumetal check`: folders and patterns, levels of warnings, suppressions, and SARIF that GitHub takes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { commandLine } from '../support/command-line.ts';

const test = suite('cli/check-levels');

const folder = mkdtempSync(join(tmpdir(), 'cumetal-spec-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const head = '.version 7.0\n.target sm_70\n.address_size 64\n';
/** Reads `%r2`, which is never written: CM2201 at line 5. Declares `%unused`: the note CM2206 at line 4. */
const warned = (behind = '', before = ''): string =>
  `${head}.visible .entry k() { .reg .b32 %r<3>; .reg .b32 %unused; ${before}\n add.s32 %r1, 1, %r2; ${behind}\n ret; }\n`;
const good = `${head}.visible .entry k() { ret; }\n`;

mkdirSync(at('deep/er'), { recursive: true });
for (const [name, text] of [
  ['a.ptx', good],
  ['b.ptx', warned()],
  ['notes.txt', 'not PTX'],
  ['deep/c.ptx', good],
  ['deep/er/d.ptx', good],
  ['deep/[x].ptx', good],
] as const)
  writeFileSync(at(name), text);
mkdirSync(at('empty'));

test('folders and patterns', async () => {
  const count = async (...names: string[]): Promise<string> =>
    /(\d+) files? checked/.exec((await commandLine(['check', ...names.map(at)])).out)?.[1] ?? 'none';
  assert.is(await count(''), '5');
  assert.is(await count('deep'), '3');
  assert.is(await count('*.ptx'), '2');
  assert.is(await count('**/*.ptx'), '5');
  assert.is(await count('deep/**/?.ptx'), '2');
  assert.is(await count('{a,b}.ptx'), '2');
  assert.is(await count('[!a].ptx'), '1');
  assert.is(await count('deep/[x].ptx'), '1', 'a file of this name');
  assert.is(await count('a.ptx', '*.ptx', ''), '5', 'no file twice');
});

test('a folder without files and a pattern without matches are usage errors', async () => {
  for (const [name, what] of [
    ['empty', /contains no `\.ptx`/],
    ['*.cubin', /no file matches/],
  ] as const) {
    const { code, err } = await commandLine(['check', at(name)]);
    assert.is(code, 2);
    assert.match(err, what);
  }
  assert.match((await commandLine(['check', at('missing.ptx')])).err, /CM5030/);
});

const files = { 'k.ptx': warned() };
const check = async (...words: string[]) => commandLine(['check', 'k.ptx', ...words], files);

test('levels of warnings', async () => {
  assert.is((await check()).code, 0);
  const raised = await check('-W', 'error');
  assert.is(raised.code, 1);
  assert.match(raised.err, /^error\[CM2201\]/m);
  assert.match(raised.out, /1 file checked: 1 error and 1 note/);
  assert.match((await check('-Woff')).out, /: 1 note/);
  assert.match((await check('-W', 'CM2201=off', '-W', 'CM2206=off')).out, /no problems/);
  assert.is((await check('-W', 'error', '-W', 'CM2201=warn')).code, 0);
  assert.is((await check('--warnings=CM2201=error')).code, 1);
  assert.match((await check('-W', 'CM2206=error')).err, /error\[CM2206\]/);
  const { diagnostics } = JSON.parse((await check('-W', 'error', '--json')).out);
  assert.equal(
    diagnostics.map((d: { code: string; severity: string }) => [d.code, d.severity]),
    [
      ['CM2206', 'note'],
      ['CM2201', 'error'],
    ],
  );
  const pragma = {
    'p.ptx': `.version 6.3\n.target sm_70\n.address_size 64\n.visible .entry k() { .reg .b32 %r<3>; mov.u32 %r1, 1; redux.sync.add.s32 %r2, %r1, -1; ret; }\n`,
  };
  const plain: { severity: string; code: string }[] = JSON.parse((await commandLine(['check', 'p.ptx', '--json'], pragma)).out).diagnostics;
  assert.ok(plain.length > 0 && plain.every(({ severity }) => severity === 'warning'));
  const strict = await commandLine(['check', 'p.ptx', '--ptx-strict', ...plain.flatMap(({ code }) => ['-W', `${code}=off`])], pragma);
  assert.is(strict.code, 3, 'an error by --ptx-strict stays');
  assert.match(strict.err, /^error/);
  const bad = await commandLine(['check', 'bad.ptx', '-W', 'off'], { 'bad.ptx': `${head}foo;\n` });
  assert.is(bad.code, 3);
});

test('levels that cannot be are usage errors', async () => {
  for (const [word, what] of [
    ['fatal', /expected error, warn, off, or CODE=LEVEL/],
    ['CM2201=loud', /expected error, warn, off/],
    ['CM2210x=off', /there is no diagnostic `CM2210x`; did you mean `CM2210`/],
    ['CM1101=off', /CM1101 is an error, whose severity is fixed/],
  ] as const) {
    const { code, err } = await check('-W', word);
    assert.is(code, 2);
    assert.match(err, what);
  }
});

const codes = async (text: string, ...more: string[]): Promise<string[]> => {
  const { out } = await commandLine(['check', 'k.ptx', '--json', ...more], { 'k.ptx': text });
  return JSON.parse(out).diagnostics.map(({ code, line }: { code: string; line: number }) => `${code} ${line}`);
};

test('comments suppress warnings', async () => {
  assert.equal(await codes(warned()), ['CM2206 4', 'CM2201 5']);
  assert.equal(await codes(warned('// cumetal: allow CM2201 -- read on purpose')), ['CM2206 4']);
  assert.equal(await codes(warned('', '\n  // cumetal: allow CM2201\n  // another comment\n')), ['CM2206 4']);
  assert.equal(await codes(warned('', '// cumetal: allow CM2206')), ['CM2201 5']);
  assert.equal(await codes(`// cumetal: allow-file CM2201, CM2206\n${warned()}`), []);
  assert.equal(await codes(warned('// cumetal: allow CM2201'), '-W', 'error'), ['CM2206 4']);
});

test('a comment that is meant as a suppression and is none is a warning', async () => {
  for (const comment of [
    '// cumetal: alow CM2201',
    '// cumetal: allow',
    '// cumetal: allow -- for a reason',
    '// cumetal:',
    '/* cumetal: allow CM2201 */',
  ])
    assert.equal(await codes(warned(comment)), ['CM2206 4', 'CM2201 5', 'CM2222 5'], comment);
  assert.equal(await codes(`// cumetal: alow CM2201\n${warned()}`), ['CM2222 1', 'CM2206 5', 'CM2201 6'], 'by place');
  assert.equal(await codes(warned('// about cumetal: see above')), ['CM2206 4', 'CM2201 5']);
});

test('a suppression must match', async () => {
  assert.equal(await codes(warned('// cumetal: allow CM2204')), ['CM2206 4', 'CM2201 5', 'CM2220 5']);
  assert.equal(
    await codes(warned('', '// cumetal: allow CM2201')),
    ['CM2206 4', 'CM2220 4', 'CM2201 5'],
    'a comment behind code is about its own line',
  );
  assert.equal(await codes(`${warned()}// cumetal: allow-file CM2204\n`), ['CM2206 4', 'CM2201 5', 'CM2220 7']);
  assert.equal(await codes(warned('// cumetal: allow CM2201 CM9999')), ['CM2206 4', 'CM2221 5']);
  const both = await codes(`${head}// cumetal: allow CM1102\nfoo;\n`);
  assert.ok(
    both.some((each) => /^CM1/.test(each)),
    'errors stay',
  );
  assert.not.match((await commandLine(['check', 'k.ptx'], { 'k.ptx': `//! cumetal: --grid 1\n${good}` })).err, /CM22/);
});

interface Log {
  readonly version: string;
  readonly runs: readonly {
    readonly tool: { readonly driver: { readonly name: string; readonly rules: readonly Record<string, unknown>[] } };
    readonly results: readonly {
      readonly ruleId: string;
      readonly ruleIndex: number;
      readonly level: string;
      readonly message: { readonly text: string };
      readonly locations: readonly {
        readonly physicalLocation: {
          readonly artifactLocation: { readonly uri: string };
          readonly region: { readonly startLine: number; readonly endLine?: number };
        };
      }[];
      readonly suppressions?: readonly object[];
      readonly properties: { readonly reasons: readonly string[]; readonly hint?: string };
    }[];
  }[];
}

test('SARIF has what GitHub requires: help of each rule, a line of each result', async () => {
  const all = {
    'k.ptx': warned('// cumetal: allow CM2201'),
    'bad.ptx': `${head}.visible .entry _Z1kv() { tex.2d.v4.f32.f32 {}, [%r1]; foo; ret; }\n`,
    'n.npy': Uint8Array.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59]),
  };
  const { out } = await commandLine(['check', 'k.ptx', 'bad.ptx', 'gone.ptx', 'n.npy', '--format', 'sarif'], all);
  const log: Log = JSON.parse(out);
  assert.is(log.version, '2.1.0');
  const [run] = log.runs;
  const { rules, name } = run!.tool.driver;
  assert.is(name, 'cumetal');
  for (const rule of rules) {
    const { id, help, shortDescription, fullDescription, defaultConfiguration } = rule as Record<string, Record<string, string>>;
    assert.match(id as unknown as string, /^CM\d{4}$/);
    assert.match(rule.name as string, /^[A-Z][A-Za-z0-9]+$/);
    for (const text of [help!.text, help!.markdown, shortDescription!.text, fullDescription!.text])
      assert.ok(text && text.length > 5, String(id));
    assert.match(defaultConfiguration!.level!, /^(error|warning|note)$/);
  }
  const { results } = run!;
  assert.equal(
    [...new Set(results.map(({ ruleId }) => ruleId))].sort(),
    rules.map(({ id }) => id),
  );
  for (const { ruleId, ruleIndex, level, message, locations } of results) {
    assert.is(rules[ruleIndex]!.id, ruleId);
    assert.match(level, /^(error|warning|note)$/);
    assert.ok(message.text.length > 5);
    assert.is(locations.length, 1, 'a result without a place is at its file');
    const { artifactLocation, region } = locations[0]!.physicalLocation;
    assert.match(artifactLocation.uri, /^(k|bad|gone)\.ptx$|^n\.npy$/);
    assert.ok(region.startLine >= 1 && (region.endLine ?? region.startLine) >= region.startLine);
  }
  const of = (id: string) => results.find(({ ruleId }) => ruleId === id)!;
  assert.equal(of('CM2201').suppressions, [{ kind: 'inSource' }]);
  assert.is(of('CM5030').locations[0]!.physicalLocation.artifactLocation.uri, 'gone.ptx');
  assert.match(of('CM4070').properties.hint!, /--arg f32@/);
  assert.ok(results.some(({ properties, message }) => properties.reasons.length > 0 || message.text.includes('\n')));
});

test.run();
