/**
 * Lessons from real drivers, one rule each: PTX, and the AIR emitted for it, line by line. Each row cites the source of its rule;
 * `rules.spec.ts` has the rules for finished modules.
 */
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { Diagnostics } from '../../src/base/diagnostic.ts';
import { SourceFile } from '../../src/base/source.ts';
import { emit } from '../../src/compile/index.ts';
import { exampleNames, exampleText } from '../support/examples.ts';

const test = suite('air legalisation');

interface Case {
  readonly rule: string;
  readonly source: string;
  /** Statements of a kernel with its parameter in `p`, its declarations, and the text before the kernel. */
  readonly ptx: string;
  readonly declared?: string;
  readonly before?: string;
  /** Variables and the body of the kernel, without labels' lists of blocks before. */
  readonly air: string;
}

const textOf = ({ ptx, declared = '', before = '' }: Pick<Case, 'ptx' | 'declared' | 'before'>): string => `.version 9.0
.target sm_90
.address_size 64
${before}
.visible .entry k(.param .u64 out)
{
  .reg .b64 p, q;
  .reg .b32 r, s, i;
  .reg .f32 f, g, h;
  .reg .f64 d;
  .reg .pred c;
  ${declared}
  ld.param.u64 p, [out];
  ${ptx}
  ret;
}
`;

