import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { syntax } from '../../src/base/catalogue/syntax.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { limits } from '../../src/ptx/syntax/limits.ts';
import { parse } from '../../src/ptx/syntax/parse.ts';
import { withinCpuSeconds } from '../support/cpu-time.ts';
import { bare, clean, parsed } from './tree.ts';

const test = suite('ptx/failure');

/** A text with `^` at the position of the only caret; the mark is not part of the text. */
type Faulty = readonly [text: string, code: keyof typeof syntax, message: string, help?: string];

const inBody = (line: string): string => `.func f ()\n{\n  ${line}\n}\n`;
const early = 'remove it, or add the matching `{`';
const long = '1, '.repeat(limits.tokens / 2);

const faults: readonly Faulty[] = [
  // CM1001: the expectations at the failure.
  ['^x;', 'CM1001', 'expected a directive, a function or a variable, found `x`'],
  ['.version ^8', 'CM1001', 'expected a decimal number, found `8`'],
  ['.version 8.0\n.target sm_80,^', 'CM1001', 'expected a name, found the end of the file'],
  ['.alias f^;', 'CM1001', 'expected `,`, found `;`'],
  ['.global .u32 a, ^;', 'CM1001', 'expected a name, found `;`'],
  ['.global .b8 a[^N];', 'CM1001', 'expected an integer, found `N`'],
  ['.global .u32 a[2] = {1, ^};', 'CM1001', 'expected an initial value, found `}`'],
  ['.global .u32 a[2] = {1, 2^;', 'CM1001', 'expected `,` or `}`, found `;`'],
  ['.global .u32 a[2] = {1 ^2};', 'CM1001', 'expected `,` or `}`, found `2`'],
  ['.entry k (.param .u32 a ^.param .u32 b) { }', 'CM1001', 'expected `)` or `,`, found `.param`'],
  ['.entry k (.param .u32 a, .param .u32^) { }', 'CM1001', 'expected `.ptr` or a name, found `)`'],
  ['.entry k (.param .u32 a, ^) { }', 'CM1001', 'expected a parameter, found `)`'],
  ['.extern .func f () ^.noretrun;', 'CM1001', 'expected `;`, found `.noretrun`', 'did you mean `.noreturn`?'],
  ['.section .debug_info {\n.b8 1\nxyz^\n.b8 2\n}', 'CM1001', 'expected `:`, found `.b8`'],
  [inBody('add.s32 a ^b;'), 'CM1001', 'expected `,` or `;`, found `b`'],
  [inBody('add.s32 %a^ %b;'), 'CM1001', 'expected `,` or `;`, found `%b`'],
  [inBody('add.s32 a, 5^ [c];'), 'CM1001', 'expected `,` or `;`, found `[`'],
  [inBody('add.s32 a, ^;'), 'CM1001', 'expected an operand, found `;`'],
  [inBody('reg .b32 %r<4>^;'), 'CM1001', 'expected an operand, found `;`', 'did you mean `.reg`?'],
  [inBody('.reg ^%r;'), 'CM1001', 'expected a type, found `%r`'],
  [inBody('.reg .^b33 %r;').replace('.^', '^.'), 'CM1001', 'expected a type, found `.b33`', 'did you mean `.b32`?'],
  [inBody('add.s32 a, b^\n  ret;'), 'CM1001', 'expected `,` or `;`, found `ret`'],
  [inBody('mov.u32 a, [b^;'), 'CM1001', 'expected `,` or `]`, found `;`'],
  [inBody('mov.u32 a, 1.0^(b);'), 'CM1001', 'expected `,` or `;`, found `(`'],
  [inBody('@p^;'), 'CM1001', 'expected an instruction, found `;`'],
  [inBody('L1^\n}').slice(0, -3), 'CM1001', 'expected `:`, found `}`'],
  [inBody('ret^\n}').slice(0, -3), 'CM1001', 'expected `;`, found `}`'],
  [inBody('.loc 1 2\n  ^ret;'), 'CM1001', 'expected an integer, found `ret`'],
  [inBody('^+ a;'), 'CM1001', 'expected an instruction, a label or a declaration, found `+`'],
  [inBody(`mov.u32 a, b ^${'c'.repeat(60)};`), 'CM1001', `expected \`,\` or \`;\`, found \`${'c'.repeat(37)}...\``],
  // CM1002
  ['^.globl .u32 a;', 'CM1002', 'unexpected directive `.globl`', 'did you mean `.global`?'],
  [inBody('^.rg .u32 a;'), 'CM1002', 'unexpected directive `.rg`', 'did you mean `.reg`?'],
  [inBody('^.version 8.0'), 'CM1002', 'unexpected directive `.version`'],
  ['^.xyzzyx .u32 a;', 'CM1002', 'unexpected directive `.xyzzyx`'],
  // CM1003: in every radix; columns count characters, not UTF-16 units.
  [inBody('mov.u32 a, ^089;'), 'CM1003', '`089` is not a number', 'a number that starts with `0` is octal'],
  ['.global .u32 a = ^0x;', 'CM1003', '`0x` is not a number'],
  ['.global .u32 a = ^0b12;', 'CM1003', '`0b12` is not a number'],
  ['.global .f32 a = ^0f3F80;', 'CM1003', '`0f3F80` is not a number', '`0f` needs 8 hexadecimal digits, but has 4'],
  [
    '.global .f64 a = ^0d3FF00000000000000;',
    'CM1003',
    '`0d3FF00000000000000` is not a number',
    '`0d` needs 16 hexadecimal digits, but has 17',
  ],
  ['.global .f32 a = ^1.0f;', 'CM1003', '`1.0f` is not a number', 'numbers have no suffix `f`: did you mean `1.0`?'],
  ['.global .u32 a = ^5u;', 'CM1003', '`5u` is not a number', 'did you mean `5U`?'],
  ['.global .u32 a = ^1.2.3;', 'CM1003', '`1.2.3` is not a number'],
  ['.global .u32 a[2] = {1, ^12ab};', 'CM1003', '`12ab` is not a number'],
  ['/* \u{1f600} */ .global .u32 a = ^0x;', 'CM1003', '`0x` is not a number'],
  // CM1004
  ['.file 1 ^"abc', 'CM1004', 'this string is not terminated on its line'],
  [inBody('.pragma ^"abc;\n  ret;'), 'CM1004', 'this string is not terminated on its line'],
  ['.func f ()\n.pragma "a", ^"b;\n c";;\n', 'CM1004', 'this string is not terminated on its line'],
  // CM1005
  ['.version 8.0 ^/* never', 'CM1005', 'this comment is not terminated'],
  ['.func f ()\n{\n  ret; ^/* } /* }\n', 'CM1005', 'this comment is not terminated'],
  ['.global .u32 a = ^/* 5;', 'CM1005', 'this comment is not terminated'],
  // CM1006
  ['.func f () { ret;^ ', 'CM1006', '`f` is not closed before the end of the file'],
  ['.func f () { { ret; }^\n.visible .func g () { }', 'CM1006', '`f` is not closed before `.visible`'],
  ['.func f () {\n  {\n  ret;^\n}\n.visible .func g () { }', 'CM1006', '`f` is not closed before `.visible`'],
  ['.section .debug_info\n{ .b8 1^', 'CM1006', '`.debug_info` is not closed before the end of the file'],
  // CM1007
  ['^}', 'CM1007', 'unexpected `}`'],
  ['.func f () { ret; }\n ^}', 'CM1007', 'unexpected `}`'],
  // CM1013
  ['.func f () { ret; ^}\nL: ret;\n}', 'CM1013', 'this `}` closes `f` before its end', early],
  ['.func f () { ret; ^}\n@p ret;\n}\n.func g () { }', 'CM1013', 'this `}` closes `f` before its end', early],
  ['.func f () { ret; ^}\n.reg .b32 a;\nmov.b32 a, 1;\n}', 'CM1013', 'this `}` closes `f` before its end', early],
  [
    '.func f () { ret; }\n^visible .func g () { }',
    'CM1001',
    'expected a directive, a function or a variable, found `visible`',
    'did you mean `.visible`?',
  ],
  // CM1008
  ['.global .u64 a = ^18446744073709551616;', 'CM1008', '`18446744073709551616` does not fit in 64 bits'],
  [inBody('mov.b64 a, -^0x10000000000000000U;'), 'CM1008', '`0x10000000000000000U` does not fit in 64 bits'],
  // CM1009
  [`^.global .u32 a = ${'('.repeat(65)}1${')'.repeat(65)};`, 'CM1009', 'this statement is too deeply nested: 65, and the limit is 64'],
  [inBody(`^mov.b32 a, ${'-'.repeat(65)}1;`), 'CM1009', 'this statement is too deeply nested: 65, and the limit is 64'],
  [inBody(`^call f, (${long}1);`), 'CM1009', 'this statement is too long: 50007, and the limit is 50000'],
  [`.func f () ${'{'.repeat(257)}^{${'}'.repeat(258)}`, 'CM1009', 'this statement is too deeply nested: 257, and the limit is 256'],
  // CM1010
  ['.global .align 4 ^.align 8 .u32 a;', 'CM1010', '`.align 8` is repeated'],
  ['.global .v2 ^.v4 .u32 a;', 'CM1010', '`.v4` is repeated'],
  ['.global .attribute(.managed) ^.attribute(.managed) .u32 a;', 'CM1010', '`.attribute(.managed)` is repeated'],
  ['.version 8.0\n^.version 8.1', 'CM1010', '`.version` is repeated'],
  ['.address_size 64\n^.address_size 64', 'CM1010', '`.address_size` is repeated'],
  // CM1011
  ['^.version 1e1', 'CM1011', '`1e1` is not a PTX version', 'write a major and a minor number, as in `.version 8.4`'],
  ['^.version .5', 'CM1011', '`.5` is not a PTX version', 'write a major and a minor number, as in `.version 8.4`'],
  // CM1012: 2^53 is the first integer that a double cannot distinguish from the next.
  [
    '.global .b8 a[^9007199254740992];',
    'CM1012',
    '`9007199254740992` is too large',
    'counts, extents, alignments and file positions are at most 2^53 - 1',
  ],
];

