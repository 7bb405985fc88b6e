/** Modules in pieces: the tree of each entry is that of the whole module, and what has no pieces is left to the whole. */
import { readdirSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { parse, parsePieces } from '../../src/ptx/index.ts';
import { limits } from '../../src/ptx/syntax/limits.ts';

const test = suite('ptx/pieces');

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';
const entry = (name: string, body: string): string =>
  `.visible .entry ${name}(.param .u64 ${name}_p)\n.maxntid 128, 1, 1\n{\n${body}\nret;\n}\n`;

/** Whether the pieces were read in silence, and are equal to the whole. */
function inPieces(text: string): boolean {
  const source = new SourceFile('k.ptx', text);
  const found = new Diagnostics(source);
  const pieces = parsePieces(source, found);
  if (!pieces) return false;
  assert.ok(pieces.entries.every(({ body }) => body?.length === 0));
  // In any order.
  for (const one of [...pieces.entries].reverse()) pieces.read(one);
  if (found.list.length > 0) return false;
  const whole = new Diagnostics(source);
  assert.equal(pieces.module, parse(source, whole));
  assert.equal(whole.list, []);
  return true;
}

test('entries with scopes, lists, comments and strings', () => {
  const bodies = [
    '.reg .b32 %r<4>; { .reg .b32 %r9; mov.u32 %r9, 1; }\nL: // }\n@%p bra L; /* { */ mov.b32 %r1, {%h1, %h2};',
    '.loc 1 2 3\n.pragma "nounroll";\nLIST: .branchtargets A, B;\nst.v2.u32 [%rd1], {%r1, %r2};',
    '',
  ];
  const items =
    '.file 1 "a } b"\n.global .align 4 .b8 t[8] = {1, 2, {3}};\n.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n';
  const section = '.section .debug_str { L: .b8 1, 2\n}\n';
  assert.ok(inPieces(`${head}${items}${bodies.map((body, i) => entry(`k${i}`, body)).join(section)}`));
  assert.ok(inPieces(head));
});

test('modules of other compilers', () => {
  const folder = new URL('../../examples/', import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith('.ptx'));
  const texts = names.map((name) => readFileSync(new URL(name, folder), 'utf8'));
  // A function that entries share is in the whole alone.
  const have = texts.filter((text) => !/\.func[^;]*\{/.test(text));
  assert.ok(have.length > 5);
  for (const text of have) assert.ok(inPieces(text));
});

test('what is to be parsed whole', () => {
  const plain = entry('a', 'mov.u32 %r1, 1;');
  for (const text of [
    `.func f() { ret; }\n${plain}`,
    `${plain}}\n${plain}`,
    `${plain.replace('ret;\n}', 'ret;')}${plain}`,
    `${plain}/* no end ${plain}`,
    entry('b', '.reg .b32 %r<2> mov.u32 %r1, 1;'),
    entry('b', 'add.u32 %r1, , %r2;'),
    `.entry (.param .u64 p) { ret; }\n${plain}`,
    `${plain.replace('ret;\n}', 'ret;\n}\nadd.u32 %r1, %r1, 1;\n}')}`,
    `${plain.replace('ret;', '.visible .entry c() { ret; }')}`,
  ])
    assert.not.ok(inPieces(head + text), text);
});

test('the limit of statements is one of each piece', () => {
  const most = 'a;'.repeat(limits.statements * 0.6);
  const text = `${head}${entry('a', most)}${entry('b', most)}`;
  const source = new SourceFile('k.ptx', text);
  const [found, whole] = [new Diagnostics(source), new Diagnostics(source)];
  const pieces = parsePieces(source, found)!;
  for (const one of pieces.entries) {
    pieces.read(one);
    // As the statement `ret` and the ones before it.
    assert.is(one.body!.length, Math.floor(limits.statements * 0.6) + 1);
    (one.body as unknown[]).length = 0;
  }
  assert.equal(found.list, []);
  parse(source, whole);
  assert.equal(
    whole.list.map(({ code }) => code),
    ['CM1015'],
  );
});

test.run();
