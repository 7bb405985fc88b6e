/** Every command as a value. Help, `docs/cli.md` and usage errors derive from this list. */
import { bug } from '../base/bug.ts';
import { tunedTypes } from '../kernels/tuned-types.ts';
import { cc } from './cc/command.ts';
import type { Command, Option } from './command/command.ts';
import { arch, compiling, emitChoices, fp, inputOptions, json, modes, target } from './command/options.ts';
import { exec, record } from './exec/command.ts';
import { helper } from './helper/command.ts';
import { run } from './run/command.ts';

/** Options of `run` that another command shares, in the order of their names here. */
const ofRun = (...names: readonly string[]): Option[] =>
  names.map((name) => run.options.find((option) => option.name === name) ?? bug(`run has no option ${name}`));

const diff: Command = {
  name: 'diff',
  summary: 'run the same launch on several devices and compare every output buffer',
  usage: ['--launch FILE --devices A,B [options]', 'FILE|FOLDER --devices A,B [options]'],
  positionals: [0, 1],
  options: [
    ...ofRun('kernel', 'grid', 'block', 'shared', 'arg', 'constant', 'launch', 'allow-outside'),
    {
      name: 'devices',
      value: 'A,B',
      doc: 'Two or more of `cpu`, `metal`, `cuda` and `auto`. The first device is the reference. Options of the CPU device follow a colon: `cpu:lane`, `cpu:simd`, `cpu:simd:fast`, `cpu:threads=1`.',
    },
    { name: 'rtol', value: 'NUMBER', doc: 'The relative tolerance: a fraction of the reference device’s value.' },
    { name: 'atol', value: 'NUMBER', doc: 'The absolute tolerance.' },
    { name: 'ulp', value: 'COUNT', doc: 'The tolerance in units in the last place (ULP).' },
    ...ofRun('timeout', 'no-cache'),
    ...compiling,
    json,
  ],
  examples: [
    { line: 'cumetal diff --launch case/launch.json --devices cpu,cuda', does: 'compare an NVIDIA GPU with the CPU device, the reference' },
    { line: 'cumetal diff examples/saxpy.ptx --devices cpu:lane,cpu:simd', does: 'compare two engines on a file that carries its launch' },
    {
      line: 'cumetal diff saxpy.ptx --devices cpu,metal --grid 4 --block 256 --arg f32=2 --arg f32:1024=rand --arg f32:1024=ones --arg u32=1024',
      does: 'compare a launch that the command line gives',
    },
    { line: 'cumetal diff examples --devices cuda,cpu --ulp 1', does: 'compare every launch in a folder, one line each' },
  ],
  details: `Without --rtol, --atol and --ulp, the tolerance of a buffer is that of its \`expect\` in the launch file. A buffer without \`expect\`
must match bit for bit. Any NaN equals any NaN. For the first element that differs, the report shows both values, their distance
and the thread that wrote it. The CPU device finds that thread by a second run of the launch.

The launches of a folder are its launch.json and NAME.launch.json files, and its PTX files with \`//! cumetal:\` comment lines.
The exit code is 1 if devices disagree or a launch fails, and 4 if a device is not available on this machine.`,
  run: async (context) => (await import('./diff/index.ts')).diff(context, run),
};

