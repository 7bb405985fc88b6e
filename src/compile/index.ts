/**
 * The pipeline: PTX text in, metallib and reflection out, every stage in between printable. Knows which room follows which and
 * nothing of what they do; knows no files and no devices. Start at `pipeline.ts`.
 */
export type { Reflection } from '../air/abi.ts';
export { judge } from './judge.ts';
export { type Compiled, type CompileOptions, type Emit, emits, type Fp64Mode, fp64Modes, type MmaMode, mmaModes } from './options.ts';
export { passNames } from './passes.ts';
export { compile, emit, reflect, verifies } from './pipeline.ts';