const cases: readonly Case[] = [
  {
    rule: 'functions are put in the place of their calls',
    source: 'MetalASM, GPUCompiler.jl; Apple inlines everything',
    before: '.func (.param .b32 z) twice(.param .b32 a) { .reg .b32 x; ld.param.b32 x, [a]; add.u32 x, x, x; st.param.b32 [z], x; ret; }',
    ptx: `ld.global.u32 r, [p];
  { .param .b32 a; .param .b32 z; st.param.b32 [a], r; call (z), twice, (a); ld.param.b32 s, [z]; }
  st.global.u32 [p], s;`,
    air: `define void @k(i32 addrspace(1)* noundef %0)
  %2 = load i32, i32 addrspace(1)* %0, align 4
  %3 = add i32 %2, %2
  store i32 %3, i32 addrspace(1)* %0, align 4
  ret void`,
  },
  {
    rule: 'pointers that a loop joins are integers: no phi is a pointer or a struct',
    source: 'MetalASM: many phis of pointers, and such of structs, crash',
    ptx: `mov.u32 i, 0;
L: ld.global.u32 r, [p];
  add.u64 p, p, 4;
  add.u32 i, i, 1;
  setp.lt.u32 c, i, r;
  @c bra L;
  st.global.u32 [p], i;`,
    air: `define void @k(i32 addrspace(1)* noundef %0)
  %2 = ptrtoint i32 addrspace(1)* %0 to i64
  br label %3
3:
  %4 = phi i32 [ 0, %1 ], [ %8, %3 ]
  %5 = phi i64 [ %2, %1 ], [ %10, %3 ]
  %6 = inttoptr i64 %5 to i32 addrspace(1)*
  %7 = load i32, i32 addrspace(1)* %6, align 4
  %8 = add i32 %4, 1
  %9 = icmp ult i32 %8, %7
  %10 = add i64 %5, 4
  br i1 %9, label %3, label %11
11:
  %12 = inttoptr i64 %10 to i32 addrspace(1)*
  store i32 %8, i32 addrspace(1)* %12, align 4
  ret void`,
  },
  {
    rule: 'pointers are typed: each access by a pointer to what it reads or writes, in steps of that',
    source: 'all real modules; GPUCompiler.jl: bytewise steps were compiled wrong',
    ptx: 'ld.global.f32 f, [p+8]; st.global.u32 [p+4], 7; st.global.f32 [p], f;',
    air: `define void @k(float addrspace(1)* noundef %0)
  %2 = getelementptr inbounds float, float addrspace(1)* %0, i64 2
  %3 = load float, float addrspace(1)* %2, align 4
  %4 = bitcast float addrspace(1)* %0 to i32 addrspace(1)*
  %5 = getelementptr inbounds i32, i32 addrspace(1)* %4, i64 1
  store i32 7, i32 addrspace(1)* %5, align 4
  store float %3, float addrspace(1)* %0, align 4
  ret void`,
  },
  {
    rule: 'no i1 is in memory',
    source: 'zig-metallib, MetalASM',
    ptx: 'ld.global.u32 r, [p]; setp.gt.u32 c, r, 5; selp.u32 s, 1, 0, c; st.global.u8 [p], s;',
    air: `define void @k(i32 addrspace(1)* noundef %0)
  %2 = load i32, i32 addrspace(1)* %0, align 4
  %3 = icmp ugt i32 %2, 5
  %4 = select i1 %3, i8 1, i8 0
  %5 = bitcast i32 addrspace(1)* %0 to i8 addrspace(1)*
  store i8 %4, i8 addrspace(1)* %5, align 1
  ret void`,
  },
  {
    rule: 'no i128: the upper half of a product is a function',
    source: 'GPUCompiler.jl',
    ptx: 'ld.global.u64 q, [p]; mul.hi.u64 q, q, q; st.global.u64 [p], q;',
    air: `define void @k(i64 addrspace(1)* noundef %0)
  %2 = load i64, i64 addrspace(1)* %0, align 8
  %3 = tail call i64 @air.mul_hi.u.i64(i64 %2, i64 %2)
  store i64 %3, i64 addrspace(1)* %0, align 8
  ret void`,
  },
  {
    rule: 'no generic pointers: an address without a space gets that of what it points to',
    source: 'GPUCompiler.jl',
    ptx: 'ld.u32 r, [p]; st.u32 [p+4], r;',
    air: `define void @k(i32 addrspace(1)* noundef %0)
  %2 = load i32, i32 addrspace(1)* %0, align 4
  %3 = getelementptr inbounds i32, i32 addrspace(1)* %0, i64 1
  store i32 %2, i32 addrspace(1)* %3, align 4
  ret void`,
  },
  {
    rule: 'what lanes exchange has 32 bits, and the lane 16',
    source: 'MetalASM: 64 bits crash the compiler service',
    ptx: `ld.global.u64 q, [p];
  mov.b64 {r, s}, q;
  shfl.sync.idx.b32 r, r, 3, 31, -1;
  shfl.sync.idx.b32 s, s, 3, 31, -1;
  mov.b64 q, {r, s};
  st.global.u64 [p], q;`,
    air: `define void @k(i64 addrspace(1)* noundef %0)
  %2 = load i64, i64 addrspace(1)* %0, align 8
  %3 = trunc i64 %2 to i32
  %4 = lshr i64 %2, 32
  %5 = trunc i64 %4 to i32
  %6 = tail call i32 @air.simd_shuffle.u.i32(i32 %3, i16 3)
  %7 = tail call i32 @air.simd_shuffle.u.i32(i32 %5, i16 3)
  %8 = zext i32 %6 to i64
  %9 = zext i32 %7 to i64
  %10 = shl i64 %9, 32
  %11 = or i64 %8, %10
  store i64 %11, i64 addrspace(1)* %0, align 8
  ret void`,
  },
  {
    rule: 'doubles are integers with the same bits',
    source: 'GPUCompiler.jl: a double anywhere, and there is no pipeline',
    ptx: 'ld.global.f64 d, [p]; neg.f64 d, d; st.global.f64 [p], d;',
    air: `define void @k(i64 addrspace(1)* noundef %0)
  %2 = load i64, i64 addrspace(1)* %0, align 8
  %3 = xor i64 %2, -9223372036854775808
  store i64 %3, i64 addrspace(1)* %0, align 8
  ret void`,
  },
  {
    rule: 'threadgroup variables are one, without value, of the type that most accesses have',
    source: 'MetalASM: offsets of bytes into such variables crash',
    declared: '.shared .u32 a; .shared .align 8 .b8 b[8];',
    ptx: 'st.shared.u32 [a], 1; st.shared.u32 [b+4], 2; bar.sync 0; ld.shared.u32 r, [a]; st.global.u32 [p], r;',
    air: `@k.shared = internal unnamed_addr addrspace(3) global [4 x i32] undef, align 8
define void @k(i32 addrspace(1)* noundef writeonly %0)
  store i32 1, i32 addrspace(3)* getelementptr inbounds ([4 x i32], [4 x i32] addrspace(3)* @k.shared, i64 0, i64 0), align 4
  store i32 2, i32 addrspace(3)* getelementptr inbounds ([4 x i32], [4 x i32] addrspace(3)* @k.shared, i64 0, i64 3), align 4
  tail call void @air.wg.barrier(i32 3, i32 1)
  %2 = load i32, i32 addrspace(3)* getelementptr inbounds ([4 x i32], [4 x i32] addrspace(3)* @k.shared, i64 0, i64 0), align 4
  store i32 %2, i32 addrspace(1)* %0, align 4
  ret void`,
  },
  {
    rule: 'vectors have 2 to 4 elements',
    source: 'DXMT; all real modules',
    ptx: 'ld.global.v4.f32 {f, g, h, f}, [p]; st.global.v2.f32 [p], {g, h};',
    air: `define void @k(float addrspace(1)* noundef %0)
  %2 = bitcast float addrspace(1)* %0 to <4 x float> addrspace(1)*
  %3 = load <4 x float>, <4 x float> addrspace(1)* %2, align 16
  %4 = extractelement <4 x float> %3, i32 1
  %5 = extractelement <4 x float> %3, i32 2
  %6 = insertelement <2 x float> undef, float %4, i32 0
  %7 = insertelement <2 x float> %6, float %5, i32 1
  %8 = bitcast float addrspace(1)* %0 to <2 x float> addrspace(1)*
  store <2 x float> %7, <2 x float> addrspace(1)* %8, align 8
  ret void`,
  },
  {
    rule: 'no fast-math flag, and no function that is fast: NaN and infinity would be lost',
    source: 'Metal’s manual on fast math; PTX asks for none of it',
    ptx: 'ld.global.f32 f, [p]; add.f32 g, f, f; fma.rn.f32 h, f, g, g; min.f32 h, h, g; st.global.f32 [p], h;',
    air: `define void @k(float addrspace(1)* noundef %0)
  %2 = load float, float addrspace(1)* %0, align 4
  %3 = fadd float %2, %2
  %4 = tail call float @air.fma.f32(float %2, float %3, float %3)
  %5 = bitcast float %4 to i32
  %6 = bitcast float %3 to i32
  %7 = or i32 %5, %6
  %8 = shl i32 %7, 1
  %9 = icmp eq i32 %8, 0
  %10 = bitcast i32 %7 to float
  %11 = tail call float @air.fmin.f32(float %4, float %3)
  %12 = select i1 %9, float %10, float %11
  store float %12, float addrspace(1)* %0, align 4
  ret void`,
  },
  {
    rule: 'a trap is a word in a buffer and the end of the thread',
    source: 'GPUCompiler.jl: a trap may hang the GPU until the machine starts anew',
    ptx: 'ld.global.u32 r, [p]; setp.eq.u32 c, r, 0; @c trap; st.global.u32 [p], 1;',
    air: `define void @k(i32 addrspace(1)* noundef %0, i32 addrspace(1)* noundef %1)
  %3 = load i32, i32 addrspace(1)* %0, align 4
  %4 = icmp eq i32 %3, 0
  br i1 %4, label %6, label %5
5:
  store i32 1, i32 addrspace(1)* %0, align 4
  ret void
6:
  tail call void @air.atomic.global.store.i32(i32 addrspace(1)* nocapture %1, i32 1, i32 0, i32 2, i1 true)
  ret void`,
  },
  {
    rule: 'a null is stored as the integer 0',
    source: 'GPUCompiler.jl: "Failed to materializeAll"',
    ptx: 'mov.u64 q, 0; st.global.u64 [p], q;',
    air: `define void @k(i64 addrspace(1)* noundef writeonly %0)
  store i64 0, i64 addrspace(1)* %0, align 8
  ret void`,
  },
];

