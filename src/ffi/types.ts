/** Tables of foreign functions: what `bun:ffi` is told of each, and what TypeScript makes of it. */

/** What a function takes as a pointer: a number that another gave, or memory of JavaScript, which stays where it is meanwhile. */
export type Pointer = number | Uint8Array | Int32Array | Uint32Array | BigUint64Array | Float32Array | Float64Array | null;

/** As bun:ffi names types. */
export type TypeName = 'ptr' | 'i32' | 'u32' | 'u64' | 'i64' | 'f64' | 'u8' | 'bool' | 'cstring' | 'void';

export type FunctionTable = Readonly<Record<string, { readonly args: readonly TypeName[]; readonly returns: TypeName }>>;

interface Taken {
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

interface Given {
  ptr: number | null;
  i32: number;
  u32: number;
  u64: bigint;
  i64: bigint;
  f64: number;
  u8: number;
  bool: boolean;
  /** Text-like; `String` makes one of it. */
  cstring: { toString(): string };
}

type ArgumentsOf<A extends readonly TypeName[]> = { -readonly [I in keyof A]: Taken[A[I]] };

/** The functions of a table. */
export type Functions<T extends FunctionTable> = {
  readonly [K in keyof T]: (...args: ArgumentsOf<T[K]['args']>) => T[K]['returns'] extends keyof Given ? Given[T[K]['returns']] : void;
};

/** Bytes of a text as C has them. */
export const cText = (text: string): Uint8Array => new TextEncoder().encode(`${text}\0`);
