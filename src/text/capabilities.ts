/**
 * What a language can express: one profile for each target. A capability decides between the native form of an operation, an exact expansion,
 * and a refusal; `docs/text.md` prints the table.
 */

export type TextTarget = 'opencl' | 'msl' | 'ptx' | 'wgsl';

/** How a construct is printed: as the language has it, by other operations with the same result, or not at all. */
export type Form = 'native' | 'expanded' | 'refused';

/** The constructs that targets differ in. */
export const constructs = {
  f64: 'double precision',
  f16: 'half precision',
  bf16: 'bfloat16',
  i64: '64-bit integers',
  contraction: 'sums and products that are never contracted',
  division: 'correctly rounded quotients and square roots of f32',
  minmax: 'minimum and maximum of signed zeros and NaN',
  conversion: 'conversions of floats to integers outside the range, and of NaN',
  atomics32: 'atomics of 32 bits',
  atomics64: 'atomics of 64 bits',
  counters: 'wrapping counters and float sums, atomically',
  pointers: 'addresses in memory',
  warps: 'warp operations in convergent code',
  divergent: 'barriers and warp operations in divergent code',
  masks: 'warp operations by member masks',
  fences: 'memory fences',
  clock: 'clocks',
  grid: 'barriers of the whole grid',
  clusters: 'clusters of blocks',
  named: 'barriers for some of the threads',
  mbarriers: 'barriers in memory, and copies that they wait for',
  textures: 'textures and surfaces',
  groups: 'products of matrices by groups of four warps',
  heap: 'the heap of kernels',
  stack: 'recursive functions, and `alloca`',
  launches: 'launches by kernels',
  matrices: 'products of 8 by 8 matrices by warps',
} as const;
export type Construct = keyof typeof constructs;

export interface Profile {
  readonly name: TextTarget;
  readonly title: string;
  readonly forms: Readonly<Record<Construct, Shown>>;
}

/** A form, and how a construct has it. */
export interface Shown {
  readonly form: Form;
  readonly how: string;
}

export const native = (how: string): Shown => ({ form: 'native', how });
export const expanded = (how: string): Shown => ({ form: 'expanded', how });
export const refused = (how: string): Shown => ({ form: 'refused', how });