const build: Command = {
  name: 'build',
  summary: 'compile to a file',
  usage: ['FILE… -o OUT [options]'],
  positionals: [1, Number.POSITIVE_INFINITY],
  options: [
    { name: 'output', short: 'o', value: 'OUT', doc: 'The output file; `-` is standard output.' },
    {
      name: 'emit',
      value: 'WHAT',
      choices: emitChoices,
      doc: '`metallib` (the default), `air` (one bitcode module), `air-ll` (its disassembly), `ir`, `ast`, `reflection`, `wat` (WebAssembly of the scalar compiler for the CPU device), `wat:simd` (WebAssembly of the SIMD compiler, for the block size of the file’s launch lines or 256 threads), `opencl` (OpenCL C 3.0), `msl` (Metal Shading Language of the target), `ptx` (the PTX of the file, or PTX of its kernels for `--arch`; of a metallib as well), `host` and `host:objc` (Swift and Objective-C that launch the kernels with Metal).',
    },
    arch,
    fp,
    { name: 'entry', value: 'NAME', many: true, doc: 'Compile only this entry; can be repeated.' },
    {
      name: 'print-after',
      value: 'PASS',
      many: true,
      doc: 'Print the IR to standard error after each run of this pass, or of `all`; can be repeated. An unknown name lists the passes.',
    },
    {
      name: 'jobs',
      short: 'j',
      value: 'N',
      doc: 'Compile the kernels of a metallib in N processes. The default is half of the number of cores, up to 4 and as far as there is memory, for a text of at least 512 KB, and 1 for others. The result is the same.',
    },
    ...ofRun('no-cache'),
    ...compiling,
    json,
  ],
  examples: [
    { line: 'cumetal build examples/vector_add.ptx -o vector_add.metallib', does: 'compile to a metallib' },
    { line: 'cumetal build examples/vector_add.ptx --emit air-ll -o -', does: 'print the AIR' },
    { line: 'cumetal build examples/vector_add.ptx --emit wat:simd -o -', does: 'print the WebAssembly of the CPU device' },
    { line: 'cumetal build examples/reduce.ptx --emit opencl -o -', does: 'print the kernels as OpenCL C' },
    { line: 'cumetal build kernels.metallib --emit ptx --arch sm_80 -o kernels.ptx', does: 'make a metallib run on an NVIDIA GPU' },
    { line: 'cumetal build a.out --image sm_80 -o kernels.metallib', does: 'compile the PTX inside a program' },
    { line: 'cumetal build examples/vector_add.ptx --print-after simplify -o /dev/null', does: 'show the effect of a pass' },
  ],
  run: async (context) => (await import('./build.ts')).build(context),
};

const check: Command = {
  name: 'check',
  summary: 'parse, verify and lint; writes no file',
  usage: ['FILE|FOLDER|PATTERN… [options]'],
  positionals: [1, Number.POSITIVE_INFINITY],
  options: [
    {
      name: 'format',
      value: 'FORMAT',
      choices: ['text', 'json', 'sarif', 'github'],
      doc: 'The format of the diagnostics. Every format but `text` goes to standard output.',
    },
    ...inputOptions,
    {
      ...target,
      doc: 'Also report errors specific to this target. Without `--target` and `--fp64`, only errors common to all targets are reported, which is faster.',
    },
    ...modes,
    {
      name: 'warnings',
      short: 'W',
      value: 'LEVEL',
      many: true,
      doc: 'The level of warnings: `error`, `warn` or `off`, or `CODE=LEVEL` for one of them. A warning that is an error gives exit code 1.',
    },
    { name: 'advise', doc: 'Also report the advice of `cumetal analyze`, for the launch that the file carries.' },
    { name: 'stdin-filename', value: 'NAME', doc: 'The file name of standard input (`-`) in diagnostics.' },
    { name: 'watch', doc: 'Check again whenever a file changes, until interrupted.' },
    { name: 'json', doc: 'Same as `--format json`.' },
  ],
  examples: [
    { line: 'cumetal check kernels/*.ptx', does: 'report every error of every file' },
    { line: 'cumetal check kernel.ptx --format sarif > kernel.sarif', does: 'write SARIF for code scanning' },
    { line: 'cumetal check - --stdin-filename kernel.ptx --json', does: 'check the text of an editor buffer' },
    { line: 'cumetal check kernel.ptx --watch', does: 'check again on every change' },
    { line: 'cumetal check kernels -W error -W CM2204=off', does: 'fail on every warning but one in a folder and its subfolders' },
  ],
  details: `A folder stands for its .ptx and .metallib files. A pattern has \`*\`, \`?\`, \`**\`, \`[ab]\` or \`{a,b}\`; shells expand most patterns themselves.

A comment in the PTX suppresses a warning, and must match one: \`// cumetal: allow CM2201 -- reason\` on its line or alone on the
line before, \`// cumetal: allow-file CM2201\` in the whole file.`,
  run: async (context) => (await import('./check/index.ts')).check(context),
};

