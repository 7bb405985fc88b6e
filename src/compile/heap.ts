/**
 * The heap of kernels: `malloc` and `free` of modules that declare them. Their bodies are appended to the text of the module, so
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
.reg .b64 %rd<53>;
.reg .b32 %r<9>;
.reg .pred %p<16>;
ld.param.b64 %rd13, [malloc_param_0];
$L_malloc_0:
mov.b32 %r2, %envreg30;
mov.b32 %r3, %envreg31;
cvt.u64.u32 %rd14, %r3;
shl.b64 %rd15, %rd14, 32;
cvt.u64.u32 %rd16, %r2;
or.b64 %rd17, %rd15, %rd16;
ld.u64 %rd18, [%rd17+8];
setp.gt.u64 %p1, %rd13, %rd18;
@%p1 bra $L_malloc_22;
bra.uni $L_malloc_1;
$L_malloc_22:
mov.b64 %rd12, 0;
bra.uni $L_malloc_19;
$L_malloc_1:
add.s64 %rd19, %rd13, 31;
and.b64 %rd20, %rd19, -16;
add.s64 %rd21, %rd18, -32;
shl.b64 %rd22, %rd18, 1;
setp.eq.u64 %p2, %rd22, 0;
mov.b64 %rd23, 0;
mov.b64 %rd1, %rd23;
bra.uni $L_malloc_2;
$L_malloc_2:
membar.gl;
mov.b32 %r5, 1;
atom.exch.b32 %r4, [%rd17], %r5;
add.s32 %r6, %r4, -1;
setp.eq.u32 %p3, %r4, 0;
@%p3 bra $L_malloc_3;
mov.b64 %rd11, %rd1;
mov.b32 %r1, %r6;
bra.uni $L_malloc_17;
$L_malloc_3:
membar.gl;
ld.u64 %rd24, [%rd17+16];
setp.eq.u64 %p4, %rd24, 0;
@%p4 bra $L_malloc_4;
mov.b64 %rd2, %rd24;
bra.uni $L_malloc_5;
$L_malloc_4:
st.u64 [%rd17+32], %rd21;
mov.b64 %rd25, 32;
mov.b64 %rd2, %rd25;
bra.uni $L_malloc_5;
$L_malloc_5:
@%p2 bra $L_malloc_24;
mov.b64 %rd26, 0;
mov.b64 %rd3, %rd2;
mov.b64 %rd4, %rd26;
bra.uni $L_malloc_6;
$L_malloc_24:
mov.b64 %rd27, 0;
mov.b64 %rd28, 32;
mov.b64 %rd9, %rd27;
mov.b64 %rd10, %rd28;
bra.uni $L_malloc_16;
$L_malloc_6:
add.s64 %rd29, %rd17, %rd3;
ld.u64 %rd30, [%rd29];
and.b64 %rd31, %rd30, 1;
setp.eq.u64 %p5, %rd31, 0;
@%p5 bra $L_malloc_25;
mov.b64 %rd32, 0;
mov.b64 %rd7, %rd30;
mov.b64 %rd8, %rd32;
bra.uni $L_malloc_14;
$L_malloc_25:
mov.b64 %rd5, %rd30;
bra.uni $L_malloc_7;
$L_malloc_7:
add.s64 %rd33, %rd5, %rd3;
setp.lt.u64 %p6, %rd33, %rd18;
@%p6 bra $L_malloc_8;
bra.uni $L_malloc_9;
$L_malloc_8:
add.s64 %rd34, %rd17, %rd33;
ld.u64 %rd35, [%rd34];
and.b64 %rd36, %rd35, 1;
setp.eq.u64 %p7, %rd36, 0;
add.s64 %rd37, %rd35, %rd5;
@%p7 bra $L_malloc_26;
bra.uni $L_malloc_9;
$L_malloc_26:
mov.b64 %rd5, %rd37;
bra.uni $L_malloc_7;
$L_malloc_9:
setp.lt.u64 %p8, %rd5, %rd20;
@%p8 bra $L_malloc_13;
bra.uni $L_malloc_10;
$L_malloc_10:
sub.s64 %rd38, %rd5, %rd20;
setp.gt.u64 %p9, %rd38, 31;
@%p9 bra $L_malloc_11;
mov.b64 %rd6, %rd5;
bra.uni $L_malloc_12;
$L_malloc_11:
add.s64 %rd39, %rd29, %rd20;
st.u64 [%rd39], %rd38;
mov.b64 %rd6, %rd20;
bra.uni $L_malloc_12;
$L_malloc_12:
xor.b64 %rd40, %rd3, 6556890168739938512;
st.u64 [%rd29+8], %rd40;
or.b64 %rd41, %rd6, 1;
st.u64 [%rd29], %rd41;
add.s64 %rd42, %rd3, 16;
mov.b64 %rd7, %rd6;
mov.b64 %rd8, %rd42;
bra.uni $L_malloc_14;
$L_malloc_13:
st.u64 [%rd29], %rd5;
mov.b64 %rd43, 0;
mov.b64 %rd7, %rd5;
mov.b64 %rd8, %rd43;
bra.uni $L_malloc_14;
$L_malloc_14:
and.b64 %rd44, %rd7, -2;
add.s64 %rd45, %rd44, %rd4;
add.s64 %rd46, %rd44, %rd3;
setp.lt.u64 %p10, %rd46, %rd18;
mov.b64 %rd47, 32;
selp.b64 %rd48, %rd46, %rd47, %p10;
setp.lt.u64 %p11, %rd45, %rd22;
setp.eq.u64 %p12, %rd8, 0;
and.pred %p13, %p12, %p11;
@%p13 bra $L_malloc_27;
bra.uni $L_malloc_15;
$L_malloc_27:
mov.b64 %rd3, %rd48;
mov.b64 %rd4, %rd45;
bra.uni $L_malloc_6;
$L_malloc_15:
mov.b64 %rd49, 32;
selp.b64 %rd50, %rd49, %rd48, %p12;
mov.b64 %rd9, %rd8;
mov.b64 %rd10, %rd50;
bra.uni $L_malloc_16;
$L_malloc_16:
st.u64 [%rd17+16], %rd10;
membar.gl;
mov.b32 %r8, 0;
atom.exch.b32 %r7, [%rd17], %r8;
mov.b64 %rd11, %rd9;
mov.b32 %r1, %r7;
bra.uni $L_malloc_17;
$L_malloc_17:
setp.eq.u32 %p14, %r1, 0;
@%p14 bra $L_malloc_29;
bra.uni $L_malloc_18;
$L_malloc_29:
mov.b64 %rd1, %rd11;
bra.uni $L_malloc_2;
$L_malloc_18:
setp.eq.u64 %p15, %rd11, 0;
add.s64 %rd51, %rd17, %rd11;
selp.b64 %rd52, 0, %rd51, %p15;
mov.b64 %rd12, %rd52;
bra.uni $L_malloc_19;
$L_malloc_19:
st.param.b64 [func_retval0], %rd12;
ret;
}`,
  free: `.global .align 1 .b8 cumetal_heap_text[40] = {102, 114, 101, 101, 32, 111, 102, 32, 97, 32, 112, 111, 105, 110, 116, 101, 114, 32, 116, 104, 97, 116, 32, 109, 97, 108, 108, 111, 99, 32, 104, 97, 115, 32, 103, 105, 118, 101, 110};
.global .align 1 .b8 cumetal_heap_text1[5] = {104, 101, 97, 112};
.global .align 1 .b8 cumetal_heap_text2[5] = {102, 114, 101, 101};
.visible .func free(
.param .b64 free_param_0
)
{
.reg .pred %p<19>;
.reg .b32 %r<10>;
.reg .b64 %rd<24>;
ld.param.b64 %rd1, [free_param_0];
$L_free_0:
setp.eq.u64 %p4, %rd1, 0;
@%p4 bra $L_free_12;
bra.uni $L_free_1;
$L_free_1:
mov.b32 %r2, %envreg30;
mov.b32 %r3, %envreg31;
cvt.u64.u32 %rd2, %r3;
shl.b64 %rd3, %rd2, 32;
cvt.u64.u32 %rd4, %r2;
or.b64 %rd5, %rd3, %rd4;
sub.s64 %rd6, %rd1, %rd5;
add.s64 %rd7, %rd6, -16;
setp.gt.u64 %p5, %rd7, 31;
and.b64 %rd8, %rd6, 15;
setp.eq.u64 %p6, %rd8, 0;
add.s64 %rd9, %rd5, %rd7;
mov.pred %p7, 0;
mov.pred %p1, %p7;
bra.uni $L_free_2;
$L_free_2:
membar.gl;
mov.b32 %r5, 1;
atom.exch.b32 %r4, [%rd5], %r5;
add.s32 %r6, %r4, -1;
setp.eq.u32 %p8, %r4, 0;
@%p8 bra $L_free_3;
mov.pred %p3, %p1;
mov.b32 %r1, %r6;
bra.uni $L_free_9;
$L_free_3:
membar.gl;
@%p5 bra $L_free_4;
mov.pred %p9, 0;
mov.pred %p2, %p9;
bra.uni $L_free_8;
$L_free_4:
ld.u64 %rd10, [%rd5+8];
setp.lt.u64 %p10, %rd7, %rd10;
and.pred %p11, %p6, %p10;
@%p11 bra $L_free_5;
mov.pred %p12, 0;
mov.pred %p2, %p12;
bra.uni $L_free_8;
$L_free_5:
ld.u64 %rd11, [%rd9+8];
xor.b64 %rd12, %rd11, %rd7;
setp.eq.u64 %p13, %rd12, 6556890168739938512;
@%p13 bra $L_free_6;
mov.pred %p14, 0;
mov.pred %p2, %p14;
bra.uni $L_free_8;
$L_free_6:
ld.u64 %rd13, [%rd9];
and.b64 %rd14, %rd13, 1;
setp.eq.u64 %p15, %rd14, 0;
@%p15 bra $L_free_16;
bra.uni $L_free_7;
$L_free_16:
mov.pred %p16, 0;
mov.pred %p2, %p16;
bra.uni $L_free_8;
$L_free_7:
mov.b64 %rd15, 0;
st.u64 [%rd9+8], %rd15;
and.b64 %rd16, %rd13, -2;
st.u64 [%rd9], %rd16;
mov.pred %p17, 1;
mov.pred %p2, %p17;
bra.uni $L_free_8;
$L_free_8:
membar.gl;
mov.b32 %r8, 0;
atom.exch.b32 %r7, [%rd5], %r8;
mov.pred %p3, %p2;
mov.b32 %r1, %r7;
bra.uni $L_free_9;
$L_free_9:
setp.eq.u32 %p18, %r1, 0;
@%p18 bra $L_free_18;
bra.uni $L_free_10;
$L_free_18:
mov.pred %p1, %p3;
bra.uni $L_free_2;
$L_free_10:
@%p3 bra $L_free_12;
bra.uni $L_free_11;
$L_free_11:
{
.param .b64 param0;
mov.u64 %rd17, cumetal_heap_text;
cvta.global.u64 %rd18, %rd17;
st.param.b64 [param0], %rd18;
.param .b64 param1;
mov.u64 %rd19, cumetal_heap_text1;
cvta.global.u64 %rd20, %rd19;
st.param.b64 [param1], %rd20;
.param .b32 param2;
mov.b32 %r9, 0;
st.param.b32 [param2], %r9;
.param .b64 param3;
mov.u64 %rd21, cumetal_heap_text2;
cvta.global.u64 %rd22, %rd21;
st.param.b64 [param3], %rd22;
.param .b64 param4;
mov.b64 %rd23, 1;
st.param.b64 [param4], %rd23;
call.uni __assertfail, (param0, param1, param2, param3, param4);
}
bra.uni $L_free_12;
$L_free_12:
ret;
}`,
};
