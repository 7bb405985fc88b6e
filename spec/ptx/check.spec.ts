/** The checker's diagnostics: each fault in a line of PTX, with `^` at the position of the caret. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { types } from '../../src/base/catalogue/types.ts';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CheckOptions, check, parse } from '../../src/ptx/index.ts';
import { need } from '../support/need.ts';
import { ptxasFaults } from '../support/ptxas.ts';

const test = suite('ptx/check');

const registers = `.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .f64 %fd<4>;
.reg .u32 %u; .reg .s32 %s; .reg .f16 %half; .reg .b8 %byte; .reg .v2 .b32 %v; .reg .v2 .b16 %w; .reg .f32 sum;`;
const head = `.version 8.0\n.target sm_90\n.address_size 64\n.global .align 4 .b32 table[4];\n.shared .f32 tile[8];\n.func f () { ret; }\n`;
const kernel = (line: string): string => `${head}.visible .entry k (.param .u64 a, .param .u32 n)\n{\n${registers}\n${line}\nL: ret;\n}\n`;

/** `CODE line:column message`, then notes and the help, in source order. */
function said(text: string, options: CheckOptions = {}): string[][] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  const module = parse(file, diagnostics);
  assert.equal(diagnostics.list, [], 'the text is PTX by its syntax');
  check(module, options, diagnostics);
  return diagnostics.sorted().map(({ code, labels, message, notes, help }) => {
    const span = labels[0]?.span;
    const place = span ? file.position(span.start) : undefined;
    const at = place ? `${place.line}:${place.column}` : 'nowhere';
    const label = labels[0]?.text ? [labels[0].text] : [];
    return [`${code} ${at} ${message}`, ...label, ...notes, ...(help === undefined ? [] : [help])];
  });
}

type Fault = readonly [line: string, code: string, message: string, ...more: string[]];

