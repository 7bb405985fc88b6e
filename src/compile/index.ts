/**
 * The pipeline: PTX text in, metallib and reflection out, every stage in between printable. It connects the rooms; files and devices
 * are not its business. Start at `pipeline.ts`.
 */
export type { Reflection } from '../air/abi.ts';
export { checkSource, type Parsed, parseAndCheck } from './check-source.ts';
export { type CompiledShare, compiledOfShares, compileShare } from './compile-share.ts';
export { metallibOfBitcode, metallibOfModules } from './from-air.ts';
export { initialValues } from './initial-values.ts';
export {
  type Compiled,
  type CompileOptions,
  type Emit,
  emits,
  type Fallback,
  type Fp64Mode,
  fallbacks,
  fp64Modes,
  type MmaMode,
  mmaModes,
  targetNameOf,
} from './options.ts';
export { passNames } from './passes.ts';
export {
  compile,
  type DeclaredEntry,
  emit,
  type PtxModule,
  reflect,
  toIr,
  toLegalIr,
  toPtxIr,
  verifies,
} from './pipeline.ts';
export { type KernelRegisters, type LivePlace, registersOfKernels } from './registers.ts';
export { type Residency, residencies } from './residency.ts';
export { type CompiledEntry, joined, type Share } from './shares.ts';
