/** Lints of asynchronous products of matrices: one body each, with `^` at the position of the caret. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';

const test = suite('ptx/lint-products');

function said(text: string): string[] {
  const file = new SourceFile('a.ptx', text);
  const diagnostics = new Diagnostics(file);
  compile(file, { lints: true, target: 'cpu' }, diagnostics);
  return diagnostics.sorted().map(({ code, severity, labels, message }) => {
    const { line, column } = file.position(labels[0]!.span.start);
    return `${code} ${severity} ${line}:${column} ${message}`;
  });
}

const sums = '{%f0, %f1, %f2, %f3}';
const product = `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ${sums}, %rd2, %rd3, 1, 1, 1, 0, 0;`;
const fromRegisters = `wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 ${sums}, {%r2, %r3, %r4, %r5}, %rd3, 1, 1, 1, 0;`;
const [fence, commit] = ['wgmma.fence.sync.aligned;', 'wgmma.commit_group.sync.aligned;'];
const wait = (left: number): string => `wgmma.wait_group.sync.aligned ${left};`;
const zeros =
  'mov.u64 %rd2, tiles;\nshr.u64 %rd2, %rd2, 4;\nmov.u64 %rd3, %rd2;\nmov.f32 %f0, 0f00000000;\nmov.f32 %f1, %f0;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;';
const sum = 'st.global.f32 [%rd1], %f0;';
/** A kernel of products, whose sums are zeros before. */
const products = (...lines: string[]): string => `.version 8.0
.target sm_90a
.address_size 64
.entry k (.param .u64 a, .param .u32 n) {
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .f32 %f<5>; .shared .align 128 .b8 tiles[4096];
ld.param.u64 %rd1, [a];
ld.param.u32 %r1, [n];
cvta.to.global.u64 %rd1, %rd1;
${[zeros, ...lines].join('\n')}
ret;
}
`;

/** Kernels with a mark, and the only diagnostic expected, at the mark. */
const lints: readonly (readonly [why: string, text: string, code: string, message: string])[] = [
  ['a sum read before the wait', products(fence, product, commit, sum.replace('%f0', '^%f0'), wait(0)), 'CM2211', '`%f0` is used while'],
  [
    'a sum read by arithmetic, in a group that no wait is for',
    products(fence, product, commit, wait(1), 'add.f32 %f4, ^%f1, %f1;', 'st.global.f32 [%rd1], %f4;'),
    'CM2211',
    '`%f1` is used while',
  ],
  ['a product in no group', products(fence, product, wait(0), sum.replace('%f0', '^%f0')), 'CM2211', '`%f0` is used while'],
  [
    'a copy of a sum, used before the wait',
    products(fence, product, commit, 'mov.f32 %f4, %f0;', 'st.global.f32 [%rd1], ^%f4;', wait(0)),
    'CM2211',
    '`%f4` is used while',
  ],
  [
    'a sum that is set before the wait',
    products(fence, product, commit, 'mov.f32 ^%f2, 0f3F800000;', wait(0), sum),
    'CM2211',
    '`%f2` is used while',
  ],
  [
    'a factor in registers, written before the wait',
    products(
      'mov.u32 %r2, 1;\nmov.u32 %r3, 1;\nmov.u32 %r4, 1;\nmov.u32 %r5, 1;',
      fence,
      fromRegisters,
      commit,
      'mov.u32 ^%r4, 2;',
      wait(0),
      sum,
    ),
    'CM2211',
    '`%r4` is used while',
  ],
  [
    'a wait on one of two paths',
    products(fence, product, commit, 'setp.eq.u32 %p1, %r1, 0;\n@%p1 bra SKIP;', wait(0), 'SKIP:', sum.replace('%f0', '^%f0'), wait(0)),
    'CM2211',
    '`%f0` is used while',
  ],
  [
    'a sum of the turn before',
    products(
      fence,
      'TOP:',
      product,
      commit,
      wait(1),
      'sub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra TOP;',
      sum.replace('%f0', '^%f0'),
      wait(0),
    ),
    'CM2211',
    '`%f0` is used while',
  ],
  ['no fence before the first product', products(product.replace('%f0', '^%f0'), commit, wait(0), sum), 'CM2212', '`%f0` was written'],
  [
    'a sum written between products',
    products(fence, product, commit, wait(0), 'mul.f32 %f3, %f3, %f3;', product.replace('%f3', '^%f3'), commit, wait(0), sum),
    'CM2212',
    '`%f3` was written',
  ],
  [
    'a factor in registers, written behind the fence',
    products(
      'mov.u32 %r2, 1;\nmov.u32 %r3, 1;\nmov.u32 %r4, 1;',
      fence,
      'mov.u32 %r5, 1;',
      fromRegisters.replace('%r5', '^%r5'),
      commit,
      wait(0),
      sum,
    ),
    'CM2212',
    '`%r5` was written',
  ],
];

for (const [why, text, code, message] of lints)
  test(`${code}: ${why}`, () => {
    const before = text.slice(0, text.indexOf('^')).split('\n');
    const found = said(text.replace('^', ''));
    assert.is(found.length, 1, found.join('\n'));
    assert.ok(found[0]!.startsWith(`${code} warning ${before.length}:${before.at(-1)!.length + 1} ${message}`), found[0]);
  });

const quiet: readonly (readonly [why: string, text: string])[] = [
  ['a product with a fence and a wait', products(fence, product, commit, wait(0), sum)],
  ['products that follow each other, one wait', products(fence, product, product, commit, product, commit, wait(0), sum)],
  [
    'moves between a fence and a product',
    products(fence, 'mov.f32 %f4, %f0;\nmov.f32 %f0, %f4;', product, commit, 'mov.f32 %f4, %f0;', wait(0), 'st.global.f32 [%rd1], %f4;'),
  ],
  [
    'a factor in registers, written again behind its wait',
    products(
      'mov.u32 %r2, 1;\nmov.u32 %r3, 1;\nmov.u32 %r4, 1;\nmov.u32 %r5, 1;',
      fence,
      fromRegisters,
      commit,
      wait(0),
      'mov.u32 %r5, 2;',
      fence,
      fromRegisters,
      commit,
      wait(0),
      sum,
    ),
  ],
  [
    'descriptors that change in a loop, with one group in flight',
    products(
      fence,
      'TOP:',
      product,
      commit,
      wait(1),
      'add.u64 %rd2, %rd2, 2;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra TOP;',
      wait(0),
      sum,
    ),
  ],
];

for (const [why, text] of quiet) test(`no lint: ${why}`, () => assert.equal(said(text), []));

test.run();
