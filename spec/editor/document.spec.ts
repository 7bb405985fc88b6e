/** Edits of a text: what is said after a key in one function is what a look at all of the text says. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Diagnostic } from '../../src/base/diagnostic.ts';
import { type Edit, PtxDocument } from '../../src/editor/index.ts';
import { withEmptyBodies } from '../../src/editor/places.ts';

const test = suite('editor/document');

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';
const first = `.visible .entry first(.param .u64 out, .param .u32 unused)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; // a brace in a comment: }
  st.global.u32 [%rd1], %r1;
  ret;
}
`;
const helper = `.func (.reg .b32 %result) helper(.reg .b32 %a)
{
  .reg .b32 %t;
  add.u32 %result, %a, 1;
  ret;
}
`;
const second = `.visible .entry second(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [out];
LAST:
  mov.u32 %r2, 7;
  st.global.u32 [%rd1], %r2;
  ret;
}
`;
const whole = head + first + helper + second;

const said = (list: readonly Diagnostic[]): string[] =>
  list.map(({ code, message, labels }) => `${code} ${labels.map(({ span }) => `${span.start}-${span.end}`).join(' ')} ${message}`).sort();

/** What the whole text says. */
const afresh = (text: string): string[] => said(new PtxDocument('a.ptx', text).checkAll());

/** An edit that replaces the first occurrence of a part of the text. */
function replace(text: string, part: string, by: string): Edit {
  const start = text.indexOf(part);
  assert.ok(start >= 0, part);
  return { start, end: start + part.length, text: by };
}

const inOneBody: readonly (readonly [what: string, part: string, by: string])[] = [
  ['an undeclared register', 'mov.u32 %r1', 'mov.u32 %r9'],
  ['an unknown opcode', 'st.global.u32 [%rd1], %r1', 'stt.global.u32 [%rd1], %r1'],
  ['a syntax error', 'mov.u32 %r2, 7;', 'mov.u32 %r2, , 7;'],
  ['a missing semicolon', 'mov.u32 %r2, 7;', 'mov.u32 %r2, 7'],
  ['a label that is used now', 'mov.u32 %r2, 7;', 'mov.u32 %r2, 7; bra LAST;'],
  ['more lines', 'mov.u32 %r1, %tid.x;', '\n\n\n  mov.u32 %r1, %tid.y;\n\n'],
  ['a parameter that is used now', 'mov.u32 %r1, %tid.x;', 'ld.param.u32 %r1, [unused];'],
  ['a type that does not fit', 'add.u32 %result, %a, 1;', 'add.u64 %result, %a, 1;'],
  ['a brace too many, after which the body goes on', 'mov.u32 %r2, 7;', 'mov.u32 %r2, 7; }'],
  ['nothing', 'mov.u32 %r2, 7;', 'mov.u32 %r2, 7;'],
];

for (const [what, part, by] of inOneBody)
  test(`${what} in one body is found without a look at the rest`, () => {
    const document = new PtxDocument('a.ptx', whole);
    document.checkAll();
    document.edit(replace(whole, part, by));
    const found = document.checkChanged();
    assert.ok(found, 'the function is enough');
    assert.equal(said(found!), afresh(document.text));
  });

test('diagnostics behind an edit move with their text', () => {
  const document = new PtxDocument('a.ptx', whole);
  const before = document.checkAll().find(({ message }) => message.includes('LAST'))!;
  document.edit(replace(whole, 'mov.u32 %r1, %tid.x;', 'mov.u32 %r1, %ntid.x; mov.u32 %r3, %r1;'));
  const after = document.checkChanged()!.find(({ message }) => message.includes('LAST'))!;
  const by = 'mov.u32 %r1, %ntid.x; mov.u32 %r3, %r1;'.length - 'mov.u32 %r1, %tid.x;'.length;
  assert.is(after.labels[0]!.span.start, before.labels[0]!.span.start + by);
  assert.is(document.text.slice(after.labels[0]!.span.start).startsWith('LAST:'), true);
});

const wholeNeeded: readonly (readonly [what: string, part: string, by: string])[] = [
  ['a brace too few', '  ret;\n}\n.func', '  ret;\n\n.func'],
  ['a comment that swallows the next function', 'mov.u32 %r1, %tid.x;', 'mov.u32 %r1, %tid.x; /*'],
  ['a head', 'second(.param .u64 out)', 'second(.param .u64 out, .param .u64 more)'],
  ['a call of a function that none called', 'mov.u32 %r2, 7;', 'call (%r2), helper, (%r2);'],
];

for (const [what, part, by] of wholeNeeded)
  test(`${what} needs a look at all of the text`, () => {
    const document = new PtxDocument('a.ptx', whole);
    document.checkAll();
    document.edit(replace(whole, part, by));
    assert.is(document.checkChanged(), undefined);
    assert.ok(document.isUnread);
    assert.equal(said(document.checkAll()), afresh(document.text));
    // And back: the text is what it was.
    const at = document.text.indexOf(by);
    document.edit({ start: at, end: at + by.length, text: part });
    assert.equal(said(document.checkAll()), afresh(whole));
  });

