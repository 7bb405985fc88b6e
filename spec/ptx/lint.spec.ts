/** Lints: one body each, with `^` at the position of the caret; none in compiler output. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { types } from '../../src/base/catalogue/types.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import { root } from '../support/examples.ts';

const test = suite('ptx/lint');

const head = '.version 8.0\n.target sm_90\n.address_size 64\n';
/** A kernel that uses its parameters; the registers are of ranges. */
const kernel = (body: string): string =>
  `${head}.entry k (.param .u64 a, .param .u32 n)\n{\n.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .shared .b32 tile[64];\nld.param.u64 %rd1, [a];\nld.param.u32 %r1, [n];\ncvta.to.global.u64 %rd1, %rd1;\n${body}\nret;\n}\n`;

function said(text: string, options: CompileOptions = { lints: true }): string[] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  compile(file, options, diagnostics);
  return diagnostics.sorted().map(({ code, severity, labels, message }) => {
    const { line, column } = file.position(labels[0]!.span.start);
    return `${code} ${severity} ${line}:${column} ${message}`;
  });
}

/** Kernels with a mark, and the only diagnostic expected, at the mark. */
const lints: readonly (readonly [why: string, text: string, code: string, message: string])[] = [
  ['never written', kernel('add.s32 %r2, ^%r3, 1;\nst.global.u32 [%rd1], %r2;'), 'CM2201', '`%r3` is read but never written before'],
  ['a guard', kernel('@^%p1 st.global.u32 [%rd1], %r1;'), 'CM2201', '`%p1` is read'],
  ['an address', kernel('st.global.u32 [^%rd2+4], %r1;'), 'CM2201', '`%rd2` is read'],
  ['a lane', kernel('.reg .v2 .b32 %v;\nmov.b32 %v.x, 1;\nst.global.v2.b32 [%rd1], ^%v;'), 'CM2201', '`%v.y` is read'],
  ['written after it', kernel('st.global.u32 [%rd1], ^%r3;\nmov.u32 %r3, 1;\nst.global.u32 [%rd1+4], %r3;'), 'CM2201', '`%r3` is read'],
  [
    'written on one of two paths',
    kernel('setp.eq.u32 %p1, %r1, 0;\n@%p1 bra SKIP;\nmov.u32 %r3, 1;\nSKIP: st.global.u32 [%rd1], ^%r3;'),
    'CM2202',
    '`%r3` may be read before it is written',
  ],
  [
    'written in the turn before',
    kernel('TOP: st.global.u32 [%rd1], ^%r3;\nmov.u32 %r3, 1;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra TOP;'),
    'CM2202',
    '`%r3` may be read',
  ],
  ['unreachable', kernel('bra END;\n^st.global.u32 [%rd1], %r1;\nEND:'), 'CM2203', 'unreachable code'],
  [
    'unreachable, once',
    kernel('ret;\n^mov.u32 %r2, 1;\nmov.u32 %r3, %r2;\n@%p1 bra END;\nst.global.u32 [%rd1], %r3;\nEND:'),
    'CM2203',
    'unreachable code',
  ],
  ['a parameter', `${head}.entry k (.param .u64 ^a) { ret; }\n`, 'CM2204', 'parameter `a` is unused'],
  ['a label', kernel('^HERE: st.global.u32 [%rd1], %r1;'), 'CM2205', 'label `HERE` is unused'],
  ['a register', kernel('{ .reg .b32 used, ^spare; mov.u32 used, 1; }'), 'CM2206', 'register `spare` is unused'],
  [
    'a barrier behind a branch on the thread',
    kernel('mov.u32 %r2, %tid.x;\nsetp.gt.u32 %p1, %r2, 5;\n@%p1 bra END;\n^bar.sync 0;\nEND: st.global.u32 [%rd1], %r1;'),
    'CM2210',
    'threads of a block may diverge before this barrier',
  ],
  [
    'a barrier that counts, said once',
    kernel(
      'mov.u32 %r2, %tid.x;\nsetp.gt.u32 %p1, %r2, 5;\n@%p1 bra END;\n^bar.red.popc.u32 %r1, 0, %p1;\nEND: st.global.u32 [%rd1], %r1;',
    ),
    'CM2210',
    'threads of a block may diverge before this barrier',
  ],
  [
    'a barrier in a loop that threads leave at different turns',
    kernel(
      'mov.u32 %r2, %tid.x;\nTOP: ^bar.sync 0;\nsub.u32 %r2, %r2, 1;\nsetp.gt.s32 %p1, %r2, 0;\n@%p1 bra TOP;\nst.global.u32 [%rd1], %r1;',
    ),
    'CM2210',
    'threads of a block may diverge before this barrier',
  ],
];

