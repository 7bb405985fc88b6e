/** Fetches of textures as functions of a kernel for the CPU device. What they read is compared with an H200 in `spec/h200/textures`. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { type CompileOptions, emit } from '../../src/compile/index.ts';
import { scratch, verifiedText } from '../support/llvm.ts';
import { need } from '../support/need.ts';

const test = suite('lower/reading-functions');

const kernel = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 o, .param .u64 t) {
  .reg .b32 %r<8>; .reg .f32 %f<12>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [o]; ld.param.u64 %d1, [t];
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%d0];
  mov.f32 %f4, 0f00000000; mov.f32 %f8, 0f00000000;
${body}
  st.global.v4.f32 [%d0+32], {%f4, %f8, %f4, %f8};
  ret;
}`;

function airOf(body: string, options: CompileOptions = {}): string {
  const diagnostics = new Diagnostics();
  const text = emit(new SourceFile('k.ptx', kernel(body)), 'air-ll', { target: 'cpu', ...options }, diagnostics);
  assert.equal(diagnostics.list, []);
  return text as string;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
const definitions = (text: string): string[] => [...text.matchAll(/^define internal .*@(cumetal\.tex[\w.]+)\(/gm)].map(([, name]) => name!);
const fetch = (x: string, d = 4, form = 'tex.2d.v4.f32.f32', more = ''): string =>
  `  ${form} {%f${d}, %f${d + 1}, %f${d + 2}, %f${d + 3}}, [%d1, {${x}, %f1}]${more};`;
const sum = '  add.f32 %f4, %f4, %f8;';

test('fetches of one form call one function, which reads memory and has no other effect', () => {
  const text = airOf([fetch('%f0'), fetch('%f2', 8), sum].join('\n'));
  assert.equal(definitions(text), ['cumetal.tex.sample.2d.f32.plain']);
  assert.is(count(text, /call .*@cumetal\.tex\./g), 2);
  const [, group] = /^define internal .*@cumetal\.tex\..*(#\d+) \{/m.exec(text)!;
  const [, attributes] = new RegExp(`^attributes ${group} = \\{(.*)\\}`, 'm').exec(text)!;
  assert.match(attributes!, /\breadonly\b/);
  assert.not.match(attributes!, /\breadnone\b|\bconvergent\b/);
});

test('each combination of options has a function of its own', () => {
  const text = airOf(
    [
      fetch('%f0'),
      fetch('%f2', 8, 'tex.2d.v4.f32.f32', ', {%r0, %r1}'),
      sum,
      fetch('%f0', 8, 'tex.level.2d.v4.f32.f32', ', %f3'),
      sum,
      '  tex.1d.v4.f32.s32 {%f8, %f9, %f10, %f11}, [%d1, {%r0}];',
      sum,
      fetch('%f0', 8, 'tld4.g.2d.v4.f32.f32'),
      sum,
    ].join('\n'),
  );
  assert.equal(definitions(text).sort(), [
    'cumetal.tex.gather.g.2d.f32.plain',
    'cumetal.tex.level.2d.f32.plain',
    'cumetal.tex.sample.2d.f32.offset',
    'cumetal.tex.sample.2d.f32.plain',
    'cumetal.tex.texel.1d.i32.plain',
  ]);
});

test('a fetch stays before and behind a store, and one without a use is removed', () => {
  const text = airOf([fetch('%f0'), '  st.global.f32 [%d0], %f4;', fetch('%f0', 8)].join('\n'));
  assert.is(count(text, /call .*@cumetal\.tex\./g), 2);
  assert.is(count(airOf([fetch('%f0'), '  mov.f32 %f4, 0f00000000;'].join('\n')), /@cumetal\.tex\./g), 0);
});

test('instruments and other targets have fetches in place', () => {
  for (const options of [{ sanitize: true }, { target: 'macos15' }] as const)
    assert.is(count(airOf(fetch('%f0'), options), /@cumetal\.tex\./g), 0);
});

const file = scratch();
need(test, ['opt-14'], 'LLVM verifies functions with branches and loops', () => {
  verifiedText(file, 'fetches', airOf([fetch('%f0'), fetch('%f0', 8, 'tex.level.2d.v4.f32.f32', ', %f3'), sum].join('\n')));
});

test.run();
