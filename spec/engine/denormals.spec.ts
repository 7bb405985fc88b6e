/** Single-precision subnormals on the CPU device: kept, or flushed to zero as operands and results of arithmetic. */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { compile } from '../../src/compile/index.ts';
import type { Denormals, LaunchArgument } from '../../src/device/device.ts';
import { openCpuDevice } from '../../src/device/index.ts';

const test = suite('engine/denormals');

const text = (body: string): string => `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d) {
  .reg .u64 %rd<19>; .reg .u32 %r<19>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b16 %h<9>; .reg .pred %p<9>;
  .shared .align 4 .b8 s[4];
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u64 %rd3, [c]; ld.param.u64 %rd4, [d];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1; mul.wide.u32 %rd5, %r1, 4;
  add.u64 %rd1, %rd1, %rd5; add.u64 %rd2, %rd2, %rd5; add.u64 %rd3, %rd3, %rd5; add.u64 %rd4, %rd4, %rd5;
  ld.global.f32 %f1, [%rd1]; ld.global.f32 %f2, [%rd2]; ld.global.f32 %f3, [%rd3];
  ${body}
  st.global.f32 [%rd4], %f4;
  ret;
}
`;

const bitsOf = (values: Float32Array): Uint32Array => new Uint32Array(values.buffer, values.byteOffset, values.length);
const floatOf = (bits: number): number => new Float32Array(Uint32Array.of(bits).buffer)[0]!;

/** Zeros, subnormals, the smallest normal values and their neighbors, and ordinary values. */
const some = [0, 1, 0x7fffff, 0x400000, 0x800000, 0x800001, 0xffffff, 0x1000000, 0x3f800000, 0x3f000000, 0x20000000, 0x5f000000]
  .flatMap((bits) => [bits, (bits | 0x80000000) >>> 0])
  .map(floatOf);
const triples = some.flatMap((a) => some.map((b, i) => [a, b, some[(i * 7 + 3) % some.length]!] as const));
const count = triples.length;

/** The results of a kernel for all triples, on a device of its own. */
function run(body: string, denormals: Denormals | undefined, blocks = count / 32): Float32Array {
  const source = new SourceFile('k.ptx', text(body));
  const diagnostics = new Diagnostics(source);
  const compiled = compile(source, { target: 'cpu' }, diagnostics);
  if (!compiled) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  const device = openCpuDevice(denormals ? { denormals } : {});
  const inputs = [0, 1, 2].map((which) => Float32Array.from(triples, (triple) => triple[which]!));
  const buffers = [...inputs, new Float32Array(count)].map((values) => {
    const buffer = device.allocate(4 * count, diagnostics)!;
    buffer.write(new Uint8Array(values.buffer));
    return buffer;
  });
  const args = buffers.map((buffer): LaunchArgument => ({ kind: 'buffer', buffer }));
  const module = device.load(compiled.metallib, diagnostics)!;
  module.launch({ kernel: 'k', grid: [blocks, 1, 1], block: [32, 1, 1], dynamicSharedBytes: 0, args, timeoutMs: 0 }, diagnostics);
  const after = new Float32Array(buffers[3]!.read().buffer);
  device.close();
  if (diagnostics.list.length > 0) throw new Error(diagnostics.list.map((d) => d.message).join('; '));
  return after;
}

const least = 2 ** -126;
const flush = (x: number): number => (Math.abs(x) < least ? (x < 0 || Object.is(x, -0) ? -0 : 0) : x);
const round = Math.fround;

/** By body: the result without flushing, with each operation rounded to single precision. */
const computing: [body: string, of: (a: number, b: number, c: number) => number][] = [
  ['add.rn.f32 %f4, %f1, %f2;', (a, b) => round(a + b)],
  ['sub.rn.f32 %f4, %f1, %f2;', (a, b) => round(a - b)],
  ['mul.rn.f32 %f4, %f1, %f2;', (a, b) => round(a * b)],
  ['sqrt.rn.f32 %f4, %f1;', (a) => round(Math.sqrt(a))],
  ['min.f32 %f4, %f1, %f2;', (a, b) => Math.min(a, b)],
  ['max.f32 %f4, %f1, %f2;', (a, b) => Math.max(a, b)],
  ['cvt.rmi.f32.f32 %f4, %f1;', (a) => Math.floor(a)],
  ['cvt.rpi.f32.f32 %f4, %f1;', (a) => (Object.is(a, -0) ? -0 : Math.ceil(a))],
  ['setp.gt.f32 %p1, %f1, %f2; selp.f32 %f4, 0f3F800000, 0f40000000, %p1;', (a, b) => (a > b ? 1 : 2)],
  ['setp.eq.f32 %p1, %f1, %f2; selp.f32 %f4, 0f3F800000, 0f40000000, %p1;', (a, b) => (a === b ? 1 : 2)],
];