const analyze: Command = {
  name: 'analyze',
  summary: 'advise on kernels before they run: memory access, bank conflicts, divergence, races',
  usage: ['FILE… [options]', 'FILE --launch LAUNCH [options]'],
  positionals: [0, Number.POSITIVE_INFINITY],
  options: [
    ...ofRun('kernel', 'grid', 'block', 'shared', 'arg', 'constant', 'launch', 'allow-outside'),
    {
      name: 'warnings',
      short: 'W',
      value: 'LEVEL',
      many: true,
      doc: 'The level of warnings, as for `cumetal check`. A warning that is an error gives exit code 1.',
    },
    ...inputOptions,
    { name: 'sarif', doc: 'Print the advice as SARIF, for code scanning.' },
    json,
  ],
  examples: [
    { line: 'cumetal analyze examples/transpose.ptx', does: 'advise on a file that carries its launch' },
    { line: 'cumetal analyze kernel.ptx --grid 64 --block 256 --arg f32:1024 --arg u32=1024', does: 'advise for a launch' },
    { line: 'cumetal analyze kernel.ptx --launch launch.json --json', does: 'print every access with its sectors and wavefronts' },
    { line: 'cumetal analyze kernels/*.ptx --sarif > advice.sarif', does: 'write SARIF for code scanning' },
  ],
  details: `Nothing is executed. A number without \`at most\` or \`about\` is that which \`cumetal run --profile\` counts for each request.
\`at most\`: requests of fewer threads may need less. \`about\`: for a launch that is not known, 32 threads that follow one another
along x. docs/advice.md lists the advice.`,
  run: async (context) => (await import('./analyze/index.ts')).analyze(context, run),
};

const link: Command = {
  name: 'link',
  summary: 'link modules of PTX to one',
  usage: ['FILE… -o OUT [options]'],
  positionals: [1, Number.POSITIVE_INFINITY],
  options: [{ name: 'output', short: 'o', value: 'OUT', doc: 'The output file; `-` is standard output.' }, ...inputOptions],
  examples: [{ line: 'cumetal link a.ptx b.ptx -o all.ptx', does: 'resolve `.extern` names of one file by the other' }],
  details: `The files are PTX, or containers and CUDA C++ as \`cumetal build\` takes them. \`build\` and \`run\` link several files as well.
Names without \`.visible\` are those of their file. Of \`.weak\` definitions one is kept, and of \`.common\` variables the largest.
The result has the highest version and target of all files. What is used and defined nowhere, or defined twice, is an error.`,
  run: async (context) => (await import('./link.ts')).link(context),
};

const inspect: Command = {
  name: 'inspect',
  summary: 'show any .metallib, ours or Apple’s, or the images of a fatbinary, cubin, object file or program',
  usage: ['FILE [options]'],
  positionals: [1, 1],
  options: [
    { name: 'disassemble', doc: 'Print the bitcode as text that `llvm-as` of LLVM 14 accepts, one module per function.' },
    { name: 'function', value: 'NAME', doc: 'Show only this function.' },
    json,
  ],
  examples: [
    { line: 'cumetal inspect vector_add.metallib', does: 'show the header, functions and kernel parameters' },
    { line: 'cumetal inspect vector_add.metallib --disassemble', does: 'print the instructions' },
    { line: 'cumetal inspect two.metallib --function first --disassemble', does: 'print one function as an LLVM module' },
    { line: 'cumetal inspect a.out', does: 'list the PTX and SASS images of a program that nvcc built' },
  ],
  run: async (context) => (await import('./inspect/index.ts')).inspect(context),
};

const validate: Command = {
  name: 'validate',
  summary: 'check the container, bitcode and AIR rules; one line per violation',
  usage: ['FILE [options]'],
  positionals: [1, 1],
  options: [json],
  examples: [{ line: 'cumetal validate vector_add.metallib', does: 'exit code 1 if any rule is broken' }],
  run: async (context) => (await import('./validate.ts')).validate(context),
};

