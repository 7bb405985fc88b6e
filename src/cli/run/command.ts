/** The options of `cumetal run`. Launch lines in files, `diff` and `bench` use the same options. */
import { type Command, launchLineOptions, type Option } from '../command/command.ts';
import { compiling, jsonFull, rooflineChoices } from '../command/options.ts';

const options: readonly Option[] = [
  { name: 'kernel', inLaunchLines: true, value: 'NAME', doc: 'The kernel to launch; optional if the file has only one.' },
  { name: 'grid', inLaunchLines: true, value: 'X[,Y[,Z]]', doc: 'The number of blocks in the grid.' },
  { name: 'block', inLaunchLines: true, value: 'X[,Y[,Z]]', doc: 'The number of threads in a block.' },
  {
    name: 'shared',
    inLaunchLines: true,
    value: 'BYTES[,BYTES]',
    doc: 'The size of dynamic shared memory, which a kernel with such memory needs, also if it is 0; one size per threadgroup argument for a Metal kernel with several.',
  },
  {
    name: 'triton',
    value: 'FILE.json',
    doc: 'The metadata that Triton writes beside the PTX: the kernel, the block and the shared memory, which the options above override; scratch parameters that no `--arg` is for are null, or zeroed memory where the kernel uses it.',
  },
  { name: 'arg', inLaunchLines: true, value: 'SPEC', many: true, doc: 'A kernel argument; one per parameter, in order. See below.' },
  {
    name: 'constant',
    value: 'NAME=VALUE',
    many: true,
    doc: 'The value of a function constant of a metallib, by name or number: `true`, `4`, `0.5`, `1,2,3`. `cumetal inspect` lists the constants.',
  },
  { name: 'launch', value: 'FILE', doc: 'The launch file. A FILE argument overrides its `module`.' },
  {
    name: 'allow-outside',
    doc: 'Let the launch file, or the launch lines of FILE, name files outside of their own folder.',
  },
  {
    name: 'print',
    inLaunchLines: true,
    value: 'I[:COUNT]',
    many: true,
    doc: 'Print buffer I, or its first COUNT elements. I is the index of the argument, from 0.',
  },
  {
    name: 'out',
    value: 'I=FILE',
    many: true,
    doc: 'Save buffer I as `.npy`, as `.pgm` (a grayscale image) or, with any other extension, as raw little-endian bytes.',
  },
  {
    name: 'check',
    inLaunchLines: true,
    value: 'I=FILE[:rtol[:atol]]',
    many: true,
    doc: 'Compare buffer I with a `.npy` or raw file. Without tolerances the comparison is bit for bit.',
  },
  {
    name: 'record',
    doc: 'Write the `expect` files of the launch file, in its folder, instead of comparing with them. Requires `--device`, the reference device.',
  },
  {
    name: 'device',
    value: 'DEVICE',
    choices: ['auto', 'metal', 'cpu', 'cuda', 'opencl', 'webgpu'],
    doc: '`auto` (the default) is Metal where available, otherwise the CPU. `cuda` is an NVIDIA GPU, `opencl` the first device of an OpenCL driver, `webgpu` a GPU by WebGPU (a package of npm).',
  },
  {
    name: 'via',
    value: 'FORM',
    choices: ['auto', 'metallib', 'source'],
    doc: 'What the driver of the Metal device gets: the metallib, its kernels as source in the Metal Shading Language, or (`auto`, the default) the source if the driver refuses the metallib, which is said.',
  },
  {
    name: 'fp',
    value: 'HOW',
    choices: ['exact', 'fast'],
    doc: 'Floats on the WebGPU device. `exact` (the default) computes in integers what the GPU is not measured to do exactly. `fast` takes what the GPU does, which may flush subnormals, fuse products with sums, and be off in quotients and roots.',
  },
  {
    name: 'engine',
    value: 'ENGINE',
    choices: ['auto', 'lane', 'simd'],
    doc: 'The code generator of the CPU device. `lane` compiles scalar code that runs one thread at a time, each up to the next barrier or warp collective. `simd` vectorizes groups of threads. `auto` (the default) is `simd` for blocks of at least one warp, or the faster of both where threads do not communicate and a launch takes long.',
  },
  {
    name: 'fma',
    value: 'MODE',
    choices: ['exact', 'fast'],
    doc: 'FMA of single and double precision in vectorized code on the CPU device. `exact` (the default) rounds once. `fast` rounds twice if the machine has no fused instruction, so results differ in last bits, and in more of them where code relies on one rounding.',
  },
  {
    name: 'denormals',
    value: 'MODE',
    choices: ['keep', 'flush'],
    doc: 'Single-precision subnormals on the CPU device. `keep` (the default) computes with them, as NVIDIA GPUs do. `flush` treats them as zeros, as Apple GPUs do, and runs one thread at a time.',
  },
  {
    name: 'lanes',
    value: 'COUNT',
    choices: ['4', '8', '16', '32'],
    doc: 'Threads of a warp that vectorized code on the CPU device runs together. By default as many as fit the kernel. With 32, the threads of a warp go in lockstep between barriers, as on GPUs before Volta: programs that count on that have races on newer ones.',
  },
  {
    name: 'threads',
    value: 'N',
    doc: 'The number of CPU threads that run the blocks of a large launch. The default is the number of cores; 1 disables worker threads.',
  },
  { name: 'repeat', value: 'N', doc: 'Launch N times, each from the same initial buffers, and show the median time.' },
  {
    name: 'cluster',
    value: 'X,Y,Z',
    doc: 'Blocks of a cluster along each axis, such as 2 or 2,2,1, as the cluster dimension of `cudaLaunchKernelEx`: they run at the same time and can access the shared memory of each other. On the CPU device with `--target cpu`, on the CUDA device if the GPU has clusters, and elsewhere if a whole cluster fits in one block of the device.',
  },
  {
    name: 'cooperative',
    doc: 'Launch the kernel cooperatively, as `cudaLaunchCooperativeKernel` does: all blocks run at the same time, so that `grid.sync()` works. For the CPU device, with `--target cpu`, and for the CUDA device.',
  },
  {
    name: 'stack-size',
    value: 'BYTES',
    doc: 'The size of the stack of each thread on the CPU device, for recursive functions and `alloca`, as `cudaLimitStackSize` sets it. The default is 8192. Also with `--target cpu`.',
  },
  { name: 'timeout', value: 'SECONDS', doc: 'Stop a kernel that runs longer than this.' },
  { name: 'library', short: 'l', value: 'NAME', many: true, doc: 'A library of a whole program: an archive `libNAME.a`, or one of CUDA.' },
  { name: 'library-folder', short: 'L', value: 'FOLDER', many: true, doc: 'A folder with archives of a whole program.' },
  {
    name: 'rdc',
    doc: 'Link the device code of all files of a whole program, so that each may use functions and variables that another one defines (`nvcc -rdc=true`).',
  },
  { name: 'optimize', short: 'O', value: 'LEVEL', doc: 'Accepted for a whole program, as of a compiler; code is always optimized.' },
  { name: 'no-cache', doc: 'Ignore the compile cache; see `cumetal cache --help`.' },
  ...compiling,
  {
    name: 'schedule',
    value: 'ORDER',
    doc: 'Run blocks, warps and threads one at a time on the CPU device: `in-order`, `reverse` or `rand:SEED`, which is deterministic for a seed. A result that depends on the order indicates a race.',
  },
  {
    name: 'profile',
    value: 'FILE',
    isBare: true,
    doc: 'Profile the kernel on the CPU device: executions and divergence per line, global memory sectors, bank conflicts, floating-point operations. Without FILE the profile is a table; FILE is an HTML page (`.html`) or JSON (`.json`). The default target becomes `cpu`. See docs/profiler.md.',
  },
  { name: 'roofline', value: 'DEVICE', choices: rooflineChoices, doc: 'The device of the roofline in the profile; `m1` is the default.' },
  {
    name: 'trace-thread',
    value: 'B,T',
    doc: 'Trace thread T of block B on the CPU device: its instructions and their values, on standard error. T and B are numbers or `x.y.z`. The default target becomes `cpu`.',
  },
  {
    name: 'trace-launch',
    value: 'KERNEL[:N]',
    doc: 'The launch of a whole program whose thread `--trace-thread` traces: the N-th one of this kernel, from 1 on. The default is the first launch of the program.',
  },
  { name: 'trace-limit', value: 'N', doc: 'The maximum number of instructions in the trace (5000); the rest are counted.' },
  { name: 'trace-out', value: 'FILE', doc: 'Write the trace to this file; a `.json` file gets JSON.' },
  {
    name: 'sanitize',
    value: 'KINDS',
    isBare: true,
    doc: 'Run the kernel under the sanitizer on the CPU device. KINDS is a comma-separated list of `memory` (out-of-bounds, misaligned, use after free), `race` (data races), `init` (reads of uninitialized memory) and `sync` (barrier divergence, wrong masks, deadlock). The default is all four.',
  },
  jsonFull,
];

