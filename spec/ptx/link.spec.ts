/** Links of PTX modules: which symbols are one, which are renamed, and what is refused. Source: PTX ISA 9.0, 11.6; `nvlink` of CUDA 13.0. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compile } from '../../src/compile/index.ts';
import { Diagnostics, linkModules, parse, SourceFile } from '../../src/ptx/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('ptx/link');

const head = (version = '7.0', target = 'sm_70'): string => `.version ${version}\n.target ${target}\n.address_size 64\n`;

interface Linked {
  readonly text: string | undefined;
  readonly said: readonly string[];
}

/** Links modules by their texts, with a header where there is none. */
function link(...texts: readonly string[]): Linked {
  const own = texts.map(
    (text, i) => new Diagnostics(new SourceFile(`${'abcdef'[i]}.ptx`, text.startsWith('.version') ? text : head() + text)),
  );
  const modules = own.map((diagnostics) => parse(diagnostics.file!, diagnostics));
  assert.equal(
    own.flatMap(({ list }) => list.map(({ message }) => message)),
    [],
  );
  const text = linkModules(modules, (module) => own[module]!);
  const said = own.flatMap(({ list, file }) =>
    list.map(({ code, message, labels, notes }) => {
      const at = labels[0] && file!.position(labels[0].span.start).line;
      return [`${code} ${file!.path}:${at}`, message, ...notes].join(' | ');
    }),
  );
  return { text, said };
}

/** The words that the kernel `k` of linked modules writes. */
function run(...texts: readonly string[]): number[] {
  const { text, said } = link(...texts);
  assert.equal(said, []);
  const diagnostics = new Diagnostics(new SourceFile('linked.ptx', text!));
  const compiled = compile(diagnostics.file!, { target: 'cpu', entries: ['k'] }, diagnostics);
  assert.ok(compiled, diagnostics.list.map(({ message }) => message).join('; '));
  return [
    ...new Uint32Array(launchMetallib(compiled.metallib, { kernel: 'k', blocks: 1, threads: 4, args: [new Uint32Array(4)] })[0]!.buffer),
  ];
}

const call = (name: string, register: string): string =>
  `{ .param .b32 p0; .param .b32 q0; st.param.b32 [p0], ${register}; call (q0), ${name}, (p0); ld.param.b32 ${register}, [q0]; }`;
const signature = (name: string): string => `.func (.param .b32 r) ${name}(.param .b32 x)`;
/** A function that adds a number, or what a variable has, to its argument. */
const adds = (name: string, what: string, linkage = ''): string =>
  `${linkage} ${signature(name)} { .reg .b32 a, b; ld.param.b32 a, [x]; ${/\d/.test(what[0]!) ? `mov.b32 b, ${what}` : `ld.global.b32 b, [${what}]`}; add.u32 a, a, b; st.param.b32 [r], a; ret; }\n`;
const kernel = (body: string): string => `.visible .entry k(.param .u64 out) {
  .reg .b64 d<4>; .reg .b32 r<9>;
  ld.param.u64 d1, [out]; mov.u32 r1, %tid.x; mul.wide.u32 d2, r1, 4; add.u64 d1, d1, d2;
  ${body}
  st.global.u32 [d1], r1; ret;
}
`;
const outside = (name: string): string => `.extern ${signature(name)};\n`;

test('functions and variables of other modules, in both directions', () => {
  const a = `${outside('far')}.extern .global .align 4 .u32 total;\n.visible .global .align 4 .u32 base = 40;\n${kernel(`${call('far', 'r1')} ld.global.u32 r2, [total]; add.u32 r1, r1, r2;`)}`;
  const b = `.extern .global .align 4 .u32 base;\n.visible .global .align 4 .u32 total = 500;\n${adds('far', 'base', '.visible')}`;
  assert.equal(run(a, b), [540, 541, 542, 543]);
  assert.equal(run(b, a), [540, 541, 542, 543]);
});

test('names without linkage are those of their module', () => {
  const own = (value: number): string => `.global .align 4 .u32 mine = ${value};\n${adds('helper', 'mine')}`;
  const a = `${outside('far')}${own(1)}${kernel(`${call('far', 'r1')} ${call('helper', 'r1')}`)}`;
  const b = `${own(1000)}.visible ${signature('far')} { .reg .b32 a; ld.param.b32 a, [x]; ${call('helper', 'a')} st.param.b32 [r], a; ret; }\n`;
  const c = `${own(7)}${adds('unused', '3')}`;
  assert.equal(run(a, b, c), [1001, 1002, 1003, 1004]);
  assert.equal(run(c, b, a), [1001, 1002, 1003, 1004]);
});

test('a name of one module may be a visible one of another', () => {
  const a = `${adds('f', '1')}${outside('g')}${kernel(`${call('f', 'r1')} ${call('g', 'r1')}`)}`;
  const b = `${adds('f', '100', '.visible')}.visible ${signature('g')} { .reg .b32 a; ld.param.b32 a, [x]; ${call('f', 'a')} st.param.b32 [r], a; ret; }\n`;
  assert.equal(run(a, b), [101, 102, 103, 104]);
});

test('a definition replaces weak ones, of which the first is kept otherwise', () => {
  const weak = (value: number): string => adds('w', `${value}`, '.weak');
  const a = `${weak(10)}${kernel(call('w', 'r1'))}`;
  assert.equal(run(a, weak(20)), [10, 11, 12, 13]);
  assert.equal(run(a, adds('w', '20', '.visible')), [20, 21, 22, 23]);
  assert.equal(run(adds('w', '20', '.visible'), a), [20, 21, 22, 23]);
});

