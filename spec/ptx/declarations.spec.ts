/** Faults of declarations, prototypes and calls, which `ptxas` rejects too. `^` marks the position of the caret. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { types } from '../../src/base/catalogue/types.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { check, parse } from '../../src/ptx/index.ts';
import { need } from '../support/need.ts';
import { ptxasTakes } from '../support/ptxas.ts';

const test = suite('ptx/declarations');

const head = '.version 9.0\n.target sm_90\n.address_size 64\n';
const registers = '.reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>;';

/** Lines of the module, and after `~` the body of the entry. */
function textOf(line: string): string {
  const [module = '', body] = line.split('~');
  return `${head}${module}\n.entry k (.param .u64 a, .param .u32 n)\n{\n${registers}\n${body ?? ''}\nL: ret;\n}\n`;
}

/** `CODE line:column message`; refusals are not faults and are omitted. */
function said(text: string): string[] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  check(parse(file, diagnostics), { functions: true }, diagnostics);
  return diagnostics
    .sorted()
    .filter(({ code }) => !code.startsWith('CM20'))
    .map(({ code, labels, message }) => {
      const { line, column } = file.position(labels[0]!.span.start);
      return `${code} ${line}:${column} ${message}`;
    });
}

type Fault = readonly [line: string, code: string, message: string];