/** The parts of a module that the cases show. */
function shown(text: string): string {
  const lines = text.split('\n').filter((line) => /^(define|@| {2}|\d+:)/.test(line));
  return lines.map((line) => line.replace(/ local_unnamed_addr.*| #\d+$| +; preds = .*/, '')).join('\n');
}

/** AIR as text, or the codes and messages of the diagnostics. */
function airOf(text: string, name = 'k.ptx'): string {
  const source = new SourceFile(name, text);
  const diagnostics = new Diagnostics(source);
  const made = emit(source, 'air-ll', { target: 'macos14' }, diagnostics) as string | undefined;
  return made ?? diagnostics.list.map(({ code, message }) => `${code} ${message}`).join('\n');
}

for (const each of cases)
  test(each.rule, () => {
    assert.ok(each.source);
    assert.is(shown(airOf(textOf(each))), each.air);
  });

const refused: readonly (readonly [rule: string, of: Pick<Case, 'ptx' | 'declared'>, said: RegExp])[] = [
  ['sums of 64 bits by atomics', { ptx: 'atom.global.add.u64 q, [p], 1; st.global.u64 [p], q;' }, /^CM2090 .*`add` of i64/],
  ['exchanges of 64 bits by atomics', { ptx: 'atom.global.cas.b64 q, [p], 1, 2; st.global.u64 [p], q;' }, /^CM2090 .*of i64/],
  [
    'threadgroup memory of more than 32 KB',
    { declared: '.shared .align 4 .b8 a[32772];', ptx: 'st.shared.u32 [a], 1;' },
    /^CM2093 .*32772 bytes.*32768/,
  ],
];
for (const [rule, of, said] of refused) test(`refused: ${rule}`, () => assert.match(airOf(textOf(of)), said));

test('no example has what drivers do not take: freeze, poison, copies and others of LLVM’s functions, casts between spaces, wide vectors', () => {
  for (const name of exampleNames) {
    const text = airOf(exampleText(name), `${name}.ptx`);
    assert.match(text, /^define void @/m, name);
    assert.not.match(text, /\b(freeze|poison|unreachable|addrspacecast|i128|double|ptr|fast)\b|@llvm\./, name);
    for (const [, count] of text.matchAll(/<(\d+) x /g)) assert.ok(Number(count) >= 2 && Number(count) <= 4, `${name}: ${count}`);
  }
});

test.run();