/** Line and column of an offset, counted by hand. */
function place(text: string, at: number): string {
  const lines = text.slice(0, at).split('\n');
  return `${lines.length}:${[...lines.at(-1)!].length + 1}`;
}

for (const [marked, code, message, help] of faults) {
  const at = marked.indexOf('^');
  const text = marked.slice(0, at) + marked.slice(at + 1);
  const title = marked.length > 70 ? `${marked.slice(0, 70)}...` : marked;
  test(`${code}: ${title.replaceAll('\n', ' ')}`, () => {
    const { said, diagnostics } = parsed(text);
    assert.equal(said, [`${code} ${place(text, at)} ${message}`]);
    const [only] = diagnostics.list;
    assert.is(only?.help, help);
    assert.is(only?.severity, 'error');
    const span = only!.labels[0]!.span;
    // An empty caret marks a missing terminator, and the message names it.
    const isForMore = /^add |^`}` expected|^a `}` may be missing/.test(only!.labels[0]!.text);
    assert.is(span.start === span.end, isForMore || span.start === text.length);
  });
}

test('every code of the catalogue is provoked above', () => {
  const provoked = new Set(faults.map(([, code]) => code));
  // Those of a whole module are provoked at the end of this file.
  assert.equal([...provoked, 'CM1014', 'CM1015'].sort(), Object.keys(syntax).sort());
});