for (const [why, text, code, message] of lints)
  test(`${code}: ${why}`, () => {
    const before = text.slice(0, text.indexOf('^')).split('\n');
    const found = said(text.replace('^', ''));
    assert.is(found.length, 1, found.join('\n'));
    const { severity } = types[code as 'CM2201'];
    assert.ok(found[0]!.startsWith(`${code} ${severity} ${before.length}:${before.at(-1)!.length + 1} ${message}`), found[0]);
  });

const quiet: readonly (readonly [why: string, text: string])[] = [
  [
    'written on both paths',
    kernel('setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r3, 1;\nbra B;\nA: mov.u32 %r3, 2;\nB: st.global.u32 [%rd1], %r3;'),
  ],
  ['written and read under one guard', kernel('setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, 1;\n@%p1 st.global.u32 [%rd1], %r3;')],
  ['written in every turn', kernel('TOP: mov.u32 %r3, 1;\nsub.u32 %r1, %r1, %r3;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra TOP;')],
  ['half a vector is written by one instruction', kernel('mov.b64 %rd2, 5;\nmov.b64 {%r2, _}, %rd2;\nst.global.u32 [%rd1], %r2;')],
  [
    'a branch on a parameter, a barrier behind it',
    kernel('setp.gt.u32 %p1, %r1, 5;\n@%p1 bra END;\nbar.sync 0;\nEND: st.global.u32 [%rd1], %r1;'),
  ],
  ['a branch on what all threads load', kernel('ld.global.u32 %r2, [%rd1];\nsetp.gt.u32 %p1, %r2, 5;\n@%p1 bra END;\nbar.sync 0;\nEND:')],
  [
    'a barrier where the paths have met',
    kernel('mov.u32 %r2, %tid.x;\nsetp.gt.u32 %p1, %r2, 5;\n@%p1 bra END;\nst.global.u32 [%rd1], %r1;\nEND: bar.sync 0;'),
  ],
  [
    'a loop that all threads leave as a barrier tells them',
    kernel(
      'mov.u32 %r2, %tid.x;\nTOP: sub.u32 %r2, %r2, 1;\nsetp.gt.s32 %p1, %r2, 0;\nbarrier.red.or.pred %p2, 0, %p1;\n@%p2 bra TOP;\nst.global.u32 [%rd1], %r1;',
    ),
  ],
  ['a return behind an endless loop', kernel('TOP: st.global.u32 [%rd1], %r1;\nbra TOP;')],
  ['a label of a compiler', kernel('$L__tmp0: st.global.u32 [%rd1], %r1;')],
  ['a label that clang writes for debuggers', kernel('Ltmp3: st.global.u32 [%rd1], %r1;')],
];

for (const [why, text] of quiet) test(`no lint: ${why}`, () => assert.equal(said(text), []));

test('lints are off unless asked for, and change nothing', () => {
  for (const [, text] of lints) {
    const plain = text.replace('^', '');
    assert.equal(said(plain, {}), []);
    const bytes = (lint: boolean) => compile(new SourceFile('a', plain), { lints: lint }, new Diagnostics())!.metallib;
    assert.equal(bytes(true), bytes(false));
  }
});

test('faults of functions that no kernel needs are reported, and what is refused in them is not', () => {
  const text = `${head}.func f () { .reg .b32 %r<3>; add.s32 %r1, %r2; call f; ret; }\n.entry k () { ret; }\n`;
  assert.equal(
    said(text).map((one) => one.slice(0, 6)),
    ['CM1105'],
  );
  assert.equal(said(text, {}), []);
});

const folders = ['examples', 'bench/kernels'].map((name) => join(root, name));

test('nothing is said of what nvcc wrote', () => {
  const found = folders.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ptx'))
      .flatMap((name) => said(readFileSync(join(folder, name), 'utf8')).map((one) => `${name}: ${one}`)),
  );
  assert.equal(found, []);
});

test('every lint is provoked here', () => {
  // Suppressions are those of `cumetal check` (spec/cli/check-levels.spec.ts), and products have a file (lint-products.spec.ts).
  const elsewhere = ['CM2220', 'CM2221', 'CM2222', 'CM2211', 'CM2212'];
  const provoked = new Set([...lints.map(([, , code]) => code), ...elsewhere]);
  assert.equal(
    Object.keys(types).filter((code) => code.startsWith('CM22') && !provoked.has(code)),
    [],
  );
});

test.run();
