/** Every command, one value each; help, `docs/cli.md` and the messages for wrong words derive from this list. */
import type { Command, Option } from './command.ts';

const json: Option = { name: 'json', doc: 'Print one JSON object instead of text.' };

/** Spelled here and not read from the compiler, which would load it for every `--help`; a spec holds the lists equal. */
export const targetChoices = ['macos13', 'macos14', 'macos15', 'macos26', 'ios17', 'ios18', 'cpu'];
export const fp64Choices = ['soft', 'warn', 'emulate', 'native'];
export const mmaChoices = ['exact', 'fast'];
/** Devices of `roofline.ts`. */
export const rooflineChoices = [
  'm1',
  'm1-pro',
  'm1-max',
  'm1-ultra',
  'm2',
  'm2-pro',
  'm2-max',
  'm2-ultra',
  'm3',
  'm4',
  'm4-pro',
  'm4-max',
  'h200',
];
export const emitChoices = ['metallib', 'air', 'air-ll', 'ir', 'ast', 'reflection'];

const target: Option = {
  name: 'target',
  value: 'TARGET',
  choices: targetChoices,
  doc: 'What to compile for: `macos14` (the default), `macos15` or `macos26`, which have fences of memory as well, `macos13`, which has no bfloat, `ios17` or `ios18`, the same as `macos14` and `macos15` for iPhones and iPads, or `cpu`, AIR with a few additions that only the CPU device runs.',
};

const image: Option = {
  name: 'image',
  value: 'N|sm_XX',
  doc: 'Of a fatbinary, cubin, object or program: the PTX image to take, by number or architecture; else that for the highest.',
};

const fp64: Option = {
  name: 'fp64',
  value: 'MODE',
  choices: fp64Choices,
  doc: 'How f64 is compiled for Apple GPUs, which have none: `soft` (the default) computes it exactly with integers, `warn` too and says where, `emulate` computes with pairs of floats, to 44 bits and more and up to seven times as fast, `native` keeps double operations, which no known Apple GPU loads.',
};

const mma: Option = {
  name: 'mma',
  value: 'MODE',
  choices: mmaChoices,
  doc: 'How products of matrices by warps are compiled: `exact` (the default) by each thread for itself, `fast` those of floats by `simdgroup_matrix`, for GPUs from Apple7 (M1) on, within the same bound; see docs/matrix.md.',
};

const ptxStrict: Option = {
  name: 'ptx-strict',
  doc: 'Make errors of what NVIDIA’s assembler refuses and this compiler only warns of: versions, targets, unknown pragmas.',
};

const noCache: Option = {
  name: 'no-cache',
  doc: 'Compile, whether or not the file has been compiled before; `cumetal cache --help` says more.',
};

const run: Command = {
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
    noCache,
    image,
    target,
    fp64,
    mma,
    ptxStrict,
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
  run: async (context) => (await import('./run.ts')).run(context),
};

const diff: Command = {
  name: 'diff',
  summary: 'run the same launch on several devices and compare every output buffer',
  usage: ['--launch FILE --devices A,B [options]', 'FILE|FOLDER --devices A,B [options]'],
  positionals: [0, 1],
  options: [
    { name: 'launch', value: 'FILE', doc: 'The launch as a file; a FILE beside it replaces the module that it names.' },
    {
      name: 'devices',
      value: 'A,B',
      doc: 'Two or more of `cpu`, `metal`, `cuda` and `auto`; the first is what the others are held against. Options of the CPU device follow a colon: `cpu:lane`, `cpu:simd`, `cpu:simd:fast`, `cpu:threads=1`.',
    },
    { name: 'rtol', value: 'NUMBER', doc: 'How far apart values may be, as a part of the first device’s.' },
    { name: 'atol', value: 'NUMBER', doc: 'How far apart values may be.' },
    { name: 'ulp', value: 'COUNT', doc: 'How many representable values apart they may be.' },
    { name: 'timeout', value: 'SECONDS', doc: 'Stop a kernel that runs longer.' },
    noCache,
    image,
    target,
    fp64,
    mma,
    ptxStrict,
    json,
  ],
  examples: [
    { line: 'cumetal diff --launch case/launch.json --devices cpu,cuda', does: 'hold the CPU device against an NVIDIA GPU' },
    { line: 'cumetal diff examples/saxpy.ptx --devices cpu:lane,cpu:simd', does: 'a file that says how it is launched' },
    { line: 'cumetal diff examples --devices cuda,cpu --ulp 1', does: 'every launch in a folder, a line each' },
  ],
  details: `Without --rtol, --atol and --ulp a buffer has the tolerance that the launch file expects it with, and where nothing is expected
of it all bits have to be the same; any NaN equals any NaN. Of the first element that differs, the values, their distance and the
thread that wrote it are told, which the CPU device finds by running the launch once more.

In a folder, launches are launch.json and NAME.launch.json files, and PTX files with comment lines \`//! cumetal:\`.
Exit code 1 where devices disagree or a launch fails, 4 where a device is not on this machine.`,
  run: async (context) => (await import('./diff.ts')).diff(context, run),
};

