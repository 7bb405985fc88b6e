/** Integer constants of LLVM. */
import type { Constant } from '../bitcode/model.ts';
import { type TypeOf, types } from '../bitcode/types.ts';

/** An integer constant; the value wraps to the width. */
export const intConstant = (type: TypeOf<'int'>, value: bigint | number): Constant => ({
  kind: 'constant',
  form: 'int',
  type,
  value: BigInt.asUintN(type.bits, BigInt(value)),
});

export const i64Constant = (value: bigint | number): Constant => intConstant(types.i64, value);
export const i32Constant = (value: bigint | number): Constant => intConstant(types.i32, value);
