/** Every command, one value each; help, `docs/cli.md` and the messages for wrong words derive from this list. */
import { bug } from '../base/bug.ts';
import type { Command, Option } from './command/command.ts';
import { compiling, emitChoices, fp64, image, json, mma, ptxStrict, target } from './command/options.ts';
import { run } from './run/command.ts';

/** Options of `run` that another command takes as well, in the order in which they are named. */
const ofRun = (...names: readonly string[]): Option[] =>
  names.map((name) => run.options.find((option) => option.name === name) ?? bug(`run has no option ${name}`));

const diff: Command = {
  name: 'diff',
  summary: 'run the same launch on several devices and compare every output buffer',
  usage: ['--launch FILE --devices A,B [options]', 'FILE|FOLDER --devices A,B [options]'],
  positionals: [0, 1],
  options: [
    ...ofRun('launch'),
    {
      name: 'devices',
      value: 'A,B',
      doc: 'Two or more of `cpu`, `metal`, `cuda` and `auto`; the first is what the others are held against. Options of the CPU device follow a colon: `cpu:lane`, `cpu:simd`, `cpu:simd:fast`, `cpu:threads=1`.',
    },
    { name: 'rtol', value: 'NUMBER', doc: 'How far apart values may be, as a part of the first device’s.' },
    { name: 'atol', value: 'NUMBER', doc: 'How far apart values may be.' },
    { name: 'ulp', value: 'COUNT', doc: 'How many representable values apart they may be.' },
    ...ofRun('timeout', 'no-cache'),
    ...compiling,
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
  run: async (context) => (await import('./diff/index.ts')).diff(context, run),
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
    {
      name: 'print-after',
      value: 'PASS',
      many: true,
      doc: 'Print the IR on standard error after each run of this pass, or of `all`; may be given more than once. An unknown name lists the passes.',
    },
    ...compiling,
    json,
  ],
  examples: [
    { line: 'cumetal build examples/vector_add.ptx -o vector_add.metallib', does: 'compile to a metallib' },
    { line: 'cumetal build examples/vector_add.ptx --emit air-ll -o -', does: 'look at the AIR' },
    { line: 'cumetal build a.out --image sm_80 -o kernels.metallib', does: 'compile the PTX in a program' },
    { line: 'cumetal build examples/vector_add.ptx --print-after simplify -o /dev/null', does: 'follow what a pass does' },
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
  run: async (context) => (await import('./check/index.ts')).check(context),
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
  run: async (context) => (await import('./inspect/index.ts')).inspect(context),
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
  run: async (context) => (await import('./explain/index.ts')).explain(context),
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

const bench: Command = {
  name: 'bench',
  summary: 'time compile and launch',
  usage: ['[options]', 'FILE [options]', '--launch launch.json [options]'],
  positionals: [0, 1],
  options: [
    ...ofRun('kernel', 'grid', 'block', 'shared', 'arg', 'constant', 'launch'),
    ...ofRun('device', 'engine', 'fma', 'denormals', 'threads', 'repeat', 'timeout'),
    ...compiling,
    json,
  ],
  examples: [
    { line: 'cumetal bench', does: 'what this machine’s device can do: a launch, memory, arithmetic' },
    { line: 'cumetal bench examples/mandelbrot.ptx', does: 'compile, load and launch that file, as `run` would' },
    { line: 'cumetal bench examples/mandelbrot.ptx --engine lane --json', does: 'on the CPU device one thread after the other' },
  ],
  run: async (context) => (await import('./bench/index.ts')).bench(context, run),
};

export const commands: readonly Command[] = [run, build, check, inspect, validate, devices, doctor, explain, diff, bench, cache];
