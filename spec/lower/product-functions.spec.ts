/** Products of matrices and of bytes as functions of a kernel for Apple targets, and floats that are flushed no second time. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { emit } from '../../src/compile/index.ts';
import { rigOf, wordsIn } from '../support/workers.ts';

const test = suite('lower/product-functions');

const kernel = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
  .reg .b32 %r<20>; .reg .f32 %f<8>; .reg .b64 %d<4>;
  ld.param.u64 %d0, [p];
  ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];
  ld.global.v2.u32 {%r4, %r5}, [%d0+16];
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%d0+32];
${body}
  st.global.v4.f32 [%d0+32], {%f0, %f1, %f2, %f3};
  st.global.u32 [%d0], %r9;
  ret;
}`;

function airOf(body: string): string {
  const diagnostics = new Diagnostics();
  const text = emit(new SourceFile('k.ptx', kernel(body)), 'air-ll', { target: 'macos15' }, diagnostics);
  assert.equal(diagnostics.list, []);
  return text as string;
}

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;
/** A form, a product of it, and what defines its registers. */
const forms = [
  [
    'm16n8k32.s8.s8.s32',
    '  mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r6, %r7, %r8, %r9}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r6, %r7, %r8, %r9};',
    '  mov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0; mov.u32 %r9, 0;',
  ],
  [
    'm16n8k16.f16.f16.f32',
    '  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};',
    '',
  ],
  [
    'm16n8k16.f16.f16.f16',
    '  mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r8, %r9}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%r8, %r9};',
    '  mov.u32 %r8, 0; mov.u32 %r9, 0;',
  ],
  [
    'm16n8k16.bf16.bf16.f32',
    '  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};',
    '',
  ],
  [
    'm16n8k8.tf32.tf32.f32',
    '  mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3};',
    '',
  ],
] as const;

