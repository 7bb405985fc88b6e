/** The types of values in kernels: their names, their widths, and the registers that hold them. Source: PTX ISA 9.0, 5.2. */

interface Row {
  readonly bits: number;
  readonly kind: 'unsigned' | 'signed' | 'bits' | 'float' | 'pair' | 'pred';
  /** The prefix of registers. */
  readonly register: 'p' | 'rs' | 'r' | 'rd' | 'f' | 'fd';
}

/** Every type, by the name that PTX gives it. */
export const types = {
  pred: { bits: 1, kind: 'pred', register: 'p' },
  u8: { bits: 8, kind: 'unsigned', register: 'rs' },
  s8: { bits: 8, kind: 'signed', register: 'rs' },
  u16: { bits: 16, kind: 'unsigned', register: 'rs' },
  s16: { bits: 16, kind: 'signed', register: 'rs' },
  u32: { bits: 32, kind: 'unsigned', register: 'r' },
  s32: { bits: 32, kind: 'signed', register: 'r' },
  u64: { bits: 64, kind: 'unsigned', register: 'rd' },
  s64: { bits: 64, kind: 'signed', register: 'rd' },
  b8: { bits: 8, kind: 'bits', register: 'rs' },
  b16: { bits: 16, kind: 'bits', register: 'rs' },
  b32: { bits: 32, kind: 'bits', register: 'r' },
  b64: { bits: 64, kind: 'bits', register: 'rd' },
  f16: { bits: 16, kind: 'float', register: 'rs' },
  bf16: { bits: 16, kind: 'float', register: 'rs' },
  f32: { bits: 32, kind: 'float', register: 'f' },
  f64: { bits: 64, kind: 'float', register: 'fd' },
  f16x2: { bits: 32, kind: 'pair', register: 'r' },
  bf16x2: { bits: 32, kind: 'pair', register: 'r' },
} as const satisfies Record<string, Row>;

/** The name of a type: `f32`, `u64`, `pred`. */
export type TypeName = keyof typeof types;
/** Unsigned integers with arithmetic. */
export type UnsignedName = 'u16' | 'u32' | 'u64';
/** Signed integers with arithmetic. */
export type SignedName = 's16' | 's32' | 's64';
/** Integers with arithmetic. Bytes are loaded, stored and converted only. */
export type IntegerName = UnsignedName | SignedName;
/** Integers that index memory. */
export type IndexName = 'u32' | 's32' | 'u64' | 's64';
/** Floats. */
export type FloatName = 'f16' | 'bf16' | 'f32' | 'f64';
/** Two halves or two bfloats in 32 bits. */
export type PairName = 'f16x2' | 'bf16x2';
/** Types with arithmetic. */
export type NumberName = IntegerName | FloatName | PairName;
/** Types with bitwise operations. */
export type BitwiseName = IntegerName | 'b16' | 'b32' | 'b64' | 'pred';
/** Types that memory holds: all but predicates. */
export type MemoryName = Exclude<TypeName, 'pred'>;

/** A type as a value: `f32`, `u32`. */
export interface Type<T extends TypeName = TypeName> {
  readonly kind: 'scalar';
  readonly name: T;
}

/** `count` values of one type in memory, aligned to their size together. */
export interface VectorType<T extends MemoryName = MemoryName, N extends 2 | 4 = 2 | 4> {
  readonly kind: 'vector';
  readonly name: T;
  readonly count: N;
}

/** The state space of memory; `generic` is any of them, decided at run time. */
export type Space = 'global' | 'shared' | 'local' | 'const' | 'generic';

/** The type of a pointer to elements of a type in a space. */
export interface PointerType<T extends MemoryName = MemoryName, S extends Space = Space> {
  readonly kind: 'pointer';
  readonly name: T;
  readonly space: S;
  /** What the memory is aligned to, in bytes. */
  readonly align: number;
}

/** The type of a pointer to vectors. */
export interface VectorPointerType<T extends MemoryName = MemoryName, N extends 2 | 4 = 2 | 4, S extends Space = Space> {
  readonly kind: 'vector pointer';
  readonly name: T;
  readonly count: N;
  readonly space: S;
  /** What the memory is aligned to, in bytes. */
  readonly align: number;
}

const scalar = <T extends TypeName>(name: T): Type<T> => ({ kind: 'scalar', name });

