/** Raises elementwise AIR functions: those of the table applied to vectors, and those that are several operations. */
import type { InstructionOf } from '../../bitcode/model.ts';
import { type Type as LlvmType, types as llvm, spell } from '../../bitcode/types.ts';
import type { Builder, Value } from '../../ir/index.ts';
import { elementFunctionOf } from '../functions/index.ts';
import type { ElementFunction } from '../functions/row.ts';
import { type Intrinsic, intrinsicOf } from '../intrinsics.ts';
import { type Lanes, Refused } from '../types.ts';
import type { RaiseState } from './state.ts';

/** Applies the op of an intrinsic to its operands, without a trailing flag (`air.clz`). */
export function applyOp(b: Builder, row: Intrinsic, args: readonly Value[]): Value {
  const operands = row.op === 'clz' ? args.slice(0, 1) : args;
  const methods = b as unknown as Record<string, (...x: unknown[]) => Value>;
  const isConversion = row.result !== row.operand || /^(fpto|[su]itofp)/.test(row.op);
  return isConversion ? methods[row.op]!(row.result, ...operands) : methods[row.op]!(...operands);
}

function functionOf(name: string): ElementFunction | undefined {
  const row = intrinsicOf(name);
  if (row?.class === 'pure') return { params: row.type.params, result: row.type.result, make: (b, args) => applyOp(b, row, args) };
  return elementFunctionOf(name);
}

/** The result of a call of an elementwise function; undefined for any other call. */
export function raiseElements(state: RaiseState, inst: InstructionOf<'call'>): Lanes | undefined {
  if (inst.callee.kind !== 'function') return undefined;
  const { name } = inst.callee;
  const { result, params } = inst.functionType;
  const found = functionOf(name.replace(/\.v\d+(?=(?:[if]|bf)\d)/g, '.'));
  if (!found) return undefined;
  const width = result.kind === 'vector' ? result.count : 1;
  const wide = (type: LlvmType): LlvmType => (result.kind === 'vector' ? llvm.vector(type, width) : type);
  // Flags and bit counts are the same for all elements.
  const isValid =
    result === wide(found.result) &&
    params.length === found.params.length &&
    inst.args.length === params.length &&
    params.every((type, i) => type === wide(found.params[i]!) || type === found.params[i]);
  if (!isValid) throw new Refused(`the function \`${name}\` of type ${spell(inst.functionType)}`);
  const lanes = inst.args.map((arg) => (arg.kind === 'metadata' ? [] : state.lanes(arg)));
  return Array.from({ length: width }, (_, i) =>
    found.make(
      state.b,
      lanes.map((of) => of[of.length === 1 ? 0 : i]!),
    ),
  );
}
