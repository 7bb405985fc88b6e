/** Texts with several faults: each is reported once, at the expected position, and causes no follow-up errors. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { check, parse } from '../../src/ptx/index.ts';

const test = suite('ptx/recovery');

/** The errors of a text after parsing and checking it: their codes, lines and columns. */
function errors(text: string): string[] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  check(parse(file, diagnostics), { functions: true }, diagnostics);
  return diagnostics.sorted().flatMap(({ severity, code, labels }) => {
    const { line, column } = file.position(labels[0]!.span.start);
    return severity === 'error' ? [`${code} ${line}:${column}`] : [];
  });
}

/** A text with `«CODE»` at the position of each error; the marks are not part of the text. */
function expectErrors(what: string, marked: string): void {
  test(what, () => {
    const expected: string[] = [];
    let text = '';
    for (const piece of marked.split(/(«\w+»)/)) {
      const [, code] = /^«(\w+)»$/.exec(piece) ?? [];
      if (code === undefined) text += piece;
      else expected.push(`${code} ${text.split('\n').length}:${text.length - text.lastIndexOf('\n')}`);
    }
    assert.equal(errors(text), expected);
  });
}

const head = '.version 8.0\n.target sm_80\n.address_size 64\n';
const registers = '  .reg .pred %p<2>;\n  .reg .b32 %r<4>;\n  .reg .b64 %rd<4>;\n';
const faulty = '  add.s32 %r1, %r2, «CM1107»%rd1;\n';
const entry = (name: string, body: string): string => `.visible .entry ${name} (.param .u64 a, .param .u32 n)\n{\n${registers}${body}}\n`;

expectErrors(
  'the last brace is missing',
  `${head}${entry('k', `${faulty}  «CM1102»ad.s32 %r1, %r2, %r3;\n  ret;«CM1006»\n`).slice(0, -2)}`,
);
expectErrors(
  'the brace before the next entry is missing',
  `${head}${entry('k', `${faulty}  ret;«CM1006»\n`).slice(0, -2)}\n${entry('l', faulty)}`,
);
expectErrors(
  'a variable after a missing brace is still seen by the next entry',
  `${head}${entry('k', '  ret;\n').slice(0, -2)}.global .u32 g;«CM1006»\n${entry('l', `  ld.global.u32 %r1, [g];\n${faulty}`)}`,
);
expectErrors(
  'the brace of a scope is missing: it belongs before the one that stands further left',
  `${head}${entry('k', `  {\n    .reg .b32 t;\n    mov.b32 t, 1;«CM1006»\n`)}${entry('l', faulty)}`,
);
expectErrors('a brace too many within a body', `${head}${entry('k', `${faulty}«CM1013»}\nL:\n${faulty}  bra L;\n`)}${entry('l', faulty)}`);
expectErrors('a brace too many at the end of a body', `${head}${entry('k', faulty)}«CM1007»}\n${entry('l', faulty)}`);
expectErrors(
  'a semicolon is missing in the middle, at the end, and after a declaration',
  `${head}${entry('k', `  .reg .b32 %x<2>«CM1001»\n  .reg .b32 %y<2>;\n  mov.b32 %x1, %y1«CM1001»\n${faulty}  ret«CM1001»\n`)}`,
);
expectErrors(
  'a statement without its semicolon is checked with the rest',
  `${head}${entry('k', '  add.s32 %r1, %r2, «CM1107»%rd1«CM1001»\n  mov.b32 %r1, «CM1101»%q;\n')}`,
);
expectErrors(
  'the semicolon of a variable is missing',
  `${head}.global .u32 g«CM1001»\n.global .u32 h;\n${entry('k', `  ld.global.u32 %r1, [g];\n  ld.global.u32 %r1, [h];\n${faulty}`)}`,
);
expectErrors(
  'what a line that could not be read may declare is not called undeclared',
  `${head}${entry('k', `  .reg .b32 %x<«CM1001»>;\n  mov.b32 %x1, 1;\n  mov.b32 %x2, «CM1101»%y;\n`)}`,
);
expectErrors('the colon of a label is missing', `${head}${entry('k', `  bra L1;\nL1«CM1001»\n${faulty}  bra «CM1101»L2;\n`)}`);
expectErrors(
  'a list of parameters with a fault: its names are known to none, nor what is passed to them',
  `${head}.func f (.param .u32 a«CM1001» .param .u32 b)\n{\n  .reg .b32 %r<2>;\n  ld.param.u32 %r1, [b];\n  ld.param.u32 %r1, [«CM1101»c];\n  ret;\n}\n${entry('k', `  {\n  .param .b32 p;\n  .param .b32 q;\n  call f, (p, q);\n  }\n${faulty}`)}`.replace(
    'a«CM1001» .param',
    'a «CM1001».param',
  ),
);
expectErrors(
  'a head that cannot be read leaves its function unknown',
  `${head}.visible .func «CM1003»9f ()\n{\n  ret;\n}\n.func g «CM1001», ()\n{\n  ret;\n}\n${entry('k', `  call g;\n${faulty}`)}`,
);
expectErrors('a header line with a fault is told once', `«CM1002».verison 8.0\n.target sm_80\n.address_size 64\n${entry('k', faulty)}`);
expectErrors(
  'a comment that is never closed hides what follows it, and no more',
  `${head}${entry('k', `${faulty}  bra L;\n«CM1005»/* the rest\nL: ret;\n`)}`,
);
expectErrors(
  'a string that is never closed ends with its row',
  `${head}${entry('k', `  .pragma «CM1004»"nounroll;\n${faulty}`)}${entry('l', faulty)}`,
);
expectErrors(
  'a name is told once in each function',
  `${head}${entry('k', `  mov.b32 %r1, «CM1101»%x;\n  mov.b32 %r2, %x;\n`)}${entry('l', '  mov.b32 %r1, «CM1101»%x;\n')}`,
);

expectErrors(
  'nothing but an opcode stands before a missing semicolon',
  `${head}${entry('k', `  bra.uni«CM1001»\n@%p1 bra.uni L;\nL: trap«CM1001»\n${faulty}`)}`,
);

test('the opening brace is shown beside the place where its partner is missing', () => {
  const file = new SourceFile('a.ptx', '.func f ()\n{\n  {\n    ret;\n}\n');
  const diagnostics = new Diagnostics(file);
  parse(file, diagnostics);
  assert.equal(
    diagnostics.list.flatMap(({ labels }) => labels.map(({ span, text }) => `${file.position(span.start).line} ${text}`)),
    [
      '4 a `}` may be missing here',
      '2 opened here',
      '3 this brace may be the unclosed one',
      '5 closed by this one, which is indented less',
    ],
  );
});

test.run();
