/** Calls through registers: which functions they may be of, on the CPU device; what is expected is worked out by hand. An H200 judges more in `spec/h200/symbols.spec.ts`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import { launchMetallib } from '../support/launch.ts';

const test = suite('lower/pointer-calls');
const head = '.version 9.0\n.target sm_90\n.address_size 64\n';

const unary = (name: string, code: string): string =>
  `.func (.param .b32 r) ${name} (.param .b32 p)\n{ .reg .b32 x; ld.param.b32 x, [p]; ${code} st.param.b32 [r], x; ret; }\n`;
const twice = unary('twice', 'add.u32 x, x, x;');
const square = unary('square', 'mul.lo.u32 x, x, x;');
const kernel = (code: string): string => `.visible .entry k(.param .u64 out, .param .u32 pn)
{
  .reg .b64 o, f, at; .reg .b32 t, x, n; .reg .pred p;
  mov.u32 t, %tid.x;
  ld.param.u64 o, [out];
  ld.param.u32 n, [pn];
  mul.wide.u32 at, t, 4;
  add.u64 o, o, at;
  ${code}
  st.global.u32 [o], x;
  ret;
}
`;
const called = (prototype = 'P: .callprototype (.param .b32 _) _ (.param .b32 _);', label = 'P'): string =>
  `{ .param .b32 a; .param .b32 b; st.param.b32 [a], t; ${prototype} call (b), f, (a), ${label}; ld.param.b32 x, [b]; }`;

function compiled(source: string): { metallib: Uint8Array | undefined; said: string[] } {
  const diagnostics = new Diagnostics(new SourceFile('k.ptx', head + source));
  const metallib = compile(diagnostics.file!, {}, diagnostics)?.metallib;
  return { metallib, said: diagnostics.list.map(({ code, message }) => `${code} ${message}`) };
}

function run(source: string, n = 0, threads = 64): number[] {
  const { metallib, said } = compiled(source);
  assert.ok(metallib, said.join('; '));
  const out = new Uint32Array(threads).fill(0xa5a5_a5a5);
  return [...new Uint32Array(launchMetallib(metallib, { kernel: 'k', blocks: 1, threads, args: [out, n] })[0]!.buffer)];
}

test('threads of a warp call different functions', () => {
  const found = run(twice + square + kernel(`and.b32 x, t, 3; setp.eq.u32 p, x, 0; mov.u64 f, square; @p mov.u64 f, twice; ${called()}`));
  assert.equal(
    found,
    Array.from({ length: 64 }, (_, t) => (t % 4 === 0 ? 2 * t : t * t)),
  );
});

test('a list of targets says which functions may be meant', () => {
  const source = twice + square + kernel(`mov.u64 f, square; ${called('T: .calltargets twice, square;', 'T')}`);
  assert.equal(run(source).slice(0, 4), [0, 1, 4, 9]);
});

test('a register that gets the result has had the address', () => {
  const both = `.func (.reg .b64 r) up (.reg .b64 p)\n{ add.u64 r, p, 1; ret; }\n.func (.reg .b64 r) down (.reg .b64 p)\n{ sub.u64 r, p, 1; ret; }\n`;
  const code =
    'cvt.u64.u32 at, t; mov.u64 f, up; P: .callprototype (.reg .b64 _) _ (.reg .b64 _); call (f), f, (at), P; cvt.u32.u64 x, f; mov.u64 f, down;';
  assert.equal(run(both + kernel(code)).slice(0, 4), [1, 2, 3, 4]);
});

test('functions whose address nobody takes, and those of other kinds, are not meant', () => {
  const recursive = unary('again', 'add.u32 x, x, 1; { .param .b32 a; .param .b32 b; call (b), again, (a); }');
  const pair = '.func (.param .b32 r) pair (.param .b32 p, .param .b32 q)\n{ .reg .b32 x; mov.u32 x, 5; st.param.b32 [r], x; ret; }\n';
  const source = twice + recursive + pair + kernel(`mov.u64 f, pair; mov.u64 f, twice; ${called()}`);
  assert.equal(run(source).slice(0, 4), [0, 2, 4, 6]);
});

test('a number of no function stops the kernel, but not where the call does not take place', () => {
  const guarded = called().replace('call (b)', '@p call (b)').replace('ld.param.b32 x, [b];', 'mov.u32 x, 3;');
  const source = (code: string): string => twice + kernel(`mov.u64 f, twice; setp.eq.u32 p, n, 1; @p mov.u64 f, 99; ${code}`);
  assert.equal(run(source(called()), 0).slice(0, 3), [0, 2, 4]);
  assert.throws(
    () => run(source(called()), 1),
    /a call through a register that holds the address of no function it may be of \(k\.ptx:\d+\)/,
  );
  assert.equal(run(source(guarded.replace('@p', '@!p')), 1).slice(0, 3), [3, 3, 3]);
  assert.throws(() => run(source(guarded), 1), /no function/);
});

test('addresses of functions are told apart from one another and from null', () => {
  const source =
    twice +
    square +
    kernel(
      'mov.u64 f, twice; mov.u64 at, square; setp.ne.u64 p, f, at; selp.u32 x, 1, 0, p; setp.ne.u64 p, f, 0; @p add.u32 x, x, 2; setp.ne.u64 p, at, 0; @p add.u32 x, x, 4;',
    );
  assert.equal(run(source)[0], 7);
});

test('CM2040: no function that it may be of', () => {
  const why = 'the module does not take the address of any function with these parameters and results';
  assert.equal(compiled(twice + kernel(`mov.u64 f, 1; ${called()}`)).said, [
    `CM2040 a call through the pointer \`f\` is not supported: ${why}`,
  ]);
});

test('CM2040: the address of a function of another module', () => {
  const source = `.extern .func (.param .b32 r) far (.param .b32 p);\n${twice}${kernel(`mov.u64 f, far; mov.u64 at, twice; ${called()}`)}`;
  assert.equal(compiled(source).said, ['CM2040 `far`, the address of a function, is not supported: its body is not in this module']);
});

test.run();
