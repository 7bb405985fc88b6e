/**
 * The types of the IR. Integers carry no sign (operations do), pointers are opaque and carry their state space, vectors exist
 * only so that one access can move several scalars.
 */

export type IntType = 'i1' | 'i8' | 'i16' | 'i32' | 'i64';
export type FloatType = 'f16' | 'bf16' | 'f32' | 'f64';
export type ScalarType = IntType | FloatType;

/** `param` is the entry's by-value parameter memory, `local` a thread's own. `generic` must be gone before AIR. */
export type Space = 'global' | 'shared' | 'constant' | 'local' | 'param' | 'generic';
export type PointerType = `ptr.${Space}`;
export type VectorType = `v2.${ScalarType}` | `v4.${ScalarType}`;
export type Type = ScalarType | PointerType | VectorType | 'void';

const scalarBits: Record<ScalarType, number> = { i1: 1, i8: 8, i16: 16, i32: 32, i64: 64, f16: 16, bf16: 16, f32: 32, f64: 64 };

export const scalarTypes = Object.keys(scalarBits) as readonly ScalarType[];
export const spaces = ['global', 'shared', 'constant', 'local', 'param', 'generic'] as const satisfies readonly Space[];

export const isScalar = (type: string): type is ScalarType => Object.hasOwn(scalarBits, type);
export const isInt = (type: string): type is IntType => isScalar(type) && type.startsWith('i');
export const isFloat = (type: string): type is FloatType => isScalar(type) && !type.startsWith('i');
export const isPointer = (type: string): type is PointerType => type.startsWith('ptr.');
export const isVector = (type: string): type is VectorType => /^v[24]\./.test(type);

/** The state space of a pointer type. */
export const spaceOf = (type: PointerType): Space => type.slice(4) as Space;

/** Width of a scalar or pointer in bits. */
export function bitsOf(type: Type): number {
  return isScalar(type) ? scalarBits[type] : isPointer(type) ? 64 : isVector(type) ? lanesOf(type) * bitsOf(elementOf(type)) : 0;
}

/** Bytes a value takes in memory; an i1 has no memory form. */
export const bytesOf = (type: Type): number => bitsOf(type) >> 3;

/** Elements of a vector type; 1 for all else. */
export const lanesOf = (type: Type): number => (isVector(type) ? Number(type[1]) : 1);

/** The element of a vector type; a scalar is its own element. */
export const elementOf = (type: Type): ScalarType => (isVector(type) ? (type.slice(3) as ScalarType) : (type as ScalarType));

export const vectorOf = (element: ScalarType, lanes: 2 | 4): VectorType => `v${lanes}.${element}`;

/** The integer type of a width in bits. */
export const intOf = (bits: number): IntType => `i${bits}` as IntType;

/** Every type by its spelling, for parsing. */
export function isType(word: string): word is Type {
  if (word === 'void' || isScalar(word)) return true;
  if (isPointer(word)) return (spaces as readonly string[]).includes(word.slice(4));
  return isVector(word) && isScalar(word.slice(3));
}

/**
 * How `matmul` spreads a matrix of 8 by 8 over a warp: the bits of the lane that are those of the row, lowest first, and of the column
 * from its second bit on. The first bit of the column selects one of the two elements of a lane.
 */
export const matrixLayout = { row: [1, 2, 4], column: [0, 3] } as const;
/** Rows, and columns. */
export const matrixSize = 8;