test('edits in two bodies before a check need a look at all of the text', () => {
  const document = new PtxDocument('a.ptx', whole);
  document.checkAll();
  document.edit(replace(document.text, '%tid.x', '%tid.q'));
  document.edit(replace(document.text, 'mov.u32 %r2, 7;', 'mov.u32 %r2, %zz;'));
  assert.is(document.checkChanged(), undefined);
  assert.is(document.checkAll().filter(({ severity }) => severity === 'error').length, 2);
});

/** Numbers below a limit. */
function randomNumbers(from: number): (below: number) => number {
  let seed = from;
  return (below) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return (seed >> 8) % below;
  };
}

test('random keys say what the whole text says', () => {
  const document = new PtxDocument('a.ptx', whole);
  document.checkAll();
  const random = randomNumbers(7);
  const keys = ['x', ';', '\n', '%r1', ' ', '.', '{', '}', '"', '0', '// '];
  let local = 0;
  for (let i = 0; i < 400; i++) {
    const at = head.length + random(document.text.length - head.length);
    const before = document.text;
    const edit =
      random(3) === 0
        ? { start: at, end: Math.min(at + 1, before.length), text: '' }
        : { start: at, end: at, text: keys[random(keys.length)]! };
    document.edit(edit);
    const found = document.checkChanged();
    if (found) local++;
    const errors = (list: readonly Diagnostic[]): string[] => said(list.filter(({ code }) => code.startsWith('CM10')));
    assert.equal(errors(found ?? document.checkAll()), errors(new PtxDocument('a.ptx', document.text).checkAll()), JSON.stringify(edit));
    document.edit({ start: at, end: at + edit.text.length, text: before.slice(edit.start, edit.end) });
    document.checkAll();
  }
  assert.ok(local > 200, `${local} of 400 needed one function`);
});

/** A function of so many instructions. */
function largeText(count: number): string {
  const lines = Array.from({ length: count }, (_, i) => {
    const a = 2 + (i % 190);
    if (i % 50 === 7) return `$L${i}:`;
    if (i % 3 === 0) return `\tadd.s32 \t%r${a}, %r${a - 1}, ${i}; // ${i}`;
    if (i % 3 === 1) return `\tst.global.u32 [%rd1+${4 * i}], %r${a - 1};`;
    return i % 5 === 0 ? '\t@%p1 bra $L7;' : `\tmad.lo.s32 \t%r${a}, %r${a - 1}, %r1, ${i % 7};`;
  });
  return `${head}.visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<200>;\n.reg .f32 %f<200>;\n.reg .b64 %rd<9>;\n.reg .pred %p<9>;
ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n${lines.join('\n')}\nret;\n}\n`;
}

test('after keys in instructions of a large function, its errors are those of the whole', () => {
  const random = randomNumbers(5);
  const base = largeText(2600);
  const pieces = [
    'x',
    ';',
    ' ',
    '%r500',
    'mov.u32 %r3, %r4;',
    ',',
    '.u64',
    '\n\tadd.f32 %f1, %f2, %f3;',
    '//',
    'bra $nowhere;',
    '[',
    '@%p3 ',
    'L9:',
  ];
  const errors = (list: readonly Diagnostic[]): string[] => said(list.filter(({ code }) => !code.startsWith('CM22')));
  let told = 0;
  for (let round = 0; round < 12; round++) {
    const document = new PtxDocument('a.ptx', base);
    document.checkAll();
    let start = 0;
    for (let key = 0; key < 3; key++) {
      start = key === 0 ? 300 + random(base.length - 600) : start + random(12) - 4;
      document.edit({ start, end: start + random(5), text: random(4) === 0 ? '' : pieces[random(pieces.length)]! });
      assert.ok(document.isUnread || document.isLarge);
      const found = document.checkEdited();
      if (!found) continue;
      told++;
      assert.equal(errors(found), errors(new PtxDocument('a.ptx', document.text).checkAll()), document.text.slice(start - 60, start + 60));
    }
  }
  assert.ok(told >= 12, `${told}`);
});

test('an edit of a declaration or a label needs a look at the whole function', () => {
  for (const [part, by] of [
    ['.reg .b32 %r<200>;', '.reg .b32 %r<20>;'],
    ['$L57:', '$M57:'],
    ['mov.u32 %r1, %tid.x;', '{ mov.u32 %r1, %tid.x; }'],
    ['mov.u32 %r1, %tid.x;', '.reg .u32 %new; mov.u32 %r1, %tid.x;'],
  ] as const) {
    const document = new PtxDocument('a.ptx', largeText(2600));
    document.checkAll();
    document.edit(replace(document.text, part, by));
    assert.is(document.checkEdited(), undefined, by);
    assert.equal(said(document.checkChanged() ?? document.checkAll()), afresh(document.text), by);
  }
});

test('empty bodies leave every offset where it was', () => {
  const document = new PtxDocument('a.ptx', whole);
  document.checkAll();
  const text = withEmptyBodies(whole, document.places(), ({ name }) => name === 'helper');
  assert.is(text.length, whole.length);
  assert.is(text.indexOf('add.u32 %result'), whole.indexOf('add.u32 %result'));
  assert.not.match(text, /tid/);
  assert.match(text, /second\(.param .u64 out\)\n\{ +\}\n$/);
});

test.run();