// Input at the limits is parsed.
test('statements at the limits are no faults', () => {
  clean(`.global .u32 a = ${'('.repeat(64)}1${')'.repeat(64)};`);
  clean(inBody(`call f, (${'1, '.repeat(limits.tokens / 2 - 4)}1);`));
  clean(`.func f () ${'{'.repeat(256)}${'}'.repeat(256)}`);
  clean('.global .b8 a[9007199254740991];');
  clean('.global .u64 a = 18446744073709551615;');
});

const several = `.version 8.0
.target sm_80
.globl .u32 x;
.entry k (.param .u32 a)
{
  add.s32 %a %b;
  mov.u32 %a, 09;
  .pragma "open;
  ret;
  {
    mov.u64 %rd1, 0xfffffffffffffffff;
    @!
    bra L;
  }
}
}
.global .u64 y = {1, , 3 4, 5};
.global .align 4 .align 4 .u32 z;
.entry l ()
{
`;

test('all faults of a file are reported, each at its place', () => {
  assert.equal(
    parsed(several).said.map((s) => s.split(' ').slice(0, 2).join(' ')),
    [
      'CM1002 3:1',
      'CM1001 6:13',
      'CM1003 7:15',
      'CM1004 8:11',
      'CM1008 11:19',
      'CM1001 13:9',
      'CM1007 16:1',
      'CM1001 17:22',
      'CM1001 17:26',
      'CM1010 18:18',
      'CM1006 20:2',
    ],
  );
});

test('what is between faults is read', () => {
  const { module } = parsed(several);
  assert.is(module.version?.major, 8);
  const k = module.items.find((item) => item.kind === 'function');
  const ret = k?.body?.find((s) => s.kind === 'instruction' && s.opcode === 'ret');
  assert.ok(ret, 'the return after the open string');
  const z = module.items.find((item) => item.kind === 'variable' && item.name === 'z');
  assert.ok(z, 'the variable after the stray brace');
});

