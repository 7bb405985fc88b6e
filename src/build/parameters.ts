/** Parameters of kernels: what a body sees of them, and what a launch gives for them. */
import type { KernelBuffer } from '../api/index.ts';
import type { Pointer, VectorPointer } from './pointer.ts';
import type { MemoryName, PointerType, Type, VectorPointerType } from './types.ts';
import type { Value } from './value.ts';

/** The spaces of memory that a launch can give. */
type GivenSpace = 'global' | 'generic';
/** The type of a parameter: a number, a pointer to global memory or a generic one, or such a pointer to vectors. */
export type ParameterType = Type<MemoryName> | PointerType<MemoryName, GivenSpace> | VectorPointerType<MemoryName, 2 | 4, GivenSpace>;
/** The parameters of a kernel by name, in their order. */
export type Parameters = Readonly<Record<string, ParameterType>>;

/** A parameter in the body of the kernel. */
export type Inside<P> =
  P extends VectorPointerType<infer T, infer N, infer S>
    ? VectorPointer<T, N, S>
    : P extends PointerType<infer T, infer S>
      ? Pointer<T, S>
      : P extends Type<infer T>
        ? Value<T>
        : never;

/** The elements of the API's buffers that a pointer takes. */
interface Elements {
  readonly u8: 'u8';
  readonly s8: 'i8';
  readonly b8: 'u8' | 'i8';
  readonly u16: 'u16';
  readonly s16: 'i16';
  readonly b16: 'u16' | 'i16' | 'f16' | 'bf16';
  readonly u32: 'u32';
  readonly s32: 'i32';
  readonly b32: 'u32' | 'i32' | 'f32';
  readonly u64: 'u64';
  readonly s64: 'i64';
  readonly b64: 'u64' | 'i64' | 'f64';
  readonly f16: 'f16';
  readonly bf16: 'bf16';
  readonly f32: 'f32';
  readonly f64: 'f64';
  readonly f16x2: 'f16' | 'u32';
  readonly bf16x2: 'bf16' | 'u32';
}
type BufferOf<T extends MemoryName> = Elements[T] extends infer E ? (E extends Elements[MemoryName] ? KernelBuffer<E> : never) : never;

/** An argument of a launch, by the type of its parameter: a buffer of the element, an address or null for a pointer, else a number. */
export type Outside<P> =
  P extends VectorPointerType<infer T>
    ? BufferOf<T> | bigint | null
    : P extends PointerType<infer T>
      ? BufferOf<T> | bigint | null
      : P extends Type<infer T>
        ? T extends 'u64' | 's64' | 'b64'
          ? number | bigint
          : number
        : never;

/** The arguments of a launch by the names of the parameters. */
export type Arguments<P extends Parameters> = { readonly [N in keyof P]: Outside<P[N]> };