/** The profiles by target. */
export const profiles: Readonly<Record<TextTarget, Profile>> = {
  opencl: {
    name: 'opencl',
    title: 'OpenCL C 3.0',
    forms: {
      f64: native('`double`, with the extension `cl_khr_fp64`'),
      f16: expanded(
        'bits in `ushort`; arithmetic in `float`, rounded once more without effect, and fused sums in `double` by rounding to odd',
      ),
      bf16: expanded('as f16'),
      i64: native('`ulong`'),
      contraction: native('`FP_CONTRACT OFF`'),
      division: native('the build option `-cl-fp32-correctly-rounded-divide-sqrt`'),
      minmax: expanded('comparisons and the sign bit'),
      conversion: expanded('comparisons with the limits'),
      atomics32: native('`atomic_add` and the like'),
      atomics64: native('the extensions `cl_khr_int64_base_atomics` and `cl_khr_int64_extended_atomics`'),
      counters: expanded('a loop of `atomic_cmpxchg`'),
      pointers: native('shared virtual memory'),
      warps: expanded('local memory between two barriers'),
      divergent: expanded('a scheduler in local memory that lets the threads of a warp run in the order of the CPU device'),
      masks: expanded('the same scheduler'),
      fences: native('`mem_fence` and `atomic_work_item_fence`'),
      clock: refused('OpenCL C has no clock'),
      grid: expanded('a block that waits for others keeps what it has in device memory, and goes on in the next dispatch'),
      clusters: expanded('a cluster is one work-group, with the shared memory of its blocks one behind the other'),
      named: expanded('words in local memory and loops, by the same scheduler'),
      mbarriers: expanded('64-bit words in local memory, by the same scheduler; a thread copies where it asks for a copy'),
      textures: expanded('loads of texels by a descriptor in memory, and filters in whole numbers'),
      groups: expanded('shuffles and fused sums; sparse products are refused'),
      heap: expanded('memory of the launch, with a lock'),
      stack: expanded('the end of `local_memory`'),
      launches: expanded('notes in memory of the launch, which the host follows when the kernel has ended'),
      matrices: expanded('shuffles and fused sums'),
    },
  },
  msl: {
    name: 'msl',
    title: 'Metal Shading Language',
    forms: {
      f64: expanded('exact double precision in integers (`soft-f64`), or pairs of floats by `--fp64 emulate`'),
      f16: native('`half`'),
      bf16: native('`bfloat`, from Metal 3.1 on'),
      i64: native('`ulong`'),
      contraction: native('`#pragma METAL fp contract(off)`'),
      division: native('`/` and `precise::sqrt`, in libraries that are compiled without fast math'),
      minmax: expanded('the pass `signed-zeros`'),
      conversion: expanded('comparisons with the limits'),
      atomics32: native('`atomic_fetch_add_explicit` and the like'),
      atomics64: expanded('locks (`wide-atomics`)'),
      counters: expanded('a loop of `atomic_compare_exchange_weak_explicit`'),
      pointers: native('casts of `ulong` to `device` pointers'),
      warps: native('`simd_shuffle`, `simd_ballot` and the like, in simdgroups of 32'),
      divergent: native('threads of a simdgroup that execute a function together'),
      masks: expanded('the pass `rendezvous-loop`, or a check when the kernel runs'),
      fences: native('`atomic_thread_fence`, from Metal 3.2 on'),
      clock: refused('Metal has no clock'),
      grid: native(
        'atomics in a loop, from Metal 3.2 on; the Metal device takes as many blocks as there are cores, since Metal does not promise that more run at the same time',
      ),
      clusters: expanded(
        'a cluster is one threadgroup, with the shared memory of its blocks one behind the other; barriers of a block are refused where not all blocks are known to reach them together',
      ),
      named: expanded(
        'words in threadgroup memory and loops, from Metal 3.2 on; simdgroups are taken to make progress, and lanes of one that wait for each other at different places do not',
      ),
      mbarriers: expanded('words with a lock in one bit, in the same manner; a thread copies where it asks for a copy'),
      textures: expanded('loads of texels by a descriptor in memory, and filters in whole numbers'),
      groups: expanded('shuffles and fused sums; sparse products are refused'),
      heap: expanded('memory of the launch, with a lock that a thread frees in the same turn of a loop; from Metal 3.2 on'),
      stack: expanded('the end of `local_memory`, 1024 bytes'),
      launches: expanded('notes in memory of the launch, which the host follows when the kernel has ended'),
      matrices: refused('the form of a lane in `simdgroup_matrix` is no part of the language'),
    },
  },
  ptx: {
    name: 'ptx',
    title: 'PTX',
    forms: {
      f64: native('`.f64`'),
      f16: native('`.f16` from sm_53 on, before that in `.f32`, rounded once more without effect'),
      bf16: native('`.bf16` from sm_90 on, fused sums from sm_80 on; otherwise in `.f32`'),
      i64: native('`.b64`'),
      contraction: native('`.rn`, unless the source leaves it to the assembler'),
      division: native('`div.rn` and `sqrt.rn`; approximations of the source stay'),
      minmax: native('`min` and `max`, of halves from sm_80 on'),
      conversion: native('`cvt.rzi`, with a choice for a NaN where 64 bits are involved'),
      atomics32: native('`atom` and `red`'),
      atomics64: native('`atom` and `red`'),
      counters: native('`inc`, `dec` and `add.f32`'),
      pointers: native('generic addresses'),
      warps: native('`shfl.sync`, `vote.sync` and the like, with the mask of the whole warp'),
      divergent: native('masks of the source; a metallib has none there, and is refused'),
      masks: native('`shfl.sync`, `vote.sync`, `redux.sync` from sm_80 on'),
      fences: native('`membar` and `fence`'),
      clock: native('`%clock64` and `%globaltimer`'),
      grid: native('the workspace of the driver in `%envreg1` and `%envreg2`'),
      clusters: native('`mapa`, `barrier.cluster` and `.shared::cluster`, from sm_90 on; the instructions of the source stay'),
      named: native('`bar.sync`, `bar.arrive` and `bar.red`, as in the source'),
      mbarriers: native(
        '`mbarrier` and `cp.async`, as in the source, where the architecture has all of a module: from sm_80 on, and copies of tensor maps from sm_90 on; otherwise 64-bit words in shared memory, and a thread copies where it asks for a copy',
      ),
      textures: native('`tex`, `tld4`, `suld`, `sust` and the like, as in the source; a metallib has none'),
      groups: native('`wgmma` for sm_90a; otherwise `mma.sync` from sm_80 on, before that shuffles and fused sums'),
      heap: native('calls of `malloc` and `free`; a metallib has its own, and is refused'),
      stack: native('functions that are called, and `alloca` from sm_52 on; a metallib has its own stack, and is refused'),
      launches: native('calls of the device runtime, with which the text is linked (`-lcudadevrt`); a metallib is refused'),
      matrices: expanded('shuffles and fused sums; products of the source are `mma.sync`'),
    },
  },
  wgsl: {
    name: 'wgsl',
    title: 'WGSL',
    forms: {
      f64: expanded('exact double precision in integers (`soft-f64`)'),
      f16: expanded('bits in `u32`; arithmetic in `f32`, rounded once more without effect, and fused sums by rounding to odd'),
      bf16: expanded('as f16'),
      i64: expanded('pairs of words, `vec2<u32>`'),
      contraction: expanded('products pass through an integer that a compiler does not know'),
      division: expanded('long division and digits of the root, in integers, unless the device measures that its own are exact'),
      minmax: expanded('comparisons of bits'),
      conversion: expanded('shifts of the bits'),
      atomics32: native('`atomicAdd` and the like; signed extremes by a loop of `atomicCompareExchangeWeak`'),
      atomics64: expanded(
        'sums and bitwise operations without a result, word by word; for others the threads of a block take turns, and blocks too',
      ),
      counters: expanded('a loop of `atomicCompareExchangeWeak`'),
      pointers: expanded('offsets in one array of words, the arena'),
      warps: expanded('workgroup memory between two barriers'),
      divergent: expanded('a scheduler in workgroup memory that lets the threads of a warp run in the order of the CPU device'),
      masks: expanded('the same scheduler'),
      fences: expanded('within a block by barriers; WGSL orders no memory between blocks, so that each block is a dispatch of its own'),
      clock: refused('WGSL has no clock'),
      grid: refused('WebGPU does not promise that all workgroups of a grid run at the same time'),
      clusters: expanded('a cluster is one workgroup, with the shared memory of its blocks one behind the other'),
      named: expanded('words in workgroup memory and loops, by the same scheduler'),
      mbarriers: expanded('64-bit words in workgroup memory, at which threads take turns; a thread copies where it asks for a copy'),
      textures: expanded('loads of texels by a descriptor in memory, and filters in whole numbers'),
      groups: expanded('shuffles and fused sums; sparse products are refused'),
      heap: expanded('a part of the arena, with a lock'),
      stack: expanded('the end of the private memory, 1024 bytes'),
      launches: expanded('notes in the arena, which the host follows when the kernel has ended'),
      matrices: expanded('shuffles and fused sums'),
    },
  },
};
