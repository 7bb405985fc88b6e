/** What a row of a table of functions says that are only read from other people's files; vectors go element by element. */
import type { Type as LlvmType } from '../../bitcode/types.ts';
import { type Builder, bitsOf, type ScalarType, type Value } from '../../ir/index.ts';

/** A function of scalars; of vectors it is one for each element. */
export interface ElementFunction {
  readonly params: readonly LlvmType[];
  readonly result: LlvmType;
  make(b: Builder, args: readonly Value[]): Value;
}

/** The operations that a function is on scalars of a type; of integers with a sign in the name, whether that is `s`. */
export type Make = (b: Builder, args: readonly Value[], type: ScalarType, isSigned: boolean) => Value;

export interface FunctionRow {
  /** Without `air.`, `fast_`, sign and type. */
  readonly name: string;
  /** Operands of the type in the name. */
  readonly operands: number;
  /** Operands behind those, of the type that `last` names; none where absent. */
  readonly more?: readonly ('i1' | 'i32')[];
  readonly make: Make;
  /** By how much a result may differ from the exact one, in units in its last place; exact where absent. By formula: each of its operations is rounded. */
  readonly ulp?: number | 'formula';
}

export const row = (name: string, operands: number, make: Make, more: Pick<FunctionRow, 'more' | 'ulp'> = {}): FunctionRow => ({
  name,
  operands,
  make,
  ...more,
});

/** An integer constant of the type of a value. */
export const like = (b: Builder, value: Value, bits: bigint | number): Value => b.const(b.typeOf(value), bits);

/** Bits of an integer or float. */
export const widthOf = (type: ScalarType): bigint => BigInt(bitsOf(type));