/** A truth value. */
export const pred = scalar('pred');
/** An unsigned byte: loaded, stored and converted, without arithmetic. */
export const u8 = scalar('u8');
/** A signed byte: loaded, stored and converted, without arithmetic. */
export const s8 = scalar('s8');
/** An unsigned 16-bit integer. */
export const u16 = scalar('u16');
/** A signed 16-bit integer. */
export const s16 = scalar('s16');
/** An unsigned 32-bit integer. */
export const u32 = scalar('u32');
/** A signed 32-bit integer. */
export const s32 = scalar('s32');
/** An unsigned 64-bit integer. */
export const u64 = scalar('u64');
/** A signed 64-bit integer. */
export const s64 = scalar('s64');
/** 8 bits without a meaning. */
export const b8 = scalar('b8');
/** 16 bits without a meaning. */
export const b16 = scalar('b16');
/** 32 bits without a meaning. */
export const b32 = scalar('b32');
/** 64 bits without a meaning. */
export const b64 = scalar('b64');
/** A half: 11 bits of precision. Arithmetic needs sm_53. */
export const f16 = scalar('f16');
/** A bfloat: 8 bits of precision, the exponents of an f32. Arithmetic needs sm_80. */
export const bf16 = scalar('bf16');
/** A single-precision float. */
export const f32 = scalar('f32');
/** A double-precision float. */
export const f64 = scalar('f64');
/** Two halves in 32 bits. */
export const f16x2 = scalar('f16x2');
/** Two bfloats in 32 bits. */
export const bf16x2 = scalar('bf16x2');

/** Two values of a type next to each other: one access of twice the size, aligned to it. */
export const v2 = <T extends MemoryName>({ name }: Type<T>): VectorType<T, 2> => ({ kind: 'vector', name, count: 2 });
/** Types of 32 bits at most, of which an access has four. */
export type NarrowName = Exclude<MemoryName, 'u64' | 's64' | 'b64' | 'f64'>;

/** Four values of a type, of 32 bits at most, next to each other: one access of four times the size, aligned to it. */
export const v4 = <T extends NarrowName>({ name }: Type<T>): VectorType<T, 4> => ({ kind: 'vector', name, count: 4 });

/** The size of an element of memory in bytes. */
export const bytesOfType = (name: TypeName): number => Math.max(1, types[name].bits / 8);

/** Options of `ptr`. */
export interface PointerOptions<S extends Space> {
  /** The state space; `global` by default. */
  readonly space?: S;
  /** What the caller aligns the memory to, in bytes; the size of an element by default. */
  readonly align?: number;
}

type InSpace<S extends Space> = PointerOptions<S> & { readonly space: S };

/** A pointer to elements of a type, in global memory by default; of vectors with `v2` and `v4`. */
// Without a space no type parameter for it, which would be inferred from where the result goes.
export function ptr<T extends MemoryName>(element: Type<T>, options?: PointerOptions<'global'>): PointerType<T, 'global'>;
/** A pointer to vectors in global memory. */
export function ptr<T extends MemoryName, N extends 2 | 4>(
  element: VectorType<T, N>,
  options?: PointerOptions<'global'>,
): VectorPointerType<T, N, 'global'>;
/** A pointer to elements in a space. */
export function ptr<T extends MemoryName, S extends Space>(element: Type<T>, options: InSpace<S>): PointerType<T, S>;
/** A pointer to vectors in a space. */
export function ptr<T extends MemoryName, N extends 2 | 4, S extends Space>(
  element: VectorType<T, N>,
  options: InSpace<S>,
): VectorPointerType<T, N, S>;
/** The implementation. */
export function ptr(element: Type | VectorType, { space = 'global', align }: PointerOptions<Space> = {}): unknown {
  const count = element.kind === 'vector' ? element.count : 1;
  const pointer = { name: element.name, space, align: align ?? count * bytesOfType(element.name) };
  return count === 1 ? { kind: 'pointer', ...pointer } : { kind: 'vector pointer', count, ...pointer };
}

/** The unsigned type of twice the width. */
export interface Wider {
  readonly u16: 'u32';
  readonly s16: 's32';
  readonly u32: 'u64';
  readonly s32: 's64';
}

/** Whether a type is an integer with a sign. */
export const isSigned = (name: TypeName): boolean => types[name].kind === 'signed';
/** Whether a type is a float or two of them. */
export const isFloat = (name: TypeName): boolean => types[name].kind === 'float' || types[name].kind === 'pair';
