/** The built-in kernels of `cumetal bench`: each launch reaches one limit of the device. */

/** A kernel, its launch as arguments of `run`, and the work of one launch. */
export interface BenchKernel {
  readonly name: string;
  readonly what: string;
  readonly args: readonly string[];
  /** Units of work in a launch; 0 where the launch latency is measured. */
  readonly work: number;
  readonly unit: string;
}

const elements = 1 << 22;
const threads = 1 << 18;
const turns = 64;
const chains = 4;

/** An empty kernel, `a[i] = 3 * b[i] + a[i]`, and four chains of FMAs per thread. */
export const benchPtx = `.version 7.0
.target sm_70
.address_size 64
.visible .entry empty()
{
  ret;
}
.visible .entry saxpy(.param .u64 a, .param .u64 b)
{
  .reg .b32 %r<5>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [a];
  ld.param.u64 %rd2, [b];
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  mul.wide.s32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd5];
  ld.global.f32 %f2, [%rd4];
  fma.rn.f32 %f3, %f1, 0f40400000, %f2;
  st.global.f32 [%rd4], %f3;
  ret;
}
.visible .entry fused(.param .u64 a)
{
  .reg .pred %p;
  .reg .b32 %r<6>;
  .reg .f32 %f<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [a];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.rn.f32.s32 %f1, %r4;
  add.f32 %f2, %f1, 0f3F800000;
  add.f32 %f3, %f1, 0f40000000;
  add.f32 %f4, %f1, 0f40400000;
  mov.u32 %r5, 0;
TURN:
  fma.rn.f32 %f1, %f1, 0f3F7FFFF0, 0f3F000000;
  fma.rn.f32 %f2, %f2, 0f3F7FFFF0, 0f3F000000;
  fma.rn.f32 %f3, %f3, 0f3F7FFFF0, 0f3F000000;
  fma.rn.f32 %f4, %f4, 0f3F7FFFF0, 0f3F000000;
  add.s32 %r5, %r5, 1;
  setp.lt.s32 %p, %r5, ${turns};
  @%p bra TURN;
  add.f32 %f5, %f1, %f2;
  add.f32 %f6, %f3, %f4;
  add.f32 %f7, %f5, %f6;
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.f32 [%rd3], %f7;
  ret;
}
`;

const block = 256;
const shape = (count: number): string[] => ['--grid', String(count / block), '--block', String(block)];

export const benchKernels: readonly BenchKernel[] = [
  { name: 'empty', what: 'empty kernel, from call to completion', args: ['--grid', '1', '--block', '1'], work: 0, unit: 'us' },
  {
    name: 'saxpy',
    what: `saxpy of ${elements} floats, bytes read and written`,
    args: [...shape(elements), '--arg', `f32:${elements}=ones`, '--arg', `f32:${elements}=iota`],
    work: (12 * elements) / 1e9,
    unit: 'GB/s',
  },
  {
    name: 'fused',
    what: 'single-precision FMA, two operations each',
    args: [...shape(threads), '--arg', `f32:${threads}`],
    work: (2 * chains * turns * threads) / 1e9,
    unit: 'GFLOP/s',
  },
];