test('the largest common variable is kept, unless there is a definition', () => {
  const a = `.common .global .align 4 .u32 c[2];\n${kernel('mov.u32 r2, 9; st.global.u32 [c+4], r2; ld.global.u32 r1, [c+4];')}`;
  assert.match(link(a, '.common .global .align 4 .u32 c[8];\n').text!, 'c[8]');
  assert.not.match(link(a, '.common .global .align 4 .u32 c[8];\n').text!, 'c[2]');
  const defined = '.visible .global .align 4 .u32 c[2] = {5, 6};\n';
  assert.match(link(a, defined).text!, 'c[2] = {5, 6}');
  assert.equal(run(a, defined), [9, 9, 9, 9]);
});

test('variables precede those that point to them, whichever module has them', () => {
  const a = `.extern .global .align 8 .u64 list[2];\n${kernel('ld.global.u64 d3, [list+8]; cvta.to.global.u64 d3, d3; ld.global.u32 r2, [d3]; add.u32 r1, r1, r2;')}`;
  const b = '.extern .global .align 4 .u32 target;\n.visible .global .align 8 .u64 list[2] = {0, generic(target)};\n';
  const c = '.visible .global .align 4 .u32 target = 70;\n';
  assert.equal(run(a, b, c), [70, 71, 72, 73]);
});

test('dynamic shared memory is of each module by itself', () => {
  const shared = '.extern .shared .align 16 .b8 memory[];\n';
  const text = link(`${shared}${kernel('mov.u32 r2, memory;')}`, `${shared}${adds('f', '1', '.visible')}`).text!;
  assert.is(text.match(/\.extern \.shared/g)!.length, 2);
});

test('an alias is a name of its function', () => {
  const b = `${adds('real', '30', '.visible')}.visible ${signature('other')};\n.alias other, real;\n`;
  assert.equal(run(`${outside('other')}${kernel(call('other', 'r1'))}`, b), [30, 31, 32, 33]);
});

test('the header is the newest of all', () => {
  const header = (text: string | undefined): string => text!.split('\n').slice(0, 3).join(' ');
  assert.is(header(link(`${head('7.8', 'sm_80')}`, `${head('8.5', 'sm_75')}`).text), '.version 8.5 .target sm_80 .address_size 64');
  assert.is(header(link(`${head('8.0', 'sm_90a')}`, `${head('7.10', 'sm_90')}`).text), '.version 8.0 .target sm_90a .address_size 64');
});

test('files of lines are numbered anew', () => {
  const module = (name: string): string =>
    `.file 1 "${name}.cu"\n.visible .func ${name}() { .loc 1 7 3\n ret; }\n.visible .func ${name}2() { .loc 1 8 3, function_name $L__info0, inlined_at 1 9 1\n ret; }\n`;
  const { text } = link(module('a'), module('b'));
  assert.match(text!, '.file 1 "a.cu"\n.file 2 "b.cu"');
  assert.equal(
    [...text!.matchAll(/\.loc ([^\n]*)/g)].map(([, place]) => place),
    ['1 7 3', '1 8 3', '2 7 3', '2 8 3'],
  );
});

test('CM4075: a name that is used, and defined nowhere', () => {
  const a = `${outside('f')}${outside('unused')}.extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n${kernel(call('f', 'r1'))}`;
  assert.equal(link(a, adds('other', '1', '.visible')).said, ['CM4075 a.ptx:4 | `f` is used, and no module defines it']);
  // A function of another module's own does not count.
  assert.equal(link(a, adds('f', '1')).said, ['CM4075 a.ptx:4 | `f` is used, and no module defines it']);
});

test('CM4076: two definitions', () => {
  assert.equal(link(adds('f', '1', '.visible'), `\n${adds('f', '1', '.visible')}`).said, [
    'CM4076 b.ptx:5 | `f` is defined in several modules | first defined at a.ptx:4:32',
  ]);
  assert.equal(link(kernel(''), kernel('')).said.length, 1);
});

test('CM4077: declarations that differ', () => {
  const said = (a: string, b: string): string => link(a, b).said.join();
  assert.match(
    said('.extern .func f(.param .b64 x);\n', adds('f', '1', '.visible')),
    /^CM4077 a\.ptx:4 \| `f` differs .*its parameters differ, first at number 1 \| defined at b\.ptx:4/,
  );
  assert.match(
    said('.extern .global .align 4 .u32 v;\n', '.visible .const .align 4 .u32 v = 1;\n'),
    'one is in `.const` and the other in `.global`',
  );
  assert.match(said('.extern .global .align 4 .u32 v[2];\n', '.visible .global .align 4 .u32 v[3];\n'), 'one has 12 bytes and the other 8');
  assert.match(said('.extern .global .align 4 .u32 f;\n', adds('f', '1', '.visible')), 'a function and the other');
  assert.is(said('.extern .global .align 4 .u32 v[];\n', '.visible .global .align 4 .u32 v[3];\n'), '');
});

test('CM4078: modules that do not go together', () => {
  const said = (a: string, b: string): string => link(a, b).said.join();
  assert.match(said(head('8.0', 'sm_90a'), head('8.7', 'sm_100')), /^CM4078 b\.ptx:1 .*`sm_100`.*`sm_90a`/);
  assert.match(said(head('8.0', 'sm_90a'), head('8.7', 'sm_100a')), 'CM4078');
  assert.match(said(head(), '.version 7.0\n.target sm_70\n.address_size 32\n'), 'addresses of 32 bits, and the other of 64');
  assert.match(said(head(), head('7.0', 'sm_70, texmode_independent')), '`texmode_independent`, and the other `texmode_unified`');
});

test.run();