const devices: Command = {
  name: 'devices',
  summary: 'list the devices of this machine and their limits',
  usage: ['[options]'],
  positionals: [0, 0],
  options: [json],
  examples: [{ line: 'cumetal devices', does: 'list the devices' }],
  run: async (context) => (await import('./devices.ts')).devices(context),
};

const targets: Command = {
  name: 'targets',
  summary: 'list what kernels are compiled to, and what each target can express',
  usage: ['[TARGET…] [options]'],
  positionals: [0, Number.POSITIVE_INFINITY],
  options: [json],
  examples: [
    { line: 'cumetal targets', does: 'list the targets' },
    { line: 'cumetal targets macos14 sm_80', does: 'compare two: native, by expansion, or refused' },
  ],
  run: async (context) => (await import('./targets.ts')).targets(context),
};

const doctor: Command = {
  name: 'doctor',
  summary: 'report what works on this machine and what does not, with the next step for each',
  usage: ['[options]'],
  positionals: [0, 0],
  options: [json],
  examples: [{ line: 'cumetal doctor', does: 'compile and run a kernel, and report missing dependencies' }],
  run: async (context) => (await import('./doctor.ts')).doctor(context),
};

const explain: Command = {
  name: 'explain',
  summary: 'explain a diagnostic code or a PTX instruction',
  usage: ['CODE', 'INSTRUCTION', '(without an argument: lists the codes)'],
  positionals: [0, 1],
  options: [json],
  examples: [
    { line: 'cumetal explain CM1101', does: 'explain a diagnostic' },
    { line: 'cumetal explain fma.rn.f32', does: 'explain one form of an instruction' },
  ],
  run: async (context) => (await import('./explain/index.ts')).explain(context),
};

const cache: Command = {
  name: 'cache',
  summary: 'show the path of the compile cache, list it or clear it',
  usage: ['path|list|clear [options]'],
  positionals: [1, 1],
  options: [json],
  examples: [
    { line: 'cumetal cache path', does: 'print the folder of the cache' },
    { line: 'cumetal cache list', does: 'list its entries: key, size, time of last use' },
    { line: 'cumetal cache clear', does: 'remove every entry' },
  ],
  details: `\`cumetal build\`, \`run\` and \`diff\` cache the metallibs that they compile from PTX without findings, and \`run\` the code of kernels on the CPU device. The key is the SHA-256 of the text, its path, the options and the
build of the compiler. Above 256 MiB, the least recently used entries are removed. CUMETAL_CACHE_PATH sets the folder,
CUMETAL_CACHE_MAXSIZE the limit in bytes. CUMETAL_CACHE_DISABLE=1 or \`--no-cache\` disables the cache.`,
  run: async (context) => (await import('./cache.ts')).cache(context),
};

const toolkit: Command = {
  name: 'toolkit',
  summary: 'write a folder like that of a CUDA toolkit, for build scripts and CMake',
  usage: ['FOLDER'],
  positionals: [1, 1],
  options: [],
  examples: [{ line: 'cumetal toolkit ~/cuda', does: 'write it; PATH=~/cuda/bin:$PATH makes scripts that call nvcc compile with cumetal' }],
  details: `The folder has bin/nvcc, which is \`cumetal cc\`; bin/cumetal-c++ and bin/cumetal-cc, which take the words of a C++ compiler and ignore
unknown ones; the CUDA headers; archives that stand for the libraries of CUDA, so that find_package(CUDAToolkit) and -lcudart find
them; and cumetal.cmake, a toolchain file for projects with the languages CUDA, CXX and C:
  cmake -B build -DCMAKE_TOOLCHAIN_FILE=~/cuda/cumetal.cmake
CUDA_HOME and CUDA_PATH may name it. A folder that this command wrote is written again.`,
  run: async (context) => (await import('./toolkit/index.ts')).toolkit(context),
};

