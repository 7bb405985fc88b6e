/** Options shared by several commands, and the choices that mirror types of the compiler. */
import type { Option } from './command.ts';

export const json: Option = { name: 'json', doc: 'Print one JSON object instead of text.' };

/** The option of `run`, whose previews of buffers are short. */
export const jsonFull: Option = {
  name: 'json',
  value: 'full',
  isBare: true,
  choices: ['full'],
  doc: 'Print one JSON object instead of text. `truncated` says that `data` has only the first elements of a buffer; `--json=full` has all. schemas/run.schema.json describes it.',
};

/** Copies of the compiler's lists, so that `--help` does not load the compiler; a spec keeps the lists equal. */
export const targetChoices = ['macos13', 'macos14', 'macos15', 'macos26', 'ios17', 'ios18', 'cpu'];
export const fp64Choices = ['soft', 'warn', 'emulate', 'native'];
export const mmaChoices = ['exact', 'fast'];
/** Devices of `run/roofline.ts`. */
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
/** The stages of the pipeline, the modules of the CPU device and the texts of other languages, which the pipeline does not make, and the PTX. */
export const emitChoices = [
  'metallib',
  'air',
  'air-ll',
  'ir',
  'ast',
  'reflection',
  'wat',
  'wat:simd',
  'opencl',
  'msl',
  'wgsl',
  'ptx',
  'host',
  'host:objc',
];

export const fp: Option = {
  name: 'fp',
  value: 'HOW',
  choices: ['exact', 'fast'],
  doc: 'For `--emit wgsl`: `exact` (the default) takes no operation on floats for exact that WGSL does not promise to be, `fast` uses the language as it is.',
};

/** The architectures of `--emit ptx`. */
export const archChoices = [
  'sm_50',
  'sm_52',
  'sm_53',
  'sm_60',
  'sm_61',
  'sm_62',
  'sm_70',
  'sm_72',
  'sm_75',
  'sm_80',
  'sm_86',
  'sm_87',
  'sm_89',
  'sm_90',
  'sm_90a',
];

export const arch: Option = {
  name: 'arch',
  value: 'sm_XX',
  choices: archChoices,
  doc: 'For `--emit ptx`: the architecture for which the kernels are written as PTX anew, from the IR. Without it PTX stays as it is in the file, and a metallib is written for `sm_75`.',
};

export const target: Option = {
  name: 'target',
  value: 'TARGET',
  choices: targetChoices,
  doc: 'The compilation target. The default is the running system on a Mac, and `macos15` elsewhere. `macos13` and `macos14` have no memory fences, and `macos13` has no bfloat. `ios17` and `ios18` are `macos14` and `macos15` for iPhones and iPads. `cpu` is AIR with a few additions that only the CPU device runs.',
};

export const image: Option = {
  name: 'image',
  value: 'N|sm_XX',
  doc: 'The PTX image of a fatbinary, cubin, object file or program, by number or architecture. The default is the image for the highest architecture.',
};

/** The compilers of `.cu` files. */
const cudaCompilers = ['nvcc', 'clang', 'wasm'];

/** What a `.cu` file is compiled with. */
const cuda: readonly Option[] = [
  {
    name: 'compiler',
    value: 'NAME',
    choices: cudaCompilers,
    doc: 'The compiler of a `.cu` file: `nvcc` or a `clang` with the NVPTX target from the PATH, or `wasm`, the clang of the npm package `@yowasp/clang` with our own CUDA headers. The default is the first of them that is there. A whole program is compiled by `wasm`, or by a `clang` 22 that has the WebAssembly target too.',
  },
  { name: 'include', short: 'I', value: 'FOLDER', many: true, doc: 'A folder of headers for a `.cu` file.' },
  { name: 'define', short: 'D', value: 'NAME[=VALUE]', many: true, doc: 'A macro for a `.cu` file.' },
  { name: 'std', isCompilerWord: true, value: 'STANDARD', doc: 'The language standard of a `.cu` file, such as `c++20`.' },
];

export const fp64: Option = {
  name: 'fp64',
  value: 'MODE',
  choices: fp64Choices,
  doc: 'Compilation of f64 for Apple GPUs, which have no double precision. `soft` (the default) computes the exact result with integers. `warn` does the same and reports each place. `emulate` uses pairs of floats: at least 44 bits of precision, up to seven times as fast. `native` emits double-precision instructions, which no known Apple GPU loads.',
};

export const mma: Option = {
  name: 'mma',
  value: 'MODE',
  choices: mmaChoices,
  doc: 'Compilation of warp-level matrix products. `exact` (the default) computes each element in its own thread. `fast` uses `simdgroup_matrix` for floating-point products, within the same error bound; it requires an Apple7 (M1) GPU or later. See docs/matrix.md.',
};

/** As `fallbacks` of the compiler. */
export const fallbackChoices = ['clock', 'fp64', 'mma', 'all'];

export const allowFallback: Option = {
  name: 'allow-fallback',
  value: 'NAME',
  many: true,
  choices: fallbackChoices,
  doc: 'Compile what the target cannot express exactly in another way. `clock`: on targets without a clock, one that counts its readings in each thread, so that nothing is measured. `fp64`: as `--fp64 emulate`. `mma`: as `--mma fast`. `all`: all of these.',
};

export const ptxStrict: Option = {
  name: 'ptx-strict',
  doc: 'Report as errors what NVIDIA’s assembler rejects and this compiler only warns about: versions, targets, unknown pragmas.',
};

/** Options of the file that a command reads. */
export const inputOptions: readonly Option[] = [image, ...cuda];

/** How a file is compiled for a target. */
export const modes: readonly Option[] = [fp64, mma, allowFallback, ptxStrict];
export const modeNames: readonly string[] = modes.map(({ name }) => name);

/** The compile options. */
export const compiling: readonly Option[] = [...inputOptions, target, ...modes];
