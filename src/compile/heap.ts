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
.reg .b64 %rd<56>;
.reg .pred %p<18>;
.reg .b32 %r<9>;
ld.param.b64 %rd14, [malloc_param_0];
$L_malloc_0:
mov.b32 %r2, %envreg30;
mov.b32 %r3, %envreg31;
cvt.u64.u32 %rd15, %r3;
shl.b64 %rd16, %rd15, 32;
cvt.u64.u32 %rd17, %r2;
or.b64 %rd18, %rd16, %rd17;
ld.u64 %rd19, [%rd18+8];
setp.gt.u64 %p2, %rd14, %rd19;
@%p2 bra $L_malloc_23;
bra.uni $L_malloc_1;
$L_malloc_23:
mov.b64 %rd13, 0;
bra.uni $L_malloc_20;
$L_malloc_1:
add.s64 %rd20, %rd14, 31;
and.b64 %rd21, %rd20, -16;
add.s64 %rd22, %rd19, -32;
shl.b64 %rd23, %rd19, 1;
setp.eq.u64 %p3, %rd23, 0;
mov.b64 %rd24, 0;
mov.b64 %rd1, %rd24;
bra.uni $L_malloc_2;
$L_malloc_2:
membar.gl;
mov.b32 %r5, 1;
atom.exch.b32 %r4, [%rd18], %r5;
add.s32 %r6, %r4, -1;
setp.eq.u32 %p4, %r4, 0;
@%p4 bra $L_malloc_3;
mov.b64 %rd12, %rd1;
mov.b32 %r1, %r6;
bra.uni $L_malloc_18;
$L_malloc_3:
membar.gl;
ld.u64 %rd25, [%rd18+16];
setp.eq.u64 %p5, %rd25, 0;
@%p5 bra $L_malloc_4;
mov.b64 %rd2, %rd25;
bra.uni $L_malloc_5;
$L_malloc_4:
st.u64 [%rd18+32], %rd22;
mov.b64 %rd26, 32;
mov.b64 %rd2, %rd26;
bra.uni $L_malloc_5;
$L_malloc_5:
@%p3 bra $L_malloc_25;
mov.b64 %rd27, 0;
mov.b64 %rd3, %rd2;
mov.b64 %rd4, %rd27;
bra.uni $L_malloc_6;
$L_malloc_25:
mov.b64 %rd28, 0;
mov.b64 %rd29, 32;
mov.b64 %rd10, %rd28;
mov.b64 %rd11, %rd29;
bra.uni $L_malloc_17;
$L_malloc_6:
add.s64 %rd30, %rd18, %rd3;
ld.u64 %rd31, [%rd30];
and.b64 %rd32, %rd31, 1;
setp.eq.u64 %p6, %rd32, 0;
@%p6 bra $L_malloc_26;
mov.b64 %rd33, 0;
mov.b64 %rd8, %rd31;
mov.b64 %rd9, %rd33;
bra.uni $L_malloc_15;
$L_malloc_26:
mov.b64 %rd5, %rd31;
bra.uni $L_malloc_7;
$L_malloc_7:
add.s64 %rd34, %rd5, %rd3;
setp.lt.u64 %p7, %rd34, %rd19;
@%p7 bra $L_malloc_8;
mov.pred %p8, 0;
mov.pred %p1, %p8;
mov.b64 %rd6, %rd5;
bra.uni $L_malloc_9;
$L_malloc_8:
add.s64 %rd35, %rd18, %rd34;
ld.u64 %rd36, [%rd35];
and.b64 %rd37, %rd36, 1;
setp.eq.u64 %p9, %rd37, 0;
mov.b64 %rd38, 0;
selp.b64 %rd39, %rd36, %rd38, %p9;
add.s64 %rd40, %rd39, %rd5;
mov.pred %p1, %p9;
mov.b64 %rd6, %rd40;
bra.uni $L_malloc_9;
$L_malloc_9:
@%p1 bra $L_malloc_27;
bra.uni $L_malloc_10;
$L_malloc_27:
mov.b64 %rd5, %rd6;
bra.uni $L_malloc_7;
$L_malloc_10:
setp.lt.u64 %p10, %rd6, %rd21;
@%p10 bra $L_malloc_14;
bra.uni $L_malloc_11;
$L_malloc_11:
sub.s64 %rd41, %rd6, %rd21;
setp.gt.u64 %p11, %rd41, 31;
@%p11 bra $L_malloc_12;
mov.b64 %rd7, %rd6;
bra.uni $L_malloc_13;
$L_malloc_12:
add.s64 %rd42, %rd30, %rd21;
st.u64 [%rd42], %rd41;
mov.b64 %rd7, %rd21;
bra.uni $L_malloc_13;
$L_malloc_13:
xor.b64 %rd43, %rd3, 6556890168739938512;
st.u64 [%rd30+8], %rd43;
or.b64 %rd44, %rd7, 1;
st.u64 [%rd30], %rd44;
add.s64 %rd45, %rd3, 16;
mov.b64 %rd8, %rd7;
mov.b64 %rd9, %rd45;
bra.uni $L_malloc_15;
$L_malloc_14:
st.u64 [%rd30], %rd6;
mov.b64 %rd46, 0;
mov.b64 %rd8, %rd6;
mov.b64 %rd9, %rd46;
bra.uni $L_malloc_15;
$L_malloc_15:
and.b64 %rd47, %rd8, -2;
add.s64 %rd48, %rd47, %rd4;
add.s64 %rd49, %rd47, %rd3;
setp.lt.u64 %p12, %rd49, %rd19;
mov.b64 %rd50, 32;
selp.b64 %rd51, %rd49, %rd50, %p12;
setp.lt.u64 %p13, %rd48, %rd23;
setp.eq.u64 %p14, %rd9, 0;
and.pred %p15, %p14, %p13;
@%p15 bra $L_malloc_28;
bra.uni $L_malloc_16;
$L_malloc_28:
mov.b64 %rd3, %rd51;
mov.b64 %rd4, %rd48;
bra.uni $L_malloc_6;
$L_malloc_16:
mov.b64 %rd52, 32;
selp.b64 %rd53, %rd52, %rd51, %p14;
mov.b64 %rd10, %rd9;
mov.b64 %rd11, %rd53;
bra.uni $L_malloc_17;
$L_malloc_17:
st.u64 [%rd18+16], %rd11;
membar.gl;
mov.b32 %r8, 0;
atom.exch.b32 %r7, [%rd18], %r8;
mov.b64 %rd12, %rd10;
mov.b32 %r1, %r7;
bra.uni $L_malloc_18;
$L_malloc_18:
setp.eq.u32 %p16, %r1, 0;
@%p16 bra $L_malloc_30;
bra.uni $L_malloc_19;
$L_malloc_30:
mov.b64 %rd1, %rd12;
bra.uni $L_malloc_2;
$L_malloc_19:
setp.eq.u64 %p17, %rd12, 0;
add.s64 %rd54, %rd18, %rd12;
selp.b64 %rd55, 0, %rd54, %p17;
mov.b64 %rd13, %rd55;
bra.uni $L_malloc_20;
$L_malloc_20:
st.param.b64 [func_retval0], %rd13;
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
and.b64 %rd15, %rd13, -2;
mov.b64 %rd16, 0;
st.u64 [%rd9+8], %rd16;
st.u64 [%rd9], %rd15;
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