const declarations: readonly Fault[] = [
  ['.global .align 3 .b32 ^v;', 'CM1114', 'the alignment of `v` is 3, which is not a power of two'],
  ['.global .align 0 .b32 ^v;', 'CM1114', 'the alignment of `v` is 0, which is not a power of two'],
  ['.global .align 4294967296 .b8 ^v;', 'CM1114', 'the alignment of `v` is 4294967296, which is not a power of two'],
  ['~.shared .align 12 .b8 ^v[4];', 'CM1114', 'the alignment of `v` is 12, which is not a power of two'],
  ['.entry q (.param .align 3 .u32 ^v) { ret; }', 'CM1114', 'the alignment of `v` is 3, which is not a power of two'],
  ['.entry q (.param .b64 .ptr .global .align 3 ^v) { ret; }', 'CM1114', 'the alignment of `v` is 3, which is not a power of two'],
  ['.entry q (.param .v2 .f32 ^v) { ret; }', 'CM1117', 'invalid declaration of `v`: a parameter cannot be a vector'],
  ['.entry q (.param .f16x2 ^v) { ret; }', 'CM1117', 'invalid declaration of `v`: a parameter cannot be a vector'],
  ['~.param .v2 .f32 ^v;', 'CM1117', 'invalid declaration of `v`: a parameter cannot be a vector'],
  ['~.reg .bf16x2 ^v;', 'CM1117', 'invalid declaration of `v`: only instructions have the type .bf16x2; declare the variable as .b32'],
  ['.global .u32 ^v<2>[3];', 'CM1117', 'invalid declaration of `v`: variables of a count have neither extents nor initial values'],
  ['.global .u32 ^v<2> = 4;', 'CM1117', 'invalid declaration of `v`: variables of a count have neither extents nor initial values'],
  ['.func f (.param .u32 ^v<2>) { ret; }', 'CM1117', 'invalid declaration of `v`: a parameter is one variable'],
  ['.global .u32 v<2>;~st.global.u32 [^v2], %r1;', 'CM1101', '`v2` is not declared'],
  ['.global .u32 v<2>, ^v1;', 'CM1109', '`v1` is declared twice in this scope'],
  ['.global .s16x2 ^v;', 'CM1117', 'invalid declaration of `v`: only instructions have the type .s16x2; declare the variable as .b32'],
  [
    '.section .debug_x {\nL: ^.u8 1\n}',
    'CM1117',
    'invalid declaration of `.debug_x`: its data are of .b8, .b16, .b32 or .b64, and not of .u8',
  ],
  ['~st.param.u32 [^n], %r1;', 'CM1106', '`n` must be memory that can be written, and is a parameter of this function'],
  [
    '.func f (.param .u32 x) { st.param.u32 [^x], 1; ret; }',
    'CM1106',
    '`x` must be memory that can be written, and is a parameter of this function',
  ],
  ['.global .b32 ^v[0];', 'CM1115', '`v` has no size: an extent is 0'],
  ['.shared .b32 ^v[];', 'CM1115', '`v` has no size: its extent is empty, and no initial value determines it'],
  ['.global .b32 ^v[2][] = {{1}, {2}};', 'CM1115', '`v` has no size: only the first extent may be empty'],
  ['.global .b32 ^v[2][0];', 'CM1115', '`v` has no size: only the first extent may be empty'],
  ['~.local .b32 ^v[];', 'CM1115', '`v` has no size'],
  ['.entry q (.param .u32 ^v[]) { ret; }', 'CM1115', '`v` has no size: a parameter has at least one byte'],
  ['.global .b32 v[2] = {1, 2, ^3};', 'CM1116', 'the initial value of `v` does not fit: 3 values for 2 elements'],
  ['.global .b32 v[2][2] = {{1, 2, ^3}, {4, 5}};', 'CM1116', 'the initial value of `v` does not fit: 3 values for 2 elements'],
  ['.global .b32 v[2][2] = {{1}, {2}, ^{3}};', 'CM1116', 'the initial value of `v` does not fit: 3 values for 2 elements'],
  ['.global .b32 v[2][2] = {^1, 2};', 'CM1116', 'the initial value of `v` does not fit: a list in braces is expected'],
  ['.global .b32 v[2] = ^1;', 'CM1116', 'the initial value of `v` does not fit: a list in braces is expected'],
  ['.global .b32 v = ^{1};', 'CM1116', 'the initial value of `v` does not fit: its lists are nested deeper than its dimensions'],
  ['.global .v2 .b32 v = {1, 2, ^3};', 'CM1116', 'the initial value of `v` does not fit: 3 values for 2 elements'],
  ['.global .s32 v = ^1.5;', 'CM1116', 'the initial value of `v` does not fit: an integer constant is expected'],
  ['.global .u32 v = ^0f3F800000;', 'CM1116', 'the initial value of `v` does not fit: an integer constant is expected'],
  ['.global .f32 v = ^0;', 'CM1116', 'the initial value of `v` does not fit: a float constant is expected'],
  ['.global .f16 v = ^1.0;', 'CM1116', 'the initial value of `v` does not fit: variables of type .f16 have none'],
  ['.global .b32 v = ^1/0;', 'CM1116', 'the initial value of `v` does not fit: it divides by zero'],
  ['.global .b32 w; .global .u16 v = ^w;', 'CM1116', 'the initial value of `v` does not fit: an address does not fit in .u16'],
  ['.global .b32 w; .global .f64 v = ^w;', 'CM1116', 'the initial value of `v` does not fit: an address does not fit in .f64'],
  ['.global .u64 v = ^nothing;', 'CM1101', '`nothing` is not declared'],
  ['.global .pred ^v;', 'CM1117', 'invalid declaration of `v`: predicates are single registers'],
  ['~.reg .pred ^v[2];', 'CM1117', 'invalid declaration of `v`: predicates are single registers'],
  ['~.reg .b32 ^v[2];', 'CM1117', 'invalid declaration of `v`: registers cannot form arrays'],
  ['~.reg .v4 .b64 ^v;', 'CM1117', 'invalid declaration of `v`: a vector has at most 128 bits'],
  ['.global .v4 .f64 ^v;', 'CM1117', 'invalid declaration of `v`: a vector has at most 128 bits'],
  ['.param .b32 ^v;', 'CM1117', 'invalid declaration of `v`: a parameter belongs to a function'],
  ['.common .shared .b32 ^v;', 'CM1117', 'invalid declaration of `v`: `.common` is for variables in global memory'],
  ['~.visible .shared .b32 ^v;', 'CM1117', 'invalid declaration of `v`: `.visible` is for variables of the module'],
  ['.shared .b32 ^v = 1;', 'CM1117', 'invalid declaration of `v`: `.shared` variables have no initial values'],
  ['~.reg .b32 ^v = 1;', 'CM1117', 'invalid declaration of `v`: `.reg` variables have no initial values'],
  ['.extern .global .b32 ^v = 1;', 'CM1117', 'invalid declaration of `v`: the module that defines an `.extern` variable'],
  ['.entry (.param .u32 ^v) q () { ret; }', 'CM1117', 'invalid declaration of `v`: an entry returns nothing'],
  ['.entry (.reg .u32 ^v) q () { ret; }', 'CM1117', 'invalid declaration of `v`: an entry returns nothing'],
  ['.entry q (.reg .u32 ^v) { ret; }', 'CM1117', 'invalid declaration of `v`: a parameter of an entry is in `.param` space'],
];