/** Faults that ptxas rejects too. */
const faults: readonly Fault[] = [
  // CM1101: names.
  ['add.s32 %r1, %r2, ^%r9;', 'CM1101', '`%r9` is not declared', '`%r<4>` declares `%r0` to `%r3`'],
  ['add.s32 %r1, ^%x, 5;', 'CM1101', '`%x` is not declared'],
  ['add.s32 %r1, ^r2, 5;', 'CM1101', '`r2` is not declared', 'did you mean `%r2`?'],
  ['add.s32 %r1, ^%R2, 5;', 'CM1101', '`%R2` is not declared', 'did you mean `%r2`?'],
  ['mov.u32 %r1, ^%tidx;', 'CM1101', '`%tidx` is not declared', 'did you mean `%tid.x`?'],
  ['add.f32 sum, sum, ^summ;', 'CM1101', '`summ` is not declared', 'did you mean `sum`?'],
  ['ld.global.b32 %r1, [^tabel];', 'CM1101', '`tabel` is not declared', 'did you mean `table`?'],
  ['ld.global.b32 %r1, [^nothing+4];', 'CM1101', '`nothing` is not declared'],
  ['ld.global.b32 %r1, [^nothing[2]];', 'CM1101', '`nothing` is not declared'],
  ['bra ^M;', 'CM1101', '`M` is not declared'],
  ['@^%p9 bra L;', 'CM1101', '`%p9` is not declared', '`%p<4>` declares `%p0` to `%p3`'],
  ['@!^%q bra L;', 'CM1101', '`%q` is not declared'],
  ['mov.b64 {%r1, ^%r7}, %rd1;', 'CM1101', '`%r7` is not declared', '`%r<4>` declares `%r0` to `%r3`'],
  ['setp.eq.s32 %p1|^%p7, %r1, %r2;', 'CM1101', '`%p7` is not declared', '`%p<4>` declares `%p0` to `%p3`'],
  ['mov.b32 %r1, ^%v.z;', 'CM1101', '`%v.z` is not declared'],
  ['{ .reg .b32 inner; }\nmov.b32 %r1, ^inner;', 'CM1101', '`inner` is not declared'],
  ['mov.b32 %r1, ^later;\n.reg .b32 later;', 'CM1101', '`later` is not declared'],
  // CM1102: opcodes.
  ['^ad.s32 %r1, %r2, %r3;', 'CM1102', '`ad` is not a PTX instruction', 'did you mean `add`?'],
  ['^setpp.eq.s32 %p1, %r2, %r3;', 'CM1102', '`setpp` is not a PTX instruction', 'did you mean `setp`?'],
  ['@%p1 ^frobnicate;', 'CM1102', '`frobnicate` is not a PTX instruction'],
  // CM1103: modifiers.
  ['add.^s31 %r1, %r2, %r3;', 'CM1103', 'unexpected modifier `.s31` in `add.s31`', 'did you mean `.s32`?'],
  ['xor.^f32 %f1, %f2, %f3;', 'CM1103', 'unexpected modifier `.f32` in `xor.f32`'],
  ['exit.^uni;', 'CM1103', 'unexpected modifier `.uni` in `exit.uni`', 'form: exit'],
  ['and.b32.^b32 %r1, %r2, %r3;', 'CM1103', 'unexpected modifier `.b32` in `and.b32.b32`', 'form: and.type d, a, b'],
  ['abs.ftz.^f64 %fd1, %fd2;', 'CM1103', 'unexpected modifier `.f64` in `abs.ftz.f64`', '`.ftz` and `.f64` do not go together'],
  ['min.ftz.^f64 %fd1, %fd2, %fd3;', 'CM1103', 'unexpected modifier `.f64` in `min.ftz.f64`', '`.ftz` and `.f64` do not go together'],
  ['set.lo.u32.^s32 %r1, %r2, %r3;', 'CM1103', 'unexpected modifier `.s32` in `set.lo.u32.s32`', '`.lo` and `.s32` do not go together'],
  // CM1104: missing modifiers.
  ['ad^d %r1, %r2, %r3;', 'CM1104', '`add` is incomplete: one of .u16 .u32 .u64 .s16 .s32 .s64 .sat .cc .rn .ftz .f32 .f64 … must follow'],
  ['mul.l^o %r1, %r2, %r3;', 'CM1104', '`mul.lo` is incomplete: one of .u16 .u32 .u64 .s16 .s32 .s64 must follow'],
  ['setp.l^t %p1, %r2, %r3;', 'CM1104', '`setp.lt` is incomplete'],
  ['ld.globa^l %r1, [table];', 'CM1104', '`ld.global` is incomplete'],
  ['sel^p %r1, %r2, %r3, %p1;', 'CM1104', '`selp` is incomplete'],
  ['mul.^u32 %r1, %r2, %r3;', 'CM1104', '`mul.u32` is incomplete: one of .lo .hi .wide must precede `.u32`'],
  ['cvt.^f32.u32 %f1, %r1;', 'CM1104', '`cvt.f32.u32` is incomplete: one of .rn .rz .rm .rp must precede `.f32`'],
  ['mul.lo.^wide.u32 %r1, %r2, %r3;', 'CM1103', 'unexpected modifier `.wide` in `mul.lo.wide.u32`', '`.lo` and `.wide` do not go together'],
  ['add.rn.^u32 %r1, %r2, %r3;', 'CM1103', 'unexpected modifier `.u32` in `add.rn.u32`', '`.rn` and `.u32` do not go together'],
  ['shl.^u32 %r1, %r2, %r3;', 'CM1103', 'unexpected modifier `.u32` in `shl.u32`', 'did you mean `.b32`?'],
  // CM1105: the number of operands.
  ['^add.s32 %r1, %r2;', 'CM1105', '`add.s32` takes 3 operands, and 2 are given', 'form: add.type d, a, b'],
  ['^@%p1 not.b32 %r1, %r2, %r3;', 'CM1105', '`not.b32` takes 2 operands, and 3 are given', 'form: not.type d, a'],
  ['^bar.sync;', 'CM1105', '`bar.sync` takes 1 to 2 operands, and 0 are given', 'form: bar{.cta}.sync a{, b}'],
  ['^bar.sync 0, 32, 5;', 'CM1105', '`bar.sync` takes 1 to 2 operands, and 3 are given', 'form: bar{.cta}.sync a{, b}'],
  ['^bra;', 'CM1105', '`bra` takes 1 operand, and 0 are given', 'form: bra{.uni} a'],
  // CM1106: the kind of an operand.
  ['add.s32 ^5, %r1, %r2;', 'CM1106', '`5` must be a register, and is an integer constant'],
  ['add.s32 %r1, %r2, ^1.5;', 'CM1106', '`1.5` must be a register or a constant (.s32), and is a float constant'],
  ['mov.u32 %r1, ^0f3F800000;', 'CM1106', '`0f3F800000` must be a register or a constant (.u32), and is a float constant'],
  ['mov.b32 %r1, ^1.5;', 'CM1106', '`1.5` must be a register or a constant (.b32), and is a float constant'],
  ['mov.b64 %rd1, ^0f3F800000;', 'CM1106', '`0f3F800000` must be a register or a constant (.b64), and is a float constant'],
  ['add.f32 %f1, %f2, ^1;', 'CM1106', '`1` must be a register or a float constant (.f32), and is an integer constant'],
  ['add.s32 %r1, %r2, ^table;', 'CM1106', '`table` must be a register, and is a variable in .global memory'],
  ['add.s32 %r1, %r2, ^L;', 'CM1106', '`L` must be a register, and is a label'],
  ['mov.b32 ^table, %r1;', 'CM1106', '`table` must be a register, and is a variable in .global memory'],
  ['add.s32 %r1, %r2, ^[table];', 'CM1106', '`[table]` must be a register or a constant (.s32), and is an address'],
  ['ld.global.b32 %r1, ^%rd1;', 'CM1106', '`%rd1` must be an address in brackets, and is a .b64 register', 'did you mean `[%rd1]`?'],
  ['ld.global.b32 %r1, [^%rd1+%r1];', 'CM1106', '`%rd1 + %r1` must be a register or a variable, optionally plus a constant'],
  ['ld.global.b32 %r1, [^%rd1*4];', 'CM1106', '`%rd1 * 4` must be a register or a variable, optionally plus a constant'],
  ['ld.global.b32 %r1, [^4+%rd1];', 'CM1106', '`4 + %rd1` must be a register or a variable, optionally plus a constant'],
  ['ld.global.b32 %r1, [^(%rd1)];', 'CM1106', '`(%rd1)` must be a register or a variable, optionally plus a constant'],
  ['ld.global.b32 %r1, [^%tid.x];', 'CM1106', '`%tid.x` must be a register or a variable, optionally plus a constant'],
  ['ld.shared.b32 %r1, [^1.0];', 'CM1106', '`1.0` must be a register or a variable, optionally plus a constant'],
  ['st.shared.b32 [^4], %r1;', 'CM1106', '`4` must be a register or a variable, and is a constant, which only `.local` accesses accept'],
  ['ld.global.b32 %r1, [^%f1];', 'CM1106', '`%f1` must be an address, and is a .f32 register'],
  ['ld.global.b32 %r1, [^%p1];', 'CM1106', '`%p1` must be an address, and is a .pred register'],
  ['ld.global.b32 %r1, [^L];', 'CM1106', '`L` must be a register or a variable, and is a label'],
  ['bra ^5;', 'CM1106', '`5` must be a label, and is an integer constant'],
  ['bra ^tile;', 'CM1106', '`tile` must be a label, and is a variable in .shared memory'],
  ['add.s32 %r1, ^{%r2, %r3}, 1;', 'CM1106', '`{%r2, %r3}` must be a register or a constant (.s32), and is a vector'],
  ['ld.global.v2.f32 ^{%f1, %f2, %f3}, [table];', 'CM1106', '`{%f1, %f2, %f3}` must be a vector of 2, and is a vector of 3'],
  ['ld.global.v4.f32 ^{%f1, %f2}, [table];', 'CM1106', '`{%f1, %f2}` must be a vector of 4, and is a vector of 2'],
  ['ld.global.v2.f32 ^%f1, [table];', 'CM1106', '`%f1` must be a vector of 2, and is no vector'],
  ['st.global.v2.b32 [table], ^%r1;', 'CM1106', '`%r1` must be a vector of 2, and is no vector'],
  ['mov.u32 ^{%h1, %h2}, %r1;', 'CM1106', '`{%h1, %h2}` must be a register of type .u32, and is a vector'],
  ['mov.b64 ^{%h1, %h2, %h3}, %rd1;', 'CM1106', '`{%h1, %h2, %h3}` must be a vector of 2, and is a vector of 3'],
  ['mov.u32 ^%tid.x, %r1;', 'CM1106', '`%tid.x` must be a register, and is a special register, which cannot be written'],
  ['not.b32 %r1, ^!%r2;', 'CM1106', '`!%r2` must be a value of type .b32, and is a negated predicate'],
  ['@^table bra L;', 'CM1106', '`table` must be a register, and is a variable in .global memory'],
  // CM1107: the type of a register.
  ['add.s32 %r1, %r2, ^%rd1;', 'CM1107', '`%rd1` has type .b64, but operand `b` of `add.s32` expects .s32'],
  ['add.s32 ^%h1, %r2, %r3;', 'CM1107', '`%h1` has type .b16, but operand `d` of `add.s32` expects .s32'],
  ['add.u32 %r1, %r2, ^%f1;', 'CM1107', '`%f1` has type .f32, but operand `b` of `add.u32` expects .u32'],
  ['add.f32 %f1, %f2, ^%u;', 'CM1107', '`%u` has type .u32, but operand `b` of `add.f32` expects .f32'],
  ['add.f64 %fd1, %fd2, ^%f1;', 'CM1107', '`%f1` has type .f32, but operand `b` of `add.f64` expects .f64'],
  ['mul.wide.s32 ^%r1, %r2, %r3;', 'CM1107', '`%r1` has type .b32, but operand `d` of `mul.wide.s32` expects .s64'],
  ['shl.b64 %rd1, %rd2, ^%rd3;', 'CM1107', '`%rd3` has type .b64, but operand `b` of `shl.b64` expects .u32'],
  ['setp.eq.s32 ^%r1, %r2, %r3;', 'CM1107', '`%r1` has type .b32, but operand `p` of `setp.eq.s32` expects .pred'],
  ['selp.b32 %r1, %r2, %r3, ^%r1;', 'CM1107', '`%r1` has type .b32, but operand `c` of `selp.b32` expects .pred'],
  ['mov.u32 %r1, ^%p1;', 'CM1107', '`%p1` has type .pred, but operand `a` of `mov.u32` expects .u32'],
  ['mov.f32 %f1, ^%tid.x;', 'CM1107', '`%tid.x` has type .u32, but operand `a` of `mov.f32` expects .f32'],
  ['mov.b64 %rd1, ^%ntid.x;', 'CM1107', '`%ntid.x` has type .u32, but operand `a` of `mov.b64` expects .b64'],
  ['@^%r1 bra L;', 'CM1107', '`%r1` has type .b32, but a guard expects .pred'],
  ['st.global.u32 [table], ^%f1;', 'CM1107', '`%f1` has type .f32, but operand `b` of `st.global.u32` expects .u32'],
  ['st.global.b64 [table], ^%r1;', 'CM1107', '`%r1` has type .b32, but operand `b` of `st.global.b64` expects .b64'],
  ['ld.global.u8 ^%f1, [table];', 'CM1107', '`%f1` has type .f32, but operand `d` of `ld.global.u8` expects .u8'],
  ['ld.global.v2.b32 ^%w, [table];', 'CM1107', '`%w` has type .b16, but operand `d` of `ld.global.v2.b32` expects .b32'],
  ['mov.b64 {%r1, ^%h1}, %rd1;', 'CM1107', '`%h1` has type .b16, but operand `d` of `mov.b64` expects .b32'],
  ['cvt.rn.f32.s32 ^%s, %r1;', 'CM1107', '`%s` has type .s32, but operand `d` of `cvt.rn.f32.s32` expects .f32'],
  ['ld.shared.b32 %r1, ^[tile].unified;', 'CM1106', '`[tile].unified` must be an address without `.unified`, and is one with it'],
  // CM1118: the state space of a variable.
  ['ld.shared.b32 %r1, [^table];', 'CM1118', '`table` is in `.global` memory, and the accesses of `ld.shared.b32` are `.shared`'],
  ['st.global.b32 [^tile+4], %r1;', 'CM1118', '`tile` is in `.shared` memory, and the accesses of `st.global.b32` are `.global`'],
  ['ld.b32 %r1, [^n];', 'CM1118', '`n` is in `.param` memory, and the accesses of `ld.b32` are generic'],
  ['ld.global.b32 %r1, [^n];', 'CM1118', '`n` is in `.param` memory, and the accesses of `ld.global.b32` are `.global`'],
  ['{ .local .b32 l; ld.const.b32 %r1, [^l]; }', 'CM1118', '`l` is in `.local` memory, and the accesses of `ld.const.b32` are `.const`'],
  // CM1109: declared twice.
  ['.reg .f32 ^sum;', 'CM1109', '`sum` is declared twice in this scope'],
  ['.reg .b32 ^%r<9>;', 'CM1109', '`%r` is declared twice in this scope'],
  ['.reg .b32 ^%r2;', 'CM1109', '`%r2` is declared twice in this scope'],
  ['.reg .b32 t3; .reg .b32 ^t<9>;', 'CM1109', '`t` is declared twice in this scope'],
  ['.reg .b32 ^L;', 'CM1109', '`L` is declared twice in this scope'],
  ['.reg .b32 ^n;', 'CM1109', '`n` is declared twice in this scope'],
  ['M: ret;\n^M:', 'CM1109', '`M` is declared twice in this scope'],
  ['add.s32 %r1, %r1, 1;\n.reg .b32 late;\nadd.s32 late, %r1, 1;\n.reg .f32 ^late;', 'CM1109', '`late` is declared twice in this scope'],
];

