/**
 * The heap of kernels on the CPU device: `malloc` and `free` of modules that declare them. Their bodies are appended to the text of the module, so
 * that its own places stay as they are; what is said about them is left out.
 */
import { SourceFile } from '../base/source.ts';

/** A declaration of one of the functions, as CUDA's compilers write it. */
const declaration = /\.extern(\s+\.func\s*(?:\([^()]*\)\s*)?(malloc|free)\s*\([^()]*\)\s*;)/g;

/** The source with the functions of the heap that it declares; the same source if it declares none, or defines them. */
export function withHeap(source: SourceFile): SourceFile {
  const { text, path } = source;
  if (!/\b(malloc|free)\b/.test(text)) return source;
  const names = new Set([...text.matchAll(declaration)].map(([, , name]) => name!));
  if (names.size === 0) return source;
  const own = text.replace(declaration, (_, rest: string) => `       ${rest}`);
  return new SourceFile(path, `${own}\n${assertion}\n${[...names].map((name) => bodies[name as 'malloc' | 'free']).join('\n')}\n`);
}

const assertion =
  '.extern .func __assertfail(.param .b64 __assertfail_param_0, .param .b64 __assertfail_param_1, .param .b32 __assertfail_param_2, .param .b64 __assertfail_param_3, .param .b64 __assertfail_param_4);';