export const run: Command = {
  name: 'run',
  summary: 'compile (if needed) and launch one kernel, print or save buffers, check expectations; or run a whole CUDA program',
  usage: ['FILE [options]', '--launch launch.json [options]', 'PROGRAM.cu… [options] [-- ARGUMENTS]'],
  positionals: [0, Number.POSITIVE_INFINITY],
  isRunner: true,
  options,
  examples: [
    { line: 'cumetal run examples/vector_add.ptx', does: 'launch with the arguments in the comment lines of the file' },
    {
      line: 'cumetal run saxpy.ptx --grid 4 --block 256 --arg f32=2 --arg f32:1024=iota --arg f32:1024=ones --print 2:8',
      does: 'give the whole launch on the command line',
    },
    {
      line: 'cumetal run saxpy.ptx --sanitize',
      does: 'check for out-of-bounds accesses, races and more; the exit code is 1 if there are findings',
    },
    { line: 'cumetal run saxpy.ptx --profile=saxpy.html --roofline m2', does: 'write a page with the cost of each line' },
    { line: 'cumetal run saxpy.ptx --trace-thread 0,5', does: 'trace thread 5 of block 0, line by line' },
    { line: 'cumetal run saxpy.ptx --schedule rand:7', does: 'run blocks and threads in a seeded random order, to expose races' },
    { line: 'cumetal run vector_add.cu -- 5000', does: 'compile and run a whole program with the argument 5000' },
    { line: 'cumetal run --launch case/launch.json --json', does: 'launch from a file and check its expectations' },
    { line: 'cumetal run --launch case/launch.json --device cuda --record', does: 'record the expected files on an NVIDIA GPU' },
    { line: 'cumetal run kernel.metallib --arg f32@in.npy --arg f32:64x64 --out 1=result.npy', does: 'read and write NumPy files' },
  ],
  details: `FILE is PTX, a metallib, an AIR module (.air, .bc, .ll of \`build --emit\`), a fatbinary, cubin, object file or program that
contains PTX, or \`-\`. A .cu file is compiled by nvcc or clang, if one is on the PATH, else by clang
as WebAssembly, if the npm package @yowasp/clang is installed; findings name lines of the .cu file.

A .cu file with a function \`main\`, other sources, or several files are a whole program: host code is compiled to WebAssembly, by the npm
package cumetal-cuda, and runs here with the CUDA runtime over the device; words after \`--\` are its arguments. Its output and its exit
code are the program's own. With launch options such as --kernel, the file is a module of kernels all the same.

Arguments:
  f32:1024            a buffer of 1024 zeros; f32:32x32 has two dimensions
  f32:1024=iota       initial values: zeros, ones, iota (0 1 2 …), fill(2.5), rand, rand(7); rand is rand(0)
  f16=1.5,2           a buffer of the values; f16:2x2=1.5,2,3,4 with a shape
  f32@a.npy           a buffer from a .npy file of the same type, or from a raw file
  i32=1024            a scalar: decimal, 0x hexadecimal, nan, inf, -inf
  null                the null pointer
  bytes@params.bin    a struct passed by value
  bytes@p.bin+48=&1   a struct with the address of buffer argument 1 at byte 48; buffers without a parameter come last
Element types: u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64.

Without --arg, the launch comes from \`//! cumetal: --grid 4 --arg …\` comment lines in the file, otherwise from NAME.launch.json
next to it. If there is neither, a default launch is derived from the kernel's loads and stores. The output names the source.
Launch lines can have ${launchLineOptions(options)}. Files that they or a launch file name
are in the same folder as that file, unless --allow-outside is given.

The output of \`printf\` comes first, byte for byte; with --json it is the field \`printed\`.`,
  run: async (context) => (await import('./index.ts')).run(context),
};
