/** LLVM's type for each IR scalar. */
import { type Type as LlvmType, types as llvm } from '../bitcode/types.ts';
import type { ScalarType } from '../ir/index.ts';

export const llvmScalar: Record<ScalarType, LlvmType> = {
  i1: llvm.i1,
  i8: llvm.i8,
  i16: llvm.i16,
  i32: llvm.i32,
  i64: llvm.i64,
  f16: llvm.half,
  bf16: llvm.bfloat,
  f32: llvm.float,
  f64: llvm.double,
};
