/** `cumetal run`: its words. Those of comment lines in files, and of `diff` and `bench`, are among them. */
import type { Command } from '../command/command.ts';
import { compiling, json, rooflineChoices } from '../command/options.ts';

export const run: Command = {
  name: 'run',
  summary: 'compile (if needed) and launch one kernel, print or save buffers, check expectations',
  usage: ['FILE [options]', '--launch launch.json [options]'],
  positionals: [0, 1],
  options: [
    { name: 'kernel', value: 'NAME', doc: 'The kernel; not needed where the file has one only.' },
    { name: 'grid', value: 'X[,Y[,Z]]', doc: 'Blocks in the grid.' },
    { name: 'block', value: 'X[,Y[,Z]]', doc: 'Threads in a block.' },
    {
      name: 'shared',
      value: 'BYTES[,BYTES]',
      doc: 'Dynamic shared memory; of each threadgroup argument, where a kernel of others has several.',
    },
    { name: 'arg', value: 'SPEC', many: true, doc: 'An argument, once per kernel parameter, in order; see below.' },
    {
      name: 'constant',
      value: 'NAME=VALUE',
      many: true,
      doc: 'The value of a function constant of a metallib, by its name or number: `true`, `4`, `0.5`, `1,2,3`; `inspect` lists them.',
    },
    { name: 'launch', value: 'FILE', doc: 'The launch as a file; a FILE beside it replaces the module that it names.' },
    { name: 'print', value: 'I[:COUNT]', many: true, doc: 'Print buffer I, or its first COUNT elements. Arguments count from 0.' },
    { name: 'out', value: 'I=FILE', many: true, doc: 'Save buffer I: `.npy`, `.pgm` (a grey picture), else raw little-endian bytes.' },
    {
      name: 'check',
      value: 'I=FILE[:rtol[:atol]]',
      many: true,
      doc: 'Compare buffer I with a `.npy` or raw file; without tolerances, bit by bit.',
    },
    {
      name: 'record',
      doc: 'Write the files that the launch file expects its buffers to equal, in place of comparing with them; `--device` says by whom.',
    },
    {
      name: 'device',
      value: 'DEVICE',
      choices: ['auto', 'metal', 'cpu', 'cuda'],
      doc: '`auto` (the default) takes Metal where it is, else the CPU.',
    },
    {
      name: 'engine',
      value: 'ENGINE',
      choices: ['auto', 'lane', 'simd'],
      doc: 'How the CPU device runs threads: `lane` one after the other, `simd` in strips of vectors; `auto` (the default) in strips where blocks are of a warp or more.',
    },
    {
      name: 'fma',
      value: 'MODE',
      choices: ['exact', 'fast'],
      doc: 'How strips of the CPU device fuse products and sums of singles: `exact` (the default) with one rounding, `fast` with two where the machine has no better, so that last bits differ.',
    },
    {
      name: 'denormals',
      value: 'MODE',
      choices: ['keep', 'flush'],
      doc: 'What the CPU device does with subnormal singles: `keep` (the default) computes with them, as NVIDIA GPUs do; `flush` takes them for zeros, as Apple GPUs do, one thread at a time.',
    },
    {
      name: 'threads',
      value: 'N',
      doc: 'Threads of the CPU device that run the blocks of a launch which is worth it; as many as there are cores (the default), or 1 for none but the first.',
    },
    { name: 'repeat', value: 'N', doc: 'Launch N times, each from the same buffers; the time shown is the median.' },
    { name: 'timeout', value: 'SECONDS', doc: 'Stop a kernel that runs longer.' },
    { name: 'no-cache', doc: 'Compile, whether or not the file has been compiled before; `cumetal cache --help` says more.' },
    ...compiling,
    {
      name: 'schedule',
      value: 'ORDER',
      doc: 'Take blocks, warps and threads one after the other on the CPU device: `in-order`, `reverse` or `rand:SEED`, the same for the same seed. A result that depends on it shows a race.',
    },
    {
      name: 'profile',
      value: 'FILE',
      isBare: true,
      doc: 'Count what warps do while the kernel runs on the CPU device: executions and divergence by line, sectors of global memory, bank conflicts, floating-point operations; a table, or with FILE a page (`.html`) or JSON (`.json`). Compiles for `cpu` where nothing else is said. See docs/profiler.md.',
    },
    { name: 'roofline', value: 'DEVICE', choices: rooflineChoices, doc: 'The device of the profile’s roofline; `m1` is the default.' },
    {
      name: 'trace-thread',
      value: 'B,T',
      doc: 'Show what thread T of block B executes on the CPU device, with values, on standard error; both by number or as `x.y.z`. Compiles for `cpu` where nothing else is said.',
    },
    { name: 'trace-limit', value: 'N', doc: 'Instructions of a trace that are shown (5000); the rest are counted.' },
    { name: 'trace-out', value: 'FILE', doc: 'The file for the trace instead; JSON where it is called `.json`.' },
    {
      name: 'sanitize',
      value: 'KINDS',
      isBare: true,
      doc: 'Look for faults while the kernel runs on the CPU device: `memory` (accesses out of bounds, misaligned, after free), `race`, `init` (reads of what nothing has written), `sync` (barriers and masks that threads do not come to, deadlock), with commas between; all of them where nothing is said.',
    },
    json,
  ],
  examples: [
    { line: 'cumetal run examples/vector_add.ptx', does: 'launch as the comment lines of the file say' },
    {
      line: 'cumetal run saxpy.ptx --grid 4 --block 256 --arg f32=2 --arg f32:1024=iota --arg f32:1024=ones --print 2:8',
      does: 'say everything',
    },
    { line: 'cumetal run saxpy.ptx --sanitize', does: 'look for accesses out of bounds, races and the like; exit code 1 where there are' },
    { line: 'cumetal run saxpy.ptx --profile=saxpy.html --roofline m2', does: 'a page with what each line costs' },
    { line: 'cumetal run saxpy.ptx --trace-thread 0,5', does: 'what thread 5 of block 0 does, line by line' },
    { line: 'cumetal run saxpy.ptx --schedule rand:7', does: 'take blocks and threads in an order by seed, so that races show' },
    { line: 'cumetal run --launch case/launch.json --json', does: 'launch from a file and check what it expects' },
    { line: 'cumetal run --launch case/launch.json --device cuda --record', does: 'write the files that it expects, from an NVIDIA GPU' },
    { line: 'cumetal run kernel.metallib --arg f32@in.npy --arg f32:64x64 --out 1=result.npy', does: 'buffers from and to numpy' },
  ],
  details: `Arguments:
  f32:1024            a buffer of 1024 zeros; f32:32x32 has two dimensions
  f32:1024=iota       initialised: zeros, ones, iota (0 1 2 …), fill(2.5), rand, rand(7); rand is rand(0)
  f32@a.npy           a buffer from a .npy file, which must hold that type, or from a raw file
  i32=1024            a scalar: decimal, 0x hexadecimal, nan, inf, -inf
  bytes@params.bin    a struct by value
Element types: u8 i8 u16 i16 f16 bf16 u32 i32 f32 u64 i64 f64.

Without --arg, the launch comes from comment lines \`//! cumetal: --grid 4 --arg …\` in the file, else from NAME.launch.json
beside it, else it is made up from the kernel's own loads and stores; the output says which.

What the kernel prints (\`printf\`) comes first, byte for byte; with --json it is the field \`printed\`.`,
  run: async (context) => (await import('./index.ts')).run(context),
};