/** Legal PTX that this version refuses. */
const refusals: readonly Fault[] = [
  ['mov.u64 %rd1, ^%gridid;', 'CM2002', 'special register `%gridid` is not supported'],
  ['mov.u32 %r1, ^%smid;', 'CM2002', 'special register `%smid` is not supported'],
  ['mov.u32 %r1, ^%nsmid;', 'CM2002', 'special register `%nsmid` is not supported'],
  ['mov.u32 %r1, ^%envreg3;', 'CM2002', 'special register `%envreg3` is not supported', 'the offset of the range'],
  ['.reg .v4 .u32 v;\nmov.v4.u32 v, ^%tid;', 'CM2002', 'special register `%tid` is not supported', 'from `.x` on'],
];

/** The text without its `^`, and the position of the mark. */
function unmark(line: string): { readonly text: string; readonly at: string } {
  const marked = kernel(line);
  const before = marked.slice(0, marked.indexOf('^')).split('\n');
  return { text: marked.replace('^', ''), at: `${before.length}:${before.at(-1)!.length + 1}` };
}

function assertFault([line, code, message, ...more]: Fault): void {
  const { text, at } = unmark(line);
  const found = said(text);
  assert.is(found.length, 1, `${line}: ${found.join('\n')}`);
  const [first = '', ...rest] = found[0]!;
  assert.ok(first.startsWith(`${code} ${at} ${message}`), `${line}\n${first}\n${code} ${at} ${message}`);
  for (const part of more)
    assert.ok(
      rest.some((one) => one.includes(part)),
      `${line}: ${rest.join('; ')} without ${part}`,
    );
}

