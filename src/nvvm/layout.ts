/**
 * Scalar parts of LLVM types, and their places in memory.
 * Source: LLVM Language Reference, "Data Layout"; `computeDataLayout` of LLVM's NVPTX target.
 */
import { spell, type Type, type TypeOf } from '../bitcode/index.ts';
import { fieldOffset, hasMemoryForm, alignOf as naturalAlignment, sizeOf as stride } from '../bitcode/layout.ts';
import { refuse } from './refused.ts';

/** A scalar that one register holds. An integer of more than 64 bits has a part for each 64 bits, the lowest first. */
export type Part =
  | { readonly kind: 'int'; readonly bits: number }
  | { readonly kind: 'float'; readonly name: TypeOf<'float'>['name'] }
  | { readonly kind: 'pointer'; readonly space: number };

/** A part and its byte offset in memory. */
export interface PlacedPart {
  readonly part: Part;
  readonly offset: number;
}

const limb = 64;
/** A value of more parts than these would fill the registers with copies. */
const maxParts = 4096;
const floatBytes = { half: 2, bfloat: 2, float: 4, double: 8 } as const;

/** Bytes that a load or store of an integer touches. */
export const storeBytes = (bits: number): number => Math.ceil(bits / 8);

/** A type with a size; others are refused. */
const sized = (type: Type): Type => (hasMemoryForm(type) ? type : refuse(`a value of type ${spell(type)}`));

/** The alignment of a type in bytes. */
export const alignOf = (type: Type): number => naturalAlignment(sized(type));

/** The size of a type in bytes, as the stride of an array. */
export const sizeOf = (type: Type): number => stride(sized(type));

/** The byte offset of a field or element. */
export function offsetOf(type: Type, index: number): number {
  const element = elementOf(type, index);
  return type.kind === 'struct' ? fieldOffset(type, index) : index * sizeOf(element);
}

/** The type of a field or element. */
export function elementOf(type: Type, index: number): Type {
  if (type.kind === 'array' || type.kind === 'vector') return type.element;
  const field = type.kind === 'struct' ? type.fields?.[index] : undefined;
  return field ?? refuse(`an element of ${spell(type)}`);
}

const known = new WeakMap<Type, readonly PlacedPart[]>();

/** The parts of a type in the order of their offsets. */
export function partsOf(type: Type): readonly PlacedPart[] {
  const before = known.get(type);
  if (before) return before;
  const found = findParts(type);
  if (found.length > maxParts) refuse(`a value of ${found.length} parts`);
  known.set(type, found);
  return found;
}

function findParts(type: Type): readonly PlacedPart[] {
  switch (type.kind) {
    case 'void':
      return [];
    case 'int':
      return intParts(type.bits);
    case 'float':
      return [{ part: { kind: 'float', name: type.name }, offset: 0 }];
    case 'pointer':
      return [{ part: { kind: 'pointer', space: type.space }, offset: 0 }];
    case 'array':
    case 'vector':
      return Array.from({ length: type.count }, (_, i) => moved(type.element, i * sizeOf(type.element))).flat();
    case 'struct':
      return (type.fields ?? []).flatMap((field, i) => moved(field, offsetOf(type, i)));
    default:
      return refuse(`a value of type ${spell(type)}`);
  }
}

const intParts = (bits: number): PlacedPart[] =>
  Array.from({ length: Math.ceil(bits / limb) }, (_, i) => ({
    part: { kind: 'int', bits: Math.min(limb, bits - i * limb) },
    offset: i * 8,
  }));

const moved = (type: Type, by: number): PlacedPart[] => partsOf(type).map(({ part, offset }) => ({ part, offset: offset + by }));

/** The first part of a field or element, and their number. */
export function partRange(type: Type, path: readonly number[]): { readonly first: number; readonly count: number; readonly type: Type } {
  let first = 0;
  let at = type;
  for (const index of path) {
    for (let i = 0; i < index; i++) first += partsOf(elementOf(at, i)).length;
    at = elementOf(at, index);
  }
  return { first, count: partsOf(at).length, type: at };
}

/** Bits of a part's register: 1, 16, 32 or 64. */
export function registerBits(part: Part): number {
  if (part.kind === 'pointer') return 64;
  if (part.kind === 'float') return 8 * floatBytes[part.name];
  return part.bits === 1 ? 1 : part.bits <= 16 ? 16 : part.bits <= 32 ? 32 : 64;
}

/** Bytes of a part in memory. */
export const bytesOf = (part: Part): number =>
  part.kind === 'int' ? storeBytes(part.bits) : part.kind === 'float' ? floatBytes[part.name] : 8;
