/** The extension for Visual Studio Code: its manifest names files that exist, and its grammar colours what it should. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { version } from '../../package.json';
import { commands } from '../../src/cli/commands.ts';

const test = suite('editor/extension');
const folder = join(import.meta.dirname, '../../packages/vscode-cumetal');
const json = (path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'));
const manifest = json('package.json');

test('the manifest names files that exist, and has the version of the package', () => {
  assert.is(manifest.version, version);
  const { languages, grammars } = manifest.contributes;
  for (const path of [manifest.main, languages[0].configuration, grammars[0].path]) assert.ok(existsSync(join(folder, path)), path);
  assert.is(json(grammars[0].path).scopeName, grammars[0].scopeName);
});

test('the extension starts the command with an option that it has', () => {
  const source = readFileSync(join(folder, manifest.main), 'utf8');
  const [, name = '', option = ''] = /'(\w+)', '--(\w+)'/.exec(source) ?? [];
  const command = commands.find((each) => each.name === name);
  assert.ok(
    command?.options.some((each) => each.name === option),
    `${name} --${option}`,
  );
  for (const key of [...source.matchAll(/\.get\('(\w+)'/g)].map((found) => found[1]))
    assert.ok(`cumetal.${key}` in manifest.contributes.configuration.properties);
});

interface Pattern {
  readonly name?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly captures?: Record<string, { readonly name: string }>;
}

/** The scope of a word in a line: that of the first of the leftmost matches, as TextMate grammars choose it. */
function scopeOf(line: string, word: string): string | undefined {
  const { patterns } = json('syntaxes/ptx.tmLanguage.json') as { patterns: Pattern[] };
  const wanted = line.indexOf(word);
  for (let at = 0; at < line.length; ) {
    const found = patterns
      .map((pattern) => ({ pattern, match: execFrom(pattern.match ?? pattern.begin!, line, at) }))
      .filter((each) => each.match !== null)
      .sort((a, b) => a.match!.index - b.match!.index)[0];
    if (!found) return undefined;
    const { pattern, match } = found;
    const end = match!.index + match![0].length;
    if (wanted < end && wanted >= match!.index) {
      const part = Object.keys(pattern.captures ?? {}).find((i) => match![Number(i)]?.includes(word));
      return part ? pattern.captures![part]!.name : pattern.name;
    }
    at = Math.max(end, at + 1);
  }
  return undefined;
}

function execFrom(source: string, line: string, at: number): RegExpExecArray | null {
  const regex = new RegExp(source, 'gm');
  regex.lastIndex = at;
  return regex.exec(line);
}

test('the grammar tells mnemonics, registers, types, labels, comments', () => {
  const cases: readonly (readonly [line: string, word: string, scope: string])[] = [
    ['  @!%p1 bra $L__BB0_2;', '%p1', 'variable.other.predicate.ptx'],
    ['  @!%p1 bra $L__BB0_2;', 'bra', 'keyword.mnemonic.ptx'],
    ['$L__BB0_2:', '$L__BB0_2', 'entity.name.label.ptx'],
    ['  ld.global.nc.v4.f32 {%f1, %f2}, [%rd1+16];', 'ld', 'keyword.mnemonic.ptx'],
    ['  ld.global.nc.v4.f32 {%f1, %f2}, [%rd1+16];', '.global.nc.v4.f32', 'support.type.modifier.ptx'],
    ['  ld.global.nc.v4.f32 {%f1, %f2}, [%rd1+16];', '%rd1', 'variable.other.register.ptx'],
    ['  mov.u32 %r1, %ctaid.x; // 5', '%ctaid.x', 'support.variable.special.ptx'],
    ['  mov.u32 %r1, %ctaid.x; // 5', '// 5', 'comment.line.double-slash.ptx'],
    ['  .reg .b32 %r<12>;', '.reg', 'keyword.other.directive.ptx'],
    ['  .reg .b32 %r<12>;', '.b32', 'storage.type.ptx'],
    ['.visible .entry saxpy(', 'saxpy', 'entity.name.function.ptx'],
    ['  mov.f32 %f1, 0f3F800000;', '0f3F800000', 'constant.numeric.float.ptx'],
    ['  add.s32 %r1, %r1, 0xFF;', '0xFF', 'constant.numeric.integer.ptx'],
  ];
  for (const [line, word, scope] of cases) assert.is(scopeOf(line, word), scope, `${word} in ${line}`);
});

test.run();