for (const [form, product, before] of forms) {
  test(`${form} has one function, and registers that products share are gathered once`, () => {
    const text = airOf([before, product, product, product].join('\n'));
    assert.is(count(text, /^define .*@cumetal\.product\./gm), 1);
    assert.is(count(text, new RegExp(`call .*@cumetal\\.product\\.${form}\\(`, 'g')), 3);
    // Four registers of a in their rows, and two of b in both columns of a thread.
    assert.is(count(text, /call .*@cumetal\.gather\.row\(/g), 4);
    assert.is(count(text, /call .*@cumetal\.gather\.column\.[01]\(/g), 4);
  });

  test(`what exchanges values between threads is convergent, and what computes ${form} is not`, () => {
    const text = airOf(`${before}\n${product}`);
    const attributes = (name: string): string => {
      const [, group] = new RegExp(`^define .*@cumetal\\.${name.replaceAll('.', '\\.')}\\(.*(#\\d+) \\{`, 'm').exec(text)!;
      return new RegExp(`^attributes ${group} = \\{(.*)\\}`, 'm').exec(text)![1]!;
    };
    assert.match(attributes('gather.row'), /\bconvergent\b/);
    assert.not.match(attributes('gather.row'), /\breadnone\b/);
    assert.match(attributes(`product.${form}`), /\breadnone\b/);
    assert.not.match(attributes(`product.${form}`), /\bconvergent\b/);
  });
}

test('products of bytes are functions, unless a constant makes them short', () => {
  assert.is(count(airOf('  dp4a.s32.s32 %r9, %r0, %r1, %r2;'), /call .*@cumetal\.dp4a\.s32\.s32\(/g), 1);
  // A sum that begins with a constant makes nothing shorter, and a constant factor does.
  assert.is(count(airOf('  dp4a.s32.s32 %r9, %r0, %r1, 0;'), /call .*@cumetal\.dp4a\.s32\.s32\(/g), 1);
  assert.is(count(airOf('  dp4a.s32.s32 %r9, 16843009, %r1, %r2;'), /@cumetal\.dp4a/g), 0);
});

test('permutations by a selector are functions, and shorter ones where it has no signs', () => {
  const permuted = (selector: string): [plain: number, whole: number, body: string] => {
    const text = airOf(`${selector}\n  prmt.b32 %r9, %r0, %r1, %r2;`);
    const body = /^define .*@cumetal\.prmt[^{]*\{([^}]*)\}/m.exec(text)?.[1] ?? '';
    return [count(text, /call .*@cumetal\.prmt\.b32\.plain\(/g), count(text, /call .*@cumetal\.prmt\.b32\(/g), body];
  };
  const whole = permuted('');
  assert.equal(whole.slice(0, 2), [0, 1]);
  // A sign is a shift to the right that keeps it, and a choice.
  assert.is(count(whole[2], /= ashr /g), 4);
  for (const selector of ['  and.b32 %r2, %r2, 0x7777;', '  and.b32 %r2, %r2, 0x8888; shr.u32 %r2, %r2, 1; or.b32 %r2, %r2, 0x3210;']) {
    const plain = permuted(selector);
    assert.equal(plain.slice(0, 2), [1, 0], selector);
    assert.is(count(plain[2], /= (ashr|select) /g), 0);
  }
  assert.equal(permuted('  mov.u32 %r2, 0x5410;').slice(0, 2), [0, 0]);
});

test('a product of an integer and a half is no subnormal, and is not flushed', () => {
  const half = '  { .reg .b16 %h; cvt.u16.u32 %h, %r0; cvt.f32.f16 %f4, %h; }\n  cvt.rn.f32.s32 %f5, %r1;';
  assert.is(count(airOf(`${half}\n  mul.ftz.f32 %f0, %f4, %f5;`), /\bfcmp\b/g), 0);
  // A float from memory may be a subnormal, and so may be a result.
  assert.is(count(airOf(`${half}\n  mul.ftz.f32 %f0, %f1, %f5;`), /\bfcmp\b/g), 2);
});

/** The function of an instruction that flushes, and what it is called by. */
const flushing = [
  ['mul.ftz.f32', '%f0, %f1, %f2'],
  ['fma.rn.ftz.f32', '%f0, %f1, %f2, %f3'],
] as const;

for (const [name, operands] of flushing)
  test(`${name} is a function, unless its result is no subnormal, or it flushes nothing`, () => {
    const calls = (before: string, instruction = name as string): number =>
      count(airOf(`${before}\n  ${instruction} ${operands};`), new RegExp(`call .*@cumetal\\.${name.replaceAll('.', '\\.')}\\(`, 'g'));
    assert.is(calls(''), 1);
    assert.is(calls('', name.replace('.f32', '.sat.f32')), 1);
    assert.is(calls('', name.replace('.ftz', '')), 0);
    const whole = [1, 2, 3].map((i) => `cvt.rn.f32.s32 %f${i}, %r${i};`).join(' ');
    assert.is(calls(`  ${whole}`), 0);
  });

/** Bits of a, b and c, of a * b and of a * b + c, which are flushed where they are subnormal before they are rounded. Recorded on an H200. */
const products: readonly (readonly number[])[] = [
  [0x00ffffff, 0x3f000000, 0, 0, 0],
  [0x80ffffff, 0x3f000000, 0x80000000, 0x80000000, 0x80000000],
  [0x00ffffff, 0x3f000001, 0, 0x00800000, 0x00800000],
  [0x00ffffff, 0x3f000000, 0x00000001, 0, 0],
  [0x00800000, 0x3f800000, 0x80800001, 0x00800000, 0x80000000],
  [0x01000000, 0x3f800000, 0x80800000, 0x01000000, 0x00800000],
  [0x7f7fffff, 0x00000001, 0x3f800000, 0, 0x3f800000],
  [0x7f800000, 0x00000001, 0x3f800000, 0x7fffffff, 0x7fffffff],
  [0x7f7fffff, 0x7f7fffff, 0xff800000, 0x7f800000, 0xff800000],
];

for (const target of ['macos15', 'cpu'] as const)
  test(`the functions have the results of the instructions, for ${target}`, () => {
    const rig = rigOf(
      `.visible .entry k(.param .u64 p) {
  .reg .b64 %d; .reg .b32 %t; .reg .f32 %f<6>;
  ld.param.u64 %d, [p]; mov.u32 %t, %tid.x; mad.wide.u32 %d, %t, 20, %d;
  ld.global.f32 %f1, [%d]; ld.global.f32 %f2, [%d+4]; ld.global.f32 %f3, [%d+8];
  mul.ftz.f32 %f4, %f1, %f2; fma.rn.ftz.f32 %f5, %f1, %f2, %f3;
  st.global.f32 [%d+12], %f4; st.global.f32 [%d+16], %f5;
  ret;
}`,
      { threads: 1 },
      target,
    );
    const given = products.flatMap(([a, b, c]) => [a!, b!, c!, 1, 1]);
    const words = rig.words(given.length, ...given);
    assert.ok(rig.launch('k', { blocks: 1, threads: products.length }, words));
    const isNan = (bits: number): boolean => (bits & 0x7fffffff) > 0x7f800000;
    const found = [...wordsIn(words)].map((bits) => (isNan(bits) ? 0x7fffffff : bits));
    assert.equal(found, products.flat());
    rig.device.close();
  });

test.run();