const f32 = '.func f (.param .b32 x) { ret; }';
const prototypes: readonly Fault[] = [
  [
    '.func f (.param .b32 x);\n.func ^f (.param .b64 x) { ret; }',
    'CM1110',
    'conflicting declaration of `f`: its parameters differ, first at number 1',
  ],
  ['.func f (.param .b32 x);\n.func ^f (.param .u32 x) { ret; }', 'CM1110', 'conflicting declaration of `f`'],
  ['.func f (.param .b32 x);\n.func ^f (.reg .b32 x) { ret; }', 'CM1110', 'conflicting declaration of `f`'],
  [
    '.func f (.param .b32 x);\n.func ^f (.param .b32 x, .param .b32 y) { ret; }',
    'CM1110',
    'conflicting declaration of `f`: with 1 parameters, and now with 2',
  ],
  ['.func (.param .b32 r) f ();\n.func ^f () { ret; }', 'CM1110', 'conflicting declaration of `f`: with 1 results, and now with 0'],
  [
    '.extern .func f ();\n.func ^f () { ret; }',
    'CM1110',
    'conflicting declaration of `f`: a function of another module cannot be defined here',
  ],
  ['.extern .func ^f () { ret; }', 'CM1110', 'conflicting declaration of `f`: `.extern` functions have no body'],
  ['.entry q (.param .u32 x);\n.entry ^q (.param .u64 x) { ret; }', 'CM1110', 'conflicting declaration of `q`'],
  ['.func f () { ret; }\n.func ^f ();', 'CM1109', '`f` is declared twice in this scope'],
  ['.func f () { ret; }~^call (%r1), f, ();', 'CM1111', '`f` has 0 results, and 1 are given'],
  [`${f32}~^call f;`, 'CM1111', '`f` has 1 parameters, and 0 are given'],
  [`${f32}~{ .param .b32 y; ^call f, (y, y); }`, 'CM1111', '`f` has 1 parameters, and 2 are given'],
  ['.func (.param .u32 o) f () { ret; }~^call f;', 'CM1111', '`f` has 1 results, and 0 are given'],
  ['~P: .callprototype _ (.param .b32 _);\n^call %rd1, (), P;', 'CM1111', '`P` has 1 parameters, and 0 are given'],
  [`${f32}~P: .calltargets f;\n^call %rd1, (), P;`, 'CM1111', '`f` has 1 parameters, and 0 are given'],
  [`${f32}~{ .param .b64 y; call f, (^y); }`, 'CM1112', '`y` has type .b64 aligned to 8, but `f` expects type .b32 aligned to 4'],
  [`${f32}~call f, (^%rd1);`, 'CM1112', '`%rd1` has type .b64, but `f` expects type .b32 aligned to 4'],
  ['.func f (.reg .u32 x) { ret; }~call f, (^%f1);', 'CM1112', '`%f1` has type .f32, but `f` expects type .u32 aligned to 4'],
  ['.func (.reg .u32 o) f () { ret; }~call (^%rd1), f;', 'CM1112', '`%rd1` has type .b64, but `f` expects type .u32 aligned to 4'],
  [
    '.func f (.param .align 8 .b8 x[16]) { ret; }~{ .param .align 4 .b8 y[16]; call f, (^y); }',
    'CM1112',
    '`y` has type .b8[16] aligned to 4',
  ],
  [
    '.func f (.param .align 8 .b8 x[16]) { ret; }~{ .param .align 8 .b8 y[8]; call f, (^y); }',
    'CM1112',
    '`y` has type .b8[8] aligned to 8',
  ],
  ['.func f (.param .align 8 .b8 x[8]) { ret; }~{ .param .b64 y; call f, (^y); }', 'CM1112', '`y` has type .b64 aligned to 8'],
  ['~P: .callprototype _ (.param .b32 _);\n{ .param .b64 y; call %rd1, (^y), P; }', 'CM1112', '`y` has type .b64 aligned to 8'],
  ['~call ^nothing;', 'CM1101', '`nothing` is not declared'],
  ['~call ^%rd1;', 'CM1113', '`%rd1` cannot be called here: a call through a register needs the label of a prototype'],
  ['~call %rd1, (), ^P;', 'CM1101', '`P` is not declared'],
  ['~call ^%rd1, (), L;', 'CM1113', '`%rd1` cannot be called here: `L` is not the label of a prototype'],
  ['~call ^L;', 'CM1113', '`L` cannot be called here: it is neither a function nor a register'],
  ['~call ^k;', 'CM1113', '`k` cannot be called here: it is an entry'],
  ['~T: .branchtargets L, ^M;\nbrx.idx %r1, T;', 'CM1101', '`M` is not declared'],
  ['~T: .branchtargets L, ^%r1;\nbrx.idx %r1, T;', 'CM1106', '`%r1` must be a label of an instruction, and is something else'],
  ['~T: .branchtargets L;\nbrx.idx ^%rd1, T;', 'CM1107', '`%rd1` has type .b64, but operand `a` of `brx.idx` expects .u32'],
  ['~brx.idx %r1, ^L;', 'CM1106', '`L` must be the label of `.branchtargets`, and is a label'],
  ['~T: .branchtargets L;\nbra ^T;', 'CM1106', '`T` must be a label, and is the label of `.branchtargets`'],
  ['~ld.global.f32 %f1, [^%r1];', 'CM1107', '`%r1` has type .b32, but an address of `ld.global.f32` expects .b64'],
  ['~st.f32 [^%r1+4], %f1;', 'CM1107', '`%r1` has type .b32, but an address of `st.f32` expects .b64'],
  ['~T: .calltargets ^g;\nret;', 'CM1101', '`g` is not declared'],
];