for (const fault of [...faults, ...refusals])
  test(`${fault[1]}: ${fault[0].replace('^', '').replaceAll('\n', ' ')}`, () => assertFault(fault));

test('every fault of a file is reported, each at its place', () => {
  const found = said(kernel('ad.s32 %r1, %r2, %r3;\nadd.s32 %r1, %f1, %x;\n@%r1 bra M;\nmov.u32 %r1, %smid;\nadd.s31 %r1, %r2;'));
  assert.equal(
    found.map(([first = '']) => first.split(' ').slice(0, 2).join(' ')),
    ['CM1102 11:1', 'CM1107 12:14', 'CM1101 12:19', 'CM1107 13:2', 'CM1101 13:10', 'CM2002 14:14', 'CM1103 15:5'],
  );
});

test('forms are listed where there are few, and what could stand there where nothing is near', () => {
  const [found = []] = said(kernel('xor.qqqq %r1, %r2, %r3;'));
  assert.equal(found.slice(1), ['form: xor.type d, a, b', 'expected here: .pred .b16 .b32 .b64']);
});

test('CM1109: parameters, variables and kernels', () => {
  assert.match(said(`${head}.entry k (.param .u64 a, .param .u32 a) { ret; }`)[0]![0]!, /^CM1109 7:38 `a` is declared twice/);
  assert.match(said(`${head}.global .b32 table[4];\n.entry k () { ret; }`)[0]![0]!, /^CM1109 7:14 `table` is declared twice/);
  assert.match(said(`${head}.entry k () { ret; }\n.entry k () { ret; }`)[0]![0]!, /^CM1109 8:8 `k` is declared twice/);
  assert.equal(
    said(`${head}.extern .shared .b32 s[];\n.extern .shared .b32 s[];\n.func g ();\n.func g () { ret; }\n.entry k () { ret; }`),
    [],
  );
});

