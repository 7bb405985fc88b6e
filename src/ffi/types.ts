/** Types of foreign function tables, for `bun:ffi` and for TypeScript. */

/** A pointer argument: an address that another function returned, or memory of JavaScript, which does not move during the call. */
export type Pointer = number | Uint8Array | Int32Array | Uint32Array | BigUint64Array | Float32Array | Float64Array | null;

/** bun:ffi's type names. */
export type TypeName = 'ptr' | 'i32' | 'u32' | 'u64' | 'i64' | 'f64' | 'u8' | 'bool' | 'cstring' | 'void';

export type FunctionTable = Readonly<Record<string, { readonly args: readonly TypeName[]; readonly returns: TypeName }>>;

interface ArgumentTypes {
  ptr: Pointer;
  i32: number;
  u32: number;
  u64: number | bigint;
  i64: number | bigint;
  f64: number;
  u8: number;
  bool: boolean;
  cstring: never;
  void: never;
}

interface ResultTypes {
  ptr: number | null;
  i32: number;
  u32: number;
  u64: bigint;
  i64: bigint;
  f64: number;
  u8: number;
  bool: boolean;
  /** A text-like object; `String` converts it. */
  cstring: { toString(): string };
}

type ArgumentsOf<A extends readonly TypeName[]> = { -readonly [I in keyof A]: ArgumentTypes[A[I]] };

/** The typed functions of a table. */
export type Functions<T extends FunctionTable> = {
  readonly [K in keyof T]: (
    ...args: ArgumentsOf<T[K]['args']>
  ) => T[K]['returns'] extends keyof ResultTypes ? ResultTypes[T[K]['returns']] : void;
};

/** A text as NUL-terminated UTF-8. */
export const cText = (text: string): Uint8Array => new TextEncoder().encode(`${text}\0`);
