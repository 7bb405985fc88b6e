/** Kernels are compiled one after the other; what is said, and what is made, is as if each stage ran over all of them before the next. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, compile } from '../../src/compile/index.ts';
import { readMetallib } from '../../src/metallib/index.ts';

const test = suite('compile/one-by-one');

const head = '.version 7.0\n.target sm_70\n.address_size 64\n';
const entry = (name: string, body: string): string =>
  `.visible .entry ${name}(.param .u64 p) {\n.reg .b64 %rd<4>; .reg .f64 %d<4>; .reg .b32 %r<4>;\nld.param.u64 %rd1, [p];\n${body}\nret;\n}\n`;
const doubles = 'ld.global.f64 %d1, [%rd1]; add.f64 %d2, %d1, %d1; st.global.f64 [%rd1], %d2;';
/** More shared memory than any GPU has. */
const large = '.shared .align 4 .b8 large[300000];\nmov.u32 %r1, large; st.global.u32 [%rd1], %r1;';
const plain = (number: number): string => `mov.u32 %r1, ${number}; st.global.u32 [%rd1], %r1;`;
/** A barrier of a number that is not known is refused when a kernel is lowered. */
const refused = 'ld.global.u32 %r1, [%rd1]; barrier.sync %r1;';

function compiled(text: string, options: CompileOptions): { metallib?: Uint8Array; said: string[] } {
  const source = new SourceFile('k.ptx', head + text);
  const diagnostics = new Diagnostics(source);
  const result = compile(source, options, diagnostics);
  return { ...(result ? { metallib: result.metallib } : {}), said: diagnostics.list.map(({ code }) => code) };
}

const warnings: CompileOptions = { target: 'macos15', fp64: 'warn' };

test('a warning of a late stage is not given where another kernel fails in an earlier one', () => {
  assert.equal(compiled(entry('a', doubles), warnings).said, ['CM2097']);
  const both = compiled(entry('a', doubles) + entry('b', large), warnings);
  assert.is(both.metallib, undefined);
  assert.equal(both.said, ['CM2093']);
});

test('errors of a stage are given for every kernel, and none of the stages behind it', () => {
  const names = ['a', 'b', 'c'];
  const { said } = compiled(`${entry('first', large)}${names.map((name) => entry(name, refused)).join('')}`, warnings);
  assert.is(said.length, names.length);
  assert.ok(
    said.every((code) => /^CM20[45]/.test(code)),
    said.join(),
  );
  assert.equal(compiled(names.map((name) => entry(name, large)).join(''), warnings).said, ['CM2093', 'CM2093', 'CM2093']);
});

test('emulated doubles of all kernels are noted once', () => {
  const source = new SourceFile('k.ptx', head + entry('a', doubles) + entry('b', doubles));
  const diagnostics = new Diagnostics(source);
  compile(source, { target: 'macos15', fp64: 'emulate' }, diagnostics);
  assert.equal(
    diagnostics.list.map(({ code, message }) => [code, /\d+ places?/.exec(message)?.[0]]),
    [['CM2098', '2 places']],
  );
});

test('each kernel is what it is alone, and a source may be compiled again', () => {
  const entries = [1, 2, 3].map((number) => entry(`k${number}`, plain(number)));
  const bitcodeOf = (metallib: Uint8Array): Uint8Array[] =>
    readMetallib(metallib, new Diagnostics())!.functions.map(({ bitcode }) => bitcode);
  const together = compiled(entries.join(''), { target: 'macos15' }).metallib!;
  const alone = entries.flatMap((text) => bitcodeOf(compiled(text, { target: 'macos15' }).metallib!));
  assert.equal(bitcodeOf(together), alone);
  const source = new SourceFile('k.ptx', head + entries.join(''));
  for (let turn = 0; turn < 2; turn++) assert.equal(compile(source, { target: 'macos15' }, new Diagnostics(source))!.metallib, together);
});

/** A text whose entries are parsed and checked one by one, and one that says the same and is checked as a whole. */
const padding = `// ${'-'.repeat(2 ** 19)}\n`;
const saidOf = (text: string, options: CompileOptions): { metallib: Uint8Array | undefined; said: string[] } => {
  const source = new SourceFile('k.ptx', head + text);
  const diagnostics = new Diagnostics(source);
  const metallib = compile(source, options, diagnostics)?.metallib;
  const placed = ({ code, message, labels: [at] }: (typeof diagnostics.list)[number]): string =>
    `${code} ${message} ${at === undefined ? '' : source.text.slice(at.span.start, at.span.end)}`;
  return { metallib, said: diagnostics.list.map(placed) };
};

test('a large text is compiled as a small one', () => {
  const shared = '.global .align 4 .u32 counter = 5;\n';
  const counting = 'ld.global.u32 %r1, [counter]; st.global.u32 [%rd1], %r1;';
  const entries = [entry('a', plain(7)), entry('b', doubles), entry('c', counting), entry('d', plain(9))];
  const newer = entry('f', 'min.NaN.f16 %h1, %h1, %h1;').replace('.reg .b64', '.reg .b16 %h<2>; .reg .b64');
  const missing = entry('g', 'add.u32 %r1, %r2, %nothing;');
  const texts = [
    entries.join(''),
    entries.slice(0, 2).join('') + entry('e', refused) + entries[3]! + entry('h', refused),
    entries[0]! + newer + entries[1]! + newer.replace(' f(', ' i('),
    entries[0]! + missing + entry('e', refused),
    `${entries[0]!}${entry('j', 'add.u32 %r1 %r2;')}${missing}`,
    entries[0]! + entry('k', large) + entries[1]!,
    entries[0]! + entries[0]!,
    entries[0]! + entry('l', '.shared .align 3 .b8 odd[4];'),
  ];
  for (const options of [{ target: 'macos15' }, { target: 'macos13', fp64: 'warn' }, { target: 'cpu' }] as const)
    for (const text of texts) assert.equal(saidOf(padding + shared + text, options), saidOf(shared + text, options));
  assert.ok(saidOf(padding + shared + texts[0]!, {}).metallib);
});

test.run();