const build: Command = {
  name: 'build',
  summary: 'compile to a file',
  usage: ['FILE -o OUT [options]'],
  positionals: [1, 1],
  options: [
    { name: 'output', short: 'o', value: 'OUT', doc: 'The file to write; `-` is standard output.' },
    {
      name: 'emit',
      value: 'WHAT',
      choices: emitChoices,
      doc: '`metallib` (the default), `air` (one bitcode module), `air-ll` (its disassembly), `ir`, `ast`, `reflection`.',
    },
    { name: 'entry', value: 'NAME', many: true, doc: 'Only this entry; may be given more than once.' },
    image,
    target,
    fp64,
    mma,
    ptxStrict,
    json,
  ],
  examples: [
    { line: 'cumetal build examples/vector_add.ptx -o vector_add.metallib', does: 'compile to a metallib' },
    { line: 'cumetal build examples/vector_add.ptx --emit air-ll -o -', does: 'look at the AIR' },
    { line: 'cumetal build a.out --image sm_80 -o kernels.metallib', does: 'compile the PTX in a program' },
  ],
  run: async (context) => (await import('./build.ts')).build(context),
};

const check: Command = {
  name: 'check',
  summary: 'parse, verify and lint; writes no file',
  usage: ['FILE… [options]'],
  positionals: [1, Number.POSITIVE_INFINITY],
  options: [
    {
      name: 'format',
      value: 'FORMAT',
      choices: ['text', 'json', 'sarif', 'github'],
      doc: 'How diagnostics are written; all but `text` go to standard output.',
    },
    image,
    {
      ...target,
      doc: 'Also report what keeps it from being compiled for this target. Without it, or `--fp64`, the faults are those that no target takes, and the answer comes sooner.',
    },
    fp64,
    mma,
    ptxStrict,
    { name: 'stdin-filename', value: 'NAME', doc: 'What to call the text of `-` in messages.' },
    { name: 'watch', doc: 'Check again whenever a file changes, until interrupted.' },
    { name: 'json', doc: 'The same as `--format json`.' },
  ],
  examples: [
    { line: 'cumetal check kernels/*.ptx', does: 'report every fault of every file' },
    { line: 'cumetal check kernel.ptx --format sarif > kernel.sarif', does: 'for code scanning' },
    { line: 'cumetal check - --stdin-filename kernel.ptx --json', does: 'for an editor, which hands over what was typed' },
    { line: 'cumetal check kernel.ptx --watch', does: 'while writing a kernel' },
  ],
  run: async (context) => (await import('./check.ts')).check(context),
};

const inspect: Command = {
  name: 'inspect',
  summary: 'show any .metallib, ours or Apple’s, or the images of a fatbinary, cubin, object or program',
  usage: ['FILE [options]'],
  positionals: [1, 1],
  options: [
    { name: 'disassemble', doc: 'Print the bitcode as text that `llvm-as` of LLVM 14 takes, one module for each function.' },
    { name: 'function', value: 'NAME', doc: 'Show this function alone.' },
    json,
  ],
  examples: [
    { line: 'cumetal inspect vector_add.metallib', does: 'header, functions and kernel parameters' },
    { line: 'cumetal inspect vector_add.metallib --disassemble', does: 'the instructions' },
    { line: 'cumetal inspect two.metallib --function first --disassemble', does: 'those of one function, as a module of LLVM' },
    { line: 'cumetal inspect a.out', does: 'the PTX and SASS in a program that nvcc built' },
  ],
  run: async (context) => (await import('./inspect.ts')).inspect(context),
};