const bench: Command = {
  name: 'bench',
  summary: 'measure compile and launch times',
  usage: ['[options]', 'FILE [options]', '--launch launch.json [options]'],
  positionals: [0, 1],
  options: [
    ...ofRun('kernel', 'grid', 'block', 'shared', 'arg', 'constant', 'launch', 'allow-outside'),
    ...ofRun('device', 'engine', 'fma', 'denormals', 'threads', 'repeat', 'timeout'),
    ...compiling,
    json,
  ],
  examples: [
    { line: 'cumetal bench', does: 'measure launch latency, memory bandwidth and arithmetic throughput of the device' },
    { line: 'cumetal bench examples/mandelbrot.ptx', does: 'measure compiling, loading and launching this file' },
    { line: 'cumetal bench examples/mandelbrot.ptx --engine lane --json', does: 'measure the scalar path of the CPU device' },
  ],
  run: async (context) => (await import('./bench/index.ts')).bench(context, run),
};

const tune: Command = {
  name: 'tune',
  summary: 'measure the kernels of `cumetal/kernels` on a device, and have launches use the fastest',
  usage: ['[options]'],
  positionals: [0, 0],
  options: [
    ...ofRun('device'),
    {
      name: 'size',
      value: 'N',
      doc: 'Measure products of N by N by N. The default is 4096 on an NVIDIA GPU and 256 on other devices.',
    },
    { name: 'runs', value: 'N', doc: 'Run each kernel N times; the fastest run counts. The default is 5.' },
    {
      name: 'type',
      value: 'TYPE',
      many: true,
      choices: tunedTypes,
      doc: 'Measure kernels for this type of elements; can be repeated. The default is all of them.',
    },
    {
      name: 'output',
      short: 'o',
      value: 'FILE',
      doc: 'The file of the table; `-` is standard output. The default is the file that programs read.',
    },
    json,
  ],
  examples: [
    { line: 'cumetal tune', does: 'measure the GPU of a Mac, otherwise the CPU device' },
    { line: 'cumetal tune --device cuda', does: 'measure an NVIDIA GPU' },
    { line: 'cumetal tune --device cpu --size 128 -o -', does: 'print a table' },
  ],
  details: `Several kernels of \`cumetal/kernels\` have the same result, and a launch of \`gemm\` runs one of them by a table of their speeds. Programs read the
tables of all measured devices from one file: tuning.json in ~/.config/cumetal, in ~/Library/Application Support/cumetal on a Mac, or
in %APPDATA%\\cumetal on Windows. CUMETAL_TUNING names another file, and CUMETAL_TUNING=0 none.`,
  run: async (context) => (await import('./tune.ts')).tune(context),
};

const lsp: Command = {
  name: 'lsp',
  summary: 'serve editors: diagnostics as you type, hover, go to definition, rename',
  usage: ['[options]'],
  positionals: [0, 0],
  options: [
    { name: 'stdio', doc: 'Speak over standard input and output, which is the only way and needs no option; clients pass it.' },
    { ...target, doc: 'The target whose costs are shown behind instructions.' },
  ],
  examples: [{ line: 'cumetal lsp --stdio', does: 'start the server; an editor does this' }],
  details: `The protocol is the Language Server Protocol 3.17. docs/editors.md has the settings for common editors.`,
  run: async (context) => (await import('./lsp/index.ts')).lsp(context),
};

const completions: Command = {
  name: 'completions',
  summary: 'print a script that completes commands and options in a shell',
  usage: ['bash|zsh|fish'],
  positionals: [1, 1],
  options: [],
  examples: [
    { line: 'cumetal completions bash', does: 'print the script for bash, which `source <(cumetal completions bash)` in ~/.bashrc loads' },
    { line: 'cumetal completions zsh', does: 'print the script for zsh, to be loaded in the same way after `compinit`' },
    { line: 'cumetal completions fish', does: 'print the script for fish, a file of ~/.config/fish/completions' },
  ],
  run: async (context) => (await import('./completions.ts')).completions(context, commands),
};

export const commands: readonly Command[] = [
  run,
  cc,
  toolkit,
  exec,
  record,
  build,
  check,
  analyze,
  link,
  inspect,
  validate,
  devices,
  targets,
  doctor,
  explain,
  diff,
  bench,
  tune,
  cache,
  helper,
  lsp,
  completions,
];