test('a body whose head has a fault is read for its faults, and is no item', () => {
  const { module, said } = parsed('.entry k () .maxtnid 1\n{\n  add.s32 a b;\n}\n.global .u32 g;\n');
  assert.equal(
    said.map((s) => s.slice(0, 11)),
    ['CM1001 1:13', 'CM1001 3:13'],
  );
  assert.equal(
    module.items.map((item) => item.kind),
    ['variable'],
  );
});

test('a function that is never closed keeps its statements, and the next one is read', () => {
  const { module } = parsed('.func f () { { ret;\n.func g () { ret; }\n');
  const ret = { kind: 'instruction', opcode: 'ret', modifiers: [], operands: [] };
  assert.equal(
    module.items.map((item) => item.kind === 'function' && bare(item.body)),
    [[{ kind: 'block', body: [ret] }], [ret]],
  );
  for (const item of module.items) assert.ok(item.span.start < item.span.end);
});

const hostile: Record<string, string> = {
  'no text': '',
  'zero bytes': '\0\0\0',
  'half a surrogate pair': '\ud83d \udc00;',
  'a byte order mark in the midst': '.version 8.0\n\ufeff.target sm_80\n',
  'a mebibyte of braces': '{'.repeat(2 ** 20),
  'many opening brackets': `.func f () { op ${'['.repeat(100_000)}; }`,
  'many signs': `.func f () { op ${'!'.repeat(100_000)}a; }`,
  'many conditions': `.func f () { op ${'1 ? '.repeat(20_000)}; }`,
  'a list of lists': `.global .u32 a = ${'{'.repeat(50_000)}${'}'.repeat(50_000)};`,
  'many lists side by side': `.global .u32 a = {${'{},'.repeat(50_000)}};`,
  'many stray braces': '}'.repeat(20_000),
  'many functions that never end': '.func f () {\n'.repeat(5000),
  'many open parentheses of parameters': `.entry k ${'(.param '.repeat(5000)}`,
  'many statements without a semicolon': `.func f () {\n${'trap\n'.repeat(30_000)}; }`,
  'one long word': 'a'.repeat(2 ** 20),
  'one long number': `.global .u64 a = ${'9'.repeat(10_000)};`,
  'names that objects have': '.func toString () { __proto__: constructor.valueOf hasOwnProperty; }',
};
for (const [what, text] of Object.entries(hostile)) {
  test(`neither throws nor takes long: ${what}`, () => {
    const file = new SourceFile('hostile.ptx', text);
    withinCpuSeconds(1.5, () => parse(file, new Diagnostics(file)));
  });
}

/** The codes of a text and how often each is reported, and the number of items that are left. */
function parsedCodes(text: string): { codes: Record<string, number>; items: number } {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', text));
  const { items } = parse(diagnostics.file!, diagnostics);
  const codes: Record<string, number> = {};
  for (const { code } of diagnostics.list) codes[code] = (codes[code] ?? 0) + 1;
  return { codes, items: items.length };
}

// `.func f () {` and `}` are two.
const manyStatements = (count: number): string => `.func f () {${'a;'.repeat(count - 2)}}`;

test('a module of as many statements as the limit is parsed, and one more is an error', () => {
  assert.equal(parsedCodes(manyStatements(limits.statements)), { codes: {}, items: 1 });
  assert.equal(parsedCodes(manyStatements(limits.statements + 1)), { codes: { CM1015: 1 }, items: 0 });
  // Variables that a count declares are statements.
  const counts = Array.from({ length: limits.statements / limits.names + 1 }, (_, i) => `.global .u32 v${i}_<${limits.names}>;`);
  assert.equal(parsedCodes(counts.join('\n')), { codes: { CM1015: 1 }, items: 0 });
});

test('a list of as many elements as the limit is parsed, and one more is an error, also at the end of the file', () => {
  const list = (count: number): string => `.global .b8 a[] = {${'1,'.repeat(count - 1)}1};`;
  assert.equal(parsedCodes(list(limits.elements)), { codes: {}, items: 1 });
  assert.equal(parsedCodes(list(limits.elements + 1)), { codes: { CM1015: 1 }, items: 0 });
});

test('after a thousand failed statements the rest is not read', () => {
  const wrong = (count: number): string => `.func f () {${'; '.repeat(count)}}`;
  assert.equal(parsedCodes(wrong(limits.errors - 1)).codes, { CM1001: limits.errors - 1 });
  assert.equal(parsedCodes(wrong(100_000)).codes, { CM1001: limits.errors, CM1014: 1 });
  const list = `.global .b8 a[] = {${';;,'.repeat(100_000)}1};`;
  assert.ok((parsedCodes(list).codes.CM1001 ?? 0) <= limits.errors);
});

test.run();