const validate: Command = {
  name: 'validate',
  summary: 'check container, bitcode and AIR rules; a line per violation',
  usage: ['FILE [options]'],
  positionals: [1, 1],
  options: [json],
  examples: [{ line: 'cumetal validate vector_add.metallib', does: 'exit code 1 if any rule is broken' }],
  run: async (context) => (await import('./validate.ts')).validate(context),
};

const devices: Command = {
  name: 'devices',
  summary: 'the devices this machine offers, with limits',
  usage: ['[options]'],
  positionals: [0, 0],
  options: [json],
  examples: [{ line: 'cumetal devices', does: 'list them' }],
  run: async (context) => (await import('./devices.ts')).devices(context),
};

const doctor: Command = {
  name: 'doctor',
  summary: 'what works on this machine and what does not, with the next step for each',
  usage: ['[options]'],
  positionals: [0, 0],
  options: [json],
  examples: [{ line: 'cumetal doctor', does: 'compile and run a kernel, and look for what is missing' }],
  run: async (context) => (await import('./doctor.ts')).doctor(context),
};

const explain: Command = {
  name: 'explain',
  summary: 'the longer words behind a diagnostic code or a PTX instruction',
  usage: ['CODE', 'INSTRUCTION', '(nothing: lists the codes)'],
  positionals: [0, 1],
  options: [json],
  examples: [
    { line: 'cumetal explain CM1101', does: 'a diagnostic' },
    { line: 'cumetal explain fma.rn.f32', does: 'a form of an instruction' },
  ],
  run: async (context) => (await import('./explain.ts')).explain(context),
};

const cache: Command = {
  name: 'cache',
  summary: 'path, list and clear of the compile cache',
  usage: ['path|list|clear [options]'],
  positionals: [1, 1],
  options: [json],
  examples: [
    { line: 'cumetal cache path', does: 'where it is' },
    { line: 'cumetal cache list', does: 'what is in it: key, size, when it was last used' },
    { line: 'cumetal cache clear', does: 'empty it' },
  ],
  details: `\`cumetal run\` keeps what it compiles from PTX, by the SHA-256 of the text, its path, the options and the build of the compiler; what was
used longest ago goes when there is more than 256 MiB. CUMETAL_CACHE_PATH is another folder, CUMETAL_CACHE_MAXSIZE another size
in bytes, and CUMETAL_CACHE_DISABLE=1 or \`run --no-cache\` does without.`,
  run: async (context) => (await import('./cache.ts')).cache(context),
};

/** Words of `run` that describe a launch or how it is compiled. */
const launchWordNames = [
  'kernel',
  'grid',
  'block',
  'shared',
  'arg',
  'constant',
  'launch',
  'engine',
  'fma',
  'denormals',
  'threads',
  'repeat',
  'timeout',
];

const bench: Command = {
  name: 'bench',
  summary: 'time compile and launch',
  usage: ['[options]', 'FILE [options]', '--launch launch.json [options]'],
  positionals: [0, 1],
  options: [
    ...run.options.filter(({ name }) => name === 'device' || launchWordNames.includes(name)),
    image,
    target,
    fp64,
    mma,
    ptxStrict,
    json,
  ],
  examples: [
    { line: 'cumetal bench', does: 'what this machine’s device can do: a launch, memory, arithmetic' },
    { line: 'cumetal bench examples/mandelbrot.ptx', does: 'compile, load and launch that file, as `run` would' },
    { line: 'cumetal bench examples/mandelbrot.ptx --engine lane --json', does: 'on the CPU device one thread after the other' },
  ],
  run: async (context) => (await import('./bench.ts')).bench(context, run),
};

export const commands: readonly Command[] = [run, build, check, inspect, validate, devices, doctor, explain, diff, bench, cache];
