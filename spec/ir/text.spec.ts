import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type Module, parseModule, printModule, verify } from '../../src/ir/index.ts';
import { vectorAdd } from '../support/kernels.ts';

const test = suite('ir/text');

function parse(text: string): { module: Module; diagnostics: Diagnostics } {
  const file = new SourceFile('a.ir', text);
  const diagnostics = new Diagnostics(file);
  return { module: parseModule(file, diagnostics), diagnostics };
}

const everything = `kernel "every thing" {
  maxthreads 256
  threads 16 16 1
  param "a" pointer global size 4 align 4 slot 0 element f32 access read @3:9
  param "s" value param size 12 align 4 slot 1 signed
  param "stop" pointer global size 4 align 4 slot 2 element i32 access read_write fault "a \\"word\\"" fault "b"
  param "print" pointer global size 4 align 4 slot 3 element i32 access read_write format "%d\\n" format "\xff"
  variable "tile" shared size 1024 align 4 element f32
  variable "table" constant size 4 align 4 init "00ff10a0"
  variable "dyn" shared size 0 align 16 dynamic
b0 "entry":
  %0 = param ptr.global {index: 0}
  %1 = variable ptr.shared {name: tile}
  %2 = variable ptr.local {name: "a name"}
  %3 = sreg i32 {name: tid.x} @10:20
  %4 = const i32 -1
  %5 = const i1 1
  %6 = const f32 0x3fc00000 ; 1.5
  %7 = const f16 0x3c00 ; 1
  %8 = const f64 0x8000000000000000 ; 0
  %9 = const ptr.global 0
  %10 = icmp i1 %3, %4 {pred: ult}
  %11 = load v4.f32 %0 {align: 16, volatile: true} @5:6
  barrier @30:40
  store %0, %6 {align: 4, volatile: false}
  condbr %10, b1(%3, %6), b2 @7:8
b1(%12: i32 @1:2, %13: f32):
  br b1(%12, %13)
b2:
  ret
}
`.replace('; 0\n', '; 0\n');

test('the text form prints back equal, every kind of line in it', () => {
  const { module, diagnostics } = parse(everything);
  assert.equal(diagnostics.list, []);
  assert.is(printModule(module), everything);
});

const narrow = `kernel "narrow" {
  dialect narrow
  param "a" pointer global size 4 align 4 slot 0 access read_write
  param "b" pointer global size 4 align 4 slot 1 access read_write
b0:
  %0 = param ptr.global {index: 0}
  %1 = param ptr.global wide {index: 1}
  %2 = const i32 4
  %3 = ptradd ptr.global %0, %2
  %4 = zext i64 %2
  %5 = ptradd ptr.global wide %1, %4
  br b1(%3, %5)
b1(%6: ptr.global, %7: ptr.global wide):
  store %6, %2 {align: 4, volatile: false}
  ret
}
`;

test('the narrowed dialect marks the pointers that have 64 bits', () => {
  const { module, diagnostics } = parse(narrow);
  assert.equal(diagnostics.list, []);
  const kernel = module.kernels[0]!;
  assert.equal([...kernel.widePointers!], [1, 5, 7]);
  assert.ok(verify(kernel, diagnostics));
  assert.is(printModule(module), narrow);
});

test('`wide` without the dialect is refused', () => {
  const { diagnostics } = parse(narrow.replace('  dialect narrow\n', ''));
  assert.match(diagnostics.list[0]!.message, /`wide` belongs to the narrowed dialect/);
});

test('a text says what it says', () => {
  const kernel = parse(everything).module.kernels[0]!;
  assert.is(kernel.name, 'every thing');
  assert.equal(kernel.requiredThreads, [16, 16, 1]);
  assert.equal(kernel.variables[1]!.init, new Uint8Array([0, 255, 16, 160]));
  assert.equal(kernel.insts[4], { op: 'const', type: 'i32', bits: 0xffffffffn });
  assert.equal(kernel.insts[11], { op: 'load', type: 'v4.f32', addr: 0, align: 16, volatile: true });
  assert.equal(kernel.locs[11], { start: 5, end: 6 });
  const end = kernel.blocks[0]!.end;
  assert.is(end.op, 'condbr');
  assert.is(end.op === 'condbr' && end.then.block, kernel.blocks[1]!);
});

test('values are renumbered in print order', () => {
  const { module } = parse('kernel "k" {\nb0:\n  %7 = const i32 1\n  %3 = add i32 %7, %7\n  ret\n}\n');
  assert.is(printModule(module), 'kernel "k" {\nb0:\n  %0 = const i32 1\n  %1 = add i32 %0, %0\n  ret\n}\n');
});

test('a kernel made by the builder prints as expected', () => {
  assert.match(printModule({ kernels: [vectorAdd()] }), /%\d+ = fadd f32 %\d+, %\d+\n/);
});

const faults: [text: string, why: RegExp, line: number][] = [
  ['kernel "k" {\nb0:\n  %0 = frob i32\n  ret\n}', /there is no op frob/, 3],
  ['kernel "k" {\nb0:\n  %0 = const i33 1\n  ret\n}', /there is no type i33/, 3],
  ['kernel "k" {\nb0:\n  %0 = add i32 %1, %1\n  ret\n}', /%1 is not defined/, 3],
  ['kernel "k" {\nb0:\n  br b9\n}', /there is no block b9/, 3],
  ['kernel "k" {\nb0:\n  %0 = const i32 1\n  %0 = const i32 1\n  ret\n}', /%0 is already defined/, 4],
  ['kernel "k" {\nb0:\n  %0 = const i32 1\n}', /the block b0 has no terminator/, 4],
  ['kernel "k" {\nb0:\n  ret\nb0:\n  ret\n}', /the block b0 is already there/, 4],
  ['kernel "k" {\nb0:\n  ret', /`}` is wanted/, 3],
  ['kernel "k" {\n  param "a" thing global\nb0:\n  ret\n}', /one of value, pointer, threadgroup/, 2],
  ['kernel "k" {\nb0:\n  %0 = const i32 $\n  ret\n}', /a number is wanted/, 3],
];
for (const [text, why, line] of faults)
  test(`a fault is named at its line: ${why.source}`, () => {
    const { diagnostics } = parse(text);
    const first = diagnostics.list[0]!;
    assert.is(first.code, 'CM3002');
    assert.match(first.message, why);
    assert.is(diagnostics.file!.position(first.labels[0]!.span.start).line, line);
  });

test('several faults are all reported', () => {
  const { diagnostics } = parse('kernel "k" {\nb0:\n  %0 = frob i32\n  %1 = frab i32\n  ret\n}');
  assert.is(diagnostics.list.length, 2);
});

test('no cut of a text throws or hangs', () => {
  for (let end = 0; end < everything.length; end += 3) parse(everything.slice(0, end));
});

test.run();
