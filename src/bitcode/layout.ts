/** Sizes and alignments of LLVM types under the data layouts of AIR and of nvptx64, which agree: each type has its natural alignment. */
import { bug } from '../base/bug.ts';
import { alignUp } from '../base/bytes.ts';
import type { Type } from './types.ts';

/** Alignment in bytes: vectors are aligned to their size rounded up to a power of two. */
export function alignOf(type: Type): number {
  switch (type.kind) {
    case 'int':
      return 2 ** Math.ceil(Math.log2(Math.max(1, type.bits / 8)));
    case 'float':
      return { half: 2, bfloat: 2, float: 4, double: 8 }[type.name];
    case 'pointer':
      return 8;
    case 'array':
      return alignOf(type.element);
    case 'vector':
      return 2 ** Math.ceil(Math.log2(Math.max(1, type.count * sizeOf(type.element))));
    case 'struct':
      return type.packed ? 1 : Math.max(1, ...(type.fields ?? []).map(alignOf));
    default:
      return bug(`${type.kind} has no memory form`);
  }
}

/** Bytes from one element of an array of this type to the next. */
export function sizeOf(type: Type): number {
  switch (type.kind) {
    case 'array':
      return type.count * sizeOf(type.element);
    case 'vector':
      return alignUp(type.count * sizeOf(type.element), alignOf(type));
    case 'struct':
      return alignUp(fieldOffset(type, type.fields?.length ?? 0), alignOf(type));
    default:
      return alignOf(type);
  }
}

/** The byte offset of a struct's field. The index after the last field gives the end of the struct's fields. */
export function fieldOffset(type: Extract<Type, { kind: 'struct' }>, index: number): number {
  const fields = type.fields ?? [];
  let offset = 0;
  for (let i = 0; i < fields.length; i++) {
    if (!type.packed) offset = alignUp(offset, alignOf(fields[i]!));
    if (i === index) return offset;
    offset += sizeOf(fields[i]!);
  }
  return offset;
}

/** Whether values of this type can be stored in memory. */
export function hasMemoryForm(type: Type): boolean {
  switch (type.kind) {
    case 'int':
    case 'float':
    case 'pointer':
      return true;
    case 'array':
    case 'vector':
      return hasMemoryForm(type.element);
    case 'struct':
      return type.fields?.every(hasMemoryForm) ?? false;
    default:
      return false;
  }
}