test('CM1120: an entry that is not there', () => {
  const text = `${head}.entry scale () { ret; }\n.entry shift () { ret; }\n`;
  assert.equal(said(text, { entries: ['scal'] }), [['CM1120 nowhere the file has no entry named `scal`', 'did you mean `scale`?']]);
  assert.equal(said(text, { entries: ['main'] }), [
    ['CM1120 nowhere the file has no entry named `main`', 'the file holds `scale`, `shift`'],
  ]);
  assert.equal(said(text, { entries: ['f'] })[0]![0], 'CM1120 nowhere the file has no entry named `f`');
  assert.equal(said('.version 8.0\n.target sm_90\n', { entries: ['k'] })[0]![1], 'the file holds no entry');
});

test('only the chosen entries are checked, and functions where asked for', () => {
  const text = `${head}.func g () { foo; }\n.entry good () { ret; }\n.entry bad () { bar; }\n`;
  assert.equal(said(text, { entries: ['good'] }), []);
  assert.is(said(text).length, 1);
  assert.is(said(text, { entries: ['good'], functions: true })[0]![0], 'CM1102 7:14 `foo` is not a PTX instruction');
});

/** Valid text, beside similar faults. */
const fine: readonly string[] = [
  'mov.b32 %r1, 0f3F800000;',
  'mov.b64 %rd1, 1.5;',
  'mov.f32 %f1, 0d3FF0000000000000;',
  'mov.f64 %fd1, 0f3F800000;',
  'mov.u16 %h1, 70000;',
  'add.s32 %r1, %r1, 0x1ffffffff;',
  'add.s32 %u, %s, %r1;',
  'and.b32 %f1, %f2, %r3;',
  'selp.b32 %r1, 1, 2, !%p1;',
  'and.pred %p1, %p2, !%p3;',
  'setp.lt.s32 %p1|_, %r1, %r2;',
  'setp.lt.and.s32 %p1, %r1, %r2, !%p2;',
  'ld.global.v2.f32 {%f1, _}, [table];',
  'ld.global.u8 %rd1, [table];',
  'ld.global.f32 %rd1, [table];',
  'st.global.u8 [table], %rd1;',
  'st.global.v2.f32 [table], {%f1, 1.0};',
  'mov.b64 {%r1, _}, %rd1;',
  'mov.b32 %r1, {%h1, %h2};',
  'ld.global.v2.b32 %v, [table];',
  'add.s32 %r1, %v.x, %v.y;',
  'mov.u32 %r1, WARP_SZ;',
  'mov.s32 %r1, %tid.x;',
  'mov.u16 %h1, %ntid.y;',
  // `%q12` belongs to the range of the shorter name.
  '.reg .s32 %q<20>; .reg .f32 %q1<5>; add.s32 %q12, %q12, %q12;',
  'cvt.u32.u16 %r1, %tid.x;',
  'mov.u64 %rd1, table;',
  'mov.u64 %rd1, table+8;',
  'mov.u32 %r1, tile;',
  'ld.param.u64 %rd1, [a];',
  'ld.global.b32 %r1, [table+4];',
  'ld.shared.f32 %f1, [%r1];',
  'ld.local.f32 %f1, [%r1+4];',
  'ld.b32 %r1, [table+4];',
  'ld.b32 %r1, [tile];',
  'ld.shared::cta.b32 %r1, [tile];',
  'st.global.b16 [table], %f1;',
  'ld.global.b8 %fd1, [table];',
  '{ .local .b32 l; st.local.b32 [l], %r1; st.b32 [l], %r1; }',
  'bar.sync 0;',
  '{ .reg .f64 %r1; mov.f64 %r1, 1.0; }\nmov.b32 %r1, 1;',
  '{ .reg .b32 table; mov.b32 table, 1; }',
  '{ L: bra L; }\nbra L;',
  '{ mov.b32 %r1, sum; .reg .b64 sum; mov.b64 sum, 1; }',
];

