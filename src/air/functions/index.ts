/**
 * Elementwise functions that only raising knows, for foreign files: operands, result and IR of each name. Functions with an IR op, which
 * are also emitted, are in `intrinsics.ts`.
 */
import { type Type as LlvmType, types as llvm } from '../../bitcode/types.ts';
import { isFloat, isScalar, type ScalarType } from '../../ir/index.ts';
import { llvmScalar } from '../llvm-scalar.ts';
import { conversionOf } from './convert.ts';
import { floatRows, llvmFloatRows } from './float.ts';
import { llvmIntegerRows, plainRows, signedRows } from './integer.ts';
import type { ElementFunction, FunctionRow } from './row.ts';
import { groupFunctionOf } from './simd.ts';

const named = (rows: readonly FunctionRow[]): ReadonlyMap<string, FunctionRow> => new Map(rows.map((each) => [each.name, each]));

/** Keyed by the kind of name. */
const tables = {
  float: named(floatRows),
  signed: named(signedRows),
  plain: named(plainRows),
  llvmFloat: named(llvmFloatRows),
  llvmInteger: named(llvmIntegerRows),
};

const words = { i1: llvm.i1, i32: llvm.i32 };

function functionOf({ operands, extraOperands: more = [], make }: FunctionRow, type: ScalarType, isSigned: boolean): ElementFunction {
  const of = llvmScalar[type];
  return {
    params: [...Array<LlvmType>(operands).fill(of), ...more.map((word) => words[word])],
    result: of,
    make: (b, args) => make(b, args, type, isSigned),
  };
}

/** The function with a name (without vector widths), such as `air.fast_exp.f32`; undefined if there is none. */
export function elementFunctionOf(name: string): ElementFunction | undefined {
  if (/^air\.(simd|quad)_/.test(name)) return groupFunctionOf(name);
  if (name.startsWith('air.convert.') || name.startsWith('llvm.fpto')) return conversionOf(name);
  const [, owner, fast, form = '', sign, type = ''] = /^(air|llvm)\.(fast_)?([a-z_0-9.]+?)(?:\.([su]))?\.((?:i|f|bf)\d+)$/.exec(name) ?? [];
  if (!isScalar(type) || type === 'i1') return undefined;
  const float = isFloat(type);
  if (owner === 'llvm') {
    const found = fast ? undefined : (float ? tables.llvmFloat : tables.llvmInteger).get(form);
    return found && functionOf(found, type, true);
  }
  if (fast && type !== 'f32') return undefined;
  const found = float ? !sign && tables.float.get(form) : !fast && (sign ? tables.signed : tables.plain).get(form);
  return found ? functionOf(found, type, sign === 's') : undefined;
}

/** Every function, for the docs: the spelling of its name and its error bound. */
export const elementRows: readonly { readonly spelled: string; readonly row: FunctionRow }[] = [
  ...floatRows.map((row) => ({ spelled: `air.${row.name}.f32, air.fast_${row.name}.f32, .f16, .bf16`, row })),
  ...signedRows.map((row) => ({ spelled: `air.${row.name}.s.i32, air.${row.name}.u.i32, .i8, .i16, .i64`, row })),
  ...plainRows.map((row) => ({ spelled: `air.${row.name}.i32, .i8, .i16, .i64`, row })),
  ...llvmFloatRows.map((row) => ({ spelled: `llvm.${row.name}.f32, .f16, .bf16`, row })),
  ...llvmIntegerRows.map((row) => ({ spelled: `llvm.${row.name}.i32, .i8, .i16, .i64`, row })),
];
