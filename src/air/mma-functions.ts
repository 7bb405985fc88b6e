/** The `cumetal.mma.*` functions: products of matrices of a warp, for the CPU device. Behind the prefix is a form of `src/ir/mma.ts`. */
import { type Type as LlvmType, types as llvm, type TypeOf } from '../bitcode/types.ts';
import { factorType, isMmaForm, mmaForm, mmaRegisters, type ScalarType, sumType } from '../ir/index.ts';
import { llvmScalar } from './llvm-scalar.ts';

export const mmaPrefix = 'cumetal.mma.';

/** The form in the name of such a function; undefined for another one. */
export function mmaFormIn(name: string): string | undefined {
  const form = name.startsWith(mmaPrefix) ? name.slice(mmaPrefix.length) : '';
  return isMmaForm(form) ? form : undefined;
}

/** The LLVM type of the registers of a matrix in a thread. */
const registers = (scalar: ScalarType, count: number): LlvmType =>
  count === 1 ? llvmScalar[scalar] : llvm.vector(llvmScalar[scalar], count);

/** The signature: the registers of a, b and c, and the positions of the elements of a sparse a. */
export function mmaTypeOf(text: string): TypeOf<'function'> {
  const form = mmaForm(text);
  const count = mmaRegisters(form);
  const sums = registers(sumType(form.sum), count.c);
  return llvm.function(sums, [registers(factorType(form.a), count.a), registers(factorType(form.b), count.b), sums, llvm.i32]);
}
