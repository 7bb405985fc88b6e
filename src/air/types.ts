/** The IR types of LLVM types, and the refusal of unsupported types. */
import { type Type as LlvmType, spell } from '../bitcode/types.ts';
import type { PointerType, ScalarType, Type, Value } from '../ir/index.ts';
import { isMatrixType } from './matrix-functions.ts';
import { spaces } from './targets.ts';

/** Thrown if a kernel cannot be raised; `raiseKernel` catches and reports it. */
export class Refused extends Error {}

/**
 * An LLVM value as IR scalars: one, or one per element of a vector and per part of a struct or array. A matrix that is distributed over a
 * simdgroup has the lane's two elements.
 */
export type Lanes = Value[];

const pointerTypes: Record<number, PointerType> = {
  [spaces.thread]: 'ptr.local',
  [spaces.device]: 'ptr.global',
  [spaces.constant]: 'ptr.constant',
  [spaces.threadgroup]: 'ptr.shared',
};

const floatTypes: Record<string, ScalarType> = { half: 'f16', bfloat: 'bf16', float: 'f32', double: 'f64' };

/** The largest vector; Metal's own vectors have 4 elements, matrices at most 16. */
const maxVectorLanes = 64;

/** The largest number of scalars of a struct or array value; compilers keep larger ones in memory. */
const maxAggregateScalars = 256;

function bounded(type: LlvmType, types: Type[]): Type[] {
  if (types.length > maxAggregateScalars) throw new Refused(`values of type ${spell(type)}`);
  return types;
}

/** The IR types of an LLVM type. */
export function typesOf(type: LlvmType): Type[] {
  switch (type.kind) {
    case 'int':
      if (type.bits > 64) throw new Refused(`integers of ${type.bits} bits`);
      // Odd widths are stored zero-extended.
      return [`i${[1, 8, 16, 32, 64].find((bits) => bits >= type.bits)}` as Type];
    case 'float':
      return [floatTypes[type.name]!];
    case 'pointer': {
      const pointer = pointerTypes[type.space];
      if (!pointer) throw new Refused(`pointers in address space ${type.space}`);
      return [pointer];
    }
    case 'vector':
      if (isMatrixType(type)) return [...typesOf(type.element), ...typesOf(type.element)];
      if (type.count > maxVectorLanes) throw new Refused(`vectors of ${type.count} elements`);
      return Array<Type[]>(type.count).fill(typesOf(type.element)).flat();
    case 'array':
      if (type.count > maxAggregateScalars) throw new Refused(`values of type ${spell(type)}`);
      return bounded(type, Array<Type[]>(type.count).fill(typesOf(type.element)).flat());
    case 'struct':
      if (!type.fields) throw new Refused(`values of type ${spell(type)}`);
      return bounded(type, type.fields.flatMap(typesOf));
    default:
      throw new Refused(`values of type ${spell(type)}`);
  }
}

/** Whether a value of one IR type is valid for an LLVM type of another: constant memory may be a device buffer. */
export const isValidAs = (given: Type, wanted: Type): boolean => given === wanted || (given === 'ptr.global' && wanted === 'ptr.constant');

/** The scalar type of an LLVM scalar. */
export function scalarType(type: LlvmType): Type {
  const all = typesOf(type);
  if (all.length !== 1) throw new Refused(`a vector where a scalar was expected (${spell(type)})`);
  return all[0]!;
}