for (const [body, of] of computing)
  test(body, () => {
    const flushed = triples.map(([a, b, c]) => flush(of(flush(a), flush(b), flush(c))));
    assert.equal([...bitsOf(run(body, 'flush'))], [...bitsOf(Float32Array.from(flushed))]);
    const kept = triples.map(([a, b, c]) => of(a, b, c));
    for (const mode of ['keep', undefined] as const) assert.equal([...bitsOf(run(body, mode))], [...bitsOf(Float32Array.from(kept))]);
  });

test('fma is one operation: its product is not flushed', () => {
  // 2^-64 * 2^-63 - 2^-126 is -2^-127: flushed. 2^-64 * 2^-63 + 2^-126 is 1.5 * 2^-126; only the product is subnormal.
  const body = (
    c: string,
  ) => `mov.f32 %f1, 0f1F800000; mov.f32 %f2, 0f20000000; mov.f32 %f3, ${c}; ld.global.f32 %f5, [%rd1]; mul.rn.f32 %f5, %f5, 0f00000000;
  add.rn.f32 %f1, %f1, %f5; fma.rn.f32 %f4, %f1, %f2, %f3;`;
  const first = (c: string, mode: Denormals) => bitsOf(run(body(c), mode, 1))[8]!;
  assert.is(first('0f80800000', 'flush'), 0x80000000);
  assert.is(first('0f80800000', 'keep'), 0x80400000);
  assert.is(first('0f00800000', 'flush'), 0x00c00000);
});

test('moves, selects, sign changes and bit casts keep subnormals', () => {
  for (const body of [
    'mov.f32 %f4, %f1;',
    'mov.b32 %r5, %f1; mov.b32 %f4, %r5;',
    'setp.ne.u32 %p1, %r1, 77777; selp.f32 %f4, %f1, %f2, %p1;',
    'neg.f32 %f5, %f1; neg.f32 %f4, %f5;',
  ])
    assert.equal([...bitsOf(run(body, 'flush'))], [...bitsOf(Float32Array.from(triples, ([a]) => a))]);
  assert.equal([...bitsOf(run('abs.f32 %f4, %f1;', 'flush'))], [...bitsOf(Float32Array.from(triples, ([a]) => Math.abs(a)))]);
});

test('conversions flush single-precision subnormals; f16 and f64 subnormals are kept', () => {
  const wide = run('cvt.f64.f32 %d1, %f1; mul.rn.f64 %d1, %d1, 0d5000000000000000; cvt.rn.f32.f64 %f4, %d1;', 'flush');
  assert.equal([...bitsOf(wide)], [...bitsOf(Float32Array.from(triples, ([a]) => round(flush(a) * 2 ** 257)))]);
  // 2^-24 is the smallest f16 value, and normal as f32; 2^-140 is normal as f64, and subnormal as f32.
  const half = run('mov.f32 %f5, 0f33800000; cvt.rn.f16.f32 %h1, %f5; cvt.f32.f16 %f4, %h1;', 'flush', 1);
  assert.is(half[0], 2 ** -24);
  const narrow =
    'cvt.f64.f32 %d1, %f1; mul.rn.f64 %d1, %d1, 0d0000000000000000; add.rn.f64 %d1, %d1, 0d3730000000000000; cvt.rn.f32.f64 %f4, %d1;';
  assert.is(run(narrow, 'flush', 1)[16], 0);
  assert.is(run(narrow, 'keep', 1)[16], 2 ** -140);
});

test('atomic additions in shared memory flush too', () => {
  const body = `mov.u32 %r5, s; mov.f32 %f5, 0f00400000; st.shared.f32 [%r5], %f5; bar.sync 0;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra no; atom.shared.add.f32 %f6, [%r5], %f5;
no: bar.sync 0; ld.shared.f32 %f4, [%r5];`;
  assert.is(bitsOf(run(body, 'flush', 1))[0], 0);
  assert.is(bitsOf(run(body, 'keep', 1))[0], 0x00800000);
});

test.run();