for (const line of fine) test(`fine: ${line.replaceAll('\n', ' ')}`, () => assert.equal(said(kernel(line)), []));

test('fine by the manual (5.4.3), which ptxas does not take', () => {
  assert.equal(said(kernel('ld.global.b32 %r1, [table[2]];')), []);
});

test('every code of operands is provoked here; `declarations.spec.ts` has those of declarations and calls', () => {
  // Names of kernels are given by the command line: `cli/names.spec.ts`.
  const provoked = new Set([...faults.map((fault) => fault[1]), 'CM1120', 'CM1121']);
  assert.equal(
    Object.keys(types).filter((code) => /^CM11(0|18|2)/.test(code) && !provoked.has(code)),
    [],
  );
});

/** Text that ptxas accepts against the manual: a missing lane of a vector, and a half in a 32-bit register. */
const laxer = new Set(['mov.b32 %r1, ^%v.z;']);

const ptxasSays = (line: string): number => ptxasFaults(kernel(line.replace('^', ''))).size;

need(test, ['ptxas'], 'ptxas refuses every fault', () => {
  assert.equal(
    faults.map(([line]) => line).filter((line) => !laxer.has(line) && ptxasSays(line) === 0),
    [],
  );
});

need(test, ['ptxas'], 'ptxas takes what is fine', () => {
  assert.equal(
    fine.filter((line) => ptxasSays(line) > 0),
    [],
  );
});

test.run();
