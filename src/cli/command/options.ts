/** Options that several commands take, and the choices of options that stand for types of the compiler. */
import type { Option } from './command.ts';

export const json: Option = { name: 'json', doc: 'Print one JSON object instead of text.' };

/** Spelled here and not read from the compiler, which would load it for every `--help`; a spec holds the lists equal. */
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
export const emitChoices = ['metallib', 'air', 'air-ll', 'ir', 'ast', 'reflection'];

export const target: Option = {
  name: 'target',
  value: 'TARGET',
  choices: targetChoices,
  doc: 'What to compile for: `macos14` (the default), `macos15` or `macos26`, which have fences of memory as well, `macos13`, which has no bfloat, `ios17` or `ios18`, the same as `macos14` and `macos15` for iPhones and iPads, or `cpu`, AIR with a few additions that only the CPU device runs.',
};

export const image: Option = {
  name: 'image',
  value: 'N|sm_XX',
  doc: 'Of a fatbinary, cubin, object or program: the PTX image to take, by number or architecture; else that for the highest.',
};

export const fp64: Option = {
  name: 'fp64',
  value: 'MODE',
  choices: fp64Choices,
  doc: 'How f64 is compiled for Apple GPUs, which have none: `soft` (the default) computes it exactly with integers, `warn` too and says where, `emulate` computes with pairs of floats, to 44 bits and more and up to seven times as fast, `native` keeps double operations, which no known Apple GPU loads.',
};

export const mma: Option = {
  name: 'mma',
  value: 'MODE',
  choices: mmaChoices,
  doc: 'How products of matrices by warps are compiled: `exact` (the default) by each thread for itself, `fast` those of floats by `simdgroup_matrix`, for GPUs from Apple7 (M1) on, within the same bound; see docs/matrix.md.',
};

export const ptxStrict: Option = {
  name: 'ptx-strict',
  doc: 'Make errors of what NVIDIA’s assembler refuses and this compiler only warns of: versions, targets, unknown pragmas.',
};

/** How PTX is compiled. */
export const compiling: readonly Option[] = [image, target, fp64, mma, ptxStrict];
