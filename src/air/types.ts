/** Which types of the IR stand for LLVM's, and the refusal of what none stands for. */
import { type Type as LlvmType, spell } from '../bitcode/types.ts';
import type { PointerType, ScalarType, Type, Value } from '../ir/index.ts';
import { isMatrixType } from './matrix-functions.ts';
import { spaces } from './targets.ts';

/** Thrown where a kernel cannot be raised, and caught by `raiseKernel`, which reports it. */
export class Refused extends Error {}

/**
 * An LLVM value as IR scalars: one, or one for each element of a vector and each part of a struct or array; of a matrix that is
 * spread over a simdgroup the two of the lane.
 */
export type Lanes = Value[];

const pointerTypes: Record<number, PointerType> = {
  [spaces.thread]: 'ptr.local',
  [spaces.device]: 'ptr.global',
  [spaces.constant]: 'ptr.constant',
  [spaces.threadgroup]: 'ptr.shared',
};

const floatTypes: Record<string, ScalarType> = { half: 'f16', bfloat: 'bf16', float: 'f32', double: 'f64' };

/** Elements; Metal's own have 4, matrices at most 16. */
const largestVector = 64;

/** Scalars of a struct or array that is a value; compilers keep larger ones in memory. */
const largestAggregate = 256;

function bounded(type: LlvmType, types: Type[]): Type[] {
  if (types.length > largestAggregate) throw new Refused(`values of type ${spell(type)}`);
  return types;
}

/** The IR types that stand for an LLVM type. */
export function typesOf(type: LlvmType): Type[] {
  switch (type.kind) {
    case 'int':
      if (type.bits > 64) throw new Refused(`integers of ${type.bits} bits`);
      // Odd widths are held zero-extended.
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
      if (type.count > largestVector) throw new Refused(`vectors of ${type.count} elements`);
      return Array<Type[]>(type.count).fill(typesOf(type.element)).flat();
    case 'array':
      if (type.count > largestAggregate) throw new Refused(`values of type ${spell(type)}`);
      return bounded(type, Array<Type[]>(type.count).fill(typesOf(type.element)).flat());
    case 'struct':
      if (!type.fields) throw new Refused(`values of type ${spell(type)}`);
      return bounded(type, type.fields.flatMap(typesOf));
    default:
      throw new Refused(`values of type ${spell(type)}`);
  }
}

/** Whether values of one type may stand where LLVM's type has another: constant memory that is a buffer of the device. */
export const standsFor = (given: Type, wanted: Type): boolean => given === wanted || (given === 'ptr.global' && wanted === 'ptr.constant');

/** The scalar type of an LLVM scalar. */
export function scalarType(type: LlvmType): Type {
  const all = typesOf(type);
  if (all.length !== 1) throw new Refused(`a vector where a scalar was expected (${spell(type)})`);
  return all[0]!;
}
