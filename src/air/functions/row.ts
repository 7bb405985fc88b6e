/** The row type of the tables of functions that only raising knows. Vectors are processed elementwise. */
import type { Type as LlvmType } from '../../bitcode/types.ts';
import { type Builder, bitsOf, type ScalarType, type Value } from '../../ir/index.ts';

/** A scalar function, applied to each element of a vector. */
export interface ElementFunction {
  readonly params: readonly LlvmType[];
  readonly result: LlvmType;
  make(b: Builder, args: readonly Value[]): Value;
}

/** Builds the function on scalars of a type. `isSigned` is for integer functions with `s` in the name. */
export type Make = (b: Builder, args: readonly Value[], type: ScalarType, isSigned: boolean) => Value;

export interface FunctionRow {
  /** Without `air.`, `fast_`, sign and type. */
  readonly name: string;
  /** The number of operands of the type in the name. */
  readonly operands: number;
  /** Further operands, of the type that `last` names. Default: none. */
  readonly extraOperands?: readonly ('i1' | 'i32')[];
  readonly make: Make;
  /** The error bound in units in the last place. Default: exact. `formula`: each operation of the formula is rounded. */
  readonly ulp?: number | 'formula';
}

export const row = (name: string, operands: number, make: Make, more: Pick<FunctionRow, 'extraOperands' | 'ulp'> = {}): FunctionRow => ({
  name,
  operands,
  make,
  ...more,
});

/** An integer constant of the type of a value. */
export const like = (b: Builder, value: Value, bits: bigint | number): Value => b.const(b.typeOf(value), bits);

/** The size of an integer or float type in bits. */
export const widthOf = (type: ScalarType): bigint => BigInt(bitsOf(type));