/** What `cumetal cc -rdc=true -ptx cuda/device/heap.cu` makes, without lines, and with the names of CUDA. */
const bodies = {
  malloc: `.visible .func (.param .b64 func_retval0) malloc(
.param .b64 malloc_param_0
)
{
.reg .b64 %rd<50>;
.reg .pred %p<16>;
.reg .b32 %r<8>;
ld.param.b64 %rd10, [malloc_param_0];
$L_malloc_0:
mov.b32 %r1, %envreg30;
mov.b32 %r2, %envreg31;
cvt.u64.u32 %rd11, %r2;
shl.b64 %rd12, %rd11, 32;
cvt.u64.u32 %rd13, %r1;
or.b64 %rd14, %rd12, %rd13;
ld.volatile.u64 %rd15, [%rd14+8];
setp.gt.u64 %p2, %rd10, %rd15;
@%p2 bra $L_malloc_19;
bra.uni $L_malloc_1;
$L_malloc_19:
mov.b64 %rd9, 0;
bra.uni $L_malloc_16;
$L_malloc_1:
mov.b32 %r4, 0;
mov.b32 %r5, 1;
atom.cas.b32 %r3, [%rd14], %r4, %r5;
setp.eq.u32 %p3, %r3, 0;
@%p3 bra $L_malloc_2;
bra.uni $L_malloc_1;
$L_malloc_2:
add.s64 %rd16, %rd10, 31;
and.b64 %rd17, %rd16, -16;
membar.gl;
ld.volatile.u64 %rd18, [%rd14+16];
setp.eq.u64 %p4, %rd18, 0;
@%p4 bra $L_malloc_3;
bra.uni $L_malloc_4;
$L_malloc_3:
mov.b64 %rd19, 32;
st.volatile.u64 [%rd14+16], %rd19;
add.s64 %rd20, %rd15, -32;
st.volatile.u64 [%rd14+32], %rd20;
bra.uni $L_malloc_4;
$L_malloc_4:
ld.volatile.u64 %rd21, [%rd14+16];
shl.b64 %rd22, %rd15, 1;
setp.eq.u64 %p5, %rd22, 0;
@%p5 bra $L_malloc_21;
mov.b64 %rd23, 0;
mov.b64 %rd1, %rd21;
mov.b64 %rd2, %rd23;
bra.uni $L_malloc_5;
$L_malloc_21:
mov.pred %p6, 1;
mov.b64 %rd24, 0;
mov.b64 %rd25, 32;
mov.pred %p1, %p6;
mov.b64 %rd7, %rd24;
mov.b64 %rd8, %rd25;
bra.uni $L_malloc_15;
$L_malloc_14:
mov.b64 %rd46, 32;
selp.b64 %rd47, %rd46, %rd45, %p14;
mov.pred %p1, %p14;
mov.b64 %rd7, %rd5;
mov.b64 %rd8, %rd47;
bra.uni $L_malloc_15;
$L_malloc_15:
st.volatile.u64 [%rd14+16], %rd8;
membar.gl;
mov.b32 %r7, 0;
atom.exch.b32 %r6, [%rd14], %r7;
add.s64 %rd48, %rd14, %rd7;
selp.b64 %rd49, 0, %rd48, %p1;
mov.b64 %rd9, %rd49;
bra.uni $L_malloc_16;
$L_malloc_5:
add.s64 %rd26, %rd14, %rd1;
ld.volatile.u64 %rd27, [%rd26];
and.b64 %rd28, %rd27, 1;
setp.eq.u64 %p7, %rd28, 0;
@%p7 bra $L_malloc_22;
mov.b64 %rd29, 0;
mov.b64 %rd5, %rd29;
mov.b64 %rd6, %rd27;
bra.uni $L_malloc_13;
$L_malloc_22:
mov.b64 %rd3, %rd27;
bra.uni $L_malloc_6;
$L_malloc_6:
add.s64 %rd30, %rd3, %rd1;
setp.lt.u64 %p8, %rd30, %rd15;
@%p8 bra $L_malloc_7;
bra.uni $L_malloc_8;
$L_malloc_7:
add.s64 %rd31, %rd14, %rd30;
ld.volatile.u64 %rd32, [%rd31];
and.b64 %rd33, %rd32, 1;
setp.eq.u64 %p9, %rd33, 0;
add.s64 %rd34, %rd32, %rd3;
@%p9 bra $L_malloc_23;
bra.uni $L_malloc_8;
$L_malloc_23:
mov.b64 %rd3, %rd34;
bra.uni $L_malloc_6;
$L_malloc_8:
setp.lt.u64 %p10, %rd3, %rd17;
@%p10 bra $L_malloc_12;
bra.uni $L_malloc_9;
$L_malloc_9:
sub.s64 %rd35, %rd3, %rd17;
setp.gt.u64 %p11, %rd35, 31;
@%p11 bra $L_malloc_10;
mov.b64 %rd4, %rd3;
bra.uni $L_malloc_11;
$L_malloc_10:
add.s64 %rd36, %rd26, %rd17;
st.volatile.u64 [%rd36], %rd35;
mov.b64 %rd4, %rd17;
bra.uni $L_malloc_11;
$L_malloc_11:
xor.b64 %rd37, %rd1, 6556890168739938512;
st.volatile.u64 [%rd26+8], %rd37;
or.b64 %rd38, %rd4, 1;
st.volatile.u64 [%rd26], %rd38;
add.s64 %rd39, %rd1, 16;
mov.b64 %rd5, %rd39;
mov.b64 %rd6, %rd4;
bra.uni $L_malloc_13;
$L_malloc_12:
st.volatile.u64 [%rd26], %rd3;
mov.b64 %rd40, 0;
mov.b64 %rd5, %rd40;
mov.b64 %rd6, %rd3;
bra.uni $L_malloc_13;
$L_malloc_13:
and.b64 %rd41, %rd6, -2;
add.s64 %rd42, %rd41, %rd2;
add.s64 %rd43, %rd41, %rd1;
setp.lt.u64 %p12, %rd43, %rd15;
mov.b64 %rd44, 32;
selp.b64 %rd45, %rd43, %rd44, %p12;
setp.lt.u64 %p13, %rd42, %rd22;
setp.eq.u64 %p14, %rd5, 0;
and.pred %p15, %p13, %p14;
@%p15 bra $L_malloc_24;
bra.uni $L_malloc_14;
$L_malloc_24:
mov.b64 %rd1, %rd45;
mov.b64 %rd2, %rd42;
bra.uni $L_malloc_5;
$L_malloc_16:
st.param.b64 [func_retval0], %rd9;
ret;
}`,
  free: `.global .align 1 .b8 cumetal_heap_text[40] = {102, 114, 101, 101, 32, 111, 102, 32, 97, 32, 112, 111, 105, 110, 116, 101, 114, 32, 116, 104, 97, 116, 32, 109, 97, 108, 108, 111, 99, 32, 104, 97, 115, 32, 103, 105, 118, 101, 110};
.global .align 1 .b8 cumetal_heap_text1[5] = {104, 101, 97, 112};
.global .align 1 .b8 cumetal_heap_text2[5] = {102, 114, 101, 101};
.visible .func free(
.param .b64 free_param_0
)
{
.reg .pred %p<15>;
.reg .b64 %rd<25>;
.reg .b32 %r<9>;
ld.param.b64 %rd1, [free_param_0];
$L_free_0:
setp.eq.u64 %p2, %rd1, 0;
@%p2 bra $L_free_10;
bra.uni $L_free_1;
$L_free_1:
mov.b32 %r1, %envreg30;
mov.b32 %r2, %envreg31;
cvt.u64.u32 %rd2, %r2;
shl.b64 %rd3, %rd2, 32;
cvt.u64.u32 %rd4, %r1;
or.b64 %rd5, %rd3, %rd4;
bra.uni $L_free_2;
$L_free_2:
mov.b32 %r4, 0;
mov.b32 %r5, 1;
atom.cas.b32 %r3, [%rd5], %r4, %r5;
setp.eq.u32 %p3, %r3, 0;
@%p3 bra $L_free_3;
bra.uni $L_free_2;
$L_free_3:
sub.s64 %rd6, %rd1, %rd5;
add.s64 %rd7, %rd6, -16;
membar.gl;
setp.gt.u64 %p4, %rd7, 31;
@%p4 bra $L_free_4;
mov.pred %p5, 0;
mov.pred %p1, %p5;
bra.uni $L_free_8;
$L_free_4:
ld.volatile.u64 %rd8, [%rd5+8];
setp.lt.u64 %p6, %rd7, %rd8;
and.b64 %rd9, %rd6, 15;
setp.eq.u64 %p7, %rd9, 0;
and.pred %p8, %p7, %p6;
@%p8 bra $L_free_5;
mov.pred %p9, 0;
mov.pred %p1, %p9;
bra.uni $L_free_8;
$L_free_5:
add.s64 %rd10, %rd5, %rd7;
ld.volatile.u64 %rd11, [%rd10+8];
xor.b64 %rd12, %rd11, %rd7;
setp.eq.u64 %p10, %rd12, 6556890168739938512;
@%p10 bra $L_free_6;
mov.pred %p11, 0;
mov.pred %p1, %p11;
bra.uni $L_free_8;
$L_free_6:
ld.volatile.u64 %rd13, [%rd10];
and.b64 %rd14, %rd13, 1;
setp.eq.u64 %p12, %rd14, 0;
@%p12 bra $L_free_14;
bra.uni $L_free_7;
$L_free_14:
mov.pred %p13, 0;
mov.pred %p1, %p13;
bra.uni $L_free_8;
$L_free_7:
mov.b64 %rd15, 0;
st.volatile.u64 [%rd10+8], %rd15;
ld.volatile.u64 %rd16, [%rd10];
and.b64 %rd17, %rd16, -2;
st.volatile.u64 [%rd10], %rd17;
mov.pred %p14, 1;
mov.pred %p1, %p14;
bra.uni $L_free_8;
$L_free_8:
membar.gl;
mov.b32 %r7, 0;
atom.exch.b32 %r6, [%rd5], %r7;
@%p1 bra $L_free_10;
bra.uni $L_free_9;
$L_free_9:
{
.param .b64 param0;
mov.u64 %rd18, cumetal_heap_text;
cvta.global.u64 %rd19, %rd18;
st.param.b64 [param0], %rd19;
.param .b64 param1;
mov.u64 %rd20, cumetal_heap_text1;
cvta.global.u64 %rd21, %rd20;
st.param.b64 [param1], %rd21;
.param .b32 param2;
mov.b32 %r8, 0;
st.param.b32 [param2], %r8;
.param .b64 param3;
mov.u64 %rd22, cumetal_heap_text2;
cvta.global.u64 %rd23, %rd22;
st.param.b64 [param3], %rd23;
.param .b64 param4;
mov.b64 %rd24, 1;
st.param.b64 [param4], %rd24;
call.uni __assertfail, (param0, param1, param2, param3, param4);
}
bra.uni $L_free_10;
$L_free_10:
ret;
}`,
};