for (const [line, code, message] of [...declarations, ...prototypes])
  test(`${code}: ${line.replaceAll('\n', ' ')}`, () => {
    const marked = textOf(line);
    const before = marked.slice(0, marked.indexOf('^')).split('\n');
    const found = said(marked.replace('^', ''));
    assert.is(found.length, 1, found.join('\n'));
    const wanted = `${code} ${before.length}:${before.at(-1)!.length + 1} ${message}`;
    assert.ok(found[0]!.startsWith(wanted), `${found[0]}\n${wanted}`);
  });

const fine: readonly string[] = [
  '.func f (.param .u64 x, .param .u64 y) { ret; }~{ .param.u64 %P<2>; st.param.u64 [%P0], %rd1; st.param.u64 [%P1], %rd2; call.uni f, (%P0, %P1); }',
  '.global .u32 v<2>, w; .const .f32 c<1>;~.shared .align 8 .u32 s<3>; st.shared.u32 [s2], %r1; st.global.u32 [v1], %r2; ld.const.f32 %f1, [c0];',
  '.global .b32 v[2] = {1};',
  '.global .b32 v[4] = {};',
  '.global .b32 v[] = {1, 2};',
  '.global .b32 v[0] = {1, 2};',
  '.global .b32 v[][2] = {{1, 2}, {3, 4}};',
  '.global .b32 v[1][1][1] = {{{1}}};',
  '.global .v2 .b32 v[2] = {{1, 2}, {3, 4}};',
  '.global .b32 v = 1.5;',
  '.global .b16 v = 1.0;',
  '.global .f64 v = 0f3F800000;',
  '.global .f32 v = 0d3ff0000000000000;',
  '.global .b8 v[2] = {300, -200};',
  '.global .b32 w; .global .u64 v = w;',
  '.global .b32 w; .global .u64 v[2] = {generic(w)+4, w+4};',
  '.global .b32 w; .global .u32 v = w;',
  '.func f () { ret; }\n.global .u64 v = f;',
  '.global .align 65536 .b8 v;',
  '.extern .shared .b32 v[];',
  '.extern .shared .b32 v[0];',
  '.common .global .b32 v;',
  '.func f (.param .b32 x);\n.func f (.param .b32 z);\n.func f (.param .b32 y) { ret; }',
  '.visible .func f ();\n.func f () { ret; }',
  '.func (.reg .b32 o) f (.reg .b32 x, .param .b32 y) { .reg .b32 t; ld.param.b32 t, [y]; add.s32 o, x, t; ret; }',
  '.func f () { ret; }~call f;\ncall f, ();',
  `${f32}~{ .param .f32 y; call f, (y); }`,
  `${f32}~call f, (5);\ncall f, (%f1);`,
  '.func f (.reg .b32 x) { ret; }~call f, (%f1);\n{ .param .b32 y; call f, (y); }',
  '.func (.param .u32 o) f () { ret; }~{ .param .b32 y; call (y), f; }\ncall (_), f;',
  '~P: .callprototype (.param .b32 _) _ (.param .b32 _);\n{ .param .b32 y; call (y), %rd1, (y), P; }',
  '~T: .branchtargets L, M;\nbrx.idx %r1, T;\nM: ret;',
];

for (const line of fine) test(`fine: ${line.replaceAll('\n', ' ')}`, () => assert.equal(said(textOf(line)), []));

test('a count declares as many variables as any compiler writes, and no more', () => {
  assert.equal(said(textOf('.global .u32 v<1024>;~st.global.u32 [v1023], %r1;')), []);
  assert.equal(said(textOf('.global .u32 v<1025>;')), ['CM1117 4:14 invalid declaration of `v`: a count declares at most 1024 variables']);
});

test('every code of declarations and calls is provoked here', () => {
  const provoked = new Set([...declarations, ...prototypes].map(([, code]) => code));
  assert.equal(
    Object.keys(types).filter((code) => /^CM111[0-7]/.test(code) && !provoked.has(code)),
    [],
  );
});

need(test, ['ptxas'], 'ptxas refuses every fault, and takes what is fine', async () => {
  const faults = [...declarations, ...prototypes].map(([line]) => line);
  const taken = await ptxasTakes([...faults.map((line) => textOf(line.replace('^', ''))), ...fine.map(textOf)]);
  assert.equal(
    faults.filter((_, i) => taken[i]),
    [],
  );
  assert.equal(
    fine.filter((_, i) => !taken[faults.length + i]),
    [],
  );
});

test.run();
